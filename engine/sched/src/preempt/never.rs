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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::{board, program, read, serve};
    use flashlane_core::Time;

    #[test]
    fn commands_run_to_their_end() {
        let mut board = board(1, 1);
        let write = program(&mut board, 0, 1);
        serve(&mut board, &[write], Time::from_ns(1_000_000));
        let waiting = read(&mut board, 1, 0, 2);
        assert_eq!(Never.pause(&board, UnitId(0), waiting), None, "no read pauses a program");
        assert_eq!(Never.serve(&board, UnitId(0), waiting), None, "what is paused is resumed before any read");
        let declared = Never.declares().suspend_points;
        assert_eq!(declared, SuspendPoints::Never, "it says in advance that nothing is paused");
    }
}
