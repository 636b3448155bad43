//! What a power cut takes from a page buffer that completes writes: the pages that the flash does not have.
//!
//! Owns, on the thread of the drive, which pages of writes that are not answered yet are in the buffer; and, where the bytes are, what
//! pages of answered ones held before, until the flash has them. Promises that what a flush or FUA has made durable is never kept, and
//! that what is kept is bounded by the pages of the buffer and their programs under way. Must never know commands or files.

use std::collections::BTreeMap;
use std::ops::Range;

use flashlane_ssd::BufferedPage;

use crate::power_cut::PageSampler;

/// A page of a write that is in the buffer only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VolatilePage {
    pub(crate) page: u32,
    /// The last program of the page before it, which has older data.
    pub(crate) after: u64,
}

/// A page that the flash has, as it was before a program was created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DurablePage {
    pub(crate) page: u32,
    pub(crate) program: u64,
}

/// Pages in the buffer of writes that are not answered.
#[derive(Default, Debug)]
pub(crate) struct Unanswered {
    /// By page: the write, and the program after which it came.
    pages: BTreeMap<u32, Vec<(u64, u64)>>,
}

impl Unanswered {
    /// Takes what became of a page in the drive; returns it if the flash has it.
    pub(crate) fn take(&mut self, report: BufferedPage) -> Option<DurablePage> {
        match report {
            BufferedPage::Stored { request, lpn, after } => {
                self.pages.entry(lpn.0).or_default().push((request.0, after));
                None
            }
            BufferedPage::Durable { lpn, program } => {
                self.remove(lpn.0, |(_, after)| after < program);
                Some(DurablePage { page: lpn.0, program })
            }
        }
    }

    /// Those of a write that is answered now, of these pages.
    pub(crate) fn answered(&mut self, request: u64, pages: Range<u32>) -> Vec<VolatilePage> {
        let mut found = Vec::new();
        for page in pages {
            self.remove(page, |(of, after)| {
                let is_it = of == request;
                if is_it {
                    found.push(VolatilePage { page, after });
                }
                is_it
            });
        }
        found
    }

    fn remove(&mut self, page: u32, mut goes: impl FnMut((u64, u64)) -> bool) {
        if let Some(all) = self.pages.get_mut(&page) {
            all.retain(|&one| !goes(one));
            if all.is_empty() {
                self.pages.remove(&page);
            }
        }
    }
}

/// What a page held before the writes that came after a program, and not after a later one.
#[derive(Debug)]
struct Before {
    after: u64,
    bytes: Vec<u8>,
}

/// What pages held before answered writes that are in the buffer only.
#[derive(Default, Debug)]
pub(crate) struct Undo {
    /// In the order in which the writes were answered.
    pages: BTreeMap<u32, Vec<Before>>,
}

