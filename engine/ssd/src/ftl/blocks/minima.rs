//! For every group of 64 blocks of a plane, a lower bound of the valid pages of its sealed blocks. The emptiest block is found
//! from these bounds without scanning all blocks.
//!
//! A bound is lowered when a block is sealed or loses a valid page. It can become too low, when the emptiest block of the group
//! has been erased or is not full yet; the search for a victim then raises it. Must never know the states of blocks.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use serde::{Deserialize, Serialize};

/// Blocks of a group.
const GROUP: usize = 64;

/// The lower bounds of a plane's groups.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GroupMinima(Vec<u16>);

impl GroupMinima {
    /// The bounds for `blocks` blocks: all zero, as nothing is known of the blocks yet.
    pub(crate) fn new(blocks: usize) -> GroupMinima {
        GroupMinima(vec![0; blocks.div_ceil(GROUP)])
    }

    /// Records that the block was sealed or lost a page and now has `valid` valid pages.
    #[inline(always)]
    pub(crate) fn note(&mut self, block: u32, valid: u16) {
        let low = &mut self.0[block as usize / GROUP];
        *low = valid.min(*low);
    }

    /// The least bound of the plane's groups, and the blocks of the first group that has it. `blocks` is the plane's number of
    /// blocks.
    #[inline]
    pub(crate) fn lowest(&self, blocks: usize) -> (u16, Range<usize>) {
        let low = self.0.iter().copied().fold(u16::MAX, u16::min);
        let first = self.0.iter().position(|&other| other == low).unwrap_or(0) * GROUP;
        (low, first..blocks.min(first + GROUP))
    }

    /// Raises the bound of the group that begins at block `first`: none of its sealed blocks has fewer than `least` valid pages.
    #[inline]
    pub(crate) fn raise(&mut self, first: usize, least: u16) {
        let low = &mut self.0[first / GROUP];
        debug_assert!(least > *low, "a sealed block is below its low");
        *low = least;
    }
}
