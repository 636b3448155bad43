//! An answer of one's own to the pick question: what an idle die does next.

use flashlane_core::decide::{Group, Pick, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, TxnId, UnitId};

/// Begins a transaction of the request with the fewest pages left to serve, the oldest of equals.
#[derive(Debug)]
pub struct ShortestRequestFirst;

impl ShortestRequestFirst {
    /// Less is sooner: pages that its request has left to serve, then age. Programs of the page buffer belong to no request
    /// and go last.
    fn key(board: &Board, txn: TxnId) -> (u32, u64) {
        let pages_left = board.request(txn).map_or(u32::MAX, |request| request.remaining);
        (pages_left, board.txn(txn).serial)
    }
}

impl Pick for ShortestRequestFirst {
    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        let ops = if scope == Scope::Any { &[FlashOp::Read, FlashOp::Program][..] } else { &[FlashOp::Read] };
        let waiting = ops.iter().flat_map(|&op| board.walk(board.queue_for(unit, op, 0)));
        let lead = waiting.filter(|&txn| board.eligible(txn)).min_by_key(|&txn| Self::key(board, txn));
        let Some(lead) = lead else { return };
        group.push(board, lead);
        // Transactions for other planes may share the command.
        for txn in board.walk(board.txn(lead).queue) {
            if board.may_join(group, txn) {
                group.push(board, txn);
            }
        }
    }
}
