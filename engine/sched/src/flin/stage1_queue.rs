//! A queue as stage 1 sees it (FLIN §4.1, algorithm 1).
//!
//! The board's queue is a linked list; this is a copy of it in the same order, of what stage 1 computes with. Transactions of low
//! intensity always stand before those of high intensity: tags are given on joining and never changed (D-FLN-05).

use flashlane_core::{FlowId, TxnId};

use super::region::{Entry, Region};

/// The waiting transactions of a queue, head first: those of low intensity, those of high intensity up to the last barrier, and those
/// behind every barrier.
#[derive(Clone, Default, Debug)]
pub(crate) struct Stage1Queue {
    pub(crate) low: Region,
    /// Ends in a barrier, or is empty.
    barred: Region,
    pub(crate) open: Region,
}

impl Stage1Queue {
    /// An empty queue with reserved space.
    pub(crate) fn new() -> Stage1Queue {
        Stage1Queue { low: Region::new(), barred: Region::default(), open: Region::new() }
    }

    /// The service of everything before the open region, ns.
    #[inline]
    pub(crate) fn service_before_open(&self) -> u64 {
        self.low.service() + self.barred.service()
    }

    /// The waiting transactions, head first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.low.iter().chain(self.barred.iter()).chain(self.open.iter())
    }

    /// Inserts an entry of low intensity at a place of its region. Returns the transaction it stands in front of.
    pub(crate) fn insert_low(&mut self, place: usize, entry: Entry) -> TxnId {
        let behind = self.low.insert(place, entry);
        let first = |region: &Region| region.first().map(|entry| entry.txn);
        behind.or_else(|| first(&self.barred)).or_else(|| first(&self.open)).unwrap_or(TxnId::NONE)
    }

    /// Inserts an entry of high intensity at a place of the open region. Returns the transaction it stands in front of.
    pub(crate) fn insert_open(&mut self, place: usize, entry: Entry) -> TxnId {
        if !entry.barrier {
            return self.open.insert(place, entry).unwrap_or(TxnId::NONE);
        }
        for _ in 0..place {
            let passed = self.open.pop_first();
            self.barred.insert(self.barred.len(), passed);
        }
        self.barred.insert(self.barred.len(), entry);
        self.open.first().map_or(TxnId::NONE, |behind| behind.txn)
    }

    /// Removes `txn`; `was_high` if it was ever of high intensity: one that was placed anew may be of low intensity since.
    pub(crate) fn remove(&mut self, txn: TxnId, was_high: bool) {
        if was_high && self.open.remove(txn) {
            return;
        }
        if was_high && self.barred.remove(txn) {
            // Behind the last barrier that is left everything is open.
            while self.barred.last().is_some_and(|last| !last.barrier) {
                let freed = self.barred.pop_last();
                self.open.insert(0, freed);
            }
            return;
        }
        let found = self.low.remove(txn);
        assert!(found, "it waits here");
    }

    /// Step 2b's place in the open region for a transaction of `flow`: behind the last of its own flow (D-FLN-08).
    pub(crate) fn front_of_open(&self, flow: FlowId) -> usize {
        self.open.behind(flow)
    }
}

#[cfg(test)]
#[path = "stage1_queue_tests.rs"]
mod tests;
