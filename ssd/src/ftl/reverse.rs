//! The reverse map: physical page to logical page, kept for the blocks that a run opens.
//!
//! The table is cut into rows of a block each. A block gets the next row when it is opened (those that are open at the start
//! have theirs), so that a run touches memory for the blocks it fills and no more, one row behind the other: on a drive of
//! 480 GB the whole table has 280 MB, which the system would have to clear.

use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroU32;

use flashlane_core::{Geometry, Lpn, PlaneId};

/// Which logical page each physical page was last written for.
#[derive(Debug)]
pub(super) struct Reverse {
    /// By block, plane after plane: its row; 0, which is nobody's, for none yet.
    rows: Vec<u32>,
    /// By row and page: logical page plus one; 0 for not written during the run.
    entries: Vec<u32>,
    rows_used: u32,
    blocks_per_plane: usize,
    pages_per_block: usize,
}

/// The row of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Row(NonZeroU32);

#[cfg(test)]
impl Row {
    /// Where nobody looks at it.
    pub(super) const ANY: Row = Row(NonZeroU32::MIN);
}

impl Reverse {
    /// The map of a drive to which nothing was written yet.
    pub(super) fn new(geometry: &Geometry) -> Reverse {
        let blocks_per_plane = geometry.blocks_per_plane as usize;
        let pages_per_block = geometry.pages_per_block as usize;
        let blocks = blocks_per_plane * geometry.planes() as usize;
        Reverse {
            rows: vec![0; blocks],
            entries: vec![0; (1 + blocks) * pages_per_block],
            rows_used: 0,
            blocks_per_plane,
            pages_per_block,
        }
    }

    /// The row of a block that is going to be written to.
    pub(super) fn open(&mut self, plane: PlaneId, block: u32) -> Row {
        let row = &mut self.rows[plane.index() * self.blocks_per_plane + block as usize];
        if *row == 0 {
            self.rows_used += 1;
            *row = self.rows_used;
        }
        Row(NonZeroU32::new(*row).expect("counted from 1"))
    }

    /// `lpn` was written to a page of a block.
    #[inline(always)]
    pub(super) fn set(&mut self, row: Row, page: u32, lpn: Lpn) {
        self.entries[row.0.get() as usize * self.pages_per_block + page as usize] = lpn.0 + 1;
    }

    /// What is kept of a block.
    #[inline]
    pub(super) fn written_for(&self, plane: PlaneId, block: u32) -> WrittenFor<'_> {
        let row = self.rows[plane.index() * self.blocks_per_plane + block as usize] as usize;
        let pages = if row == 0 { 0 } else { self.pages_per_block };
        WrittenFor(&self.entries[row * self.pages_per_block..][..pages])
    }
}

/// Which logical page each page of a block was last written for during the run.
pub(super) struct WrittenFor<'a>(&'a [u32]);

impl WrittenFor<'_> {
    /// That of one page, if it was written.
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

    /// Two planes of so many blocks.
    fn two_planes(blocks_per_plane: u32, pages_per_block: u32) -> Geometry {
        Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane,
            pages_per_block,
            page_bytes: 4096,
            metadata_bytes: 0,
            unit: UnitKind::Die,
        }
    }

    /// Against a plain map; blocks are opened in any order, some again.
    #[test]
    fn a_page_is_of_whom_it_was_last_written_for() {
        for pages_per_block in [1, 6, 64] {
            let mut reverse = Reverse::new(&two_planes(5, pages_per_block));
            let mut plain = BTreeMap::new();
            let mut x: u64 = 5;
            let mut drawn = |below: u32| {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (x >> 33) as u32 % below
            };
            for _ in 0..30 * pages_per_block {
                let (plane, block, page, lpn) =
                    (PlaneId(drawn(2) as u16), drawn(5), drawn(pages_per_block), drawn(1000));
                let row = reverse.open(plane, block);
                reverse.set(row, page, Lpn(lpn));
                plain.insert((plane, block, page), Lpn(lpn));
                let (plane, block, page) = (PlaneId(drawn(2) as u16), drawn(5), drawn(pages_per_block));
                let kept = reverse.written_for(plane, block).page(page);
                assert_eq!(kept, plain.get(&(plane, block, page)).copied());
            }
        }
    }

    #[test]
    fn rows_are_for_blocks_that_were_opened_and_stay_theirs() {
        let mut reverse = Reverse::new(&two_planes(100, 4));
        for (turn, block) in [70, 3, 70, 99, 3].into_iter().enumerate() {
            let row = reverse.open(PlaneId(0), block);
            (0..4).for_each(|page| reverse.set(row, page, Lpn(100 * turn as u32 + page)));
        }
        assert_eq!(reverse.rows_used, 3);
        let used = reverse.entries.iter().rposition(|&entry| entry != 0);
        assert_eq!(used, Some(15), "three rows of four pages behind nobody's");
    }
}
