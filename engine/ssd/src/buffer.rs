//! Page buffer in the controller's memory with least-recently-used replacement, shared or with a part for each flow (model 0.10).
//!
//! Owns which pages are buffered and which of them are dirty. It returns the pages that must be written out and never writes them
//! itself. Must never know the flash or the map. Writes that find no space: [`waiting`].

mod waiting;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Duration, FlowId, Lpn, Time};

use crate::config;
use crate::frontend::RequestSlot;
use crate::shared::{LpnTable, Value};
use waiting::Waiting;

/// Number of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct EntryId(u32);

impl EntryId {
    #[inline(always)]
    const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Value for EntryId {
    const NONE: EntryId = EntryId(u32::MAX);
}

/// How many writes of a page wait for space; a page of which none waits has no entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct WaitingWrites(u32);

impl Value for WaitingWrites {
    const NONE: WaitingWrites = WaitingWrites(0);
}

/// State of a buffered page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Clean,
    Dirty,
    /// Dirty, but written in part, and the rest of it is being read.
    Partial,
    /// Dirty, and chosen for a wordline that is not full yet.
    Gathered,
    /// Being written to the flash; `again` when it was overwritten meanwhile.
    Flushing {
        again: bool,
    },
}

/// The lists of a part: clean pages and dirty ones in the order of their use, and those that leave or lack their rest in any order.
const LISTS: usize = 3;

impl State {
    /// The number of the list that a page is in.
    #[inline]
    const fn list(self) -> usize {
        match self {
            State::Clean => 0,
            State::Dirty => 1,
            State::Partial | State::Gathered | State::Flushing { .. } => 2,
        }
    }

    /// Programs that must end before the flash has the page's newest version.
    fn programs_needed(self) -> u32 {
        match self {
            State::Clean => 0,
            State::Dirty | State::Partial | State::Gathered | State::Flushing { again: false } => 1,
            State::Flushing { again: true } => 2,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    lpn: Lpn,
    state: State,
    part: u16,
    newer: EntryId,
    older: EntryId,
    /// Number of its last use: more than those of all that were used before.
    last_use: u64,
}

/// The ends of a list of pages.
#[derive(Clone, Copy, Debug)]
struct Ends {
    newest: EntryId,
    oldest: EntryId,
}

/// A flow's part of the buffer, or the whole buffer if it is shared.
#[derive(Debug)]
struct Part {
    lists: [Ends; LISTS],
    capacity: u32,
    used: u32,
    dirty: u32,
    /// Pages that are dirty but cannot be chosen: gathered for a wordline, or without their rest.
    held_back: u32,
    flushing: u32,
    /// Writes that wait for space, and reads behind them.
    waiting: VecDeque<Waiting>,
    /// How many of these are reads.
    waiting_reads: u32,
    /// Sum of the pages that they wait for.
    wanted: u32,
    /// When the last page of a write entered.
    last_entry: Time,
}

impl Part {
    /// Pages that writes could store now: free slots and those of clean pages.
    const fn free(&self) -> u32 {
        self.capacity - self.dirty - self.held_back - self.flushing
    }

    /// When the next page of a write may enter with this [`config::Buffer::pace`]. A full part lets pages enter that need no space.
    fn next_entry(&self, pace: Duration) -> Time {
        match self.free() {
            free if free == 0 || free > self.capacity / 2 => Time::ZERO,
            free => self.last_entry + Duration::from_ns(pace.ns() / u64::from(free)),
        }
    }
}

/// The result of a write to the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stored {
    /// The page is in the buffer.
    Yes,
    /// No space until a page has been written out.
    Full,
}

/// The page buffer.
#[derive(Debug)]
pub(crate) struct Buffer {
    entries: Vec<Entry>,
    spare: Vec<EntryId>,
    /// Uses of pages so far.
    uses: u64,
    /// Logical page to entry.
    index: LpnTable<EntryId>,
    parts: Vec<Part>,
    /// Logical page to its writes that wait for space.
    waiting: LpnTable<WaitingWrites>,
    /// Pages of waiting writes that were trimmed and need no space: the request, and which of its pages.
    pub(crate) trimmed: BTreeSet<(RequestSlot, u32)>,
    /// Flows in whose parts a cancelled program has given its page back.
    with_space: Vec<FlowId>,
    /// Whether writes complete when they are in the buffer.
    pub(crate) write_back: bool,
    /// Whether pages read from flash enter it.
    pub(crate) read_allocate: bool,
    flush_above: u32,
    pace: Duration,
    /// Whether reads wait behind writes that wait for space.
    pub(crate) holds_reads: bool,
    /// Whether pages to be written out are gathered to wordlines first.
    pub(crate) gathers: bool,
    /// Whether a write of a buffered page replaces it. If not, only the pages of each part are counted: a program of every write
    /// is under way, and reads find those ([`Buffer::take`]).
    pub(crate) merges: bool,
}

/// A page that had to leave the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Evicted {
    pub(crate) lpn: Lpn,
    pub(crate) was_dirty: bool,
}

