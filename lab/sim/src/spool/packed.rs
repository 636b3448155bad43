//! Requests in few bytes.
//!
//! Owns the form in which a spool holds requests. A block is a list of requests: each has a byte with the widths of its fields
//! and its direction, then the time since the request before, its first address and its length, in 1, 2, 4 or 8 bytes each;
//! addresses and lengths of a block are in units of `1 << shift` bytes. A second byte follows where a request is more than a plain read or
//! write, or where the reader's counts changed. A request of a common trace takes about ten bytes. Promises to give back what was put in,
//! exactly.

use flashlane_core::{Op, Time};

use flashlane_core::arrival::{Arrival, Span};
use flashlane_trace::Sorted;

/// Bytes of requests in a full block.
const BLOCK: usize = 64 << 10;
/// Bytes past the last request that may be read with it.
const PAD: usize = 8;
/// Kinds of requests.
const KINDS: usize = Op::ALL.len();
/// The most bytes that a request takes: two bytes of widths, its kind, five fields, and a byte and a field a kind.
const LARGEST: usize = 3 + 5 * 8 + KINDS * 9;
/// Requests of most traces begin and end at multiples of 512 bytes.
const SECTOR_SHIFT: u32 = 9;

/// Counts of what a trace's reader left out or changed.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Changes {
    /// Requests left out, by [`Op::index`].
    pub rejected: [u64; KINDS],
    /// Requests moved to their predecessor's time.
    pub clamped: u64,
    /// Requests wrapped into the drive.
    pub wrapped: u64,
}

impl Changes {
    fn map(self, other: Changes, of: impl Fn(u64, u64) -> u64) -> Changes {
        Changes {
            rejected: std::array::from_fn(|kind| of(self.rejected[kind], other.rejected[kind])),
            clamped: of(self.clamped, other.clamped),
            wrapped: of(self.wrapped, other.wrapped),
        }
    }
}

/// The bits of a request's first byte: 2 for the width of each field, one for the direction, one for a second byte that follows.
const WRITE: u8 = 1 << 6;
const MORE: u8 = 1 << 7;
/// The bits of its second byte: 2 for the width of each of the last two [`Changes`], one for requests left out, of which a width and a
/// number for each kind follow, one for a byte with the request's kind.
const REJECTED: u8 = 1 << 5;
const KIND: u8 = 1 << 6;
/// The bit of the byte with its kind for force unit access; the others are [`Op::index`].
const FUA: u8 = 1 << 7;

/// Requests being packed into blocks.
#[derive(Debug, Default)]
pub(super) struct Packer {
    /// Space for a block; the first `used` bytes are taken.
    bytes: Vec<u8>,
    used: usize,
    shift: u32,
    last: u64,
    counted: Changes,
    /// What the next request has instead of those.
    changed: Option<Changes>,
    is_aligned: bool,
    /// Requests of the block, and their bytes.
    requests: u64,
    request_bytes: u64,
}

/// A block as a spool stores it: requests, how many bytes they take, their unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Bytes of the requests, without the padding after them.
    pub used: u32,
    /// Binary logarithm of the unit of addresses and lengths, in bytes.
    pub shift: u32,
    /// Number of requests.
    pub requests: u64,
    /// Bytes that they read and write.
    pub request_bytes: u64,
    /// When the last one arrives, ns.
    pub last_ns: u64,
    /// What the reader had met by then.
    pub met: Met,
}

/// What the reader of a trace has met so far: known block by block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Met {
    /// How many volumes.
    pub volumes: u64,
    /// What sorting moved.
    pub sorted: Sorted,
}

impl Packer {
    pub fn new() -> Packer {
        Packer { bytes: space(), shift: SECTOR_SHIFT, is_aligned: true, ..Packer::default() }
    }

    /// Whether `arrival` fits into the block as it is: there is space, and its address is a multiple of the block's unit.
    pub fn fits(&self, offset: u64, length: u64) -> bool {
        self.used < BLOCK && (offset | length) & ((1 << self.shift) - 1) == 0
    }

    /// The reader's counts are `changes` before the next request.
    #[cold]
    pub fn count(&mut self, changes: Changes) {
        self.changed = Some(changes);
    }

    /// Adds a request.
    pub fn push(&mut self, arrival: &Arrival) {
        let Span::Bytes { offset, length } = arrival.extent else { unreachable!("a trace has byte addresses") };
        let at = arrival.at.ns();
        let fields = [at - self.last, offset >> self.shift, length >> self.shift];
        let widths = fields.map(width);
        let mut head = widths[0] | widths[1] << 2 | widths[2] << 4;
        head |= if arrival.op == Op::Write { WRITE } else { 0 };
        if self.changed.is_none() && arrival.op.is_data() && !arrival.fua {
            self.put_byte(head);
        } else {
            self.put_byte(head | MORE);
            self.put_more(arrival);
        }
        self.put(fields, widths);
        self.last = at;
        self.requests += 1;
        self.request_bytes += if arrival.op.is_data() { length } else { 0 };
    }

