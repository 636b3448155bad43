//! A plain model of one plane with an SLC cache, written apart from the engine, and random requests against it.
//!
//! The plane serves one transaction at a time in the order of arrival; a fold, once begun, runs to its end. The model knows no queues of
//! units, no events and no translation layer: a page is a logical page and the number of its write, in the list of the block that it was
//! written to. Native blocks are never collected: scenes in which they would have to be are left out.

use std::collections::VecDeque;

use super::{DIRECT, ERASE, MOVE, NATIVE_READ, PAGE, READ, WRITE, config, fcfs};
use crate::common::play::{self, TestRequest, Touch, Wake};
use flashlane_core::Op::{self, Read, Write};
use flashlane_core::{Duration, Lpn};
use flashlane_ssd::SlcTotals;
use flashlane_ssd::config::{Config, FullCache, SlcCache};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// The time the controller's memory takes.
const MEMORY: u64 = 1_000;

/// A request of one page.
type OnePage = (u64, Op, u32);

/// A block in SLC mode: the pages written to it with the numbers of their writes, and whether it is native once erased.
struct Block {
    pages: Vec<(u32, u64)>,
    is_native: bool,
}

struct Plane<'a> {
    asks: &'a [OnePage],
    slc: SlcCache,
    /// Pages of a block in SLC mode, and of a native one.
    capacity: [usize; 2],
    start_blocks: u32,
    /// Erased native blocks, and erased static ones.
    free: u32,
    free_static: u32,
    /// Pages left in the open native blocks: of writes, and of folds.
    left: [usize; 2],
    open: Option<Block>,
    filled: VecDeque<Block>,
    /// By logical page, the number of its last write, and whether it lies in SLC mode.
    last: Vec<(u64, bool)>,
    totals: SlcTotals,
    now: u64,
    waiting: VecDeque<usize>,
    arrived: usize,
    ends: Vec<u64>,
    /// When folding may begin for idleness, and whether it goes on because it did.
    due: Option<u64>,
    folds_on: bool,
    /// A native block would have to be collected.
    is_short: bool,
}

