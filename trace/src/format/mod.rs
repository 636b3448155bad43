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
pub(super) mod replayer;
pub(super) mod spc;
pub(super) mod ssdsim;
pub(super) mod systor;
pub(super) mod tencent;

use flashlane_core::Op;
use serde::{Serialize, Serializer};

use super::columns::{self, Columns};
use super::cursor::{Cursor, Fault};
use super::options::Action;
use super::refuse;

/// A trace format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// MSR Cambridge CSV.
    Msr,
    /// SPC, as in the UMass repository.
    Spc,
    /// MQSim ASCII.
    Mqsim,
    /// SSDSim ASCII: columns and units as in MQSim's.
    Ssdsim,
    /// DiskSim ASCII.
    Disksim,
    /// The five columns of the FEMU and Heimdall replayers.
    Replayer,
    /// Alibaba block traces.
    Alibaba,
    /// Tencent cloud block storage.
    Tencent,
    /// SYSTOR '17 (virtual desktops).
    Systor,
    /// The default text of blkparse.
    Blkparse,
    /// Binary blktrace.
    Blktrace,
    /// fio's I/O log, version 2.
    IologV2,
    /// fio's I/O log, version 3.
    IologV3,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 13] = [
        Format::Msr,
        Format::Spc,
        Format::Mqsim,
        Format::Ssdsim,
        Format::Disksim,
        Format::Replayer,
        Format::Alibaba,
        Format::Tencent,
        Format::Systor,
        Format::Blkparse,
        Format::Blktrace,
        Format::IologV2,
        Format::IologV3,
    ];

    /// The key that users write, a title, and the shape of a line.
    const fn row(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Format::Msr => {
                ("msr", "MSR Cambridge CSV", "filetime(100 ns),host,disk,Read|Write,offset(B),size(B)[,response]")
            }
            Format::Spc => ("spc", "SPC (UMass)", "ASU,lba(512 B),size(B),r|w,seconds[,...]"),
            Format::Mqsim => ("mqsim", "MQSim ASCII", "ns device lba(512 B) sectors 1=read|0=write"),
            Format::Ssdsim => ("ssdsim", "SSDSim ASCII", "ns device lsn(512 B) sectors 1=read|0=write"),
            Format::Disksim => {
                ("disksim", "DiskSim ASCII", "ms device lba(512 B) sectors flags(hexadecimal, bit 0 = read)")
            }
            Format::Replayer => ("replayer", "five-column replayer", "ms device offset(B) size(B) 1=read|0=write"),
            Format::Alibaba => ("alibaba", "Alibaba", "device,R|W,offset(B),length(B),timestamp(us)"),
            Format::Tencent => ("tencent", "Tencent CBS", "timestamp(s),offset(512 B),sectors,0=read|1=write,volume"),
            Format::Systor => ("systor", "SYSTOR '17", "timestamp(s),response(s),R|W|(blank),LUN,offset(B),size(B)"),
            Format::Blkparse => (
                "blkparse",
                "blkparse text",
                "major,minor cpu sequence seconds pid action rwbs sector + sectors [process]",
            ),
            Format::Blktrace => ("blktrace", "binary blktrace", "48-byte records with magic 0x65617407"),
            Format::IologV2 => {
                ("iolog-v2", "fio iolog version 2", "file action [offset(B) length(B)], after `fio version 2 iolog`")
            }
            Format::IologV3 => {
                ("iolog-v3", "fio iolog version 3", "us file action [offset(B) length(B)], after `fio version 3 iolog`")
            }
        }
    }

    /// The name users write: `msr`, `mqsim`, `iolog-v3`, ...
    pub const fn key(self) -> &'static str {
        self.row().0
    }

    /// Its title in prose.
    pub const fn title(self) -> &'static str {
        self.row().1
    }

    /// The shape of a line (or record), with units.
    pub const fn shape(self) -> &'static str {
        self.row().2
    }

    /// Whether [`convert`](mod@super::convert) can write it.
    pub const fn writable(self) -> bool {
        !matches!(self, Format::Blktrace)
    }

    /// Whether a first line that begins with a letter is a header instead of an error.
    pub(super) const fn first_line_may_be_header(self) -> bool {
        matches!(self, Format::Msr | Format::Spc | Format::Alibaba | Format::Tencent | Format::Systor)
    }

    /// The keys of all formats, for messages.
    pub(super) fn keys() -> String {
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

/// The content of a line in nanoseconds and bytes, on the file's own time axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RawRecord {
    pub time_ns: u64,
    pub offset: u64,
    pub length: u64,
    pub op: Op,
    /// The position of the device's name in the line.
    pub device: (u32, u32),
}

/// The meaning of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line {
    Request(RawRecord),
    /// Legal, but not a request: a header, a blank line, another action.
    Skip,
}

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
            Format::Blkparse => self.blkparse.read(line),
            Format::IologV2 => self.iolog.read(line, number),
            Format::IologV3 => iolog_v3::read(line, number),
            Format::Blktrace => Err(line.fault("a text line", "a binary blktrace has none")),
        }
    }
}

/// The positions of the bytes from `start` to the cursor.
#[inline]
fn range(start: usize, line: &Cursor<'_>) -> (u32, u32) {
    // A line is at most 1 MiB long.
    (start as u32, line.pos() as u32)
}

/// A field that begins with `r` or `w` in either case: the letter alone, or a full word (`Read`, `WRITE`).
#[inline]
fn read_or_write(cell: &[u8]) -> Option<Op> {
    match cell {
        b"R" | b"r" => Some(Op::Read),
        b"W" | b"w" => Some(Op::Write),
        _ if cell.eq_ignore_ascii_case(b"read") => Some(Op::Read),
        _ if cell.eq_ignore_ascii_case(b"write") => Some(Op::Write),
        _ => None,
    }
}
