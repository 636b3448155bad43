//! The state of the drive before the first request (preconditioning, model 0.9): as a formula, or one plane at a time for a replay.
//!
//! By formula every plane starts in the same state: its first blocks are sealed, the next may be open, the rest are free. The valid
//! pages of a sealed block are spread evenly over it, and the plane's logical pages fill the valid pages in order. Lookups in either
//! direction search one small table that all planes share.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::geometry::Stripe;
use flashlane_core::{Divisor, Lpn, PlaneId, Ppa};
use prefetch_index::prefetch_index;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::Ftl;
use super::blocks::{FreshPage, Pool, Stream};
use super::reverse::{Reverse, Segment};
use crate::config::{Config, Precondition};

/// Logical pages between two hints.
const HINT: u32 = 64;

/// The initial state.
#[derive(Clone, Debug)]
pub struct Initial {
    /// `starts[b]`: valid pages in the blocks before `b`.
    starts: Vec<u32>,
    /// The block of every [`HINT`]-th logical page of a plane: where a lookup starts to search.
    hints: Vec<u32>,
    pages_per_block: u32,
    block_size: Divisor,
    /// Logical pages written before the run.
    data: u32,
    /// Those and the translation pages with entries of them.
    written: u32,
    /// Those of the plane that has most.
    longest: u32,
    planes: u32,
    /// Sealed blocks of a plane.
    sealed: u32,
    /// Pages written in the open block.
    open_pages: u32,
    steady: bool,
}

impl Initial {
    /// The state that `config` asks for.
    pub(super) fn new(config: &Config) -> Initial {
        let g = &config.geometry;
        let planes = g.planes();
        let pages = g.pages_per_block;
        let (data, steady) = match config.precondition {
            Precondition::Fresh => (0, false),
            Precondition::Filled { per_mille } => {
                ((u64::from(config.ftl.logical_pages) * u64::from(per_mille) / 1000) as u32, false)
            }
            Precondition::Replayed { .. } => (config.ftl.logical_pages, false),
            Precondition::Steady => (config.ftl.logical_pages, true),
        };
        let written = data + config.translation_pages_of(data);
        let longest = g.pages_of_fullest_plane(written);
        let (sealed, open_pages, valid) = if steady {
            let sealed = config.native_blocks() - config.gc.start_blocks - 1;
            (sealed, 0, steady_profile(sealed, pages, longest))
        } else {
            let stored = g.pages_of_fullest_plane(config.stored_pages());
            let full: Vec<u32> = (0..stored.div_ceil(pages)).map(|b| pages.min(stored - b * pages)).collect();
            (longest / pages, longest % pages, full)
        };
        let mut starts = vec![0];
        for v in valid {
            starts.push(starts[starts.len() - 1] + v);
        }
        let mut hints = Vec::new();
        for (block, &end) in (0..).zip(&starts[1..]) {
            hints.resize(end.div_ceil(HINT) as usize, block);
        }
        Initial {
            starts,
            hints,
            pages_per_block: pages,
            block_size: Divisor::new(pages),
            data,
            written,
            longest,
            planes,
            sealed,
            open_pages,
            steady,
        }
    }

    /// Logical pages below this one hold data.
    pub(super) fn data(&self) -> u32 {
        self.data
    }

    /// On a drive of `logical_pages`, which have lower numbers, translation pages below this one hold entries.
    pub(super) fn end(&self, logical_pages: u32) -> u32 {
        logical_pages + (self.written - self.data)
    }

    /// Pages that hold data or entries.
    pub(super) fn written(&self) -> u32 {
        self.written
    }

    /// Valid pages of the fullest plane.
    pub(super) fn longest(&self) -> u32 {
        self.longest
    }

    /// Physical page of the plane's logical page number `local`; for a page not written, where it would be on a full drive.
    #[inline]
    pub(super) fn address(&self, local: u32) -> Ppa {
        if !self.steady {
            return Ppa(local);
        }
        let mut block = self.hints[(local / HINT) as usize];
        while self.starts[block as usize + 1] <= local {
            block += 1;
        }
        let valid = self.starts[block as usize + 1] - self.starts[block as usize];
        let k = local - self.starts[block as usize];
        Ppa(block * self.pages_per_block + spread(k, valid, self.pages_per_block))
    }

    /// How many pages of a block of the fullest plane are valid, and among how many of its first pages they are spread.
    pub(super) fn valid_among(&self, block: u32) -> (u32, u32) {
        let pages = self.pages_per_block;
        match self.starts.get(block as usize..block as usize + 2) {
            _ if !self.steady => {
                let valid = self.longest.saturating_sub(block * pages).min(pages);
                (valid, valid)
            }
            Some(starts) => (starts[1] - starts[0], pages),
            None => (0, pages),
        }
    }

