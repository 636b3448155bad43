//! MQSim ASCII: `ns device lba(512 B) sectors type`, 1 = read, 0 = write.
//!
//! Numbers are decimal whatever they start with (MQSim's own reader takes a leading 0 as octal).

use std::io::Write;

use super::definition::{About, How, Recognised, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, numbered_device, sectors_of};
use crate::TimeUnit;
use crate::columns::Columns;
use crate::cursor::{Cursor, Fault};

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "mqsim",
        title: "MQSim ASCII",
        shape: "ns device lba(512 B) sectors 1=read|0=write",
        time_unit: TimeUnit::Ns,
        recognised: Recognised::FiveColumns,
        columns: Some(Columns::Nanoseconds),
        writer: Writer::Line(write),
        sample: "5000 0 16 8 1\n9000 1 80 48 0\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, _: u64) -> Result<Line, Fault> {
        let time_ns = how.time(line, |line| line.number("the time in ns"))?;
        let device = numbered_device(line)?;
        let (offset, length) = sectors_of(line)?;
        line.gap("the type")?;
        let op = line.one_is_read("the type")?;
        line.finish()?;
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, device, ..RawRecord::PLAIN }))
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    let (lba, n) = (r.offset_sectors()?, r.length_sectors()?);
    writeln!(out, "{} {} {lba} {n} {}", r.ns, r.device, r.one_is_read())?;
    Ok(())
}
