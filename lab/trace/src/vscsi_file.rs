//! Binary VSCSI traces, as CloudPhysics published them: little-endian records of version 1 (32 bytes) or 2 (40 bytes), times in us,
//! addresses in blocks of 512 bytes.
//!
//! Version 1 has serial number, length, scatter-gather entries (4 bytes each), command, version (2 bytes each), block and time (8 bytes each);
//! version 2 command, version, serial number, length, scatter-gather entries, block, time and response time. The upper byte of the version
//! counts. Reads, writes and flushes are requests, as in the CSV; other commands are skipped. Promises an error with file and record
//! number for another version, a command that is none, or a record cut short.

use std::io::{ErrorKind, Read};

use flashlane_core::Op;

use super::format::record::RawRecord;
use super::format::vscsi::operation;
use super::input::Origin;
use super::packed::{Stream, broken};
use super::{TimeUnit, error};
use flashlane_core::arrival::WorkloadError;

/// The shape of a file, for messages.
pub(super) const SHAPE: &str =
    "records of 32 bytes (version 1) or 40 bytes (version 2), little-endian, times in us, blocks of 512 B";
/// Records looked at to recognise a file.
const TRIALS: usize = 64;

/// Where the fields of a version's record are.
struct Layout {
    version: u8,
    bytes: usize,
    version_at: usize,
    command: usize,
    length: usize,
    block: usize,
    time: usize,
}

const LAYOUTS: [Layout; 2] = [
    Layout { version: 1, bytes: 32, version_at: 14, command: 12, length: 4, block: 16, time: 24 },
    Layout { version: 2, bytes: 40, version_at: 2, command: 0, length: 8, block: 16, time: 24 },
];

impl Layout {
    /// The little-endian number of `N` bytes at `at`.
    fn number<const N: usize>(record: &[u8], at: usize) -> u64 {
        record[at..at + N].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    /// The version and the command, as the record has them.
    fn kind(&self, record: &[u8]) -> (u8, u64) {
        (record[self.version_at + 1], Self::number::<2>(record, self.command))
    }

    /// Whether a record has the version and a command of one byte.
    fn fits(&self, record: &[u8]) -> bool {
        let (version, command) = self.kind(record);
        version == self.version && command <= 0xff
    }
}

/// The layout of all whole records that `sample` begins with.
fn layout(sample: &[u8]) -> Option<&'static Layout> {
    LAYOUTS.iter().find(|layout| {
        let mut records = sample.chunks_exact(layout.bytes).take(TRIALS).peekable();
        records.peek().is_some() && records.all(|record| layout.fits(record))
    })
}

/// Whether bytes are records of one of the versions, of which one at least is a request.
pub(super) fn is_vscsi(sample: &[u8]) -> bool {
    let Some(layout) = layout(sample) else { return false };
    sample.chunks_exact(layout.bytes).take(TRIALS).any(|record| operation(layout.kind(record).1 as u8).is_some())
}

/// The requests of a file.
pub(super) struct VscsiFile {
    name: String,
    input: Stream,
    layout: &'static Layout,
    /// Nanoseconds in the unit of its times.
    unit_ns: u64,
    /// Records read so far.
    pub number: u64,
    /// Records read that are no requests.
    pub skipped: u64,
    /// The first record, from which the version is known.
    ahead: Vec<u8>,
}

impl VscsiFile {
    /// Opens the file; times are in `unit`.
    pub fn open(origin: &Origin, unit: TimeUnit) -> Result<VscsiFile, WorkloadError> {
        let (name, mut input) = (origin.name(), origin.open()?);
        let mut ahead = vec![0; LAYOUTS[0].bytes];
        let got = fill(&mut input, &mut ahead).map_err(|e| error(format!("{name}:record 1"), broken(&e)))?;
        ahead.truncate(got);
        let first = LAYOUTS.iter().find(|layout| got == LAYOUTS[0].bytes && layout.fits(&ahead));
        let Some(layout) = first else {
            return Err(error(format!("{name}:record 1"), format!("no record of VSCSI; legal are {SHAPE}")));
        };
        Ok(VscsiFile { name, input, layout, unit_ns: unit.ns(), number: 0, skipped: 0, ahead })
    }

    /// The place for messages: `file:record N`.
    pub fn place(&self, number: u64) -> String {
        format!("{}:record {number}", self.name)
    }

    /// The next request, and the number of its record from 1.
    pub fn next(&mut self) -> Result<Option<(RawRecord, u64)>, WorkloadError> {
        loop {
            let mut record = [0; LAYOUTS[1].bytes];
            let record = &mut record[..self.layout.bytes];
            let begun = std::mem::take(&mut self.ahead);
            record[..begun.len()].copy_from_slice(&begun);
            let read = fill(&mut self.input, &mut record[begun.len()..]);
            let got = begun.len() + read.map_err(|e| error(self.place(self.number + 1), broken(&e)))?;
            if got == 0 {
                return Ok(None);
            }
            self.number += 1;
            if got < record.len() {
                let message = format!("the file ends inside a record; legal are {SHAPE}");
                return Err(error(self.place(self.number), message));
            }
            match self.request(record)? {
                Some(raw) => return Ok(Some((raw, self.number))),
                None => self.skipped += 1,
            }
        }
    }

    /// The request of a record, if it is one.
    fn request(&self, record: &[u8]) -> Result<Option<RawRecord>, WorkloadError> {
        let layout = self.layout;
        let fails = |message: String| Err(error(self.place(self.number), message));
        let (version, command) = layout.kind(record);
        if version != layout.version {
            return fails(format!("version {version}; legal is {}, as in the first record", layout.version));
        }
        let Ok(command) = u8::try_from(command) else {
            return fails(format!("the command {command:#06x}; legal is the number of a SCSI command, 0x00 to 0xff"));
        };
        let Some(op) = operation(command) else { return Ok(None) };
        let time = Layout::number::<8>(record, layout.time);
        let Some(time_ns) = time.checked_mul(self.unit_ns) else {
            return fails(format!("time {time}; legal is 0 to {} in this unit", u64::MAX / self.unit_ns));
        };
        if op == Op::Flush {
            return Ok(Some(RawRecord::flush(time_ns, (0, 0))));
        }
        let block = Layout::number::<8>(record, layout.block);
        let Some(offset) = block.checked_mul(512) else {
            return fails(format!("block {block}; legal is 0 to {}", u64::MAX / 512));
        };
        let length = Layout::number::<4>(record, layout.length);
        Ok(Some(RawRecord { time_ns, offset, length, op, ..RawRecord::PLAIN }))
    }
}

/// Fills `bytes` as far as the stream goes, and says how far.
fn fill(input: &mut Stream, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while got < bytes.len() {
        match input.read(&mut bytes[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}
