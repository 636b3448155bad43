//! First come, first served over reads and writes of a unit (model 2.1.9 FCFS).

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, UnitId};

use super::{oldest, widen::widen};

/// The older of the oldest read and the oldest write.
#[derive(Debug)]
pub struct Fcfs {
    widen: bool,
}

impl Fcfs {
    /// `widen` lets companions of the same kind join the oldest transaction's command.
    pub const fn new(widen: bool) -> Fcfs {
        Fcfs { widen }
    }
}

impl Pick for Fcfs {
    fn declares(&self) -> PickDeclares {
        PickDeclares { skips_when_single: true, oldest_first: true, ..PickDeclares::ASK }
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        let read = oldest(board, unit, FlashOp::Read);
        let write =
            if scope == Scope::Any { oldest(board, unit, FlashOp::Program) } else { flashlane_core::TxnId::NONE };
        let lead = match (read.is_some(), write.is_some()) {
            (true, true) if board.txn(write).age() < board.txn(read).age() => write,
            (true, _) => read,
            (false, true) => write,
            (false, false) => return,
        };
        if self.widen { widen(board, lead, group) } else { group.push(board, lead) }
    }
}
