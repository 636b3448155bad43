//! The blocks of a plane: which are free, open, sealed, in SLC mode, or being emptied.

mod ages;
mod minima;
mod slc;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

pub(crate) use ages::Ages;
use flashlane_core::Ppa;
pub(crate) use minima::GroupMinima;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
pub(super) use slc::SlcBlocks;
pub use slc::SlcState;

use super::reverse::Segment;
use crate::config::{Config, Victim};

/// Free blocks reserved for garbage collection: with one, a victim can always be emptied.
const RESERVE: u32 = 1;

/// What a page is written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// A host write, directly or from the page buffer.
    User,
    /// The same, of a wordline: in native cells.
    Wordline,
    /// A page move of garbage collection.
    Gc,
    /// A page move of folding, to native cells.
    Fold,
}

/// State of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Block {
    /// Erased.
    Free,
    /// Takes pages.
    Open,
    /// Full.
    Sealed,
    /// Being emptied.
    Victim,
    /// In SLC mode, or kept for that, and not being emptied.
    Slc,
}

/// A block that takes pages.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Frontier {
    block: u32,
    next: u32,
    segment: Segment,
}

/// A page handed out to be written: its address in the plane, its number in the block, and the block's segment of the
/// reverse map.
pub(super) struct FreshPage {
    pub(super) ppa: Ppa,
    pub(super) page: u32,
    pub(super) segment: Segment,
}

/// The blocks of one plane. The fields that every page write uses come first, in one cache line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Pool {
    free: VecDeque<u32>,
    frontiers: [Option<Frontier>; 2],
    /// Pages that can still be written before anything is erased.
    free_pages: u32,
    /// Whether more has changed than the number of pages written: a block was opened or filled, or no victim was found when one
    /// was needed. Cleared by [`super::Ftl::publish_page`].
    pub(crate) board_stale: bool,
    separate: bool,
    wear_aware: bool,
    keeps_ages: bool,
    /// For each block its pages less those invalidated by overwrites since it was opened. In a sealed block that is the number of
    /// valid pages. In an open block, pages still to be written are included; in a victim, pages already moved away are.
    valid_when_sealed: Vec<u16>,
    minima: GroupMinima,
    blocks: Vec<Block>,
    erases: Vec<u32>,
    /// No free block was erased less often than this.
    #[serde(skip)]
    fewest_erases: u32,
    ages: Ages,
    /// The blocks in SLC mode, once the run has begun. What is stored of a drive has nothing in them.
    #[serde(skip)]
    slc: Option<Box<SlcBlocks>>,
}

impl Pool {
    /// Whether it is of a plane of the same size.
    pub(super) fn fits(&self, other: &Pool) -> bool {
        self.blocks.len() == other.blocks.len()
    }

    /// A plane of `config`: the first `sealed` blocks are full, the next is open with `open_pages` written (none is open if 0),
    /// the rest are free. `valid` has the valid pages of each block. `segment` returns a block's segment of the reverse map.
    pub(super) fn new(
        config: &Config,
        sealed: u32,
        open_pages: u32,
        valid: Vec<u16>,
        segment: impl FnOnce(u32) -> Segment,
    ) -> Pool {
        let (blocks, pages) = (config.geometry.blocks_per_plane, config.geometry.pages_per_block);
        let keeps_ages = config.gc.victim == Victim::CostBenefit;
        let mut states = vec![Block::Free; blocks as usize];
        let native = config.native_blocks();
        states[..sealed as usize].fill(Block::Sealed);
        states[native as usize..].fill(Block::Slc);
        let mut user = None;
        let mut first_free = sealed;
        let mut valid_when_sealed = valid;
        if open_pages > 0 {
            valid_when_sealed[sealed as usize] += (pages - open_pages) as u16;
            states[sealed as usize] = Block::Open;
            user = Some(Frontier { block: sealed, next: open_pages, segment: segment(sealed) });
            first_free += 1;
        }
        Pool {
            free: (first_free..native).collect(),
            blocks: states,
            minima: GroupMinima::new(valid_when_sealed.len()),
            valid_when_sealed,
            erases: vec![0; blocks as usize],
            fewest_erases: 0,
            keeps_ages,
            ages: Ages::new(blocks, keeps_ages),
            free_pages: (native - sealed) * pages - open_pages,
            frontiers: [user, None],
            board_stale: true,
            separate: config.gc.separate_frontier,
            wear_aware: config.ftl.wear_aware,
            slc: None,
        }
    }

