//! The blocks of one plane: free, open, sealed, or being emptied.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::Ppa;
use prefetch_index::prefetch_index;

use super::ages::Ages;
use super::group_minima::GroupMinima;
use super::reverse::Row;
use crate::config::{Config, Victim};

/// Blocks valid_when_sealed back for garbage collection: with one, a victim can always be emptied.
const RESERVE: u32 = 1;

/// Who writes a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// The host, or the buffer for it.
    User,
    /// Garbage collection.
    Gc,
}

/// State of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Block {
    /// Erased.
    Free,
    /// Takes pages.
    Open,
    /// Full.
    Sealed,
    /// Being emptied.
    Victim,
}

/// A block that takes pages.
#[derive(Clone, Copy, Debug)]
struct Frontier {
    block: u32,
    next: u32,
    row: Row,
}

/// A page handed out to be written: where it lies in its plane and in its block, and the block's row in the reverse map.
pub(super) struct FreshPage {
    pub(super) ppa: Ppa,
    pub(super) page: u32,
    pub(super) row: Row,
}

/// The blocks of one plane. What every page that is written looks at comes first.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Pool {
    free: VecDeque<u32>,
    frontiers: [Option<Frontier>; 2],
    /// Pages that can still be written before anything is erased.
    free_pages: u32,
    /// Whether more has changed than the number of pages written: a block was opened or filled, or no victim was found when one
    /// was wanted. Whoever acts on it takes it back.
    pub(crate) board_stale: bool,
    separate: bool,
    wear_aware: bool,
    keeps_ages: bool,
    /// Pages of each block but for those that were overwritten elsewhere since it was opened: of a sealed block its valid pages. Those
    /// still to be written, and those that garbage collection has moved away, are among them.
    valid_when_sealed: Vec<u16>,
    minima: GroupMinima,
    blocks: Vec<Block>,
    erases: Vec<u32>,
    ages: Ages,
}

