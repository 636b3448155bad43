//! The transactions whose flash work is done: a list through [`Transaction::next`], first in, first out.

use flashlane_core::transaction::Transaction;
use flashlane_core::{Board, TxnId};

/// Transactions that ended, in order.
#[derive(Debug)]
pub struct Ended {
    first: TxnId,
    last: TxnId,
}

impl Default for Ended {
    fn default() -> Ended {
        Ended { first: TxnId::NONE, last: TxnId::NONE }
    }
}

impl Ended {
    /// Adds a transaction that no list holds any more.
    #[inline(always)]
    pub(super) fn push(&mut self, txns: &mut [Transaction], id: TxnId) {
        if self.first.is_none() {
            self.first = id;
        } else {
            txns[self.last.index()].next = id;
        }
        self.last = id;
    }

    /// Takes the first.
    #[inline(always)]
    pub fn pop(&mut self, board: &Board) -> Option<TxnId> {
        let id = self.first;
        if id.is_none() {
            return None;
        }
        // What the last leads to is not looked at.
        self.first = if id == self.last { TxnId::NONE } else { board.txn(id).next };
        Some(id)
    }
}
