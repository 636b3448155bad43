//! For every 64 blocks of a plane a count of valid pages that no sealed one of them is below, so that the emptiest is found
//! without a look at all.
//!
//! Lowered as blocks are sealed and lose pages, and raised by who finds it too low: the emptiest has been erased, or is not
//! full yet. It must never know blocks' states.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// Blocks that share a count.
const TOGETHER: usize = 64;

/// The counts of a plane.
#[derive(Debug)]
pub(crate) struct GroupMinima(Vec<u16>);

impl GroupMinima {
    /// Those of so many blocks, of which nothing is known.
    pub(crate) fn new(blocks: usize) -> GroupMinima {
        GroupMinima(vec![0; blocks.div_ceil(TOGETHER)])
    }

    /// The block is sealed, or has lost a page: so many are valid.
    #[inline(always)]
    pub(crate) fn note(&mut self, block: u32, valid: u16) {
        let low = &mut self.0[block as usize / TOGETHER];
        *low = valid.min(*low);
    }

    /// The least count, and the first of the plane's `blocks` that it is of.
    #[inline]
    pub(crate) fn lowest(&self, blocks: usize) -> (u16, Range<usize>) {
        let low = self.0.iter().copied().fold(u16::MAX, u16::min);
        let some = self.0.iter().position(|&other| other == low).unwrap_or(0) * TOGETHER;
        (low, some..blocks.min(some + TOGETHER))
    }

    /// No sealed block of those that begin with `first` is below `least`.
    #[inline]
    pub(crate) fn raise(&mut self, first: usize, least: u16) {
        let low = &mut self.0[first / TOGETHER];
        debug_assert!(least > *low, "a sealed block is below its low");
        *low = least;
    }
}
