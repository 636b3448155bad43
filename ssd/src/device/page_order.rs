//! The order of the writes and reads of a page.
//!
//! A write of a page of which an older write has not ended waits for that one, or that one is cancelled (SOS, model 4.1.2). The table of
//! the youngest writes finds the older one at constant cost, wherever it waits.

use alloc::vec::Vec;

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{Stage, Transaction};
use flashlane_core::{Duration, Lpn, Owner, TxnId};

use super::Device;
use crate::frontend::RequestSlot;
use crate::shared::LpnTable;

/// Where a new write joins its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QueuePlacement {
    /// At the position of the order decision.
    AsOrdered,
    /// In front of this waiting write, or at the tail: at the place of the write it has replaced (D-SOS-08).
    InFrontOf(TxnId),
}

impl Device {
    /// Notes `program` as the youngest write of its page. An older write that still waits is cancelled, or goes first.
    #[inline(always)]
    pub(super) fn supersede(&mut self, program: TxnId, lpn: Lpn) -> QueuePlacement {
        let old = self.writes.insert(lpn, program);
        if old.is_none() {
            return QueuePlacement::AsOrdered;
        }
        self.supersede_write(old, program)
    }

    fn supersede_write(&mut self, old: TxnId, program: TxnId) -> QueuePlacement {
        let stage = self.state.board.txn(old).stage;
        if stage == Stage::InService {
            return QueuePlacement::AsOrdered;
        }
        if stage == Stage::Waiting && self.policy.drops(&self.state.board, old) {
            return self.drop_write(old, program);
        }
        self.state.board.txn_mut(program).blocked_by = old;
        self.state.board.txn_mut(old).unblocks = program;
        QueuePlacement::AsOrdered
    }

    /// Takes the waiting write `old` out of its queue. It is done with `successor`, or at once (D-SOS-06).
    #[cold]
    fn drop_write(&mut self, old: TxnId, successor: TxnId) -> QueuePlacement {
        let Transaction { blocked_by: older, serial, next, priority, .. } = *self.state.board.txn(old);
        let inherits = self.policy.known.inherits_place && self.state.board.txn(successor).priority == priority;
        if inherits {
            self.inherit(old, successor);
        }
        self.withdraw(old);
        let board = &mut self.state.board;
        if older.is_some() {
            board.txn_mut(older).unblocks = successor;
            board.txn_mut(old).blocked_by = TxnId::NONE;
        }
        board.txn_mut(old).stage = Stage::Held;
        board.txn_mut(successor).blocked_by = older;
        self.counters.cancelled += 1;
        let paused = Duration::ZERO;
        self.state.log(|| Event::Ended { txn: serial, end: End::Cancelled, paused });
        let is_buffers = self.state.board.txn(old).owner == Owner::Buffer;
        if is_buffers || self.policy.known.dropped_end_at_once {
            self.end_dropped(old);
        } else {
            self.state.board.txn_mut(successor).on_completion = old;
        }
        if inherits { QueuePlacement::InFrontOf(next) } else { QueuePlacement::AsOrdered }
    }

    /// Gives `successor` the unit and the age of the waiting write `old`.
    fn inherit(&mut self, old: TxnId, successor: TxnId) {
        let board = &mut self.state.board;
        let Transaction { plane, unit, slot, queue, .. } = *board.txn(old);
        let age = board.txn(old).age();
        let new = board.txn_mut(successor);
        (new.plane, new.unit, new.slot, new.queue) = (plane, unit, slot, queue);
        new.age_bonus = new.serial - age;
    }

    /// Completes a cancelled write's page at once. The buffer's writes were acknowledged long ago.
    fn end_dropped(&mut self, id: TxnId) {
        let Transaction { request, tag, on_completion, .. } = *self.state.board.txn(id);
        debug_assert!(on_completion.is_none(), "all dropped before it ended at once");
        if request != RequestSlot::MAX {
            // Its request may be the one that is being split into pages.
            self.estimates.created.retain(|&created| created != id);
            self.frontend.page_done(request, tag, &mut self.state);
        }
        self.state.release(id);
    }

    /// Completes the cancelled writes that `id` begins a list of: the write that took their place has ended.
    #[cold]
    pub(super) fn end_superseded(&mut self, mut id: TxnId) {
        while id.is_some() {
            let Transaction { on_completion, request, tag, .. } = *self.state.board.txn(id);
            self.frontend.page_done(request, tag, &mut self.state);
            self.state.release(id);
            id = on_completion;
        }
    }
}

// Reads that are older than a write of their page which goes to another plane (SOS, model 4.1.2, D-SOS-16).
//
// A read follows its page while that stays on its plane: garbage collection may move it there, and a younger write of it may take it to
// another page of the plane. When a younger write takes it to another plane, the reads of it that have not ended keep the copy that
// the page had until then, and pin its block: it is not erased before they end ([`crate::gc::Gc::pin`]). They stay where they are,
// in the queue of the unit that has the copy.
//
// Owns, by logical page, the reads that have not ended and follow it. Only where pages leave their home plane; elsewhere no read
// is recorded. Memory is bounded by the transactions in flight.

/// The physical page that a read reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// Where its logical page is when it begins.
    Current,
    /// [`Transaction::ppa`], in a pinned block.
    Kept,
    /// [`Transaction::ppa`], where nothing is: its logical page had never been written.
    KeptBlank,
}

