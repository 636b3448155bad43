//! Where tables with an entry a logical page have it. On a large drive they are made where they are touched: a segment for some neighbours in
//! the order of their first write, so that a run takes memory for the pages that it writes and not for all those around them.

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::Lpn;

/// Logical pages of a segment: 32 bytes of the map.
pub(crate) const SEGMENT: usize = 8;
/// Segments of a group, which share a list of their numbers. One table with the number of every segment would take more memory than the segments
/// that are made: a million random writes on 1 TB touch all of it.
pub(crate) const GROUP: usize = 8;
/// Logical pages from which tables are made where they are touched: a smaller map has at most 32 MiB.
const SPARSE_FROM: u32 = 1 << 23;

/// The segments of tables by logical page.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    /// By [`GROUP`] segments: the number of their list; 0 for none yet. Empty where the entries of all pages follow one another.
    directory: Vec<u32>,
    /// By list and segment: the number of the segment; 0, which stays empty, for none yet. So does the first list.
    lists: Vec<u32>,
    lists_used: u32,
    used: u32,
    /// The number of logical pages.
    pages: u32,
}

impl Segments {
    /// Those of a drive of so many logical pages, made where they are touched.
    pub(super) fn sparse(pages: u32) -> Segments {
        let groups = (pages as usize).div_ceil(SEGMENT * GROUP);
        Segments { directory: vec![0; groups], lists: vec![0; (1 + groups) * GROUP], lists_used: 0, used: 0, pages }
    }

    /// The entries of all logical pages, one after the other.
    pub(super) fn flat(pages: u32) -> Segments {
        Segments { directory: Vec::new(), lists: Vec::new(), lists_used: 0, used: 0, pages }
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
            groups => (1 + groups * GROUP) * SEGMENT,
        }
    }

    /// The place of the entry of `lpn`; one that holds zero if its segment has not been made.
    #[inline(always)]
    pub(super) fn place(&self, lpn: Lpn) -> usize {
        let page = lpn.0 as usize;
        match self.directory.get(page / (SEGMENT * GROUP)) {
            Some(&list) => {
                self.lists[list as usize * GROUP + page / SEGMENT % GROUP] as usize * SEGMENT + page % SEGMENT
            }
            None => page,
        }
    }

    /// The place of the entry of `lpn`, which is going to be written.
    #[inline(always)]
    pub(super) fn place_to_write(&mut self, lpn: Lpn) -> usize {
        let place = self.place(lpn);
        if place >= SEGMENT || self.directory.is_empty() { place } else { self.make(lpn) }
    }

    /// Makes the segment of `lpn`, and the list that it stands in if there is none yet. Returns the place of the entry.
    #[cold]
    fn make(&mut self, lpn: Lpn) -> usize {
        let segment = lpn.0 as usize / SEGMENT;
        let list = &mut self.directory[segment / GROUP];
        if *list == 0 {
            self.lists_used += 1;
            *list = self.lists_used;
        }
        self.used += 1;
        self.lists[*list as usize * GROUP + segment % GROUP] = self.used;
        self.place(lpn)
    }

    /// The entries of all logical pages of a table, in their order.
    pub(super) fn in_order<'a, T: Copy>(&self, table: &'a [T]) -> Cow<'a, [T]> {
        if self.directory.is_empty() {
            return Cow::Borrowed(table);
        }
        let lists = self.directory.iter().flat_map(|&list| &self.lists[list as usize * GROUP..][..GROUP]);
        let mut all = Vec::with_capacity(self.directory.len() * GROUP * SEGMENT);
        lists.for_each(|&segment| all.extend_from_slice(&table[segment as usize * SEGMENT..][..SEGMENT]));
        all.truncate(self.pages());
        Cow::Owned(all)
    }
}

/// Bytes of the directory for `pages` logical pages, and of its lists at most.
pub(crate) fn directory_bytes(pages: u32) -> [u64; 2] {
    let groups = u64::from(pages.div_ceil((SEGMENT * GROUP) as u32));
    if pages < SPARSE_FROM { [0; 2] } else { [4 * groups, 4 * (1 + groups) * GROUP as u64] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_testing::Random;

    /// Compares with one entry after the other, on drives whose last segment is not full.
    #[test]
    fn entries_are_found_again_and_in_order() {
        for pages in [1, 7, 8, 9, 64, 65, 1_000, 10_000] {
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
            let touched = |size| plain.chunks(size).filter(|chunk| chunk.iter().any(|&e| e > 0)).count();
            let made = [segments.used, segments.lists_used].map(|used| used as usize);
            assert_eq!(made, [touched(SEGMENT), touched(SEGMENT * GROUP)]);
        }
    }

    #[test]
    fn small_drives_and_those_written_whole_have_no_directory() {
        let has = |pages, whole| !Segments::of_drive(pages, whole).directory.is_empty();
        assert_eq!(
            [has(SPARSE_FROM - 1, false), has(SPARSE_FROM, false), has(SPARSE_FROM, true)],
            [false, true, false]
        );
        let sparse = Segments::sparse(SPARSE_FROM);
        assert_eq!(
            directory_bytes(SPARSE_FROM),
            [sparse.directory.len(), sparse.lists.len()].map(|len| 4 * len as u64)
        );
    }
}
