//! fio's I/O log, version 3 (fio 3.31 and later): `fio version 3 iolog`, then `us file action [offset length]`, the time
//! counted from the start of fio's run and offset and length in bytes. Syncs and trims are skipped; `wait` does not exist.

use super::iolog_v2::{ActionMeaning, data, header, named_action};
use super::record::Line;
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault, WHOLE};

/// The first line.
pub(in super::super) const HEADER: &[u8] = b"fio version 3 iolog";

/// Reads one line.
#[inline]
pub(in super::super) fn read(line: &mut Cursor<'_>, number: u64, unit: Option<TimeUnit>) -> Result<Line, Fault> {
    if number == 1 {
        return header(line, HEADER, "`fio version 3 iolog`");
    }
    let late = line.fault("the time in us", WHOLE);
    let time_ns = match unit {
        None => line.number("the time in us")?.checked_mul(1_000).ok_or(late)?,
        Some(unit) => line.time(unit)?,
    };
    line.gap("the file")?;
    let at_file = line.fault("the action", "an action of version 3; `wait` belongs to version 2");
    let (device, what) = named_action(line)?;
    match what {
        ActionMeaning::Nothing => Ok(Line::Skip),
        ActionMeaning::Wait => Err(at_file),
        ActionMeaning::Data(op) => data(line, time_ns, op, device),
    }
}
