//! Translation layer: where pages lie, and which blocks are free.
//!
//! Owns the page map and the reverse map, which entries of the map memory holds, the pages' validity, and the block pools of every plane.
//! It must never know queues, schedulers, or when garbage is collected.

mod blocks;
mod mapping;
mod mapping_cache;
mod precondition;
mod retries;
mod reverse;
mod segments;
mod shown;
mod validity;

use alloc::borrow::Cow;
use alloc::vec::Vec;

pub use blocks::SlcState;
pub(crate) use blocks::{Block, GroupMinima, Pool, Stream};
use blocks::{FreshPage, SlcBlocks};
use flashlane_core::{Board, Divisor, FlowId, Geometry, Lpn, PlaneId, Ppa};
pub(crate) use mapping::written_groups_bytes;
use mapping::{Map, PageFlows};
use mapping_cache::HeldEntries;
pub(crate) use mapping_cache::{ENTRY_BYTES as MAPPING_ENTRY_BYTES, HeldEntry, MappingCache, Rewrite};
use precondition::Initial;
pub(crate) use precondition::{PlaneReplay, PlaneStates};
pub(crate) use retries::BYTES_A_PAGE as RETRY_BYTES_A_PAGE;
use retries::Retries;
use reverse::Reverse;
pub(crate) use segments::{GROUP, SEGMENT, directory_bytes};
use serde::{Deserialize, Serialize};
use validity::{StoredValidity, Validity};

use crate::config::Config;

/// Counters of the translation layer.
#[derive(Clone, Copy, Default, Debug)]
pub struct FtlTotals {
    /// Pages programmed for the host (buffer evictions included).
    pub user_programs: u64,
    /// Pages programmed in SLC mode.
    pub slc_programs: u64,
    /// Pages programmed by garbage collection.
    pub gc_programs: u64,
    /// Translation pages programmed, not by garbage collection.
    pub mapping_programs: u64,
    /// Pages programmed by folding.
    pub fold_programs: u64,
    /// Pages of wordlines programmed without data.
    pub padded: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Mapped pages that were trimmed.
    pub unmapped: u64,
}

/// The translation layer of a device.
#[derive(Clone, Debug)]
pub struct Ftl {
    geometry: Geometry,
    block_size: Divisor,
    /// The page map.
    pub(crate) map: Map,
    reverse: Reverse,
    /// Which physical pages are valid.
    pub(crate) validity: Validity,
    pools: Vec<Pool>,
    /// Which flow's data each logical page holds. Kept only for schedulers that use it.
    page_flows: Option<PageFlows>,
    /// Which entries of the map memory holds; `None` if it holds all.
    pub(crate) cache: Option<MappingCache>,
    /// How often reads are tried again; `None` if all succeed at once.
    retries: Option<Retries>,
    /// Whether blocks are in SLC mode ([`Ftl::begin_slc`]).
    pub(crate) has_slc: bool,
    /// How many planes have no page in SLC mode; `None` unless one of them keeps writes from the cache of every plane ([`Ftl::fill_caches_together`]).
    full_caches: Option<u32>,
    /// Pages of native cells that one program writes: those of a wordline, or 1.
    pub(crate) wordline: u32,
    /// A full block with fewer valid pages may be a victim.
    pub(crate) victim_below: u32,
    /// Totals since the start.
    pub totals: FtlTotals,
}

/// Blocks of a plane by state.
#[derive(Clone, Copy, Debug)]
pub struct BlockCensus {
    pub free: u32,
    /// Sealed, with an invalid page.
    pub reclaimable: u32,
    /// Sealed, with valid pages only.
    pub full: u32,
}

