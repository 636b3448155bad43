//! A plain model of one plane with rows and one-shot programs behind a page buffer, and behind an SLC cache that is passed by when it is full, written apart
//! from the engine, and random requests against both.
//!
//! The plane does one thing at a time: a fold to its end once it is begun, else what waits in the order in which it came. The model knows no events and no
//! translation layer; scenes in which native blocks would have to be collected are left out.

use std::collections::{BTreeMap, VecDeque};

use super::behind_cache::{SLC_ERASE, SLC_PROGRAM, SLC_READ, cached};
use super::{MEMORY, PAGE, PROGRAM, READ, drive};
use crate::common::play::{self, RunResult, TestRequest, Touch, Wake};
use crate::common::{atomic, recipe};
use flashlane_core::Duration;
use flashlane_core::Op::{self, Flush, Read, Write};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::SlcTotals;
use flashlane_ssd::config::{Buffer, Config, SlcCache};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A request of one page, or a flush; whether it has FUA.
type OnePage = (u64, Op, u64, bool);

/// A page in the buffer.
#[derive(Clone, Copy, PartialEq)]
enum Page {
    Gathered,
    /// Its program waits or runs; written again since.
    Leaving(bool),
}

enum Work {
    Read(usize),
    /// Pages of a row that goes to the cache.
    ToCache(Vec<u64>),
    Wordline(Vec<u64>),
    /// Pages of a row in SLC mode are read.
    FoldRead(u64),
    FoldProgram(Vec<u64>),
    Erase,
}

/// A block in SLC mode: its rows of pages, each with the number of its program, and whether it is native once erased.
#[derive(Default)]
struct Block {
    rows: Vec<Vec<(u64, u64)>>,
    is_native: bool,
}

struct Plane<'a> {
    asks: &'a [OnePage],
    buffer_pages: usize,
    slc: Option<SlcCache>,
    /// Rows of a block in SLC mode; pages of a native one, of a wordline and of a row.
    block: usize,
    native: usize,
    wordline: usize,
    slots: usize,
    wait: Option<u64>,
    start_blocks: u32,
    // The buffer.
    buffer: BTreeMap<u64, Page>,
    /// Pages that are gathered, each with the instant since which it is, and those of them that something waits for.
    gathered: Vec<(u64, u64)>,
    awaited: Vec<u64>,
    /// Writes that wait for space.
    waiting: VecDeque<usize>,
    /// Requests that wait for programs of pages: the request, the page, how many programs.
    owed: Vec<(usize, u64, u32)>,
    // The plane.
    queue: VecDeque<Work>,
    folding: VecDeque<Work>,
    running: Option<(u64, Work)>,
    due: Option<u64>,
    folds_on: bool,
    // The blocks.
    free: u32,
    free_static: u32,
    /// Pages left in the open native blocks: of writes, and of folds.
    left: [usize; 2],
    open: Option<Block>,
    filled: VecDeque<Block>,
    folded: Option<Block>,
    /// Where a page lies: the number of its program, and whether in SLC mode.
    last: BTreeMap<u64, (u64, bool)>,
    written: u64,
    ends: Vec<u64>,
    totals: SlcTotals,
    padded: u64,
    is_short: bool,
}

