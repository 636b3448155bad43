//! Pause whenever a read waits, and serve all waiting reads before resuming (Wu and He, cited by Slacker §4.3 and as
//! part of FLIN's baselines, model 2.1.9).
//!
//! A pause that would save nothing, because less than its own overheads is left to run, is not made.

use flashlane_core::decide::{Moments, Preempt};
use flashlane_core::{Board, Duration, TxnId, UnitId};

/// Blind suspension.
#[derive(Debug)]
pub struct Blind {
    moments: Moments,
}

impl Blind {
    /// Suspends programs and erases at any instant.
    pub const fn anytime() -> Blind {
        Blind { moments: Moments::Any }
    }

    /// Pauses programs at iteration boundaries.
    pub const fn at_boundaries() -> Blind {
        Blind { moments: Moments::Boundary }
    }
}

impl Preempt for Blind {
    fn moments(&self) -> Moments {
        self.moments
    }

    fn pause(&mut self, board: &Board, unit: UnitId, _: TxnId) -> Option<Duration> {
        let left = board.units[unit.index()].command.ends.since(board.now);
        (left > board.facts.suspend + board.facts.resume).then_some(Duration::ZERO)
    }

    fn serve(&mut self, _: &Board, _: UnitId, _: TxnId) -> Option<Duration> {
        Some(Duration::ZERO)
    }
}
