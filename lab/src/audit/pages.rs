//! The auditor's own translation layer: where each logical page lies, and how full each block is.
//!
//! A page needs no state of its own. Blocks are written in order and without gaps, so the pages of a block below its
//! fill mark are written and those above are free; a page is valid exactly if some logical page lies there. Free +
//! valid + invalid = all then holds by construction, and what can be wrong in a device shows as [`Rule::PageOnce`],
//! [`Rule::PageOrder`], [`Rule::EraseValid`] or [`Rule::VictimCount`].
//!
//! Memory: eight bytes a block, and four bytes a logical page, which the system commits only where pages are written.

use flashlane_core::units::Ppa;
use flashlane_core::{Geometry, Lpn, PlaneId};

use super::Start;
use super::rule::{Log, Rule};

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
    /// Place plus one by logical page; 0 where nothing was written since the start.
    map: Vec<u32>,
    blocks: Vec<Block>,
    start: Start,
}

impl Pages {
    /// The drive before the first event; [`Rule::StartState`] is checked here.
    pub(super) fn new(geometry: &Geometry, logical_pages: u32, start: Start, log: &mut Log) -> Pages {
        let known = !matches!(start, Start::Unknown);
        let blocks = geometry.planes() as usize * geometry.blocks_per_plane as usize;
        let mut pages = Pages {
            pages_per_plane: geometry.pages_per_plane(),
            pages_per_block: geometry.pages_per_block,
            blocks_per_plane: geometry.blocks_per_plane,
            map: vec![0; logical_pages as usize],
            blocks: vec![Block { filled: known, counted: known, ..Block::default() }; blocks],
            start: Start::Fresh,
        };
        pages.count(&start, log);
        pages.start = start;
        pages
    }

    /// Counts the pages of a known start: written by block, valid by looking up every logical page.
    fn count(&mut self, start: &Start, log: &mut Log) {
        let Start::Known { place, written } = start else { return };
        for index in 0..self.blocks.len() as u32 {
            let (plane, block) = (index / self.blocks_per_plane, index % self.blocks_per_plane);
            let fill = written(PlaneId(plane as u16), block);
            log.check(fill <= self.pages_per_block, Rule::StartState, || {
                format!("block {block} of plane {plane} has {fill} of {} pages written.", self.pages_per_block)
            });
            self.blocks[index as usize].written = fill.min(self.pages_per_block) as u16;
        }
        let mut taken = vec![0u64; (self.blocks.len() * self.pages_per_block as usize).div_ceil(64)];
        for lpn in 0..self.map.len() as u32 {
            let Some((plane, ppa)) = place(Lpn(lpn)) else { continue };
            let inside = ppa.0 < self.pages_per_plane
                && (plane.index() as u32) < self.blocks.len() as u32 / self.blocks_per_plane;
            let page = if inside { self.page(plane, ppa.0) } else { 0 };
            let block = &mut self.blocks[(page / self.pages_per_block) as usize];
            let written = inside && page % self.pages_per_block < block.written as u32;
            let (word, bit) = ((page / 64) as usize, 1 << (page % 64));
            let free = taken[word] & bit == 0;
            if log.check(written && free, Rule::StartState, || {
                let fault = if written { "holds another page too" } else { "is not written" };
                format!("logical page {lpn} lies on page {} of plane {}, which {fault}.", ppa.0, plane.0)
            }) {
                taken[word] |= bit;
                block.valid += 1;
            }
        }
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
        !matches!(self.start, Start::Unknown)
    }

    /// Where a logical page lies now.
    pub(super) fn find(&self, lpn: Lpn) -> Place {
        let page = match self.map[lpn.0 as usize] {
            0 => match &self.start {
                Start::Known { place, .. } => match place(lpn) {
                    Some((plane, Ppa(ppa))) if ppa < self.pages_per_plane => self.page(plane, ppa),
                    _ => return Place::NOWHERE,
                },
                Start::Fresh | Start::Unknown => return Place::NOWHERE,
            },
            stored => stored - 1,
        };
        match self.blocks.get((page / self.pages_per_block) as usize) {
            Some(block) => Place { page, erases: block.erases },
            None => Place::NOWHERE,
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
