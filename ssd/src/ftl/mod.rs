//! Translation layer: where pages lie, and which blocks are free.
//!
//! Owns the page map and the reverse map, the pages' validity, and the block pools of every plane. It must never know queues,
//! schedulers, or when garbage is collected.

pub(crate) mod ages;
mod beginning;
mod group_minima;
mod initial;
pub mod map;
mod owners;
pub mod pool;
mod reverse;
mod validity;

use alloc::vec::Vec;

pub use beginning::Beginning;
use flashlane_core::{Board, Divisor, FlowId, Geometry, Lpn, PlaneId, Ppa};

use crate::config::Config;
pub(crate) use group_minima::GroupMinima;
use initial::Initial;
use map::Map;
use owners::Owners;
use pool::FreshPage;
pub(crate) use pool::{Block, Pool, Stream};
use reverse::{Reverse, WrittenFor};
use validity::Validity;

/// Counters of the translation layer.
#[derive(Clone, Copy, Default, Debug)]
pub struct FtlTotals {
    /// Pages programmed for the host (buffer evictions included).
    pub user_programs: u64,
    /// Pages programmed by garbage collection.
    pub gc_programs: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// The translation layer of a device.
#[derive(Debug)]
pub struct Ftl {
    geometry: Geometry,
    block_size: Divisor,
    map: Map,
    reverse: Reverse,
    validity: Validity,
    pools: Vec<Pool>,
    /// Whose data the pages hold, if anyone asks.
    owners: Option<Owners>,
    /// Totals since the start.
    pub totals: FtlTotals,
}

impl Ftl {
    /// The translation layer of `config` in the state that its formula gives; `is_static` when pages never leave their home
    /// plane.
    pub fn new(config: &Config, is_static: bool) -> Ftl {
        let initial = Initial::new(config);
        let map = Map::new(config, initial, is_static);
        let (validity, valid) = Validity::new(config, &map);
        let mut reverse = Reverse::new(&config.geometry);
        let pools = map.initial().pools(config, valid, &mut reverse);
        Ftl {
            geometry: config.geometry,
            block_size: Divisor::new(config.geometry.pages_per_block),
            map,
            reverse,
            validity,
            pools,
            owners: None,
            totals: FtlTotals::default(),
        }
    }

    /// Erased blocks of a plane.
    #[inline]
    pub fn free_blocks(&self, plane: PlaneId) -> u32 {
        self.pools[plane.index()].free_blocks()
    }

    /// The blocks of a plane, and the pages of each, for the choice of a victim.
    pub(crate) fn pool_mut(&mut self, plane: PlaneId) -> (&mut Pool, u32) {
        (&mut self.pools[plane.index()], self.geometry.pages_per_block)
    }

    /// The valid pages of a block, in order, each with the logical page whose copy it holds.
    pub fn valid_pages(&self, plane: PlaneId, block: u32, out: &mut Vec<(Ppa, Lpn)>) {
        out.clear();
        // (Not `extend`: it would ask the iterator of iterators for one page at a time.)
        out.reserve(usize::from(self.pools[plane.index()].valid_when_sealed()[block as usize]));
        let (written, first) = (self.reverse.written_for(plane, block), block * self.geometry.pages_per_block);
        let owner = |ppa: Ppa| self.owner_by(&written, plane, ppa, ppa.0 - first);
        self.validity.valid_pages(plane, block).for_each(|ppa| out.push((ppa, owner(ppa))));
    }

    /// A block without valid pages was erased.
    pub fn erased(&mut self, plane: PlaneId, block: u32) {
        debug_assert!(self.validity.valid_pages(plane, block).next().is_none(), "erased a block with valid pages");
        self.pools[plane.index()].erased(block, self.geometry.pages_per_block);
        self.totals.erases += 1;
    }

    /// What has been done so far does not count, in totals or in wear.
    pub fn reset_counts(&mut self) {
        self.totals = FtlTotals::default();
        self.pools.iter_mut().for_each(Pool::reset_wear);
    }