    /// Which of the plane's logical pages a page of a block is, which must be valid.
    #[inline(always)]
    pub(super) fn locals_of(&self, block: u32) -> impl Fn(u32) -> u32 + '_ {
        let pages = self.pages_per_block;
        let (start, valid) = match self.starts.get(block as usize..block as usize + 2) {
            _ if !self.steady => (block * pages, pages),
            Some(starts) => (starts[0], starts[1] - starts[0]),
            // The initial state puts nothing there.
            None => (0, 0),
        };
        move |page| {
            let local = start + self.first_from(page, valid);
            debug_assert!(self.address(local).0 == block * pages + page, "no valid page is there");
            local
        }
    }

    /// Which of `valid` pages spread over a block is the first at or after `page`.
    #[inline]
    fn first_from(&self, page: u32, valid: u32) -> u32 {
        let above = u64::from(page) * u64::from(valid) + u64::from(self.pages_per_block) - 1;
        self.block_size.quotient(above) as u32
    }

    /// Number of sealed blocks of a plane; they are its first ones.
    pub(super) fn sealed(&self) -> u32 {
        self.sealed
    }

    /// Pages written in each plane's open block, which follows the sealed ones. In the steady state the number is random, so that
    /// planes do not run out of free blocks all at the same time, and none of these pages is valid.
    pub(super) fn open_pages(&self, config: &Config) -> impl Iterator<Item = u32> + use<> {
        let mut rng = Pcg64Mcg::new(((config.seed as u128) << 64) | 0x0b10_c4a1_57a6_6e12);
        let (steady, pages_per_block, open_pages) = (self.steady, self.pages_per_block, self.open_pages);
        (0..self.planes).map(move |_| if steady { rng.next_u32() % pages_per_block } else { open_pages })
    }

    /// The block pools of all planes; `valid` has the valid pages of each block, plane by plane.
    pub(super) fn pools(&self, config: &Config, valid: Vec<Vec<u16>>, reverse: &mut Reverse) -> Vec<Pool> {
        let planes = (0..).map(PlaneId).zip(self.open_pages(config).zip(valid));
        let pool =
            |(plane, (open, valid))| Pool::new(config, self.sealed, open, valid, |block| reverse.open(plane, block));
        planes.map(pool).collect()
    }
}

/// Page of the `k`-th of `valid` pages spread evenly over a block.
#[inline]
fn spread(k: u32, valid: u32, pages: u32) -> u32 {
    (k as u64 * pages as u64 / valid as u64) as u32
}

/// The pages of all of `valid` pages spread evenly over a block, without a division for each: the step between two is rounded up to the next
/// 2^-32, which adds up to less than the distance of any of them to the next whole page, as a block has fewer than 2^16.
pub(super) fn spread_all(valid: u32, pages: u32) -> impl Iterator<Item = u32> {
    debug_assert!(valid <= pages && pages < 1 << 16, "{valid} of {pages}");
    let step = (u64::from(pages) << 32) / u64::from(valid.max(1)) + 1;
    (0..u64::from(valid)).map(move |k| ((k * step) >> 32) as u32)
}

/// Valid pages of the sealed blocks, oldest first, in equilibrium under uniform random overwrites. A page stays valid for each
/// further step of age with the same probability, so the counts fall geometrically with age from a full newest block; their
/// sum is `total` (the FIFO and large-block greedy limit; Desnoyers 2014, Bux and Iliadis 2010).
fn steady_profile(blocks: u32, pages: u32, total: u32) -> Vec<u32> {
    const ONE: u64 = 1 << 32;
    let sum_at = |ratio: u64| -> u64 {
        let mut left = u64::from(pages) << 24;
        let mut sum = 0;
        for _ in 0..blocks {
            sum += left;
            left = ((left as u128 * ratio as u128) >> 32) as u64;
        }
        sum
    };
    let (mut low, mut high) = (0, ONE);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if sum_at(middle) > u64::from(total) << 24 { high = middle } else { low = middle }
    }
    let mut left = u64::from(pages) << 24;
    let mut sum = 0u64;
    let mut taken = 0u32;
    let mut valid: Vec<u32> = (0..blocks)
        .map(|_| {
            sum += left;
            left = ((left as u128 * low as u128) >> 32) as u64;
            let count = ((sum >> 24) as u32 - taken).min(pages).min(total - taken);
            taken += count;
            count
        })
        .collect();
    // Pages lost to rounding go to the newest blocks that have space.
    let mut rest = total - taken;
    for v in &mut valid {
        let add = rest.min(pages - *v);
        *v += add;
        rest -= add;
    }
    assert_eq!(rest, 0, "configuration check keeps the data smaller than the sealed blocks");
    valid.reverse();
    valid
}

