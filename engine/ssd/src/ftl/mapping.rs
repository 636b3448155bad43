//! By logical page: where it lies, and which flow's data it holds.
//!
//! Logical pages that were not written during the run are where preconditioning put them, which [`Initial`] computes. So a drive
//! of any size starts in milliseconds and takes memory only for the entries that a run touches ([`Segments`]).

use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::geometry::Stripe;
use flashlane_core::{FlowId, Lpn, PlaneId, Ppa};
use prefetch_index::prefetch_index;

use super::precondition::Initial;
use super::segments::Segments;
use crate::config::{Config, FlowConfig, Precondition};

/// The entry of a page that was trimmed.
const UNMAPPED: u32 = u32::MAX;

/// The page map.
#[derive(Clone, Debug)]
pub struct Map {
    stripe: Stripe,
    positions: Vec<u32>,
    /// Where the next two tables have the entry of a logical page.
    segments: Segments,
    /// Physical page plus one; 0 if it was not written during the run; [`UNMAPPED`] if it was trimmed since.
    forward: Vec<u32>,
    /// Plane plus one; 0 for its home plane. Empty when pages never leave their home plane.
    planes: Vec<u16>,
    written: WrittenGroups,
    initial: Initial,
    /// The number of logical pages; translation pages have the numbers behind them.
    logical_pages: u32,
}

impl Map {
    /// The map of a drive in the state `initial`.
    pub(super) fn new(config: &Config, initial: Initial) -> Map {
        let g = &config.geometry;
        let stripe = Stripe::new(g, config.ftl.order);
        let is_whole = matches!(config.precondition, Precondition::Replayed { .. });
        let segments = Segments::of_drive(config.stored_pages(), is_whole);
        Map {
            positions: stripe.positions(),
            stripe,
            forward: vec![0; segments.places()],
            segments,
            planes: Vec::new(),
            written: WrittenGroups::new(config.stored_pages()),
            initial,
            logical_pages: config.ftl.logical_pages,
        }
    }

    /// Lets pages leave their home plane, in which all are until then.
    pub(crate) fn enable_dynamic_placement(&mut self) {
        if self.planes.is_empty() {
            // Zeros that the system provides when they are touched.
            self.planes = vec![0; self.forward.len()];
        }
    }

    /// Whether pages may be away from their home plane.
    pub(crate) fn is_dynamic(&self) -> bool {
        !self.planes.is_empty()
    }

