//! Which physical pages are valid: one bit for each page.
//!
//! All planes begin with one pattern, which [`Initial`] gives; what is kept of a plane is where it differs from that, in a table of zeros that
//! takes memory only where a run writes. So a drive of any size starts in milliseconds.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{PlaneId, Ppa};
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

use super::mapping::Map;
use super::precondition::spread_all;
use crate::config::Config;

/// Validity of every physical page.
#[derive(Clone, Debug)]
pub(crate) struct Validity {
    /// The words of the fullest plane in the first state.
    pattern: Vec<u64>,
    /// Plane by plane: the bits that differ from the pattern.
    changes: Vec<u64>,
    pages: u32,
}

/// Validity as it is stored: the words of all planes.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredValidity {
    bits: Vec<u64>,
    words_per_plane: usize,
    pages: u32,
}

impl Validity {
    /// The validity that the initial state implies, and the valid pages of each block, plane by plane.
    pub(super) fn new(config: &Config, map: &Map) -> (Validity, Vec<Vec<u16>>) {
        let (g, initial) = (&config.geometry, map.initial());
        let words_per_plane = g.pages_per_plane().div_ceil(64) as usize;
        let mut pattern = vec![0; words_per_plane];
        let mut counts = vec![0u16; g.blocks_per_plane as usize];
        for (block, count) in (0..).zip(&mut counts) {
            let (valid, among) = initial.valid_among(block);
            mark_valid(&mut pattern, block * g.pages_per_block, valid, among);
            *count = valid as u16;
        }
        let changes = vec![0; words_per_plane * g.planes() as usize];
        let mut validity = Validity { pattern, changes, pages: g.pages_per_block };
        let mut all = vec![counts; g.planes() as usize];
        for (plane, counts) in (0..).map(PlaneId).zip(&mut all) {
            // The last pages of the fullest plane, at most a row.
            for missing in (map.initial_pages(plane)..initial.longest()).map(|local| initial.address(local)) {
                counts[(missing.0 / g.pages_per_block) as usize] -= 1;
                validity.invalidate(plane, missing);
            }
        }
        (validity, all)
    }

    /// Where the plane's words of changes begin.
    #[inline(always)]
    fn start(&self, plane: PlaneId) -> usize {
        plane.index() * self.pattern.len()
    }

    /// Word number `word` of a plane.
    #[inline(always)]
    fn word(&self, start: usize, word: usize) -> u64 {
        self.pattern[word] ^ self.changes[start + word]
    }

    /// Marks all pages of a plane invalid.
    pub(super) fn invalidate_all(&mut self, plane: PlaneId) {
        let start = self.start(plane);
        self.changes[start..][..self.pattern.len()].copy_from_slice(&self.pattern);
    }

    /// Whether the page is valid.
    #[inline]
    pub(crate) fn is_valid(&self, plane: PlaneId, ppa: Ppa) -> bool {
        self.word(self.start(plane), ppa.0 as usize / 64) >> (ppa.0 % 64) & 1 == 1
    }

    /// Makes a valid page invalid, or an invalid one valid.
    #[inline(always)]
    fn flip(&mut self, plane: PlaneId, ppa: Ppa) {
        let word = self.start(plane) + ppa.0 as usize / 64;
        self.changes[word] ^= 1 << (ppa.0 % 64);
    }

    /// Marks the page valid.
    #[inline]
    pub(super) fn validate(&mut self, plane: PlaneId, ppa: Ppa) {
        debug_assert!(!self.is_valid(plane, ppa));
        self.flip(plane, ppa);
    }

    /// Marks the page invalid.
    #[inline]
    pub(super) fn invalidate(&mut self, plane: PlaneId, ppa: Ppa) {
        debug_assert!(self.is_valid(plane, ppa));
        self.flip(plane, ppa);
    }

