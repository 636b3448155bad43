//! The state of the drive before the first request, as a formula (preconditioning, model 0.9).
//!
//! Every plane starts in the same state: its first blocks are sealed, the next may be open, the rest are free. The valid pages
//! of a sealed block are spread evenly over it, and the plane's logical pages fill the valid pages in order. Lookups in either
//! direction search one small table that all planes share.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Divisor, PlaneId, Ppa};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::pool::Pool;
use super::reverse::Reverse;
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
    written: u32,
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
        let (written, steady) = match config.precondition {
            Precondition::Fresh => (0, false),
            Precondition::Filled { per_mille } => {
                ((u64::from(config.ftl.logical_pages) * u64::from(per_mille) / 1000) as u32, false)
            }
            Precondition::Replayed { .. } => (config.ftl.logical_pages, false),
            Precondition::Steady => (config.ftl.logical_pages, true),
        };
        let longest = written.div_ceil(planes);
        let (sealed, open_pages, valid) = if steady {
            let sealed = g.blocks_per_plane - config.gc.start_blocks - 1;
            (sealed, 0, steady_profile(sealed, pages, longest))
        } else {
            let logical = config.ftl.logical_pages.div_ceil(planes);
            let full: Vec<u32> = (0..logical.div_ceil(pages)).map(|b| pages.min(logical - b * pages)).collect();
            (longest / pages, longest % pages, full)
        };
        let mut starts = vec![0];
        for v in valid {
            starts.push(starts[starts.len() - 1] + v);
        }
        let mut block = 0;
        let hints = (0..starts[starts.len() - 1]).step_by(HINT as usize).map(|local| {
            while starts[block as usize + 1] <= local {
                block += 1;
            }
            block
        });
        let hints = hints.collect();
        Initial {
            starts,
            hints,
            pages_per_block: pages,
            block_size: Divisor::new(pages),
            written,
            planes,
            sealed,
            open_pages,
            steady,
        }
    }

    /// Logical pages below this one hold data.
    pub(super) fn written(&self) -> u32 {
        self.written
    }

    /// Valid pages of the fullest plane.
    pub(super) fn longest(&self) -> u32 {
        self.written.div_ceil(self.planes)
    }

    /// Valid pages of the plane at stripe position `position`.
    #[inline]
    pub(super) fn pages_of(&self, position: u32) -> u32 {
        self.written / self.planes + u32::from(position < self.written % self.planes)
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

    /// The plane's logical page number at a physical page, which must be valid.
    #[inline]
    pub(super) fn local_at(&self, ppa: Ppa) -> u32 {
        let local = self.local_from(ppa);
        debug_assert!(self.address(local) == ppa, "no valid page is there");
        local
    }

    /// The plane's first logical page number at or after a physical page. In the steady state the page must be in a sealed block.
    #[inline]
    fn local_from(&self, ppa: Ppa) -> u32 {
        if !self.steady {
            return ppa.0;
        }
        let (start, valid, page) = self.in_block(ppa);
        start + self.first_from(page, valid)
    }

    /// Of the block of a physical page: the valid pages in blocks before it, its valid pages; and the number of the page in it.
    #[inline]
    fn in_block(&self, ppa: Ppa) -> (u32, u32, u32) {
        let (block, page) = self.block_size.split(ppa.0.into());
        let start = self.starts[block as usize];
        (start, self.starts[block as usize + 1] - start, page as u32)
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
}
