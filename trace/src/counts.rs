//! What a trace source hands out and counts.

use flashlane_core::Op;
use serde::Serialize;

/// What was read so far and what became of it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct TraceCounts {
    /// Lines read (records of a binary trace), over all loops.
    pub lines: u64,
    /// Lines that are legal and no request: headers, comments, other actions, blank operations.
    pub skipped: u64,
    /// Requests of other devices than the one asked for.
    pub filtered: u64,
    /// Requests read, without those passed over by the offset.
    pub requests: u64,
    /// Of these, left out: beyond the drive, or of an illegal size.
    pub rejected: u64,
    /// Of these, moved to their predecessor's time.
    pub clamped: u64,
    /// Of these, moved onto the drive.
    pub wrapped: u64,
}

impl TraceCounts {
    /// Requests handed out.
    pub fn issued(&self) -> u64 {
        self.requests - self.rejected
    }
}

/// A request after the options: on the run's time axis and on the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Shaped {
    pub at_ns: u64,
    pub offset: u64,
    pub length: u64,
    pub op: Op,
    pub device: u32,
}
