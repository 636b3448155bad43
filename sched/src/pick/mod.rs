//! What does an idle chip do next?

mod fcfs;
mod fr_fcfs;
mod read_first;
mod sprinkler;
#[cfg(test)]
pub(crate) mod testing;
mod widen;

pub use fcfs::Fcfs;
pub use fr_fcfs::FrFcfs;
pub use read_first::ReadFirst;
pub use sprinkler::Sprinkler;

use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, TxnId, UnitId};

/// The oldest waiting transaction of `op` that may go, over all levels from the highest. Only a write whose page has an
/// older write waiting elsewhere is passed over.
#[inline(always)]
fn oldest(board: &Board, unit: UnitId, op: FlashOp) -> TxnId {
    let head = board.first(unit, op);
    if head.is_none() || board.txn(head).unobstructed() {
        return head;
    }
    oldest_behind(board, head)
}

#[cold]
fn oldest_behind(board: &Board, head: TxnId) -> TxnId {
    let queue = board.txn(head).queue;
    board.walk(queue).find(|&txn| board.txn(txn).unobstructed()).unwrap_or(TxnId::NONE)
}
