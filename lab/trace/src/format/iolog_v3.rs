//! fio's I/O log, version 3 (fio 3.31 and later): `fio version 3 iolog`, then `us file action [offset length]`, the time
//! counted from the start of fio's run and offset and length in bytes. A sync is a flush; `wait` does not exist.

use super::definition::{About, How, Recognised, Says, TraceFormat, Writer};
use super::iolog::{ActionMeaning, LogWriter, flush, header, named_action, range_of};
use super::record::Line;
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault, WHOLE};

/// The first line.
const HEADER: &str = "fio version 3 iolog";

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "iolog-v3",
        title: "fio iolog version 3",
        shape: "us file action [offset(B) length(B)], after `fio version 3 iolog`",
        time_unit: TimeUnit::Us,
        resolution_ns: 1_000,
        recognised: Recognised::FirstLine(HEADER.as_bytes()),
        header: Some(HEADER),
        says: Says { trims: true, flushes: true, ..Says::PLAIN },
        writer: Writer::Lines(|| Box::new(LogWriter::new(true))),
        sample: "fio version 3 iolog\n0 /dev/x add\n1 /dev/x open\n40 /dev/x read 8192 4096\n90 /dev/x write 40960 24576\n99 /dev/x close\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, number: u64) -> Result<Line, Fault> {
        if number == 1 {
            return header(line, HEADER, "`fio version 3 iolog`");
        }
        let late = line.fault("the time in us", WHOLE);
        let time_ns = how.time(line, |line| line.number("the time in us")?.checked_mul(1_000).ok_or(late))?;
        line.gap("the file")?;
        let at_file = line.fault("the action", "an action of version 3; `wait` belongs to version 2");
        let (device, what) = named_action(line)?;
        match what {
            ActionMeaning::Nothing => Ok(Line::Skip),
            ActionMeaning::Wait => Err(at_file),
            ActionMeaning::Range(op) => range_of(line, time_ns, op, device),
            ActionMeaning::Flush => flush(line, time_ns, device),
        }
    }
}
