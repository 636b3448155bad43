//! Running commands are never paused.

use flashlane_core::decide::{Moments, Preempt};
use flashlane_core::{Board, Duration, TxnId, UnitId};

/// Commands run to their end.
#[derive(Debug)]
pub struct Never;

impl Preempt for Never {
    fn moments(&self) -> Moments {
        Moments::Never
    }

    fn pause(&mut self, _: &Board, _: UnitId, _: TxnId) -> Option<Duration> {
        None
    }

    fn serve(&mut self, _: &Board, _: UnitId, _: TxnId) -> Option<Duration> {
        None
    }
}
