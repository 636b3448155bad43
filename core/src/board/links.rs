//! The waiting lines as doubly linked lists through the slab: joining anywhere, leaving from anywhere, ranks, and those for each
//! plane as lists of their own.

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

    /// Puts a transaction into `queue` just before `before`, or at the tail, and counts it as waiting. For the device.
    #[inline(always)]
    pub fn link(&mut self, id: TxnId, queue: QueueId, before: TxnId) {
        let slot = self.txns[id.index()].slot;
        self.count_waiting(id, 1);
        let q = &mut self.queues[queue.index()];
        q.len += 1;
        if q.len == 1 {
            // Most queues are empty most of the time.
            (q.head, q.tail) = (id, id);
            let txn = &mut self.txns[id.index()];
            (txn.prev, txn.next, txn.rank) = (TxnId::NONE, TxnId::NONE, RANK_START);
            let at = self.line_of(queue, slot);
            self.by_slot[at] = SlotLine { first: id, last: id, waiting: 1 };
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

    /// A transaction that stands in its queue, before another or at the tail, joins those of its plane slot.
    #[inline(always)]
    fn join_slot(&mut self, id: TxnId, queue: QueueId, slot: u8, before: TxnId) {
        let at = self.line_of(queue, slot);
        let line = &mut self.by_slot[at];
        line.waiting += 1;
        if line.first.is_none() {
            (line.first, line.last) = (id, id);
        } else if before.is_none() {
            let last = core::mem::replace(&mut line.last, id);
            self.set_behind(last, id);
        } else {
            self.join_slot_before(id, queue, slot);
        }
    }

    /// Where the transactions of `queue` for one plane slot are listed in `by_slot`.
    #[inline(always)]
    fn line_of(&self, queue: QueueId, slot: u8) -> usize {
        queue.index() * self.slots + slot as usize
    }

    /// The same where others of the slot may stand behind it.
    #[inline(never)]
    fn join_slot_before(&mut self, id: TxnId, queue: QueueId, slot: u8) {
        let front = self.nearest_before(id, slot);
        let at = self.line_of(queue, slot);
        let line = &mut self.by_slot[at];
        if front.is_none() {
            let first = core::mem::replace(&mut line.first, id);
            return self.set_behind(id, first);
        }
        if line.last == front {
            line.last = id;
        } else {
            let behind = self.behind[front.index()];
            self.set_behind(id, behind);
        }
        self.set_behind(front, id);
    }

    /// The nearest transaction of the slot that stands before this one in its queue.
    fn nearest_before(&self, id: TxnId, slot: u8) -> TxnId {
        let mut front = self.txns[id.index()].prev;
        while front.is_some() && self.txns[front.index()].slot != slot {
            front = self.txns[front.index()].prev;
        }
        front
    }

    /// Notes who is behind a transaction that is not the hindmost of its slot.
    #[inline(always)]
    fn set_behind(&mut self, front: TxnId, behind: TxnId) {
        match self.behind.get_mut(front.index()) {
            Some(place) => *place = behind,
            None => self.set_first_behind(front, behind),
        }
    }

    /// The same where the table has become too short for the slab.
    #[cold]
    fn set_first_behind(&mut self, front: TxnId, behind: TxnId) {
        self.behind.resize(self.txns.len(), TxnId::NONE);
        self.behind[front.index()] = behind;
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

    /// The transaction's unit has so many transactions more (or, wrapping, fewer) waiting. Those that wait for no unit yet are
    /// counted in their queue alone.
    #[inline(always)]
    fn count_waiting(&mut self, id: TxnId, more: u32) {
        let Transaction { queue, unit, op, .. } = self.txns[id.index()];
        if queue != self.unplaced() {
            let waiting = &mut self.units[unit.index()].waiting[op.index()];
            *waiting = waiting.wrapping_add(more);
        }
    }

    /// Takes a transaction out of its queue, wherever it stands, counts it as waiting no more, and hands it over. For the device.
    #[inline(always)]
    pub fn unlink(&mut self, id: TxnId) -> &mut Transaction {
        let Transaction { prev, next, slot, queue, .. } = self.txns[id.index()];
        self.count_waiting(id, u32::MAX);
        let q = &mut self.queues[queue.index()];
        q.len -= 1;
        if q.len == 0 {
            *q = Queue::EMPTY;
            let at = self.line_of(queue, slot);
            self.by_slot[at] = SlotLine::EMPTY;
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

    /// A transaction of `queue` for plane `slot` is about to leave.
    #[inline(always)]
    fn leave_slot(&mut self, id: TxnId, queue: QueueId, slot: u8) {
        let at = self.line_of(queue, slot);
        let line = &mut self.by_slot[at];
        line.waiting -= 1;
        if line.first == id {
            line.first = if line.waiting > 0 { self.behind[id.index()] } else { TxnId::NONE };
        } else {
            self.leave_slot_between(id, queue, slot);
        }
    }

    /// The same where others of the slot stand before it.
    #[inline(never)]
    fn leave_slot_between(&mut self, id: TxnId, queue: QueueId, slot: u8) {
        let front = self.nearest_before(id, slot);
        let at = self.line_of(queue, slot);
        let line = &mut self.by_slot[at];
        if line.last == id {
            line.last = front;
        } else {
            self.behind[front.index()] = self.behind[id.index()];
        }
    }

    /// The second of those for one plane slot; [`TxnId::NONE`] if there is none.
    #[inline(always)]
    pub fn second(&self, line: &SlotLine) -> TxnId {
        if line.waiting > 1 { self.behind[line.first.index()] } else { TxnId::NONE }
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

#[cfg(test)]
mod tests;
