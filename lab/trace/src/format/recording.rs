//! What `flashlane serve --record` writes: the requests that a drive was given in real time, `flow,ns,offset(B),bytes,kind,forced`.
//!
//! Times count from the start of the drive, so that a replay gives it the same requests at the same instants. The last cell is one
//! character: of a line that was cut off it is missing, and the line is left out. Lines that begin with `#` hold what is no request: the
//! drive itself at the beginning (`lab/scenario/src/recording.rs`).

use flashlane_core::Op;

use super::definition::{About, How, Recognised, TraceFormat};
use super::record::{Line, RawRecord, numbered};
use crate::cursor::{Cursor, Fault};

/// How a file begins.
const BEGINNING: &[u8] = b"# flashlane record 1\n";

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "record",
        title: "Flashlane record",
        shape: "flow,time(ns),offset(B),bytes,read|write|trim|write-zeroes|flush,0|1=forced",
        // They count from an instant that is fixed, as dates do.
        has_date: true,
        recognised: Recognised::Beginning(|sample| sample.starts_with(BEGINNING), "it says so on its first line"),
        is_recording: true,
        sample: "# flashlane record 1\n0,0,8192,4096,read,0\n1,1500,40960,24576,write,1\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, _: &How, _: u64) -> Result<Line, Fault> {
        let device = numbered(line, "the flow")?;
        line.comma("the time in ns")?;
        let time_ns = line.number("the time in ns")?;
        line.comma("the offset in bytes")?;
        let offset = line.number("the offset in bytes")?;
        line.comma("the number of bytes")?;
        let length = line.number("the number of bytes")?;
        line.comma("the kind")?;
        let kind_fault = line.fault("the kind", "read, write, trim, write-zeroes or flush");
        let kind = line.cell();
        let Some(op) = Op::ALL.into_iter().find(|op| op.name().as_bytes() == kind) else { return Err(kind_fault) };
        line.comma("whether it is forced")?;
        let forced_fault = line.fault("whether it is forced", "0 or 1");
        let fua = match line.number("whether it is forced")? {
            forced @ (0 | 1) => forced == 1 && op == Op::Write,
            _ => return Err(forced_fault),
        };
        line.finish()?;
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, fua, device, ..RawRecord::PLAIN }))
    }
}
