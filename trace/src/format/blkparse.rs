//! The default text of blkparse: `major,minor cpu sequence seconds pid action rwbs sector + sectors [process]`.
//!
//! A request appears several times on its way (queued, merged, issued, completed), so exactly one action is read: `Q`
//! (as the file system sent it) or `D` (as the driver got it). Other actions, messages and the summary at the end are skipped.
//!
//! In rwbs a `D` is a discard, an `F` before the operation a flush, which comes before the data if there are any, and an `F` behind it
//! force unit access. Write zeroes have the letter of writes.

use std::io::Write;

use flashlane_core::Op;

use super::definition::{About, How, Recognised, Says, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, range};
use crate::TimeUnit;
use crate::action::Action;
use crate::cursor::{Cursor, Fault};

/// Reads the lines of a file.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    action: Action,
    /// The unit of times, if it is not the format's own.
    unit: Option<TimeUnit>,
    summary: bool,
}

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "blkparse",
        title: "blkparse text",
        shape: "major,minor cpu sequence seconds pid action rwbs sector + sectors [process]",
        time_unit: TimeUnit::S,
        recognised: Recognised::Lines(|line| action_of(line).is_some()),
        writer: Writer::Line(write),
        says: Says { trims: true, flushes: true, fua: true, ..Says::PLAIN },
        sample: "  8,0    0        1     0.000001000   697  Q   R 16 + 8 [dd]\n  8,0    0        2     0.000003000   697  Q  WS 80 + 48 [dd]\n",
        ..About::PLAIN
    };

    /// Requests are the lines with the action asked for.
    fn open(how: &How) -> Reader {
        Reader { action: how.action, unit: how.unit, summary: false }
    }

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, _: u64) -> Result<Line, Fault> {
        let is_device = line.peek().is_some_and(|b| b.is_ascii_digit());
        if self.summary || !is_device && starts_summary(line.line()) {
            self.summary = true;
            return Ok(Line::Skip);
        }
        let start = line.pos();
        line.number("the device")?;
        line.comma("the minor number")?;
        line.number("the minor number")?;
        let device = range(start, line);
        line.gap("the CPU")?;
        line.number("the CPU")?;
        line.gap("the sequence number")?;
        line.number("the sequence number")?;
        line.gap("the time in seconds")?;
        let time_ns = match self.unit {
            None => line.decimal("the time in seconds", 9)?,
            Some(unit) => line.time(unit)?,
        };
        line.gap("the process id")?;
        line.number("the process id")?;
        line.gap("the action")?;
        let action_fault = line.fault("the action", "a blkparse action such as Q, D or C");
        match line.word() {
            [a] if *a == self.action.letter() => {}
            [a, ..] if a.is_ascii_alphabetic() => return Ok(Line::Skip),
            _ => return Err(action_fault),
        }
        line.gap("the operation (rwbs)")?;
        let rwbs_fault = line.fault("the operation (rwbs)", "letters such as R, W, WS, RA, D or N");
        let rwbs = line.word();
        if rwbs.is_empty() || !rwbs.iter().all(u8::is_ascii_alphabetic) {
            return Err(rwbs_fault);
        }
        let (preflush, op, fua) = operation(rwbs);
        let flush = if preflush { Line::Request(RawRecord::flush(time_ns, device)) } else { Line::Skip };
        line.blanks();
        if op.is_none() && !preflush || (preflush || fua) && !line.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Ok(flush);
        }
        let offset = line.sectors("the sector")?;
        line.gap("the plus sign")?;
        let plus_fault = line.fault("the plus sign", "`sector + sectors`");
        if line.word() != b"+" {
            return Err(plus_fault);
        }
        line.gap("the number of sectors")?;
        let length = line.sectors("the number of sectors")?;
        if length == 0 && (preflush || fua) {
            return Ok(flush);
        }
        let process_fault = line.fault("the process", "a name in brackets, or nothing");
        if !line.at_end() && line.peek() != Some(b'[') {
            return Err(process_fault);
        }
        let Some(op) = op else { return Ok(Line::Skip) };
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, fua, preflush, device }))
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    let (s, rest) = r.s();
    write!(out, "{} 0 {} {s}.{rest:09} 0 Q ", major_and_minor(r), r.number)?;
    let letters = match r.op {
        Op::Flush => {
            out.extend_from_slice(b"FWS [trace]\n");
            return Ok(());
        }
        Op::Read => "R",
        Op::Write if r.fua => "WF",
        Op::Write | Op::WriteZeroes => "W",
        Op::Trim => "D",
    };
    let (lba, n) = (r.offset_sectors()?, r.length_sectors()?);
    writeln!(out, "{letters} {lba} + {n} [trace]")?;
    Ok(())
}

/// `major,minor`.
fn major_and_minor(r: &Outgoing<'_>) -> String {
    match r.name_parts() {
        Some((major, minor)) if major.parse::<u32>().is_ok() && minor.parse::<u32>().is_ok() => {
            format!("{major},{minor}")
        }
        _ => format!("8,{}", r.device),
    }
}

/// Whether the line begins the summary that blkparse prints at the end.
fn starts_summary(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let cpu = line.strip_prefix(b"CPU").and_then(|rest| rest.first()).is_some_and(u8::is_ascii_digit);
    cpu || [&b"Total ("[..], b"Throughput", b"Events (", b"Skips:", b"Input file ", b"discarded traces "]
        .iter()
        .any(|head| line.starts_with(head))
}

/// Whether the drive flushes first, what is asked for if there are data, and whether with force unit access.
fn operation(rwbs: &[u8]) -> (bool, Option<Op>, bool) {
    let (preflush, letters) = match rwbs {
        [b'F', rest @ ..] => (true, rest),
        _ => (false, rwbs),
    };
    let has = |letter: u8| letters.contains(&letter);
    let op = match () {
        () if has(b'D') => Some(Op::Trim),
        () if has(b'R') => Some(Op::Read),
        () if has(b'W') => Some(Op::Write),
        () => None,
    };
    (preflush, op, op == Some(Op::Write) && has(b'F'))
}

/// The action of a blkparse line, if it is one.
pub(crate) fn action_of(line: &[u8]) -> Option<&[u8]> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
    let (major, minor) = {
        let first = words.next()?;
        let comma = first.iter().position(|b| *b == b',')?;
        (&first[..comma], &first[comma + 1..])
    };
    let digits = |w: &[u8]| !w.is_empty() && w.iter().all(u8::is_ascii_digit);
    if digits(major) && digits(minor) { words.nth(4) } else { None }
}
