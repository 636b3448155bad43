//! fio's I/O log, version 2: `fio version 2 iolog`, then `file action` (add, open, close) and `file action offset
//! length` in bytes. Lines have no time: a `wait` line advances time by its offset in microseconds, counted from the
//! wait before.
//!
//! Syncs and trims are skipped. A log without waits is one burst at time 0, as fio would replay it.

use flashlane_core::Op;

use super::record::{Line, RawRecord, range};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault, WHOLE};

/// The first line.
pub(in super::super) const HEADER: &[u8] = b"fio version 2 iolog";

/// State kept from line to line.
#[derive(Clone, Default, Debug)]
pub(in super::super) struct State {
    now_ns: u64,
}

impl State {
    /// Reads one line.
    #[inline]
    pub fn read(&mut self, line: &mut Cursor<'_>, number: u64, unit: Option<TimeUnit>) -> Result<Line, Fault> {
        if number == 1 {
            return header(line, HEADER, "`fio version 2 iolog`");
        }
        let (device, what) = named_action(line)?;
        match what {
            ActionMeaning::Nothing => Ok(Line::Skip),
            ActionMeaning::Wait => {
                line.gap("the wait in us")?;
                let late = line.fault("the wait in us", WHOLE);
                let wait_ns = match unit {
                    None => line.number("the wait in us")?.checked_mul(1_000).ok_or(late)?,
                    Some(unit) => line.time(unit)?,
                };
                self.now_ns = self.now_ns.checked_add(wait_ns).ok_or(late)?;
                if !line.at_end() {
                    line.number("the length")?;
                }
                line.finish()?;
                Ok(Line::Skip)
            }
            ActionMeaning::Data(op) => data(line, self.now_ns, op, device),
        }
    }
}

/// The meaning of an action.
pub(super) enum ActionMeaning {
    Data(Op),
    Wait,
    Nothing,
}

/// The header line of a version.
pub(super) fn header(line: &mut Cursor<'_>, want: &[u8], legal: &'static str) -> Result<Line, Fault> {
    if line.line().trim_ascii() == want { Ok(Line::Skip) } else { Err(line.fault("the first line", legal)) }
}

/// The position of the file name, and the action.
pub(super) fn named_action(line: &mut Cursor<'_>) -> Result<((u32, u32), ActionMeaning), Fault> {
    let start = line.pos();
    line.word();
    let device = range(start, line);
    line.gap("the action")?;
    let fault = line.fault(
        "the action",
        "add, open, close, read, write, wait (version 2), sync, datasync, sync_file_range or trim",
    );
    let what = match line.word() {
        b"read" => ActionMeaning::Data(Op::Read),
        b"write" => ActionMeaning::Data(Op::Write),
        b"wait" => ActionMeaning::Wait,
        b"add" | b"open" | b"close" | b"sync" | b"datasync" | b"sync_file_range" | b"trim" => ActionMeaning::Nothing,
        _ => return Err(fault),
    };
    Ok((device, what))
}

/// Offset and length of a read or a write.
pub(super) fn data(line: &mut Cursor<'_>, time_ns: u64, op: Op, device: (u32, u32)) -> Result<Line, Fault> {
    line.gap("the offset in bytes")?;
    let offset = line.number("the offset in bytes")?;
    line.gap("the length in bytes")?;
    let length = line.number("the length in bytes")?;
    line.finish()?;
    Ok(Line::Request(RawRecord { time_ns, offset, length, op, device }))
}
