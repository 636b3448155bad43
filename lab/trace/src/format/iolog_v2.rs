//! fio's I/O log, version 2: `fio version 2 iolog`, then `file action` (add, open, close) and `file action offset
//! length` in bytes. Lines have no time: a `wait` line advances time by its offset in microseconds, counted from the
//! wait before.
//!
//! A sync is a flush. A log without waits is one burst at time 0, as fio would replay it.

use super::definition::{About, How, Recognised, Says, TraceFormat, Writer};
use super::iolog::{ActionMeaning, LogWriter, flush, header, named_action, range_of};
use super::record::Line;
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault, WHOLE};

/// The first line.
const HEADER: &str = "fio version 2 iolog";

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader {
    now_ns: u64,
}

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "iolog-v2",
        title: "fio iolog version 2",
        shape: "file action [offset(B) length(B)], after `fio version 2 iolog`",
        time_unit: TimeUnit::Us,
        resolution_ns: 1_000,
        recognised: Recognised::FirstLine(HEADER.as_bytes()),
        header: Some(HEADER),
        says: Says { trims: true, flushes: true, ..Says::PLAIN },
        writer: Writer::Lines(|| Box::new(LogWriter::new(false))),
        sample: "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x read 8192 4096\n/dev/x wait 250 0\n/dev/x write 40960 24576\n/dev/x close\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, number: u64) -> Result<Line, Fault> {
        if number == 1 {
            return header(line, HEADER, "`fio version 2 iolog`");
        }
        let (device, what) = named_action(line)?;
        match what {
            ActionMeaning::Nothing => Ok(Line::Skip),
            ActionMeaning::Wait => {
                line.gap("the wait in us")?;
                let late = line.fault("the wait in us", WHOLE);
                let wait_ns = how.time(line, |line| line.number("the wait in us")?.checked_mul(1_000).ok_or(late))?;
                self.now_ns = self.now_ns.checked_add(wait_ns).ok_or(late)?;
                if !line.at_end() {
                    line.number("the length")?;
                }
                line.finish()?;
                Ok(Line::Skip)
            }
            ActionMeaning::Range(op) => range_of(line, self.now_ns, op, device),
            ActionMeaning::Flush => flush(line, self.now_ns, device),
        }
    }
}
