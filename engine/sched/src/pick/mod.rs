//! What does an idle chip do next?

pub(crate) mod fcfs;
pub(crate) mod fill;
pub(crate) mod fr_fcfs;
pub(crate) mod read_first;
pub(crate) mod read_first_bounded;
pub(crate) mod sprinkler;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod wait_balanced;
mod widen;

pub use widen::widen;

use core::cmp::Reverse;

use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, TxnId, UnitId};

/// The oldest waiting transaction of `op` that may go, over all priorities from the highest. Only a write whose page has an
/// older write waiting elsewhere is passed over.
#[inline(always)]
fn oldest(board: &Board, unit: UnitId, op: FlashOp) -> TxnId {
    let head = board.first(unit, op);
    if head.is_none() || board.eligible(head) {
        return head;
    }
    oldest_behind(board, unit, op, board.txn(head).priority)
}

/// A priority may hold nothing but writes that wait for older ones of their pages in a lower priority: those go then, or
/// neither ever would.
#[cold]
fn oldest_behind(board: &Board, unit: UnitId, op: FlashOp, highest: u8) -> TxnId {
    let mut priority = highest + 1;
    while priority > 0 {
        priority -= 1;
        let first = board.walk(board.queue_for(unit, op, priority)).find(|&txn| board.eligible(txn));
        if let Some(txn) = first {
            return txn;
        }
    }
    TxnId::NONE
}

/// Of some waiting transactions the one that has waited longest, a wait counting twice for each step of priority; the oldest of equals. A
/// priority so waits half as long as the one below, and a transaction passes only those that came not much before it.
pub(crate) fn most_urgent(board: &Board, waiting: impl Iterator<Item = TxnId>) -> Option<TxnId> {
    waiting.max_by_key(|&id| {
        let txn = board.txn(id);
        (board.now.since(txn.enqueued).ns() << txn.priority, Reverse(txn.age()))
    })
}