    /// The planes of all logical pages; nothing if all are at home.
    pub(super) fn planes_away(&self) -> Cow<'_, [u16]> {
        let is_any_away = self.planes.iter().any(|&plane| plane != 0);
        if is_any_away { self.segments.in_order(&self.planes) } else { Cow::Borrowed(&[]) }
    }

    /// Takes other planes for all logical pages, or for none of them, after [`Map::set_entries`]; `None` if they are of another drive.
    pub(super) fn set_planes(&mut self, planes: Vec<u16>) -> Option<()> {
        let fits = planes.is_empty() || planes.len() == self.forward.len();
        let most = self.positions.len() as u16;
        (fits && planes.iter().all(|&plane| plane <= most)).then(|| self.planes = planes)
    }

    /// The entries of all logical pages.
    pub(super) fn entries(&self) -> Cow<'_, [u32]> {
        self.segments.in_order(&self.forward)
    }

    /// Where another table that begins as zeros, one for each of [`Map::places`], has the entry of `lpn`: of a page that has not been written or
    /// trimmed, an entry that is zero.
    #[inline(always)]
    pub(super) fn place(&self, lpn: Lpn) -> usize {
        self.segments.place(lpn)
    }

    /// Entries of a table with one for each logical page.
    pub(super) fn places(&self) -> usize {
        self.segments.places()
    }

    /// How many logical pages have entries.
    pub(super) fn pages(&self) -> usize {
        self.segments.pages()
    }

    /// Takes other entries for all logical pages; they must be as many.
    pub(super) fn set_entries(&mut self, entries: Vec<u32>) {
        assert_eq!(entries.len(), self.pages(), "an entry for each logical page");
        self.segments = Segments::flat(entries.len() as u32);
        self.written = WrittenGroups::of(&entries);
        self.forward = entries;
    }

    /// The logical page that is number `local` of those of a plane.
    pub(super) fn lpn_of(&self, plane: PlaneId, local: u32) -> Lpn {
        self.stripe.lpn_of(self.positions[plane.index()], local)
    }

    /// The initial state.
    pub(super) fn initial(&self) -> &Initial {
        &self.initial
    }

    /// Pages that the initial state puts on `plane`.
    pub(super) fn initial_pages(&self, plane: PlaneId) -> u32 {
        self.stripe.pages_at(self.positions[plane.index()], self.initial.written())
    }

    /// Home plane of `lpn`, and which of that plane's logical pages it is. Translation pages continue the stripe where the data of the
    /// first state ends.
    #[inline]
    pub fn home(&self, lpn: Lpn) -> (PlaneId, u32) {
        if lpn.0 < self.logical_pages { self.stripe.home(lpn) } else { self.home_of_translation(lpn) }
    }

    #[cold]
    fn home_of_translation(&self, lpn: Lpn) -> (PlaneId, u32) {
        self.stripe.home(Lpn(lpn.0 - self.logical_pages + self.initial.data()))
    }

    /// The plane where `lpn` lies; its home plane if it was never written.
    #[inline]
    pub fn plane_of(&self, lpn: Lpn) -> PlaneId {
        match self.planes.get(self.segments.place(lpn)) {
            Some(&plane) if plane != 0 => PlaneId(plane - 1),
            _ => self.home(lpn).0,
        }
    }

    /// The entry of `lpn`, which is read from memory only if a page of its group was written.
    #[inline(always)]
    fn entry(&self, lpn: Lpn) -> u32 {
        if self.written.has(lpn) { self.forward[self.segments.place(lpn)] } else { 0 }
    }

    /// Where `lpn` lies in its plane; a page without a copy, where it would lie if it had been on the drive from the start.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Ppa {
        match self.entry(lpn) {
            0 | UNMAPPED => self.initial.address(self.home(lpn).1),
            ppa => Ppa(ppa - 1),
        }
    }

    /// Where the current copy of `lpn` lies; `None` for a page never written, or trimmed.
    #[inline]
    pub(crate) fn current(&self, lpn: Lpn) -> Option<(PlaneId, Ppa)> {
        match self.entry(lpn) {
            0 => {
                let (plane, local) = self.home(lpn);
                let limit =
                    if lpn.0 < self.logical_pages { self.initial.data() } else { self.initial.end(self.logical_pages) };
                (lpn.0 < limit).then(|| (plane, self.initial.address(local)))
            }
            UNMAPPED => None,
            ppa => Some((self.plane_of(lpn), Ppa(ppa - 1))),
        }
    }

    /// Maps `lpn` to a physical page.
    #[inline]
    pub(super) fn set(&mut self, lpn: Lpn, plane: PlaneId, ppa: Ppa) {
        let place = self.segments.place_to_write(lpn);
        self.forward[place] = ppa.0 + 1;
        self.written.add(lpn);
        if let Some(entry) = self.planes.get_mut(place) {
            *entry = plane.0 + 1;
        }
    }

    /// Unmaps `lpn`, which then lies nowhere and counts as at home.
    pub(super) fn unmap(&mut self, lpn: Lpn) {
        let place = self.segments.place_to_write(lpn);
        self.forward[place] = UNMAPPED;
        self.written.add(lpn);
        if let Some(entry) = self.planes.get_mut(place) {
            *entry = 0;
        }
    }

    /// Which logical page the initial state puts into a page of a block, which must be valid and not written since.
    #[inline(always)]
    pub(super) fn initial_lpns(&self, plane: PlaneId, block: u32) -> impl Fn(u32) -> Lpn + '_ {
        let position = self.positions[plane.index()];
        let (local_at, data, logical_pages) = (self.initial.locals_of(block), self.initial.data(), self.logical_pages);
        move |page| {
            let at = self.stripe.lpn_of(position, local_at(page)).0;
            Lpn(if at < data { at } else { at - data + logical_pages })
        }
    }

    /// Prefetches the entry of `lpn`, which is about to be written: on a large drive, using it is a cache miss.
    #[inline]
    pub(crate) fn prefetch(&self, lpn: Lpn) {
        prefetch_index(&self.forward, self.segments.place(lpn));
    }

    /// Prefetches what [`Map::lookup`] of `lpn` reads.
    #[inline]
    pub(crate) fn prefetch_lookup(&self, lpn: Lpn) {
        if self.written.has(lpn) {
            self.prefetch(lpn);
        }
    }
}

