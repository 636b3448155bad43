//! Translation layer: where pages lie, which blocks are free, what garbage collection should empty next.
//!
//! Owns the page map and the way back, the pages' validity, the block pools and the collection jobs of every plane. It
//! hands work over and never issues any; it must never know queues, schedulers or the controller.

mod ages;
mod beginning;
mod initial;
mod jobs;
mod lows;
pub mod map;
mod owners;
pub mod pool;
mod replay;
mod reverse;
mod validity;
mod victim;

use alloc::vec::Vec;

pub use beginning::Beginning;
use flashlane_core::{Board, Divisor, FlowId, Geometry, Lpn, PlaneId, Ppa};
use rand_pcg::Pcg64Mcg;

use crate::config::{Config, Precondition, Victim};
use initial::Initial;
use jobs::Job;
use map::Map;
use owners::Owners;
pub use pool::Stream;
use pool::{FreshPage, Pool};
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
    /// Victims chosen.
    pub victims: u64,
    /// Valid pages in them when they were chosen.
    pub victim_valid: u64,
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
    jobs: Vec<Option<Job>>,
    victim: Victim,
    start_blocks: u32,
    /// Whose data the pages hold, if anyone asks.
    owners: Option<Owners>,
    /// Pages of a victim; kept for its memory.
    scratch: Vec<(Ppa, Lpn)>,
    rng: Pcg64Mcg,
    /// Totals since the start.
    pub totals: FtlTotals,
}

impl Ftl {
    /// The translation layer of `config`, preconditioned; `is_static` when pages never leave their home plane.
    pub fn new(config: &Config, is_static: bool) -> Ftl {
        let initial = Initial::new(config);
        let map = Map::new(config, initial, is_static);
        let (validity, valid) = Validity::new(config, &map);
        let mut reverse = Reverse::new(&config.geometry);
        let pools = map.initial().pools(config, valid, &mut reverse);
        let mut ftl = Ftl {
            geometry: config.geometry,
            block_size: Divisor::new(config.geometry.pages_per_block),
            map,
            reverse,
            validity,
            jobs: alloc::vec![None; pools.len()],
            pools,
            victim: config.gc.victim,
            start_blocks: config.gc.start_blocks,
            owners: None,
            scratch: Vec::new(),
            rng: Pcg64Mcg::new(((config.seed as u128) << 64) | 0x5eed_0f7c_11ec_7013),
            totals: FtlTotals::default(),
        };
        if let Precondition::Replayed { percent } = config.precondition {
            ftl.replay(config, percent);
        }
        ftl
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

    /// The same, given what is kept of the page's block.
    #[inline(always)]
    fn owner_by(&self, kept: &WrittenFor<'_>, plane: PlaneId, ppa: Ppa, page: u32) -> Lpn {
        kept.page(page).unwrap_or_else(|| self.map.initial_owner(plane, ppa))
    }

    /// Has the memory fetch what a program of `lpn` is going to look up and change.
    #[inline]
    pub fn expect(&self, lpn: Lpn) {
        self.map.expect(lpn);
    }

    /// The same, when the entry has been fetched, for the page that holds the current copy of `lpn`.
    #[inline]
    pub fn expect_copy(&self, lpn: Lpn) {
        if let Some((plane, ppa)) = self.map.current(lpn, &self.validity) {
            self.validity.expect(plane, ppa);
            self.pools[plane.index()].expect(self.block_size.quotient(ppa.0.into()) as u32);
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

    /// Puts what the board shows of `plane` in step with the pools.
    #[inline]
    pub fn show(&self, board: &mut Board, plane: PlaneId) {
        let pool = &self.pools[plane.index()];
        let shown = &mut board.planes[plane.index()];
        shown.free_blocks = pool.free_blocks();
        shown.free_pages = pool.free_pages();
        shown.next_page = pool.next_page(self.geometry.pages_per_block);
        shown.room = pool.has_room(self.geometry.pages_per_block);
        shown.collecting = self.jobs[plane.index()].is_some();
    }

    /// The same after one page more was written for `stream`, if that is all that has changed. Whether it is: if not, the plane
    /// must be shown as a whole, and may want collecting.
    #[inline(always)]
    pub fn show_page(&mut self, board: &mut Board, plane: PlaneId, stream: Stream) -> bool {
        let pool = &mut self.pools[plane.index()];
        if core::mem::take(&mut pool.turned) {
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
            let valid = pool.kept().iter().enumerate();
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
