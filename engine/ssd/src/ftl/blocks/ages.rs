//! When each block of a plane was sealed and when it last lost a page, for the choice of a victim. Time is counted in blocks
//! sealed so far.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// The ages of a plane's blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ages {
    seals: u64,
    sealed_at: Vec<u64>,
    /// Empty unless the victim policy reads it.
    touched_at: Vec<u64>,
}

impl Ages {
    /// The ages of `blocks` blocks that were sealed one after the other before the run.
    pub(crate) fn new(blocks: u32, keeps_touches: bool) -> Ages {
        let sealed_at: Vec<u64> = (0..u64::from(blocks)).collect();
        let touched_at = if keeps_touches { sealed_at.clone() } else { Vec::new() };
        Ages { seals: u64::from(blocks), sealed_at, touched_at }
    }

    /// Records that the block was sealed.
    pub(crate) fn sealed(&mut self, block: u32) {
        self.sealed_at[block as usize] = self.seals;
        self.touched(block);
        self.seals += 1;
    }

    /// Records that the block was sealed or lost a page.
    pub(crate) fn touched(&mut self, block: u32) {
        if let Some(at) = self.touched_at.get_mut(block as usize) {
            *at = self.seals;
        }
    }

    /// How many blocks had been sealed when this one was.
    pub(crate) fn sealed_at(&self, block: u32) -> u64 {
        self.sealed_at[block as usize]
    }

    /// Blocks sealed since this one last lost a page, plus one.
    pub(crate) fn since_touched(&self, block: u32) -> u64 {
        self.seals - self.touched_at[block as usize] + 1
    }
}
