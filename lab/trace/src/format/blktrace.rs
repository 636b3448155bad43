//! Binary blktrace, which has no lines: [`crate::blktrace`] reads its records, and [`crate::merge`] those of all CPUs by time.

use super::definition::{About, How, Recognised, TraceFormat};
use super::record::Line;
use crate::TimeUnit;
use crate::blktrace::{SHAPE, is_blktrace};
use crate::cursor::{Cursor, Fault};

/// Has no lines to read.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "blktrace",
        title: "binary blktrace",
        shape: SHAPE,
        time_unit: TimeUnit::Ns,
        recognised: Recognised::Beginning(is_blktrace, "starts with blktrace's magic number"),
        ..About::PLAIN
    };

    fn read(&mut self, line: &mut Cursor<'_>, _: &How, _: u64) -> Result<Line, Fault> {
        Err(line.fault("a text line", "a binary blktrace has none"))
    }
}