impl Pool {
    /// A plane of `config` whose first `sealed` blocks are full, whose next is open with `open_pages` written, and the rest
    /// free; so many pages of each are valid. `row` gives the row of a block.
    pub(super) fn new(
        config: &Config,
        sealed: u32,
        open_pages: u32,
        valid: Vec<u16>,
        row: impl FnOnce(u32) -> Row,
    ) -> Pool {
        let (blocks, pages) = (config.geometry.blocks_per_plane, config.geometry.pages_per_block);
        let keeps_ages = config.gc.victim == Victim::CostBenefit;
        let mut states = vec![Block::Free; blocks as usize];
        states[..sealed as usize].fill(Block::Sealed);
        let mut user = None;
        let mut first_free = sealed;
        let mut valid_when_sealed = valid;
        if open_pages > 0 {
            valid_when_sealed[sealed as usize] += (pages - open_pages) as u16;
            states[sealed as usize] = Block::Open;
            user = Some(Frontier { block: sealed, next: open_pages, row: row(sealed) });
            first_free += 1;
        }
        Pool {
            free: (first_free..blocks).collect(),
            blocks: states,
            minima: GroupMinima::new(valid_when_sealed.len()),
            valid_when_sealed,
            erases: vec![0; blocks as usize],
            keeps_ages,
            ages: Ages::new(blocks, keeps_ages),
            free_pages: (blocks - sealed) * pages - open_pages,
            frontiers: [user, None],
            board_stale: true,
            separate: config.gc.separate_frontier,
            wear_aware: config.ftl.wear_aware,
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
        self.free_pages
    }

    /// Page offset of the next user program.
    #[inline]
    pub(super) fn next_page(&self, pages: u32) -> u32 {
        self.frontiers[0].map_or(0, |f| if f.next == pages { 0 } else { f.next })
    }

    /// Whether a page for `stream` is the next of those the host gets.
    #[inline]
    pub(super) fn is_hosts(&self, stream: Stream) -> bool {
        stream == Stream::User || !self.separate
    }

    /// Whether the host can be given a page. Where moves share its open block, the last block is theirs alone.
    #[inline]
    pub(super) fn has_room(&self, pages: u32) -> bool {
        let open = self.frontiers[0].is_some_and(|f| f.next < pages);
        (open && (self.separate || self.free_blocks() >= RESERVE)) || self.free_blocks() > RESERVE
    }

    /// The next physical page of a stream; `row` gives the row of a block.
    #[inline(always)]
    pub(super) fn take_page(&mut self, stream: Stream, pages: u32, row: impl FnOnce(u32) -> Row) -> Option<FreshPage> {
        let which = if stream == Stream::Gc && self.separate { 1 } else { 0 };
        if stream == Stream::User && !self.has_room(pages) {
            return None;
        }
        let mut frontier = match self.frontiers[which] {
            Some(frontier) if frontier.next < pages => frontier,
            _ => self.open_block(pages, row)?,
        };
        let page = frontier.next;
        let fresh = FreshPage { ppa: Ppa(frontier.block * pages + page), page, row: frontier.row };
        frontier.next += 1;
        self.frontiers[which] = Some(frontier);
        self.free_pages -= 1;
        if frontier.next == pages {
            self.seal(frontier.block);
        }
        Some(fresh)
    }

    /// Opens an erased block.
    #[cold]
    fn open_block(&mut self, pages: u32, row: impl FnOnce(u32) -> Row) -> Option<Frontier> {
        let block = self.take_block()?;
        self.board_stale = true;
        self.valid_when_sealed[block as usize] = pages as u16;
        self.blocks[block as usize] = Block::Open;
        Some(Frontier { block, next: 0, row: row(block) })
    }

    /// A block is full.
    #[cold]
    fn seal(&mut self, block: u32) {
        self.board_stale = true;
        self.blocks[block as usize] = Block::Sealed;
        self.minima.note(block, self.valid_when_sealed[block as usize]);
        self.ages.sealed(block);
    }

    fn take_block(&mut self) -> Option<u32> {
        if !self.wear_aware {
            return self.free.pop_front();
        }
        let least = (0..self.free.len()).min_by_key(|&i| self.erases[self.free[i] as usize])?;
        self.free.remove(least)
    }

    /// One of the block's pages was overwritten elsewhere.
    #[inline]
    pub(super) fn lost_a_page(&mut self, block: u32) {
        self.valid_when_sealed[block as usize] -= 1;
        self.minima.note(block, self.valid_when_sealed[block as usize]);
        if self.keeps_ages {
            self.ages.touched(block);
        }
    }

    /// Prefetches what the loss of one of the block's pages changes.
    #[inline]
    pub(super) fn prefetch(&self, block: u32) {
        prefetch_index(&self.valid_when_sealed, block as usize);
    }

    /// Pages of each block, of which those of sealed blocks are the valid ones (see [`Pool::valid_when_sealed`]).
    pub(crate) fn valid_when_sealed(&self) -> &[u16] {
        &self.valid_when_sealed
    }

    /// The block is going to be emptied.
    pub(crate) fn becomes_victim(&mut self, block: u32) {
        debug_assert!(self.is_sealed(block));
        self.blocks[block as usize] = Block::Victim;
    }

    /// The block was erased.
    pub(super) fn erased(&mut self, block: u32, pages: u32) {
        debug_assert_eq!(self.blocks[block as usize], Block::Victim);
        self.blocks[block as usize] = Block::Free;
        self.erases[block as usize] += 1;
        self.free.push_back(block);
        self.free_pages += pages;
    }

    /// Whether the block is full and not being emptied.
    #[inline]
    pub(crate) fn is_sealed(&self, block: u32) -> bool {
        self.blocks[block as usize] == Block::Sealed
    }

    /// States of all blocks, pages of each as [`Pool::valid_when_sealed`] has them, and their minima.
    pub(crate) fn counts(&mut self) -> (&[Block], &[u16], &mut GroupMinima) {
        (&self.blocks, &self.valid_when_sealed, &mut self.minima)
    }

    /// When blocks were sealed and last lost a page; the latter only for [`Victim::CostBenefit`].
    pub(crate) fn ages(&self) -> &Ages {
        &self.ages
    }

    /// Programmed pages of a block.
    pub(super) fn written(&self, block: u32, pages: u32) -> u32 {
        match self.blocks[block as usize] {
            Block::Free => 0,
            // A frontier that is full stays where it was until its stream needs a page, and its block may be open again by then.
            Block::Open => {
                let open = |f: &&Frontier| f.block == block && f.next < pages;
                self.frontiers.iter().flatten().find(open).map_or(0, |f| f.next)
            }
            Block::Sealed | Block::Victim => pages,
        }
    }

    /// Free pages counted equal those of the free blocks and the open ones, and valid pages those of `bits`, by block; for
    /// tests.
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
                Block::Victim => assert!(
                    bits <= valid_when_sealed,
                    "block {block} is a victim: {bits} of {valid_when_sealed} are left"
                ),
            }
        }
    }

    /// All blocks count as never erased.
    pub(super) fn reset_wear(&mut self) {
        self.erases.fill(0);
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
        /// Blocks in these states with so many valid pages, and nothing open.
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
                valid_when_sealed,
                minima: GroupMinima::new(count),
                blocks,
                erases: vec![0; count],
                ages: Ages::new(count as u32, false),
            }
        }
    }

    /// The host's block is full, emptied and erased while the host writes nothing, and moves go to it next.
    #[test]
    fn a_block_opened_again_is_not_taken_for_the_full_one_it_was() {
        let pages = 4;
        let mut pool = Pool::of(vec![Block::Victim, Block::Sealed], vec![0, 4]);
        pool.frontiers[0] = Some(Frontier { block: 0, next: pages, row: Row::ANY });
        assert_eq!(pool.written(0, pages), 4);
        pool.erased(0, pages);
        assert_eq!(pool.written(0, pages), 0);
        let fresh = pool.take_page(Stream::Gc, pages, |_| Row::ANY).unwrap();
        assert_eq!((fresh.ppa, fresh.page), (Ppa(0), 0));
        assert_eq!(pool.written(0, pages), 1);
        pool.check(pages, |block| if block == 0 { 1 } else { 4 });
    }
}
