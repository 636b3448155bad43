//! The configuration of the SLC cache (model 0.14).

use flashlane_core::{Duration, choices};

/// Blocks in SLC mode, with one bit a cell, that take writes first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SlcCache {
    /// Blocks of a plane that are always in SLC mode: its last ones. They hold no data before the first request.
    pub static_blocks: u32,
    /// Free blocks beyond [`Gc::start_blocks`] may be opened in SLC mode too, until they are erased.
    pub dynamic: bool,
    /// Most blocks of a plane that `dynamic` has in SLC mode at a time; `u32::MAX` for no limit.
    pub dynamic_limit: u32,
    /// Bits a cell of the other blocks: a block in SLC mode has `pages_per_block / bits` pages.
    pub bits: u32,
    /// Array time of a page read in SLC mode.
    pub read: Duration,
    /// Array time of a page program in SLC mode.
    pub program: Duration,
    /// Array time of an erase of a block in SLC mode.
    pub erase: Duration,
    /// Folding begins when no user transaction has been in the device for this long; `None` for never.
    pub idle: Option<Duration>,
    /// What a write does when the cache is full.
    pub full: FullCache,
}

choices! {
    /// What a write does when the SLC cache is full.
    pub enum FullCache {
        /// It waits until a block has been folded.
        Fold = "fold",
        /// It goes to native cells.
        Direct = "direct",
    }
}
