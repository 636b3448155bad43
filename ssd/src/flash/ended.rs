//! The transactions that the flash has finished: a first-in, first-out list linked by [`Transaction::next`].

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
    /// Adds a transaction, which must be in no other list.
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
        // `next` of the last one is not valid.
        self.first = if id == self.last { TxnId::NONE } else { board.txn(id).next };
        Some(id)
    }
}
