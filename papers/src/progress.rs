//! How far experiments have come, for display.

use std::sync::atomic::{AtomicU64, Ordering};

/// Scenarios completed and in all for the current experiments, and requests completed by all experiments so far.
#[derive(Debug, Default)]
pub struct Progress {
    made: AtomicU64,
    of: AtomicU64,
    requests: AtomicU64,
}

impl Progress {
    /// Scenarios of the current experiments that are completed.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// Scenarios of the current experiments in all; 0 while unknown.
    pub fn of(&self) -> u64 {
        self.of.load(Ordering::Relaxed)
    }

    /// Requests completed by all experiments so far.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Starts counting for the next experiments.
    pub(super) fn begin(&self) {
        self.made.store(0, Ordering::Relaxed);
        self.of.store(0, Ordering::Relaxed);
    }

    pub(super) fn expect(&self, scenarios: u64) {
        self.of.fetch_add(scenarios, Ordering::Relaxed);
    }

    pub(super) fn finished_one(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn served(&self, requests: u64) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
    }
}
