//! FLIN's garbage collection: in idle time, and before writes of planes short of free pages, as much as the write's flow
//! has caused (FLIN §4.3 algorithm 2, §5.4 eq. 10).

use alloc::boxed::Box;

use flashlane_core::decide::{Collect, CollectDeclares, GcMode, GcPrecedence, GcQuota};
use flashlane_core::{Board, TxnId, UnitId};

use crate::entries::{AnswerEntry, Build};
use crate::flin;
use crate::flin::gc_quota::QuotaRule;

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "write-triggered",
    summary: "in idle time, and before a write of a plane short of pages its flow's share of what waits",
    source: "FLIN §4.3, §5.4 eq. 10; model 2.1.7",
    params: flin::QUOTA_PARAMS,
    build: Build::Collect(&|v| Box::new(WriteTriggered::new(flin::quota_rule(v)))),
};

/// Garbage collection that writes trigger.
#[derive(Debug)]
pub struct WriteTriggered {
    quota_rule: QuotaRule,
}

impl WriteTriggered {
    pub(crate) const fn new(quota_rule: QuotaRule) -> WriteTriggered {
        WriteTriggered { quota_rule }
    }
}

impl Collect for WriteTriggered {
    fn declares(&self) -> CollectDeclares {
        CollectDeclares { mode: GcMode::Transactions { pausable: true }, write_triggered: true, ..CollectDeclares::ASK }
    }

    fn precedence(&mut self, _: &Board, _: UnitId) -> GcPrecedence {
        GcPrecedence::User
    }

    fn quota(&mut self, board: &Board, write: TxnId) -> GcQuota {
        self.quota_rule.quota(board, write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::testing::goes_first;
    use crate::flin::gc_quota::Rounding;
    use crate::pick::testing::{board, program};
    use GcPrecedence::User;

    fn answer() -> WriteTriggered {
        WriteTriggered::new(QuotaRule { below_pages: 64, net_blocks: 1, rounding: Rounding::Up, preemptible: true })
    }

    #[test]
    fn users_go_first_and_writes_pay() {
        goes_first(answer(), &[(9, User, "users go first"), (0, User, "users go first without free blocks too")]);
        let declared = answer().declares();
        assert!(declared.write_triggered, "writes trigger it");
        assert_eq!(declared.mode, GcMode::Transactions { pausable: true }, "reads may pause it");
        let mut board = board(1, 2);
        board.flows = alloc::vec![
            flashlane_core::board::FlowFigures { programmed: 9, valid_pages: 9, ..Default::default() }.into()
        ];
        board.units[0].gc.reads = 5;
        let write = program(&mut board, 0, 1);
        for (free_pages, due, rule) in [
            (64, false, "a write of a plane with enough free pages pays nothing"),
            (63, true, "a write of a plane short of pages pays"),
        ] {
            (board.planes[0].free_pages, board.planes[0].free_blocks) = (free_pages, 9);
            let quota = answer().quota(&board, write);
            assert_eq!(quota.due, due, "{rule}: {free_pages} free pages, below 64 writes pay; {quota:?}");
        }
    }
}
