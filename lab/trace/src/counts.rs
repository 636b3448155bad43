//! The requests that a trace source yields, and its counts.

use std::fmt;

use flashlane_core::Op;
use flashlane_outputs::shown::counted;
use serde::Serialize;

/// Counts of what was read so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct TraceCounts {
    /// Lines read (records of a binary trace), over all loops.
    pub lines: u64,
    /// Legal lines that are no requests: headers, comments, other actions, blank operations.
    pub skipped: u64,
    /// Requests of other devices than the one asked for.
    pub filtered: u64,
    /// Requests of devices over others, which appear again at the lower ones and are read there (block traces).
    #[serde(skip_serializing_if = "is_zero")]
    pub stacked: u64,
    /// Last lines that were cut off, and are left out: only of a record of `flashlane serve`.
    #[serde(skip_serializing_if = "is_zero")]
    pub cut_off: u64,
    /// Requests read, not counting those skipped by the offset.
    pub requests: u64,
    /// Of these, those left out: beyond the drive, or of an illegal size.
    pub rejected: u64,
    /// Those by kind, by [`Op::index`].
    #[serde(skip)]
    pub rejected_by_kind: [u64; Op::ALL.len()],
    /// Of these, those moved to their predecessor's time.
    pub clamped: u64,
    /// Of these, those wrapped into the drive.
    pub wrapped: u64,
    /// Of these, those put before others that stand before them in the file.
    #[serde(flatten)]
    pub sorted: Sorted,
}

/// What sorting a trace by time has moved.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Sorted {
    /// Requests moved forward.
    #[serde(rename = "sorted", skip_serializing_if = "is_zero")]
    pub requests: u64,
    /// The most places that one was moved.
    #[serde(rename = "sorted_places", skip_serializing_if = "is_zero")]
    pub places: u64,
    /// The furthest that a time goes back behind the latest one before it, ns.
    #[serde(rename = "sorted_back_ns", skip_serializing_if = "is_zero")]
    pub back_ns: u64,
}

impl fmt::Display for Sorted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sorted { requests, places, back_ns } = self;
        write!(
            f,
            "{requests} put before others by their times, the furthest by {}; times go back by at most {back_ns} ns",
            counted(*places, "place")
        )
    }
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl TraceCounts {
    /// Counts a request that is left out.
    pub(super) fn reject(&mut self, op: Op) {
        self.rejected += 1;
        self.rejected_by_kind[op.index()] += 1;
    }

    /// Requests yielded.
    pub fn issued(&self) -> u64 {
        self.requests - self.rejected
    }
}

/// A request after the options: on the run's time axis and on the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AdaptedRequest {
    pub at_ns: u64,
    pub offset: u64,
    pub length: u64,
    pub op: Op,
    /// Of a write: with force unit access.
    pub fua: bool,
    pub device: u32,
}

impl AdaptedRequest {
    /// A placeholder.
    pub const NONE: AdaptedRequest =
        AdaptedRequest { at_ns: 0, offset: 0, length: 0, op: Op::Read, fua: false, device: 0 };
}
