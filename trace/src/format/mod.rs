//! The formats: their names, what a line of each looks like, and one file for each that reads a line.
//!
//! Promises that a reader takes a line as a request only if every field is legal. Must never know options, order or the
//! drive: a [`RawRecord`] is the file's content in nanoseconds and bytes.

pub(super) mod alibaba;
pub(super) mod blkparse;
pub(super) mod disksim;
pub(super) mod iolog_v2;
pub(super) mod iolog_v3;
pub(super) mod mqsim;
pub(super) mod msr;
pub(super) mod name;
pub(super) mod record;
pub(super) mod replayer;
pub(super) mod spc;
pub(super) mod ssdsim;
pub(super) mod systor;
pub(super) mod tencent;
pub(super) mod vscsi;

pub use self::name::Format;
use self::record::Line;
use super::action::Action;
use super::columns::{self, Columns};
use super::cursor::{Cursor, Fault};

/// State of a text format kept from line to line.
#[derive(Clone, Debug)]
pub(super) struct LineReader {
    format: Format,
    columns: Option<Columns>,
    blkparse: blkparse::State,
    iolog: iolog_v2::State,
}

impl LineReader {
    /// A reader at the start of a file. `action` is used by blkparse only.
    pub fn new(format: Format, action: Action) -> Self {
        let columns = Columns::of(format);
        LineReader { format, columns, blkparse: blkparse::State::new(action), iolog: iolog_v2::State::default() }
    }

    /// The meaning of the line; `number` counts from 1.
    #[inline]
    pub fn read(&mut self, line: &mut Cursor<'_>, number: u64) -> Result<Line, Fault> {
        if let Some(raw) = self.columns.and_then(|columns| columns::common(line, columns)) {
            return Ok(Line::Request(raw));
        }
        self.read_any(line, number)
    }

    /// Reads a line that is not a common one.
    fn read_any(&mut self, line: &mut Cursor<'_>, number: u64) -> Result<Line, Fault> {
        line.blanks();
        match line.peek() {
            None | Some(b'#') => return Ok(Line::Skip),
            Some(b)
                if number == 1
                    && !b.is_ascii_digit()
                    && self.format.first_line_may_be_header()
                    && (b.is_ascii_alphabetic() || b == b'"') =>
            {
                return Ok(Line::Skip);
            }
            _ => {}
        }
        match self.format {
            Format::Mqsim => mqsim::read(line),
            Format::Ssdsim => ssdsim::read(line),
            Format::Disksim => disksim::read(line),
            Format::Replayer => replayer::read(line),
            Format::Msr => msr::read(line),
            Format::Spc => spc::read(line),
            Format::Alibaba => alibaba::read(line),
            Format::Tencent => tencent::read(line),
            Format::Systor => systor::read(line),
            Format::Vscsi => vscsi::read(line),
            Format::Blkparse => self.blkparse.read(line),
            Format::IologV2 => self.iolog.read(line, number),
            Format::IologV3 => iolog_v3::read(line, number),
            Format::Blktrace => Err(line.fault("a text line", "a binary blktrace has none")),
        }
    }
}
