//! Limits of flows: requests and bytes a second, in each direction, in slices of time.
//!
//! What a slice allows may all go at its beginning, so a flow at its limit sends bursts, one a slice. Allowance that was not used is
//! kept for one slice.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use flashlane_core::{Duration, Op, Time};

use crate::config::{Config, Limit};
use crate::request::Bio;

/// Bytes that a trim counts as: it has no data.
const TRIM_BYTES: u64 = 512;
/// Nanoseconds of a second.
const SECOND: u128 = 1_000_000_000;

/// The limits of all flows, and what waits for them.
#[derive(Debug)]
pub(crate) struct Limits {
    slice: Duration,
    /// Reads and all else of each flow.
    lanes: Vec<[Lane; 2]>,
}

/// A flow in one direction.
#[derive(Debug)]
struct Lane {
    limit: Limit,
    /// The beginning of the first slice that counts, and the instant after which an unused lane begins anew.
    start: Time,
    end: Time,
    /// What went since `start`, in [`SECOND`]ths of a byte and a request: allowances are then exact.
    bytes: u128,
    requests: u128,
    /// What waits, in order, and when the first may go.
    waiting: VecDeque<Bio>,
    ready: Time,
}

impl Limits {
    pub(crate) fn new(config: &Config) -> Limits {
        let lane = |limit| Lane {
            limit,
            start: Time::ZERO,
            end: Time::ZERO,
            bytes: 0,
            requests: 0,
            waiting: VecDeque::new(),
            ready: Time::NEVER,
        };
        Limits { slice: config.slice, lanes: config.flows.iter().map(|flow| flow.limits.map(lane)).collect() }
    }

    /// Whether `bio` may go now; if not, it waits here.
    pub(crate) fn pass(&mut self, now: Time, bio: Bio) -> Option<Bio> {
        let lane = &mut self.lanes[bio.flow.index()][bio.direction()];
        if bio.op == Op::Flush || lane.limit == Limit::default() {
            return Some(bio);
        }
        if lane.waiting.is_empty() {
            lane.begin(now, self.slice);
            lane.ready = later(now, lane.wait(now, self.slice, &bio));
            if lane.ready == now {
                lane.count(now, self.slice, &bio);
                lane.ready = Time::NEVER;
                return Some(bio);
            }
        }
        lane.waiting.push_back(bio);
        None
    }

    /// When the next waiting request may go.
    pub(crate) fn next_event(&self) -> Time {
        self.lanes.iter().flatten().map(|lane| lane.ready).min().unwrap_or(Time::NEVER)
    }

    /// The next request that has waited and may go now: of several the one that could go first, of the lowest flow, a read.
    pub(crate) fn next(&mut self, now: Time) -> Option<Bio> {
        let slice = self.slice;
        let lane = self.lanes.iter_mut().flatten().min_by_key(|lane| lane.ready).filter(|lane| lane.ready <= now)?;
        let bio = lane.waiting.pop_front()?;
        lane.count(now, slice, &bio);
        lane.ready = lane.waiting.front().map_or(Time::NEVER, |next| later(now, lane.wait(now, slice, next)));
        Some(bio)
    }

    /// Requests of `flow` that wait here.
    #[cfg(test)]
    pub(crate) fn waiting(&self, flow: flashlane_core::FlowId) -> usize {
        self.lanes[flow.index()].iter().map(|lane| lane.waiting.len()).sum()
    }
}

/// The instant so much later, though never [`Time::NEVER`].
fn later(now: Time, wait: Duration) -> Time {
    Time::from_ns(now.ns().saturating_add(wait.ns()).min(Time::NEVER.ns() - 1))
}

/// The bytes that a request counts as, in [`SECOND`]ths.
fn size(bio: &Bio) -> u128 {
    u128::from(if bio.op == Op::Trim { TRIM_BYTES } else { bio.bytes }) * SECOND
}

/// What `rate` a second allows in `time`, in [`SECOND`]ths.
fn allowed(rate: u64, time: Duration) -> u128 {
    u128::from(rate) * u128::from(time.ns())
}

/// The time in which `rate` a second allows this amount, given in [`SECOND`]ths; at least 1 ns.
fn time_of(rate: u64, amount: u128) -> Duration {
    Duration::from_ns(u64::try_from(amount.div_ceil(u128::from(rate))).unwrap_or(u64::MAX).max(1))
}

impl Lane {
    /// Begins anew where the lane was not used for a slice.
    fn begin(&mut self, now: Time, slice: Duration) {
        if now > self.end {
            (self.start, self.bytes, self.requests) = (now, 0, 0);
        }
        self.end = now + slice;
    }

    /// How long `bio` has to wait: until the slice that allows it begins, and, for bytes, for those that it takes of it.
    fn wait(&self, now: Time, slice: Duration, bio: &Bio) -> Duration {
        let elapsed = now.since(self.start);
        let to_the_end = Duration::from_ns((elapsed.ns() / slice.ns() + 1) * slice.ns());
        let left = to_the_end - elapsed;
        let mut wait = Duration::ZERO;
        if let Some(bps) = self.limit.bps {
            let over = (self.bytes + size(bio)).saturating_sub(allowed(bps, to_the_end));
            if over > 0 {
                wait = wait.max(Duration::from_ns(left.ns().saturating_add(time_of(bps, over).ns())));
            }
        }
        if let Some(iops) = self.limit.iops
            && self.requests + SECOND > allowed(iops, to_the_end)
        {
            wait = wait.max(left.max(time_of(iops, SECOND)));
        }
        wait
    }

    /// Counts a request that goes, and forgets slices that are over, but the last.
    fn count(&mut self, now: Time, slice: Duration, bio: &Bio) {
        self.bytes += size(bio);
        self.requests += SECOND;
        self.end = now + slice;
        let over = now.since(self.start).ns() / slice.ns();
        if over >= 2 {
            let forgotten = Duration::from_ns((over - 1) * slice.ns());
            self.start += forgotten;
            let rest = |used: u128, rate: Option<u64>| used.saturating_sub(allowed(rate.unwrap_or(0), forgotten));
            (self.bytes, self.requests) = (rest(self.bytes, self.limit.bps), rest(self.requests, self.limit.iops));
        }
    }
}

#[cfg(test)]
mod kernel_tests;
#[cfg(test)]
mod tests;