// One plane of a drive by itself, for preconditioning by replay.
//
// Before the run no page leaves its home plane, so what is written to one plane does not touch another. A plane needs less than
// the drive: a map in each direction, of a few megabytes, which stay in the processor's caches. A physical page is valid if the page that
// it was last written for lies there. Logical pages are the plane's own, numbered as they lie in its stripe position.

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
    stripe: Stripe,
    /// The stripe position of each plane.
    positions: Vec<u32>,
    open_pages: Vec<u32>,
}

impl PlaneStates {
    /// The state of `config`, by formula.
    pub fn new(config: &Config) -> PlaneStates {
        let initial = Initial::new(config);
        let open_pages = initial.open_pages(config).collect();
        let stripe = Stripe::new(&config.geometry, config.ftl.order);
        PlaneStates { config: config.clone(), initial, positions: stripe.positions(), stripe, open_pages }
    }

    /// The stripe position of a page's home plane, and its number among that plane's logical pages.
    pub fn split(&self, lpn: Lpn) -> (u32, u32) {
        self.stripe.split(lpn)
    }

    /// The stripe position of each plane.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// One plane, full of logical pages in their order.
    pub fn plane(&self, plane: PlaneId) -> PlaneReplay {
        let (geometry, position) = (&self.config.geometry, self.positions[plane.index()]);
        let logical = self.stripe.pages_at(position, self.initial.written());
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
            let run = self.pool.take_pages_for_moves(Stream::Gc, left, self.pages, |_| Segment::NOT_KEPT);
            let (FreshPage { ppa: Ppa(first), .. }, count) = run.expect(ROOM);
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
        self.validity.invalidate_all(plane);
        for (local, ppa) in (0..).zip(one_plane.forward.iter().map(|&ppa| Ppa(ppa))) {
            self.map.set(self.map.lpn_of(plane, local), plane, ppa);
            self.validity.validate(plane, ppa);
        }
        for (block, pages) in (0..).zip(one_plane.reverse.chunks(one_plane.pages as usize)) {
            let segment = self.reverse.open(plane, block);
            for (page, &local) in (0..).zip(pages).filter(|&(_, &local)| local != NOT_WRITTEN) {
                self.reverse.set(segment, page, self.map.lpn_of(plane, local));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_holds_exactly_the_data_and_falls_with_age() {
        for (blocks, pages, total) in [(100, 256, 20_000), (4000, 256, 900_000), (10, 4, 39), (10, 4, 0), (50, 64, 3)] {
            let valid = steady_profile(blocks, pages, total);
            assert_eq!(valid.iter().sum::<u32>(), total);
            assert!(valid.windows(2).all(|w| w[0] <= w[1] + 1), "{valid:?}");
            assert!(valid.iter().all(|&v| v <= pages));
        }
    }

    #[test]
    fn spread_and_its_inverse_agree() {
        for pages in [1u32, 3, 64, 256] {
            for valid in 1..=pages {
                let places: Vec<u32> = (0..valid).map(|k| spread(k, valid, pages)).collect();
                assert!(places.windows(2).all(|w| w[0] < w[1]) && places[valid as usize - 1] < pages);
                for page in 0..pages {
                    let k = (page as u64 * valid as u64).div_ceil(pages as u64) as u32;
                    let hit = k < valid && spread(k, valid, pages) == page;
                    assert_eq!(hit, places.contains(&page));
                }
            }
        }
    }

    /// Up to the largest block there may be: without a division the same pages, and those without a valid one are spread alike from its end.
    #[test]
    fn pages_are_spread_alike_in_blocks_of_any_size() {
        for (pages, step) in [(1u32, 1), (3, 1), (256, 1), (24_576, 1_021), (65_535, 3_001)] {
            for valid in (0..=pages).step_by(step).chain([pages, pages - 1]) {
                let places: Vec<u32> = (0..valid).map(|k| spread(k, valid, pages)).collect();
                assert!(spread_all(valid, pages).eq(places.iter().copied()), "{valid} of {pages}");
                let mirrored = spread_all(pages - valid, pages).map(|page| pages - 1 - page);
                let mut all: Vec<u32> = places.into_iter().chain(mirrored).collect();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..pages), "pages without a valid one: {valid} of {pages}");
            }
        }
    }
}
