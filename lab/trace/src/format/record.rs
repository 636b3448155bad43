//! What a line of any text format says, and the fields that several formats share.

use flashlane_core::Op;

use crate::cursor::{Cursor, Fault};

/// The content of a line in nanoseconds and bytes, on the file's own time axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RawRecord {
    pub time_ns: u64,
    pub offset: u64,
    pub length: u64,
    pub op: Op,
    /// Of a write: with force unit access.
    pub fua: bool,
    /// The host has the drive flush before it.
    pub preflush: bool,
    /// The position of the device's name in the line.
    pub device: (u32, u32),
}

impl RawRecord {
    /// What most formats leave as it is.
    pub const PLAIN: RawRecord =
        RawRecord { time_ns: 0, offset: 0, length: 0, op: Op::Read, fua: false, preflush: false, device: (0, 0) };

    /// A flush of a device.
    pub const fn flush(time_ns: u64, device: (u32, u32)) -> RawRecord {
        RawRecord { time_ns, device, op: Op::Flush, ..RawRecord::PLAIN }
    }
}

/// The meaning of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    Request(RawRecord),
    /// Legal, but not a request: a header, a blank line, another action.
    Skip,
}

/// The positions of the bytes from `start` to the cursor.
#[inline]
pub(super) fn range(start: usize, line: &Cursor<'_>) -> (u32, u32) {
    // A line is at most 1 MiB long.
    (start as u32, line.pos() as u32)
}

/// The position of a number that names a device.
#[inline]
pub(super) fn numbered(line: &mut Cursor<'_>, field: &'static str) -> Result<(u32, u32), Fault> {
    let start = line.pos();
    line.number(field)?;
    Ok(range(start, line))
}

/// The position of a device's number, which comes after a gap.
#[inline]
pub(super) fn numbered_device(line: &mut Cursor<'_>) -> Result<(u32, u32), Fault> {
    line.gap("the device")?;
    numbered(line, "the device")
}

/// The offset and the length of a request that are numbers of sectors set off by spaces.
#[inline]
pub(super) fn sectors_of(line: &mut Cursor<'_>) -> Result<(u64, u64), Fault> {
    line.gap("the address in sectors")?;
    let offset = line.sectors("the address in sectors")?;
    line.gap("the size in sectors")?;
    Ok((offset, line.sectors("the size in sectors")?))
}

/// A field that begins with `r` or `w` in either case: the letter alone, or a full word (`Read`, `WRITE`).
#[inline]
pub(super) fn read_or_write(cell: &[u8]) -> Option<Op> {
    match cell {
        b"R" | b"r" | b"Read" | b"read" => Some(Op::Read),
        b"W" | b"w" | b"Write" | b"write" => Some(Op::Write),
        _ if cell.eq_ignore_ascii_case(b"read") => Some(Op::Read),
        _ if cell.eq_ignore_ascii_case(b"write") => Some(Op::Write),
        _ => None,
    }
}