impl Buffer {
    pub(crate) fn new(config: &config::Buffer, flows: usize) -> Buffer {
        let parts = if config.per_flow { flows as u32 } else { 1 };
        let part = |_| Part {
            lists: [Ends { newest: EntryId::NONE, oldest: EntryId::NONE }; LISTS],
            capacity: config.pages / parts,
            used: 0,
            dirty: 0,
            held_back: 0,
            flushing: 0,
            waiting: VecDeque::new(),
            waiting_reads: 0,
            wanted: 0,
            last_entry: Time::ZERO,
        };
        let none = EntryId::NONE;
        let free = Entry { lpn: Lpn(0), state: State::Clean, part: 0, newer: none, older: none, last_use: 0 };
        Buffer {
            entries: vec![free; config.pages as usize],
            spare: (0..config.pages).rev().map(EntryId).collect(),
            uses: 0,
            index: LpnTable::default(),
            waiting: LpnTable::default(),
            trimmed: BTreeSet::new(),
            with_space: Vec::new(),
            parts: (0..parts).map(part).collect(),
            write_back: config.write_back,
            read_allocate: config.read_allocate,
            flush_above: config.flush_above,
            pace: config.pace,
            holds_reads: false,
            gathers: false,
            merges: config.merge_writes,
        }
    }

    /// What each part holds: pages from the one used longest ago on, and whether they are dirty. No page may be on its way to the flash.
    pub(crate) fn held(&self) -> Vec<Vec<(u32, bool)>> {
        let of_part = |part: &Part| {
            let mut entries: Vec<&Entry> = (0..LISTS).flat_map(|list| self.listed(part, list)).collect();
            entries.sort_by_key(|entry| entry.last_use);
            let page = |entry: &Entry| {
                let is_under_way = matches!(entry.state, State::Partial | State::Flushing { .. });
                debug_assert!(!is_under_way, "a page is on its way");
                (entry.lpn.0, entry.state != State::Clean)
            };
            entries.into_iter().map(page).collect()
        };
        self.parts.iter().map(of_part).collect()
    }

    /// Takes up what [`Buffer::held`] gave; `None` if that is of another drive, of `logical_pages`.
    pub(crate) fn hold(&mut self, held: &[Vec<(u32, bool)>], logical_pages: u32) -> Option<()> {
        if held.len() != self.parts.len() {
            return None;
        }
        for (part, pages) in held.iter().enumerate() {
            for &(lpn, dirty) in pages {
                let state = if dirty { State::Dirty } else { State::Clean };
                let Part { used, capacity, .. } = self.parts[part];
                let fits = used < capacity && lpn < logical_pages && !self.contains(Lpn(lpn));
                if !fits || !self.insert(Lpn(lpn), FlowId(part as u16), state) {
                    return None;
                }
            }
        }
        Some(())
    }

    fn part_of(&self, flow: FlowId) -> usize {
        if self.parts.len() == 1 { 0 } else { flow.index() }
    }

