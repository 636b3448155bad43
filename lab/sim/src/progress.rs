//! How far a comparison has come, for display.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Requests completed so far by all runs of a comparison, and how many there will be, as far as is known; and the wish to stop them.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    total: AtomicU64,
    /// Parts of the drive's first state made, and how many there are.
    of_state: [AtomicU32; 2],
    stopped: AtomicBool,
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

    /// Parts made of the state of a replayed drive, and how many there are; `None` unless it is being made.
    pub fn of_state(&self) -> Option<(u32, u32)> {
        let [made, all] = self.of_state.each_ref().map(|count| count.load(Ordering::Relaxed));
        (made < all).then_some((made, all))
    }

    /// Counts a part of the state as made, of this many.
    pub(crate) fn made_of_state(&self, all: u32) {
        self.of_state[0].fetch_add(1, Ordering::Relaxed);
        self.of_state[1].store(all, Ordering::Relaxed);
    }

    /// Ends all runs soon, with [`RunError::Stopped`](crate::error::RunError::Stopped).
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the runs are to end.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Counts this many more requests as completed.
    pub fn add(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn expect(&self, total: u64) {
        self.total.store(total, Ordering::Relaxed);
    }
}

/// How many requests the runs of a comparison will issue, as far as is known; it gets better while they run.
#[derive(Debug)]
pub(crate) struct Expected {
    /// For each flow; 0 while unknown.
    flows: Vec<AtomicU64>,
    /// For each run, the flow that runs alone in it.
    runs: Vec<Option<usize>>,
    /// The most requests of a run.
    most: u64,
    /// How often the runs with all flows are made again, if they have no more requests than this, together.
    repeated: (u64, u64),
    /// Further runs with all flows.
    further: AtomicU64,
}

impl Expected {
    /// Of runs of `flows` flows with at most `most` requests each; each run with the flow that runs alone in it, if one does.
    pub fn new(flows: usize, runs: Vec<Option<usize>>, most: u64) -> Expected {
        let flows = (0..flows).map(|_| AtomicU64::new(0)).collect();
        Expected { flows, runs, most, repeated: (0, 0), further: AtomicU64::new(0) }
    }

    /// The same where the runs with all flows are made `times` more, if together they have at most `most` requests.
    pub fn repeated(self, times: u64, most: u64) -> Expected {
        Expected { repeated: (times, most), ..self }
    }

    /// Adds runs with all flows.
    pub fn add_shared_runs(&self, runs: u64) {
        self.further.fetch_add(runs, Ordering::Relaxed);
    }

    /// Takes over what is known of a flow now.
    pub fn update(&self, flow: usize, requests: u64) {
        self.flows[flow].store(requests, Ordering::Relaxed);
    }

    /// Requests of all runs; 0 while that of a flow is unknown.
    pub fn total(&self) -> u64 {
        let counts: Vec<u64> = self.flows.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        if counts.contains(&0) {
            return 0;
        }
        let all: u64 = counts.iter().sum();
        let of_run = |alone: &Option<usize>| alone.map_or(all, |flow| counts[flow]).min(self.most);
        let shared: u64 = self.runs.iter().filter(|alone| alone.is_none()).map(of_run).sum();
        let (times, most) = self.repeated;
        let again = if shared <= most { times * shared } else { 0 };
        self.runs.iter().map(of_run).sum::<u64>() + again + self.further.load(Ordering::Relaxed) * of_run(&None)
    }
}

/// Where a run reports how far it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported<'a> {
    /// What is shown.
    pub shown: &'a Progress,
    /// How many requests there will be.
    pub expected: &'a Expected,
}
