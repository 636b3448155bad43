//! Blocks in SLC mode: when they are opened, what goes there, and when they are folded.
//!
//! Of each plane it keeps which blocks are in SLC mode and in which order they were filled; how full they are is in [`super::pages`].
//! Written from model 0.14 and the doc comments of the configuration.

use std::collections::VecDeque;

use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_core::{Duration, PlaneId, Time};
use flashlane_ssd::config::{Config, FullCache};
use rustc_hash::FxHashSet;

use super::choice::Choice;
use super::pages::{Pages, Place};
use super::rule::{Log, Rule};
use super::transactions::Txn;
use super::victims::Victims;

/// The cache of a plane. Blocks are counted inside the plane.
#[derive(Clone, Default, Debug)]
struct Plane {
    open: Option<u32>,
    /// Erased static blocks.
    erased: u32,
    /// Blocks in SLC mode that are native once erased.
    dynamic: u32,
    /// Full blocks, in the order in which they were filled.
    filled: VecDeque<u32>,
    folding: Option<u32>,
    /// Programs of hosts and the buffer that wait for the plane.
    waiting: u32,
}

/// The caches of all planes, and what the times of folding depend on.
#[derive(Debug)]
pub(super) struct Slc {
    pages: u32,
    /// Pages of a row.
    slots: u32,
    pages_per_block: u32,
    first_static: u32,
    start_blocks: u32,
    most_dynamic: u32,
    full: FullCache,
    idle: Option<Duration>,
    planes: Vec<Plane>,
    /// Transactions of hosts and the buffer that have not ended, and of them the programs that wait.
    live: u64,
    waiting_writes: u64,
    last_end: Time,
    /// Writes that find the cache full are gathered to wordlines, which go to native cells.
    gathers: bool,
    /// Programs that must go to the cache if it has a page for them when they begin: it had more pages than programs waited when they joined their
    /// queues. Only kept where pages are gathered, and programs join their queues as soon as they are made.
    must_go_there: Option<FxHashSet<u64>>,
}

impl Slc {
    /// The empty cache of a device of `config`, if it has one.
    pub(super) fn new(config: &Config) -> Option<Slc> {
        let slc = config.slc.as_ref()?;
        let geometry = &config.geometry;
        let plane = Plane { erased: slc.static_blocks, ..Plane::default() };
        let gathers = config.passes_cache();
        Some(Slc {
            pages: geometry.pages_per_block / slc.bits,
            slots: geometry.slots,
            pages_per_block: geometry.pages_per_block,
            first_static: geometry.blocks_per_plane - slc.static_blocks,
            start_blocks: config.gc.start_blocks,
            most_dynamic: if slc.dynamic { slc.dynamic_limit } else { 0 },
            full: slc.full,
            idle: slc.idle,
            planes: vec![plane; geometry.planes() as usize],
            live: 0,
            waiting_writes: 0,
            last_end: Time::ZERO,
            gathers,
            must_go_there: (gathers && config.mapping.is_none()).then(FxHashSet::default),
        })
    }

    /// What an earlier use left in SLC mode in a plane.
    pub(super) fn holds(&mut self, plane: PlaneId, open: Option<u32>, filled: &[u32], erased: u32, pages: &mut Pages) {
        open.iter().chain(filled).for_each(|&block| pages.enter_slc(pages.block(plane, block)));
        let dynamic = open.iter().chain(filled).filter(|&&block| block < self.first_static).count() as u32;
        let filled = filled.iter().copied().collect();
        self.planes[plane.index()] = Plane { open, filled, erased, dynamic, ..Plane::default() };
    }

    /// Whether the cache of a plane has a page for a write.
    fn has_page(&self, plane: PlaneId, choice: &mut Choice, pages: &Pages) -> bool {
        let cache = &self.planes[plane.index()];
        let may_open = cache.dynamic < self.most_dynamic;
        cache.open.is_some() || cache.erased > 0 || may_open && self.has_spare_block(plane, choice, pages)
    }

    /// Whether a plane has more free blocks than collection wants; yes if that is not known.
    fn has_spare_block(&self, plane: PlaneId, choice: &mut Choice, pages: &Pages) -> bool {
        choice.free_blocks(plane, pages).is_none_or(|free| free > self.start_blocks)
    }