impl Plane<'_> {
    /// Whether the cache has a row besides those for which programs wait.
    fn cache_has_row(&self) -> bool {
        let Some(slc) = &self.slc else { return false };
        let native = self.filled.iter().chain(&self.open).chain(&self.folded).filter(|block| block.is_native).count();
        let limit = if slc.dynamic { slc.dynamic_limit as usize } else { 0 };
        let spare = (self.free.saturating_sub(self.start_blocks) as usize).min(limit.saturating_sub(native));
        let open = self.open.as_ref().map_or(0, |block| self.block - block.rows.len());
        let waiting = self.queue.iter().filter(|work| matches!(work, Work::ToCache(_))).count();
        open + (self.free_static as usize + spare) * self.block > waiting
    }

    fn gather(&mut self, now: u64, page: u64) {
        if self.slots == 1 && self.cache_has_row() {
            self.buffer.insert(page, Page::Leaving(false));
            self.queue.push_back(Work::ToCache(vec![page]));
            return;
        }
        self.buffer.insert(page, Page::Gathered);
        self.gathered.push((page, now));
        if self.slots > 1 {
            self.rows_to_cache(self.slots);
        }
        if self.gathered.len() == self.wordline {
            self.close();
        }
    }

    /// Rows of at least so many pages go to the cache as far as it has any.
    fn rows_to_cache(&mut self, least: usize) {
        while self.gathered.len() >= least && self.cache_has_row() {
            let pages = self.take(self.slots);
            self.queue.push_back(Work::ToCache(pages));
        }
    }

    /// Takes the first pages out of the list: a program of them waits.
    fn take(&mut self, most: usize) -> Vec<u64> {
        let most = most.min(self.gathered.len());
        let pages: Vec<u64> = self.gathered.drain(..most).map(|page| page.0).collect();
        self.awaited.retain(|page| !pages.contains(page));
        pages.iter().for_each(|&page| _ = self.buffer.insert(page, Page::Leaving(false)));
        pages
    }

    fn close(&mut self) {
        let pages = self.take(self.wordline);
        self.queue.push_back(Work::Wordline(pages));
    }

    /// Something waits for a page, which may be gathered.
    fn awaits(&mut self, page: u64) {
        if self.gathered.iter().any(|gathered| gathered.0 == page) {
            self.awaited.push(page);
        }
    }

    /// Programs of a page that must end before the flash has what the buffer holds.
    fn owes(&self, page: u64) -> u32 {
        match self.buffer.get(&page) {
            None => 0,
            Some(Page::Gathered | Page::Leaving(false)) => 1,
            Some(Page::Leaving(true)) => 2,
        }
    }

    /// Stores the page of a write; false if there is no space.
    fn store(&mut self, now: u64, n: usize) -> bool {
        let (_, _, page, fua) = self.asks[n];
        let is_full = self.buffer.len() == self.buffer_pages;
        match self.buffer.get_mut(&page) {
            Some(Page::Gathered) => {}
            Some(Page::Leaving(again)) => *again = true,
            None if is_full => return false,
            None => self.gather(now, page),
        }
        if fua {
            self.owed.push((n, page, self.owes(page)));
            self.awaits(page);
        } else {
            self.ends[n] = now + MEMORY;
        }
        true
    }

    fn arrives(&mut self, now: u64, n: usize) {
        let (_, op, page, _) = self.asks[n];
        match op {
            Read if self.buffer.contains_key(&page) || self.waiting.iter().any(|&n| self.asks[n].2 == page) => {
                self.ends[n] = now + MEMORY;
            }
            Read => self.queue.push_back(Work::Read(n)),
            Write if self.waiting.is_empty() && self.store(now, n) => {}
            Write => self.waiting.push_back(n),
            _ => {
                let owed: Vec<_> = self.buffer.keys().map(|&page| (n, page, self.owes(page))).collect();
                if owed.is_empty() {
                    self.ends[n] = now + MEMORY;
                }
                self.owed.extend(owed);
                self.awaited = self.gathered.iter().map(|page| page.0).collect();
            }
        }
    }

    /// The program of a page has ended.
    fn programmed(&mut self, now: u64, page: u64) {
        for owed in self.owed.iter_mut().filter(|owed| owed.1 == page) {
            owed.2 -= 1;
        }
        for n in self.owed.iter().filter(|owed| owed.2 == 0).map(|owed| owed.0).collect::<Vec<_>>() {
            self.owed.retain(|owed| owed.0 != n || owed.2 > 0);
            if !self.owed.iter().any(|owed| owed.0 == n) {
                self.ends[n] = now;
            }
        }
        if self.buffer.remove(&page) == Some(Page::Leaving(true)) {
            self.gather(now, page);
            if self.owed.iter().any(|owed| owed.1 == page) {
                self.awaits(page);
            }
        }
        while let Some(&first) = self.waiting.front() {
            if !self.store(now, first) {
                break;
            }
            self.waiting.pop_front();
        }
    }

    /// Takes a wordline of native cells for `pages` in the open block of writes (`stream` 0) or of folds (1).
    fn take_native(&mut self, stream: usize, pages: &[u64]) {
        if self.left[stream] == 0 {
            self.free -= 1;
            self.left[stream] = self.native;
        }
        self.left[stream] -= self.wordline;
        self.padded += (self.wordline - pages.len()) as u64;
        self.is_short |= self.free < self.start_blocks;
    }

    /// Takes a row of the cache; false if it has none.
    fn take_cached(&mut self, pages: &[u64]) -> bool {
        if self.open.is_none() && self.free_static > 0 {
            self.free_static -= 1;
            self.open = Some(Block::default());
        } else if self.open.is_none() {
            if !self.cache_has_row() {
                return false;
            }
            self.free -= 1;
            self.open = Some(Block { is_native: true, ..Block::default() });
        }
        let block = self.open.as_mut().expect("it is open");
        block.rows.push((self.written + 1..).zip(pages).map(|(number, &page)| (page, number)).collect());
        if block.rows.len() == self.block {
            self.filled.extend(self.open.take());
        }
        self.padded += (self.slots - pages.len()) as u64;
        true
    }

    /// The time that a work takes, which begins: pages get their places.
    fn begin(&mut self, work: &Work) -> u64 {
        let (time, pages) = match work {
            Work::Read(n) => {
                let is_cached = self.last.get(&self.asks[*n].2).is_some_and(|place| place.1);
                (if is_cached { SLC_READ } else { READ }, 1)
            }
            Work::ToCache(pages) => {
                let is_cached = self.take_cached(pages);
                if !is_cached {
                    self.take_native(0, pages);
                }
                (self.written(pages, is_cached), pages.len() as u64)
            }
            Work::Wordline(pages) => {
                self.take_native(0, pages);
                (self.written(pages, false), pages.len() as u64)
            }
            Work::FoldRead(pages) => (SLC_READ, *pages),
            Work::FoldProgram(pages) => {
                self.take_native(1, pages);
                for page in pages {
                    self.last.get_mut(page).expect("it was written").1 = false;
                }
                self.totals.folded += pages.len() as u64;
                (PROGRAM, pages.len() as u64)
            }
            Work::Erase => (SLC_ERASE, 0),
        };
        time + pages * PAGE
    }

    /// The program of pages begins; returns the time that the array takes.
    fn written(&mut self, pages: &[u64], is_cached: bool) -> u64 {
        for page in pages {
            self.written += 1;
            self.last.insert(*page, (self.written, is_cached));
        }
        let (count, time) =
            if is_cached { (&mut self.totals.programs, SLC_PROGRAM) } else { (&mut self.totals.direct, PROGRAM) };
        *count += pages.len() as u64;
        time
    }

    /// A fold of the block that was filled first, if there is one: its rows are read, and what fills a wordline is programmed before the next row is.
    fn fold(&mut self) {
        let Some(block) = self.filled.pop_front() else { return };
        let mut read: Vec<u64> = Vec::new();
        for row in &block.rows {
            let valid: Vec<u64> = row.iter().filter(|page| self.last[&page.0].0 == page.1).map(|page| page.0).collect();
            if valid.is_empty() {
                continue;
            }
            self.folding.push_back(Work::FoldRead(valid.len() as u64));
            read.extend(valid);
            if read.len() >= self.wordline {
                self.folding.push_back(Work::FoldProgram(read.drain(..self.wordline).collect()));
            }
        }
        if !read.is_empty() {
            self.folding.push_back(Work::FoldProgram(read));
        }
        self.folding.push_back(Work::Erase);
        self.totals.folds += 1;
        self.folded = Some(block);
    }

    fn end(&mut self, now: u64, work: Work) {
        match work {
            Work::FoldRead(_) | Work::FoldProgram(_) => return,
            Work::Erase => {
                let is_native = self.folded.take().is_some_and(|block| block.is_native);
                self.free += u32::from(is_native);
                self.free_static += u32::from(!is_native);
                self.folds_on &= self.queue.is_empty();
                if self.folds_on {
                    self.fold();
                }
                return;
            }
            Work::Read(n) => self.ends[n] = now,
            Work::ToCache(pages) | Work::Wordline(pages) => {
                pages.into_iter().for_each(|page| self.programmed(now, page))
            }
        }
        self.folds_on = false;
        self.due = self.slc.as_ref().and_then(|slc| slc.idle).map(|idle| now + idle.ns());
    }

    fn deadline(&self) -> u64 {
        let waits = self.wait.zip(self.gathered.first());
        waits.map_or(u64::MAX, |(wait, first)| first.1 + wait)
    }

    /// Serves everything. Returns whether no native block had to be collected.
    fn run(&mut self) -> bool {
        let mut arrived = 0;
        while !self.is_short {
            let arrival = self.asks.get(arrived).map_or(u64::MAX, |ask| ask.0);
            let end = self.running.as_ref().map_or(u64::MAX, |running| running.0);
            let now = arrival.min(end).min(self.deadline()).min(self.due.unwrap_or(u64::MAX));
            if now == u64::MAX {
                break;
            }
            if end == now
                && let Some((_, work)) = self.running.take()
            {
                self.end(now, work);
            }
            if self.due == Some(now) {
                self.due = None;
                self.folds_on |= self.running.is_none() && self.queue.is_empty();
                if self.folds_on && self.folding.is_empty() {
                    self.fold();
                }
            }
            while self.asks.get(arrived).is_some_and(|ask| ask.0 == now) {
                self.arrives(now, arrived);
                arrived += 1;
            }
            if !self.awaited.is_empty() || self.deadline() <= now {
                self.rows_to_cache(1);
                if !self.gathered.is_empty() {
                    self.close();
                }
            }
            if self.running.is_none()
                && let Some(work) = self.folding.pop_front().or_else(|| self.queue.pop_front())
            {
                let time = self.begin(&work);
                self.running = Some((now + time, work));
            }
        }
        let blocks = self.filled.iter().chain(&self.open);
        let valid = |page: &&(u64, u64)| self.last[&page.0].0 == page.1;
        self.totals.valid = blocks.flat_map(|block| block.rows.iter().flatten()).filter(valid).count() as u64;
        !self.is_short
    }
}

