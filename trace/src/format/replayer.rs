//! The five columns of the FEMU and Heimdall replayers: `ms(decimal) device offset(B) size(B) type`, 1 = read, 0 = write.

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
    line.gap("the offset in bytes")?;
    let offset = line.number("the offset in bytes")?;
    line.gap("the size in bytes")?;
    let length = line.number("the size in bytes")?;
    line.gap("the type")?;
    let op = line.one_is_read("the type")?;
    line.finish()?;
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, device }))
}
