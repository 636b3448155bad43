//! The default text of blkparse: `major,minor cpu sequence seconds pid action rwbs sector + sectors [process]`.
//!
//! A request appears several times on its way (queued, merged, issued, completed), so exactly one action is read: `Q` (as the file system
//! sent it), `D` (as the driver got it) or `C` (as it completed). Other actions and messages are skipped, and so is what blkparse prints
//! about its input and in its summaries, wherever it stands: the outputs of several runs may follow one another. Write zeroes have the
//! letter of writes.

use std::io::Write;

use flashlane_core::Op;

use super::definition::{About, How, Recognised, Says, TraceFormat, Writer};
use super::event::{Event, device, is_device, remapped_from, request, rwbs, sector};
use super::outgoing::{Outgoing, Unwritten};
use super::record::Line;
use crate::TimeUnit;
use crate::action::Action;
use crate::cursor::{Cursor, Fault};

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "blkparse",
        title: "blkparse text",
        shape: "major,minor cpu sequence seconds pid action rwbs sector + sectors [process]",
        time_unit: TimeUnit::S,
        recognised: Recognised::Lines(|line| event(line).is_some()),
        event: Some(event),
        writer: Writer::Line(write),
        says: Says { trims: true, flushes: true, fua: true, ..Says::PLAIN },
        sample: "  8,0    0        1     0.000001000   697  Q   R 16 + 8 [dd]\n  8,0    0        2     0.000003000   697  Q  WS 80 + 48 [dd]\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, _: u64) -> Result<Line, Fault> {
        let device = match device(line) {
            Ok(device) => device,
            Err(_) if is_summary(line.line()) => return Ok(Line::Skip),
            Err(fault) => return Err(fault),
        };
        line.gap("the CPU")?;
        line.number("the CPU")?;
        line.gap("the sequence number")?;
        line.number("the sequence number")?;
        line.gap("the time in seconds")?;
        let time_ns = how.time(line, |line| line.decimal("the time in seconds", 9))?;
        line.gap("the process id")?;
        line.number("the process id")?;
        line.gap("the action")?;
        let action_fault = line.fault("the action", "a blkparse action such as Q, D or C");
        match line.word() {
            [a] if *a == how.action.letter() as u8 => {}
            [a, ..] if a.is_ascii_alphabetic() => return Ok(Line::Skip),
            _ => return Err(action_fault),
        }
        let rwbs = rwbs(line)?;
        let request = request(line, rwbs, time_ns, device)?;
        // With -t, the time since it was queued stands in round brackets.
        if matches!(request, Line::Request(_)) && !matches!(line.clone().after_blanks(), None | Some(b'[' | b'(')) {
            line.blanks();
            return Err(line.fault("the process", "a name in brackets, or nothing"));
        }
        Ok(request)
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

/// Whether blkparse prints the line about its input, or in a summary of a CPU, a process (`-s`) or the whole run.
fn is_summary(line: &[u8]) -> bool {
    const HEADS: [&[u8]; 7] =
        [b"Total (", b"Throughput (", b"Events (", b"Skips:", b"Input file ", b"discarded traces ", b"Bad "];
    // Rows of counts: `Reads Queued:`, `Write Merges:`, `PC Reads Compl.:`, `IO unplugs:`, `Allocation wait:`.
    const ROWS: [&[u8]; 9] = [
        b"Reads ",
        b"Read ",
        b"Writes ",
        b"Write ",
        b"PC ",
        b"IO unplugs:",
        b"Allocation wait:",
        b"Dispatch wait:",
        b"Completion wait:",
    ];
    let line = line.trim_ascii();
    let begins = |heads: &[&[u8]]| heads.iter().any(|head| line.starts_with(head));
    let cpu = line.strip_prefix(b"CPU").and_then(|rest| rest.first()).is_some_and(u8::is_ascii_digit);
    cpu || begins(&HEADS) || begins(&ROWS) && line.contains(&b':') || is_process(line)
}

/// Whether the line names a process and its number: `fio (4242)`, `fio (4242, ...)`.
fn is_process(line: &[u8]) -> bool {
    let inside = line.strip_suffix(b")").and_then(|rest| rest.rsplit(|b| *b == b'(').next());
    let number = inside.map(|inside| inside.strip_suffix(b", ...").unwrap_or(inside));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit) && line.contains(&b' '))
}

/// The event of a line, if it is one.
fn event(line: &[u8]) -> Option<Event<'_>> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
    let device = words.next().filter(|word| is_device(word))?;
    Some(match words.nth(4)? {
        b"A" => match remapped_from(line) {
            Some(from) => Event::Remap { from, to: device, sector: sector(line) },
            None => Event::Other(b"A"),
        },
        [letter] if Action::of_letter(*letter).is_some() => {
            Event::Request { device, action: Action::of_letter(*letter)?, sector: sector(line) }
        }
        other => Event::Other(other),
    })
}
