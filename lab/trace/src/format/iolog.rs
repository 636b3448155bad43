//! What the versions of fio's I/O log share: files, actions, ranges, flushes, and how they are written.

use std::io::{self, Write};

use flashlane_core::Op;

use super::definition::WriteLines;
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, range};
use crate::cursor::{Cursor, Fault};

/// The meaning of an action.
pub(super) enum ActionMeaning {
    /// A read, a write or a trim.
    Range(Op),
    Flush,
    Wait,
    Nothing,
}

/// The header line of a version.
pub(super) fn header(line: &mut Cursor<'_>, want: &str, legal: &'static str) -> Result<Line, Fault> {
    if line.line().trim_ascii() == want.as_bytes() { Ok(Line::Skip) } else { Err(line.fault("the first line", legal)) }
}

/// The position of the file name, and the action.
pub(super) fn named_action(line: &mut Cursor<'_>) -> Result<((u32, u32), ActionMeaning), Fault> {
    let start = line.pos();
    line.word();
    let device = range(start, line);
    line.gap("the action")?;
    let fault = line.fault(
        "the action",
        "add, open, close, read, write, trim, sync, datasync, syncfs, sync_file_range or wait (version 2)",
    );
    let what = match line.word() {
        b"read" => ActionMeaning::Range(Op::Read),
        b"write" => ActionMeaning::Range(Op::Write),
        b"trim" => ActionMeaning::Range(Op::Trim),
        b"sync" | b"datasync" | b"syncfs" => ActionMeaning::Flush,
        b"wait" => ActionMeaning::Wait,
        // It writes pages back and has no drive flush.
        b"add" | b"open" | b"close" | b"sync_file_range" => ActionMeaning::Nothing,
        _ => return Err(fault),
    };
    Ok((device, what))
}

/// A flush. fio writes an offset and a length after it that mean nothing: those of the I/O before.
pub(super) fn flush(line: &mut Cursor<'_>, time_ns: u64, device: (u32, u32)) -> Result<Line, Fault> {
    for field in ["the offset in bytes", "the length in bytes"] {
        if !line.at_end() {
            line.number(field)?;
        }
    }
    line.finish()?;
    Ok(Line::Request(RawRecord::flush(time_ns, device)))
}

/// Offset and length of a read, a write or a trim.
pub(super) fn range_of(line: &mut Cursor<'_>, time_ns: u64, op: Op, device: (u32, u32)) -> Result<Line, Fault> {
    line.gap("the offset in bytes")?;
    let offset = line.number("the offset in bytes")?;
    line.gap("the length in bytes")?;
    let length = line.number("the length in bytes")?;
    line.finish()?;
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, device, ..RawRecord::PLAIN }))
}

/// Whether a first line is that of a log, of whatever version.
pub(crate) fn is_header(first: &[u8]) -> bool {
    first.starts_with(b"fio version")
}

/// Writes a log. fio wants each file added and opened before its first request, and closed at the end.
#[derive(Default)]
pub(super) struct LogWriter {
    /// Whether lines begin with their time (version 3); else waits stand between them.
    timed: bool,
    /// The sum of the waits so far, us.
    waited_us: u64,
    /// The files opened so far.
    opened: Vec<String>,
    /// When the newest request arrived, us.
    last_us: u64,
}

impl LogWriter {
    /// A writer at the start of a file.
    pub(super) fn new(timed: bool) -> LogWriter {
        LogWriter { timed, ..LogWriter::default() }
    }

    /// Writes what happens to a file.
    fn action(&self, out: &mut Vec<u8>, us: u64, name: &str, action: &str) -> io::Result<()> {
        if self.timed {
            return writeln!(out, "{us} {name} {action}");
        }
        writeln!(out, "{name} {action}")
    }
}

impl WriteLines for LogWriter {
    fn request(&mut self, out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
        let name = file_name(r.name);
        let us = r.ns / 1_000;
        self.last_us = us;
        if !self.opened.contains(&name) {
            self.action(out, us, &name, "add")?;
            self.action(out, us, &name, "open")?;
            self.opened.push(name.clone());
        }
        let action = if r.op == Op::Flush { "sync" } else { r.op.name() };
        if self.timed {
            writeln!(out, "{us} {name} {action} {} {}", r.offset, r.length)?;
            return Ok(());
        }
        if us > self.waited_us {
            writeln!(out, "{name} wait {} 0", us - self.waited_us)?;
            self.waited_us = us;
        }
        writeln!(out, "{name} {action} {} {}", r.offset, r.length)?;
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.opened.iter().try_for_each(|name| self.action(out, self.last_us, name, "close"))
    }
}

/// A file name without white space.
fn file_name(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let plain: String = text.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect();
    if plain.is_empty() || plain.starts_with('#') { format!("device{plain}") } else { plain }
}