    /// Whether the page is buffered. Does not count as a use of it.
    #[inline]
    pub(crate) fn contains(&self, lpn: Lpn) -> bool {
        self.index.get(lpn).is_some()
    }

    /// Pages that a write of `flow` could store now: free slots and those of clean pages.
    pub(crate) fn free_pages(&self, flow: FlowId) -> u32 {
        self.parts[self.part_of(flow)].free()
    }

    /// Reads a page: returns whether it is buffered, and makes it the most recently used.
    pub(crate) fn read(&mut self, lpn: Lpn) -> bool {
        let entry = self.index.get(lpn);
        if entry.is_none() {
            return false;
        }
        self.use_now(entry, self.entries[entry.index()].state);
        true
    }

    /// Writes a page of `flow`: updates it in place, or takes a free slot or that of a clean page.
    pub(crate) fn write(&mut self, lpn: Lpn, flow: FlowId) -> Stored {
        let entry = self.index.get(lpn);
        if entry.is_some() {
            let Entry { state: before, part, .. } = self.entries[entry.index()];
            let state = match before {
                State::Clean | State::Dirty => State::Dirty,
                State::Partial | State::Gathered => before,
                State::Flushing { .. } => State::Flushing { again: true },
            };
            self.parts[part as usize].dirty += u32::from(before == State::Clean);
            self.use_now(entry, state);
            return Stored::Yes;
        }
        match self.insert(lpn, flow, State::Dirty) {
            true => Stored::Yes,
            false => Stored::Full,
        }
    }

    /// Stores a page that was read from flash, if the configuration says so and a slot is free or holds a clean page.
    pub(crate) fn fill(&mut self, lpn: Lpn, flow: FlowId) {
        if self.read_allocate && !self.contains(lpn) {
            self.insert(lpn, flow, State::Clean);
        }
    }

    /// Puts a page that is not buffered into the buffer at once, dirty if it is `written`. Returns the page whose place it takes if
    /// there was none free: the least recently used. For serial service, where no page is on its
    /// way to the flash.
    pub(crate) fn replace(&mut self, lpn: Lpn, flow: FlowId, written: bool) -> Option<Evicted> {
        let p = self.part_of(flow);
        let Part { used, capacity, lists, .. } = self.parts[p];
        let victim = (used == capacity).then(|| {
            let oldest = lists.iter().map(|list| list.oldest).filter(|e| e.is_some());
            let oldest = oldest.min_by_key(|e| self.entries[e.index()].last_use).expect("a full part has pages");
            let Entry { lpn, state, part, .. } = self.entries[oldest.index()];
            debug_assert!(!matches!(state, State::Flushing { .. }));
            self.parts[part as usize].dirty -= u32::from(state == State::Dirty);
            self.drop_entry(oldest);
            Evicted { lpn, was_dirty: state == State::Dirty }
        });
        let stored = self.insert(lpn, flow, if written { State::Dirty } else { State::Clean });
        debug_assert!(stored, "there is a free place");
        victim
    }

    /// Makes a page whose program is replaced by a younger one the most recently used.
    pub(crate) fn renew(&mut self, lpn: Lpn) {
        let held = self.read(lpn);
        debug_assert!(held, "a page stays until it has been programmed");
    }

    /// Takes a page for a write of `flow` of which a program begins to wait, where writes are not merged.
    pub(crate) fn take(&mut self, flow: FlowId) -> Stored {
        let p = self.part_of(flow);
        let part = &mut self.parts[p];
        if part.used == part.capacity {
            return Stored::Full;
        }
        part.used += 1;
        part.flushing += 1;
        Stored::Yes
    }

    /// Gives the page of such a write back: its program has ended or was cancelled.
    pub(crate) fn give_back(&mut self, flow: FlowId) {
        let p = self.part_of(flow);
        self.parts[p].used -= 1;
        self.parts[p].flushing -= 1;
    }

