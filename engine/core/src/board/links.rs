//! Queues as doubly linked lists through the slab: a transaction can join and leave anywhere, has a rank in its queue, and is in
//! a list of the queue's transactions for the same plane slot.

use super::{Board, Queue, SlotQueue};
use crate::id::{QueueId, TxnId};
use crate::transaction::Transaction;

/// Rank of the only transaction of a queue, and the difference of ranks when one joins at the tail.
const RANK_START: u64 = 1 << 48;
const RANK_STEP: u64 = 1 << 24;

impl Board {
    /// The waiting transactions of a queue, head first.
    #[inline]
    pub fn walk(&self, queue: QueueId) -> Walk<'_> {
        Walk { board: self, next: self.queues[queue.index()].head }
    }

    /// Puts a transaction into `queue` just before `before`, or at the tail, and counts it as waiting. For the device.
    #[inline(always)]
    pub fn link(&mut self, id: TxnId, queue: QueueId, before: TxnId) {
        let slot = self.txns[id.index()].slot;
        self.count_waiting(id, 1);
        let q = &mut self.queues[queue.index()];
        q.len += 1;
        if q.len == 1 {
            // A short path for the most frequent case: the queue was empty.
            (q.head, q.tail) = (id, id);
            let txn = &mut self.txns[id.index()];
            (txn.prev, txn.next, txn.rank) = (TxnId::NONE, TxnId::NONE, RANK_START);
            let at = self.slot_index(queue, slot);
            self.by_slot[at] = SlotQueue { first: id, last: id, waiting: 1 };
            return;
        }
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
        self.join_slot(id, queue, slot, before);
    }

    /// Adds a transaction, which has just joined `queue` in front of `before` or at the tail, to the list of its plane slot.
    #[inline(always)]
    fn join_slot(&mut self, id: TxnId, queue: QueueId, slot: u8, before: TxnId) {
        let at = self.slot_index(queue, slot);
        let list = &mut self.by_slot[at];
        list.waiting += 1;
        if list.first.is_none() {
            (list.first, list.last) = (id, id);
        } else if before.is_none() {
            let last = core::mem::replace(&mut list.last, id);
            self.set_behind(last, id);
        } else {
            self.join_slot_before(id, queue, slot);
        }
    }

    /// Index into `by_slot` for a queue and a plane slot.
    #[inline(always)]
    fn slot_index(&self, queue: QueueId, slot: u8) -> usize {
        queue.index() * self.slots + slot as usize
    }

    /// [`Board::join_slot`] for a transaction that may have others of its slot behind it.
    #[inline(never)]
    fn join_slot_before(&mut self, id: TxnId, queue: QueueId, slot: u8) {
        let front = self.nearest_before(id, slot);
        let at = self.slot_index(queue, slot);
        let list = &mut self.by_slot[at];
        if front.is_none() {
            let first = core::mem::replace(&mut list.first, id);
            return self.set_behind(id, first);
        }
        if list.last == front {
            list.last = id;
        } else {
            let behind = self.behind[front.index()];
            self.set_behind(id, behind);
        }
        self.set_behind(front, id);
    }

    /// The nearest transaction of the slot in front of this one in its queue; [`TxnId::NONE`] if there is none.
    fn nearest_before(&self, id: TxnId, slot: u8) -> TxnId {
        let mut front = self.txns[id.index()].prev;
        while front.is_some() && self.txns[front.index()].slot != slot {
            front = self.txns[front.index()].prev;
        }
        front
    }

    /// Sets the transaction behind `front` in the list of its slot.
    #[inline(always)]
    fn set_behind(&mut self, front: TxnId, behind: TxnId) {
        match self.behind.get_mut(front.index()) {
            Some(place) => *place = behind,
            None => self.grow_and_set_behind(front, behind),
        }
    }

    /// [`Board::set_behind`] when the table is shorter than the slab: grows it first.
    #[cold]
    fn grow_and_set_behind(&mut self, front: TxnId, behind: TxnId) {
        self.behind.resize(self.txns.len(), TxnId::NONE);
        self.behind[front.index()] = behind;
    }

    /// A rank between two neighbours, `before` being the second.
    #[inline(always)]
    fn rank_between(&mut self, prev: TxnId, before: TxnId) -> u64 {
        let high = self.txns[before.index()].rank;
        let low = if prev.is_some() { self.txns[prev.index()].rank } else { high.saturating_sub(2 * RANK_STEP) };
        if high - low >= 2 { low + (high - low) / 2 } else { self.renumber(low, before) }
    }

    /// [`Board::rank_between`] when no rank is left between the neighbours: raises the ranks from `before` on, up to the first
    /// that is large enough already. These are few, as most transactions join near the tail.
    #[cold]
    fn renumber(&mut self, low: u64, before: TxnId) -> u64 {
        let (mut at, mut least) = (before, low + RANK_STEP);
        while at.is_some() && self.txns[at.index()].rank < least {
            let txn = &mut self.txns[at.index()];
            txn.rank = least;
            least += RANK_STEP;
            at = txn.next;
        }
        low + RANK_STEP / 2
    }

    /// Adds `more` to the number of transactions that wait for this one's unit; it wraps, so `u32::MAX` subtracts one. A write
    /// that has no plane yet is counted only in its queue.
    #[inline(always)]
    fn count_waiting(&mut self, id: TxnId, more: u32) {
        let Transaction { queue, unit, op, .. } = self.txns[id.index()];
        if queue != self.unplaced() {
            let waiting = &mut self.units[unit.index()].waiting[op.index()];
            *waiting = waiting.wrapping_add(more);
        }
    }

    /// Takes a transaction out of its queue, from any position, no longer counts it as waiting, and returns it. For the device.
    #[inline(always)]
    pub fn unlink(&mut self, id: TxnId) -> &mut Transaction {
        let Transaction { prev, next, slot, queue, .. } = self.txns[id.index()];
        self.count_waiting(id, u32::MAX);
        let q = &mut self.queues[queue.index()];
        q.len -= 1;
        if q.len == 0 {
            *q = Queue::EMPTY;
            let at = self.slot_index(queue, slot);
            self.by_slot[at] = SlotQueue::EMPTY;
            return &mut self.txns[id.index()];
        }
        self.leave_slot(id, queue, slot);
        let q = &mut self.queues[queue.index()];
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

    /// Takes a transaction that is about to leave `queue` out of the list of its plane slot.
    #[inline(always)]
    fn leave_slot(&mut self, id: TxnId, queue: QueueId, slot: u8) {
        let at = self.slot_index(queue, slot);
        let list = &mut self.by_slot[at];
        list.waiting -= 1;
        if list.first == id {
            list.first = if list.waiting > 0 { self.behind[id.index()] } else { TxnId::NONE };
        } else {
            self.leave_slot_between(id, queue, slot);
        }
    }

    /// [`Board::leave_slot`] for a transaction that has others of its slot in front of it.
    #[inline(never)]
    fn leave_slot_between(&mut self, id: TxnId, queue: QueueId, slot: u8) {
        let front = self.nearest_before(id, slot);
        let at = self.slot_index(queue, slot);
        let list = &mut self.by_slot[at];
        if list.last == id {
            list.last = front;
        } else {
            self.behind[front.index()] = self.behind[id.index()];
        }
    }

    /// The second transaction of one plane slot; [`TxnId::NONE`] if there is none.
    #[inline(always)]
    pub fn second(&self, list: &SlotQueue) -> TxnId {
        if list.waiting > 1 { self.behind[list.first.index()] } else { TxnId::NONE }
    }
}

impl Board {
    /// The transactions of one plane slot of a queue, head first. Faster than [`Board::walk`] where many wait: which comes next does not
    /// depend on reading the transaction before.
    #[inline]
    pub fn walk_slot(&self, list: &SlotQueue) -> impl Iterator<Item = TxnId> {
        let SlotQueue { first, last, .. } = *list;
        core::iter::successors(first.is_some().then_some(first), move |&id| {
            (id != last).then(|| self.behind[id.index()])
        })
    }
}

/// Iterator over a queue, head first.
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

#[cfg(test)]
mod tests;