// Which parts of the map the run has written: one bit for each group of pages, in a table that the processor's cache holds where it
// does not hold the map (115 KB for a drive of 480 GB).

/// Logical pages of a group: 256 bytes of the map.
const GROUP: u32 = 64;

/// The groups of logical pages of which any was written during the run.
#[derive(Clone, Debug)]
struct WrittenGroups(Vec<u64>);

impl WrittenGroups {
    /// None of a drive of `logical_pages`.
    fn new(logical_pages: u32) -> WrittenGroups {
        WrittenGroups(vec![0; written_groups_bytes(logical_pages) as usize / 8])
    }

    /// Those of a map with these entries.
    fn of(entries: &[u32]) -> WrittenGroups {
        let mut written = WrittenGroups::new(entries.len() as u32);
        for (group, entries) in (0..).zip(entries.chunks(GROUP as usize)) {
            if entries.iter().fold(0, |any, entry| any | entry) != 0 {
                written.add(Lpn(group * GROUP));
            }
        }
        written
    }

    /// The word and the bit of the group of `lpn`.
    #[inline(always)]
    fn place(lpn: Lpn) -> (usize, u32) {
        let group = lpn.0 / GROUP;
        (group as usize / 64, group % 64)
    }

    /// Whether any page of the group of `lpn` was written.
    #[inline(always)]
    fn has(&self, lpn: Lpn) -> bool {
        let (word, bit) = WrittenGroups::place(lpn);
        self.0[word] >> bit & 1 == 1
    }

    /// Notes that `lpn` is written.
    #[inline(always)]
    fn add(&mut self, lpn: Lpn) {
        let (word, bit) = WrittenGroups::place(lpn);
        self.0[word] |= 1 << bit;
    }
}

/// Bytes of the table of written groups of a drive.
pub(crate) fn written_groups_bytes(logical_pages: u32) -> u64 {
    u64::from(logical_pages.div_ceil(GROUP * 64)) * 8
}

// Which flow's data each logical page holds (`Valid` of FLIN eq. 10, and the flow whose pages garbage collection moves).
//
// A page holds data of the flow that wrote it last. Before its first write it belongs to the first flow whose part of the
// drive contains it, or to none. Kept only for schedulers that use it: two bytes for each logical page, whose
// memory is touched only when the page is written.

/// The flow of every logical page.
#[derive(Clone, Debug)]
pub struct PageFlows {
    /// By place in the map ([`Map::place`]): the flow that wrote the page last plus one; 0 for none yet, [`PageFlows::NONE`] if it was trimmed since.
    last: Vec<u16>,
    /// Ranges of pages of the same flow before the first request: the first page of each range and the flow. Ascending; the
    /// first range begins at page 0.
    parts: Vec<(u32, Option<FlowId>)>,
    /// Logical pages below this one hold data before the first request.
    filled: u32,
}

impl PageFlows {
    /// The entry of a trimmed page.
    const NONE: u16 = u16::MAX;

    /// `lpn`, which was trimmed, holds no data any more. Returns the flow whose data it held.
    pub(super) fn release(&mut self, lpn: Lpn, place: usize) -> Option<FlowId> {
        let flow = self.of(lpn, place);
        self.last[place] = PageFlows::NONE;
        flow
    }

    /// The flows of the pages of a drive of `logical_pages`, of which the first `filled` hold data, and whose map has `places`. Translation pages
    /// are no flow's.
    pub(super) fn new(flows: &[FlowConfig], logical_pages: u32, places: usize, filled: u32) -> PageFlows {
        let mut edges = vec![0];
        for flow in flows.iter().filter(|flow| flow.pages > 0) {
            edges.extend([flow.first_page, flow.first_page.saturating_add(flow.pages)]);
        }
        edges.retain(|&edge| edge < logical_pages);
        edges.sort_unstable();
        edges.dedup();
        let holds = |flow: &FlowConfig, page| page >= flow.first_page && page - flow.first_page < flow.pages;
        let flow_of = |page| flows.iter().position(|flow| holds(flow, page)).map(|f| FlowId(f as u16));
        let parts = edges.into_iter().map(|edge| (edge, flow_of(edge))).collect();
        PageFlows { last: vec![0; places], parts, filled }
    }

