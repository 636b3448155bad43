//! What the text formats of block traces share: what an event is, the letters of its operation (rwbs), and `sector + sectors`.
//!
//! Promises that a command that is passed through, or that reads and writes nothing, is no request.

use flashlane_core::Op;

use super::record::{Line, RawRecord, range};
use crate::action::Action;
use crate::cursor::{Cursor, Fault, SECTORS};

/// An event of a block trace, as they are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event<'a> {
    /// A request of a device appears.
    Request { device: &'a [u8], action: Action, sector: Option<u64> },
    /// A request of one device goes on to another, there at this sector.
    Remap { from: &'a [u8], to: &'a [u8], sector: Option<u64> },
    /// Another one, by its name.
    Other(&'a [u8]),
    /// The recorder says that events are missing here.
    Lost,
}

/// The event of a line, if it is one.
pub(crate) type EventOf = fn(&[u8]) -> Option<Event<'_>>;

/// What the letters of an operation say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Rwbs {
    /// The drive flushes first.
    preflush: bool,
    /// What is asked for if there are data.
    op: Option<Op>,
    /// With force unit access.
    fua: bool,
}

impl Rwbs {
    /// `F` before the operation is a flush, behind it force unit access; `D` is a discard. Commands of zoned drives (`Z`) are none that
    /// this drive has.
    pub fn of(letters: &[u8]) -> Rwbs {
        let (preflush, letters) = match letters {
            [b'F', rest @ ..] => (true, rest),
            _ => (false, letters),
        };
        let has = |letter: u8| letters.contains(&letter);
        let op = match () {
            () if has(b'Z') => None,
            () if has(b'D') => Some(Op::Trim),
            () if has(b'R') => Some(Op::Read),
            () if has(b'W') => Some(Op::Write),
            () => None,
        };
        Rwbs { preflush, op, fua: op == Some(Op::Write) && has(b'F') }
    }
}

/// The position of a device, `major,minor`.
#[inline]
pub(super) fn device(line: &mut Cursor<'_>) -> Result<(u32, u32), Fault> {
    let start = line.pos();
    line.number("the device")?;
    line.comma("the minor number")?;
    line.number("the minor number")?;
    Ok(range(start, line))
}

/// The letters of an operation.
pub(super) fn rwbs(line: &mut Cursor<'_>) -> Result<Rwbs, Fault> {
    const FIELD: &str = "the operation (rwbs)";
    line.gap(FIELD)?;
    let fault = line.fault(FIELD, "letters such as R, W, WS, RA, D or N");
    let letters = line.word();
    if letters.is_empty() || !letters.iter().all(u8::is_ascii_alphabetic) {
        return Err(fault);
    }
    Ok(Rwbs::of(letters))
}

/// The request of an event whose line goes on with `sector + sectors`, or without for one that has no data.
pub(super) fn request(
    line: &mut Cursor<'_>,
    Rwbs { preflush, op, fua }: Rwbs,
    time_ns: u64,
    device: (u32, u32),
) -> Result<Line, Fault> {
    let without_data = if preflush { Line::Request(RawRecord::flush(time_ns, device)) } else { Line::Skip };
    line.blanks();
    if op.is_none() && !preflush || matches!(line.peek(), None | Some(b'(' | b'[')) {
        return Ok(without_data);
    }
    let sector_fault = line.fault("the sector", SECTORS);
    let sector = line.number("the sector")?;
    // `36 (12 00 ..)` are the bytes of a command passed through, `0 [0]` a flush that completed.
    if matches!(line.clone().after_blanks(), None | Some(b'(' | b'[')) {
        return Ok(without_data);
    }
    line.gap("the plus sign").map_err(|_| sector_fault)?;
    let plus_fault = line.fault("the plus sign", "`sector + sectors`");
    if line.word() != b"+" {
        return Err(plus_fault);
    }
    line.gap("the number of sectors")?;
    let length = line.sectors("the number of sectors")?;
    if length == 0 && (preflush || fua) {
        return Ok(without_data);
    }
    let Some(op) = op else { return Ok(without_data) };
    let offset = sector.checked_mul(512).ok_or(sector_fault)?;
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, fua, preflush, device }))
}

/// The part of a line of a remap behind `<- (`: the device it comes from.
pub(super) fn remapped_from(line: &[u8]) -> Option<&[u8]> {
    let at = memchr::memmem::find(line, b"<- (")? + 4;
    let rest = &line[at..];
    let end = rest.iter().position(|b| *b == b')')?;
    is_device(&rest[..end]).then_some(&rest[..end])
}

/// The sector of a line with `sector + sectors`.
pub(super) fn sector(line: &[u8]) -> Option<u64> {
    let before = &line[..memchr::memmem::find(line, b" + ")?];
    let from = before.iter().rposition(|b| !b.is_ascii_digit()).map_or(0, |at| at + 1);
    std::str::from_utf8(&before[from..]).ok()?.parse().ok()
}

/// Whether a word is `major,minor`.
pub(super) fn is_device(word: &[u8]) -> bool {
    let digits = |w: &[u8]| !w.is_empty() && w.iter().all(u8::is_ascii_digit);
    word.iter().position(|b| *b == b',').is_some_and(|at| digits(&word[..at]) && digits(&word[at + 1..]))
}
