//! Long queues in segments: a new transaction that passes hundreds looks at tens.
//!
//! Owns the slack that waiting transactions of long queues have lost and the board does not show yet: what they owe. A queue
//! that has grown long is cut into segments. A segment whose transactions can all be passed is passed as a whole, by a charge
//! to the segment; one with a transaction that cannot be passed is walked from its tail as the plain scan does. Places and
//! slack are exactly those of the plain scan; what is owed is subtracted when a transaction leaves.

mod tables;

use alloc::vec::Vec;

use flashlane_core::{Board, Duration, QueueId, Transaction, TxnId};

use self::tables::{Entry, NONE, QueueState, Segment};

/// A queue is cut up once this many wait in it, and stays so until it has been empty. Shorter ones are cheaper to walk.
pub(super) const LONG: u32 = 256;

/// At most this many are passed one by one before they become a segment of their own.
const WALKED: u32 = 8;

/// The long queues. Its tables grow only when the board's do.
#[derive(Debug)]
pub(super) struct Ledger {
    long: u32,
    queues: Vec<QueueState>,
    entries: Vec<Entry>,
    segments: Vec<Segment>,
    free: Vec<u32>,
    /// Stretches in use: without any, no queue is cut up.
    used: u32,
    /// The highest serial number seen: a transaction with a smaller one joins its queue later than its siblings.
    youngest: u64,
}

impl Ledger {
    /// An empty ledger that cuts up queues of `long` transactions.
    pub(super) fn new(long: u32) -> Ledger {
        let (queues, entries, segments, free) = Default::default();
        Ledger { long, queues, entries, segments, free, used: 0, youngest: 0 }
    }

    /// Records a new transaction. Returns whether it joins after its siblings.
    #[inline(always)]
    pub(super) fn is_late(&mut self, newcomer: &Transaction) -> bool {
        let late = newcomer.serial < self.youngest;
        self.youngest = self.youngest.max(newcomer.serial);
        late
    }

    /// Whether `queue` is cut up. A queue that has become long is cut up by this call.
    #[inline(always)]
    pub(super) fn keeps(&mut self, board: &Board, queue: QueueId) -> bool {
        let cut = self.used > 0 && self.queues.get(queue.index()).is_some_and(|queue| queue.last != NONE);
        cut || board.queues[queue.index()].len >= self.long && self.open(board, queue)
    }

    /// Makes one segment of a whole queue, with no slack known yet.
    #[cold]
    fn open(&mut self, board: &Board, queue: QueueId) -> bool {
        let line = &board.queues[queue.index()];
        let whole =
            Segment { first: line.head, last: line.tail, len: line.len, ahead: NONE, behind: NONE, taken: 0, least: 0 };
        let at = self.add(whole);
        self.entries.resize(board.txns.len().max(self.entries.len()), Entry::NONE);
        self.queues.resize(board.queues.len(), QueueState::UNCUT);
        let line = &mut self.queues[queue.index()];
        (line.last, line.changes) = (at, line.changes.wrapping_add(1));
        let changes = line.changes.wrapping_sub(1);
        for id in board.walk(queue) {
            self.entries[id.index()] = Entry { segment: at, changes, ..Entry::NONE };
        }
        true
    }

    fn add(&mut self, segment: Segment) -> u32 {
        self.used += 1;
        if let Some(at) = self.free.pop() {
            self.segments[at as usize] = segment;
            return at;
        }
        self.segments.push(segment);
        self.segments.len() as u32 - 1
    }

    #[inline]
    fn segment_of(&self, id: TxnId) -> u32 {
        self.entries.get(id.index()).map_or(NONE, |entry| entry.segment)
    }

    /// Adds `id`, which has passed `passed` others, to a segment of a queue; its only slack is what the board will show.
    #[inline]
    fn join(&mut self, id: TxnId, at: u32, queue: QueueId, passed: u32) {
        if self.entries.len() <= id.index() {
            self.entries.resize(id.index() + 1, Entry::NONE);
        }
        let segment = &mut self.segments[at as usize];
        segment.len += 1;
        segment.least = segment.least.min(segment.taken);
        let QueueState { newcomers, changes, .. } = self.queues[queue.index()];
        let owes = 0u64.wrapping_sub(segment.taken);
        self.entries[id.index()] = Entry { segment: at, passed, newcomers, changes, owes };
    }