    /// Erased blocks.
    #[inline]
    pub(super) fn free_blocks(&self) -> u32 {
        self.free.len() as u32
    }

    /// Pages that can still be written before anything is erased.
    #[inline]
    pub(super) fn free_pages(&self) -> u32 {
        self.free_pages + self.slc.as_ref().map_or(0, |slc| slc.free_pages())
    }

    /// Those of them that are native.
    pub(super) fn native_free_pages(&self) -> u32 {
        self.free_pages
    }

    /// Page offset in its block of the next page the host gets.
    #[inline]
    pub(super) fn next_page(&self, pages: u32) -> u32 {
        if let Some(slc) = self.slc.as_ref().filter(|slc| slc.has_free_page(self.free_blocks())) {
            return slc.next_page();
        }
        self.next_native_page(pages)
    }

    /// Whether pages for `stream` come from the host's open block.
    #[inline]
    pub(super) fn uses_host_block(&self, stream: Stream) -> bool {
        matches!(stream, Stream::User | Stream::Wordline) || !self.separate
    }

    /// Whether the host can be given a page. The last free block is reserved for moves. If moves share the host's open
    /// block, that one is reserved too while no block is free.
    #[inline]
    pub(super) fn has_free_page(&self, pages: u32) -> bool {
        match &self.slc {
            None => self.has_native_page(pages, RESERVE),
            Some(slc) => {
                let native = self.has_native_page(pages, RESERVE + u32::from(slc.folds_static()));
                let in_cache = slc.has_free_page(self.free_blocks());
                if slc.needs_native_page() {
                    return native && (in_cache || slc.lets_pass());
                }
                in_cache || slc.lets_pass() && native
            }
        }
    }

    /// Pages that the host gets in SLC mode before any block is erased.
    pub(super) fn slc_pages_for_writes(&self) -> u32 {
        self.slc.as_ref().map_or(0, |slc| slc.pages_left(self.free_blocks()))
    }

    /// Whether the host gets a page in SLC mode now, or where it waits for folds once a block has been folded.
    pub(super) fn slc_will_have_page(&self) -> bool {
        self.slc.as_ref().is_some_and(|slc| slc.has_free_page(self.free_blocks()) || !slc.lets_pass())
    }

    /// Page offset in its block of the next page that a wordline of the host gets.
    pub(super) fn next_native_page(&self, pages: u32) -> u32 {
        self.frontiers[0].map_or(0, |f| if f.next == pages { 0 } else { f.next })
    }

    /// Whether the host can be given a page in native cells while `kept` blocks are reserved.
    #[inline]
    fn has_native_page(&self, pages: u32, kept: u32) -> bool {
        let open = self.frontiers[0].is_some_and(|f| f.next < pages);
        (open && (self.separate || self.free_blocks() >= kept)) || self.free_blocks() > kept
    }

    /// The next physical page of a stream. `segment` returns a block's segment of the reverse map.
    #[inline(always)]
    pub(super) fn take_page(
        &mut self,
        stream: Stream,
        pages: u32,
        segment: impl FnOnce(u32) -> Segment,
    ) -> Option<FreshPage> {
        if stream == Stream::User {
            if !self.has_free_page(pages) {
                return None;
            }
            if self.slc.as_ref().is_some_and(|slc| slc.has_free_page(self.free_blocks())) {
                return self.take_slc_page(pages, segment);
            }
        }
        let (first, _) = self.take(stream, 1, pages, segment)?;
        Some(FreshPage { ppa: Ppa(first.block * pages + first.next), page: first.next, segment: first.segment })
    }

    /// The next physical pages of a stream of moves, at most `most`, one after the other in one block: the first, and their number.
    #[inline]
    pub(super) fn take_pages_for_moves(
        &mut self,
        stream: Stream,
        most: u32,
        pages: u32,
        segment: impl FnOnce(u32) -> Segment,
    ) -> Option<(FreshPage, u32)> {
        let (first, count) = self.take(stream, most, pages, segment)?;
        let ppa = Ppa(first.block * pages + first.next);
        Some((FreshPage { ppa, page: first.next, segment: first.segment }, count))
    }