impl Ftl {
    /// The translation layer of `config`, preconditioned by formula (model 0.9).
    pub fn new(config: &Config) -> Ftl {
        let initial = Initial::new(config);
        let map = Map::new(config, initial);
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
            page_flows: None,
            cache: None,
            retries: Retries::of(config),
            has_slc: false,
            full_caches: None,
            wordline: config.pages_of_a_program(),
            victim_below: config.pages_that_fill_a_block(),
            totals: FtlTotals::default(),
        }
    }

    /// From now on writes go first to blocks in SLC mode, if `config` has any. There is nothing in them before the run, unless an earlier use
    /// has left something ([`Ftl::begin_slc_in`]).
    pub(crate) fn begin_slc(&mut self, config: &Config) {
        let Some(slc) = config.slc.as_ref().filter(|_| !self.has_slc) else { return };
        self.has_slc = true;
        self.pools.iter_mut().for_each(|pool| pool.begin_slc(SlcBlocks::new(config, slc)));
    }

    /// From now on native cells are programmed a wordline at a time, if `config` says so: those begun before are given up.
    pub(crate) fn begin_wordlines(&mut self) {
        if self.wordline > 1 {
            let (pages, wordline) = (self.geometry.pages_per_block, self.wordline);
            self.pools.iter_mut().for_each(|pool| pool.pad_before_run(pages, wordline));
        }
    }

    /// Gives up the next page in the wordline that was written last for `stream`, or in SLC mode in the row; `None` if that is full.
    #[cold]
    pub(crate) fn pad(&mut self, plane: PlaneId, stream: Stream) -> Option<Ppa> {
        let (pool, pages) = (&mut self.pools[plane.index()], self.geometry.pages_per_block);
        let padded = match stream {
            Stream::User => pool.pad_slc(pages, self.geometry.slots),
            Stream::Wordline | Stream::Gc | Stream::Fold => pool.pad(stream, pages, self.wordline),
        };
        self.totals.padded += u64::from(padded.is_some());
        padded
    }

    /// Whether a row has several pages.
    pub(crate) fn has_rows(&self) -> bool {
        self.geometry.slots > 1
    }

    /// Whether the block of a page is in SLC mode.
    #[inline(always)]
    pub(crate) fn is_slc(&self, plane: PlaneId, ppa: Ppa) -> bool {
        self.has_slc && self.pools[plane.index()].is_slc(self.block_size.quotient(ppa.0.into()) as u32)
    }

    /// Whether the current copy of a logical page is in SLC mode; not if there is none.
    pub(crate) fn lies_in_slc(&self, lpn: Lpn) -> bool {
        self.has_slc && self.current(lpn).is_some_and(|(plane, ppa)| self.is_slc(plane, ppa))
    }

    /// Whether a page is the first of its block.
    pub(crate) fn is_first_of_block(&self, ppa: Ppa) -> bool {
        self.block_size.split(ppa.0.into()).1 == 0
    }

    /// Pages in SLC mode that hold the current copy of a logical page, those of blocks that are being folded aside.
    pub(crate) fn valid_slc_pages(&self) -> u64 {
        self.pools.iter().map(|pool| u64::from(pool.valid_slc_pages())).sum()
    }

    /// Pages that the host gets in SLC mode in a plane before any block is erased.
    pub(crate) fn slc_pages_for_writes(&self, plane: PlaneId) -> u32 {
        self.pools[plane.index()].slc_pages_for_writes()
    }

    /// Whether the SLC cache of a plane has a page for the host, or will have one once a block has been folded.
    pub(crate) fn cache_will_have_page(&self, plane: PlaneId) -> bool {
        self.pools[plane.index()].slc_will_have_page()
    }

    /// Page offset in its block of the next page of a plane that a wordline of the host gets, or one of its pages that may go to the SLC cache.
    pub(crate) fn next_offset(&self, plane: PlaneId, is_of_wordline: bool) -> u32 {
        let (pool, pages) = (&self.pools[plane.index()], self.geometry.pages_per_block);
        if is_of_wordline { pool.next_native_page(pages) } else { pool.next_page(pages) }
    }

    /// Whether the host can be given a page of a plane.
    pub(crate) fn has_free_page(&self, plane: PlaneId) -> bool {
        self.pools[plane.index()].has_free_page(self.geometry.pages_per_block)
    }

    /// Whether moved pages go to open blocks of their own.
    pub(crate) fn separates_moves(&self) -> bool {
        !self.pools[0].uses_host_block(Stream::Gc)
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

    /// How many pages of a plane hold the current copy of a logical page.
    pub fn valid_pages_of(&self, plane: PlaneId) -> u32 {
        self.pools[plane.index()].valid_pages(self.geometry.pages_per_block)
    }

    /// Unmaps `lpn` for `flow`. Returns where its copy was, which is invalid now; `None` if it had none. The caller updates what the board
    /// shows of valid pages.
    pub fn unmap(&mut self, lpn: Lpn, flow: FlowId, board: &mut Board) -> Option<(PlaneId, Ppa)> {
        let (plane, ppa) = self.current(lpn)?;
        if let Some(cache) = &mut self.cache {
            cache.changed(lpn, flow);
        }
        self.validity.invalidate(plane, ppa);
        self.pools[plane.index()].lost_a_page(self.block_size.quotient(ppa.0.into()) as u32);
        self.map.unmap(lpn);
        self.totals.unmapped += 1;
        let place = self.map.place(lpn);
        if let Some(flow) = self.page_flows.as_mut().and_then(|page_flows| page_flows.release(lpn, place)) {
            board.flows[flow.index()].page_lost();
        }
        Some((plane, ppa))
    }

    /// Whether a logical page has a copy: it was written and not trimmed since, or lay on the drive from the start.
    pub fn has_copy(&self, lpn: Lpn) -> bool {
        self.map.current(lpn).is_some()
    }

    /// The valid pages of a block, in order, each with the logical page whose copy it holds.
    pub fn valid_pages(&self, plane: PlaneId, block: u32, out: &mut Vec<(Ppa, Lpn)>) {
        out.clear();
        // `for_each` instead of `extend`, which calls `next` of the nested iterator for every page and is slower.
        out.reserve(usize::from(self.pools[plane.index()].valid_when_sealed()[block as usize]));
        let (lpn_at, first) = (self.lpns_of(plane, block), block * self.geometry.pages_per_block);
        self.validity.valid_pages(plane, block).for_each(|ppa| out.push((ppa, lpn_at(ppa.0 - first))));
    }

    /// Records the erase of a block, which must not have any valid page.
    pub fn erased(&mut self, plane: PlaneId, block: u32) {
        debug_assert!(self.validity.valid_pages(plane, block).next().is_none(), "erased a block with valid pages");
        self.pools[plane.index()].erased(block, self.geometry.pages_per_block);
        self.totals.erases += 1;
    }

    /// Sets the totals and all erase counts to zero: preconditioning is not counted.
    pub fn reset_counts(&mut self) {
        self.totals = FtlTotals::default();
        self.pools.iter_mut().for_each(Pool::reset_wear);
    }

    /// Further steps that a read of the current copy of `lpn` takes: none for a page never written, nor for one in SLC mode.
    #[inline(always)]
    pub fn retry_steps(&self, lpn: Lpn) -> u8 {
        match &self.retries {
            None => 0,
            Some(retries) => self.current(lpn).map_or(0, |(plane, ppa)| {
                let (pool, block) = (&self.pools[plane.index()], self.block_size.quotient(ppa.0.into()) as u32);
                if pool.is_slc(block) { 0 } else { retries.steps(lpn, pool.erases_of(block)) }
            }),
        }
    }

    /// A write of `lpn` is programmed, or dropped for a younger one.
    #[inline(always)]
    pub fn count_version(&mut self, lpn: Lpn) {
        if let Some(retries) = &mut self.retries {
            retries.written(lpn);
        }
    }

    /// Lets memory hold only a part of the map's entries, if `config` says so; a used drive holds those it held. Called before the first
    /// request.
    pub(crate) fn cache_entries(&mut self, config: &Config) {
        if self.cache.is_some() {
            return;
        }
        self.cache = config.mapping.as_ref().map(|mapping| MappingCache::new(mapping, config.ftl.logical_pages));
    }

    /// Records which flow's data each page holds from now on, if it does not yet.
    pub fn keep_page_flows(&mut self, config: &Config, board: &mut Board) {
        if self.page_flows.is_some() {
            return;
        }
        let (pages, places) = (config.ftl.logical_pages, self.map.places());
        let page_flows = PageFlows::new(&config.flows, pages, places, self.map.initial().data());
        let counts = page_flows.first_counts(config.flows.len());
        board.flows.iter_mut().zip(counts).for_each(|(flow, pages)| flow.pages_gained(pages));
        self.page_flows = Some(page_flows);
    }

    /// Counts a program of `lpn` for `flow`, whose data it now holds. Its entry of the map changes.
    #[inline(always)]
    pub fn claim(&mut self, lpn: Lpn, flow: FlowId, board: &mut Board) {
        if let Some(cache) = &mut self.cache {
            if cache.is_translation_page(lpn) {
                return;
            }
            cache.changed(lpn, flow);
        }
        board.flows[flow.index()].page_programmed();
        let Some(page_flows) = &mut self.page_flows else { return };
        if let Some(old) = page_flows.claim(lpn, self.map.place(lpn), flow) {
            board.flows[old.index()].page_lost();
        }
        board.flows[flow.index()].pages_gained(1);
    }

    /// Counts a move of `lpn` for the flow whose data it holds, if that is recorded.
    #[inline(always)]
    pub fn count_move(&self, lpn: Lpn, board: &mut Board) {
        if let Some(flow) = self.owner_of(lpn) {
            board.flows[flow.index()].page_moved();
        }
    }

    /// Counts an erase, if which flow's data pages hold is recorded: FLIN eq. 10 counts the pages a flow has written since the last one.
    pub fn count_erase(&self, board: &mut Board) {
        if self.page_flows.is_some() {
            board.flows.iter_mut().for_each(flashlane_core::board::Flow::block_erased);
        }
    }

    /// The flow whose data `lpn` holds; `None` if it is no flow's, or that is not recorded.
    fn owner_of(&self, lpn: Lpn) -> Option<FlowId> {
        self.page_flows.as_ref().and_then(|page_flows| page_flows.of(lpn, self.map.place(lpn)))
    }

    /// The logical page whose copy a valid physical page holds.
    #[inline]
    pub fn lpn_at(&self, plane: PlaneId, ppa: Ppa) -> Lpn {
        debug_assert!(self.validity.is_valid(plane, ppa));
        let (block, page) = self.block_size.split(ppa.0.into());
        self.lpns_of(plane, block as u32)(page as u32)
    }

    /// The logical page whose copy a valid page of a block holds, by its number in the block.
    #[inline(always)]
    fn lpns_of(&self, plane: PlaneId, block: u32) -> impl Fn(u32) -> Lpn + '_ {
        let (written, initial) = (self.reverse.written_for(plane, block), self.map.initial_lpns(plane, block));
        move |page| written.page(page).unwrap_or_else(|| initial(page))
    }

    /// Where the current copy of `lpn` lies; `None` for a page never written, or trimmed.
    #[inline(always)]
    fn current(&self, lpn: Lpn) -> Option<(PlaneId, Ppa)> {
        let copy = self.map.current(lpn);
        debug_assert!(copy.is_none_or(|(plane, ppa)| self.validity.is_valid(plane, ppa)), "the current copy is valid");
        copy
    }

    /// Prefetches the validity and the page count of the block that holds the current copy of `lpn`. Reads the map entry of
    /// `lpn`, so prefetch that first.
    #[inline]
    pub fn prefetch_copy(&self, lpn: Lpn) {
        if let Some((plane, ppa)) = self.current(lpn) {
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

    /// Maps `lpn`, written by the host or by the mapping cache, to a new physical page in `plane`. `None` when the plane has no free page for the host.
    /// The caller updates the board ([`Ftl::publish`]).
    pub fn write(&mut self, lpn: Lpn, plane: PlaneId) -> Option<Ppa> {
        self.write_for(lpn, plane, Stream::User)
    }

    /// The same for a page of a wordline, which goes to native cells.
    #[cold]
    pub(crate) fn write_in_wordline(&mut self, lpn: Lpn, plane: PlaneId) -> Option<Ppa> {
        self.write_for(lpn, plane, Stream::Wordline)
    }

    #[inline(always)]
    fn write_for(&mut self, lpn: Lpn, plane: PlaneId, stream: Stream) -> Option<Ppa> {
        let segment = |block| self.reverse.open(plane, block);
        let fresh = self.pools[plane.index()].take_page(stream, self.geometry.pages_per_block, segment)?;
        match &self.cache {
            Some(cache) if cache.is_translation_page(lpn) => self.totals.mapping_programs += 1,
            _ => self.totals.user_programs += 1,
        }
        if self.has_slc {
            self.totals.slc_programs += u64::from(self.is_slc(plane, fresh.ppa));
        }
        if let Some((old_plane, old)) = self.current(lpn) {
            self.validity.invalidate(old_plane, old);
            self.pools[old_plane.index()].lost_a_page(self.block_size.quotient(old.0.into()) as u32);
        }
        self.fill(lpn, plane, &fresh);
        Some(fresh.ppa)
    }

    /// Maps `lpn`, whose current copy is at `from` in a victim of `plane`, to another physical page of that plane, for `stream`. The
    /// caller passes `from` because reading the map would be a cache miss on a large drive.
    #[inline(always)]
    pub fn move_page(&mut self, lpn: Lpn, plane: PlaneId, from: Ppa, stream: Stream) -> Ppa {
        debug_assert!(self.current(lpn) == Some((plane, from)), "moves the current copy");
        let segment = |block| self.reverse.open(plane, block);
        let fresh = self.pools[plane.index()].take_page(stream, self.geometry.pages_per_block, segment);
        let fresh = fresh.expect("one block is kept for moves");
        match stream {
            Stream::Fold => self.totals.fold_programs += 1,
            _ => self.totals.gc_programs += 1,
        }
        self.validity.invalidate(plane, from);
        self.fill(lpn, plane, &fresh);
        fresh.ppa
    }

    /// The same for logical pages that one program writes, as many of the first of them as fit into one block: they get physical pages that follow one
    /// another. `page` gives each with where its current copy is. Returns the first physical page, and their number.
    #[inline(always)]
    pub fn move_run(
        &mut self,
        plane: PlaneId,
        most: u32,
        stream: Stream,
        page: impl Fn(u32) -> (Lpn, Ppa),
    ) -> (Ppa, u32) {
        let segment = |block| self.reverse.open(plane, block);
        let pages = self.geometry.pages_per_block;
        let run = self.pools[plane.index()].take_pages_for_moves(stream, most, pages, segment);
        let (fresh, count) = run.expect("one block is kept for moves");
        debug_assert!((0..count).map(&page).all(|(lpn, from)| self.current(lpn) == Some((plane, from))), "current");
        match stream {
            Stream::Fold => self.totals.fold_programs += u64::from(count),
            _ => self.totals.gc_programs += u64::from(count),
        }
        self.validity.invalidate_each(plane, (0..count).map(|i| page(i).1));
        self.validity.validate_run(plane, fresh.ppa, count);
        self.reverse.set_run(fresh.segment, fresh.page, (0..count).map(|i| page(i).0));
        for i in 0..count {
            self.map.set(page(i).0, plane, Ppa(fresh.ppa.0 + i));
        }
        (fresh.ppa, count)
    }

    /// The entry of a page that a program of garbage collection moves has changed.
    #[inline(always)]
    pub(crate) fn entry_moved(&mut self, lpn: Lpn) {
        if let Some(cache) = self.cache.as_mut().filter(|cache| !cache.is_translation_page(lpn)) {
            let flow = self.page_flows.as_ref().and_then(|page_flows| page_flows.of(lpn, self.map.place(lpn)));
            cache.changed(lpn, flow.unwrap_or(FlowId(0)));
        }
    }

    /// Records that `lpn` is now in the page `fresh`: in the map, the reverse map and the validity bits.
    #[inline(always)]
    fn fill(&mut self, lpn: Lpn, plane: PlaneId, fresh: &FreshPage) {
        self.map.set(lpn, plane, fresh.ppa);
        self.reverse.set(fresh.segment, fresh.page, lpn);
        self.validity.validate(plane, fresh.ppa);
    }

    /// Blocks of a plane by state, for an error message.
    pub fn census(&self, plane: PlaneId) -> BlockCensus {
        let fills = self.victim_below as u16;
        let pool = &self.pools[plane.index()];
        let sealed = |full: bool| {
            let valid = pool.valid_when_sealed().iter().enumerate();
            valid.filter(|(b, v)| pool.is_sealed(*b as u32) && (**v >= fills) == full).count() as u32
        };
        BlockCensus { free: pool.free_blocks(), reclaimable: sealed(false), full: sealed(true) }
    }

    /// Checks that validity bits, page counts, map, reverse map and the flows' page counts on `board` agree. For tests: visits
    /// every page.
    pub fn check(&self, board: &Board) {
        for (pool, plane) in self.pools.iter().zip(0..) {
            let bits = |block| self.validity.valid_pages(PlaneId(plane), block).count() as u32;
            pool.check(self.geometry.pages_per_block, bits);
        }
        let mut valid = alloc::vec![0u64; board.flows.len()];
        let pages = self.geometry.pages_per_plane();
        for plane in (0..self.geometry.planes() as u16).map(PlaneId) {
            for ppa in (0..pages).map(Ppa) {
                if self.validity.is_valid(plane, ppa) {
                    let lpn = self.lpn_at(plane, ppa);
                    assert_eq!((self.map.plane_of(lpn), self.map.lookup(lpn)), (plane, ppa), "map of {lpn:?}");
                    if let Some(flow) = self.owner_of(lpn) {
                        valid[flow.index()] += 1;
                    }
                }
            }
        }
        for (flow, counted) in board.flows.iter().zip(valid) {
            assert_eq!(flow.valid_pages(), counted, "pages that hold a flow's data");
        }
    }
}

// What writes have changed of a drive's tables: with the configuration it gives the tables again.

/// The tables that writes change, as they are stored.
#[derive(Serialize, Deserialize)]
pub(crate) struct Tables<'a> {
    map: Cow<'a, [u32]>,
    reverse: Cow<'a, Reverse>,
    validity: StoredValidity,
    pools: Cow<'a, [Pool]>,
}