    /// Begins to keep whose data the pages hold, before the first request.
    pub fn keep_owners(&mut self, config: &Config, board: &mut Board) {
        let owners = Owners::new(&config.flows, config.ftl.logical_pages, self.map.initial().written());
        let counts = owners.first_counts(config.flows.len());
        board.flows.iter_mut().zip(counts).for_each(|(flow, pages)| flow.valid_pages = pages);
        self.owners = Some(owners);
    }

    /// Notes that `lpn` is `flow`'s data now.
    pub fn claim(&mut self, lpn: Lpn, flow: FlowId, board: &mut Board) {
        let Some(owners) = &mut self.owners else { return };
        if let Some(old) = owners.claim(lpn, flow) {
            board.flows[old.index()].valid_pages -= 1;
        }
        board.flows[flow.index()].valid_pages += 1;
    }

    /// Whose data `lpn` is, as far as that is kept.
    pub fn owner_of(&self, lpn: Lpn) -> Option<FlowId> {
        self.owners.as_ref().and_then(|owners| owners.of(lpn))
    }

    /// The plane where `lpn` lies, or would.
    #[inline]
    pub fn plane_of(&self, lpn: Lpn) -> PlaneId {
        self.map.plane_of(lpn)
    }

    /// The plane static allocation gives `lpn`.
    #[inline]
    pub fn home(&self, lpn: Lpn) -> PlaneId {
        self.map.home(lpn).0
    }

    /// Where `lpn` lies in its plane. A page never written has the address a full sequential fill would give it.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Ppa {
        self.map.lookup(lpn)
    }

    /// Whether the physical page holds the current copy of a logical page.
    #[inline]
    pub fn is_valid(&self, plane: PlaneId, ppa: Ppa) -> bool {
        self.validity.is_valid(plane, ppa)
    }

    /// The logical page whose copy a valid physical page holds.
    #[inline]
    pub fn owner(&self, plane: PlaneId, ppa: Ppa) -> Lpn {
        debug_assert!(self.is_valid(plane, ppa));
        let (block, page) = self.block_size.split(ppa.0.into());
        self.owner_by(&self.reverse.written_for(plane, block as u32), plane, ppa, page as u32)
    }

    /// [`Ftl::owner`], given what is known of the page's block.
    #[inline(always)]
    fn owner_by(&self, written: &WrittenFor<'_>, plane: PlaneId, ppa: Ppa, page: u32) -> Lpn {
        written.page(page).unwrap_or_else(|| self.map.initial_owner(plane, ppa))
    }

