//! All requests of a trace in file order, in any format, as the file has them, with the device filter applied.
//!
//! Promises to read a file once per pass, to number lines (or records) for messages, and to turn a fault into a message
//! that names place, value and what is legal. Must never know the drive, nor change times and sizes.

use std::collections::BTreeSet;

use flashlane_core::Op;
use rustc_hash::FxHashMap;

use super::cursor::{BY_COMMA, BY_SPACE, Cursor, Fault, NOTHING_MORE};
use super::format::LineReader;
use super::format::cells::{CELLS, CellReader};
use super::format::definition::How;
use super::format::record::{Line, RawRecord};
use super::input::Origin;
use super::lines::Lines;
use super::merge::Merge;
use super::opening::opening;
use super::options::TraceOptions;
use super::recognition::Recognition;
use super::vscsi_file::VscsiFile;
use super::{Format, TimeUnit, error, quote, refuse};
use flashlane_core::arrival::WorkloadError;

/// A request as in the file, on the file's time axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record {
    pub time_ns: u64,
    pub offset: u64,
    pub length: u64,
    pub op: Op,
    /// Of a write: with force unit access.
    pub fua: bool,
    /// The index of its device among those met so far.
    pub device: u32,
    /// Its place, for [`Records::place`].
    pub at: At,
}

impl Record {
    /// A placeholder, for [`Records::next`].
    pub const NONE: Record =
        Record { time_ns: 0, offset: 0, length: 0, op: Op::Read, fua: false, device: 0, at: At { file: 0, number: 0 } };
}

/// A place in a trace: a line of the text, or a record of a binary file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct At {
    file: u32,
    number: u64,
}

/// How many lines (or records) were read, and what became of those that gave no request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct LineCounts {
    pub lines: u64,
    pub skipped: u64,
    pub filtered: u64,
    pub stacked: u64,
    pub cut_off: u64,
}

/// The requests of a trace.
pub(super) struct Records {
    origins: Vec<Origin>,
    recognition: Recognition,
    how: How,
    stream: Stream,
    filter: Option<Vec<u8>>,
    devices: Devices,
    /// The request whose flush was the last record.
    flushed_before: Option<Box<Record>>,
    /// The counts of earlier passes.
    earlier: LineCounts,
    skipped: u64,
    filtered: u64,
    stacked: u64,
    cut_off: u64,
    /// Devices met while no request has passed the filter, for the error message.
    refused: Refused,
    passed: bool,
}

enum Stream {
    Text(Lines, Box<LineReader>),
    Binary(Merge),
    Vscsi(Box<VscsiFile>),
}

impl Stream {
    /// The requests of a binary format; `None` if it has lines.
    fn binary(format: Format, origins: &[Origin], how: &How) -> Result<Option<Stream>, WorkloadError> {
        let unit = how.unit.unwrap_or(format.time_unit());
        match format {
            Format::Blktrace => Merge::open(origins, how.action, unit).map(Stream::Binary).map(Some),
            Format::VscsiBinary => VscsiFile::open(&origins[0], unit).map(|file| Some(Stream::Vscsi(Box::new(file)))),
            _ => Ok(None),
        }
    }
}

/// Devices in the order they were met.
#[derive(Default)]
struct Devices {
    names: Vec<Vec<u8>>,
    numbers: FxHashMap<Vec<u8>, u32>,
    last: u32,
}

impl Devices {
    #[inline]
    fn number(&mut self, name: &[u8]) -> u32 {
        if self.names.get(self.last as usize).is_some_and(|last| last == name) {
            return self.last;
        }
        self.other(name)
    }

    fn other(&mut self, name: &[u8]) -> u32 {
        self.last = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = self.names.len() as u32;
                self.names.push(name.to_vec());
                self.numbers.insert(name.to_vec(), number);
                number
            }
        };
        self.last
    }
}

impl Records {
    /// Opens a trace. The device that is [wanted](TraceOptions::part) has the index 0.
    pub fn open(origins: Vec<Origin>, options: &TraceOptions) -> Result<Self, WorkloadError> {
        options.check()?;
        let first = &origins[0];
        let lines = Lines::new(first.name(), first.open()?);
        let (recognition, how) = opening(&origins, &lines, options)?;
        let stream = match Stream::binary(recognition.format, &origins, &how)? {
            Some(stream) => stream,
            None => Stream::Text(lines, Box::new(LineReader::new(recognition.format, &how))),
        };
        let filter = options.device.as_ref().map(|name| (recognition.format.about().device)(name));
        let mut devices = Devices::default();
        if let Some(part) = &options.part {
            devices.number(part);
        }
        Ok(Records {
            origins,
            recognition,
            how,
            stream,
            filter,
            devices,
            flushed_before: None,
            earlier: LineCounts::default(),
            skipped: 0,
            filtered: 0,
            stacked: 0,
            cut_off: 0,
            refused: Refused::default(),
            passed: false,
        })
    }

