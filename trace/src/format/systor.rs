//! SYSTOR '17: a header line, then `timestamp(s),response(s),R|W|(blank),LUN,offset(B),size(B)`.
//!
//! A row with a blank operation (neither a read nor a write was recorded) is skipped. Times are exact to a microsecond:
//! further digits come from floating-point conversion, so they are rounded away.

use super::record::{Line, RawRecord, range, read_or_write};
use crate::cursor::{Cursor, Fault};

/// Reads one line.
#[inline]
pub(in super::super) fn read(line: &mut Cursor<'_>) -> Result<Line, Fault> {
    // Concatenated files contain headers in the middle too.
    if line.line().trim_ascii_start().starts_with(b"Timestamp") {
        return Ok(Line::Skip);
    }
    let late = line.fault("the time in seconds", "a number of seconds from 0 to 18446744073.7");
    let exact_ns = line.decimal("the time in seconds", 9)?;
    let time_ns = exact_ns.checked_add(500).ok_or(late)? / 1_000 * 1_000;
    line.comma("the response time in seconds")?;
    if line.peek() != Some(b',') {
        line.decimal("the response time in seconds", 9)?;
    }
    line.comma("the operation")?;
    let op_fault = line.fault("the operation", "R, W or blank");
    let op = match line.cell() {
        b"" => None,
        cell => Some(read_or_write(cell).ok_or(op_fault)?),
    };
    line.comma("the LUN")?;
    let start = line.pos();
    line.cell();
    let device = range(start, line);
    line.comma("the offset in bytes")?;
    let Some(op) = op else { return Ok(Line::Skip) };
    let offset = line.number("the offset in bytes")?;
    line.comma("the size in bytes")?;
    let length = line.number("the size in bytes")?;
    line.finish()?;
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, device }))
}