fn asks(random: &mut Pcg64Mcg) -> Vec<OnePage> {
    let mut below = |n: u64| random.next_u64() % n;
    let (span, reads, flushes, fua) = (1 + below(40), below(50), below(15), below(15));
    let gap = [1, 50_000, 500_000, 2_000_000][below(4) as usize];
    let mut at = 0;
    let count = 1 + below(150);
    let one = |_| {
        at += below(3) * below(gap);
        let kind = below(100);
        let op = match kind {
            _ if kind < reads => Read,
            _ if kind < reads + flushes => Flush,
            _ => Write,
        };
        (at, op, below(span), op == Write && below(100) < fua)
    };
    (0..count).map(one).collect()
}

/// The request as it is sent.
fn request(&(at, op, page, fua): &OnePage) -> TestRequest {
    let touch = match op {
        Flush => Touch::Bytes(0, 0),
        _ if fua => Touch::Fua(page * 8_192, 8_192),
        _ => Touch::Bytes(page * 8_192, 8_192),
    };
    TestRequest { at, flow: 0, op, touch }
}

/// Wordlines of another size, another wait, and a buffer.
fn vary(config: &mut Config, random: &mut Pcg64Mcg) {
    let mut below = |n: u64| (random.next_u64() % n) as u32;
    config.nand.one_shot_pages = 2 + below(3);
    config.geometry.pages_per_block *= config.geometry.slots;
    config.nand.one_shot_wait =
        [None, Some(0), Some(300_007), Some(3_000_007)][below(4) as usize].map(Duration::from_ns);
    config.buffer = Some(Buffer::plain(config.nand.one_shot_pages * config.geometry.slots + below(12), 0));
}

