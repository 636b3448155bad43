//! DiskSim ASCII: `ms(decimal) device lba(512 B) sectors flags`, bit 0 of the hexadecimal flags = read.

use std::io::Write;

use flashlane_core::Op;

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
        key: "disksim",
        title: "DiskSim ASCII",
        shape: "ms device lba(512 B) sectors flags(hexadecimal, bit 0 = read)",
        time_unit: TimeUnit::Ms,
        recognised: Recognised::FiveColumns,
        columns: Some(Columns::Milliseconds),
        writer: Writer::Line(write),
        sample: "0.500 0 16 8 1\n1.750 1 80 48 0\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, _: u64) -> Result<Line, Fault> {
        let time_ns = how.time(line, |line| line.decimal("the time in ms", 6))?;
        let device = numbered_device(line)?;
        let (offset, length) = sectors_of(line)?;
        line.gap("the flags")?;
        let op = flags(line)?;
        line.finish()?;
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, device, ..RawRecord::PLAIN }))
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    let (lba, n) = (r.offset_sectors()?, r.length_sectors()?);
    let (ms, rest) = r.ms();
    writeln!(out, "{ms}.{rest:06} {} {lba} {n} {}", r.device, r.one_is_read())?;
    Ok(())
}

/// The flags: up to eight hexadecimal digits, of which only the lowest bit matters here.
#[inline]
fn flags(line: &mut Cursor<'_>) -> Result<Op, Fault> {
    let fault = line.fault("the flags", "up to eight hexadecimal digits, the lowest bit 1 = read, 0 = write");
    let word = line.word();
    let digits = word.strip_prefix(b"0x").unwrap_or(word);
    match digits.last() {
        Some(last) if digits.len() <= 8 && digits.iter().all(u8::is_ascii_hexdigit) => {
            let odd = (*last as char).to_digit(16).is_some_and(|d| d & 1 == 1);
            Ok(if odd { Op::Read } else { Op::Write })
        }
        _ => Err(fault),
    }
}
