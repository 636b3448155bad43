//! A request as it meets the block layer.

use flashlane_core::{FlowId, Op, RequestId};

/// A request of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bio {
    /// Its number; later ones have greater numbers.
    pub id: RequestId,
    /// Its flow.
    pub flow: FlowId,
    /// What it asks.
    pub op: Op,
    /// The address of its first byte in the drive.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

impl Bio {
    /// The place of its direction in pairs: reads 0, all else 1.
    pub(crate) fn direction(&self) -> usize {
        usize::from(self.op != Op::Read)
    }
}
