//! MSR Cambridge CSV: `filetime(100 ns since 1601),host,disk,Read|Write,offset(B),size(B)[,response(100 ns)]`.
//!
//! The device is `host,disk` as in the line. The response time is what the recorded disk took; it must be a number and
//! is not used.

use super::record::{Line, RawRecord, range, read_or_write};
use crate::cursor::{Cursor, Fault};

/// A Windows file time that still fits 64 bits in nanoseconds (until the year 2185).
const FILETIME: &str = "a Windows file time in 100 ns from 0 to 184467440737095516";

/// Reads one line.
#[inline]
pub(in super::super) fn read(line: &mut Cursor<'_>) -> Result<Line, Fault> {
    let late = line.fault("the file time", FILETIME);
    let time_ns = line.number("the file time")?.checked_mul(100).ok_or(late)?;
    line.comma("the host")?;
    let start = line.pos();
    if line.cell().is_empty() {
        return Err(line.fault("the host", "a name"));
    }
    line.comma("the disk")?;
    line.number("the disk")?;
    let device = range(start, line);
    line.comma("the type")?;
    let type_fault = line.fault("the type", "Read or Write");
    let op = read_or_write(line.cell()).ok_or(type_fault)?;
    line.comma("the offset in bytes")?;
    let offset = line.number("the offset in bytes")?;
    line.comma("the size in bytes")?;
    let length = line.number("the size in bytes")?;
    if !line.at_end() {
        line.comma("the response time")?;
        line.number("the response time in 100 ns")?;
        line.finish()?;
    }
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, device }))
}
