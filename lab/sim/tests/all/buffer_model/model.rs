//! A plain model of the page buffer: one chip that serves the oldest transaction, a list of pages by last use, and counts that are
//! recomputed whenever one is needed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use flashlane_core::Op;
use flashlane_ssd::config::{Buffer, BufferOrder, Config, Unmap, UnmappedReads};

pub const READ: u64 = 1_000;
const PROGRAM: u64 = 4_000;
pub const MEMORY: u64 = 300;

/// The page of an entry that was trimmed while the chip programs it.
const NOBODYS: u32 = u32::MAX;

/// A request: arrival time, flow, operation, pages.
#[derive(Clone, Debug)]
pub struct TestRequest {
    pub at: u64,
    pub flow: usize,
    pub op: Op,
    pub fua: bool,
    /// A write of a part of its one page, the rest of which is read before that leaves the buffer.
    pub is_part: bool,
    pub pages: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Clean,
    Dirty,
    Partial,
    Flushing { again: bool },
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    lpn: u32,
    part: usize,
    state: State,
}

/// An operation of the chip: a page read or written for a request, or for the buffer. A trim may come before it ends: of a read
/// the data is old then, of a program nobody knows the page any more.
#[derive(Clone, Copy, Debug)]
struct Job {
    kind: Kind,
    lpn: u32,
    trimmed: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Read {
        request: usize,
        flow: usize,
    },
    Write {
        request: usize,
    },
    /// Of the rest of a page in the buffer.
    Rest {
        flow: usize,
    },
    /// Of this version of the page.
    Flush {
        flow: usize,
        version: u64,
    },
}

/// A flush, or a write with FUA, waits until the flash has this version of a page.
#[derive(Clone, Copy, Debug)]
struct Waits {
    request: usize,
    lpn: u32,
    version: u64,
}

pub struct Model<'a> {
    config: Buffer,
    order: BufferOrder,
    unmap: Unmap,
    asks: &'a [TestRequest],
    /// Least recently used first.
    entries: Vec<Entry>,
    /// Writes waiting for space, by part, and the pages that each still has to store; and reads behind them.
    waiting: Vec<VecDeque<(usize, Vec<u32>)>>,
    jobs: VecDeque<Job>,
    busy: Option<(u64, Job)>,
    /// Pages with a write that has not ended.
    pending: BTreeMap<u32, u32>,
    /// Pages with a copy in the flash.
    mapped: BTreeSet<u32>,
    /// Of each page the newest version that was stored, and the newest in the flash, or trimmed.
    stored: BTreeMap<u32, u64>,
    written: BTreeMap<u32, u64>,
    waits: Vec<Waits>,
    left: Vec<usize>,
    done: Vec<u64>,
    /// When the memory has served the last page of a write that was stored and does not wait for its program.
    ready: Vec<u64>,
    /// When the last page of a write was stored, by part.
    entered: Vec<u64>,
    now: u64,
}

