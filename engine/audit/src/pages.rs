//! The auditor's own translation layer: where each logical page lies, and how full each block is.
//!
//! A page needs no state of its own. Blocks are written in order and without gaps, so the pages of a block below its
//! fill mark are written and those above are free; a page is valid exactly if some logical page lies there. Free +
//! valid + invalid = all then holds by construction, and what can be wrong in a device shows as [`Rule::PageOnce`],
//! [`Rule::PageOrder`], [`Rule::EraseValid`] or [`Rule::VictimCount`].
//!
//! What the drive holds at the start comes from a formula where there is one: it is evaluated for a block when an event first
//! changes the block or a check counts its pages, and a logical page is where the formula says until it is written.
//!
//! Memory: six bytes a block, and four bytes a logical page, which the system commits only where pages were written
//! or, without a formula, were mapped at the start.

use flashlane_core::units::Ppa;
use flashlane_core::{Lpn, PlaneId};
use flashlane_ssd::config::Config;
use rustc_hash::FxHashSet;

use super::rule::{Log, Rule};
use super::{Formula, LpnOf, Start, Written};

/// Where a logical page is in the whole device: `plane * pages per plane + ppa`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    page: u32,
}

impl Place {
    /// Nowhere, or not known.
    pub(super) const NOWHERE: Place = Place { page: u32::MAX };

    pub(super) fn is_known(self) -> bool {
        self != Place::NOWHERE
    }
}

/// The entry of a logical page that was trimmed.
const UNMAPPED: u32 = u32::MAX;

/// How much of a block is known.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum Known {
    /// Nothing: the formula has not been evaluated for it yet, or there is none.
    #[default]
    Nothing,
    /// How many pages are written, and of its valid pages those whose writes were seen.
    Written,
    /// Everything.
    All,
}

/// A block, as known from the start state and the events.
#[derive(Clone, Copy, Default, Debug)]
struct Block {
    /// Pages written since the last erase: the next program goes here.
    written: u16,
    /// Of those, the ones that hold a logical page.
    valid: u16,
    known: Known,
}

/// The map and the blocks.
pub(super) struct Pages {
    pages_per_plane: u32,
    pages_per_block: u32,
    blocks_per_plane: u32,
    /// Place plus one by logical page; [`UNMAPPED`] after a trim; 0: as the formula says or, without one, nowhere or unknown.
    map: Vec<u32>,
    blocks: Vec<Block>,
    /// What the drive holds at the start, if that is a formula.
    formula: Option<Box<dyn Formula>>,
    /// Blocks in SLC mode, and the pages of one.
    slc: FxHashSet<u32>,
    slc_pages: u32,
    /// Whether the initial state of the drive is known.
    knows_start: bool,
}

impl Pages {
    /// The drive before the first event. [`Rule::StartState`] is checked here, or with a formula when a block is asked about.
    pub(super) fn new(config: &Config, stored_pages: u32, start: Start<'_>, log: &mut Log) -> Pages {
        let geometry = &config.geometry;
        let blocks = geometry.planes() as usize * geometry.blocks_per_plane as usize;
        let known = if matches!(start, Start::Fresh) { Known::All } else { Known::Nothing };
        let mut pages = Pages {
            pages_per_plane: geometry.pages_per_plane(),
            pages_per_block: geometry.pages_per_block,
            blocks_per_plane: geometry.blocks_per_plane,
            map: vec![0; stored_pages as usize],
            blocks: vec![Block { known, ..Block::default() }; blocks],
            formula: None,
            slc: FxHashSet::default(),
            slc_pages: config.slc.as_ref().map_or(0, |slc| geometry.pages_per_block / slc.bits),
            knows_start: !matches!(start, Start::Unknown),
        };
        match start {
            Start::Fresh | Start::Unknown => {}
            Start::Known { lpn_of, written } => pages.take_over(lpn_of, written, log),
            Start::Formula(formula) => pages.formula = Some(formula),
        }
        pages
    }

