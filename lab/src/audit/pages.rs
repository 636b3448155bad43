//! The auditor's own translation layer: where each logical page lies, and how full each block is.
//!
//! A page needs no state of its own. Blocks are written in order and without gaps, so the pages of a block below its
//! fill mark are written and those above are free; a page is valid exactly if some logical page lies there. Free +
//! valid + invalid = all then holds by construction, and what can be wrong in a device shows as [`Rule::PageOnce`],
//! [`Rule::PageOrder`], [`Rule::EraseValid`] or [`Rule::VictimCount`].
//!
//! Memory: eight bytes a block, and four bytes a logical page, which the system commits only where pages lie.

use flashlane_core::units::Ppa;
use flashlane_core::{Geometry, Lpn, PlaneId};

use super::rule::{Log, Rule};
use super::{Owner, Start, Written};

/// Where a logical page lies in the whole device: `plane * pages per plane + ppa`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    page: u32,
    /// How often its block had been erased when the page was seen there.
    erases: u16,
}

impl Place {
    /// Nowhere, or not known.
    pub(super) const NOWHERE: Place = Place { page: u32::MAX, erases: 0 };

    pub(super) fn is_known(self) -> bool {
        self != Place::NOWHERE
    }
}

/// A block as the events show it.
#[derive(Clone, Copy, Default, Debug)]
struct Block {
    /// Pages written since the last erase: the next program goes here.
    written: u16,
    /// Of those, the ones that hold a logical page.
    valid: u16,
    erases: u16,
    /// Whether `written` is known, and `valid` counts all valid pages (not only those seen being written).
    filled: bool,
    counted: bool,
}

/// The map and the blocks.
pub(super) struct Pages {
    pages_per_plane: u32,
    pages_per_block: u32,
    blocks_per_plane: u32,
    /// Place plus one by logical page; 0 where it lies nowhere, or that is not known.
    map: Vec<u32>,
    blocks: Vec<Block>,
    /// Whether the first state of the drive was told.
    knows_start: bool,
}

impl Pages {
    /// The drive before the first event; [`Rule::StartState`] is checked here.
    pub(super) fn new(geometry: &Geometry, logical_pages: u32, start: Start<'_>, log: &mut Log) -> Pages {
        let knows_start = !matches!(start, Start::Unknown);
        let blocks = geometry.planes() as usize * geometry.blocks_per_plane as usize;
        let mut pages = Pages {
            pages_per_plane: geometry.pages_per_plane(),
            pages_per_block: geometry.pages_per_block,
            blocks_per_plane: geometry.blocks_per_plane,
            map: vec![0; logical_pages as usize],
            blocks: vec![Block { filled: knows_start, counted: knows_start, ..Block::default() }; blocks],
            knows_start,
        };
        if let Start::Known { owner, written } = start {
            for index in 0..pages.blocks.len() as u32 {
                pages.fill(index, owner, written, log);
            }
        }
        pages
    }

    /// Takes over what a block holds at the start.
    fn fill(&mut self, index: u32, owner: &Owner<'_>, written: &Written<'_>, log: &mut Log) {
        let (plane, block) = (PlaneId((index / self.blocks_per_plane) as u16), index % self.blocks_per_plane);
        let told = written(plane, block);
        log.check(told <= self.pages_per_block, Rule::StartState, || {
            format!("{} has {told} of {} pages written.", self.describe(index), self.pages_per_block)
        });
        let mut valid = 0;
        for offset in 0..self.pages_per_block {
            let ppa = block * self.pages_per_block + offset;
            let Some(lpn) = owner(plane, Ppa(ppa)) else { continue };
            let place = self.page(plane, ppa) + 1;
            let slot = self.map.get_mut(lpn.0 as usize).filter(|slot| **slot == 0);
            if log.check(offset < told && slot.is_some(), Rule::StartState, || {
                let fault =
                    if offset < told { "lies elsewhere too, or does not exist" } else { "was never written there" };
                format!("page {ppa} of plane {} holds logical page {}, which {fault}.", plane.0, lpn.0)
            }) && let Some(slot) = slot
            {
                *slot = place;
                valid += 1;
            }
        }
        let block = &mut self.blocks[index as usize];
        (block.written, block.valid) = (told.min(self.pages_per_block) as u16, valid);
    }

