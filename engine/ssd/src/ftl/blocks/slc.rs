//! The SLC cache of a plane: which of its blocks are in SLC mode, where the next page goes in them, and which is folded next.
//!
//! Static blocks are always in SLC mode. With `dynamic`, erased native blocks beyond those that garbage collection wants free are opened in
//! SLC mode too, up to a limit, and are native again once erased. A block in SLC mode has fewer pages, the first ones of the block. Full
//! blocks are folded in the order in which they were filled. Must never know when folding begins.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use flashlane_core::Ppa;
use serde::{Deserialize, Serialize};

use super::{Block, FreshPage, Pool, RESERVE};
use crate::config::{Config, FullCache, SlcCache};
use crate::ftl::reverse::Segment;

/// The block that takes pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Open {
    block: u32,
    next: u32,
}

/// The blocks of a plane that are in SLC mode.
#[derive(Clone, Debug)]
pub(crate) struct SlcBlocks {
    /// Pages of a block in SLC mode.
    pages: u32,
    /// Static blocks are those from this one on.
    first_static: u32,
    /// Blocks in SLC mode that are native once erased, and the most of them.
    dynamic: u32,
    most_dynamic: u32,
    full: FullCache,
    /// Writes that go to native cells are whole wordlines.
    beside_wordlines: bool,
    /// Dynamic blocks leave at least this many erased native blocks.
    min_free: u32,
    /// By block, whether it is in SLC mode.
    modes: Vec<bool>,
    /// Erased static blocks, in the order of their erases.
    free: VecDeque<u32>,
    open: Option<Open>,
    /// Full blocks, in the order in which they were filled.
    filled: VecDeque<u32>,
    /// The block that is being folded.
    folding: Option<u32>,
    /// Whether it is counted as full.
    counted_full: bool,
}

/// Which blocks of a plane are in SLC mode while none is folded, besides what the plane's tables say of them.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct SlcState {
    /// The block that takes pages, and the next of its pages.
    pub open: Option<(u32, u32)>,
    /// Full blocks, in the order in which they were filled.
    pub filled: Vec<u32>,
    /// Erased static blocks, in the order in which they will be opened.
    pub erased: Vec<u32>,
}

impl SlcBlocks {
    /// The empty cache of a plane of `config`.
    pub(crate) fn new(config: &Config, slc: &SlcCache) -> SlcBlocks {
        let (blocks, first_static) = (config.geometry.blocks_per_plane, config.native_blocks());
        let mut modes = vec![false; blocks as usize];
        modes[first_static as usize..].fill(true);
        SlcBlocks {
            pages: config.geometry.pages_per_block / slc.bits,
            first_static,
            dynamic: 0,
            most_dynamic: if slc.dynamic { slc.dynamic_limit } else { 0 },
            full: slc.full,
            beside_wordlines: config.passes_cache(),
            min_free: config.gc.start_blocks,
            modes,
            free: (first_static..blocks).collect(),
            open: None,
            filled: VecDeque::new(),
            folding: None,
            counted_full: false,
        }
    }

    /// The cache of a plane of `config` in this state; `None` if that is of another drive.
    fn in_state(config: &Config, slc: &SlcCache, state: &SlcState) -> Option<SlcBlocks> {
        let mut cache = SlcBlocks::new(config, slc);
        let open = state.open.map(|(block, next)| Open { block, next });
        let blocks: Vec<u32> = open.iter().map(|open| open.block).chain(state.filled.iter().copied()).collect();
        // Every static block is there once, and every other at most once.
        let mut seen = vec![false; cache.modes.len()];
        for &block in blocks.iter().chain(&state.erased) {
            if mem::replace(seen.get_mut(block as usize)?, true) {
                return None;
            }
        }
        cache.dynamic = blocks.iter().filter(|&&block| block < cache.first_static).count() as u32;
        let all_static = seen[cache.first_static as usize..].iter().all(|&seen| seen);
        let erased_fit = state.erased.iter().all(|&block| block >= cache.first_static);
        let dynamic_fit = cache.dynamic <= cache.most_dynamic;
        if !all_static || !erased_fit || !dynamic_fit || open.is_some_and(|open| open.next >= cache.pages) {
            return None;
        }
        blocks.iter().for_each(|&block| cache.modes[block as usize] = true);
        (cache.free, cache.open, cache.filled) =
            (state.erased.iter().copied().collect(), open, state.filled.iter().copied().collect());
        Some(cache)
    }

    /// Its state; no block may be being folded.
    fn state(&self) -> SlcState {
        debug_assert!(self.folding.is_none(), "stored while a block is folded");
        let list = |blocks: &VecDeque<u32>| blocks.iter().copied().collect();
        let open = self.open.map(|open| (open.block, open.next));
        SlcState { open, filled: list(&self.filled), erased: list(&self.free) }
    }