/// A drive without an SLC cache, whose rows have so many pages.
fn any_drive(random: &mut Pcg64Mcg, slots: u32) -> Config {
    let mut config = drive();
    config.geometry.slots = slots;
    vary(&mut config, random);
    config.check().expect("a legal device");
    config
}

/// A drive with one, and rows of so many pages.
fn any_cached_drive(random: &mut Pcg64Mcg, slots: u32) -> Config {
    let mut config = cached();
    config.geometry.slots = slots;
    vary(&mut config, random);
    let mut below = |n: u64| (random.next_u64() % n) as u32;
    let slc = config.slc.as_mut().expect("a cache");
    slc.bits = config.nand.one_shot_pages;
    (slc.static_blocks, slc.dynamic) = [(1, false), (3, false), (2, true), (0, true)][below(4) as usize];
    slc.dynamic_limit = [u32::MAX, 1 + below(9)][below(2) as usize];
    slc.idle = [None, Some(500_003), Some(4_000_003)][below(3) as usize].map(Duration::from_ns);
    config.geometry.blocks_per_plane = 16 + below(60);
    config.ftl.logical_pages = 48;
    config.check().expect("a legal device");
    config
}

/// The plane of a device, erased. Without a cache its blocks are never counted.
fn plane<'a>(config: &Config, asks: &'a [OnePage]) -> Plane<'a> {
    let slc = config.slc.clone();
    let free_static = slc.as_ref().map_or(0, |slc| slc.static_blocks);
    Plane {
        asks,
        buffer_pages: config.buffer.as_ref().expect("a buffer").pages as usize,
        block: slc
            .as_ref()
            .map_or(0, |slc| (config.geometry.pages_per_block / config.geometry.slots / slc.bits) as usize),
        slots: config.geometry.slots as usize,
        native: config.geometry.pages_per_block as usize,
        wordline: (config.nand.one_shot_pages * config.geometry.slots) as usize,
        wait: config.nand.one_shot_wait.map(Duration::ns),
        start_blocks: if slc.is_some() { config.gc.start_blocks } else { 0 },
        buffer: BTreeMap::new(),
        gathered: Vec::new(),
        awaited: Vec::new(),
        waiting: VecDeque::new(),
        owed: Vec::new(),
        queue: VecDeque::new(),
        folding: VecDeque::new(),
        running: None,
        due: None,
        folds_on: false,
        free: if slc.is_some() { config.geometry.blocks_per_plane - free_static } else { u32::MAX },
        free_static,
        slc,
        left: [0, 0],
        open: None,
        filled: VecDeque::new(),
        folded: None,
        last: BTreeMap::new(),
        written: 0,
        ends: vec![0; asks.len()],
        totals: SlcTotals::default(),
        padded: 0,
        is_short: false,
    }
}

