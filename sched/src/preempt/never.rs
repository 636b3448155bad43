//! Running commands are never paused.

use flashlane_core::decide::{Preempt, SuspendPoints};
use flashlane_core::{Board, Duration, TxnId, UnitId};

/// Commands run to their end.
#[derive(Debug)]
pub struct Never;

impl Preempt for Never {
    fn suspend_points(&self) -> SuspendPoints {
        SuspendPoints::Never
    }

    fn pause(&mut self, _: &Board, _: UnitId, _: TxnId) -> Option<Duration> {
        None
    }

    fn serve(&mut self, _: &Board, _: UnitId, _: TxnId) -> Option<Duration> {
        None
    }
}