    /// Pages of a block in SLC mode.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// Whether a block is in SLC mode.
    #[inline]
    pub(super) fn holds(&self, block: u32) -> bool {
        self.modes[block as usize]
    }

    /// Whether the next page goes to an open block.
    fn has_open(&self) -> bool {
        self.open.is_some_and(|open| open.next < self.pages)
    }

    /// Whether a write gets a page in SLC mode, with this many erased native blocks.
    pub(super) fn has_free_page(&self, native_free: u32) -> bool {
        let may_open = self.dynamic < self.most_dynamic && native_free > self.min_free;
        self.has_open() || !self.free.is_empty() || may_open
    }

    /// Whether writes for which the cache has a page wait all the same while there is none in native cells: a wordline that waits needs one there.
    pub(super) fn needs_native_page(&self) -> bool {
        self.beside_wordlines
    }

    /// Pages that writes get in SLC mode before any block is erased, with this many erased native blocks.
    pub(super) fn pages_left(&self, native_free: u32) -> u32 {
        let may_open = (self.most_dynamic - self.dynamic).min(native_free.saturating_sub(self.min_free));
        self.free_pages() + may_open * self.pages
    }

    /// Whether a write that gets no page in SLC mode may go to native cells. Where there is no block to fold, waiting would not help.
    pub(super) fn lets_pass(&self) -> bool {
        self.full == FullCache::Direct || self.filled.is_empty() && self.folding.is_none()
    }

    /// Pages that can still be written in SLC mode without another native block.
    pub(super) fn free_pages(&self) -> u32 {
        let open = self.open.map_or(0, |open| self.pages - open.next);
        open + self.free.len() as u32 * self.pages
    }

    /// Page offset in its block of the next page.
    pub(super) fn next_page(&self) -> u32 {
        self.open.map_or(0, |open| open.next % self.pages)
    }

    /// Whether a block must be opened before the next page is taken.
    pub(super) fn needs_block(&self) -> bool {
        !self.has_open()
    }

    /// An erased static block.
    pub(super) fn take_static(&mut self) -> Option<u32> {
        self.free.pop_front()
    }

    /// Opens an erased block.
    pub(super) fn opens(&mut self, block: u32) {
        self.modes[block as usize] = true;
        self.dynamic += u32::from(block < self.first_static);
        self.open = Some(Open { block, next: 0 });
    }

    /// Takes the next page of the open block: the block, and the page in it.
    pub(super) fn take(&mut self) -> (u32, u32) {
        let open = self.open.as_mut().expect("a block was opened");
        let Open { block, next } = *open;
        open.next = next + 1;
        if next + 1 == self.pages {
            self.filled.push_back(block);
            self.open = None;
        }
        (block, next)
    }

    /// Gives up the next page of the open block if that is not the first of a row of `slots` pages.
    fn pad(&mut self, slots: u32) -> Option<(u32, u32)> {
        self.open.filter(|open| !open.next.is_multiple_of(slots))?;
        Some(self.take())
    }

    /// Programmed pages of a block in SLC mode.
    pub(super) fn written(&self, block: u32) -> u32 {
        match self.open {
            Some(open) if open.block == block => open.next,
            _ if self.free.contains(&block) => 0,
            _ => self.pages,
        }
    }

    /// Full blocks, in the order in which they are folded: each with whether it is a native block once erased.
    pub(super) fn filled(&self) -> impl Iterator<Item = (u32, bool)> {
        self.filled.iter().map(|&block| (block, block < self.first_static))
    }

    /// A full block is being folded.
    pub(super) fn begins_fold(&mut self, block: u32) {
        self.filled.retain(|&filled| filled != block);
        self.folding = Some(block);
    }

    /// Records the erase of a block in SLC mode. Returns whether it is a native block now.
    pub(super) fn erased(&mut self, block: u32) -> bool {
        self.folding = None;
        let is_native = block < self.first_static;
        self.modes[block as usize] = !is_native;
        self.dynamic -= u32::from(is_native);
        if !is_native {
            self.free.push_back(block);
        }
        is_native
    }

    /// Whether a block is being folded whose erase gives no native block, while its pages need native ones.
    pub(super) fn folds_static(&self) -> bool {
        self.folding.is_some_and(|block| block >= self.first_static)
    }
}

// The plane's pool with its blocks in SLC mode.

impl Pool {
    /// From now on writes go first to the blocks that are in SLC mode, where nothing is yet.
    pub(crate) fn begin_slc(&mut self, slc: SlcBlocks) {
        self.slc = Some(Box::new(slc));
    }

