//! The waiting lines as doubly linked lists through the slab: joining anywhere, leaving from anywhere, ranks, and who is
//! foremost for each plane.

use super::{Board, Queue, SlotLine};
use crate::id::{QueueId, TxnId};
use crate::transaction::Transaction;

/// Rank of the only transaction of a queue, and what one at the tail has more than its predecessor.
const RANK_START: u64 = 1 << 48;
const RANK_STEP: u64 = 1 << 24;

impl Board {
    /// The waiting transactions of a queue, head first.
    #[inline]
    pub fn walk(&self, queue: QueueId) -> Walk<'_> {
        Walk { board: self, next: self.queues[queue.index()].head }
    }

    /// Links a transaction into its queue just before `before`, or at the tail. For the controller.
    #[inline(always)]
    pub fn link(&mut self, id: TxnId, queue: QueueId, before: TxnId) {
        self.link_as(id, queue, self.txns[id.index()].slot, before);
    }

    /// The same where its plane slot is at hand.
    #[inline(always)]
    pub fn link_as(&mut self, id: TxnId, queue: QueueId, slot: u8, before: TxnId) {
        let q = &mut self.queues[queue.index()];
        q.len += 1;
        let prev = if before.is_some() { self.txns[before.index()].prev } else { q.tail };
        if prev.is_some() {
            self.txns[prev.index()].next = id;
        } else {
            q.head = id;
        }
        if before.is_some() {
            self.txns[before.index()].prev = id;
        } else {
            q.tail = id;
        }
        let rank = if before.is_some() {
            self.rank_between(prev, before)
        } else if prev.is_some() {
            self.txns[prev.index()].rank + RANK_STEP
        } else {
            RANK_START
        };
        let txn = &mut self.txns[id.index()];
        txn.prev = prev;
        txn.next = before;
        txn.rank = rank;
        let at = queue.index() * self.slots + slot as usize;
        let line = &mut self.by_slot[at];
        line.waiting += 1;
        if line.first.is_none() || before.is_some() && rank < self.txns[line.first.index()].rank {
            line.first = id;
        }
    }

    /// A rank between two neighbours, `before` being the second.
    #[inline(always)]
    fn rank_between(&mut self, prev: TxnId, before: TxnId) -> u64 {
        let high = self.txns[before.index()].rank;
        let low = if prev.is_some() { self.txns[prev.index()].rank } else { high.saturating_sub(2 * RANK_STEP) };
        if high - low >= 2 { low + (high - low) / 2 } else { self.rank_made(low, before) }
    }

    /// The same where there is none left: those from `before` on get larger ones, up to the first that is large enough:
    /// newcomers are put near the tail, and behind it there is room.
    #[cold]
    fn rank_made(&mut self, low: u64, before: TxnId) -> u64 {
        let (mut at, mut least) = (before, low + RANK_STEP);
        while at.is_some() && self.txns[at.index()].rank < least {
            let txn = &mut self.txns[at.index()];
            txn.rank = least;
            least += RANK_STEP;
            at = txn.next;
        }
        low + RANK_STEP / 2
    }

    /// Takes a transaction out of its queue, wherever it stands, and hands it over. For the controller.
    #[inline(always)]
    pub fn unlink(&mut self, id: TxnId) -> &mut Transaction {
        let Transaction { prev, next, slot, queue, .. } = self.txns[id.index()];
        self.leave_slot(id, queue, slot, next);
        let q = &mut self.queues[queue.index()];
        q.len -= 1;
        if prev.is_some() {
            self.txns[prev.index()].next = next;
        } else {
            q.head = next;
        }
        if next.is_some() {
            self.txns[next.index()].prev = prev;
        } else {
            q.tail = prev;
        }
        let txn = &mut self.txns[id.index()];
        txn.prev = TxnId::NONE;
        txn.next = TxnId::NONE;
        txn
    }

    /// The same for the only transaction of its queue.
    #[inline(always)]
    pub fn unlink_lone(&mut self, id: TxnId) -> &mut Transaction {
        let txn = &mut self.txns[id.index()];
        debug_assert!(txn.prev.is_none() && txn.next.is_none());
        self.queues[txn.queue.index()] = Queue::EMPTY;
        self.by_slot[txn.queue.index() * self.slots + txn.slot as usize] = SlotLine::EMPTY;
        txn
    }

    /// A transaction of `queue` for plane `slot` leaves, `next` being behind it.
    #[inline(always)]
    fn leave_slot(&mut self, id: TxnId, queue: QueueId, slot: u8, next: TxnId) {
        let at = queue.index() * self.slots + slot as usize;
        let line = &mut self.by_slot[at];
        line.waiting -= 1;
        if line.first == id {
            // The next for the same slot is the nearest behind: over the life of a queue no more steps than entries.
            let mut heir = if line.waiting > 0 { next } else { TxnId::NONE };
            while heir.is_some() && self.txns[heir.index()].slot != slot {
                heir = self.txns[heir.index()].next;
            }
            line.first = heir;
        }
    }
}

/// Iterator over a waiting line, head first.
pub struct Walk<'a> {
    board: &'a Board,
    next: TxnId,
}

impl Iterator for Walk<'_> {
    type Item = TxnId;

    #[inline]
    fn next(&mut self) -> Option<TxnId> {
        if self.next.is_none() {
            return None;
        }
        let id = self.next;
        self.next = self.board.txn(id).next;
        Some(id)
    }
}