    /// Writes what a plain read or write without changes before it has not.
    #[cold]
    fn put_more(&mut self, arrival: &Arrival) {
        let changes = self.changed.take().unwrap_or(self.counted);
        let is_plain = arrival.op.is_data() && !arrival.fua;
        let since = changes.map(self.counted, |now, before| now - before);
        let fields = [since.clamped, since.wrapped];
        let widths = fields.map(width);
        let rejects = since.rejected != [0; KINDS];
        let flags = if rejects { REJECTED } else { 0 } | if is_plain { 0 } else { KIND };
        self.put_byte(widths[0] | widths[1] << 2 | flags);
        if !is_plain {
            self.put_byte(arrival.op as u8 | if arrival.fua { FUA } else { 0 });
        }
        self.put(fields, widths);
        for count in since.rejected.into_iter().filter(|_| rejects) {
            self.put_byte(width(count));
            self.put([count], [width(count)]);
        }
        self.counted = changes;
    }

    #[inline]
    fn put_byte(&mut self, byte: u8) {
        self.bytes[self.used] = byte;
        self.used += 1;
    }

    /// Writes eight bytes a field, of which the next field overwrites those that are not needed.
    #[inline]
    fn put<const N: usize>(&mut self, fields: [u64; N], widths: [u8; N]) {
        for (field, width) in fields.into_iter().zip(widths) {
            self.bytes[self.used..self.used + 8].copy_from_slice(&field.to_le_bytes());
            self.used += 1 << width;
        }
    }

    /// The requests since the last call as a block, padded; the next block begins with a request at `offset` of `length`
    /// bytes. `None` if there are none.
    pub fn block(&mut self, offset: u64, length: u64) -> Option<(Vec<u8>, Shape)> {
        let (requests, request_bytes) = (self.requests, self.request_bytes);
        let met = Met::default();
        let shape =
            Shape { used: self.used as u32, shift: self.shift, requests, request_bytes, last_ns: self.last, met };
        // A trace with one odd address has more of them.
        self.is_aligned &= (offset | length).trailing_zeros() >= SECTOR_SHIFT;
        self.shift = if self.is_aligned { SECTOR_SHIFT } else { 0 };
        let block = self.bytes[..self.used + PAD].to_vec();
        (self.used, self.requests, self.request_bytes) = (0, 0, 0);
        (shape.used > 0).then_some((block, shape))
    }
}

/// Space for a block, the request that fills it, and the padding.
fn space() -> Vec<u8> {
    vec![0; BLOCK + LARGEST + PAD]
}

/// The width of a field: binary logarithm of its bytes.
#[inline]
fn width(field: u64) -> u8 {
    match field {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xffff_ffff => 2,
        _ => 3,
    }
}

/// A place in packed requests, and what those before it add up to.
#[derive(Clone, Debug, Default)]
pub(super) struct Unpacker {
    at: usize,
    used: usize,
    shift: u32,
    last: u64,
    /// The reader's counts before the last request.
    pub changes: Changes,
}

impl Unpacker {
    /// Goes on at the begin of another block.
    pub fn enter(&mut self, shape: Shape) {
        (self.at, self.used, self.shift) = (0, shape.used as usize, shape.shift);
    }

    /// Whether the block has no more requests.
    #[inline(always)]
    pub fn is_at_end(&self) -> bool {
        self.at >= self.used
    }

    /// The next request of `block`, which must have one.
    #[inline(always)]
    pub fn next(&mut self, block: &[u8], arrival: &mut Arrival) {
        let head = block[self.at];
        self.at += 1;
        let mut op = if head & WRITE != 0 { Op::Write } else { Op::Read };
        let mut fua = false;
        if head & MORE != 0
            && let Some(kind) = self.more(block)
        {
            (op, fua) = (Op::ALL[usize::from(kind & !FUA)], kind & FUA != 0);
        }
        let gap = self.field(block, head);
        let offset = self.field(block, head >> 2) << self.shift;
        let length = self.field(block, head >> 4) << self.shift;
        self.last += gap;
        *arrival = Arrival { at: Time::from_ns(self.last), op, fua, extent: Span::Bytes { offset, length } };
    }

    /// Counts what the reader changed before the request; returns its kind if it is no plain read or write.
    #[cold]
    fn more(&mut self, block: &[u8]) -> Option<u8> {
        let widths = block[self.at];
        self.at += 1;
        let kind = (widths & KIND != 0).then(|| block[self.at]);
        self.at += usize::from(kind.is_some());
        let [clamped, wrapped] = [0, 2].map(|shift| self.field(block, widths >> shift));
        let mut since = Changes { clamped, wrapped, ..Changes::default() };
        for count in since.rejected.iter_mut().filter(|_| widths & REJECTED != 0) {
            let width = block[self.at];
            self.at += 1;
            *count = self.field(block, width);
        }
        self.changes = self.changes.map(since, |before, since| before + since);
        kind
    }