impl Ftl {
    /// What writes have changed. No page may have left its home plane.
    pub(crate) fn tables(&self) -> Tables<'_> {
        Tables {
            map: self.map.entries(),
            reverse: Cow::Borrowed(&self.reverse),
            validity: self.validity.stored(),
            pools: Cow::Borrowed(&self.pools),
        }
    }

    /// The translation layer of `config` after the writes that made `tables`; `None` if they are of a drive of another size.
    pub(crate) fn with_tables(config: &Config, tables: Tables<'_>) -> Option<Ftl> {
        let mut ftl = Ftl::new(config);
        let Tables { map, reverse, validity, pools } = tables;
        let fits = map.len() == ftl.map.pages()
            && reverse.fits(&ftl.reverse)
            && pools.len() == ftl.pools.len()
            && pools.iter().zip(&ftl.pools).all(|(pool, own)| pool.fits(own));
        if !fits {
            return None;
        }
        ftl.validity.restore(&validity)?;
        ftl.map.set_entries(map.into_owned());
        (ftl.reverse, ftl.pools) = (reverse.into_owned(), pools.into_owned());
        Some(ftl)
    }
}

/// All that a drive's use has changed of the translation layer, as it is stored.
#[derive(Serialize, Deserialize)]
pub(crate) struct UsedTables<'a> {
    tables: Tables<'a>,
    /// Empty if all pages are in their home planes.
    planes: Cow<'a, [u16]>,
    cache: Option<HeldEntries>,
    /// How often each page has been written, if reads are tried again.
    versions: Cow<'a, [u16]>,
}