    /// Notes what every block holds at the start.
    fn take_over(&mut self, lpn_of: &LpnOf<'_>, written: &Written<'_>, log: &mut Log) {
        for index in 0..self.blocks.len() as u32 {
            let (plane, block) = self.inside(index);
            let first = self.page(plane, 0) + 1;
            let map = &mut self.map;
            let claim = |lpn: Lpn, ppa: Ppa| {
                let slot = map.get_mut(lpn.0 as usize).filter(|slot| **slot == 0);
                slot.map(|slot| *slot = first + ppa.0).is_some()
            };
            let filled = written(plane, block);
            self.blocks[index as usize] = survey((plane, block), self.pages_per_block, filled, lpn_of, claim, log);
        }
    }

    /// Evaluates the formula for a block of which nothing is known. The block is still as it was at the start, since its pages
    /// change only after this call.
    fn learn(&mut self, index: u32, log: &mut Log) {
        if self.blocks[index as usize].known != Known::Nothing {
            return;
        }
        let Some(formula) = &self.formula else { return };
        let (plane, block) = self.inside(index);
        if let Some(valid) = formula.valid(plane, block) {
            let (written, valid) = (formula.written(plane, block) as u16, valid as u16);
            self.blocks[index as usize] = Block { written, valid, known: Known::All };
            return;
        }
        let lpn_of = |plane, ppa| formula.lpn_at(plane, ppa);
        let pages = self.map.len();
        let lies_there = |lpn: Lpn, ppa| (lpn.0 as usize) < pages && formula.place(lpn) == Some((plane, ppa));
        let filled = formula.written(plane, block);
        self.blocks[index as usize] = survey((plane, block), self.pages_per_block, filled, &lpn_of, lies_there, log);
    }