    /// Gives the page of a write of `flow` back whose program was cancelled for one of another part: [`Buffer::next_with_space`] tells
    /// that there is space.
    pub(crate) fn give_back_early(&mut self, flow: FlowId) {
        self.give_back(flow);
        self.with_space.push(flow);
    }

    /// A flow in whose part a cancelled program has given its page back, each once; `None` if there is none left.
    pub(crate) fn next_with_space(&mut self) -> Option<FlowId> {
        self.with_space.pop()
    }

    /// Whether two flows share a part.
    pub(crate) fn share_part(&self, a: FlowId, b: FlowId) -> bool {
        self.part_of(a) == self.part_of(b)
    }

    fn insert(&mut self, lpn: Lpn, flow: FlowId, state: State) -> bool {
        let p = self.part_of(flow);
        let Part { used, capacity, .. } = self.parts[p];
        if used == capacity {
            match self.oldest_in(p, State::Clean) {
                Some(clean) => self.drop_entry(clean),
                None => return false,
            }
        }
        let e = self.spare.pop().expect("a part's slots are spare or used");
        let entry = &mut self.entries[e.index()];
        (entry.lpn, entry.state, entry.part) = (lpn, state, p as u16);
        self.index.insert(lpn, e);
        let part = &mut self.parts[p];
        part.used += 1;
        part.dirty += u32::from(state == State::Dirty);
        self.link_newest(e);
        true
    }

    /// Whether a page of `flow`'s part is to be written out: more than `flush_above` are dirty, or waiting writes need more space than the
    /// flushes under way will free.
    #[inline]
    pub(crate) fn must_flush(&self, flow: FlowId) -> bool {
        let part = &self.parts[self.part_of(flow)];
        part.dirty > 0 && (part.dirty > self.flush_above || part.wanted > part.flushing)
    }

    /// The next page of `flow`'s part to write out: the least recently used dirty page. `None` if nothing needs to be written out. Pages that are
    /// gathered to a wordline or lack their rest are neither dirty here nor under way.
    pub(crate) fn next_flush(&mut self, flow: FlowId) -> Option<Lpn> {
        if !self.must_flush(flow) {
            return None;
        }
        let e = self.oldest_in(self.part_of(flow), State::Dirty)?;
        self.leaves(e);
        Some(self.entries[e.index()].lpn)
    }

    /// A dirty page is written out now, or gathered first.
    fn leaves(&mut self, e: EntryId) {
        let part = &mut self.parts[self.entries[e.index()].part as usize];
        part.dirty -= 1;
        if self.gathers {
            part.held_back += 1;
            self.change_state(e, State::Gathered);
        } else {
            part.flushing += 1;
            self.change_state(e, State::Flushing { again: false });
        }
    }

    /// A program of a page that was gathered, or was to be, begins to wait.
    pub(crate) fn program_is_made(&mut self, lpn: Lpn) {
        let e = self.index.get(lpn);
        debug_assert_eq!(self.entries[e.index()].state, State::Gathered);
        let part = &mut self.parts[self.entries[e.index()].part as usize];
        part.held_back -= 1;
        part.flushing += 1;
        self.change_state(e, State::Flushing { again: false });
    }

    /// A page is no longer gathered, or lacks its rest no longer: it is dirty like others.
    pub(crate) fn is_dirty_again(&mut self, lpn: Lpn) {
        let e = self.index.get(lpn);
        let part = &mut self.parts[self.entries[e.index()].part as usize];
        part.held_back -= 1;
        part.dirty += 1;
        self.change_state(e, State::Dirty);
    }

    /// A dirty page lacks its rest, which is read from now on: it is not written out before [`Buffer::is_dirty_again`].
    pub(crate) fn lacks_rest(&mut self, lpn: Lpn) {
        let e = self.index.get(lpn);
        debug_assert_eq!(self.entries[e.index()].state, State::Dirty);
        let part = &mut self.parts[self.entries[e.index()].part as usize];
        part.dirty -= 1;
        part.held_back += 1;
        self.change_state(e, State::Partial);
    }

