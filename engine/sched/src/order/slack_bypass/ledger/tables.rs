//! The entries of the ledger's tables, without any logic.

use flashlane_core::TxnId;

/// No segment.
pub(super) const NONE: u32 = u32::MAX;

/// A segment of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) first: TxnId,
    pub(super) last: TxnId,
    pub(super) len: u32,
    /// The segments before and behind it.
    pub(super) ahead: u32,
    pub(super) behind: u32,
    /// Subtracted from the slack of every transaction in it, ns, since it was made.
    pub(super) taken: u64,
    /// No transaction in it has less slack than this less `taken`, ns.
    pub(super) least: u64,
}

/// What is kept of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueState {
    /// Its last segment, [`NONE`] if it is not cut up.
    pub(super) last: u32,
    /// New transactions that were given their place here.
    pub(super) newcomers: u32,
    /// Changes of other kinds.
    pub(super) changes: u32,
}

impl QueueState {
    pub(super) const UNCUT: QueueState = QueueState { last: NONE, newcomers: 0, changes: 0 };
}

/// What is known of a waiting transaction beside its notes on the board.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its segment, [`NONE`] for none.
    pub(super) segment: u32,
    /// How many it passed, and the queue's two counts when it had joined.
    pub(super) passed: u32,
    pub(super) newcomers: u32,
    pub(super) changes: u32,
    /// What it owes of the slack noted on the board, ns, without what was taken from its segment; modulo 2^64.
    pub(super) owes: u64,
}

impl Entry {
    pub(super) const NONE: Entry = Entry { segment: NONE, passed: 0, newcomers: 0, changes: 0, owes: 0 };
}