    /// The format and why it was chosen.
    pub fn recognition(&self) -> &Recognition {
        &self.recognition
    }

    /// The unit in which times are read.
    pub fn time_unit(&self) -> TimeUnit {
        self.how.unit.unwrap_or(self.recognition.format.time_unit())
    }

    /// Bytes of the files read in this pass, and in all.
    pub fn bytes_read(&self) -> (u64, u64) {
        let of = |sum: (u64, u64), (read, all)| (sum.0 + read, sum.1 + all);
        self.origins.iter().map(Origin::bytes_read).fold((0, 0), of)
    }

    /// Goes back to the first request.
    pub fn rewind(&mut self) -> Result<(), WorkloadError> {
        self.earlier = self.counts();
        (self.skipped, self.filtered, self.stacked, self.cut_off) = (0, 0, 0, 0);
        self.flushed_before = None;
        self.stream = match Stream::binary(self.recognition.format, &self.origins, &self.how)? {
            Some(stream) => stream,
            None => {
                let lines = Lines::new(self.origins[0].name(), self.origins[0].open()?);
                Stream::Text(lines, Box::new(LineReader::new(self.recognition.format, &self.how)))
            }
        };
        Ok(())
    }

    /// Puts the next request into `record`; returns false if there is none.
    #[inline]
    pub fn next(&mut self, record: &mut Record) -> Result<bool, WorkloadError> {
        if let Some(flushed) = self.flushed_before.take() {
            *record = *flushed;
            return Ok(true);
        }
        loop {
            let (raw, device, at) = match &mut self.stream {
                Stream::Text(lines, reader) => {
                    let number = lines.number() + 1;
                    let Some(mut line) = lines.next()? else { return Ok(false) };
                    match reader.read(&mut line, number) {
                        Ok(Line::Request(raw)) => {
                            let (from, to) = raw.device;
                            (raw, &line.line()[from as usize..to as usize], At { file: 0, number })
                        }
                        Ok(Line::Skip) => {
                            self.skipped += 1;
                            continue;
                        }
                        Err(fault) => {
                            let fault = column_that_ends_early(reader, &line, number, fault);
                            let csv = self.how.csv.as_ref();
                            let message = message(&self.recognition, csv, (&line, number), fault);
                            if self.recognition.format.about().is_recording && lines.is_cut_off() {
                                self.cut_off += 1;
                                return Ok(false);
                            }
                            return Err(error(lines.place_of(number), message));
                        }
                    }
                }
                Stream::Binary(merge) => {
                    let Some(merged) = merge.next()? else { return Ok(false) };
                    (merged.raw, merge.device_name(), At { file: merged.file as u32, number: merged.number })
                }
                Stream::Vscsi(file) => {
                    let Some((raw, number)) = file.next()? else { return Ok(false) };
                    (raw, &b""[..], At { file: 0, number })
                }
            };
            if !self.how.stacked.is_empty() && self.how.stacked.iter().any(|upper| upper == device) {
                self.stacked += 1;
                continue;
            }
            if let Some(filter) = &self.filter {
                if device != filter {
                    self.filtered += 1;
                    if !self.passed {
                        self.refused.add(device);
                    }
                    continue;
                }
                self.passed = true;
            }
            let device = self.devices.number(device);
            let RawRecord { time_ns, offset, length, op, fua, preflush, .. } = raw;
            *record = Record { time_ns, offset, length, op, fua, device, at };
            if preflush {
                self.flush_before(record);
            }
            return Ok(true);
        }
    }

    /// Puts a flush in the place of `record`, which is the next one.
    #[cold]
    fn flush_before(&mut self, record: &mut Record) {
        self.flushed_before = Some(Box::new(*record));
        *record = Record { offset: 0, length: 0, op: Op::Flush, fua: false, ..*record };
    }

    /// The place for messages: `file:line`, or `file:record N`.
    #[cold]
    pub fn place(&self, at: At) -> String {
        match &self.stream {
            Stream::Text(lines, _) => lines.place_of(at.number),
            Stream::Binary(merge) => merge.place(at.file as usize, at.number),
            Stream::Vscsi(file) => file.place(at.number),
        }
    }

