//! What the tracker knows of the newest command of each unit, and of the pages that are its members.

use alloc::vec::Vec;

use flashlane_core::transaction::FlashOp;
use flashlane_core::{RequestId, Time, UnitId};

/// A flash transaction that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    /// The I/O it belongs to; `None` for the device's own.
    pub request: Option<RequestId>,
    pub op: FlashOp,
    pub bytes: u32,
    /// The unit and the command it is a member of.
    pub command: Option<(UnitId, u64)>,
}

/// What a unit's newest command is.
#[derive(Clone, Debug, Default)]
pub(super) struct Command {
    pub serial: u64,
    pub op: Option<FlashOp>,
    pub pages: Vec<Page>,
    /// Pages that have ended.
    pub ended: usize,
    /// Beginning and end of its array phase; the end counts as known only when it has come. `None` after that.
    pub array: Option<(Time, Time)>,
    /// When each of its pages began to cross the bus. The next page's beginning is reported before the last one's end.
    pub starts: Vec<Time>,
}

impl Command {
    /// Whether one of its pages is on the bus.
    pub fn is_on_bus(&self) -> bool {
        self.starts.len() > self.ended
    }

    /// Pages that have crossed the bus.
    pub fn out(&self) -> usize {
        if self.is_on_bus() { self.starts.len() - 1 } else { self.ended }
    }
}