impl Undo {
    /// A page is to be written to that the flash will not have yet; `read` gives what it holds. Writes after the same program are lost
    /// together.
    pub(crate) fn keep<E>(
        &mut self,
        written: VolatilePage,
        read: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<(), E> {
        let VolatilePage { page, after } = written;
        if self.pages.get(&page).and_then(|all| all.last()).is_none_or(|last| last.after < after) {
            let bytes = read()?;
            self.pages.entry(page).or_default().push(Before { after, bytes });
        }
        Ok(())
    }

    /// The flash has what the writes before a program brought.
    pub(crate) fn durable(&mut self, DurablePage { page, program }: DurablePage) {
        let Some(all) = self.pages.get_mut(&page) else { return };
        // They were answered in this order, not stored: what was answered before one that is durable is taken for durable.
        let first_left = all.iter().rposition(|before| before.after < program).map_or(0, |last| last + 1);
        all.drain(..first_left);
        if all.is_empty() {
            self.pages.remove(&page);
        }
    }

    /// What these pages hold from now on is durable.
    pub(crate) fn settled(&mut self, pages: Range<u64>) {
        if pages.is_empty() || self.pages.is_empty() {
            return;
        }
        let pages = pages.start as u32..pages.end as u32;
        let kept: Vec<u32> = self.pages.range(pages).map(|(&page, _)| page).collect();
        kept.iter().for_each(|page| drop(self.pages.remove(page)));
    }

    /// The power is cut: pages that are to hold again what the flash has of them.
    pub(crate) fn lost(&mut self, sampler: &mut PageSampler) -> Vec<(u32, Vec<u8>)> {
        let kept = std::mem::take(&mut self.pages).into_iter();
        kept.filter_map(|(page, all)| Some((page, sampler.takes(all.into_iter().next()?.bytes)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::{Lpn, RequestId};

    const PAGE: u32 = 7;

    /// Writes the bytes 1, 2, 3, ... to a page that begins as 0.
    #[derive(Default)]
    struct OnePage {
        undo: Undo,
        holds: u8,
    }

    impl OnePage {
        fn write(&mut self, after: u64) {
            let held = self.holds;
            let read = || Ok::<_, std::convert::Infallible>(vec![held]);
            self.undo.keep(VolatilePage { page: PAGE, after }, read).unwrap_or_else(|never| match never {});
            self.holds += 1;
        }

        fn durable(&mut self, program: u64) {
            self.undo.durable(DurablePage { page: PAGE, program });
        }

        /// What the flash has, and how many versions are kept.
        fn kept(&self) -> (u8, usize) {
            let all = self.undo.pages.get(&PAGE);
            (all.map_or(self.holds, |all| all[0].bytes[0]), all.map_or(0, Vec::len))
        }
    }

    /// Writes before the first program, two while it is under way, one after it has ended and before the next.
    #[test]
    fn the_flash_has_what_its_last_program_wrote() {
        let mut page = OnePage::default();
        page.write(0);
        page.write(0);
        assert_eq!(page.kept(), (0, 1));
        // Program 5 has version 2.
        page.write(5);
        page.write(5);
        assert_eq!(page.kept(), (0, 2));
        page.durable(5);
        assert_eq!(page.kept(), (2, 1));
        page.write(0);
        assert_eq!(page.kept(), (2, 1), "it has the next program with those before it");
        page.durable(9);
        assert_eq!(page.kept(), (5, 0));
        // Of a program that had only what is durable already.
        page.write(9);
        page.durable(9);
        assert_eq!(page.kept(), (5, 1));
        page.undo.settled(0..8);
        assert_eq!(page.kept(), (6, 0));
    }

    /// A later write is answered first: once the earlier one is durable, nothing answered before it is lost.
    #[test]
    fn writes_are_answered_in_any_order() {
        let mut page = OnePage::default();
        page.write(5);
        page.write(0);
        assert_eq!(page.kept(), (0, 1));
        page.durable(5);
        assert_eq!(page.kept(), (0, 1), "taken for as late as the one answered first");
        page.durable(8);
        assert_eq!(page.kept(), (2, 0));
    }

    #[test]
    fn writes_in_the_buffer_are_volatile_until_their_program_ends() {
        let mut unanswered = Unanswered::default();
        let stored = |request, lpn, after| BufferedPage::Stored { request: RequestId(request), lpn: Lpn(lpn), after };
        for report in [stored(1, 3, 0), stored(1, 4, 0), stored(2, 4, 6), stored(1, 5, 0)] {
            assert_eq!(unanswered.take(report), None);
        }
        let durable = unanswered.take(BufferedPage::Durable { lpn: Lpn(4), program: 6 });
        assert_eq!(durable, Some(DurablePage { page: 4, program: 6 }));
        let pages = unanswered.answered(1, 3..6);
        assert_eq!(pages, [3, 5].map(|page| VolatilePage { page, after: 0 }));
        assert_eq!(unanswered.answered(2, 4..5), [VolatilePage { page: 4, after: 6 }]);
        assert!(unanswered.pages.is_empty());
    }
}