/// Plays the requests, each of which ends when it does in the model.
fn compare(scene: u32, config: &Config, recipe: &Recipe, model: &Plane<'_>) -> RunResult {
    let asks = model.asks;
    let requests: Vec<TestRequest> = asks.iter().map(request).collect();
    let result = play::play(config, recipe, &requests, Wake::Plain);
    let mut ends = vec![0; asks.len()];
    result.completions.iter().for_each(|c| ends[c.id.0 as usize] = c.done.ns());
    if let Some(first) = (0..ends.len()).find(|&n| ends[n] != model.ends[n]) {
        let (own, of_model, Config { nand, slc, buffer, .. }) = (ends[first], model.ends[first], config);
        let (pages, wait) = (nand.one_shot_pages, nand.one_shot_wait);
        panic!(
            "scene {scene}: request {first} of {asks:?} ends at {own}, in the model at {of_model}; {pages}, {wait:?}, {buffer:?}, {slc:?}"
        );
    }
    result
}

/// Without an SLC cache as many pages are programmed and padded as well.
#[test]
fn random_requests_end_as_in_the_plain_model() {
    let mut random = Pcg64Mcg::new(0x0e5407);
    let (mut programs, mut padded) = (0, 0);
    for scene in 0..1_500 {
        let config = any_drive(&mut random, [1, 1, 2, 3, 4][scene as usize % 5]);
        let asks = asks(&mut random);
        let mut model = plane(&config, &asks);
        assert!(model.run(), "it has blocks without end");
        let totals = compare(scene, &config, &recipe("fcfs", &[]), &model).totals;
        let (made, pads) = (model.totals.direct, model.padded);
        assert_eq!((totals.user_programs, totals.padded), (made, Some(pads)), "scene {scene}: {asks:?}");
        (programs, padded) = (programs + made, padded + pads);
    }
    assert!(programs > 30_000 && padded > 5_000, "{programs} pages programmed, {padded} padded");
}

/// With one the cache has done the same.
#[test]
fn random_requests_behind_a_cache_end_as_in_the_plain_model() {
    let mut random = Pcg64Mcg::new(0x51c_0e5);
    let atomic = atomic("fcfs", &[]);
    let (mut scenes, mut direct, mut folds, mut padded) = (0, 0, 0, 0);
    for scene in 0..1_500 {
        let config = any_cached_drive(&mut random, [1, 1, 2, 3, 4][scene as usize % 5]);
        let asks = asks(&mut random);
        let mut model = plane(&config, &asks);
        if !model.run() {
            continue;
        }
        let totals = compare(scene, &config, &atomic, &model).totals;
        let own = (totals.slc, totals.padded);
        assert_eq!(own, (Some(model.totals), Some(model.padded)), "scene {scene}: {asks:?}; {:?}", config.slc);
        scenes += 1;
        (direct, folds, padded) = (direct + model.totals.direct, folds + model.totals.folds, padded + model.padded);
    }
    println!("{scenes} scenes, {direct} pages in native cells, {folds} folds, {padded} pads");
    assert!(scenes > 700 && direct > 5_000 && folds > 1_000 && padded > 3_000, "{scenes} {direct} {folds} {padded}");
}
