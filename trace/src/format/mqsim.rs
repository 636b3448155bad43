//! MQSim ASCII: `ns device lba(512 B) sectors type`, 1 = read, 0 = write.
//!
//! Numbers are decimal whatever they start with (MQSim's own reader takes a leading 0 as octal).

use super::record::{Line, RawRecord, range};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault};

/// Reads one line.
#[inline]
pub(in super::super) fn read(line: &mut Cursor<'_>, unit: Option<TimeUnit>) -> Result<Line, Fault> {
    let time_ns = match unit {
        None => line.number("the time in ns")?,
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
    line.gap("the type")?;
    let op = line.one_is_read("the type")?;
    line.finish()?;
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, device }))
}