    /// Prefetches the map entry of `lpn`, which a program will look up and change.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        self.map.prefetch(lpn);
    }

    /// Prefetches what is kept of the page that holds the current copy of `lpn`. Reads its map entry, so prefetch that first.
    #[inline]
    pub fn prefetch_copy(&self, lpn: Lpn) {
        if let Some((plane, ppa)) = self.map.current(lpn, &self.validity) {
            self.validity.prefetch(plane, ppa);
            self.pools[plane.index()].prefetch(self.block_size.quotient(ppa.0.into()) as u32);
        }
    }

    /// Programmed pages of a block, from its start.
    pub fn written(&self, plane: PlaneId, block: u32) -> u32 {
        self.pools[plane.index()].written(block, self.geometry.pages_per_block)
    }

    /// Erase counts of all blocks, plane by plane.
    pub fn erase_counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.pools.iter().flat_map(Pool::erase_counts)
    }

    /// Gives `lpn`, written by the host, a new physical page in `plane` and maps it there. `None` when the plane has no
    /// page to give. The caller refreshes the board ([`Ftl::show`]).
    pub fn write(&mut self, lpn: Lpn, plane: PlaneId) -> Option<Ppa> {
        let row = |block| self.reverse.open(plane, block);
        let fresh = self.pools[plane.index()].take_page(Stream::User, self.geometry.pages_per_block, row)?;
        self.totals.user_programs += 1;
        if let Some((old_plane, old)) = self.map.current(lpn, &self.validity) {
            self.validity.invalidate(old_plane, old);
            self.pools[old_plane.index()].lost_a_page(self.block_size.quotient(old.0.into()) as u32);
        }
        self.fill(lpn, plane, &fresh);
        Some(fresh.ppa)
    }

    /// Gives `lpn`, whose current copy is at `from` in a victim of `plane`, another physical page there and maps it. That copy
    /// need not be looked up: on a large drive the map's entry is far away.
    #[inline(always)]
    pub fn move_page(&mut self, lpn: Lpn, plane: PlaneId, from: Ppa) -> Ppa {
        debug_assert!(self.map.current(lpn, &self.validity) == Some((plane, from)), "moves the current copy");
        let row = |block| self.reverse.open(plane, block);
        let fresh = self.pools[plane.index()].take_page(Stream::Gc, self.geometry.pages_per_block, row);
        let fresh = fresh.expect("one block is kept for moves");
        self.totals.gc_programs += 1;
        self.validity.invalidate(plane, from);
        self.fill(lpn, plane, &fresh);
        fresh.ppa
    }

    /// `lpn` lies in a page from now on.
    #[inline(always)]
    fn fill(&mut self, lpn: Lpn, plane: PlaneId, fresh: &FreshPage) {
        self.map.set(lpn, plane, fresh.ppa);
        self.reverse.set(fresh.row, fresh.page, lpn);
        self.validity.validate(plane, fresh.ppa);
    }

    /// Updates what the board shows of `plane`'s blocks and pages.
    #[inline]
    pub fn show(&self, board: &mut Board, plane: PlaneId) {
        let pool = &self.pools[plane.index()];
        let shown = &mut board.planes[plane.index()];
        shown.free_blocks = pool.free_blocks();
        shown.free_pages = pool.free_pages();
        shown.next_page = pool.next_page(self.geometry.pages_per_block);
        shown.room = pool.has_room(self.geometry.pages_per_block);
    }

    /// Updates the board after one more page was written for `stream`. False if more than that has changed: then the plane must be
    /// shown as a whole ([`Ftl::show`]), and may want collecting.
    #[inline(always)]
    pub fn show_page(&mut self, board: &mut Board, plane: PlaneId, stream: Stream) -> bool {
        let pool = &mut self.pools[plane.index()];
        if core::mem::take(&mut pool.board_stale) {
            return false;
        }
        let shown = &mut board.planes[plane.index()];
        shown.free_pages = pool.free_pages();
        shown.next_page += u32::from(pool.is_hosts(stream));
        true
    }

    /// Free and sealed blocks, for an error message: (free, with an invalid page, all valid).
    pub fn census(&self, plane: PlaneId) -> (u32, u32, u32) {
        let pages = self.geometry.pages_per_block as u16;
        let pool = &self.pools[plane.index()];
        let sealed = |full: bool| {
            let valid = pool.valid_when_sealed().iter().enumerate();
            valid.filter(|(b, v)| pool.is_sealed(*b as u32) && (**v == pages) == full).count() as u32
        };
        (pool.free_blocks(), sealed(false), sealed(true))
    }

    /// Checks that bits, counts, map, reverse map and what `board` shows of the flows agree; for tests. Visits every
    /// page.
    pub fn check(&self, board: &Board) {
        for (pool, plane) in self.pools.iter().zip(0..) {
            let bits = |block| self.validity.valid_pages(PlaneId(plane), block).count() as u32;
            pool.check(self.geometry.pages_per_block, bits);
        }
        let mut valid = alloc::vec![0u64; board.flows.len()];
        let pages = self.geometry.pages_per_plane();
        for plane in (0..self.geometry.planes() as u16).map(PlaneId) {
            for ppa in (0..pages).map(Ppa) {
                if self.is_valid(plane, ppa) {
                    let lpn = self.owner(plane, ppa);
                    assert_eq!((self.plane_of(lpn), self.lookup(lpn)), (plane, ppa), "map of {lpn:?}");
                    if let Some(flow) = self.owner_of(lpn) {
                        valid[flow.index()] += 1;
                    }
                }
            }
        }
        for (flow, counted) in board.flows.iter().zip(valid) {
            assert_eq!(flow.valid_pages, counted, "pages that hold a flow's data");
        }
    }
}
