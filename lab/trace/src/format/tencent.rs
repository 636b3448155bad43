//! Tencent cloud block storage: `timestamp(s),offset(512 B),sectors,0=read|1=write,volume`.
//!
//! Times are whole seconds, so a second's requests would arrive in one burst: [`super::super::jitter`] spreads them.
//! Note that 1 means write here, and read in the space-separated formats.

use std::io::Write;

use flashlane_core::Op;

use super::definition::{About, How, Recognised, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, numbered};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault};

/// Seconds that still fit 64 bits in nanoseconds.
const SECONDS: &str = "a whole number of seconds from 0 to 18446744072";

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "tencent",
        title: "Tencent CBS",
        shape: "timestamp(s),offset(512 B),sectors,0=read|1=write,volume",
        time_unit: TimeUnit::S,
        has_date: true,
        resolution_ns: 1_000_000_000,
        first_line_may_be_header: true,
        recognised: Recognised::REQUESTS,
        writer: Writer::Line(write),
        sample: "1538323200,16,8,0,1283\n1538323201,80,48,1,1283\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, _: &How, _: u64) -> Result<Line, Fault> {
        let late = line.fault("the time in seconds", SECONDS);
        let time_ns = match line.number("the time in seconds")? {
            s @ 0..=18_446_744_072 => s * 1_000_000_000,
            _ => return Err(late),
        };
        line.comma("the offset in sectors")?;
        let offset = line.sectors("the offset in sectors")?;
        line.comma("the size in sectors")?;
        let length = line.sectors("the size in sectors")?;
        line.comma("the type")?;
        let type_fault = line.fault("the type", "0 (read) or 1 (write)");
        let op = match line.cell() {
            b"0" => Op::Read,
            b"1" => Op::Write,
            _ => return Err(type_fault),
        };
        line.comma("the volume")?;
        let device = numbered(line, "the volume")?;
        line.finish()?;
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, device, ..RawRecord::PLAIN }))
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    let (lba, n) = (r.offset_sectors()?, r.length_sectors()?);
    writeln!(out, "{},{lba},{n},{},{}", r.s().0, 1 - r.one_is_read(), r.device)?;
    Ok(())
}