    /// The same with the blocks in SLC mode of an earlier use, which are in this plane's tables; `None` if they are of another drive.
    pub(crate) fn begin_slc_in(&mut self, config: &Config, slc: &SlcCache, state: &SlcState) -> Option<()> {
        let slc = SlcBlocks::in_state(config, slc, state)?;
        let agrees = |(block, &is): (u32, &Block)| (is == Block::Slc) == slc.holds(block);
        (0..).zip(&self.blocks).all(agrees).then(|| self.begin_slc(slc))
    }

    /// Which blocks are in SLC mode, if any may be. None may be being folded.
    pub(crate) fn slc_state(&self) -> Option<SlcState> {
        self.slc.as_ref().map(|slc| slc.state())
    }

    /// Whether blocks may be in SLC mode.
    #[inline]
    pub(crate) fn has_slc(&self) -> bool {
        self.slc.is_some()
    }

    /// Whether the cache counts as full from now on, if that is new.
    pub(crate) fn cache_became_full(&mut self) -> Option<bool> {
        let is_full = self.slc_pages_for_writes() == 0;
        let slc = self.slc.as_mut()?;
        (mem::replace(&mut slc.counted_full, is_full) != is_full).then_some(is_full)
    }

    /// The cache does not count as full.
    pub(crate) fn forget_full_cache(&mut self) {
        self.slc.iter_mut().for_each(|slc| slc.counted_full = false);
    }

    /// Whether a block is in SLC mode.
    #[inline]
    pub(crate) fn is_slc(&self, block: u32) -> bool {
        self.slc.as_ref().is_some_and(|slc| slc.holds(block))
    }

    /// The next page in SLC mode; there must be one.
    #[inline(never)]
    pub(super) fn take_slc_page(&mut self, pages: u32, segment: impl FnOnce(u32) -> Segment) -> Option<FreshPage> {
        let mut slc = self.slc.take()?;
        if slc.needs_block() {
            let block = match slc.take_static() {
                Some(block) => block,
                None => {
                    self.free_pages -= pages;
                    self.take_block()?
                }
            };
            slc.opens(block);
            self.valid_when_sealed[block as usize] = slc.pages() as u16;
            self.blocks[block as usize] = Block::Slc;
        }
        let (block, page) = slc.take();
        self.slc = Some(slc);
        Some(FreshPage { ppa: Ppa(block * pages + page), page, segment: segment(block) })
    }

    /// Gives up the next page in SLC mode if that is not the first of a row of `slots` pages: it is invalid at once.
    #[cold]
    pub(crate) fn pad_slc(&mut self, pages: u32, slots: u32) -> Option<Ppa> {
        let (block, page) = self.slc.as_mut()?.pad(slots)?;
        self.valid_when_sealed[block as usize] -= 1;
        self.minima.note(block, self.valid_when_sealed[block as usize]);
        Some(Ppa(block * pages + page))
    }

    /// Pages of a block in SLC mode that are still to be written; none of one that is erased, whose valid pages are not counted.
    pub(super) fn slc_pages_left(&self, block: u32) -> u32 {
        match self.slc.as_ref().map(|slc| (slc.pages(), slc.written(block))) {
            None | Some((_, 0)) => 0,
            Some((pages, written)) => pages - written,
        }
    }

    /// Makes the next block in SLC mode to be folded a victim: the full one that was filled first. With `native_only`, static blocks do not
    /// count; otherwise one is skipped while moving its pages could take the native block reserved for moves, which its erase does not
    /// replace. `None` if there is none. Moved pages fill wordlines of `wordline` pages.
    pub(crate) fn begin_fold(&mut self, native_only: bool, pages: u32, wordline: u32) -> Option<u32> {
        let own_block = if self.separate { self.frontiers[1].map_or(0, |f| pages - f.next) } else { 0 };
        let moved = |block: u32| u32::from(self.valid_when_sealed[block as usize]).next_multiple_of(wordline);
        let fits = |block: u32| self.free_blocks() > RESERVE || moved(block) <= own_block;
        let may_go = |&(block, is_native): &(u32, bool)| is_native || !native_only && fits(block);
        let (block, _) = self.slc.as_ref()?.filled().find(may_go)?;
        self.becomes_victim(block);
        self.slc.as_mut()?.begins_fold(block);
        Some(block)
    }

    /// Valid pages in SLC mode.
    pub(crate) fn valid_slc_pages(&self) -> u32 {
        let Some(slc) = &self.slc else { return 0 };
        let valid = |block: u32| match self.blocks[block as usize] {
            Block::Slc => u32::from(self.valid_when_sealed[block as usize]) - self.slc_pages_left(block),
            _ => 0,
        };
        (0..self.blocks.len() as u32).filter(|&block| slc.holds(block)).map(valid).sum()
    }
}
