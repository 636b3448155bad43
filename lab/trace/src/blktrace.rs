//! Binary blktrace: 48-byte records in the byte order of the recording machine, each with extra bytes (pdu) behind it.
//!
//! As in blkparse's text, one action is read, `Q`, `D` or `C`; notify records, other actions and passed-through commands are skipped. A
//! discard is a trim, a record with the category of flushes a flush, before the request if it has data. Promises an error with file and record number for a broken magic, an
//! unknown version, or a record cut short. Must never know that there are other files: [`super::merge`] does.

use std::io::{BufReader, ErrorKind, Read};

use flashlane_core::Op;

use super::action::Action;
use super::events::EventCounts;
use super::format::event::Event as TextEvent;
use super::format::record::RawRecord;
use super::input::Origin;
use super::packed::{Stream, broken};
use super::{TimeUnit, error};
use flashlane_core::arrival::WorkloadError;

/// The shape of a file, for messages.
pub(super) const SHAPE: &str = "48-byte records with magic 0x65617407";
/// The magic's upper three bytes; the lowest is the version.
const MAGIC: u32 = 0x6561_7400;
/// The supported version.
const VERSION: u32 = 7;
/// Bytes of a record without its pdu.
const RECORD: usize = 48;

/// Categories, in the upper half of the action word.
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const PASSED_THROUGH: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;
/// In the lower half: the pdu names a control group, which does not change the action.
const CGROUP: u32 = 1 << 8;

/// Whether bytes start like a blktrace of either byte order.
pub(super) fn is_blktrace(sample: &[u8]) -> bool {
    sample.first_chunk().is_some_and(|magic| order(*magic).is_some())
}

/// Whether a magic is little-endian (`true`), big-endian (`false`), or no magic (`None`).
fn order(magic: [u8; 4]) -> Option<bool> {
    if u32::from_le_bytes(magic) & 0xffff_ff00 == MAGIC {
        Some(true)
    } else if u32::from_be_bytes(magic) & 0xffff_ff00 == MAGIC {
        Some(false)
    } else {
        None
    }
}

/// Names of actions as blkparse has them, by their numbers from 0.
const ACTIONS: [&[u8]; 18] =
    [b"m", b"Q", b"M", b"F", b"G", b"S", b"R", b"D", b"C", b"P", b"U", b"UT", b"I", b"X", b"B", b"A", b"ABORT", b"DRV"];
/// The number of the action whose extra bytes name the device that a request comes from.
const REMAP: u32 = 15;
/// Records of a file whose events are counted, at most.
const COUNTED: u64 = 4_000_000;

/// The kernel's device number in user space: 12 bits of major, 20 of minor.
pub(super) fn device_name(device: u32) -> Vec<u8> {
    format!("{},{}", device >> 20, device & 0xf_ffff).into_bytes()
}

/// The fields of a record.
#[derive(Clone, Copy)]
struct Fields {
    time: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
    /// Of a remap: the device it comes from.
    from: Option<u32>,
}

/// A request and the device it went to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub raw: RawRecord,
    /// The kernel's device number.
    pub device: u32,
    /// The number of the record in the file, from 1.
    pub number: u64,
}

/// One per-CPU file.
pub(super) struct CpuFile {
    name: String,
    input: BufReader<Stream>,
    action: Action,
    /// Nanoseconds in the unit of its times.
    unit_ns: u64,
    little: Option<bool>,
    /// Records read so far.
    pub number: u64,
    /// Records read that are no requests.
    pub skipped: u64,
}

impl CpuFile {
    /// Opens the file; requests are the records with `action`, times are in `unit`.
    pub fn open(origin: &Origin, action: Action, unit: TimeUnit) -> Result<Self, WorkloadError> {
        let input = BufReader::with_capacity(1 << 18, origin.open()?);
        Ok(CpuFile { name: origin.name(), input, action, unit_ns: unit.ns(), little: None, number: 0, skipped: 0 })
    }

    /// The place for messages: `file:record N`.
    pub fn place(&self, number: u64) -> String {
        format!("{}:record {number}", self.name)
    }

    /// The next request.
    pub fn next(&mut self) -> Result<Option<Event>, WorkloadError> {
        while let Some(fields) = self.record()? {
            match self.request(fields)? {
                Some(event) => return Ok(Some(event)),
                None => self.skipped += 1,
            }
        }
        Ok(None)
    }

    /// Counts the events of the file, up to a limit or the first record that cannot be read, which is told where it is read.
    pub fn count(&mut self, counts: &mut EventCounts) {
        while let Ok(Some(fields)) = self.record() {
            if self.number > COUNTED {
                counts.is_whole = false;
                return;
            }
            if fields.action & (NOTIFY | PASSED_THROUGH) != 0 {
                continue;
            }
            let device = device_name(fields.device);
            let number = fields.action & 0xffff & !CGROUP;
            let name = ACTIONS.get(number as usize).copied().unwrap_or(b"?");
            let action = Some(name).filter(|name| name.len() == 1).and_then(|name| Action::of_letter(name[0]));
            let sector = Some(fields.sector);
            match (action, fields.from.map(device_name)) {
                (Some(action), _) => counts.add(TextEvent::Request { device: &device, action, sector }),
                (None, Some(from)) => counts.add(TextEvent::Remap { from: &from, to: &device, sector }),
                (None, None) => counts.add(TextEvent::Other(name)),
            }
        }
    }

