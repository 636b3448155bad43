//! Binary blktrace, which has no lines: [`crate::blktrace`] reads its records, and [`crate::merge`] those of all CPUs by time.

use super::definition::{About, How, Recognised, TraceFormat, Writer};
use super::record::Line;
use crate::TimeUnit;
use crate::blktrace::{SHAPE, is_blktrace};
use crate::cursor::{Cursor, Fault};

/// Has no lines to read.
#[derive(Clone, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "blktrace",
        title: "binary blktrace",
        shape: SHAPE,
        time_unit: TimeUnit::Ns,
        has_date: false,
        resolution_ns: 1,
        first_line_may_be_header: false,
        recognised: Recognised::Beginning(is_blktrace, "starts with blktrace's magic number"),
        columns: None,
        device: About::same_name,
        header: None,
        writer: Writer::Never,
        sample: "",
    };

    fn open(_: &How) -> Reader {
        Reader
    }

    fn read(&mut self, line: &mut Cursor<'_>, _: u64) -> Result<Line, Fault> {
        Err(line.fault("a text line", "a binary blktrace has none"))
    }
}
