//! Finer times in place of whole seconds: a second's requests are spread over it at random, in file order.
//!
//! Promises the same times for the same file and seed, never decreasing within a second, never outside it. It must read
//! a whole second before it can return its first request, and refuses a second with too many.

use std::collections::VecDeque;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::error;
use super::ordered::Ordered;
use super::records::Record;
use flashlane_core::arrival::WorkloadError;

/// A second.
const SECOND_NS: u64 = 1_000_000_000;
/// The most requests held: many times what the busiest storage cluster sends in a second, and about 60 MB.
const FULLEST: usize = 1 << 20;

/// Spreads the requests of [`Ordered`].
pub(super) struct Jitter {
    seed: u64,
    rng: Pcg64Mcg,
    group: VecDeque<Record>,
    ahead: Option<Record>,
    moments: Vec<u64>,
}

impl Jitter {
    /// A jitter with this seed.
    pub fn new(seed: u64) -> Self {
        let rng = Pcg64Mcg::seed_from_u64(seed);
        Jitter { seed, rng, group: VecDeque::new(), ahead: None, moments: Vec::new() }
    }

    /// Restarts the random numbers, so that every loop gets the same times.
    pub fn rewind(&mut self) {
        *self = Jitter::new(self.seed);
    }

    /// Puts the next request into `record`, with its finer time; returns false if there is none.
    pub fn next(&mut self, records: &mut Ordered, record: &mut Record) -> Result<bool, WorkloadError> {
        if self.group.is_empty() {
            self.gather(records)?;
        }
        let next = self.group.pop_front();
        *record = next.unwrap_or(Record::NONE);
        Ok(next.is_some())
    }

    /// Reads the requests of one second and gives them ascending times in it.
    fn gather(&mut self, records: &mut Ordered) -> Result<(), WorkloadError> {
        let mut record = Record::NONE;
        let first = match self.ahead.take() {
            Some(record) => record,
            None if records.next(&mut record)? => record,
            None => return Ok(()),
        };
        self.group.push_back(first);
        while records.next(&mut record)? {
            if record.time_ns != first.time_ns {
                self.ahead = Some(record);
                break;
            }
            if self.group.len() == FULLEST {
                let message = format!(
                    "more than {FULLEST} requests in one second; legal is up to {FULLEST} when times are whole seconds (or no jitter)"
                );
                return Err(error(records.file().place(record.at), message));
            }
            self.group.push_back(record);
        }
        self.moments.clear();
        // The high half of a product is a uniform number below a second, to one part in 2^34.
        let moment = |draw: u64| ((u128::from(draw) * u128::from(SECOND_NS)) >> 64) as u64;
        self.moments.extend((0..self.group.len()).map(|_| moment(self.rng.next_u64())));
        self.moments.sort_unstable();
        for (record, moment) in self.group.iter_mut().zip(&self.moments) {
            record.time_ns = record.time_ns.saturating_add(*moment);
        }
        Ok(())
    }
}