    /// Adds transactions that joined the tail of a queue without the ledger to its last segment.
    #[cold]
    fn adopt(&mut self, board: &Board, queue: QueueId) {
        let tail = board.queues[queue.index()].tail;
        let at = self.queues[queue.index()].last;
        let mut stray = tail;
        while self.segment_of(stray) == NONE {
            self.join(stray, at, queue, 0);
            stray = board.txn(stray).prev;
        }
        self.segments[at as usize].last = tail;
        let changes = &mut self.queues[queue.index()].changes;
        *changes = changes.wrapping_add(1);
    }

    /// Finds the place of a new transaction that costs those it passes `cost`, subtracts that from them, and records it: returns
    /// the transaction to stand in front of, [`TxnId::NONE`] for the tail. `barred` are the transactions it may not pass; of
    /// those only `newcomer.blocked_by` and, if `late`, siblings can have slack.
    #[inline(never)]
    pub(super) fn insert(
        &mut self,
        board: &Board,
        id: TxnId,
        queue: QueueId,
        cost: Duration,
        late: bool,
        barred: impl Fn(&Transaction) -> bool,
    ) -> TxnId {
        if self.segment_of(board.queues[queue.index()].tail) == NONE {
            self.adopt(board, queue);
        }
        let cost = cost.ns();
        let after = board.txn(id).blocked_by;
        let hazard = if after.is_some() { self.segment_of(after) } else { NONE };
        let (mut before, mut passed) = (TxnId::NONE, 0);
        let mut at = self.queues[queue.index()].last;
        loop {
            let segment = &mut self.segments[at as usize];
            let Segment { first, len, ahead, .. } = *segment;
            if segment.least - segment.taken >= cost && cost > 0 && !late && hazard != at {
                segment.taken += cost;
            } else {
                let (count, foremost) = self.walk(board, at, cost, after, &barred);
                if count < len {
                    before = if count > 0 { foremost } else { before };
                    passed += count;
                    break;
                }
            }
            before = first;
            passed += len;
            if ahead == NONE {
                break;
            }
            at = ahead;
        }
        let newcomers = &mut self.queues[queue.index()].newcomers;
        *newcomers = newcomers.wrapping_add(1);
        self.join(id, at, queue, passed);
        let segment = &mut self.segments[at as usize];
        if before == segment.first {
            segment.first = id;
        } else if before.is_none() || self.entries[before.index()].segment != at {
            segment.last = id;
        }
        before
    }

    /// Passes those of a segment one by one from its tail. Returns how many, and the foremost of them. If many were passed but
    /// not all, they become a segment.
    #[inline]
    fn walk(
        &mut self,
        board: &Board,
        at: u32,
        cost: u64,
        after: TxnId,
        barred: impl Fn(&Transaction) -> bool,
    ) -> (u32, TxnId) {
        let segment = &mut self.segments[at as usize];
        let mut passed = TxnId::NONE;
        let mut least = u64::MAX;
        let mut next = segment.last;
        for count in 0..segment.len {
            let (txn, entry) = (board.txn(next), &mut self.entries[next.index()]);
            let spare = txn.slack.ns().wrapping_sub(entry.owes);
            if spare - segment.taken < cost || next == after || barred(txn) {
                segment.least = segment.least.min(least);
                if count >= WALKED {
                    self.split(board, at, passed, count, least);
                }
                return (count, passed);
            }
            entry.owes = entry.owes.wrapping_add(cost);
            least = least.min(spare - cost);
            passed = next;
            next = txn.prev;
        }
        segment.least = least;
        (segment.len, passed)
    }

