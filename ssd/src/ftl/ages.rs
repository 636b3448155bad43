//! When the blocks of a plane were sealed and last lost a page, counted in seals; for choices of a victim.

use alloc::vec::Vec;

/// The ages of a plane's blocks.
#[derive(Debug)]
pub(crate) struct Ages {
    seals: u64,
    sealed_at: Vec<u64>,
    /// Empty where no choice of a victim looks at it.
    touched_at: Vec<u64>,
}

impl Ages {
    /// Those of so many blocks, sealed one after the other before the run.
    pub(crate) fn new(blocks: u32, keeps_touches: bool) -> Ages {
        let sealed_at: Vec<u64> = (0..u64::from(blocks)).collect();
        let touched_at = if keeps_touches { sealed_at.clone() } else { Vec::new() };
        Ages { seals: u64::from(blocks), sealed_at, touched_at }
    }

    /// The block has just been sealed.
    pub(crate) fn sealed(&mut self, block: u32) {
        self.sealed_at[block as usize] = self.seals;
        self.touched(block);
        self.seals += 1;
    }

    /// The block has just been sealed or lost a page.
    pub(crate) fn touched(&mut self, block: u32) {
        if let Some(at) = self.touched_at.get_mut(block as usize) {
            *at = self.seals;
        }
    }

    /// The seal count when the block was sealed.
    pub(crate) fn sealed_at(&self, block: u32) -> u64 {
        self.sealed_at[block as usize]
    }

    /// Seals since the block last lost a page.
    pub(crate) fn since_touched(&self, block: u32) -> u64 {
        self.seals - self.touched_at[block as usize] + 1
    }
}
