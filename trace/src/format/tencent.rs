//! Tencent cloud block storage: `timestamp(s),offset(512 B),sectors,0=read|1=write,volume`.
//!
//! Times are whole seconds, so a second's requests would arrive in one burst: [`super::super::jitter`] spreads them.
//! Note that 1 means write here, and read in the space-separated formats.

use flashlane_core::Op;

use super::record::{Line, RawRecord, range};
use crate::cursor::{Cursor, Fault};

/// Seconds that still fit 64 bits in nanoseconds.
const SECONDS: &str = "a whole number of seconds from 0 to 18446744072";

/// Reads one line.
#[inline]
pub(in super::super) fn read(line: &mut Cursor<'_>) -> Result<Line, Fault> {
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
    let start = line.pos();
    line.number("the volume")?;
    let device = range(start, line);
    line.finish()?;
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, device }))
}