    /// Gives up the next page of a stream's open block if that is not the first of a wordline of `wordline` pages: it is invalid at once.
    #[cold]
    pub(super) fn pad(&mut self, stream: Stream, pages: u32, wordline: u32) -> Option<Ppa> {
        let which = usize::from(!self.uses_host_block(stream));
        let frontier = self.frontiers[which].as_mut().filter(|frontier| !frontier.next.is_multiple_of(wordline))?;
        let Frontier { block, next, .. } = *frontier;
        frontier.next = next + 1;
        self.free_pages -= 1;
        self.valid_when_sealed[block as usize] -= 1;
        self.minima.note(block, self.valid_when_sealed[block as usize]);
        if next + 1 == pages {
            self.seal(block);
        }
        Some(Ppa(block * pages + next))
    }

    /// Gives up the rest of wordlines of `wordline` pages that were begun before the run.
    pub(super) fn pad_before_run(&mut self, pages: u32, wordline: u32) {
        for frontier in self.frontiers.iter_mut().flatten() {
            let next = frontier.next.next_multiple_of(wordline);
            let padded = next - frontier.next;
            if padded == 0 {
                continue;
            }
            frontier.next = next;
            self.free_pages -= padded;
            let block = frontier.block as usize;
            self.valid_when_sealed[block] -= padded as u16;
            self.minima.note(frontier.block, self.valid_when_sealed[block]);
            if next == pages {
                self.blocks[block] = Block::Sealed;
            }
        }
    }

    /// Takes the next pages of a stream's open block, at most `most`: the frontier before, and how many.
    #[inline(always)]
    fn take(
        &mut self,
        stream: Stream,
        most: u32,
        pages: u32,
        segment: impl FnOnce(u32) -> Segment,
    ) -> Option<(Frontier, u32)> {
        let which = usize::from(!self.uses_host_block(stream));
        let first = match self.frontiers[which] {
            Some(frontier) if frontier.next < pages => frontier,
            _ => self.open_block(pages, segment)?,
        };
        let count = most.min(pages - first.next);
        let next = first.next + count;
        self.frontiers[which] = Some(Frontier { next, ..first });
        self.free_pages -= count;
        if next == pages {
            self.seal(first.block);
        }
        Some((first, count))
    }

    /// Opens an erased block.
    #[cold]
    fn open_block(&mut self, pages: u32, segment: impl FnOnce(u32) -> Segment) -> Option<Frontier> {
        let block = self.take_block()?;
        self.board_stale = true;
        self.valid_when_sealed[block as usize] = pages as u16;
        self.blocks[block as usize] = Block::Open;
        Some(Frontier { block, next: 0, segment: segment(block) })
    }

    /// Seals a block that has become full.
    #[cold]
    fn seal(&mut self, block: u32) {
        self.board_stale = true;
        self.blocks[block as usize] = Block::Sealed;
        self.minima.note(block, self.valid_when_sealed[block as usize]);
        self.ages.sealed(block);
    }

    /// Takes the free block that was erased first, or with wear levelling the first of those with the fewest erases.
    fn take_block(&mut self) -> Option<u32> {
        if !self.wear_aware {
            return self.free.pop_front();
        }
        let mut least: Option<(u32, usize)> = None;
        for (i, &block) in self.free.iter().enumerate() {
            let erases = self.erases[block as usize];
            if least.is_none_or(|(fewest, _)| erases < fewest) {
                least = Some((erases, i));
            }
            if erases == self.fewest_erases {
                break;
            }
        }
        let (fewest, at) = least?;
        self.fewest_erases = fewest;
        self.free.remove(at)
    }

    /// Records that one of the block's pages became invalid because its logical page was written again.
    #[inline]
    pub(super) fn lost_a_page(&mut self, block: u32) {
        self.valid_when_sealed[block as usize] -= 1;
        self.minima.note(block, self.valid_when_sealed[block as usize]);
        if self.keeps_ages {
            self.ages.touched(block);
        }
    }

    /// Prefetches the page count that [`Pool::lost_a_page`] changes.
    #[inline]
    pub(super) fn prefetch(&self, block: u32) {
        prefetch_index(&self.valid_when_sealed, block as usize);
    }

    /// Page counts by block; for a sealed block, its valid pages. (The field's comment says what they are for others.)
    pub(crate) fn valid_when_sealed(&self) -> &[u16] {
        &self.valid_when_sealed
    }

    /// Pages of the plane that hold the current copy of a logical page. While no victim is being emptied.
    pub(super) fn valid_pages(&self, pages: u32) -> u32 {
        let of_block = |(block, &valid): (usize, &u16)| match self.blocks[block] {
            Block::Free => 0,
            Block::Open => u32::from(valid) - (pages - self.written(block as u32, pages)),
            Block::Slc => u32::from(valid) - self.slc_pages_left(block as u32),
            Block::Sealed | Block::Victim => u32::from(valid),
        };
        self.valid_when_sealed.iter().enumerate().map(of_block).sum()
    }

