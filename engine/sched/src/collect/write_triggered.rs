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
