//! `kyber`: reads, writes, trims and all else have a queue each, and a limit of how many of each are in the drive, which is adjusted to keep latencies
//! below targets.
//!
//! Kinds take turns, each with a batch, in the order in which they came. Every so often it is looked at how long requests took, once enough of a kind are counted:
//! where one in ten of a kind took longer in the drive than its target, every kind gets a depth by how long its slowest hundredth took, in quarters of its target. A
//! kind that waits too long here gets more, one that is fast makes room for those that miss their target.

use alloc::collections::VecDeque;

use flashlane_core::{Op, RequestId, Time};

use crate::config::Kyber as Parameters;
use crate::requests::Request;

/// Reads, writes, trims, all else.
const KINDS: usize = 4;
/// Kinds with a target: all but the last.
const TIMED: usize = 3;
/// Most in the drive: the depths at the start, which none exceeds.
const DEPTHS: [u32; KINDS] = [256, 128, 64, 16];
/// Requests of a kind in a row while others wait.
const BATCHES: [u32; KINDS] = [16, 8, 1, 1];
/// Parts of a target that latencies are counted by.
const PARTS: u64 = 4;
/// Counts of latencies: up to the target, then up to twice of it, and what is longer with the last.
const COUNTS: usize = 2 * PARTS as usize;
/// Latencies of a kind that are enough at once.
const ENOUGH: u64 = 500;

/// The elevator.
#[derive(Debug)]
pub(crate) struct Kyber {
    parameters: Parameters,
    kinds: [Kind; KINDS],
    /// The kind that is being issued, and how many of its batch were issued.
    current: usize,
    batched: u32,
    /// When latencies are looked at; never while there are none since the last look.
    look: Time,
}

#[derive(Debug, Default)]
struct Kind {
    waiting: VecDeque<RequestId>,
    depth: u32,
    in_drive: u32,
    /// From going to the drive to the end, and from the tag to the end.
    in_all: [Latencies; 2],
    /// Where the slowest hundredth was at the last look that found enough, if no look since has used it.
    slowest: Option<usize>,
}

/// Latencies in quarters of a target: how many lie in each.
#[derive(Clone, Copy, Debug, Default)]
struct Latencies {
    counts: [u64; COUNTS],
    /// When the first was counted.
    first: Time,
}

/// Which of [`Kind::in_all`].
const DRIVE: usize = 0;
const TOTAL: usize = 1;

impl Latencies {
    fn samples(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn count(&mut self, now: Time, ns: u64, target_ns: u64) {
        if self.samples() == 0 {
            self.first = now;
        }
        let part = ns.saturating_sub(1) / (target_ns / PARTS).max(1);
        self.counts[part.min(COUNTS as u64 - 1) as usize] += 1;
    }

    /// The quarter in which this percentile lies, if enough are counted or the first long enough ago; then counting begins anew.
    fn percentile(&mut self, now: Time, percent: u64, parameters: &Parameters) -> Option<usize> {
        let samples = self.samples();
        if samples == 0 || samples < ENOUGH && now < self.first + parameters.patience {
            return None;
        }
        let wanted = (samples * percent).div_ceil(100);
        let mut below = 0;
        let reaches = |count: &u64| {
            below += count;
            below >= wanted
        };
        let part = self.counts.iter().position(reaches);
        *self = Latencies::default();
        part
    }
}

/// The kind of a request.
fn kind(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::WriteZeroes | Op::Flush => 3,
    }
}

impl Kyber {
    /// One in which nothing waits.
    pub(crate) fn new(parameters: Parameters) -> Kyber {
        let kinds = DEPTHS.map(|depth| Kind { depth, ..Kind::default() });
        Kyber { parameters, kinds, current: 0, batched: 0, look: Time::NEVER }
    }

    /// A request enters.
    pub(crate) fn insert(&mut self, request: &Request) {
        self.kinds[kind(request.op)].waiting.push_back(request.id);
    }

    /// A request that was taken has ended.
    pub(crate) fn completed(&mut self, now: Time, request: &Request) {
        if self.look < now {
            self.look_at(self.look);
        }
        let number = kind(request.op);
        let own = &mut self.kinds[number];
        own.in_drive -= 1;
        let Some(target) = self.parameters.targets.get(number) else { return };
        for (latencies, since) in own.in_all.iter_mut().zip([request.issued, request.tagged]) {
            latencies.count(now, now.since(since).ns(), target.ns());
        }
        if self.look == Time::NEVER {
            let Parameters { look, jiffy, .. } = self.parameters;
            let jiffies = (now + look).ns() / jiffy.ns() + 1;
            self.look = Time::from_ns(jiffies * jiffy.ns());
        }
    }

    /// Takes the request that goes next.
    pub(crate) fn next(&mut self, now: Time) -> Option<RequestId> {
        if self.look <= now {
            self.look_at(self.look);
        }
        for turn in 0..=KINDS {
            if turn > 0 {
                (self.current, self.batched) = ((self.current + 1) % KINDS, 0);
            }
            let kind = &mut self.kinds[self.current];
            if self.batched < BATCHES[self.current]
                && kind.in_drive < kind.depth
                && let Some(id) = kind.waiting.pop_front()
            {
                kind.in_drive += 1;
                self.batched += 1;
                return Some(id);
            }
        }
        None
    }

    /// When depths may change, if something waits for that.
    pub(crate) fn next_event(&self) -> Time {
        let waits = self.kinds.iter().any(|kind| !kind.waiting.is_empty());
        if waits { self.look } else { Time::NEVER }
    }

    /// Looks at the latencies, and sets the depths by them.
    fn look_at(&mut self, now: Time) {
        self.look = Time::NEVER;
        let Kyber { parameters, kinds, .. } = self;
        let mut found = |which: usize, percent| {
            core::array::from_fn(|kind| kinds[kind].in_all[which].percentile(now, percent, parameters))
        };
        let (in_drive, total) = (found(DRIVE, 90), found(TOTAL, 99));
        self.set_depths(in_drive, total);
    }

    /// Sets the depths by the quarters in which the ninth tenth of the times in the drive and the slowest hundredth of all lie, of each kind for which
    /// enough are counted.
    fn set_depths(&mut self, in_drive: [Option<usize>; TIMED], total: [Option<usize>; TIMED]) {
        let misses = |part: usize| part >= PARTS as usize;
        let is_missed = in_drive.into_iter().flatten().any(misses);
        for ((own, found), most) in self.kinds.iter_mut().zip(total).zip(DEPTHS) {
            let slowest = found.or(own.slowest.filter(|_| is_missed));
            own.slowest = if is_missed { None } else { found.or(own.slowest) };
            if let Some(part) = slowest.filter(|&part| is_missed || misses(part)) {
                own.depth = (own.depth * (part as u32 + 1) / PARTS as u32).clamp(1, most);
            }
        }
    }
}

#[cfg(test)]
#[path = "kyber_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "kyber_kernel_tests.rs"]
mod kernel_tests;
