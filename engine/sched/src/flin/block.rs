//! Blocks: transactions that stand together in a queue, and their extreme slowdowns.
//!
//! A look at a block as a whole costs a few steps ([`Envelope`]) once its envelope has been worked out, which happens after several
//! looks without a change: a block that changes often is cheaper to visit.

use alloc::vec::Vec;

use flashlane_core::{FlowId, TxnId};

use super::envelope::{BLOCK, Envelope, Line};
use super::slowdown::{Extremes, Slowdown};

/// Looks at an unchanged block after which its envelope is worked out: that costs about as much as they do.
const LOOKS: u8 = 8;

/// A waiting transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// When it joined.
    pub(crate) enqueued: u64,
    /// Its service time, ns.
    pub(crate) service: u64,
    /// Its alone time, ns; at least 1.
    pub(crate) isolated: u64,
    pub(crate) txn: TxnId,
    pub(crate) flow: FlowId,
    /// It was moved forward once and may not be passed (D-FLN-08).
    pub(crate) barrier: bool,
}

impl Entry {
    /// Its slowdown if its service begins at `begins` (eq. 3, 5).
    #[inline(always)]
    pub(crate) fn slowdown(&self, begins: u64) -> Slowdown {
        Slowdown::new(begins + self.service - self.enqueued, self.isolated)
    }

    /// Its slowdown over the instant at which the service of its block begins, `before` ns of service before its own.
    fn line(&self, before: u64) -> Line {
        Line { offset: (before + self.service) as i64 - self.enqueued as i64, isolated: self.isolated }
    }
}

/// Transactions that stand together.
#[derive(Clone, Default, Debug)]
pub(super) struct Block {
    /// They are `entries[head..]`: most leave at the head, and then none moves.
    entries: Vec<Entry>,
    head: usize,
    /// Their service, ns.
    pub(super) service: u64,
    envelope: Envelope,
    /// Service of those that have left at the head since the envelope was worked out: its lines count it still.
    gone: u64,
    /// Looks at the block as a whole since it last changed; [`LOOKS`] when the envelope holds.
    looks: u8,
}

impl Block {
    pub(super) fn waiting(&self) -> &[Entry] {
        &self.entries[self.head..]
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.head
    }

    pub(super) fn has_envelope(&self) -> bool {
        self.looks == LOOKS
    }

    pub(super) fn insert(&mut self, place: usize, entry: Entry) {
        if self.head > 0 && place < self.len() / 2 {
            self.entries.copy_within(self.head..self.head + place, self.head - 1);
            self.head -= 1;
            self.entries[self.head + place] = entry;
        } else {
            if self.head > 0 && self.entries.len() == self.entries.capacity() {
                self.entries.drain(..self.head);
                self.head = 0;
            }
            self.entries.insert(self.head + place, entry);
        }
        self.service += entry.service;
        self.looks = 0;
    }

    pub(super) fn remove(&mut self, place: usize) -> Entry {
        let entry = self.entries[self.head + place];
        self.service -= entry.service;
        if place > 0 {
            self.looks = 0;
        } else if self.has_envelope() {
            if self.envelope.has(entry.line(self.gone)) {
                self.looks = 0;
            }
            self.gone += entry.service;
        }
        if place <= self.len() / 2 {
            self.entries.copy_within(self.head..self.head + place, self.head + 1);
            self.head += 1;
        } else {
            self.entries.remove(self.head + place);
        }
        entry
    }

    /// An empty block with reserved space.
    pub(super) fn with_space() -> Block {
        Block { entries: Vec::with_capacity(BLOCK), ..Block::default() }
    }

    /// Moves the second half of the block to the empty block `half`.
    pub(super) fn split(&mut self, half: &mut Block) {
        half.entries.extend(self.entries.drain(self.head + self.len() / 2..));
        half.service = half.entries.iter().map(|entry| entry.service).sum();
        self.service -= half.service;
        self.looks = 0;
    }

    /// Empties the block; its space stays.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        (self.head, self.service, self.gone, self.looks) = (0, 0, 0, 0);
    }

    /// The extremes of its slowdowns if its service begins at `begins`.
    #[inline]
    pub(super) fn extremes(&mut self, begins: u64, lines: &mut Vec<Line>) -> Extremes {
        if self.has_envelope() {
            return self.envelope.at(begins.wrapping_sub(self.gone));
        }
        self.looks += 1;
        if self.has_envelope() {
            lines.clear();
            let mut before = 0;
            for entry in &self.entries[self.head..] {
                lines.push(entry.line(before));
                before += entry.service;
            }
            self.envelope.build(lines);
            self.gone = 0;
            return self.envelope.at(begins);
        }
        let mut at = begins;
        self.waiting().iter().fold(Extremes::NONE, |all, entry| {
            let slowdown = entry.slowdown(at);
            at += entry.service;
            all.with(slowdown)
        })
    }
}
