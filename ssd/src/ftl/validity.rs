//! Which physical pages are valid: one bit for each page.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Geometry, PlaneId, Ppa};
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

use super::map::Map;
use crate::config::Config;

/// Validity of every physical page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Validity {
    bits: Vec<u64>,
    words_per_plane: usize,
    pages: u32,
}

impl Validity {
    /// Whether it is of a drive of the same size.
    pub(super) fn fits(&self, other: &Validity) -> bool {
        (self.bits.len(), self.words_per_plane, self.pages) == (other.bits.len(), other.words_per_plane, other.pages)
    }

    /// The validity that the initial state implies, and the valid pages of each block, plane by plane.
    pub(super) fn new(config: &Config, map: &Map) -> (Validity, Vec<Vec<u16>>) {
        let g: &Geometry = &config.geometry;
        let words_per_plane = g.pages_per_plane().div_ceil(64) as usize;
        let planes = g.planes() as usize;
        let bits = vec![0; words_per_plane * planes];
        let mut validity = Validity { bits, words_per_plane, pages: g.pages_per_block };
        // All planes start with the same pattern, except that some have one page less at its end.
        let initial = map.initial();
        let mut pattern = vec![0u64; words_per_plane];
        let mut counts = vec![0u16; g.blocks_per_plane as usize];
        let longest = initial.longest();
        for local in 0..longest {
            let ppa = initial.address(local);
            pattern[ppa.0 as usize / 64] |= 1 << (ppa.0 % 64);
            counts[(ppa.0 / g.pages_per_block) as usize] += 1;
        }
        let mut all = vec![counts; planes];
        if longest == 0 {
            return (validity, all);
        }
        let last = initial.address(longest - 1);
        for (plane, counts) in (0..).map(PlaneId).zip(&mut all) {
            validity.bits[plane.index() * words_per_plane..][..words_per_plane].copy_from_slice(&pattern);
            if map.initial_pages(plane) < longest {
                validity.invalidate(plane, last);
                counts[(last.0 / g.pages_per_block) as usize] -= 1;
            }
        }
        (validity, all)
    }

    /// Marks all pages of a plane invalid.
    pub(super) fn invalidate_all(&mut self, plane: PlaneId) {
        self.bits[plane.index() * self.words_per_plane..][..self.words_per_plane].fill(0);
    }

    #[inline]
    fn word(&self, plane: PlaneId, ppa: Ppa) -> usize {
        plane.index() * self.words_per_plane + ppa.0 as usize / 64
    }

    /// Whether the page is valid.
    #[inline]
    pub(super) fn is_valid(&self, plane: PlaneId, ppa: Ppa) -> bool {
        self.bits[self.word(plane, ppa)] >> (ppa.0 % 64) & 1 == 1
    }

    /// Marks the page valid.
    #[inline]
    pub(super) fn validate(&mut self, plane: PlaneId, ppa: Ppa) {
        let word = self.word(plane, ppa);
        debug_assert!(self.bits[word] >> (ppa.0 % 64) & 1 == 0);
        self.bits[word] |= 1 << (ppa.0 % 64);
    }

    /// Marks the page invalid.
    #[inline]
    pub(super) fn invalidate(&mut self, plane: PlaneId, ppa: Ppa) {
        let word = self.word(plane, ppa);
        debug_assert!(self.bits[word] >> (ppa.0 % 64) & 1 == 1);
        self.bits[word] &= !(1 << (ppa.0 % 64));
    }

    /// Prefetches the validity of the page.
    #[inline]
    pub(super) fn prefetch(&self, plane: PlaneId, ppa: Ppa) {
        prefetch_index(&self.bits, self.word(plane, ppa));
    }

    /// The valid pages of a block, ascending.
    pub(super) fn valid_pages(&self, plane: PlaneId, block: u32) -> impl Iterator<Item = Ppa> {
        let (first, last) = (block * self.pages, (block + 1) * self.pages - 1);
        (first / 64..=last / 64).flat_map(move |word| {
            let from = if word == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
            let to = if word == last / 64 { u64::MAX >> (63 - last % 64) } else { u64::MAX };
            let mut bits = self.bits[self.word(plane, Ppa(word * 64))] & from & to;
            core::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(Ppa(word * 64 + bit))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Includes blocks that begin or end inside a 64-bit word.
    #[test]
    fn valid_pages_are_those_whose_bits_are_set() {
        for pages in [1, 5, 24, 64, 96, 200] {
            let blocks = 7;
            let mut x: u64 = 3;
            let words_per_plane = (pages as usize * blocks).div_ceil(64);
            let mut bits = vec![0; 2 * words_per_plane];
            for word in &mut bits {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                *word = x ^ x >> 32;
            }
            let validity = Validity { bits, words_per_plane, pages };
            for (plane, block) in [(0, 0), (0, 3), (1, 2), (1, 6)] {
                let plane = PlaneId(plane);
                let plain = (block * pages..(block + 1) * pages).map(Ppa).filter(|&ppa| validity.is_valid(plane, ppa));
                assert!(validity.valid_pages(plane, block).eq(plain), "{pages} pages, {plane:?}, block {block}");
            }
        }
    }
}