    /// The next record; `None` at the end.
    fn record(&mut self) -> Result<Option<Fields>, WorkloadError> {
        let mut bytes = [0u8; RECORD];
        if !self.fill(&mut bytes)? {
            return Ok(None);
        }
        self.number += 1;
        let magic = [bytes[0], bytes[1], bytes[2], bytes[3]];
        let found = order(magic);
        if found.is_none() || self.little.is_some_and(|little| found != Some(little)) {
            let message =
                format!("magic {:#010x}; legal is 0x65617407 at the start of every record", u32::from_le_bytes(magic));
            return Err(error(self.place(self.number), message));
        }
        let little = found == Some(true);
        self.little = found;
        let word = |at: usize| {
            let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
        };
        let long = |at: usize| {
            let (first, second) = (u64::from(word(at)), u64::from(word(at + 4)));
            if little { second << 32 | first } else { first << 32 | second }
        };
        let version = word(0) & 0xff;
        if version != VERSION {
            return Err(error(self.place(self.number), format!("blktrace version {version}; legal is {VERSION}")));
        }
        let (pdu, action) = (if little { word(44) >> 16 } else { word(44) & 0xffff }, word(28));
        let from = self.pdu(pdu, action)?;
        Ok(Some(Fields { time: long(8), sector: long(16), bytes: word(24), action, device: word(36), from }))
    }

    /// Passes over a record's extra bytes; of a remap, they name the device it comes from (in the byte order of networks).
    fn pdu(&mut self, count: u32, action: u32) -> Result<Option<u32>, WorkloadError> {
        let ahead = if action & CGROUP != 0 { 8 } else { 0 };
        if action & 0xffff & !CGROUP != REMAP || action & NOTIFY != 0 || count < ahead + 16 {
            self.skip(count)?;
            return Ok(None);
        }
        self.skip(ahead)?;
        let mut from = [0; 4];
        if !self.fill(&mut from)? {
            return Err(self.cut_short());
        }
        self.skip(count - ahead - 4)?;
        Ok(Some(u32::from_be_bytes(from)))
    }

    /// The request of a record, if it is one that is read.
    fn request(&self, fields: Fields) -> Result<Option<Event>, WorkloadError> {
        let Fields { time, sector, bytes, action, device, .. } = fields;
        let wanted = match self.action {
            Action::Queue => 1,
            Action::Issue => 7,
            Action::Complete => 8,
        };
        if action & 0xffff & !CGROUP != wanted || action & (NOTIFY | PASSED_THROUGH) != 0 {
            return Ok(None);
        }
        // The sector of a flush means nothing.
        let flushes = action & FLUSH != 0;
        let sector = if flushes && bytes == 0 { 0 } else { sector };
        let op = match (action & READ != 0, action & WRITE != 0) {
            _ if flushes && bytes == 0 => Op::Flush,
            _ if action & DISCARD != 0 => Op::Trim,
            (true, false) => Op::Read,
            (false, true) => Op::Write,
            _ => return Ok(None),
        };
        let Some(offset) = sector.checked_mul(512) else {
            let message = format!("sector {sector}; legal is 0 to {}", u64::MAX / 512);
            return Err(error(self.place(self.number), message));
        };
        let Some(time_ns) = time.checked_mul(self.unit_ns) else {
            let legal = u64::MAX / self.unit_ns;
            return Err(error(self.place(self.number), format!("time {time}; legal is 0 to {legal} in this unit")));
        };
        let raw = RawRecord {
            time_ns,
            offset,
            length: u64::from(bytes),
            op,
            fua: op == Op::Write && action & FUA != 0,
            preflush: flushes && bytes > 0,
            ..RawRecord::PLAIN
        };
        Ok(Some(Event { raw, device, number: self.number }))
    }

    /// Fills `bytes`; false at the end of the file.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<bool, WorkloadError> {
        let mut got = 0;
        while got < bytes.len() {
            match self.input.read(&mut bytes[got..]) {
                Ok(0) if got == 0 => return Ok(false),
                Ok(0) => return Err(self.cut_short()),
                Ok(n) => got += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(error(self.place(self.number + 1), broken(&e))),
            }
        }
        Ok(true)
    }

    /// Skips a record's extra bytes.
    fn skip(&mut self, count: u32) -> Result<(), WorkloadError> {
        let copied = std::io::copy(&mut self.input.by_ref().take(u64::from(count)), &mut std::io::sink());
        match copied {
            Ok(n) if n == u64::from(count) => Ok(()),
            Ok(_) => Err(self.cut_short()),
            Err(e) => Err(error(self.place(self.number), broken(&e))),
        }
    }

    /// The error of a file that ends inside a record.
    fn cut_short(&self) -> WorkloadError {
        let place = self.place(self.number.max(1));
        error(place, format!("the file ends inside a record; legal is {SHAPE}, each with its pdu"))
    }
}