    /// The error of a trace without any request.
    #[cold]
    pub fn nothing(&self) -> WorkloadError {
        let place = self.origins[0].name();
        let Some(filter) = &self.filter else {
            return error(
                place,
                format!("no request in it; legal is at least one line `{}`", self.recognition.format.shape()),
            );
        };
        error(place, format!("no request of device {}; the trace has {}", quote(filter), self.refused.listed()))
    }

    /// Counts of what was read so far, over all passes.
    pub fn counts(&self) -> LineCounts {
        let (lines, skipped) = match &self.stream {
            Stream::Text(lines, _) => (lines.number(), self.skipped),
            Stream::Binary(merge) => merge.records(),
            Stream::Vscsi(file) => (file.number, file.skipped),
        };
        let before = self.earlier;
        LineCounts {
            lines: before.lines + lines,
            skipped: before.skipped + skipped,
            filtered: before.filtered + self.filtered,
            stacked: before.stacked + self.stacked,
            cut_off: before.cut_off + self.cut_off,
        }
    }

    /// The names of the devices met so far, in the order of [`Record::device`].
    pub fn devices(&self) -> &[Vec<u8>] {
        &self.devices.names
    }
}

/// Devices that were not asked for.
#[derive(Default)]
struct Refused {
    /// The first of them, in their order in the file.
    first: Vec<Vec<u8>>,
    all: BTreeSet<Vec<u8>>,
}

impl Refused {
    /// How many are named.
    const NAMED: usize = 8;

    fn add(&mut self, device: &[u8]) {
        if self.all.contains(device) {
            return;
        }
        self.all.insert(device.to_vec());
        if self.first.len() < Refused::NAMED {
            self.first.push(device.to_vec());
        }
    }

    /// The first of them by name, and how many more there are.
    fn listed(&self) -> String {
        let named: Vec<String> = self.first.iter().map(|device| quote(device)).collect();
        match self.all.len() - named.len() {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }
}

/// The fault of a column whose value ends early, where the one behind it was missed because nothing sets it off: with that value cut off, the
/// line lacks that column.
#[cold]
fn column_that_ends_early(reader: &mut LineReader, line: &Cursor<'_>, number: u64, fault: Fault) -> Fault {
    let Some(before) = line.line().get(..fault.at).filter(|before| before.len() < line.line().len()) else {
        return fault;
    };
    let separates: fn(&u8) -> bool = match fault.legal {
        BY_SPACE => |b| matches!(b, b' ' | b'\t'),
        BY_COMMA | NOTHING_MORE => |b| matches!(b, b' ' | b'\t' | b','),
        _ => return fault,
    };
    let from = before.iter().rposition(separates).map_or(0, |at| at + 1);
    let from = from + before[from..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let lacking = if from < before.len() { reader.lacking(&before[..from], number) } else { None };
    lacking
        .filter(|lacking| lacking.at >= before[..from].trim_ascii_end().len())
        .map_or(fault, |lacking| Fault { at: from, ..lacking })
}

/// The message for a field that cannot be read.
#[cold]
fn message(
    Recognition { format, reason, .. }: &Recognition,
    csv: Option<&CellReader>,
    (line, number): (&Cursor<'_>, u64),
    fault: Fault,
) -> String {
    let bytes = line.line();
    let at = fault.at.min(bytes.len());
    let is_csv = *format == Format::Csv;
    if let Some(reader) = csv.filter(|_| fault.field == CELLS) {
        return format!("{} ({reason})", reader.wrong_number(bytes));
    }
    let in_quotes = is_csv && at > 0 && bytes[at - 1] == b'"';
    let ends = |b: &u8| match csv {
        Some(_) if in_quotes => *b == b'"',
        Some(reader) => *b == reader.separator,
        None if format.about().shape.contains(',') => matches!(b, b',' | b' ' | b'\t'),
        None => matches!(b, b' ' | b'\t'),
    };
    let from = bytes[..at].iter().rposition(ends).map_or(0, |p| p + 1);
    let to = bytes[at..].iter().position(ends).map_or(bytes.len(), |p| at + p);
    let value = match &bytes[from..to] {
        _ if at == bytes.len() => "the line ends there".to_owned(),
        [] => quote(&bytes[at..(at + 1).min(bytes.len())]),
        value => quote(value.trim_ascii()),
    };
    let refused = if number == 1 { refuse::by_content(bytes, true) } else { refuse::by_line(bytes) };
    let refused = refused.map_or(String::new(), |why| format!(" ({why})"));
    let (field, legal) = (fault.field, fault.legal);
    if is_csv {
        return format!("{field}: {value}; legal is {legal} ({reason}){refused}");
    }
    format!("{field}: {value}; legal is {legal} ({} lines are `{}`){refused}", format.title(), format.shape())
}