impl<'a> Model<'a> {
    pub fn new(config: &Config, asks: &'a [TestRequest]) -> Model<'a> {
        let buffer = config.buffer.clone().expect("has one");
        let parts = if buffer.per_flow { config.flows.len() } else { 1 };
        Model {
            config: buffer,
            order: config.front.order,
            unmap: config.unmap,
            asks,
            entries: Vec::new(),
            waiting: vec![VecDeque::new(); parts],
            jobs: VecDeque::new(),
            busy: None,
            pending: BTreeMap::new(),
            mapped: BTreeSet::new(),
            stored: BTreeMap::new(),
            written: BTreeMap::new(),
            waits: Vec::new(),
            left: asks.iter().map(|ask| ask.pages.len()).collect(),
            done: vec![0; asks.len()],
            ready: vec![0; asks.len()],
            entered: vec![0; parts],
            now: 0,
        }
    }

    fn part(&self, flow: usize) -> usize {
        if self.config.per_flow { flow } else { 0 }
    }

    fn count(&self, part: usize, is: impl Fn(State) -> bool) -> u32 {
        self.entries.iter().filter(|entry| entry.part == part && is(entry.state)).count() as u32
    }

    /// Makes the page the most recently used; returns whether it is in the buffer.
    fn use_page(&mut self, lpn: u32) -> bool {
        let Some(place) = self.entries.iter().position(|entry| entry.lpn == lpn) else { return false };
        let entry = self.entries.remove(place);
        self.entries.push(entry);
        true
    }

    /// Stores a page in a free slot or in that of a clean page; returns whether there was one.
    fn insert(&mut self, lpn: u32, part: usize, state: State) -> bool {
        if self.count(part, |_| true) == self.config.pages / self.waiting.len() as u32 {
            let clean = |entry: &Entry| entry.part == part && entry.state == State::Clean;
            let Some(oldest) = self.entries.iter().position(clean) else { return false };
            self.entries.remove(oldest);
        }
        self.entries.push(Entry { lpn, part, state });
        true
    }

    /// When the next page of a write may enter a part of which at most half is free: the free pages share the time of the pace.
    fn next_entry(&self, part: usize) -> u64 {
        let capacity = self.config.pages / self.waiting.len() as u32;
        let free = capacity - self.count(part, |state| state != State::Clean);
        let waits = self.config.pace.ns() > 0 && free > 0 && free <= capacity / 2;
        if waits { self.entered[part] + self.config.pace.ns() / u64::from(free) } else { 0 }
    }

    fn store(&mut self, lpn: u32, part: usize) -> bool {
        if self.next_entry(part) > self.now || !self.has_stored(lpn, part) {
            return false;
        }
        self.entered[part] = self.now;
        true
    }

    fn has_stored(&mut self, lpn: u32, part: usize) -> bool {
        if !self.use_page(lpn) {
            return self.insert(lpn, part, State::Dirty);
        }
        let entry = self.entries.last_mut().expect("just put there");
        entry.state = match entry.state {
            State::Flushing { .. } => State::Flushing { again: true },
            State::Partial => State::Partial,
            _ => State::Dirty,
        };
        true
    }

    /// A write has stored a page, which was `held` before: it may lack its rest, or do so no longer.
    fn look_for_rest(&mut self, request: usize, lpn: u32, held: bool) {
        let TestRequest { flow, is_part, .. } = self.asks[request];
        let has_data = self.unmap.reads == UnmappedReads::Flash || self.mapped.contains(&lpn);
        let entry = self.entries.last_mut().expect("just stored");
        if is_part && !held && has_data {
            entry.state = State::Partial;
            self.jobs.push_back(Job { kind: Kind::Rest { flow }, lpn, trimmed: false });
        } else if !is_part && entry.state == State::Partial {
            entry.state = State::Dirty;
            let running = self.busy.as_mut().map(|(_, job)| job);
            let reads = |job: &&mut Job| job.lpn == lpn && matches!(job.kind, Kind::Rest { .. });
            self.jobs.iter_mut().chain(running).filter(reads).for_each(|job| job.trimmed = true);
            if self.waits.iter().any(|one| one.lpn == lpn) {
                self.write_out(lpn, flow);
            }
        }
    }

    /// Stores as many as possible of a write's pages, in order; returns the others.
    fn store_all(&mut self, request: usize, pages: &[u32]) -> Vec<u32> {
        let TestRequest { flow, fua, .. } = self.asks[request];
        let waits = fua && !self.config.protected;
        let mut stored = 0;
        while stored < pages.len() {
            let lpn = pages[stored];
            let held = self.entries.iter().any(|entry| entry.lpn == lpn);
            if !self.store(lpn, self.part(flow)) {
                break;
            }
            let version = self.stored.entry(lpn).or_default();
            *version += 1;
            let version = *version;
            self.look_for_rest(request, lpn, held);
            if waits {
                self.waits.push(Waits { request, lpn, version });
                self.write_out(lpn, flow);
            }
            stored += 1;
        }
        if !waits {
            self.served(request, stored, MEMORY);
            if stored > 0 {
                self.ready[request] = self.now + MEMORY;
            }
        }
        pages[stored..].to_vec()
    }

    /// Counts `pages` of a request as served; it ends `after` the last.
    fn served(&mut self, request: usize, pages: usize, after: u64) {
        self.left[request] -= pages;
        if pages > 0 && self.left[request] == 0 {
            self.done[request] = self.now + after;
        }
    }

    /// Writes out the least recently used dirty pages: those beyond `flush_above`, and as many as writes wait for.
    fn flush(&mut self, flow: usize) {
        let part = self.part(flow);
        loop {
            let wanted: usize = self.waiting[part].iter().map(|(_, pages)| pages.len()).sum();
            let small_gc_drive = wanted as u32 > self.count(part, |state| matches!(state, State::Flushing { .. }));
            let dirty = |entry: &&mut Entry| entry.part == part && entry.state == State::Dirty;
            if self.count(part, |state| state == State::Dirty) <= self.config.flush_above && !small_gc_drive {
                return;
            }
            let Some(lpn) = self.entries.iter_mut().find(dirty).map(|entry| entry.lpn) else { return };
            self.write_out(lpn, flow);
        }
    }

    /// Writes a page out if it is dirty and no program of it is under way.
    fn write_out(&mut self, lpn: u32, flow: usize) {
        let dirty = |entry: &&mut Entry| entry.lpn == lpn && entry.state == State::Dirty;
        let Some(entry) = self.entries.iter_mut().find(dirty) else { return };
        entry.state = State::Flushing { again: false };
        let version = self.stored[&lpn];
        self.write(Kind::Flush { flow, version }, lpn);
    }

    /// A flush waits for the newest version of every page that the flash has not.
    fn arrive_flush(&mut self, request: usize, flow: usize) {
        let volatile = self.config.write_back && !self.config.protected;
        let dirty = |entry: &&Entry| volatile && entry.lpn != NOBODYS && entry.state != State::Clean;
        let mut pages: Vec<u32> = self.entries.iter().filter(dirty).map(|entry| entry.lpn).collect();
        pages.sort_unstable();
        self.left[request] = pages.len();
        if pages.is_empty() {
            self.done[request] = self.now + MEMORY;
        }
        for lpn in pages {
            self.waits.push(Waits { request, lpn, version: self.stored[&lpn] });
            self.write_out(
                lpn,
                if self.waiting.len() > 1 {
                    self.entries.iter().find(|entry| entry.lpn == lpn).expect("dirty").part
                } else {
                    flow
                },
            );
        }
    }

    /// The flash has a version of a page, or needs none of it.
    fn has_version(&mut self, lpn: u32, version: u64) {
        let written = self.written.entry(lpn).or_default();
        *written = version.max(*written);
        let (done, waits) = self.waits.drain(..).partition(|one| one.lpn == lpn && one.version <= *written);
        self.waits = waits;
        let done: Vec<Waits> = done;
        done.iter().for_each(|one| self.served(one.request, 1, 0));
    }

    /// Whether a write waits that still has to store the page.
    fn awaits_space(&self, lpn: u32) -> bool {
        self.waiting.iter().flatten().any(|(_, pages)| pages.contains(&lpn))
    }

    fn write(&mut self, kind: Kind, lpn: u32) {
        *self.pending.entry(lpn).or_default() += 1;
        self.jobs.push_back(Job { kind, lpn, trimmed: false });
    }

    fn arrive(&mut self, request: usize) {
        let TestRequest { flow, op, pages, .. } = self.asks[request].clone();
        let part = self.part(flow);
        match op {
            Op::Write if self.config.write_back => {
                let waits = !self.waiting[part].is_empty();
                let left = if waits { pages } else { self.store_all(request, &pages) };
                if !left.is_empty() {
                    self.waiting[part].push_back((request, left));
                }
                self.flush(flow);
            }
            Op::Write => {
                for lpn in pages {
                    self.use_page(lpn);
                    self.write(Kind::Write { request }, lpn);
                }
            }
            Op::Read if self.order == BufferOrder::Shared && !self.waiting[part].is_empty() => {
                self.waiting[part].push_back((request, Vec::new()));
            }
            Op::Read => self.read(request),
            Op::Trim | Op::WriteZeroes => self.trim(request, &pages),
            Op::Flush => self.arrive_flush(request, flow),
        }
    }

    fn read(&mut self, request: usize) {
        let TestRequest { flow, pages, .. } = self.asks[request].clone();
        for lpn in pages {
            let under_way = self.pending.get(&lpn).is_some_and(|&writes| writes > 0);
            let blank = self.unmap.reads == UnmappedReads::Memory && !self.mapped.contains(&lpn);
            if self.use_page(lpn) || under_way || self.awaits_space(lpn) || blank {
                self.served(request, 1, MEMORY);
            } else {
                self.jobs.push_back(Job { kind: Kind::Read { request, flow }, lpn, trimmed: false });
            }
        }
    }

    fn trim(&mut self, request: usize, pages: &[u32]) {
        // Pages of writes that wait for space need none.
        for part in 0..self.waiting.len() {
            for i in 0..self.waiting[part].len() {
                let (write, left) = &mut self.waiting[part][i];
                let (write, before) = (*write, left.len());
                left.retain(|lpn| !pages.contains(lpn));
                let dropped = before - left.len();
                // They are done now; those that were stored just before may not be.
                let after = self.ready[write].saturating_sub(self.now);
                self.served(write, dropped, after);
            }
            let asks = self.asks;
            self.waiting[part].retain(|(request, left)| asks[*request].op == Op::Read || !left.is_empty());
        }
        let mut mapped = 0;
        for &lpn in pages {
            mapped += u64::from(self.unmap(lpn));
        }
        self.left[request] = 0;
        self.done[request] = self.now + self.unmap.command.ns() + mapped * self.unmap.page.ns();
        for part in 0..self.waiting.len() {
            self.use_space(part);
        }
    }

    /// Unmaps a page; returns whether it had a copy.
    fn unmap(&mut self, lpn: u32) -> bool {
        let had_copy = self.mapped.remove(&lpn);
        self.pending.remove(&lpn);
        let is_read = |job: &Job| matches!(job.kind, Kind::Read { .. } | Kind::Rest { .. });
        let (gone, kept) = self.jobs.drain(..).partition::<Vec<_>, _>(|job| job.lpn == lpn && !is_read(job));
        self.jobs = kept.into();
        for job in gone {
            if let Kind::Write { request } = job.kind {
                self.served(request, 1, 0);
            }
        }
        let running = self.busy.as_mut().map(|(_, job)| job);
        let mut keeps_entry = false;
        for job in self.jobs.iter_mut().chain(running).filter(|job| job.lpn == lpn && !job.trimmed) {
            job.trimmed = had_copy || !matches!(job.kind, Kind::Read { .. });
            keeps_entry |= matches!(job.kind, Kind::Flush { .. });
        }
        if let Some(place) = self.entries.iter().position(|entry| entry.lpn == lpn) {
            if keeps_entry {
                self.entries[place].lpn = NOBODYS;
            } else {
                self.entries.remove(place);
            }
        }
        let stored = self.stored.get(&lpn).copied().unwrap_or_default();
        self.has_version(lpn, stored);
        had_copy
    }

    fn end(&mut self, Job { kind, lpn, trimmed }: Job) {
        if !trimmed && !matches!(kind, Kind::Read { .. } | Kind::Rest { .. }) {
            *self.pending.get_mut(&lpn).expect("under way") -= 1;
        }
        match kind {
            Kind::Read { request, flow } => {
                let has = self.entries.iter().any(|entry| entry.lpn == lpn);
                if self.config.read_allocate && !has && !trimmed {
                    self.insert(lpn, self.part(flow), State::Clean);
                }
                self.served(request, 1, 0);
            }
            Kind::Write { request } => self.served(request, 1, 0),
            Kind::Rest { flow } if !trimmed => {
                let entry = self.entries.iter_mut().find(|entry| entry.lpn == lpn).expect("it waits for this");
                entry.state = State::Dirty;
                if self.waits.iter().any(|one| one.lpn == lpn) {
                    self.write_out(lpn, flow);
                }
                self.flush(flow);
            }
            Kind::Rest { .. } => {}
            Kind::Flush { flow, version } => {
                let page = lpn;
                let lpn = if trimmed { NOBODYS } else { lpn };
                let place = self.entries.iter().position(|entry| entry.lpn == lpn).expect("kept until it is written");
                if !trimmed && self.entries[place].state == (State::Flushing { again: true }) {
                    self.entries[place].state = State::Dirty;
                } else {
                    self.entries.remove(place);
                }
                if !trimmed {
                    self.has_version(page, version);
                    if self.waits.iter().any(|one| one.lpn == page) {
                        self.write_out(page, flow);
                    }
                }
                self.use_space(flow);
            }
        }
    }

    /// Writes of a flow that wait for space use what there is, and reads behind them go on.
    fn use_space(&mut self, flow: usize) {
        let part = self.part(flow);
        while let Some((request, left)) = self.waiting[part].front().cloned() {
            if self.asks[request].op == Op::Read {
                self.waiting[part].pop_front();
                self.read(request);
                continue;
            }
            let left = self.store_all(request, &left);
            if !left.is_empty() {
                self.waiting[part][0].1 = left;
                break;
            }
            self.waiting[part].pop_front();
            self.flush(flow);
        }
        self.flush(flow);
    }

    pub fn run(mut self) -> Vec<u64> {
        let mut next = 0;
        while next < self.asks.len() || self.busy.is_some() {
            let ends = self.busy.map_or(u64::MAX, |(at, _)| at);
            let comes = self.asks.get(next).map_or(u64::MAX, |ask| ask.at);
            let parts = 0..self.waiting.len();
            let paced = parts.clone().filter(|&part| !self.waiting[part].is_empty()).map(|part| self.next_entry(part));
            let enters = paced.filter(|&at| at > self.now).min().unwrap_or(u64::MAX);
            self.now = ends.min(comes).min(enters);
            if ends == self.now {
                let (_, job) = self.busy.take().expect("ends now");
                self.end(job);
            }
            if self.config.pace.ns() > 0 {
                parts.for_each(|part| self.use_space(part));
            }
            while self.asks.get(next).is_some_and(|ask| ask.at == self.now) {
                self.arrive(next);
                next += 1;
            }
            if self.busy.is_none()
                && let Some(job) = self.jobs.pop_front()
            {
                let length = if matches!(job.kind, Kind::Read { .. } | Kind::Rest { .. }) { READ } else { PROGRAM };
                if length == PROGRAM {
                    self.mapped.insert(job.lpn);
                }
                self.busy = Some((self.now + length, job));
            }
        }
        assert!(self.left.iter().all(|&left| left == 0));
        self.done
    }
}