impl<'a> Plane<'a> {
    fn new(config: &Config, asks: &'a [OnePage]) -> Plane<'a> {
        let (slc, geometry) = (config.slc.clone().expect("a cache"), &config.geometry);
        Plane {
            asks,
            capacity: [(geometry.pages_per_block / slc.bits) as usize, geometry.pages_per_block as usize],
            start_blocks: config.gc.start_blocks,
            free: geometry.blocks_per_plane - slc.static_blocks,
            free_static: slc.static_blocks,
            slc,
            left: [0, 0],
            open: None,
            filled: VecDeque::new(),
            last: vec![(0, false); config.ftl.logical_pages as usize],
            totals: SlcTotals::default(),
            now: 0,
            waiting: VecDeque::new(),
            arrived: 0,
            ends: vec![0; asks.len()],
            due: None,
            folds_on: false,
            is_short: false,
        }
    }

    /// What arrives before `until` waits, or is served from memory if a write of its page has not ended.
    fn arrivals(&mut self, until: u64, writing: Option<u32>) {
        while let Some(&(at, op, page)) = self.asks.get(self.arrived).filter(|ask| ask.0 < until) {
            let waits = |&n: &usize| self.asks[n].1 == Write && self.asks[n].2 == page;
            if op == Read && (writing == Some(page) || self.waiting.iter().any(waits)) {
                self.ends[self.arrived] = at + MEMORY;
            } else {
                self.waiting.push_back(self.arrived);
            }
            self.arrived += 1;
        }
    }

    /// Takes a page in native cells, of writes (0) or of folds (1).
    fn take_native(&mut self, stream: usize) {
        if self.left[stream] == 0 {
            self.free -= 1;
            self.left[stream] = self.capacity[1];
        }
        self.left[stream] -= 1;
    }

    fn is_valid(&self, &(page, write): &(u32, u64)) -> bool {
        self.last[page as usize].0 == write
    }

    /// Folds the first full block for which `may` holds, and those after it that become due, while the write of `writing` waits. Returns whether
    /// there was one.
    fn fold(&mut self, may: fn(&Block) -> bool, writing: Option<u32>) -> bool {
        let Some(place) = self.filled.iter().position(may) else { return false };
        let block = self.filled.remove(place).expect("it is there");
        let valid: Vec<(u32, u64)> = block.pages.iter().copied().filter(|page| self.is_valid(page)).collect();
        for &(page, _) in &valid {
            self.take_native(1);
            self.last[page as usize].1 = false;
        }
        self.totals.folds += 1;
        self.totals.folded += valid.len() as u64;
        let end = self.now + valid.len() as u64 * MOVE + ERASE;
        // In this time the idle time may have passed.
        if let Some(due) = self.due.filter(|&due| due <= end) {
            self.arrivals(due, writing);
            self.due = None;
            self.folds_on |= self.waiting.is_empty() && writing.is_none();
        }
        self.arrivals(end, writing);
        self.now = end;
        if block.is_native {
            self.free += 1
        } else {
            self.free_static += 1
        }
        self.collect(writing);
        self.folds_on &= self.waiting.is_empty() && writing.is_none();
        if self.folds_on {
            self.fold(|_| true, None);
        }
        true
    }

    /// Gives free blocks back where there are too few.
    fn collect(&mut self, writing: Option<u32>) {
        while self.free < self.start_blocks && !self.is_short {
            self.is_short = !self.fold(|block| block.is_native, writing);
        }
    }

    /// Whether a native block may be opened in SLC mode; none is being folded then.
    fn may_open_native(&self) -> bool {
        let dynamic = self.filled.iter().filter(|block| block.is_native).count();
        self.slc.dynamic && dynamic < self.slc.dynamic_limit as usize && self.free > self.start_blocks
    }

    /// Serves a write, which begins once there is a page for it.
    fn write(&mut self, page: u32) {
        let time = loop {
            if self.open.is_none() {
                if self.free_static > 0 {
                    self.free_static -= 1;
                    self.open = Some(Block { pages: Vec::new(), is_native: false });
                } else if self.may_open_native() {
                    self.free -= 1;
                    self.open = Some(Block { pages: Vec::new(), is_native: true });
                }
            }
            let write = self.totals.programs + self.totals.direct + 1;
            if let Some(block) = &mut self.open {
                block.pages.push((page, write));
                if block.pages.len() == self.capacity[0] {
                    self.filled.extend(self.open.take());
                }
                self.totals.programs += 1;
                self.last[page as usize] = (write, true);
                break WRITE;
            }
            if self.slc.full == FullCache::Direct || self.filled.is_empty() {
                self.take_native(0);
                self.totals.direct += 1;
                self.last[page as usize] = (write, false);
                break DIRECT;
            }
            self.fold(|_| true, Some(page));
            if self.is_short {
                return;
            }
        };
        self.arrivals(self.now + time, Some(page));
        self.now += time;
    }

    /// Serves everything. Returns whether no native block had to be collected.
    fn run(&mut self) -> bool {
        while !self.is_short {
            self.arrivals(self.now + 1, None);
            let next = self.asks.get(self.arrived).map_or(u64::MAX, |ask| ask.0);
            let Some(n) = self.waiting.pop_front() else {
                match self.due.take() {
                    Some(due) if due <= next => {
                        self.now = self.now.max(due);
                        self.folds_on = true;
                        self.fold(|_| true, None);
                    }
                    _ if next == u64::MAX => break,
                    due => (self.now, self.due) = (next, due),
                }
                continue;
            };
            let (_, op, page) = self.asks[n];
            if op == Read {
                let time = if self.last[page as usize].1 { READ } else { NATIVE_READ } + PAGE;
                self.arrivals(self.now + time, None);
                self.now += time;
            } else {
                self.write(page);
            }
            self.ends[n] = self.now;
            self.folds_on = false;
            self.due = self.slc.idle.map(|idle| self.now + idle.ns());
            self.collect(None);
        }
        let blocks = self.filled.iter().chain(&self.open);
        let pages = blocks.flat_map(|block| &block.pages);
        self.totals.valid = pages.filter(|page| self.is_valid(page)).count() as u64;
        !self.is_short
    }
}

/// Random requests: bursts of writes over a part of the drive, with reads between them and pauses after them.
fn asks(random: &mut Pcg64Mcg, pages: u32) -> Vec<OnePage> {
    let mut below = |n: u64| random.next_u64() % n;
    let (span, reads) = (1 + below(u64::from(pages)), below(60));
    let mut at = 0;
    let mut all = Vec::new();
    for _ in 0..1 + below(5) {
        for _ in 0..below(80) {
            at += below(3) * below(400_000);
            let op = if below(100) < reads { Read } else { Write };
            all.push((at, op, below(span) as u32));
        }
        at += below(30_000_000);
    }
    all
}

fn drive(random: &mut Pcg64Mcg) -> Config {
    let mut below = |n: u64| (random.next_u64() % n) as u32;
    let (static_blocks, dynamic) = [(1, false), (3, false), (2, true), (0, true)][below(4) as usize];
    let full = [FullCache::Fold, FullCache::Direct][below(2) as usize];
    let idle = [None, Some(0), Some(1_000_000), Some(9_000_000)][below(4) as usize];
    let mut config = config(static_blocks.max(1), full, idle);
    let slc = config.slc.as_mut().expect("a cache");
    (slc.static_blocks, slc.dynamic) = (static_blocks, dynamic);
    slc.dynamic_limit = [u32::MAX, u32::MAX, 1 + below(9)][below(3) as usize];
    config.geometry.blocks_per_plane = 16 + below(40);
    config.ftl.logical_pages = 96;
    config.check().expect("a legal device");
    config
}

/// Every request ends in the engine when it does in the model, and the cache has done the same.
#[test]
fn random_requests_end_as_in_the_plain_model() {
    let mut random = Pcg64Mcg::new(0x51c);
    let (mut scenes, mut folds, mut direct) = (0, 0, 0);
    for _ in 0..600 {
        let config = drive(&mut random);
        let asks = asks(&mut random, config.ftl.logical_pages);
        let mut plane = Plane::new(&config, &asks);
        if !plane.run() {
            continue;
        }
        let touch = |&(at, op, page): &OnePage| TestRequest { at, flow: 0, op, touch: Touch::Pages(vec![Lpn(page)]) };
        let requests: Vec<TestRequest> = asks.iter().map(touch).collect();
        let result = play::play(&config, &fcfs("atomic"), &requests, Wake::Plain);
        let mut ends = vec![0; asks.len()];
        result.completions.iter().for_each(|c| ends[c.id.0 as usize] = c.done.ns());
        let slc = config.slc.as_ref();
        if let Some(first) = (0..ends.len()).find(|&n| ends[n] != plane.ends[n]) {
            let (own, model) = (ends[first], plane.ends[first]);
            panic!("request {first} of {asks:?} ends at {own}, in the model at {model}\n{slc:?}");
        }
        assert_eq!(result.totals.slc, Some(plane.totals), "{asks:?}\n{slc:?}");
        (scenes, folds, direct) = (scenes + 1, folds + plane.totals.folds, direct + plane.totals.direct);
    }
    println!("{scenes} scenes, {folds} folds, {direct} direct writes");
    assert!(scenes > 300 && folds > 3_000 && direct > 1_000, "{scenes} scenes, {folds} folds, {direct} direct writes");
}

#[test]
fn the_constants_are_those_of_the_drive() {
    let slc = config(1, FullCache::Fold, None).slc.expect("a cache");
    assert_eq!([slc.read, slc.erase].map(Duration::ns), [READ, ERASE]);
}