    /// Makes a segment of the last `len` of another, from `first` on, none of which has less slack than `least`.
    #[inline(never)]
    fn split(&mut self, board: &Board, at: u32, first: TxnId, len: u32, least: u64) {
        let old = self.segments[at as usize];
        let new = self.add(Segment { first, len, ahead: at, least, ..old });
        let mut id = old.last;
        while id != first {
            self.entries[id.index()].segment = new;
            id = board.txn(id).prev;
        }
        self.entries[first.index()].segment = new;
        let rest = &mut self.segments[at as usize];
        (rest.last, rest.len, rest.behind) = (board.txn(first).prev, old.len - len, new);
        match old.behind {
            NONE => self.queues[board.txn(first).queue.index()].last = new,
            behind => self.segments[behind as usize].ahead = new,
        }
    }

    /// A transaction leaves its queue. Returns what it owes of its slack.
    #[inline(always)]
    pub(super) fn leave(&mut self, board: &Board, id: TxnId) -> Duration {
        if self.used == 0 {
            return Duration::ZERO;
        }
        match self.entries.get(id.index()) {
            Some(entry) if entry.segment != NONE => self.settle(board, id),
            _ => Duration::ZERO,
        }
    }

    #[inline(never)]
    fn settle(&mut self, board: &Board, id: TxnId) -> Duration {
        let entry = &mut self.entries[id.index()];
        let at = core::mem::replace(&mut entry.segment, NONE);
        let segment = &mut self.segments[at as usize];
        let owes = entry.owes.wrapping_add(segment.taken);
        segment.len -= 1;
        let changes = &mut self.queues[board.txn(id).queue.index()].changes;
        *changes = changes.wrapping_add(1);
        if segment.len == 0 {
            self.close(board.txn(id).queue, at);
            return Duration::from_ns(owes);
        }
        // Others of the same command may have left before, and are still linked in the queue.
        let belongs = |id: TxnId| self.entries[id.index()].segment == at;
        if segment.first == id {
            while !belongs(segment.first) {
                segment.first = board.txn(segment.first).next;
            }
        } else if segment.last == id {
            while !belongs(segment.last) {
                segment.last = board.txn(segment.last).prev;
            }
        }
        Duration::from_ns(owes)
    }

    /// Removes a segment that has become empty.
    fn close(&mut self, queue: QueueId, at: u32) {
        let Segment { ahead, behind, .. } = self.segments[at as usize];
        match behind {
            NONE => self.queues[queue.index()].last = ahead,
            behind => self.segments[behind as usize].ahead = ahead,
        }
        if ahead != NONE {
            self.segments[ahead as usize].behind = behind;
        }
        self.free.push(at);
        self.used -= 1;
    }

    /// Transactions behind `id` in its queue, `None` if the queue is not cut up.
    #[inline(always)]
    pub(super) fn behind(&self, board: &Board, id: TxnId) -> Option<u64> {
        if self.used == 0 {
            return None;
        }
        let entry = self.entries.get(id.index())?;
        (entry.segment != NONE).then(|| self.behind_in_cut(board, id))
    }

    /// Transactions behind `id` in a queue that is cut up. If only new transactions joined since, they are siblings behind it.
    #[inline(never)]
    fn behind_in_cut(&self, board: &Board, id: TxnId) -> u64 {
        let (entry, txn) = (&self.entries[id.index()], board.txn(id));
        let line = &self.queues[txn.queue.index()];
        if entry.changes == line.changes && txn.enqueued == board.now {
            return u64::from(entry.passed + line.newcomers.wrapping_sub(entry.newcomers));
        }
        self.count_behind(board, id, entry.segment)
    }

    #[cold]
    fn count_behind(&self, board: &Board, id: TxnId, own: u32) -> u64 {
        let mut count = 0;
        let mut next = board.txn(id).next;
        while next.is_some() && self.segment_of(next) == own {
            count += 1;
            next = board.txn(next).next;
        }
        let mut at = self.segments[own as usize].behind;
        while at != NONE {
            let segment = &self.segments[at as usize];
            count += u64::from(segment.len);
            at = segment.behind;
        }
        count
    }
}

#[cfg(test)]
mod tests;