    /// Plane, and block inside it, of a block of the whole device.
    fn inside(&self, block: u32) -> (PlaneId, u32) {
        (PlaneId((block / self.blocks_per_plane) as u16), block % self.blocks_per_plane)
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

    /// Plane, and block inside it, as text.
    pub(super) fn describe(&self, block: u32) -> String {
        let (plane, block) = self.inside(block);
        format!("block {block} of plane {}", plane.0)
    }

    /// A known place, as text.
    pub(super) fn describe_place(&self, place: Place) -> String {
        format!("page {} of plane {}", place.page % self.pages_per_plane, place.page / self.pages_per_plane)
    }

    /// Whether the initial state of the drive is known.
    pub(super) fn knows_start(&self) -> bool {
        self.knows_start
    }

    /// Where a logical page is now.
    pub(super) fn find(&self, lpn: Lpn) -> Place {
        match self.map[lpn.0 as usize] {
            UNMAPPED => Place::NOWHERE,
            0 => match self.formula.as_ref().and_then(|formula| formula.place(lpn)) {
                Some((plane, ppa)) => Place { page: self.page(plane, ppa.0) },
                None => Place::NOWHERE,
            },
            stored => Place { page: stored - 1 },
        }
    }

    /// A logical page is written to a physical one. Returns where it was before.
    pub(super) fn map(&mut self, lpn: Lpn, plane: PlaneId, ppa: u32, log: &mut Log) -> Place {
        let old = self.find(lpn);
        let page = self.page(plane, ppa);
        if old.is_known() {
            let block = self.block_at(old);
            self.learn(block, log);
            let block = &mut self.blocks[block as usize];
            block.valid = block.valid.saturating_sub(1);
        }
        self.take(plane, ppa, Some(lpn), log).valid += 1;
        self.map[lpn.0 as usize] = page + 1;
        old
    }

    /// A page is programmed without data.
    pub(super) fn pad(&mut self, plane: PlaneId, ppa: u32, log: &mut Log) {
        self.take(plane, ppa, None, log);
    }

    /// A page is programmed: it must be the next of its block.
    fn take(&mut self, plane: PlaneId, ppa: u32, lpn: Option<Lpn>, log: &mut Log) -> &mut Block {
        let (page, offset) = (self.page(plane, ppa), (ppa % self.pages_per_block) as u16);
        self.learn(page / self.pages_per_block, log);
        let block = &mut self.blocks[(page / self.pages_per_block) as usize];
        let known = block.known != Known::Nothing;
        if known && offset < block.written {
            log.report(Rule::PageOnce, || {
                let what = lpn.map_or("a pad".to_owned(), |lpn| format!("logical page {}", lpn.0));
                format!("page {ppa} of plane {} was programmed again, for {what}.", plane.0)
            });
        } else if known && offset > block.written {
            let next = ppa - (offset - block.written) as u32;
            log.report(Rule::PageOrder, || {
                format!("page {ppa} of plane {} was programmed and page {next} is next.", plane.0)
            });
        } else if !known {
            block.known = Known::Written;
        }
        block.written = block.written.max(offset + 1);
        block
    }

    /// A logical page is trimmed. Returns where it was.
    pub(super) fn unmap(&mut self, lpn: Lpn, log: &mut Log) -> Place {
        let old = self.find(lpn);
        if old.is_known() {
            let block = self.block_at(old);
            self.learn(block, log);
            let block = &mut self.blocks[block as usize];
            block.valid = block.valid.saturating_sub(1);
        }
        self.map[lpn.0 as usize] = UNMAPPED;
        old
    }

    /// Whether a known place is this page of a plane.
    pub(super) fn is_at(&self, place: Place, plane: PlaneId, ppa: u32) -> bool {
        place.page == self.page(plane, ppa)
    }

    /// Whether the current copy of a logical page is there.
    pub(super) fn lies_at(&self, lpn: Lpn, plane: PlaneId, ppa: u32) -> bool {
        self.find(lpn).page == self.page(plane, ppa)
    }

    /// Pages of a block that hold a logical page, and whether that count is exact or a lower bound.
    pub(super) fn valid(&mut self, block: u32, log: &mut Log) -> (u32, bool) {
        self.learn(block, log);
        let block = &self.blocks[block as usize];
        (block.valid as u32, block.known == Known::All)
    }

    /// Whether every page of a block is written, as far as known.
    pub(super) fn full(&mut self, index: u32, log: &mut Log) -> bool {
        self.learn(index, log);
        let block = &self.blocks[index as usize];
        block.known != Known::All || block.written as u32 == self.capacity(index)
    }

    /// Pages of a block.
    fn capacity(&self, block: u32) -> u32 {
        if self.is_slc(block) { self.slc_pages } else { self.pages_per_block }
    }

    /// Whether a block is in SLC mode.
    #[inline]
    pub(super) fn is_slc(&self, block: u32) -> bool {
        !self.slc.is_empty() && self.slc.contains(&block)
    }

    /// A block is in SLC mode from now on.
    pub(super) fn enter_slc(&mut self, block: u32) {
        self.slc.insert(block);
    }

    /// A block is not in SLC mode any more.
    pub(super) fn leave_slc(&mut self, block: u32) {
        self.slc.remove(&block);
    }

    /// Pages of a block written since its last erase, if that is known.
    pub(super) fn written(&self, index: u32) -> Option<u32> {
        let block = &self.blocks[index as usize];
        if block.known != Known::Nothing {
            return Some(block.written.into());
        }
        let (plane, block) = self.inside(index);
        self.formula.as_ref().map(|formula| formula.written(plane, block))
    }

    /// The plane of a block.
    pub(super) fn plane_of(&self, block: u32) -> usize {
        (block / self.blocks_per_plane) as usize
    }

    /// A block was erased.
    pub(super) fn erase(&mut self, block: u32) {
        self.blocks[block as usize] = Block { written: 0, valid: 0, known: Known::All };
    }
}

/// What a block (counted inside its plane) holds at the start, if `filled` of its `pages` are declared written;
/// `lies_there` says whether a page is the only place of its logical page.
fn survey(
    (plane, block): (PlaneId, u32),
    pages: u32,
    filled: u32,
    lpn_of: &LpnOf<'_>,
    mut lies_there: impl FnMut(Lpn, Ppa) -> bool,
    log: &mut Log,
) -> Block {
    log.check(filled <= pages, Rule::StartState, || {
        format!("block {block} of plane {} has {filled} of {pages} pages written.", plane.0)
    });
    let mut valid = 0;
    for offset in 0..pages {
        let ppa = Ppa(block * pages + offset);
        let Some(lpn) = lpn_of(plane, ppa) else { continue };
        let fault = if offset >= filled {
            "was never written there"
        } else if !lies_there(lpn, ppa) {
            "lies elsewhere too, or does not exist"
        } else {
            valid += 1;
            continue;
        };
        log.report(Rule::StartState, || {
            format!("page {} of plane {} holds logical page {}, which {fault}.", ppa.0, plane.0, lpn.0)
        });
    }
    Block { written: filled.min(pages) as u16, valid, known: Known::All }
}