    /// Marks a sealed block as the plane's victim.
    pub(crate) fn becomes_victim(&mut self, block: u32) {
        debug_assert!(self.is_sealed(block) || self.is_slc(block));
        self.blocks[block as usize] = Block::Victim;
    }

    /// Records the erase of a victim: its block is free again.
    pub(super) fn erased(&mut self, block: u32, pages: u32) {
        debug_assert_eq!(self.blocks[block as usize], Block::Victim);
        self.erases[block as usize] += 1;
        if let Some(slc) = self.slc.as_mut().filter(|slc| slc.holds(block))
            && !slc.erased(block)
        {
            self.blocks[block as usize] = Block::Slc;
            self.valid_when_sealed[block as usize] = 0;
            return;
        }
        self.blocks[block as usize] = Block::Free;
        self.fewest_erases = self.fewest_erases.min(self.erases[block as usize]);
        self.free.push_back(block);
        self.free_pages += pages;
    }

    /// Whether the block is full and not being emptied.
    #[inline]
    pub(crate) fn is_sealed(&self, block: u32) -> bool {
        self.blocks[block as usize] == Block::Sealed
    }

    /// The state of each block, its page count ([`Pool::valid_when_sealed`]), and the bounds for groups of blocks.
    pub(crate) fn counts(&mut self) -> (&[Block], &[u16], &mut GroupMinima) {
        (&self.blocks, &self.valid_when_sealed, &mut self.minima)
    }

    /// When each block was sealed and last lost a page; the latter is kept only for [`Victim::CostBenefit`].
    pub(crate) fn ages(&self) -> &Ages {
        &self.ages
    }

    /// Programmed pages of a block.
    pub(super) fn written(&self, block: u32, pages: u32) -> u32 {
        match self.blocks[block as usize] {
            Block::Free => 0,
            // A full frontier is replaced only when its stream needs a page. By then its block may have been erased and opened
            // again for the other stream.
            Block::Open => {
                let open = |f: &&Frontier| f.block == block && f.next < pages;
                self.frontiers.iter().flatten().find(open).map_or(0, |f| f.next)
            }
            Block::Sealed => pages,
            Block::Slc | Block::Victim => match self.slc.as_ref() {
                Some(slc) if slc.holds(block) => slc.written(block),
                None if self.blocks[block as usize] == Block::Slc => 0,
                _ => pages,
            },
        }
    }

    /// Checks the count of free pages against the free and open blocks, and each block's page count against its valid pages
    /// according to `bits`. For tests.
    pub(super) fn check(&self, pages: u32, bits: impl Fn(u32) -> u32) {
        let open: u32 = self.frontiers.iter().flatten().map(|f| pages - f.next).sum();
        assert_eq!(self.free_pages, self.free_blocks() * pages + open, "free pages");
        for (block, valid_when_sealed) in
            self.valid_when_sealed.iter().map(|&valid_when_sealed| u32::from(valid_when_sealed)).enumerate()
        {
            let (block, bits) = (block as u32, bits(block as u32));
            match self.blocks[block as usize] {
                Block::Free => assert_eq!(bits, 0, "block {block} is free"),
                Block::Open => {
                    assert_eq!(bits, valid_when_sealed - (pages - self.written(block, pages)), "block {block} is open")
                }
                Block::Sealed => assert_eq!(bits, valid_when_sealed, "block {block} is sealed"),
                Block::Slc => {
                    assert_eq!(bits, valid_when_sealed - self.slc_pages_left(block), "block {block} is in SLC mode")
                }
                Block::Victim => assert!(
                    bits <= valid_when_sealed,
                    "block {block} is a victim: {bits} of {valid_when_sealed} are left"
                ),
            }
        }
    }

    /// Replaces the segments of the open blocks by those that `segment` returns.
    pub(super) fn rename_segments(&mut self, mut segment: impl FnMut(u32) -> Segment) {
        for frontier in self.frontiers.iter_mut().flatten() {
            frontier.segment = segment(frontier.block);
        }
    }

    /// All of it as text, except the segments of the reverse map, whose numbers cannot be observed.
    #[cfg(test)]
    pub(super) fn describe(&self) -> alloc::string::String {
        let mut plain = self.clone();
        plain.rename_segments(|_| Segment::NOT_KEPT);
        alloc::format!("{plain:?}")
    }

