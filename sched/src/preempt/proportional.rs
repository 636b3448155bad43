//! FLIN's two optimisations: a program is suspended for a read that waits longer in proportion (O1), and the program of
//! a page move made in idle time for any read (O2; FLIN §4.3).
//!
//! The paper does not say what the proportional wait of a running program is; the rule is written out in model 2.1.7. It
//! does not change with time: what the read waits more, the program has less to run. Moves that go before a write are
//! not interrupted (D-FLN-16), nor is an erase.

use flashlane_core::board::Command;
use flashlane_core::decide::{Moments, Preempt};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, Owner, TxnId, UnitId};

use crate::flin::balance::{Claim, waits_in_service};

/// Suspension by proportional waits.
#[derive(Debug)]
pub struct Proportional;

impl Proportional {
    /// Whether `read` waits longer in proportion than the program of `command`, of which `left` is to run, and which has
    /// stood paused for `pause` now.
    fn is_owed(
        board: &Board,
        read: TxnId,
        command: &Command,
        left: Duration,
        pause: Duration,
        overhead: Duration,
    ) -> bool {
        let claim = |txn| Claim { waited: board.now - board.txn(txn).enqueued, service: board.service(txn) };
        // The start of a command is later by the pauses it has had.
        let waited = command.started - board.txn(command.lead).enqueued + pause;
        let program = Claim { waited, service: board.service(command.lead) };
        let (of_read, of_program) = waits_in_service(claim(read), program, left, overhead);
        of_read.longer_than(of_program)
    }
}

impl Preempt for Proportional {
    fn moments(&self) -> Moments {
        Moments::Any
    }

    fn pause(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration> {
        let command = &board.units[unit.index()].command;
        let left = command.ends.since(board.now);
        let overhead = board.facts.suspend + board.facts.resume;
        let worth_it = command.op == FlashOp::Program && left > overhead;
        let moves = command.owner == Owner::Gc;
        let yields = worth_it && (moves || Self::is_owed(board, read, command, left, Duration::ZERO, overhead));
        yields.then_some(Duration::ZERO)
    }

    fn serve(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration> {
        let command = &board.units[unit.index()].paused;
        let pause = board.now - command.paused_at;
        // It is paused already: only taking it up again still costs.
        let moves = command.owner == Owner::Gc;
        let yields = moves || Self::is_owed(board, read, command, command.remaining, pause, board.facts.resume);
        yields.then_some(Duration::ZERO)
    }
}
