//! A queue as stage 1 sees it, and the place in it that is fairest (FLIN §4.1, algorithm 1, and §5.3).
//!
//! The board's queue is a linked list; this is a copy of it in the same order, an array of what stage 1 computes with, so
//! that its two passes read contiguous memory. Transactions of low intensity always stand before those of high intensity:
//! tags are given on joining and never changed (D-FLN-05).

use alloc::vec::Vec;

use flashlane_core::{FlowId, Time, TxnId};

use super::slowdown::{Extremes, Slowdown};

/// A waiting transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// When it joined.
    pub(crate) enqueued: u64,
    /// Its service time, ns.
    pub(crate) service: u64,
    /// Its alone time, ns; at least 1.
    pub(crate) alone: u64,
    pub(crate) txn: TxnId,
    pub(crate) flow: FlowId,
    /// It was moved forward once and may not be passed (D-FLN-08).
    pub(crate) barrier: bool,
}

impl Entry {
    /// Its slowdown if its service begins `wait` ns from `now` (eq. 3, 5).
    #[inline(always)]
    pub(crate) fn slowdown(&self, now: u64, wait: u64) -> Slowdown {
        Slowdown::new(now - self.enqueued + wait + self.service, self.alone)
    }
}

/// The waiting transactions of a queue.
#[derive(Clone, Default, Debug)]
pub(crate) struct Stage1Queue {
    /// The queue is `entries[head..]`: most transactions leave at the head, and then no entry moves.
    entries: Vec<Entry>,
    head: usize,
    /// Waiting transactions of low intensity; they stand before all others.
    low_intensity: usize,
    /// The first place behind every barrier.
    open: usize,
}

impl Stage1Queue {
    /// An empty queue with reserved space.
    pub(crate) fn new() -> Stage1Queue {
        Stage1Queue { entries: Vec::with_capacity(128), ..Stage1Queue::default() }
    }

    /// The waiting transactions, head first.
    #[inline]
    pub(crate) fn waiting(&self) -> &[Entry] {
        &self.entries[self.head..]
    }

    /// How many transactions of low intensity wait.
    #[inline]
    pub(crate) fn low_intensity(&self) -> usize {
        self.low_intensity
    }

    /// The first place behind all transactions of low intensity and every barrier.
    #[inline]
    pub(crate) fn open(&self) -> usize {
        self.open.max(self.low_intensity)
    }

    /// Step 2b's place for a transaction of `flow`: behind those of low intensity, the last barrier, and the last of its
    /// own flow (D-FLN-08).
    pub(crate) fn front_of_high(&self, flow: FlowId) -> usize {
        let from = self.open();
        self.waiting()[from..].iter().rposition(|entry| entry.flow == flow).map_or(from, |last| from + last + 1)
    }

    /// Inserts `entry` at `place`. Returns the transaction it stands in front of.
    pub(crate) fn insert(&mut self, place: usize, entry: Entry, low: bool) -> TxnId {
        let before = self.waiting().get(place).map_or(TxnId::NONE, |behind| behind.txn);
        if self.entries.len() == self.entries.capacity() && self.head > self.entries.len() / 4 {
            self.entries.drain(..self.head);
            self.head = 0;
        }
        if self.head > 0 && place < self.entries.len() - self.head - place {
            // The shorter part moves.
            self.entries.copy_within(self.head..self.head + place, self.head - 1);
            self.head -= 1;
            self.entries[self.head + place] = entry;
        } else {
            self.entries.insert(self.head + place, entry);
        }
        self.low_intensity += usize::from(low);
        if entry.barrier {
            self.open = place + 1;
        } else if place < self.open {
            self.open += 1;
        }
        before
    }

    /// Removes `txn`.
    pub(crate) fn remove(&mut self, txn: TxnId) {
        let place = self.waiting().iter().position(|entry| entry.txn == txn).expect("it waits here");
        let barrier = self.entries[self.head + place].barrier;
        if place <= self.waiting().len() / 2 {
            self.entries.copy_within(self.head..self.head + place, self.head + 1);
            self.head += 1;
            if self.head == self.entries.len() {
                self.entries.clear();
                self.head = 0;
            }
        } else {
            self.entries.remove(self.head + place);
        }
        self.low_intensity -= usize::from(place < self.low_intensity);
        if barrier && place + 1 == self.open {
            let waiting = &self.entries[self.head..][..place];
            self.open = waiting.iter().rposition(|entry| entry.barrier).map_or(0, |last| last + 1);
        } else if place < self.open {
            self.open -= 1;
        }
    }
}

/// The instant a queue is looked at, and how long its first transaction would wait from then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) now: Time,
    /// Until the chip is free and everything before the region has been served (eq. 5), ns.
    pub(crate) ahead: u64,
}

/// The place in `region` for `new`, which stands behind all of it, that makes the slowdowns of all of them fairest;
/// the last of equals (FLIN §5.3, D-FLN-07). `prefix` is space to work in.
///
/// Two passes. The first, from the head, computes all slowdowns with `new` at the tail. The second moves `new` forward a
/// place at a time: each transaction it passes waits longer by its service, those before it wait as before. The slowdowns of
/// the passed ones alone bound the fairness of every place nearer to the head, so the pass ends when that bound is no better
/// than the best place found.
pub(crate) fn fairest_place(view: View, region: &[Entry], new: &Entry, prefix: &mut Vec<Extremes>) -> usize {
    let now = view.now.ns();
    let mut wait = view.ahead;
    let mut before = Extremes::NONE;
    prefix.clear();
    for entry in region {
        prefix.push(before);
        before = before.with(entry.slowdown(now, wait));
        wait += entry.service;
    }
    let (mut best, mut place) = (before.with(new.slowdown(now, wait)), region.len());
    let mut passed = Extremes::NONE;
    for (p, entry) in region.iter().enumerate().rev() {
        wait -= entry.service;
        passed = passed.with(entry.slowdown(now, wait + new.service));
        if !passed.is_fairer_than(best) {
            break;
        }
        let here = prefix[p].and(passed).with(new.slowdown(now, wait));
        if here.is_fairer_than(best) {
            (best, place) = (here, p);
        }
    }
    place
}

#[cfg(test)]
#[path = "stage1_queue_tests.rs"]
mod tests;
