//! The formats: one file for each, and the list of them.
//!
//! To add a format, write a file like `alibaba.rs`: a `Reader` that implements [`TraceFormat`], whose [`About`] has its key, title, shape
//! and time unit, what recognises it, how it is written and a sample. Then declare the file below and give it a line in the list: the enum, its names,
//! the recognition, reading, writing and the tests that go over all formats follow. A `Cursor` steps over spaces and commas alone; for other separators it
//! finds a byte (`find`) and cuts a field out (`part`).
//!
//! Promises that a reader takes a line as a request only if every field is legal. Must never know options, order or the
//! drive: a [`RawRecord`](record::RawRecord) is the file's content in nanoseconds and bytes.

mod alibaba;
mod blkparse;
mod blktrace;
pub(crate) mod cells;
mod csv;
pub(crate) mod definition;
mod disksim;
pub(crate) mod event;
mod ftrace;
pub(crate) mod iolog;
mod iolog_v2;
mod iolog_v3;
mod mqsim;
mod msr;
pub(crate) mod outgoing;
pub(crate) mod record;
mod recording;
mod replayer;
mod spc;
mod ssdsim;
mod systor;
mod tencent;
pub(crate) mod vscsi;
mod vscsi_binary;

use serde::{Serialize, Serializer};

use self::definition::{About, How, TraceFormat, Writer};
use self::record::Line;
use super::TimeUnit;
use super::columns::{self, Columns};
use super::cursor::{Cursor, Fault};
use super::refuse;

/// Makes the enum of formats and what goes from a format to its file.
macro_rules! formats {
    ($($(#[$doc:meta])* $name:ident = $file:ident,)*) => {
        /// A trace format.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Format {
            $($(#[$doc])* $name,)*
        }

        impl Format {
            /// All formats.
            pub const ALL: [Format; [$(Format::$name),*].len()] = [$(Format::$name),*];

            /// What its file says of it.
            pub(crate) const fn about(self) -> &'static About {
                match self {
                    $(Format::$name => &<$file::Reader as TraceFormat>::ABOUT,)*
                }
            }
        }

        /// The state of reading a file, by format.
        #[derive(Clone, Debug)]
        enum Reader {
            $($name($file::Reader),)*
        }

        impl Reader {
            fn open(format: Format, how: &How) -> Reader {
                match format {
                    $(Format::$name => Reader::$name(TraceFormat::open(how)),)*
                }
            }

            #[inline]
            fn read(&mut self, line: &mut Cursor<'_>, how: &How, number: u64) -> Result<Line, Fault> {
                match self {
                    $(Reader::$name(reader) => reader.read(line, how, number),)*
                }
            }
        }
    };
}

formats! {
    /// MSR Cambridge CSV.
    Msr = msr,
    /// SPC, as in the UMass repository.
    Spc = spc,
    /// MQSim ASCII.
    Mqsim = mqsim,
    /// SSDSim ASCII: columns and units as in MQSim's.
    Ssdsim = ssdsim,
    /// DiskSim ASCII.
    Disksim = disksim,
    /// The five columns of the FEMU and Heimdall replayers.
    Replayer = replayer,
    /// Alibaba block traces.
    Alibaba = alibaba,
    /// Tencent cloud block storage.
    Tencent = tencent,
    /// SYSTOR '17 (virtual desktops).
    Systor = systor,
    /// VSCSI traces of CloudPhysics as CSV.
    Vscsi = vscsi,
    /// VSCSI traces of CloudPhysics as they were recorded.
    VscsiBinary = vscsi_binary,
    /// The default text of blkparse.
    Blkparse = blkparse,
    /// Binary blktrace.
    Blktrace = blktrace,
    /// The text of ftrace, `trace-cmd report` or `perf script`.
    Ftrace = ftrace,
    /// fio's I/O log, version 2.
    IologV2 = iolog_v2,
    /// fio's I/O log, version 3.
    IologV3 = iolog_v3,
    /// What `flashlane serve --record` writes.
    Record = recording,
    /// Any CSV, by the names or numbers of its columns.
    Csv = csv,
}

impl Format {
    /// The name users write: `msr`, `mqsim`, `iolog-v3`, ...
    pub const fn key(self) -> &'static str {
        self.about().key
    }

    /// Its title in prose.
    pub const fn title(self) -> &'static str {
        self.about().title
    }

    /// The shape of a line (or record), with units.
    pub const fn shape(self) -> &'static str {
        self.about().shape
    }

    /// The unit of its times.
    pub const fn time_unit(self) -> TimeUnit {
        self.about().time_unit
    }

    /// Whether its times carry a date (count from 1601 or 1970), so that no other unit can be meant.
    pub const fn has_date(self) -> bool {
        self.about().has_date
    }

    /// Whether it holds what a drive was given, with times since the start of the drive.
    pub const fn is_recording(self) -> bool {
        self.about().is_recording
    }

    /// When a time of a file of it, ns, was: nanoseconds since 1970, if its times carry a date. Those of a CSV do if they lie between 1990
    /// and 2100.
    pub fn date(self, time_ns: u64) -> Option<i128> {
        const SECOND: i128 = 1_000_000_000;
        /// From 1601, from when Windows counts, to 1970.
        const WINDOWS_S: i128 = 11_644_473_600;
        let since_1970 = i128::from(time_ns);
        match self {
            Format::Msr => Some(since_1970 - WINDOWS_S * SECOND),
            Format::Csv => Some(since_1970).filter(|ns| (631_152_000 * SECOND..4_102_444_800 * SECOND).contains(ns)),
            _ => self.has_date().then_some(since_1970),
        }
    }

    /// Whether [`convert`](mod@crate::convert) can write it.
    pub const fn writable(self) -> bool {
        !matches!(self.about().writer, Writer::Never)
    }

    /// A small valid text of at least two requests; empty if the format is no text. Tests of all formats read it.
    pub const fn sample(self) -> &'static str {
        self.about().sample
    }

    /// The keys of all formats, for messages.
    pub(crate) fn keys() -> String {
        Format::ALL.map(Format::key).join(", ")
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        if let Some(reason) = refuse::by_name(text) {
            return Err(format!("{reason}; legal is one of {}", Format::keys()));
        }
        let found = Format::ALL.into_iter().find(|f| f.key().eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("`{}` is no trace format; legal is one of {}", text.escape_debug(), Format::keys()))
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.key())
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.key())
    }
}

