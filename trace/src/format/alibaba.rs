//! Alibaba block traces: `device,R|W,offset(B),length(B),timestamp(us)`. Every device is an address space of its own.

use super::record::{Line, RawRecord, range, read_or_write};
use crate::cursor::{Cursor, Fault};

/// Microseconds that still fit 64 bits in nanoseconds.
const MICROSECONDS: &str = "a whole number of microseconds from 0 to 18446744073709551";

/// Reads one line.
#[inline]
pub(in super::super) fn read(line: &mut Cursor<'_>) -> Result<Line, Fault> {
    let start = line.pos();
    line.number("the device")?;
    let device = range(start, line);
    line.comma("the operation")?;
    let op_fault = line.fault("the operation", "R or W");
    let op = read_or_write(line.cell()).ok_or(op_fault)?;
    line.comma("the offset in bytes")?;
    let offset = line.number("the offset in bytes")?;
    line.comma("the length in bytes")?;
    let length = line.number("the length in bytes")?;
    line.comma("the time in us")?;
    let late = line.fault("the time in us", MICROSECONDS);
    let time_ns = line.number("the time in us")?.checked_mul(1_000).ok_or(late)?;
    line.finish()?;
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, device }))
}