    fn page(&self, plane: PlaneId, ppa: u32) -> u32 {
        plane.0 as u32 * self.pages_per_plane + ppa
    }

    /// A block's number in the whole device.
    pub(super) fn block(&self, plane: PlaneId, block: u32) -> u32 {
        plane.0 as u32 * self.blocks_per_plane + block
    }

    /// The block of a page of `plane`.
    pub(super) fn block_of(&self, plane: PlaneId, ppa: u32) -> u32 {
        self.page(plane, ppa) / self.pages_per_block
    }

    /// The block of a place.
    pub(super) fn block_at(&self, place: Place) -> u32 {
        place.page / self.pages_per_block
    }

    /// Plane, and block inside it, in words.
    pub(super) fn describe(&self, block: u32) -> String {
        format!("block {} of plane {}", block % self.blocks_per_plane, block / self.blocks_per_plane)
    }

    /// Whether the first state of the drive was told.
    pub(super) fn knows_start(&self) -> bool {
        self.knows_start
    }

    /// Where a logical page lies now.
    pub(super) fn find(&self, lpn: Lpn) -> Place {
        match self.map[lpn.0 as usize] {
            0 => Place::NOWHERE,
            stored => {
                let page = stored - 1;
                Place { page, erases: self.blocks[(page / self.pages_per_block) as usize].erases }
            }
        }
    }

    /// A logical page is written to a physical one. Returns where it lay before.
    pub(super) fn map(&mut self, lpn: Lpn, plane: PlaneId, ppa: u32, log: &mut Log) -> Place {
        let old = self.find(lpn);
        let (page, offset) = (self.page(plane, ppa), (ppa % self.pages_per_block) as u16);
        if old.is_known() {
            let block = self.block_at(old) as usize;
            self.blocks[block].valid = self.blocks[block].valid.saturating_sub(1);
        }
        let block = &mut self.blocks[(page / self.pages_per_block) as usize];
        if block.filled && offset < block.written {
            log.report(Rule::PageOnce, || {
                format!("page {ppa} of plane {} was programmed again, for logical page {}.", plane.0, lpn.0)
            });
        } else if block.filled && offset > block.written {
            let next = ppa - (offset - block.written) as u32;
            log.report(Rule::PageOrder, || {
                format!("page {ppa} of plane {} was programmed and page {next} is next.", plane.0)
            });
        }
        block.filled = true;
        block.written = block.written.max(offset + 1);
        block.valid += 1;
        self.map[lpn.0 as usize] = page + 1;
        old
    }

    /// A read of `lpn`, queued when the page lay at `queued`, reads a physical page.
    pub(super) fn read(&self, lpn: Lpn, queued: Place, plane: PlaneId, ppa: u32, log: &mut Log) {
        let page = self.page(plane, ppa);
        let now = self.find(lpn);
        // A page nobody has written is read wherever the device likes, and a read already on its way when the page
        // moved or was overwritten may read the old copy, as long as that has not been erased.
        let untouched =
            queued.page == page && self.blocks[(page / self.pages_per_block) as usize].erases == queued.erases;
        let holds = now.page == page || !queued.is_known() || untouched;
        log.check(holds, Rule::ReadPlace, || {
            let (at, on) = (now.page % self.pages_per_plane, now.page / self.pages_per_plane);
            format!("page {ppa} of plane {} was read for logical page {}, which lies at {at} of {on}.", plane.0, lpn.0)
        });
    }

    /// Pages of a block that hold a logical page; exact where the second is true, else at least so many.
    pub(super) fn valid(&self, block: u32) -> (u32, bool) {
        let block = &self.blocks[block as usize];
        (block.valid as u32, block.counted)
    }

    /// Whether every page of a block is written, as far as known.
    pub(super) fn full(&self, block: u32) -> bool {
        let block = &self.blocks[block as usize];
        !block.counted || block.written as u32 == self.pages_per_block
    }

    /// A block was erased.
    pub(super) fn erase(&mut self, block: u32) {
        let block = &mut self.blocks[block as usize];
        *block = Block { written: 0, valid: 0, erases: block.erases.wrapping_add(1), filled: true, counted: true };
    }
}