    /// The flow whose data `lpn` holds; `None` if it is no flow's or holds no data.
    pub(super) fn of(&self, lpn: Lpn, place: usize) -> Option<FlowId> {
        match self.last[place] {
            0 if lpn.0 < self.filled => self.parts[self.parts.partition_point(|&(start, _)| start <= lpn.0) - 1].1,
            0 | PageFlows::NONE => None,
            flow => Some(FlowId(flow - 1)),
        }
    }

    /// Records that `flow` has written `lpn`; returns the flow whose data it held.
    pub(super) fn claim(&mut self, lpn: Lpn, place: usize, flow: FlowId) -> Option<FlowId> {
        let old = self.of(lpn, place);
        self.last[place] = flow.0 + 1;
        old
    }

    /// How many pages hold data of each flow before the first request.
    pub(super) fn first_counts(&self, flows: usize) -> Vec<u64> {
        let mut counts = vec![0; flows];
        for (i, &(start, flow)) in self.parts.iter().enumerate() {
            let end = self.parts.get(i + 1).map_or(self.filled, |&(next, _)| next.min(self.filled));
            if let Some(flow) = flow {
                counts[flow.index()] += u64::from(end.saturating_sub(start));
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_testing::Random;

    /// Compares with a bit for each page, of a drive whose last group and word are not full.
    #[test]
    fn groups_are_written_if_any_of_their_pages_is() {
        for pages in [1, 63, 64, 65, 64 * 64, 64 * 64 + 1, 20_000] {
            let mut entries = vec![0u32; pages as usize];
            let mut noted = WrittenGroups::new(pages);
            let mut random = Random(pages.into());
            for _ in 0..12 {
                let rebuilt = WrittenGroups::of(&entries);
                for (lpn, group) in (0..pages).zip((0..pages).map(|lpn| lpn / GROUP)) {
                    let first = (group * GROUP) as usize;
                    let plain =
                        entries[first..entries.len().min(first + GROUP as usize)].iter().any(|&entry| entry > 0);
                    assert_eq!([noted.has(Lpn(lpn)), rebuilt.has(Lpn(lpn))], [plain; 2], "page {lpn} of {pages}");
                }
                let lpn = random.below(pages.into()) as u32;
                entries[lpn as usize] = 1 + lpn;
                noted.add(Lpn(lpn));
            }
        }
    }

    fn part(first_page: u32, pages: u32) -> FlowConfig {
        FlowConfig { priority: 0, first_page, pages }
    }

    #[test]
    fn the_first_flow_of_a_part_owns_it_until_another_writes() {
        let flows = [part(10, 20), part(20, 30), part(0, 0), part(5, 10)];
        let mut page_flows = PageFlows::new(&flows, 100, 102, 45);
        let of = |page_flows: &PageFlows, lpn: u32| page_flows.of(Lpn(lpn), lpn as usize).map(|f| f.0);
        let expected = [(0, None), (4, None), (5, Some(3)), (10, Some(0)), (29, Some(0)), (30, Some(1)), (44, Some(1))];
        for (lpn, flow) in expected {
            assert_eq!(of(&page_flows, lpn), flow, "page {lpn}");
        }
        assert_eq!(of(&page_flows, 45), None, "holds no data");
        assert_eq!(of(&page_flows, 101), None, "a translation page");
        assert_eq!(page_flows.first_counts(4), [20, 15, 0, 5]);
        assert_eq!(page_flows.claim(Lpn(29), 29, FlowId(2)), Some(FlowId(0)));
        assert_eq!(page_flows.claim(Lpn(60), 60, FlowId(0)), None);
        assert_eq!((of(&page_flows, 29), of(&page_flows, 60)), (Some(2), Some(0)));
    }
}
