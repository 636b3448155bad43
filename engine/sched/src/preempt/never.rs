//! Running commands are never paused.

use flashlane_core::decide::{Preempt, PreemptDeclares, SuspendPoints};
use flashlane_core::{Board, Duration, TxnId, UnitId};

/// Commands run to their end.
#[derive(Debug)]
pub struct Never;

impl Preempt for Never {
    fn declares(&self) -> PreemptDeclares {
        PreemptDeclares { suspend_points: SuspendPoints::Never, ..PreemptDeclares::ASK }
    }

    fn pause(&mut self, _: &Board, _: UnitId, _: TxnId) -> Option<Duration> {
        None
    }

    fn serve(&mut self, _: &Board, _: UnitId, _: TxnId) -> Option<Duration> {
        None
    }
}
