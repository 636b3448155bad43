//! Advanced commands: the lead's queue is scanned in order and every transaction that may share the command joins
//! (Slacker §2.2, SPEC 1.1.4). Companions cost nobody slack (D-SLK-17).

use flashlane_core::decide::Group;
use flashlane_core::{Board, TxnId};

/// Adds `lead` and its companions to `group`.
pub(super) fn widen(board: &Board, lead: TxnId, group: &mut Group) {
    group.push(board, lead);
    let facts = &board.facts;
    let queue = board.txn(lead).queue;
    if board.queues[queue.index()].len == 1 || !(facts.multi_plane || facts.multi_die) {
        return;
    }
    let slots = facts.geometry.planes_per_unit() as u8;
    let mut wanted: u64 = 0;
    for slot in 0..slots {
        wanted |= u64::from(board.waiting_in_slot(queue, slot) > 0) << slot;
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