    /// Marks pages that follow one another valid, a word at a time.
    #[inline]
    pub(super) fn validate_run(&mut self, plane: PlaneId, first: Ppa, count: u32) {
        debug_assert!((first.0..first.0 + count).all(|page| !self.is_valid(plane, Ppa(page))));
        let start = self.start(plane);
        let words = words_of(first.0, first.0 + count);
        words.for_each(|(word, mask)| self.changes[start + word] ^= mask);
    }

    /// Marks pages of a plane invalid.
    #[inline]
    pub(super) fn invalidate_each(&mut self, plane: PlaneId, pages: impl Iterator<Item = Ppa>) {
        pages.for_each(|ppa| self.invalidate(plane, ppa));
    }

    /// Prefetches the validity of the page, as it is changed.
    #[inline]
    pub(super) fn prefetch(&self, plane: PlaneId, ppa: Ppa) {
        prefetch_index(&self.changes, self.start(plane) + ppa.0 as usize / 64);
    }

    /// As it is stored.
    pub(super) fn stored(&self) -> StoredValidity {
        let of_plane = |changes: &[u64]| self.differing_from_pattern(changes).collect::<Vec<u64>>();
        let bits = self.changes.chunks_exact(self.pattern.len()).flat_map(of_plane).collect();
        StoredValidity { bits, words_per_plane: self.pattern.len(), pages: self.pages }
    }

    /// Words of a plane from its changes, or the other way round.
    fn differing_from_pattern(&self, words: &[u64]) -> impl Iterator<Item = u64> {
        self.pattern.iter().zip(words).map(|(pattern, word)| pattern ^ word)
    }

    /// Restores what was stored; `None` if it is of a drive of another size.
    pub(super) fn restore(&mut self, stored: &StoredValidity) -> Option<()> {
        let (all, words) = (self.changes.len(), self.pattern.len());
        let fits = (stored.bits.len(), stored.words_per_plane, stored.pages) == (all, words, self.pages);
        fits.then(|| {
            let of_plane = |bits: &[u64]| self.differing_from_pattern(bits).collect::<Vec<u64>>();
            self.changes = stored.bits.chunks_exact(words).flat_map(of_plane).collect();
        })
    }

    /// The valid pages of a block, ascending.
    pub(super) fn valid_pages(&self, plane: PlaneId, block: u32) -> impl Iterator<Item = Ppa> {
        let start = self.start(plane);
        words_of(block * self.pages, (block + 1) * self.pages).flat_map(move |(word, mask)| {
            let mut bits = self.word(start, word) & mask;
            core::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(Ppa(word as u32 * 64 + bit))
            })
        })
    }
}

/// Sets the bits of `valid` pages, spread evenly over the `among` pages from `first` on.
fn mark_valid(words: &mut [u64], first: u32, valid: u32, among: u32) {
    let mut flip = |page: u32| words[page as usize / 64] ^= 1 << (page % 64);
    if valid <= among / 2 {
        return spread_all(valid, among).for_each(|page| flip(first + page));
    }
    // The invalid pages are fewer: they are marked instead, spread as so many valid ones would be, from the end.
    spread_all(among - valid, among).for_each(|page| flip(first + among - 1 - page));
    words_of(first, first + among).for_each(|(word, mask)| words[word] ^= mask);
}

/// The words that have the bits from `first` up to `end`, which must be more than `first`, and which of their bits these are.
#[inline(always)]
fn words_of(first: u32, end: u32) -> impl Iterator<Item = (usize, u64)> {
    let last = end - 1;
    (first / 64..=last / 64).map(move |word| {
        let from = if word == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
        let to = if word == last / 64 { u64::MAX >> (63 - last % 64) } else { u64::MAX };
        (word as usize, from & to)
    })
}

#[cfg(test)]
mod tests {
    use super::super::precondition::Initial;
    use super::*;
    use crate::config::Precondition;
    use flashlane_core::Geometry;
    use flashlane_testing::Random;

    fn words(random: &mut Random, count: usize) -> Vec<u64> {
        (0..count).map(|_| random.bits()).map(|x| x ^ x >> 32).collect()
    }

