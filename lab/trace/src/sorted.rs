//! Requests in the order of their times, where the file has them slightly out of order.
//!
//! Owns a bounded look ahead. Promises that requests of equal times stay in file order, that what comes out never goes back in time,
//! and that a request further back than the bound is an error that says so. Must never know the drive.
//!
//! The bound is what the slowest recorder can leave out of order: blktrace gives a CPU four buffers of 512 KiB, which hold 43,690 of its
//! records of 48 bytes, and a CPU's buffers may be written after those of all others. The next power of two takes about 6 MB.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::counts::Sorted;
use super::error;
use super::records::{Record, Records};
use flashlane_core::arrival::WorkloadError;

/// The most requests of later times that may stand before a request in the file.
pub(super) const WINDOW: usize = 1 << 16;

/// The requests of [`Records`] by time.
#[derive(Default)]
pub(super) struct Sorter {
    /// Requests read and not given yet: by time, then in the order of the file.
    held: BinaryHeap<Reverse<Held>>,
    /// Requests read, and given.
    read: u64,
    given: u64,
    /// The latest time read, and the last one given.
    latest_ns: u64,
    last_ns: u64,
    has_ended: bool,
    sorted: Sorted,
}

/// A request and its number in the file.
struct Held {
    record: Record,
    number: u64,
}

impl Held {
    fn key(&self) -> (u64, u64) {
        (self.record.time_ns, self.number)
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Held) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Held) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Held) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Sorter {
    /// What was moved so far, over all passes.
    pub fn sorted(&self) -> Sorted {
        self.sorted
    }

    /// Begins again, and goes on counting.
    pub fn rewind(&mut self) {
        *self = Sorter { sorted: self.sorted, ..Sorter::default() };
    }

    /// Puts the next request by time into `record`; returns false if there is none.
    pub fn next(&mut self, records: &mut Records, record: &mut Record) -> Result<bool, WorkloadError> {
        while !self.has_ended && self.held.len() <= WINDOW {
            if records.next(record)? {
                self.hold(records, record)?;
            } else {
                self.has_ended = true;
            }
        }
        let Some(Reverse(next)) = self.held.pop() else { return Ok(false) };
        *record = next.record;
        if next.number > self.given {
            self.sorted.requests += 1;
            self.sorted.places = self.sorted.places.max(next.number - self.given);
        }
        self.given += 1;
        self.last_ns = record.time_ns;
        Ok(true)
    }

    /// Keeps a request until no earlier one can come.
    fn hold(&mut self, records: &Records, record: &Record) -> Result<(), WorkloadError> {
        if self.given > 0 && record.time_ns < self.last_ns {
            let back = self.latest_ns - record.time_ns;
            let message = format!(
                "the time {} ns goes back by {back} ns, behind more than {WINDOW} requests of later times; legal with order sort is up to \
                 {WINDOW} (or clamp: the time of the request before)",
                record.time_ns
            );
            return Err(error(records.place(record.at), message));
        }
        self.sorted.back_ns = self.sorted.back_ns.max(self.latest_ns.saturating_sub(record.time_ns));
        self.latest_ns = self.latest_ns.max(record.time_ns);
        self.held.push(Reverse(Held { record: *record, number: self.read }));
        self.read += 1;
        Ok(())
    }
}