    /// Begins to write a page out if it is dirty and no program of it is under way. Returns the flow for whose part that is: `flow`, where
    /// there is one part.
    pub(crate) fn begin_flush(&mut self, lpn: Lpn, flow: FlowId) -> Option<FlowId> {
        let e = self.index.get(lpn);
        let is_dirty = e.is_some() && self.entries[e.index()].state == State::Dirty;
        is_dirty.then(|| {
            self.leaves(e);
            let own = FlowId(self.entries[e.index()].part);
            if self.parts.len() == 1 { flow } else { own }
        })
    }

    /// Programs of a buffered page that must end before the flash has its newest version.
    pub(crate) fn programs_needed(&self, lpn: Lpn) -> u32 {
        let e = self.index.get(lpn);
        if e.is_none() { 0 } else { self.entries[e.index()].state.programs_needed() }
    }

    /// The pages of which the flash has not the newest version, each with the programs that must end before it has.
    pub(crate) fn dirty_pages(&self) -> BTreeMap<Lpn, u32> {
        let lists = [State::Dirty.list(), State::Gathered.list()];
        let entries = self.parts.iter().flat_map(|part| lists.into_iter().flat_map(|list| self.listed(part, list)));
        entries.map(|entry| (entry.lpn, entry.state.programs_needed())).collect()
    }

    /// Writes a page out at once, for serial service. Returns whether it was dirty.
    pub(crate) fn clean(&mut self, lpn: Lpn) -> bool {
        let e = self.index.get(lpn);
        let is_dirty = e.is_some() && self.entries[e.index()].state == State::Dirty;
        if is_dirty {
            self.parts[self.entries[e.index()].part as usize].dirty -= 1;
            self.change_state(e, State::Clean);
        }
        is_dirty
    }

    /// A page was trimmed, and none of its programs waits any more: what the buffer holds of it is stale. Returns whether a program of it
    /// is under way, which then keeps its place until [`Buffer::give_back`].
    pub(crate) fn trim(&mut self, lpn: Lpn, program_dropped: bool) -> bool {
        let e = self.index.get(lpn);
        if e.is_none() {
            return false;
        }
        let Entry { state, part, .. } = self.entries[e.index()];
        let counts = &mut self.parts[part as usize];
        match state {
            State::Clean => {}
            State::Dirty => counts.dirty -= 1,
            State::Partial | State::Gathered => counts.held_back -= 1,
            State::Flushing { .. } if program_dropped => counts.flushing -= 1,
            State::Flushing { .. } => {
                counts.used += 1;
                self.drop_entry(e);
                return true;
            }
        }
        self.drop_entry(e);
        false
    }

    /// A page was written to the flash: removes it from the buffer, unless it was overwritten meanwhile.
    pub(crate) fn flushed(&mut self, lpn: Lpn) {
        let e = self.index.get(lpn);
        let part = &mut self.parts[self.entries[e.index()].part as usize];
        part.flushing -= 1;
        if self.entries[e.index()].state == (State::Flushing { again: true }) {
            part.dirty += 1;
            self.change_state(e, State::Dirty);
        } else {
            self.drop_entry(e);
        }
    }

    /// Number of parts: one for each flow, or one.
    pub(crate) fn parts(&self) -> u16 {
        self.parts.len() as u16
    }

    fn oldest_in(&self, part: usize, state: State) -> Option<EntryId> {
        let e = self.parts[part].lists[state.list()].oldest;
        e.is_some().then_some(e)
    }