    /// A block was opened in SLC mode.
    pub(super) fn opened(&mut self, plane: PlaneId, block: u32, choice: &mut Choice, pages: &mut Pages, log: &mut Log) {
        let index = pages.block(plane, block);
        let fault = if pages.is_slc(index) || pages.written(index).is_some_and(|written| written > 0) {
            Some("it is not erased")
        } else if self.planes[plane.index()].open.is_some() {
            Some("another takes pages")
        } else if block >= self.first_static {
            None
        } else if self.most_dynamic == 0 || self.planes[plane.index()].erased > 0 {
            Some("it is not static")
        } else if self.planes[plane.index()].dynamic >= self.most_dynamic {
            Some("the plane has as many dynamic blocks as it may have")
        } else {
            (!self.has_spare_block(plane, choice, pages)).then_some("the plane has too few free blocks")
        };
        log.check(fault.is_none(), Rule::SlcOpen, || {
            format!("{} was opened in SLC mode and {}.", pages.describe(index), fault.unwrap_or_default())
        });
        pages.enter_slc(index);
        let cache = &mut self.planes[plane.index()];
        cache.open = Some(block);
        cache.erased = cache.erased.saturating_sub(u32::from(block >= self.first_static));
        cache.dynamic += u32::from(block < self.first_static);
    }

    /// A page is about to be written; `old` is where it was until now.
    pub(super) fn mapped(
        &mut self,
        (plane, ppa): (PlaneId, u32),
        old: Place,
        (choice, victims, pages): (&mut Choice, &Victims, &Pages),
        log: &mut Log,
    ) {
        let (block, offset) = (ppa / self.pages_per_block, ppa % self.pages_per_block);
        let index = pages.block(plane, block);
        if !pages.is_slc(index) {
            log.check(block < self.first_static, Rule::SlcOpen, || {
                format!("{} is static, takes a page and is not in SLC mode.", pages.describe(index))
            });
            // A page out of a victim may be moved, or written by the host.
            if !self.gathers && (!old.is_known() || !victims.contains(pages.block_at(old))) {
                self.goes_to_native(plane, choice, pages, log);
            }
            return;
        }
        log.check(offset < self.pages, Rule::SlcPages, || {
            format!("page {offset} of {} was programmed, which has {} in SLC mode.", pages.describe(index), self.pages)
        });
        self.programmed(plane, ppa);
    }

    /// A page was programmed, with data or without: its block in SLC mode may be full now.
    pub(super) fn programmed(&mut self, plane: PlaneId, ppa: u32) {
        let (block, offset) = (ppa / self.pages_per_block, ppa % self.pages_per_block);
        let cache = &mut self.planes[plane.index()];
        if offset + 1 == self.pages && cache.open == Some(block) {
            cache.open = None;
            cache.filled.push_back(block);
        }
    }

    /// A page of the host or the buffer goes to native cells.
    fn goes_to_native(&self, plane: PlaneId, choice: &mut Choice, pages: &Pages, log: &mut Log) {
        let cache = &self.planes[plane.index()];
        let waits = self.full == FullCache::Fold && !(cache.filled.is_empty() && cache.folding.is_none());
        let has_page = self.has_page(plane, choice, pages);
        log.check(!waits && !has_page, Rule::SlcFirst, || {
            let why = if has_page { "its cache has a page" } else { "its cache has a block to fold" };
            format!("a page was written to native cells of plane {} and {why}.", plane.0)
        });
    }

    /// A full block in SLC mode is about to be folded.
    pub(super) fn chosen(&mut self, plane: PlaneId, block: u32, choice: &mut Choice, pages: &Pages, log: &mut Log) {
        let index = pages.block(plane, block);
        let free = choice.free_blocks(plane, pages);
        let short = free.is_none_or(|free| free < self.start_blocks);
        let cache = &self.planes[plane.index()];
        let in_front = cache.filled.iter().take_while(|&&filled| filled != block);
        let in_order = in_front.into_iter().all(|&filled| short && filled >= self.first_static);
        log.check(in_order && cache.filled.contains(&block), Rule::FoldOrder, || {
            format!("{} is folded, of the full blocks {:?}.", pages.describe(index), cache.filled)
        });
        let for_write = self.full == FullCache::Fold && self.waiting_writes > 0 && !self.has_page(plane, choice, pages);
        let idle = self.live == 0 && self.idle.is_some_and(|idle| log.now >= self.last_end + idle);
        let for_blocks = short && block < self.first_static;
        log.check(for_write || idle || for_blocks, Rule::FoldNeed, || {
            let live = self.live;
            format!(
                "{} is folded: {free:?} free blocks, {live} host transactions, the last ended at {}.",
                pages.describe(index),
                self.last_end
            )
        });
        let cache = &mut self.planes[plane.index()];
        cache.filled.retain(|&filled| filled != block);
        cache.folding = Some(block);
    }

    /// Another block than one in SLC mode was chosen as a victim.
    pub(super) fn victim_chosen(&self, plane: PlaneId, log: &mut Log) {
        let foldable = self.planes[plane.index()].filled.iter().find(|&&block| block < self.first_static);
        log.check(foldable.is_none(), Rule::FoldFirst, || {
            format!("a victim of plane {} was chosen and block {foldable:?} could be folded.", plane.0)
        });
    }