/// A read that has not ended.
#[derive(Clone, Copy, Debug)]
struct OpenRead {
    source: Source,
    /// The next older and the next younger read of its page, while it follows that.
    older: TxnId,
    younger: TxnId,
}

/// The reads that have not ended.
#[derive(Default, Debug)]
pub(super) struct OlderReads {
    /// By logical page, the youngest of the reads that follow it.
    youngest: LpnTable<TxnId>,
    /// By transaction, if it is a read that has not ended.
    reads: Vec<OpenRead>,
}

impl OlderReads {
    /// A read of `lpn` was created, which follows its page.
    fn add(&mut self, lpn: Lpn, id: TxnId) {
        let older = self.youngest.insert(lpn, id);
        let read = OpenRead { source: Source::Current, older, younger: TxnId::NONE };
        if self.reads.len() <= id.index() {
            self.reads.resize(id.index() + 1, read);
        }
        self.reads[id.index()] = read;
        if older.is_some() {
            self.reads[older.index()].younger = id;
        }
    }

    /// A read of `lpn` that follows its page has ended.
    fn remove(&mut self, lpn: Lpn, id: TxnId) {
        let OpenRead { older, younger, .. } = self.reads[id.index()];
        if older.is_some() {
            self.reads[older.index()].younger = younger;
        }
        match (younger.is_some(), older.is_some()) {
            (true, _) => self.reads[younger.index()].older = older,
            (false, true) => drop(self.youngest.insert(lpn, older)),
            (false, false) => self.youngest.remove(lpn, id),
        }
    }

    /// The youngest of the reads that follow `lpn`, which all no longer do; [`OpenRead::older`] leads to the others.
    fn take_all(&mut self, lpn: Lpn) -> TxnId {
        let youngest = self.youngest.get(lpn);
        if youngest.is_some() {
            self.youngest.remove(lpn, youngest);
        }
        youngest
    }
}

impl Device {
    /// Notes a read of `lpn` that was created.
    #[inline(always)]
    pub(super) fn note_read(&mut self, lpn: Lpn, id: TxnId) {
        if !self.policy.known.static_place {
            self.older_reads.add(lpn, id);
        }
    }

    /// Whether a read keeps the copy that its page had before a younger write took that to another plane.
    #[inline(always)]
    pub(super) fn keeps_copy(&self, read: TxnId) -> bool {
        !self.policy.known.static_place && self.older_reads.reads[read.index()].source != Source::Current
    }

    /// Called before a write takes `lpn` to another plane: the reads of it that have not ended keep its copy.
    #[inline(never)]
    pub(super) fn keep_copies(&mut self, lpn: Lpn) {
        let mut id = self.older_reads.take_all(lpn);
        if id.is_none() {
            return;
        }
        let source = if self.ftl.map.current(lpn).is_some() { Source::Kept } else { Source::KeptBlank };
        let ppa = self.ftl.map.lookup(lpn);
        while id.is_some() {
            let read = &mut self.older_reads.reads[id.index()];
            let older = read.older;
            read.source = source;
            let txn = self.state.board.txn_mut(id);
            txn.ppa = ppa.0;
            debug_assert_eq!(txn.plane, self.ftl.map.plane_of(lpn), "a read waits where its page is");
            if source == Source::Kept {
                self.gc.pin(txn.plane, ppa, &self.state.board);
            }
            self.counters.kept_reads += 1;
            id = older;
        }
    }

    /// A read has ended. Returns whether it read an older copy than the current one.
    #[inline(never)]
    pub(super) fn read_ended(&mut self, id: TxnId) -> bool {
        let Transaction { lpn, plane, ppa, .. } = *self.state.board.txn(id);
        let source = self.older_reads.reads[id.index()].source;
        match source {
            Source::Current => self.older_reads.remove(lpn, id),
            Source::Kept => self.gc.unpin(plane, flashlane_core::Ppa(ppa), &mut self.state, &mut self.ftl),
            Source::KeptBlank => {}
        }
        source != Source::Current
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    /// Compares with a list for each page, while reads come, end and no longer follow their page.
    #[test]
    fn the_reads_of_a_page_are_those_that_follow_it() {
        let (mut reads, mut plain) = (OlderReads::default(), BTreeMap::<u32, Vec<TxnId>>::new());
        let mut x: u64 = 11;
        let mut sample = |below: usize| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (x >> 33) as usize % below
        };
        let mut free: Vec<TxnId> = (0..40).map(TxnId).collect();
        let mut taken = 0;
        for _ in 0..50_000 {
            let lpn = sample(6) as u32;
            let list = plain.entry(lpn).or_default();
            match sample(20) {
                0 => {
                    let mut id = reads.take_all(Lpn(lpn));
                    for &read in list.iter().rev() {
                        assert_eq!(id, read, "youngest first");
                        id = reads.reads[id.index()].older;
                        taken += 1;
                    }
                    assert!(id.is_none());
                    free.append(list);
                }
                1..11 if !free.is_empty() => {
                    let id = free.swap_remove(sample(free.len()));
                    reads.add(Lpn(lpn), id);
                    list.push(id);
                }
                _ if !list.is_empty() => {
                    let id = list.remove(sample(list.len()));
                    reads.remove(Lpn(lpn), id);
                    free.push(id);
                }
                _ => {}
            }
            assert_eq!(reads.youngest.get(Lpn(lpn)), plain[&lpn].last().copied().unwrap_or(TxnId::NONE));
        }
        assert!(taken > 1_000, "{taken}");
    }
}
