//! FLIN's garbage collection: in idle time, and before writes of planes short of free pages, as much as the write's flow
//! has caused (FLIN §4.3 algorithm 2, §5.4 eq. 10).

use flashlane_core::decide::{Collect, GcMode, GcPrecedence, GcQuota};
use flashlane_core::{Board, TxnId, UnitId};

use crate::flin::gc_quota::QuotaRule;

/// Garbage collection that writes pay for.
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
    fn precedence(&mut self, _: &Board, _: UnitId) -> GcPrecedence {
        GcPrecedence::User
    }

    fn mode(&self) -> GcMode {
        GcMode::Transactions { pausable: true }
    }

    fn write_triggered_gc(&self) -> bool {
        true
    }

    fn quota(&mut self, board: &Board, write: TxnId) -> GcQuota {
        self.quota_rule.quota(board, write)
    }
}