    #[inline(always)]
    fn field(&mut self, block: &[u8], width: u8) -> u64 {
        const MASKS: [u64; 4] = [0xff, 0xffff, 0xffff_ffff, u64::MAX];
        let width = usize::from(width & 3);
        let bytes = block[self.at..].first_chunk::<8>().expect("blocks are padded");
        self.at += 1 << width;
        u64::from_le_bytes(*bytes) & MASKS[width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(at: u64, op: Op, offset: u64, length: u64) -> Arrival {
        Arrival { at: Time::from_ns(at), op, fua: false, extent: Span::Bytes { offset, length } }
    }

    /// Packs requests with the counts before them, and unpacks them again.
    fn there_and_back(requests: &[(Arrival, Changes)]) -> (Vec<(Arrival, Changes)>, Vec<Shape>) {
        let (mut packer, mut blocks) = (Packer::new(), Vec::new());
        for (arrival, changes) in requests {
            let Span::Bytes { offset, length } = arrival.extent else { unreachable!() };
            if !packer.fits(offset, length) {
                blocks.extend(packer.block(offset, length));
            }
            if *changes != packer.counted {
                packer.count(*changes);
            }
            packer.push(arrival);
        }
        blocks.extend(packer.block(0, 0));
        let (mut unpacker, mut found) = (Unpacker::default(), Vec::new());
        for (block, shape) in &blocks {
            unpacker.enter(*shape);
            while !unpacker.is_at_end() {
                let mut arrival = Arrival::NONE;
                unpacker.next(block, &mut arrival);
                found.push((arrival, unpacker.changes));
            }
        }
        (found, blocks.iter().map(|(_, shape)| *shape).collect())
    }

    #[test]
    fn requests_of_every_width_come_back() {
        let none = Changes::default();
        let some = Changes { rejected: [3, 0, 0, 0, 0], clamped: 0, wrapped: 70_000 };
        let more = Changes { clamped: 1, ..some };
        let requests = [
            (bytes(0, Op::Read, 0, 512), none),
            (bytes(255, Op::Write, 512, 4096), none),
            (bytes(70_000, Op::Read, 480_000_000_000 & !511, 1 << 20), some),
            (bytes(70_000, Op::Write, 1, 3), some),
            (bytes(70_000, Op::Flush, 0, 0), some),
            (Arrival { fua: true, ..bytes(70_001, Op::Write, 4096, 512) }, some),
            (Arrival { fua: true, ..bytes(70_001, Op::Write, 4096, 512) }, more),
            (bytes(70_002, Op::Trim, 512, 1 << 40), more),
            (bytes(70_003, Op::WriteZeroes, 1 << 30, 4096), more),
            (bytes(5_000_000_000, Op::Read, u64::MAX >> 1, 1 << 40), more),
            (bytes(u64::MAX >> 8, Op::Read, 1024, 512), more),
        ];
        let (found, shapes) = there_and_back(&requests);
        assert_eq!(found, requests);
        let shifts: Vec<u32> = shapes.iter().map(|shape| shape.shift).collect();
        assert_eq!(shifts, [9, 0], "once an address is odd, all that follow are in bytes");
    }

    /// At both sides of the edge between two widths, in every field, and in both units.
    #[test]
    fn fields_at_the_edges_of_their_widths_come_back() {
        let (mut requests, mut at, mut changes) = (Vec::new(), 0, Changes::default());
        for (op, unit) in [(Op::Read, 512), (Op::Write, 1)] {
            for value in [0, 8, 16, 32].into_iter().flat_map(|bits| [(1u64 << bits) - 1, 1 << bits, (1 << bits) + 1]) {
                at += value;
                requests.push((bytes(at, op, value * unit, unit), changes));
                requests.push((bytes(at, op, unit, value.max(1) * unit), changes));
                let Changes { rejected, clamped, wrapped } = changes;
                let rejected = std::array::from_fn(|kind| rejected[kind] + if kind == 3 { 0 } else { value });
                changes = Changes { rejected, clamped: clamped + value / 2, wrapped: wrapped + 1 };
            }
        }
        let (found, shapes) = there_and_back(&requests);
        assert_eq!(found, requests);
        assert_eq!(shapes.iter().map(|shape| shape.shift).collect::<Vec<_>>(), [9, 0]);
    }

    /// A length that is no multiple of 512 bytes, as the address of its request is.
    #[test]
    fn odd_lengths_at_even_addresses_come_back() {
        let request = |at, length| (bytes(at, Op::Read, 4096 * at, length), Changes::default());
        for lengths in [&[819_267][..], &[4096, 819_267, 4096], &[512, 1, 511, 513], &[3]] {
            let requests: Vec<_> = lengths.iter().zip(1..).map(|(&length, at)| request(at, length)).collect();
            assert_eq!(there_and_back(&requests).0, requests);
        }
    }

    #[test]
    fn a_common_request_takes_ten_bytes_and_blocks_are_limited() {
        let request = |i: u64| (bytes(i * 100_000, Op::Read, (i * 7_919 % 1_000_000) << 12, 4096), Changes::default());
        let requests: Vec<_> = (0..100_000).map(request).collect();
        let (found, shapes) = there_and_back(&requests);
        assert!(found == requests);
        let used: u64 = shapes.iter().map(|shape| u64::from(shape.used)).sum();
        assert!(used <= 1_000_000, "{used}");
        assert!(shapes.iter().all(|shape| (shape.used as usize) < BLOCK + 64), "{shapes:?}");
    }
}
