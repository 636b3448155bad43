//! One plane of a drive by itself, for preconditioning by replay.
//!
//! Before the run no page leaves its home plane, so what is written to one plane does not touch another. A plane needs less than
//! the drive: a map in each direction, of a few megabytes, which stay in the processor's caches. A physical page is valid if the page that
//! it was last written for lies there. Logical pages are the plane's own, numbered as they lie in its stripe position.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::geometry::Stripe;
use flashlane_core::{Divisor, Lpn, PlaneId, Ppa};
use prefetch_index::prefetch_index;

use super::Ftl;
use super::initial::Initial;
use super::pool::{Pool, Stream};
use super::reverse::Segment;
use crate::config::Config;

/// In the reverse map: a physical page that was not written.
const NOT_WRITTEN: u32 = u32::MAX;
/// Why a plane always has a page to write to.
const ROOM: &str = "the configuration check leaves a plane blocks to collect";
/// How many pages ahead the map entry of a page that may be moved is prefetched.
const PREFETCH_DISTANCE: usize = 48;

/// The first state of a drive's planes, from which each is made when it is needed. Not for the steady state.
#[derive(Debug)]
pub struct PlaneStates {
    config: Config,
    initial: Initial,
    /// The stripe position of each plane.
    positions: Vec<u32>,
    open_pages: Vec<u32>,
}

impl PlaneStates {
    /// The state of `config`, by formula.
    pub fn new(config: &Config) -> PlaneStates {
        let initial = Initial::new(config);
        let open_pages = initial.open_pages(config).collect();
        let positions = Stripe::new(&config.geometry, config.ftl.order).positions();
        PlaneStates { config: config.clone(), initial, positions, open_pages }
    }

    /// The stripe position of each plane: logical page `local` of the plane at `position` is page `local * planes + position` of the drive.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// One plane, full of logical pages in their order.
    pub fn plane(&self, plane: PlaneId) -> PlaneReplay {
        let (geometry, logical) = (&self.config.geometry, self.initial.pages_of(self.positions[plane.index()]));
        let pages = geometry.pages_per_block;
        let valid = (0..geometry.blocks_per_plane).map(|block| logical.saturating_sub(block * pages).min(pages) as u16);
        let open = self.open_pages[plane.index()];
        let in_order = |local| self.initial.address(local).0;
        let mut reverse = vec![NOT_WRITTEN; geometry.pages_per_plane() as usize];
        (0..logical).for_each(|local| reverse[in_order(local) as usize] = local);
        PlaneReplay {
            pool: Pool::new(&self.config, self.initial.sealed(), open, valid.collect(), |_| Segment::NOT_KEPT),
            pages,
            block_size: Divisor::new(pages),
            forward: (0..logical).map(in_order).collect(),
            reverse,
        }
    }
}

/// A plane by itself.
#[derive(Debug)]
pub struct PlaneReplay {
    pool: Pool,
    /// Pages of a block.
    pages: u32,
    block_size: Divisor,
    /// By logical page: its physical page.
    forward: Vec<u32>,
    /// By physical page: the logical page that it was last written for.
    reverse: Vec<u32>,
}

impl PlaneReplay {
    /// Its blocks, and the pages of each.
    pub fn pool_mut(&mut self) -> (&mut Pool, u32) {
        (&mut self.pool, self.pages)
    }

    /// Erased blocks.
    pub fn free_blocks(&self) -> u32 {
        self.pool.free_blocks()
    }

    /// Prefetches the map entry of a page that will be written.
    pub fn prefetch(&self, lpn: Lpn) {
        prefetch_index(&self.forward, lpn.0 as usize);
    }

    /// Writes a logical page anew. The plane must have a free page for it.
    pub fn write(&mut self, lpn: Lpn) {
        let fresh = self.pool.take_page(Stream::User, self.pages, |_| Segment::NOT_KEPT).expect(ROOM).ppa;
        let old = core::mem::replace(&mut self.forward[lpn.0 as usize], fresh.0);
        self.reverse[fresh.0 as usize] = lpn.0;
        self.pool.lost_a_page(self.block_size.quotient(old.into()) as u32);
    }

    /// Moves the valid pages of a victim elsewhere, in their order, and erases it.
    pub fn empty(&mut self, block: u32) {
        let mut page = block * self.pages;
        let mut left = u32::from(self.pool.valid_when_sealed()[block as usize]);
        while left > 0 {
            let run = self.pool.take_pages_for_moves(left, self.pages, |_| Segment::NOT_KEPT);
            let (Ppa(first), count) = run.expect(ROOM);
            for to in first..first + count {
                let lpn = self.next_valid(&mut page);
                self.forward[lpn as usize] = to;
                self.reverse[to as usize] = lpn;
            }
            left -= count;
        }
        self.pool.erased(block, self.pages);
    }

    /// The logical page of the first valid page from `page` on; `page` is then the one after it.
    #[inline(always)]
    fn next_valid(&self, page: &mut u32) -> u32 {
        loop {
            if let Some(&later) = self.reverse.get(*page as usize + PREFETCH_DISTANCE) {
                prefetch_index(&self.forward, later as usize);
            }
            let lpn = self.reverse[*page as usize];
            let is_valid = self.forward.get(lpn as usize) == Some(page);
            *page += 1;
            if is_valid {
                return lpn;
            }
        }
    }
}

impl Ftl {
    /// Gives every block its segment of the reverse map, so that it does not depend on the order in which planes are put in.
    pub fn open_all_blocks(&mut self) {
        for plane in (0..self.geometry.planes() as u16).map(PlaneId) {
            for block in 0..self.geometry.blocks_per_plane {
                self.reverse.open(plane, block);
            }
        }
    }

    /// Puts `one_plane`, which was made of `plane`, in its place. Erases so far are not counted.
    pub fn put_in(&mut self, plane: PlaneId, one_plane: PlaneReplay) {
        let (planes, position) = (self.geometry.planes(), self.map.positions()[plane.index()]);
        let lpn = |local: u32| Lpn(local * planes + position);
        self.validity.invalidate_all(plane);
        for (local, ppa) in (0..).zip(one_plane.forward.iter().map(|&ppa| Ppa(ppa))) {
            self.map.set(lpn(local), plane, ppa);
            self.validity.validate(plane, ppa);
        }
        for (block, pages) in (0..).zip(one_plane.reverse.chunks(one_plane.pages as usize)) {
            let segment = self.reverse.open(plane, block);
            for (page, &local) in (0..).zip(pages).filter(|&(_, &local)| local != NOT_WRITTEN) {
                self.reverse.set(segment, page, lpn(local));
            }
        }
        let mut pool = one_plane.pool;
        pool.reset_wear();
        pool.rename_segments(|block| self.reverse.open(plane, block));
        self.pools[plane.index()] = pool;
    }

    /// The blocks of a plane as text, to be compared.
    #[cfg(test)]
    pub fn blocks_in_words(&self, plane: PlaneId) -> alloc::string::String {
        self.pools[plane.index()].describe()
    }
}
