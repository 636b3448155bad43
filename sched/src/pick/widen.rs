//! Advanced commands: the lead's queue is scanned in order and every transaction that may share the command joins
//! (Slacker §2.2, SPEC 1.1.4). Companions cost nobody slack (D-SLK-17).

use flashlane_core::decide::Group;
use flashlane_core::{Board, QueueId, TxnId};

/// Adds `lead` and its companions to `group`.
#[inline(always)]
pub(super) fn widen(board: &Board, lead: TxnId, group: &mut Group) {
    group.push(board, lead);
    let queue = board.txn(lead).queue;
    if board.queues[queue.index()].len > 1 && (board.facts.multi_plane || board.facts.multi_die) {
        add_companions(board, lead, queue, group);
    }
}

fn add_companions(board: &Board, lead: TxnId, queue: QueueId, group: &mut Group) {
    let mut wanted: u64 = 0;
    for (slot, &waiting) in board.waiting_by_slot(queue).iter().enumerate() {
        wanted |= u64::from(waiting > 0) << slot;
    }
    wanted &= !group.used();
    if wanted == 0 {
        return;
    }
    for txn in board.walk(queue) {
        let slot = board.txn(txn).slot;
        if wanted >> slot & 1 == 1 && txn != lead {
            if board.may_join(group, txn) {
                group.push(board, txn);
            }
            // The first of its plane decides: a later one would overtake it. Programs get the plane's next page
            // whichever it is; reads that fail the page rule are rare enough.
            wanted &= !(1 << slot);
            if wanted == 0 {
                return;
            }
        }
    }
}
