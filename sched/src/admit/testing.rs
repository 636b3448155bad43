//! Submission queues to test admission with.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::FlowId;
use flashlane_core::decide::{Head, Heads};

/// The heads of the submission queues.
pub(super) struct Line {
    /// Whether a queue the flow needs has no room.
    pub(super) full: Box<dyn Fn(FlowId) -> bool>,
    /// By flow.
    pub(super) heads: Vec<Option<Head>>,
}

impl Line {
    /// Whose every queue has room.
    pub(super) fn open() -> Line {
        Line::full(|_| false)
    }

    /// Whose queues have no room where `full` says so.
    pub(super) fn full(full: impl Fn(FlowId) -> bool + 'static) -> Line {
        Line { full: Box::new(full), heads: vec![] }
    }
}

impl Heads for Line {
    fn full(&self, flow: FlowId) -> bool {
        (self.full)(flow)
    }

    fn head(&self, flow: FlowId) -> Option<Head> {
        self.heads.get(flow.index()).copied().flatten()
    }
}