impl Ftl {
    /// What the drive's use has changed. Memory has the translation pages `gathered`, which are still to be written.
    pub(crate) fn used_tables(&self, gathered: &[HeldEntry]) -> UsedTables<'_> {
        let held = |cache: &MappingCache| cache.held().into_iter().chain(gathered.iter().copied()).collect();
        UsedTables {
            tables: self.tables(),
            planes: self.map.planes_away(),
            cache: self.cache.as_ref().map(held),
            versions: Cow::Borrowed(self.retries.as_ref().map_or(&[], Retries::versions)),
        }
    }

    /// The translation layer of `config` after the use that made `used`; `None` if that is of another drive. Which flow's data a page holds
    /// is forgotten, and totals begin anew.
    pub(crate) fn with_used_tables(config: &Config, used: UsedTables<'_>) -> Option<Ftl> {
        let UsedTables { tables, planes, cache, versions } = used;
        let mut ftl = Ftl::with_tables(config, tables)?;
        ftl.map.set_planes(planes.into_owned())?;
        ftl.cache = match (config.mapping.as_ref(), cache) {
            (Some(mapping), Some(held)) => Some(MappingCache::holding(mapping, config.ftl.logical_pages, &held)?),
            (None, None) => None,
            _ => return None,
        };
        match &mut ftl.retries {
            Some(retries) => retries.set_versions(versions.into_owned())?,
            None if !versions.is_empty() => return None,
            None => {}
        }
        Some(ftl)
    }

    /// Which blocks are in SLC mode, plane by plane; empty without a cache. None may be being folded.
    pub(crate) fn slc_states(&self) -> Vec<SlcState> {
        self.pools.iter().filter_map(Pool::slc_state).collect()
    }

    /// Takes up the blocks that an earlier use of the drive of `config` left in SLC mode; `None` if they are of another drive.
    pub(crate) fn begin_slc_in(mut self, config: &Config, states: &[SlcState]) -> Option<Ftl> {
        let slc = config.slc.as_ref().filter(|_| states.len() == self.pools.len())?;
        self.pools.iter_mut().zip(states).try_for_each(|(pool, state)| pool.begin_slc_in(config, slc, state))?;
        self.has_slc = true;
        Some(self)
    }
}
