//! What the file of a format says of it, and what it is given to read and to write lines.
//!
//! A format is a type that implements [`TraceFormat`], whose [`About`] has everything that is not code. Must never know which formats
//! there are.

use std::io;

use flashlane_core::Op;

use super::cells::CellReader;
use super::event::EventOf;
use super::outgoing::{Outgoing, Unwritten};
use super::record::Line;
use crate::TimeUnit;
use crate::action::Action;
use crate::columns::Columns;
use crate::cursor::{Cursor, Fault};

/// A trace format, and the state of reading one file of it.
pub(crate) trait TraceFormat: Default {
    /// What it is.
    const ABOUT: About;

    /// The state at the start of a file.
    fn open(_: &How) -> Self {
        Self::default()
    }

    /// The meaning of a line that is neither blank nor a comment; `number` counts from 1.
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, number: u64) -> Result<Line, Fault>;
}

/// How a file is read.
#[derive(Clone, Debug)]
pub(crate) struct How {
    /// Block traces: the events that are read.
    pub action: Action,
    /// Devices whose requests are left out, because they appear again at lower ones.
    pub stacked: Vec<Vec<u8>>,
    /// The unit of times, where it is not the format's own.
    pub unit: Option<TimeUnit>,
    /// VSCSI: the numbers of commands are hexadecimal.
    pub is_hexadecimal: bool,
    /// The columns of a CSV.
    pub csv: Option<CellReader>,
}

impl How {
    /// A format as it is.
    pub const PLAIN: How =
        How { action: Action::Queue, stacked: Vec::new(), unit: None, is_hexadecimal: false, csv: None };

    /// A time in the unit that is given, else as the format writes it.
    #[inline(always)]
    pub fn time(
        &self,
        line: &mut Cursor<'_>,
        own: impl FnOnce(&mut Cursor<'_>) -> Result<u64, Fault>,
    ) -> Result<u64, Fault> {
        match self.unit {
            None => own(line),
            Some(unit) => line.time(unit),
        }
    }
}

/// What a format is.
pub(crate) struct About {
    /// The name users write.
    pub key: &'static str,
    /// Its title in prose.
    pub title: &'static str,
    /// The shape of a line (or record), with units, as in messages and in docs/scenario.md.
    pub shape: &'static str,
    /// The unit of its times.
    pub time_unit: TimeUnit,
    /// Whether its times carry a date (count from 1601 or 1970), so that no other unit can be meant.
    pub has_date: bool,
    /// The finest difference of its times, ns.
    pub resolution_ns: u64,
    /// Whether a first line that begins with a letter is a header instead of an error.
    pub first_line_may_be_header: bool,
    /// Whether it holds what a drive was given: times count from the start of the run, a flow may have no request, and a last line that
    /// was cut off is left out.
    pub is_recording: bool,
    /// How a file of it is recognised.
    pub recognised: Recognised,
    /// Block traces in text: the event of a line, if it is one.
    pub event: Option<EventOf>,
    /// Its columns, if common lines of it can be read without a branch per field.
    pub columns: Option<Columns>,
    /// Whether its lines say of which device (volume, disk, ASU) a request is.
    pub has_volumes: bool,
    /// How users' name of a device is spelled in its lines.
    pub device: fn(&str) -> Vec<u8>,
    /// The line with which a file of it begins where one is written.
    pub header: Option<&'static str>,
    /// How it is written.
    pub writer: Writer,
    /// What its lines can say beyond plain reads and writes.
    pub says: Says,
    /// A small valid text of at least two requests, for tests of all formats; empty if the format is no text.
    pub sample: &'static str,
}

impl About {
    /// What most formats have in common. Each says the rest, above all [`key`](About::key) and [`recognised`](About::recognised).
    pub const PLAIN: About = About {
        key: "",
        title: "",
        shape: "",
        time_unit: TimeUnit::Ns,
        has_date: false,
        resolution_ns: 1,
        first_line_may_be_header: false,
        is_recording: false,
        recognised: Recognised::REQUESTS,
        event: None,
        columns: None,
        has_volumes: true,
        device: About::same_name,
        header: None,
        writer: Writer::Never,
        says: Says::PLAIN,
        sample: "",
    };

    /// The device's name as the user gives it.
    pub fn same_name(name: &str) -> Vec<u8> {
        name.as_bytes().to_vec()
    }
}

/// What the lines of a format can say beyond plain reads and writes.
#[derive(Clone, Copy)]
pub(crate) struct Says {
    pub trims: bool,
    pub write_zeroes: bool,
    pub flushes: bool,
    /// That a write has force unit access.
    pub fua: bool,
}

impl Says {
    /// Nothing more.
    pub const PLAIN: Says = Says { trims: false, write_zeroes: false, flushes: false, fua: false };

    /// Whether they can express requests of this kind.
    pub fn has(&self, op: Op) -> bool {
        match op {
            Op::Read | Op::Write => true,
            Op::Trim => self.trims,
            Op::WriteZeroes => self.write_zeroes,
            Op::Flush => self.flushes,
        }
    }
}

/// What tells that a file is of a format.
pub(crate) enum Recognised {
    /// Its first bytes, and what to say of them.
    Beginning(fn(&[u8]) -> bool, &'static str),
    /// Its first line.
    FirstLine(&'static [u8]),
    /// A header that names the columns.
    Header,
    /// That more of its first lines can be read as this format than as any other; of two that read as many, the one listed first. If none of
    /// these lines is a request, one that is skipped and of which the function is true will do.
    Lines(fn(&[u8]) -> bool),
    /// The same for the formats with five columns together; their numbers then decide which one it is.
    FiveColumns,
}

impl Recognised {
    /// By its lines, at least one of which is a request.
    pub const REQUESTS: Recognised = Recognised::Lines(|_| false);
}

/// How a format is written.
pub(crate) enum Writer {
    /// Not at all.
    Never,
    /// A request is a line.
    Line(LineOf),
    /// By what is kept from request to request.
    Lines(fn() -> Box<dyn WriteLines>),
}

/// Appends the line of a request to a text.
pub(crate) type LineOf = fn(&mut Vec<u8>, &Outgoing<'_>) -> Result<(), Unwritten>;

/// Writes requests as lines.
pub(crate) trait WriteLines {
    /// Appends the lines of a request.
    fn request(&mut self, out: &mut Vec<u8>, request: &Outgoing<'_>) -> Result<(), Unwritten>;

    /// Appends what belongs after the last request.
    fn end(&mut self, _: &mut Vec<u8>) -> io::Result<()> {
        Ok(())
    }
}

impl WriteLines for LineOf {
    fn request(&mut self, out: &mut Vec<u8>, request: &Outgoing<'_>) -> Result<(), Unwritten> {
        self(out, request)
    }
}
