//! DiskSim ASCII: `ms(decimal) device lba(512 B) sectors flags`, bit 0 of the hexadecimal flags = read.

use flashlane_core::Op;

use super::record::{Line, RawRecord, range};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault};

/// Reads one line.
#[inline]
pub(in super::super) fn read(line: &mut Cursor<'_>, unit: Option<TimeUnit>) -> Result<Line, Fault> {
    let time_ns = match unit {
        None => line.decimal("the time in ms", 6)?,
        Some(unit) => line.time(unit)?,
    };
    line.gap("the device")?;
    let start = line.pos();
    line.number("the device")?;
    let device = range(start, line);
    line.gap("the address in sectors")?;
    let offset = line.sectors("the address in sectors")?;
    line.gap("the size in sectors")?;
    let length = line.sectors("the size in sectors")?;
    line.gap("the flags")?;
    let op = flags(line)?;
    line.finish()?;
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, device }))
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
