//! The reverse map: physical page to logical page, kept for the blocks that a run opens.
//!
//! The table is cut into segments, each large enough for one block. A block gets the next unused segment when it is first opened
//! (or at the start, if it is open then). So a run touches memory only for the blocks it writes to, without gaps: for a drive of
//! 480 GB the whole table has 280 MB, which the operating system would have to clear.

use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use flashlane_core::{Geometry, Lpn, PlaneId};
use serde::{Deserialize, Serialize};

/// Which logical page each physical page was last written for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reverse {
    /// By block, plane after plane: the number of its segment; 0, which no block uses, for none yet.
    segments: Vec<u32>,
    /// By segment and page: logical page plus one; 0 for not written during the run.
    entries: Vec<u32>,
    segments_used: u32,
    blocks_per_plane: usize,
    pages_per_block: usize,
}

/// The number of a block's segment of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Segment(NonZeroU32);

impl Segment {
    /// Of blocks without a reverse map of this kind.
    pub(super) const NOT_KEPT: Segment = Segment(NonZeroU32::MIN);
}

impl Reverse {
    /// The map of a drive to which nothing was written yet.
    pub(super) fn new(geometry: &Geometry) -> Reverse {
        let blocks_per_plane = geometry.blocks_per_plane as usize;
        let pages_per_block = geometry.pages_per_block as usize;
        let blocks = blocks_per_plane * geometry.planes() as usize;
        Reverse {
            segments: vec![0; blocks],
            entries: vec![0; (1 + blocks) * pages_per_block],
            segments_used: 0,
            blocks_per_plane,
            pages_per_block,
        }
    }

    /// Whether it is of a drive of the same size.
    pub(super) fn fits(&self, other: &Reverse) -> bool {
        let sizes = |of: &Reverse| (of.segments.len(), of.entries.len(), of.blocks_per_plane, of.pages_per_block);
        sizes(self) == sizes(other)
    }

    /// The segment of a block that is going to be written to.
    pub(super) fn open(&mut self, plane: PlaneId, block: u32) -> Segment {
        let segment = &mut self.segments[plane.index() * self.blocks_per_plane + block as usize];
        if *segment == 0 {
            self.segments_used += 1;
            *segment = self.segments_used;
        }
        Segment(NonZeroU32::new(*segment).expect("counted from 1"))
    }

    /// Records that `lpn` was written to a page of a block.
    #[inline(always)]
    pub(super) fn set(&mut self, segment: Segment, page: u32, lpn: Lpn) {
        self.entries[segment.0.get() as usize * self.pages_per_block + page as usize] = lpn.0 + 1;
    }

    /// Records that these logical pages were written to the pages of a block from `page` on.
    #[inline(always)]
    pub(super) fn set_run(&mut self, segment: Segment, page: u32, lpns: impl ExactSizeIterator<Item = Lpn>) {
        let first = segment.0.get() as usize * self.pages_per_block + page as usize;
        self.entries[first..][..lpns.len()].iter_mut().zip(lpns).for_each(|(entry, lpn)| *entry = lpn.0 + 1);
    }

    /// The entries of a block; none if it has not been opened.
    #[inline]
    pub(super) fn written_for(&self, plane: PlaneId, block: u32) -> WrittenFor<'_> {
        let segment = self.segments[plane.index() * self.blocks_per_plane + block as usize] as usize;
        let pages = if segment == 0 { 0 } else { self.pages_per_block };
        WrittenFor(&self.entries[segment * self.pages_per_block..][..pages])
    }
}

/// Which logical page each page of a block was last written for during the run.
pub(super) struct WrittenFor<'a>(&'a [u32]);

impl WrittenFor<'_> {
    /// The logical page that one page of the block was last written for, if it was written.
    #[inline]
    pub(super) fn page(&self, page: u32) -> Option<Lpn> {
        self.0.get(page as usize)?.checked_sub(1).map(Lpn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;
    use flashlane_core::geometry::UnitKind;
    use flashlane_testing::Random;

    /// A drive of two planes.
    fn two_planes(blocks_per_plane: u32, pages_per_block: u32) -> Geometry {
        Geometry { planes_per_die: 2, blocks_per_plane, pages_per_block, unit: UnitKind::Die, ..Geometry::plain() }
    }

    /// Compares with a plain map; blocks are opened in any order, some several times.
    #[test]
    fn a_physical_page_has_the_lpn_last_written_to_it() {
        for pages_per_block in [1, 6, 64] {
            let mut reverse = Reverse::new(&two_planes(5, pages_per_block));
            let mut plain = BTreeMap::new();
            let mut random = Random(5);
            let mut sample = |below: u32| random.below(below.into()) as u32;
            for _ in 0..30 * pages_per_block {
                let (plane, block, page, lpn) =
                    (PlaneId(sample(2) as u16), sample(5), sample(pages_per_block), sample(1000));
                let segment = reverse.open(plane, block);
                reverse.set(segment, page, Lpn(lpn));
                plain.insert((plane, block, page), Lpn(lpn));
                let (plane, block, page) = (PlaneId(sample(2) as u16), sample(5), sample(pages_per_block));
                let kept = reverse.written_for(plane, block).page(page);
                assert_eq!(kept, plain.get(&(plane, block, page)).copied());
            }
        }
    }

    #[test]
    fn a_block_gets_one_segment_when_first_opened_and_keeps_it() {
        let mut reverse = Reverse::new(&two_planes(100, 4));
        for (turn, block) in [70, 3, 70, 99, 3].into_iter().enumerate() {
            let segment = reverse.open(PlaneId(0), block);
            (0..4).for_each(|page| reverse.set(segment, page, Lpn(100 * turn as u32 + page)));
        }
        assert_eq!(reverse.segments_used, 3);
        let used = reverse.entries.iter().rposition(|&entry| entry != 0);
        assert_eq!(used, Some(15), "three segments of four pages after the unused first one");
    }
}
