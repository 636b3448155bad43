//! How far a comparison has come, for display.

use std::sync::atomic::{AtomicU64, Ordering};

use super::expected::Expected;

/// Requests completed so far by all runs of a comparison, and how many there will be, as far as is known.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Requests completed.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Requests in all; 0 while unknown.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn expect(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }
}

/// Where a run reports how far it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported<'a> {
    /// What is shown.
    pub shown: &'a Progress,
    /// How many requests there will be.
    pub expected: &'a Expected,
}
