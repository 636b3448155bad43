//! Latencies as the threads of a host see them, in parts.

use flashlane_core::Op;
use flashlane_host::Seen;

use super::Histogram;

/// Latencies of reads and writes as threads saw them, and what they consist of.
#[derive(Clone, Debug, Default)]
pub struct HostMetrics {
    directions: [Direction; 2],
}

/// Latencies of one direction.
#[derive(Clone, Debug, Default)]
pub struct Direction {
    /// From the call to the instant the thread sees it done.
    pub user: Histogram,
    /// Sum from the call to the submission, ns.
    pub before_ns: u128,
    /// Sum from the submission to the completion at the host, ns.
    pub device_ns: u128,
    /// Sum from the completion to the thread that sees it, ns.
    pub after_ns: u128,
    /// Sum of the time spent spinning, ns.
    pub spun_ns: u128,
}

impl HostMetrics {
    /// Counts a read or a write; others are left out.
    #[inline]
    pub fn observe(&mut self, seen: &Seen) {
        let Some(direction) = self.directions.get_mut(seen.op.index()) else { return };
        direction.user.record((seen.seen - seen.called).ns());
        direction.before_ns += u128::from((seen.submitted - seen.called).ns());
        direction.device_ns += u128::from((seen.done - seen.submitted).ns());
        direction.after_ns += u128::from((seen.seen - seen.done).ns());
        direction.spun_ns += u128::from(seen.spun.ns());
    }

    /// Reads, or writes.
    pub fn of(&self, op: Op) -> &Direction {
        &self.directions[op.index()]
    }

    /// Reads and writes together.
    pub fn all(&self) -> Direction {
        let [mut all, writes] = self.directions.clone();
        all.user.merge(&writes.user);
        all.before_ns += writes.before_ns;
        all.device_ns += writes.device_ns;
        all.after_ns += writes.after_ns;
        all.spun_ns += writes.spun_ns;
        all
    }
}