    /// Sets all erase counts to zero.
    pub(super) fn reset_wear(&mut self) {
        self.erases.fill(0);
        self.fewest_erases = 0;
    }

    /// How often a block has been erased.
    pub(super) fn erases_of(&self, block: u32) -> u32 {
        self.erases[block as usize]
    }

    /// Erase counts of the blocks.
    pub(super) fn erase_counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.erases.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Pool {
        /// Blocks in these states with these page counts, and no frontier.
        pub(crate) fn of(blocks: Vec<Block>, valid_when_sealed: Vec<u16>) -> Pool {
            let count = blocks.len();
            Pool {
                free: VecDeque::new(),
                frontiers: [None, None],
                free_pages: 0,
                board_stale: false,
                separate: true,
                wear_aware: false,
                keeps_ages: false,
                slc: None,
                valid_when_sealed,
                minima: GroupMinima::new(count),
                blocks,
                erases: vec![0; count],
                fewest_erases: 0,
                ages: Ages::new(count as u32, false),
            }
        }
    }

    /// The host gets a page of its own open block, or of a new one while another stays free for moves. Of an open block that it shares with
    /// moves it gets one only while another block is free.
    #[test]
    fn the_last_free_block_is_for_moves() {
        for (separate, open, free, has_page) in [
            (true, Some(1), 0, true),
            (true, Some(4), 1, false),
            (true, None, 1, false),
            (true, None, 2, true),
            (false, Some(1), 0, false),
            (false, Some(1), 1, true),
            (false, Some(4), 1, false),
            (false, Some(4), 2, true),
        ] {
            let mut pool = Pool::of(vec![Block::Free; 4], vec![0; 4]);
            (pool.separate, pool.free) = (separate, (0..free).collect());
            pool.frontiers[0] = open.map(|next| Frontier { block: 3, next, segment: Segment::NOT_KEPT });
            assert_eq!(pool.has_free_page(4), has_page, "a block of its own: {separate}, next {open:?}, {free} free");
        }
    }

    /// What may share a command with a page depends on the page's offset in its block: behind a full block the first of the next.
    #[test]
    fn behind_a_full_block_comes_the_first_page_of_the_next() {
        let mut pool = Pool::of(vec![Block::Free; 3], vec![0; 3]);
        (pool.free, pool.free_pages) = ((0..3).collect(), 12);
        assert_eq!(pool.next_page(4), 0);
        let next = [0; 6].map(|_| {
            pool.take_page(Stream::User, 4, |_| Segment::NOT_KEPT).expect("a page");
            pool.next_page(4)
        });
        assert_eq!(next, [1, 2, 3, 0, 1, 2]);
    }

    /// Blocks 1, 2, 0 and 3 are erased in this order, block 1 for the second time. They are taken in this order; with levelling the least
    /// worn first, of equals the one that was erased first.
    #[test]
    fn of_free_blocks_worn_alike_the_first_erased_is_taken() {
        for (wear_aware, order) in [(false, [1, 2, 0, 3]), (true, [2, 0, 3, 1])] {
            let mut pool = Pool::of(vec![Block::Victim; 4], vec![0; 4]);
            (pool.wear_aware, pool.erases[1]) = (wear_aware, 1);
            for block in [1, 2, 0, 3] {
                pool.erased(block, 4);
            }
            assert_eq!([0; 4].map(|_| pool.take_block().expect("free")), order, "wear aware: {wear_aware}");
            assert_eq!(pool.take_block(), None);
        }
    }

    /// The host's block becomes full and is emptied and erased while the host writes nothing; then it is opened for moves.
    #[test]
    fn the_written_pages_of_a_reopened_block_are_counted_anew() {
        let pages = 4;
        let mut pool = Pool::of(vec![Block::Victim, Block::Sealed], vec![0, 4]);
        pool.frontiers[0] = Some(Frontier { block: 0, next: pages, segment: Segment::NOT_KEPT });
        assert_eq!(pool.written(0, pages), 4);
        pool.erased(0, pages);
        assert_eq!(pool.written(0, pages), 0);
        let fresh = pool.take_page(Stream::Gc, pages, |_| Segment::NOT_KEPT).unwrap();
        assert_eq!((fresh.ppa, fresh.page), (Ppa(0), 0));
        assert_eq!(pool.written(0, pages), 1);
        pool.check(pages, |block| if block == 0 { 1 } else { 4 });
    }
}
