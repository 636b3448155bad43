//! The page buffer compared with a plain model: one chip that serves the oldest transaction, a list of pages by last
//! use, and counts that are recomputed whenever one is needed. Every request must end at the same instant as on the
//! device.
//!
//! Covers which pages are written out and when (order of use, `flush_above`, pages that writes wait for), that a write
//! which finds others waiting waits behind them, even if its page is in the buffer, what keeps a page in the
//! buffer, which reads memory serves, what trims drop, and what flushes and
//! writes with FUA wait for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::common::{device, drain, recipe, unit_cycle, write_back};
use flashlane_core::decide::Question;
use flashlane_core::{Duration, Extent, FlowId, Lpn, Op, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::{Buffer, Config, FlowConfig, Unmap, UnmappedReads};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

const READ: u64 = 1_000;
const PROGRAM: u64 = 4_000;
const MEMORY: u64 = 300;

/// The page of an entry that was trimmed while the chip programs it.
const NOBODYS: u32 = u32::MAX;

/// A request: arrival time, flow, operation, pages.
#[derive(Clone, Debug)]
struct TestRequest {
    at: u64,
    flow: usize,
    op: Op,
    fua: bool,
    pages: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Clean,
    Dirty,
    Flushing { again: bool },
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    lpn: u32,
    part: usize,
    state: State,
}

/// An operation of the chip: a page read or written for a request, or written for the buffer. A trim may come before it ends: of a read
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

struct Model<'a> {
    config: Buffer,
    unmap: Unmap,
    asks: &'a [TestRequest],
    /// Least recently used first.
    entries: Vec<Entry>,
    /// Writes waiting for space, by part, and the pages that each still has to store.
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
    now: u64,
}

