//! The formats: their names, what a line of each looks like, and one file for each that reads a line.
//!
//! Promises that a reader takes a line as a request only if every field is legal. Must never know options, order or the
//! drive: a [`RawRecord`] is the file's content in nanoseconds and bytes.

pub(super) mod alibaba;
pub(super) mod blkparse;
pub(crate) mod csv;
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
use super::time_unit::TimeUnit;

/// State of a text format kept from line to line.
#[derive(Clone, Debug)]
pub(super) struct LineReader {
    format: Format,
    /// The unit of times, if it is not the format's own.
    unit: Option<TimeUnit>,
    columns: Option<Columns>,
    blkparse: blkparse::State,
    iolog: iolog_v2::State,
    csv: Option<Box<csv::Reader>>,
}

/// How a file is read.
#[derive(Clone, Debug)]
pub(super) struct How {
    pub format: Format,
    /// blkparse: the lines that are read.
    pub action: Action,
    /// The unit of times, where it is not the format's own.
    pub unit: Option<TimeUnit>,
    /// The columns of a CSV.
    pub csv: Option<csv::Reader>,
}

impl How {
    /// A format as it is.
    pub fn plain(format: Format) -> How {
        How { format, action: Action::Queue, unit: None, csv: None }
    }
}

impl LineReader {
    /// A reader at the start of a file.
    pub fn new(how: &How) -> Self {
        let format = how.format;
        let unit = how.unit.filter(|unit| *unit != format.time_unit());
        let columns = if unit.is_none() { Columns::of(format) } else { None };
        let blkparse = blkparse::State::new(how.action, unit);
        let csv = how.csv.clone().map(Box::new);
        LineReader { format, unit, columns, blkparse, iolog: iolog_v2::State::default(), csv }
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
            Format::Mqsim => mqsim::read(line, self.unit),
            Format::Ssdsim => ssdsim::read(line, self.unit),
            Format::Disksim => disksim::read(line, self.unit),
            Format::Replayer => replayer::read(line, self.unit),
            Format::Msr => msr::read(line),
            Format::Spc => spc::read(line, self.unit),
            Format::Alibaba => alibaba::read(line),
            Format::Tencent => tencent::read(line),
            Format::Systor => systor::read(line),
            Format::Vscsi => vscsi::read(line, self.unit),
            Format::Blkparse => self.blkparse.read(line),
            Format::IologV2 => self.iolog.read(line, number, self.unit),
            Format::IologV3 => iolog_v3::read(line, number, self.unit),
            Format::Csv => match &mut self.csv {
                Some(reader) => reader.read(line),
                None => Err(line.fault("the columns", "a header that names them")),
            },
            Format::Blktrace => Err(line.fault("a text line", "a binary blktrace has none")),
        }
    }
}
