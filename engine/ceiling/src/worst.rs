//! The bound on the worst response time: on each machine by itself, first in, first out has the smallest largest one.

use crate::demands::Demand;

/// The machines, each working on what it is asked for in the order of arrival.
#[derive(Debug)]
pub(crate) struct Worst {
    free: Vec<u64>,
    /// From every arrival to its work, and from the work to the end, at the least.
    overhead: u64,
    /// The largest response time so far, ns.
    pub(crate) response: u64,
}

impl Worst {
    pub(crate) fn new(machines: usize, overhead: u64) -> Worst {
        Worst { free: vec![0; machines], overhead, response: 0 }
    }

    pub(crate) fn add(&mut self, arrival: u64, alone: u64, demands: &[Demand]) {
        self.response = self.response.max(alone);
        for demand in demands {
            let free = &mut self.free[demand.machine as usize];
            *free = arrival.max(*free) + demand.work;
            self.response = self.response.max(*free - arrival + self.overhead);
        }
    }

    /// How long the machine that is furthest behind at `now` needs for what waits, ns.
    pub(crate) fn longest_wait(&self, now: u64) -> u64 {
        self.free.iter().map(|&free| free.saturating_sub(now)).max().unwrap_or(0)
    }

    /// The work that waits at `now` on all machines, ns.
    pub(crate) fn waiting(&self, now: u64) -> u128 {
        self.free.iter().map(|&free| u128::from(free.saturating_sub(now))).sum()
    }
}
