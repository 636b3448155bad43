//! Reads that are older than a write of their page which goes to another plane (SOS, model 4.1.2, D-SOS-16).
//!
//! A read follows its page while that stays on its plane: garbage collection may move it there, and a younger write of it may take it to
//! another page of the plane. When a younger write takes it to another plane, the reads of it that have not ended keep the copy that
//! the page had until then, and pin its block: it is not erased before they end ([`crate::gc::Gc::pin`]). They stay where they are,
//! in the queue of the unit that has the copy.
//!
//! Owns, by logical page, the reads that have not ended and follow it. Only where pages leave their home plane; elsewhere no read
//! is recorded. Memory is bounded by the transactions in flight.

use alloc::vec::Vec;

use flashlane_core::{Lpn, Transaction, TxnId};

use super::Device;
use crate::lpn_table::LpnTable;

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
        if !self.policy.is_place_static() {
            self.older_reads.add(lpn, id);
        }
    }

    /// Whether a read keeps the copy that its page had before a younger write took that to another plane.
    #[inline(always)]
    pub(super) fn keeps_copy(&self, read: TxnId) -> bool {
        !self.policy.is_place_static() && self.older_reads.reads[read.index()].source != Source::Current
    }

    /// Called before a write takes `lpn` to another plane: the reads of it that have not ended keep its copy.
    #[inline(never)]
    pub(super) fn keep_copies(&mut self, lpn: Lpn) {
        let mut id = self.older_reads.take_all(lpn);
        if id.is_none() {
            return;
        }
        let source = if self.ftl.is_written(lpn) { Source::Kept } else { Source::KeptBlank };
        let ppa = self.ftl.lookup(lpn);
        while id.is_some() {
            let read = &mut self.older_reads.reads[id.index()];
            let older = read.older;
            read.source = source;
            let txn = self.state.board.txn_mut(id);
            txn.ppa = ppa.0;
            debug_assert_eq!(txn.plane, self.ftl.plane_of(lpn), "a read waits where its page is");
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
    use alloc::collections::BTreeMap;

    use super::*;

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
