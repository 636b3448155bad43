//! SPC 1.0.1, as in the UMass repository: `ASU,lba(512 B),size(B),r|w,seconds[,...]`, white space allowed around fields,
//! the operation in either case, any further fields ignored.
//!
//! An application storage unit (ASU) is an address space of its own: the device filter selects one.

use super::record::{Line, RawRecord, range, read_or_write};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault};

/// Reads one line.
#[inline]
pub(in super::super) fn read(line: &mut Cursor<'_>, unit: Option<TimeUnit>) -> Result<Line, Fault> {
    let start = line.pos();
    line.number("the ASU")?;
    let device = range(start, line);
    line.comma("the address in sectors")?;
    let offset = line.sectors("the address in sectors")?;
    line.comma("the size in bytes")?;
    let length = line.number("the size in bytes")?;
    line.comma("the operation")?;
    let op_fault = line.fault("the operation", "r, R, w or W");
    let op = read_or_write(line.cell()).ok_or(op_fault)?;
    line.comma("the time in seconds")?;
    let time_ns = match unit {
        None => line.decimal("the time in seconds", 9)?,
        Some(unit) => line.time(unit)?,
    };
    if !line.at_end() {
        line.comma("the end of the line")?;
    }
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, device }))
}
