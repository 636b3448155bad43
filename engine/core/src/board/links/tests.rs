//! The linked lists compared with vectors.

use super::*;
use crate::board::{Board, Facts};
use crate::geometry::{Geometry, UnitKind};
use crate::id::UnitId;
use crate::transaction::FlashOp;
use alloc::vec::Vec;
use flashlane_testing::Random;

/// A board with one unit of `slots` planes.
fn board(slots: u32) -> Board {
    let geometry = Geometry {
        planes_per_die: slots,
        blocks_per_plane: 4,
        pages_per_block: 4,
        unit: UnitKind::Die,
        ..Geometry::plain()
    };
    Board::new(Facts::plain(geometry), 1)
}

/// Checks that a queue on the board is equal to the vector.
fn compare(board: &Board, queue: QueueId, plain: &[TxnId], slots: u32) {
    let walked: Vec<TxnId> = board.walk(queue).collect();
    assert_eq!(walked, plain);
    assert_eq!(board.queues[queue.index()].len as usize, plain.len());
    let rank = |id: &TxnId| board.txn(*id).rank;
    assert!(plain.is_sorted_by(|one, next| rank(one) < rank(next)), "ranks ascend");
    for slot in 0..slots as u8 {
        let mine: Vec<TxnId> = plain.iter().copied().filter(|&id| board.txn(id).slot == slot).collect();
        let list = &board.by_slot(queue)[slot as usize];
        let at = |place: usize| mine.get(place).copied().unwrap_or(TxnId::NONE);
        assert_eq!((list.waiting as usize, list.first, board.second(list)), (mine.len(), at(0), at(1)), "slot {slot}");
        assert_eq!(board.walk_slot(list).collect::<Vec<_>>(), mine, "slot {slot}");
    }
}

/// Transactions join at the tail or at a random position, and leave from the head or a random position.
#[test]
fn queues_and_slot_lists_agree_with_vectors() {
    let mut random = Random(3);
    let mut sample = |below: usize| random.below(below as u64) as usize;
    for (slots, most) in [(1, 3), (2, 5), (2, 40), (8, 30)] {
        let mut board = board(slots);
        let queue = board.queue_for(UnitId(0), FlashOp::Read, 0);
        let (mut plain, mut free): (Vec<TxnId>, Vec<TxnId>) = (Vec::new(), Vec::new());
        for _ in 0..4_000 {
            if plain.len() < most && (plain.is_empty() || sample(2) == 0) {
                let id = free.pop().unwrap_or(TxnId(board.txns.len() as u32));
                let txn = Transaction { queue, slot: sample(slots as usize) as u8, ..Transaction::EMPTY };
                match board.txns.get_mut(id.index()) {
                    Some(place) => *place = txn,
                    None => board.txns.push(txn),
                }
                let place = if sample(2) == 0 { plain.len() } else { sample(plain.len() + 1) };
                board.link(id, queue, plain.get(place).copied().unwrap_or(TxnId::NONE));
                plain.insert(place, id);
            } else {
                let id = plain.remove(if sample(2) == 0 { 0 } else { sample(plain.len()) });
                board.unlink(id);
                free.push(id);
            }
            compare(&board, queue, &plain, slots);
        }
    }
}
