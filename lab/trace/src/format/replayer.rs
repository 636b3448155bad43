//! The five columns of the FEMU and Heimdall replayers: `ms(decimal) device offset(B) size(B) type`, 1 = read, 0 = write.

use std::io::Write;

use super::definition::{About, How, Recognised, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, numbered_device};
use crate::TimeUnit;
use crate::columns::Columns;
use crate::cursor::{Cursor, Fault};

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "replayer",
        title: "five-column replayer",
        shape: "ms device offset(B) size(B) 1=read|0=write",
        time_unit: TimeUnit::Ms,
        recognised: Recognised::FiveColumns,
        columns: Some(Columns::MillisecondsBytes),
        writer: Writer::Line(write),
        sample: "0.500 0 8192 4096 1\n1.750 1 40960 24576 0\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, _: u64) -> Result<Line, Fault> {
        let time_ns = how.time(line, |line| line.decimal("the time in ms", 6))?;
        let device = numbered_device(line)?;
        line.gap("the offset in bytes")?;
        let offset = line.number("the offset in bytes")?;
        line.gap("the size in bytes")?;
        let length = line.number("the size in bytes")?;
        line.gap("the type")?;
        let op = line.one_is_read("the type")?;
        line.finish()?;
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, device, ..RawRecord::PLAIN }))
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    let (ms, rest) = r.ms();
    writeln!(out, "{ms}.{rest:06} {} {} {} {}", r.device, r.offset, r.length, r.one_is_read())?;
    Ok(())
}
