//! The driver's classification of an I/O before it is submitted (model 3.1.2): does the device's memory serve it?

use alloc::vec;
use alloc::vec::Vec;

/// What the driver knows of the device's write buffer: the free pages last reported, less what it has submitted since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferView {
    free: u32,
    /// Pages of writes under way that were counted off.
    in_flight: u32,
}

impl BufferView {
    /// The view of a buffer with `free` free pages and nothing under way.
    pub fn new(free: u32) -> BufferView {
        BufferView { free, in_flight: 0 }
    }

    /// Whether the buffer has space for a write of `pages` pages (D-PRE-07). If so they are counted off.
    pub fn takes(&mut self, pages: u32) -> bool {
        let fits = pages <= self.free;
        if fits {
            self.free -= pages;
            self.in_flight += pages;
        }
        fits
    }

    /// A completion has reported `free` pages; `pages` are those counted off for the write it completes (D-PRE-08).
    pub fn reported(&mut self, free: u32, pages: u32) {
        self.in_flight -= pages;
        self.free = free.saturating_sub(self.in_flight);
    }
}

/// Pages a set of the directory holds.
const WAYS: usize = 4;

/// The pages that the device's memory probably holds: those this host wrote or read last, as many as the memory has (D-PRE-17).
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    /// Sets of [`WAYS`] pages, the most recently used first; `u64::MAX` for none.
    sets: Vec<[u64; WAYS]>,
}

impl Directory {
    /// A directory of about `pages` pages.
    pub fn new(pages: u32) -> Directory {
        Directory { sets: vec![[u64::MAX; WAYS]; (pages as usize).div_ceil(WAYS).max(1)] }
    }

    fn set(&mut self, page: u64) -> &mut [u64; WAYS] {
        let sets = self.sets.len() as u64;
        &mut self.sets[(page % sets) as usize]
    }

    /// Whether the page is in it.
    pub fn holds(&mut self, page: u64) -> bool {
        self.set(page).contains(&page)
    }

    /// Enters a page the device's memory holds now, in place of the one of its set that was used least recently.
    pub fn enter(&mut self, page: u64) {
        let set = self.set(page);
        let at = set.iter().position(|&held| held == page).unwrap_or(WAYS - 1);
        set.copy_within(..at, 1);
        set[0] = page;
    }

    /// Removes a page that the device's memory turned out not to hold.
    pub fn leave(&mut self, page: u64) {
        let set = self.set(page);
        if let Some(at) = set.iter().position(|&held| held == page) {
            set.copy_within(at + 1.., at);
            set[WAYS - 1] = u64::MAX;
        }
    }

    /// Removes pages that were trimmed, or written to the end.
    pub fn forget(&mut self, first: u64, pages: u32) {
        let end = first + u64::from(pages);
        if pages as usize <= self.sets.len() {
            return (first..end).for_each(|page| self.leave(page));
        }
        for set in &mut self.sets {
            let mut kept = [u64::MAX; WAYS];
            let stays = set.iter().filter(|page| !(first..end).contains(page));
            kept.iter_mut().zip(stays).for_each(|(place, page)| *place = *page);
            *set = kept;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A-PRE-05: a buffer of 8 pages, writes of 2, 4, 2 and 1 pages, a flush, a write of 4.
    #[test]
    fn writes_that_fit_are_spun_for() {
        let mut buffer = BufferView::new(8);
        let mut free = 8;
        for (pages, fits) in [(2, true), (4, true), (2, true), (1, false)] {
            assert_eq!(buffer.takes(pages), fits);
            if fits {
                free -= pages;
                buffer.reported(free, pages);
            }
        }
        buffer.reported(8, 0);
        assert!(buffer.takes(4));
    }

    #[test]
    fn writes_under_way_are_not_counted_twice() {
        let mut buffer = BufferView::new(8);
        assert!(buffer.takes(3) && buffer.takes(3));
        // The first write's completion tells 5 free: the second has not reached the buffer.
        buffer.reported(5, 3);
        assert!(buffer.takes(2) && !buffer.takes(1), "2 of the 5 are left");
    }

    #[test]
    fn the_directory_keeps_what_was_used_last() {
        let mut directory = Directory::new(8);
        for page in [0, 2, 4, 6, 0, 8] {
            directory.enter(page);
        }
        let held = |directory: &mut Directory| [0, 2, 4, 6, 8].map(|page| directory.holds(page));
        assert_eq!(held(&mut directory), [true, false, true, true, true]);
        directory.leave(4);
        assert_eq!(held(&mut directory), [true, false, false, true, true]);
        directory.enter(4);
        directory.leave(8);
        directory.enter(2);
        assert_eq!(held(&mut directory), [true, true, true, true, false], "it took the place that had come free");
    }

    /// A trim takes its pages out, whether it has more pages than the directory has sets or fewer.
    #[test]
    fn trimmed_pages_leave_the_directory() {
        for (first, pages, left) in
            [(2, 1, [0, 1, 3, 9]), (1, 2, [0, 3, 9, 9]), (1, 100, [0, 0, 0, 0]), (9, 3, [0, 1, 2, 3])]
        {
            let mut directory = Directory::new(8);
            [0, 1, 2, 3, 9].into_iter().for_each(|page| directory.enter(page));
            directory.forget(first, pages);
            let held: Vec<u64> = [0, 1, 2, 3, 9].into_iter().filter(|&page| directory.holds(page)).collect();
            let left: alloc::collections::BTreeSet<u64> = left.into();
            assert_eq!(held, left.into_iter().collect::<Vec<_>>(), "{first} {pages}");
            // What is entered anew takes a place that has come free.
            [0, 1].into_iter().for_each(|page| directory.enter(page));
            assert!(directory.holds(0) && directory.holds(1));
        }
    }
}