    /// A block was erased.
    pub(super) fn erased(&mut self, plane: PlaneId, block: u32, pages: &mut Pages) {
        let cache = &mut self.planes[plane.index()];
        if cache.folding == Some(block) {
            cache.folding = None;
        }
        let index = pages.block(plane, block);
        if block >= self.first_static {
            cache.erased += 1;
        } else if pages.is_slc(index) {
            cache.dynamic = cache.dynamic.saturating_sub(1);
        }
        pages.leave_slc(index);
    }

    // Transactions.

    /// One joined a queue.
    pub(super) fn queued(&mut self, serial: u64, txn: &Txn, (choice, pages): (&mut Choice, &Pages)) {
        self.live += u64::from(!txn.owner.collects());
        if txn.owner.collects() || txn.op != FlashOp::Program {
            return;
        }
        self.waiting_writes += 1;
        self.planes[txn.plane.index()].waiting += 1;
        if self.must_go_there.is_none() {
            return;
        }
        // Each page that waits takes a row at most.
        let has_page = self.pages_left(txn.plane, choice, pages) / self.slots >= self.planes[txn.plane.index()].waiting;
        if let Some(programs) = self.must_go_there.as_mut().filter(|_| has_page) {
            programs.insert(serial);
        }
    }

    /// A lower bound of the pages that the cache of a plane has for writes before a block is erased.
    fn pages_left(&self, plane: PlaneId, choice: &mut Choice, pages: &Pages) -> u32 {
        let cache = &self.planes[plane.index()];
        let written = cache.open.map_or(Some(self.pages), |block| pages.written(pages.block(plane, block)));
        let spare = choice.free_blocks(plane, pages).map_or(0, |free| free.saturating_sub(self.start_blocks));
        let dynamic = spare.min(self.most_dynamic - cache.dynamic.min(self.most_dynamic));
        self.pages - written.unwrap_or(self.pages) + (cache.erased + dynamic) * self.pages
    }

    /// A waiting program goes from a plane to another.
    pub(super) fn moved(&mut self, serial: u64, txn: &Txn, to: PlaneId) {
        if txn.owner.collects() || txn.op != FlashOp::Program {
            return;
        }
        let waiting = &mut self.planes[txn.plane.index()].waiting;
        *waiting = waiting.saturating_sub(1);
        self.planes[to.index()].waiting += 1;
        self.must_go_there.iter_mut().for_each(|programs| _ = programs.remove(&serial));
    }

    /// A program waits no longer. Returns whether it must go to the cache.
    fn stops_waiting(&mut self, serial: u64, txn: &Txn) -> bool {
        if txn.op != FlashOp::Program {
            return false;
        }
        self.waiting_writes = self.waiting_writes.saturating_sub(1);
        let waiting = &mut self.planes[txn.plane.index()].waiting;
        *waiting = waiting.saturating_sub(1);
        self.must_go_there.as_mut().is_some_and(|programs| programs.remove(&serial))
    }

    /// One was dispatched to a page.
    pub(super) fn dispatched(
        &mut self,
        (serial, txn): (u64, &Txn),
        ppa: u32,
        (choice, pages): (&mut Choice, &Pages),
        log: &mut Log,
    ) {
        let block = pages.block_of(txn.plane, ppa);
        let is_slc = pages.is_slc(block);
        if !txn.owner.collects() {
            let must_go_there = self.stops_waiting(serial, txn);
            let passes_by = must_go_there && !is_slc && self.has_page(txn.plane, choice, pages);
            log.check(!passes_by, Rule::SlcFirst, || {
                let plane = txn.plane.0;
                format!("program {serial} goes to native cells of plane {plane}, whose cache has had a page for it.")
            });
        } else if txn.op == FlashOp::Program {
            log.check(!is_slc, Rule::SlcMoves, || {
                format!("logical page {} was moved to {}, which is in SLC mode.", txn.lpn.0, pages.describe(block))
            });
        } else {
            log.check(is_slc == (txn.owner == Owner::Fold), Rule::FoldOwner, || {
                format!("a {} of {} works {}.", txn.op.name(), txn.owner.name(), pages.describe(block))
            });
        }
    }

    /// One ended.
    pub(super) fn ended(&mut self, serial: u64, txn: &Txn, log: &Log) {
        if txn.owner.collects() {
            return;
        }
        self.live = self.live.saturating_sub(1);
        if txn.dispatched.is_some() {
            self.last_end = log.now;
        } else {
            self.stops_waiting(serial, txn);
        }
    }
}