    /// The pages of a list, from the one used longest ago on.
    fn listed<'a>(&'a self, part: &Part, list: usize) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let entry = |e: EntryId| e.is_some().then(|| &self.entries[e.index()]);
        core::iter::successors(entry(part.lists[list].oldest), move |found| entry(found.newer))
    }

    fn drop_entry(&mut self, e: EntryId) {
        self.unlink(e);
        self.index.remove(self.entries[e.index()].lpn, e);
        self.parts[self.entries[e.index()].part as usize].used -= 1;
        self.spare.push(e);
    }

    /// A page becomes the most recently used, in `state`.
    fn use_now(&mut self, e: EntryId, state: State) {
        self.unlink(e);
        self.entries[e.index()].state = state;
        self.link_newest(e);
    }

    /// A page keeps its place in the order of use in another state.
    fn change_state(&mut self, e: EntryId, state: State) {
        self.unlink(e);
        let entry = &mut self.entries[e.index()];
        entry.state = state;
        let (used, list) = (entry.last_use, state.list());
        let mut older = self.parts[entry.part as usize].lists[list].newest;
        // A page that is dirty anew was written during its program: few were used since.
        while list != State::Gathered.list() && older.is_some() && self.entries[older.index()].last_use > used {
            older = self.entries[older.index()].older;
        }
        self.link_after(older, e);
    }

    fn link_newest(&mut self, e: EntryId) {
        self.uses += 1;
        let entry = &mut self.entries[e.index()];
        entry.last_use = self.uses;
        let newest = self.parts[entry.part as usize].lists[entry.state.list()].newest;
        self.link_after(newest, e);
    }

    /// Puts a page behind `older` into the list of its state, or first.
    fn link_after(&mut self, older: EntryId, e: EntryId) {
        let Entry { state, part, .. } = self.entries[e.index()];
        let ends = &mut self.parts[part as usize].lists[state.list()];
        let next = if older.is_none() { &mut ends.oldest } else { &mut self.entries[older.index()].newer };
        let newer = core::mem::replace(next, e);
        let back = if newer.is_none() { &mut ends.newest } else { &mut self.entries[newer.index()].older };
        *back = e;
        (self.entries[e.index()].older, self.entries[e.index()].newer) = (older, newer);
    }

    fn unlink(&mut self, e: EntryId) {
        let Entry { newer, older, part, state, .. } = self.entries[e.index()];
        let ends = &mut self.parts[part as usize].lists[state.list()];
        let back = if newer.is_none() { &mut ends.newest } else { &mut self.entries[newer.index()].older };
        *back = older;
        let next = if older.is_none() { &mut ends.oldest } else { &mut self.entries[older.index()].newer };
        *next = newer;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::Time;
    use flashlane_testing::Random;

    fn buffer(pages: u32, flush_above: u32) -> Buffer {
        Buffer::new(&config::Buffer::plain(pages, flush_above), 1)
    }

    const F: FlowId = FlowId(0);

    /// Some page, for which a write waits.
    fn one() -> impl ExactSizeIterator<Item = Lpn> {
        [Lpn(99)].into_iter()
    }

    /// A-NCQ-03, the buffer's part: LRU to MRU 1 2 3 4; write {2, 5, 6} evicts 1 then 3; read {4, 7} misses 7 only.
    #[test]
    fn least_recently_used_goes_first() {
        let mut b = buffer(4, 4);
        for lpn in 1..=4 {
            assert_eq!(b.write(Lpn(lpn), F), Stored::Yes);
        }
        assert!(b.contains(Lpn(1)) && b.contains(Lpn(4)));
        assert_eq!(b.write(Lpn(2), F), Stored::Yes);
        for (new, victim) in [(5, 1), (6, 3)] {
            assert_eq!(b.write(Lpn(new), F), Stored::Full);
            b.wait(F, 0, None, one());
            assert_eq!(b.next_flush(F), Some(Lpn(victim)));
            assert_eq!(b.next_flush(F), None, "one flush for one waiting write");
            b.flushed(Lpn(victim));
            b.still_waits_for(F, 0, Time::ZERO);
            assert_eq!(b.write(Lpn(new), F), Stored::Yes);
        }
        assert!(b.read(Lpn(4)));
        assert!(!b.read(Lpn(7)));
        let order: Vec<u32> = (0..4)
            .map(|_| {
                b.wait(F, 0, None, one());
                let lpn = b.next_flush(F).unwrap();
                b.flushed(lpn);
                b.still_waits_for(F, 0, Time::ZERO);
                lpn.0
            })
            .collect();
        assert_eq!(order, [2, 5, 6, 4]);
    }

    /// A-NCQ-03 as serial service does it: the least recently used goes at once, dirty or clean.
    #[test]
    fn replaced_pages_go_at_once() {
        let mut b = buffer(4, 4);
        for lpn in 1..=4 {
            assert_eq!(b.replace(Lpn(lpn), F, lpn != 3), None);
        }
        assert_eq!(b.free_pages(F), 1, "page 3 is clean");
        assert_eq!(b.write(Lpn(2), F), Stored::Yes);
        assert_eq!(b.replace(Lpn(5), F, true), Some(Evicted { lpn: Lpn(1), was_dirty: true }));
        assert_eq!(b.replace(Lpn(6), F, true), Some(Evicted { lpn: Lpn(3), was_dirty: false }));
        assert!(b.read(Lpn(4)) && !b.read(Lpn(7)));
        let victims: Vec<u32> = (10..14).map(|lpn| b.replace(Lpn(lpn), F, false).unwrap().lpn.0).collect();
        assert_eq!(victims, [2, 5, 6, 4]);
        assert_eq!(b.free_pages(F), 4);
    }

    #[test]
    fn free_pages_are_exact_and_a_page_overwritten_while_flushing_stays_dirty() {
        let mut b = buffer(8, 2);
        for (lpn, free) in [(0, 7), (1, 6), (2, 5)] {
            b.write(Lpn(lpn), F);
            assert_eq!(b.free_pages(F), free);
        }
        assert_eq!(b.next_flush(F), Some(Lpn(0)), "three dirty pages are more than two");
        assert_eq!(b.next_flush(F), None);
        assert_eq!(b.free_pages(F), 5, "a page under way still takes space");
        b.write(Lpn(0), F);
        b.flushed(Lpn(0));
        assert!(b.contains(Lpn(0)));
        assert_eq!(b.free_pages(F), 5);
        assert_eq!(b.next_flush(F), Some(Lpn(1)), "dirty again: three once more");
        b.flushed(Lpn(1));
        assert!(!b.contains(Lpn(1)));
        assert_eq!(b.free_pages(F), 6);
    }

    /// Beside a plain list in the order of use: which page is written out next, also of those that are dirty anew.
    #[test]
    fn pages_leave_in_the_order_of_their_use() {
        let (mut b, mut random) = (buffer(24, 4), Random(1));
        // By use, the oldest first: the page, whether a program of it is under way, and whether it is dirty besides.
        let mut plain: Vec<(u32, bool, bool)> = Vec::new();
        let mut anew = 0;
        for _ in 0..20_000 {
            let lpn = random.below(32) as u32;
            let at = plain.iter().position(|page| page.0 == lpn);
            match random.below(4) {
                0 => {
                    assert_eq!(b.read(Lpn(lpn)), at.is_some());
                    at.into_iter().for_each(|at| plain[at..].rotate_left(1));
                }
                1 if at.is_some_and(|at| plain[at].1) => {
                    b.flushed(Lpn(lpn));
                    let (_, _, is_dirty) = plain.remove(at.unwrap());
                    if is_dirty {
                        anew += 1;
                        plain.insert(at.unwrap(), (lpn, false, true));
                    }
                }
                _ if b.write(Lpn(lpn), F) == Stored::Yes => {
                    let (_, flushing, _) = at.map_or((lpn, false, true), |at| plain.remove(at));
                    plain.push((lpn, flushing, true));
                }
                _ => assert_eq!(plain.len(), 24),
            }
            if let Some(next) = b.next_flush(F) {
                let oldest = plain.iter_mut().find(|page| page.2 && !page.1).unwrap();
                assert_eq!(next, Lpn(oldest.0));
                (oldest.1, oldest.2) = (true, false);
            }
        }
        assert!(anew > 1_000, "{anew} pages were dirty anew");
    }
}
