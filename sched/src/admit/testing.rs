//! Submission queues to test admission with.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::FlowId;
use flashlane_core::decide::{Head, Heads};

/// The submission queues of all flows.
pub(super) struct Queues {
    /// Whether a queue the flow needs has no room.
    pub(super) full: Box<dyn Fn(FlowId) -> bool>,
    /// By flow.
    pub(super) heads: Vec<Option<Head>>,
}

impl Queues {
    /// Every queue has room.
    pub(super) fn open() -> Queues {
        Queues::full(|_| false)
    }

    /// The queues of flows for which `full` holds have no room.
    pub(super) fn full(full: impl Fn(FlowId) -> bool + 'static) -> Queues {
        Queues { full: Box::new(full), heads: vec![] }
    }
}

impl Heads for Queues {
    fn full(&self, flow: FlowId) -> bool {
        (self.full)(flow)
    }

    fn head(&self, flow: FlowId) -> Option<Head> {
        self.heads.get(flow.index()).copied().flatten()
    }
}
