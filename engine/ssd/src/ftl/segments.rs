//! Where tables with an entry a logical page have it. On a large drive they are made where they are touched: a segment for some neighbours in
//! the order of their first write, so that a run takes memory for the pages that it writes and not for all those around them.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::Lpn;

/// Logical pages of a segment: a cache line of the map.
pub(crate) const SEGMENT: usize = 16;
/// Logical pages from which tables are made where they are touched: a smaller map has at most 32 MiB.
const SPARSE_FROM: u32 = 1 << 23;

/// The segments of tables by logical page.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    /// By [`SEGMENT`] logical pages: the number of their segment; 0, which stays empty, for none yet. Empty where the entries of all pages follow one
    /// another.
    directory: Vec<u32>,
    used: u32,
    /// The number of logical pages.
    pages: u32,
}

impl Segments {
    /// Those of a drive of so many logical pages, made where they are touched.
    pub(super) fn sparse(pages: u32) -> Segments {
        Segments { directory: vec![0; (pages as usize).div_ceil(SEGMENT)], used: 0, pages }
    }

    /// The entries of all logical pages, one after the other.
    pub(super) fn flat(pages: u32) -> Segments {
        Segments { directory: Vec::new(), used: 0, pages }
    }

    /// What suits a drive of so many logical pages: flat if it is small, or `whole`, which means that most are written before the run.
    pub(super) fn of_drive(pages: u32, whole: bool) -> Segments {
        if pages < SPARSE_FROM || whole { Segments::flat(pages) } else { Segments::sparse(pages) }
    }

    /// The number of logical pages.
    pub(super) fn pages(&self) -> usize {
        self.pages as usize
    }

    /// How many entries a table needs, all zero at first.
    pub(super) fn places(&self) -> usize {
        match self.directory.len() {
            0 => self.pages(),
            segments => (1 + segments) * SEGMENT,
        }
    }

    /// The place of the entry of `lpn`; one that holds zero if its segment has not been made.
    #[inline(always)]
    pub(super) fn place(&self, lpn: Lpn) -> usize {
        let page = lpn.0 as usize;
        match self.directory.get(page / SEGMENT) {
            Some(&segment) => segment as usize * SEGMENT + page % SEGMENT,
            None => page,
        }
    }

    /// The place of the entry of `lpn`, which is going to be written.
    #[inline(always)]
    pub(super) fn place_to_write(&mut self, lpn: Lpn) -> usize {
        if self.directory.get(lpn.0 as usize / SEGMENT) == Some(&0) {
            self.make(lpn);
        }
        self.place(lpn)
    }

    /// Makes the segment of `lpn`.
    #[cold]
    fn make(&mut self, lpn: Lpn) {
        self.used += 1;
        self.directory[lpn.0 as usize / SEGMENT] = self.used;
    }

    /// The entries of all logical pages of a table, in their order.
    pub(super) fn in_order<'a, T: Copy>(&self, table: &'a [T]) -> Cow<'a, [T]> {
        if self.directory.is_empty() {
            return Cow::Borrowed(table);
        }
        let segments = self.directory.iter().map(|&segment| &table[segment as usize * SEGMENT..][..SEGMENT]);
        let mut all = Vec::with_capacity(self.directory.len() * SEGMENT);
        segments.for_each(|entries| all.extend_from_slice(entries));
        all.truncate(self.pages());
        Cow::Owned(all)
    }
}

/// Bytes of the directory of a drive of so many logical pages.
pub(crate) fn directory_bytes(pages: u32) -> u64 {
    if pages < SPARSE_FROM { 0 } else { 4 * u64::from(pages.div_ceil(SEGMENT as u32)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_testing::Random;

    /// Compares with one entry after the other, on drives whose last segment is not full.
    #[test]
    fn entries_are_found_again_and_in_order() {
        for pages in [1, 15, 16, 17, 1_000] {
            let (mut segments, mut plain) = (Segments::sparse(pages), vec![0u32; pages as usize]);
            let mut table = vec![0u32; segments.places()];
            let mut random = Random(pages.into());
            for value in 1..200 {
                let lpn = random.below(pages.into()) as u32;
                table[segments.place_to_write(Lpn(lpn))] = value;
                plain[lpn as usize] = value;
                let read = (0..pages).map(|lpn| table[segments.place(Lpn(lpn))]);
                assert!(read.eq(plain.iter().copied()), "{pages} pages");
            }
            assert_eq!(*segments.in_order(&table), plain);
            assert_eq!(
                segments.used as usize,
                plain.chunks(SEGMENT).filter(|chunk| chunk.iter().any(|&e| e > 0)).count()
            );
        }
    }

    #[test]
    fn small_drives_and_those_written_whole_have_no_directory() {
        let has = |pages, whole| !Segments::of_drive(pages, whole).directory.is_empty();
        assert_eq!(
            [has(SPARSE_FROM - 1, false), has(SPARSE_FROM, false), has(SPARSE_FROM, true)],
            [false, true, false]
        );
        assert_eq!(directory_bytes(SPARSE_FROM), 4 * Segments::sparse(SPARSE_FROM).directory.len() as u64);
    }
}