/// State of a text format kept from line to line.
#[derive(Clone, Debug)]
pub(super) struct LineReader {
    columns: Option<Columns>,
    /// Whether the next line may be a header that says nothing.
    may_be_header: bool,
    how: How,
    reader: Reader,
}

impl LineReader {
    /// A reader at the start of a file.
    pub fn new(format: Format, how: &How) -> Self {
        let about = format.about();
        let how = How { unit: how.unit.filter(|unit| *unit != about.time_unit), ..how.clone() };
        LineReader {
            columns: about.columns.filter(|_| how.unit.is_none()),
            may_be_header: about.first_line_may_be_header,
            reader: Reader::open(format, &how),
            how,
        }
    }

    /// The meaning of the line; `number` counts from 1.
    #[inline]
    pub fn read(&mut self, line: &mut Cursor<'_>, number: u64) -> Result<Line, Fault> {
        if let Some(raw) = self.columns.and_then(|columns| columns::common(line, columns)) {
            return Ok(Line::Request(raw));
        }
        self.read_any(line, number)
    }

    /// The column that a line, which ends early, lacks.
    #[cold]
    pub fn lacking(&mut self, line: &[u8], number: u64) -> Option<Fault> {
        // No digit may follow a line.
        let line = line.to_vec();
        self.reader.read(&mut Cursor::new(&line, line.len()), &self.how, number).err()
    }

    /// Reads a line that is not a common one.
    pub(super) fn read_any(&mut self, line: &mut Cursor<'_>, number: u64) -> Result<Line, Fault> {
        line.blanks();
        match line.peek() {
            None | Some(b'#') => return Ok(Line::Skip),
            Some(b) if number == 1 && self.may_be_header && (b.is_ascii_alphabetic() || b == b'"') => {
                return Ok(Line::Skip);
            }
            _ => {}
        }
        self.reader.read(line, &self.how, number)
    }
}