    /// Includes blocks that begin or end inside a 64-bit word.
    #[test]
    fn valid_pages_are_those_whose_bits_are_set() {
        for pages in [1, 5, 24, 64, 96, 200] {
            let blocks = 7;
            let mut random = Random(3);
            let words_per_plane = (pages as usize * blocks).div_ceil(64);
            let pattern = words(&mut random, words_per_plane);
            let validity = Validity { pattern, changes: words(&mut random, 2 * words_per_plane), pages };
            for (plane, block) in [(0, 0), (0, 3), (1, 2), (1, 6)] {
                let plane = PlaneId(plane);
                let plain = (block * pages..(block + 1) * pages).map(Ppa).filter(|&ppa| validity.is_valid(plane, ppa));
                assert!(validity.valid_pages(plane, block).eq(plain), "{pages} pages, {plane:?}, block {block}");
            }
        }
    }

    /// Rows of three pages, of which planes have as many as the fullest, least, or some between. What is stored is the words of planes, whether
    /// they have changed or not.
    #[test]
    fn planes_begin_with_a_pattern_and_change_by_themselves() {
        let geometry =
            Geometry { channels: 4, blocks_per_plane: 12, pages_per_block: 30, slots: 3, ..Geometry::plain() };
        for (logical_pages, precondition) in (700..730).flat_map(|pages| {
            let filled = Precondition::Filled { per_mille: 900 };
            [(pages, Precondition::Steady), (pages, filled), (pages, Precondition::Fresh)]
        }) {
            let mut config = Config { precondition, ..Config::plain(geometry) };
            config.ftl.logical_pages = logical_pages;
            let map = Map::new(&config, Initial::new(&config));
            let (mut validity, counts) = Validity::new(&config, &map);
            let planes = || (0..4).map(PlaneId);
            let pages = |validity: &Validity, plane| -> Vec<Ppa> {
                (0..12).flat_map(|block| validity.valid_pages(plane, block).collect::<Vec<_>>()).collect()
            };
            for plane in planes() {
                let plain = (0..map.initial_pages(plane)).map(|local| map.initial().address(local));
                assert!(plain.eq(pages(&validity, plane)), "{logical_pages} pages, {plane:?}");
                let of_block = |block| validity.valid_pages(plane, block).count() as u16;
                assert!((0..12).map(of_block).eq(counts[plane.index()].iter().copied()), "{logical_pages} pages");
            }
            let stored = validity.stored();
            let first: Vec<Vec<Ppa>> = planes().map(|plane| pages(&validity, plane)).collect();
            let mut expected = first.clone();
            for plane in planes().filter(|plane| map.initial_pages(*plane) > 0) {
                validity.invalidate(plane, expected[plane.index()].remove(0));
                assert!(planes().map(|plane| pages(&validity, plane)).eq(expected.clone()), "{logical_pages} pages");
            }
            let used = validity.stored();
            validity.restore(&stored).unwrap();
            assert!(planes().map(|plane| pages(&validity, plane)).eq(first), "{logical_pages} pages");
            let mut restored = Validity::new(&config, &map).0;
            restored.restore(&used).unwrap();
            assert!(planes().map(|plane| pages(&restored, plane)).eq(expected), "{logical_pages} pages");
            restored.invalidate_all(PlaneId(1));
            assert_eq!(pages(&restored, PlaneId(1)), []);
        }
    }

    /// Against the bits one at a time: within a word, up to its end, over several.
    #[test]
    fn a_run_of_pages_is_marked_in_its_words() {
        for (first, end) in [(0, 1), (3, 64), (63, 65), (64, 128), (10, 200), (127, 129)] {
            let mut bits = [0u64; 4];
            words_of(first, end).for_each(|(word, mask)| bits[word] |= mask);
            let is_set = |page: u32| bits[page as usize / 64] >> (page % 64) & 1 == 1;
            assert!((0..256).all(|page| is_set(page) == (first..end).contains(&page)), "{first} to {end}");
        }
    }
}
