//! Pause whenever a read waits, and serve all waiting reads before resuming (Wu and He, cited by Slacker §4.3 and as
//! part of FLIN's baselines, model 2.1.9).
//!
//! A pause that would save nothing, because less than its own overheads is left to run, is not made.

use alloc::boxed::Box;

use flashlane_core::decide::{Preempt, PreemptDeclares, SuspendPoints};
use flashlane_core::{Board, Duration, TxnId, UnitId};

use crate::entries::{AnswerEntry, Build};

pub(crate) const SUSPEND: AnswerEntry = AnswerEntry {
    name: "suspend",
    summary: "a waiting read suspends a program or erase at once",
    source: "Wu and He (FAST 2012) as in FLIN §6",
    params: &[],
    build: Build::Preempt(&|_| Box::new(Blind::anytime())),
};

pub(crate) const PAUSE_AT_BOUNDARY: AnswerEntry = AnswerEntry {
    name: "pause-at-boundary",
    summary: "a waiting read pauses a program at the end of its iteration",
    source: "Wu and He (FAST 2012) as in Slacker §4.3",
    params: &[],
    build: Build::Preempt(&|_| Box::new(Blind::at_boundaries())),
};

/// Blind suspension.
#[derive(Debug)]
pub struct Blind {
    suspend_points: SuspendPoints,
}

impl Blind {
    /// Suspends programs and erases at any instant.
    pub const fn anytime() -> Blind {
        Blind { suspend_points: SuspendPoints::Any }
    }

    /// Pauses programs at iteration boundaries.
    pub const fn at_boundaries() -> Blind {
        Blind { suspend_points: SuspendPoints::Boundary }
    }
}

impl Preempt for Blind {
    fn declares(&self) -> PreemptDeclares {
        PreemptDeclares { suspend_points: self.suspend_points, ..PreemptDeclares::ASK }
    }

    fn pause(&mut self, board: &Board, unit: UnitId, _: TxnId) -> Option<Duration> {
        let left = board.units[unit.index()].command.ends.since(board.now);
        (left > board.facts.suspend + board.facts.resume).then_some(Duration::ZERO)
    }

    fn serve(&mut self, _: &Board, _: UnitId, _: TxnId) -> Option<Duration> {
        Some(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::Time;

    /// A pause is worth it when more than its overheads is left, to the nanosecond.
    #[test]
    fn a_pause_needs_more_than_its_overheads_left() {
        let mut board = crate::pick::testing::board(1, 2);
        (board.facts.suspend, board.facts.resume) = (Duration::from_ns(300), Duration::from_ns(500));
        board.now = Time::from_ns(1_000);
        let points = [Blind::anytime(), Blind::at_boundaries()].map(|answer| answer.declares().suspend_points);
        let rule = "one suspends at any instant, the other at the end of an iteration";
        assert_eq!(points, [SuspendPoints::Any, SuspendPoints::Boundary], "{rule}");
        for (ends, pauses) in [(1_801, true), (1_800, false), (1_000, false)] {
            board.units[0].command.ends = Time::from_ns(ends);
            for mut answer in [Blind::anytime(), Blind::at_boundaries()] {
                let is = answer.pause(&board, UnitId(0), TxnId(0));
                assert_eq!(
                    is,
                    pauses.then_some(Duration::ZERO),
                    "a pause needs more than its overheads of 800 ns left; {} ns are",
                    ends - 1_000
                );
                let serves = answer.serve(&board, UnitId(0), TxnId(0));
                assert_eq!(serves, Some(Duration::ZERO), "any read goes in a pause");
            }
        }
    }
}
