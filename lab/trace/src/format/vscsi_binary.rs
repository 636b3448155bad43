//! Binary VSCSI traces, which have no lines: [`crate::vscsi_file`] reads their records.

use super::definition::{About, How, Recognised, TraceFormat};
use super::record::Line;
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault};
use crate::vscsi_file::{SHAPE, is_vscsi};

/// Has no lines to read.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "vscsi-binary",
        title: "binary VSCSI",
        shape: SHAPE,
        time_unit: TimeUnit::Us,
        recognised: Recognised::Beginning(
            is_vscsi,
            "its records have the version and a SCSI command where VSCSI has them",
        ),
        ..About::PLAIN
    };

    fn read(&mut self, line: &mut Cursor<'_>, _: &How, _: u64) -> Result<Line, Fault> {
        Err(line.fault("a text line", "a binary VSCSI trace has none"))
    }
}
