//! Running commands are never paused.

use alloc::boxed::Box;

use flashlane_core::decide::{Preempt, PreemptDeclares, SuspendPoints};
use flashlane_core::{Board, Duration, TxnId, UnitId};

use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "never",
    summary: "commands run to their end",
    source: "",
    params: &[],
    build: Build::Preempt(&|_| Box::new(Never)),
};

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