impl<'a> Model<'a> {
    fn new(config: &Config, asks: &'a [TestRequest]) -> Model<'a> {
        let buffer = config.buffer.clone().expect("has one");
        let parts = if buffer.per_flow { config.flows.len() } else { 1 };
        Model {
            config: buffer,
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

    fn store(&mut self, lpn: u32, part: usize) -> bool {
        if !self.use_page(lpn) {
            return self.insert(lpn, part, State::Dirty);
        }
        let entry = self.entries.last_mut().expect("just put there");
        entry.state = match entry.state {
            State::Flushing { .. } => State::Flushing { again: true },
            _ => State::Dirty,
        };
        true
    }

    /// Stores as many as possible of a write's pages, in order; returns the others.
    fn store_all(&mut self, request: usize, pages: &[u32]) -> Vec<u32> {
        let TestRequest { flow, fua, .. } = self.asks[request];
        let waits = fua && !self.config.protected;
        let mut stored = 0;
        while stored < pages.len() && self.store(pages[stored], self.part(flow)) {
            let lpn = pages[stored];
            let version = self.stored.entry(lpn).or_default();
            *version += 1;
            if waits {
                self.waits.push(Waits { request, lpn, version: *version });
                self.write_out(lpn, flow);
            }
            stored += 1;
        }
        if !waits {
            self.served(request, stored, MEMORY);
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
            Op::Read => {
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
            Op::Trim | Op::WriteZeroes => self.trim(request, &pages),
            Op::Flush => self.arrive_flush(request, flow),
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
                self.served(write, dropped, MEMORY);
            }
            self.waiting[part].retain(|(_, left)| !left.is_empty());
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
        let is_read = |job: &Job| matches!(job.kind, Kind::Read { .. });
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
            job.trimmed = had_copy || !is_read(job);
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
        if !trimmed && !matches!(kind, Kind::Read { .. }) {
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

    /// Writes of a flow that wait for space use what there is.
    fn use_space(&mut self, flow: usize) {
        let part = self.part(flow);
        while let Some((request, left)) = self.waiting[part].front().cloned() {
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

    fn run(mut self) -> Vec<u64> {
        let mut next = 0;
        while next < self.asks.len() || self.busy.is_some() {
            let ends = self.busy.map_or(u64::MAX, |(at, _)| at);
            let comes = self.asks.get(next).map_or(u64::MAX, |ask| ask.at);
            self.now = ends.min(comes);
            if ends == self.now {
                let (_, job) = self.busy.take().expect("ends now");
                self.end(job);
            }
            while self.asks.get(next).is_some_and(|ask| ask.at == self.now) {
                self.arrive(next);
                next += 1;
            }
            if self.busy.is_none()
                && let Some(job) = self.jobs.pop_front()
            {
                let length = if matches!(job.kind, Kind::Read { .. }) { READ } else { PROGRAM };
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

fn config(buffer: Buffer, flows: usize) -> Config {
    let mut config = unit_cycle(1);
    (config.memory, config.buffer) = (Duration::from_ns(MEMORY), Some(buffer));
    config.flows = vec![FlowConfig::at_priority(0); flows];
    config
}

fn on_device(config: &Config, asks: &[TestRequest]) -> Vec<u64> {
    on_device_under(config, &recipe("fcfs", &[]), asks)
}

fn on_device_under(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> Vec<u64> {
    let mut device = device(config, recipe);
    for (id, ask) in asks.iter().enumerate() {
        let (now, list) = (Time::from_ns(ask.at), ask.pages.iter().copied().map(Lpn).collect::<Vec<_>>());
        device.advance(now);
        let (id, flow) = (RequestId(id as u64), FlowId(ask.flow as u16));
        let extent = if ask.op == Op::Flush { Extent::Bytes { offset: 0, length: 0 } } else { Extent::Pages(&list) };
        device
            .submit(now, &Request { id, flow, op: ask.op, fua: ask.fua, arrival: now, extent })
            .expect("within the drive");
    }
    drain(&mut device);
    let mut done = std::mem::take(device.completions());
    done.sort_by_key(|c| c.id);
    done.iter().map(|c| c.done.ns()).collect()
}

#[test]
fn the_buffer_against_a_plain_one() {
    against_a_plain_one(77, [0, 0]);
}

#[test]
fn the_buffer_with_trims_against_a_plain_one() {
    for (seed, trims) in [(78, 5), (79, 30)] {
        against_a_plain_one(seed, [trims, 0]);
    }
}

#[test]
fn the_buffer_with_flushes_and_fua_against_a_plain_one() {
    for (seed, shares) in [(80, [0, 5]), (81, [0, 30]), (82, [10, 20])] {
        against_a_plain_one(seed, shares);
    }
}

/// Random requests, of which so many of a hundred are trims, and so many flushes and writes with FUA.
fn against_a_plain_one(seed: u128, [trims, flushes]: [u64; 2]) {
    let mut rng = Pcg64Mcg::new(seed);
    let mut of = |below: u64| rng.next_u64() % below;
    for case in 0..600 {
        let flows = 1 + of(2) as usize;
        let pages = flows as u32 * (1 + of(10) as u32);
        let (write_back, read_allocate) = (of(4) > 0, of(2) > 0);
        let flush_above = of(u64::from(pages) + 1) as u32;
        let buffer = Buffer {
            pages,
            per_flow: of(2) > 0,
            write_back,
            read_allocate,
            flush_above,
            merge_writes: true,
            protected: flushes > 0 && of(8) == 0,
        };
        let mut config = config(buffer.clone(), flows);
        if trims > 0 {
            let [command, page] = [of(3) * 1_000, of(3) * 100].map(Duration::from_ns);
            let reads = if of(2) > 0 { UnmappedReads::Memory } else { UnmappedReads::Flash };
            config.unmap = Unmap { command, page, reads };
        }
        let (span, gap, reads) = (1 + of(3 * u64::from(pages)), 1 + of(5_000), of(80));
        let mut at = 0;
        let asks: Vec<TestRequest> = (0..120)
            .map(|_| {
                at += if of(3) > 0 { of(2 * gap) } else { 0 };
                let flow = of(flows as u64) as usize;
                let op = match of(100) {
                    _ if trims > 0 && of(100) < trims => Op::Trim,
                    _ if flushes > 0 && of(100) < flushes => Op::Flush,
                    read if read < reads => Op::Read,
                    _ => Op::Write,
                };
                let pages = (0..1 + of(3)).map(|_| (1_000 * flow as u64 + of(span)) as u32).collect();
                let fua = flushes > 0 && op == Op::Write && of(100) < flushes;
                TestRequest { at, flow, op, fua, pages: if op == Op::Flush { Vec::new() } else { pages } }
            })
            .collect();
        let (plain, real) = (Model::new(&config, &asks).run(), on_device(&config, &asks));
        let differs = (0..asks.len()).find(|&i| plain[i] != real[i]);
        assert_eq!(differs, None, "case {case}, {buffer:?}: {:?}", differs.map(|i| (&asks[i], plain[i], real[i])));
    }
}

fn write(at: u64, page: u32) -> TestRequest {
    TestRequest { at, flow: 0, op: Op::Write, fua: false, pages: vec![page] }
}

/// A write that waits for space is not overtaken by one whose page is in the buffer already.
#[test]
fn a_buffered_page_is_not_written_ahead_of_writes_that_wait() {
    let buffer = write_back(2, 2);
    let asks = [write(0, 0), write(0, 1), write(10, 2), write(20, 1), write(30, 2)];
    // Page 0 leaves the buffer at 4010 and page 2 enters; the pages of the writes behind it are in the buffer by then.
    let expected = [MEMORY, MEMORY, 4_010 + MEMORY, 4_010 + MEMORY, 4_010 + MEMORY];
    assert_eq!(on_device(&config(buffer, 1), &asks), expected);
}

/// A read of a page whose write waits for space is served from memory, as that of any page with a write that waits or runs (model 0.7);
/// of a page that the write has stored, from the buffer; of others, and once the write's page has gone to the flash, from the flash.
#[test]
fn a_read_of_a_page_whose_write_waits_for_space_is_served_from_memory() {
    let buffer = write_back(2, 0);
    let read = |at, page| TestRequest { op: Op::Read, ..write(at, page) };
    let large = TestRequest { pages: vec![1, 2, 3, 3], ..write(10, 0) };
    // Page 0 has been programmed at 4000, page 1 at 8000, page 2 at 12000, page 3 at 16000 and 20000.
    let asks =
        [write(0, 0), large, read(20, 1), read(30, 2), read(40, 3), read(3_000, 4), read(8_500, 3), read(40_000, 3)];
    let done = on_device(&config(buffer, 1), &asks);
    assert_eq!(done[1], 8_000 + MEMORY, "page 2 took the place of page 0 and page 3 that of page 1");
    assert_eq!(done[2..5], [20, 30, 40].map(|at| at + MEMORY));
    assert_eq!(done[6], 8_500 + MEMORY, "in the buffer");
    assert!(done[5] > 4_000 && done[7] == 41_000, "{done:?}");
}

/// With `n` pages written once, all but `flush_above` are written to the flash in the background, oldest first, one
/// after the other.
#[test]
fn so_many_pages_stay_dirty() {
    for flush_above in 0..5 {
        let buffer = write_back(8, flush_above);
        for count in 0..8u32 {
            let mut device = device(&config(buffer.clone(), 1), &recipe("fcfs", &[]));
            for page in 0..count {
                let (arrival, extent) = (Time::ZERO, Extent::Pages(&[Lpn(page)]));
                let id = RequestId(page.into());
                let request = Request { id, flow: FlowId(0), op: Op::Write, fua: false, arrival, extent };
                device.submit(arrival, &request).expect("within the drive");
            }
            drain(&mut device);
            let written = u64::from(count.saturating_sub(flush_above));
            assert_eq!(device.totals().user_programs, written, "{count} pages, {flush_above} may stay");
            assert_eq!(device.free_buffer_pages(FlowId(0)), Some(8 - count.min(flush_above)));
        }
    }
}

/// When writes are stored by flows with this many pages of the buffer each; a read of flow 0 keeps the chip until 1,000.
fn stored(each: u32, merge_writes: bool, lines: &[(u64, usize, &[u32])]) -> Vec<u64> {
    let flows = 1 + lines.iter().map(|line| line.1).max().expect("some");
    let pages = each * flows as u32;
    let buffer = Buffer {
        pages,
        per_flow: true,
        write_back: true,
        read_allocate: false,
        flush_above: 0,
        merge_writes,
        protected: false,
    };
    let read = TestRequest { at: 0, flow: 0, op: Op::Read, fua: false, pages: vec![9] };
    let write = |&(at, flow, pages): &(u64, usize, &[u32])| TestRequest {
        at,
        flow,
        op: Op::Write,
        fua: false,
        pages: pages.to_vec(),
    };
    let asks: Vec<TestRequest> = [read].into_iter().chain(lines.iter().map(write)).collect();
    let overwrite = Recipe { answers: vec![(Question::Cancel, "overwrite".to_owned())], ..recipe("fcfs", &[]) };
    let done = on_device_under(&config(buffer, flows), &overwrite, &asks);
    assert_eq!(done[0], READ);
    done[1..].iter().map(|done| done - MEMORY).collect()
}

/// A write of flow 1 replaces one of flow 0 that waits to be programmed. It takes the page of flow 1; that of flow 0 is free at once, and
/// the next write of flow 0 gets it. Flow 1's next write gets its page when the program of the replacing write has ended.
#[test]
fn a_write_of_another_flow_gives_the_replaced_writes_page_back() {
    // The programs of pages 5, 6 and 7 end at 5, 9 and 13 thousand.
    let lines: [(u64, usize, &[u32]); 5] =
        [(0, 0, &[5]), (100, 0, &[6]), (500, 1, &[5]), (600, 1, &[7]), (700, 0, &[8])];
    assert_eq!(stored(1, false, &lines), [0, 500, 500, 5_000, 9_000]);
    // One write replaces a write of each of two flows, for each of which another one waits.
    let lines: [(u64, usize, &[u32]); 5] =
        [(0, 0, &[5, 6]), (100, 0, &[7]), (200, 1, &[15, 16]), (300, 1, &[17]), (500, 2, &[5, 15])];
    assert_eq!(stored(2, false, &lines), [0, 500, 200, 500, 500]);
}

/// The same when the write of flow 1 has waited for space itself, until the program of page 20 ends at 5 thousand.
#[test]
fn a_write_that_waited_gives_the_replaced_writes_page_back() {
    let lines: [(u64, usize, &[u32]); 4] = [(0, 1, &[20]), (100, 0, &[5]), (200, 0, &[6]), (300, 1, &[5])];
    assert_eq!(stored(1, false, &lines), [0, 100, 5_000, 5_000]);
}

/// Where writes are merged the page stays in the part of flow 0, whose next write gets it when the page has been programmed; the page
/// of flow 1 is free meanwhile.
#[test]
fn a_page_stays_in_its_part_when_another_flow_writes_it() {
    // The programs of pages 5 and 7 end at 5 and 9 thousand.
    let lines: [(u64, usize, &[u32]); 5] =
        [(0, 0, &[5]), (500, 1, &[5]), (600, 0, &[6]), (700, 1, &[7]), (800, 1, &[8])];
    assert_eq!(stored(1, true, &lines), [0, 500, 5_000, 700, 9_000]);
}

/// Flows have equal parts; pages that are left over belong to nobody.
#[test]
fn parts_of_the_buffer_are_equal() {
    let buffer = Buffer {
        pages: 5,
        per_flow: true,
        write_back: true,
        read_allocate: false,
        flush_above: 5,
        merge_writes: true,
        protected: false,
    };
    let device = device(&config(buffer, 2), &recipe("fcfs", &[]));
    assert_eq!([0, 1].map(|flow| device.free_buffer_pages(FlowId(flow))), [Some(2); 2]);
}
