//! SSDSim ASCII: `ns device lsn(512 B) sectors type`, 1 = read, 0 = write.
//!
//! Columns, units and the meaning of every field are those of MQSim's format, so MQSim's reader is used; the only
//! difference is the origin (SSDSim's own traces have odd sizes at unaligned addresses).

use super::definition::{About, How, TraceFormat};
use super::mqsim;
use super::record::Line;
use crate::cursor::{Cursor, Fault};

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader(mqsim::Reader);

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "ssdsim",
        title: "SSDSim ASCII",
        shape: "ns device lsn(512 B) sectors 1=read|0=write",
        sample: "5000 0 17 7 1\n9000 1 81 3 0\n",
        ..mqsim::Reader::ABOUT
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, number: u64) -> Result<Line, Fault> {
        self.0.read(line, how, number)
    }
}
