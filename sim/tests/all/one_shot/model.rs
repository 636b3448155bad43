//! A plain model of one plane with one-shot programs behind a page buffer, written apart from the engine, and random requests against it.
//!
//! The plane serves what waits in the order in which it came: reads, and wordlines once they are full or padded. The model knows no blocks:
//! nothing is collected in its scenes.

use std::collections::{BTreeMap, VecDeque};

use super::{MEMORY, PAGE, PROGRAM, READ, drive};
use crate::common::play::{self, TestRequest, Touch, Wake};
use crate::common::recipe;
use flashlane_core::Duration;
use flashlane_core::Op::{self, Flush, Read, Write};
use flashlane_ssd::config::{Buffer, Config};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A request of one page, or a flush; whether it has FUA.
pub(super) type OnePage = (u64, Op, u64, bool);

/// A page in the buffer.
#[derive(Clone, Copy, PartialEq)]
enum Page {
    Gathered,
    /// In a wordline that waits or runs; written again since.
    Leaving(bool),
}

enum Work {
    Read(usize),
    Wordline(Vec<u64>),
}

struct Plane<'a> {
    asks: &'a [OnePage],
    capacity: usize,
    wordline: usize,
    wait: Option<u64>,
    buffer: BTreeMap<u64, Page>,
    gathered: Vec<u64>,
    since: u64,
    /// Something waits for a page that is gathered.
    is_awaited: bool,
    queue: VecDeque<Work>,
    running: Option<(u64, Work)>,
    /// Writes that wait for space.
    waiting: VecDeque<usize>,
    /// Requests that wait for programs of pages: the request, the page, how many programs.
    owed: Vec<(usize, u64, u32)>,
    ends: Vec<u64>,
    programs: u64,
    padded: u64,
}

impl Plane<'_> {
    fn gather(&mut self, now: u64, page: u64) {
        if self.gathered.is_empty() {
            (self.since, self.is_awaited) = (now, false);
        }
        self.buffer.insert(page, Page::Gathered);
        self.gathered.push(page);
        if self.gathered.len() == self.wordline {
            self.close();
        }
    }

    fn close(&mut self) {
        for page in &self.gathered {
            self.buffer.insert(*page, Page::Leaving(false));
        }
        self.programs += self.gathered.len() as u64;
        self.padded += (self.wordline - self.gathered.len()) as u64;
        self.queue.push_back(Work::Wordline(std::mem::take(&mut self.gathered)));
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
        let is_full = self.buffer.len() == self.capacity;
        match self.buffer.get_mut(&page) {
            Some(Page::Gathered) => {}
            Some(Page::Leaving(again)) => *again = true,
            None if is_full => return false,
            None => self.gather(now, page),
        }
        if fua {
            self.owed.push((n, page, self.owes(page)));
            self.is_awaited |= self.gathered.contains(&page);
        } else {
            self.ends[n] = now + MEMORY;
        }
        true
    }

    fn arrives(&mut self, now: u64, n: usize) {
        let (_, op, page, _) = self.asks[n];
        match op {
            Read => {
                let waits = self.waiting.iter().any(|&write| self.asks[write].2 == page);
                if waits || self.buffer.contains_key(&page) {
                    self.ends[n] = now + MEMORY;
                } else {
                    self.queue.push_back(Work::Read(n));
                }
            }
            Write => {
                if !self.waiting.is_empty() || !self.store(now, n) {
                    self.waiting.push_back(n);
                }
            }
            _ => {
                let owed: Vec<_> = self.buffer.keys().map(|&page| (n, page, self.owes(page))).collect();
                if owed.is_empty() {
                    self.ends[n] = now + MEMORY;
                }
                self.owed.extend(owed);
                self.is_awaited |= !self.gathered.is_empty();
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
            self.is_awaited |= self.gathered.contains(&page) && self.owed.iter().any(|owed| owed.1 == page);
        }
        while let Some(&first) = self.waiting.front() {
            if !self.store(now, first) {
                break;
            }
            self.waiting.pop_front();
        }
    }

    fn deadline(&self) -> u64 {
        let waits = self.wait.filter(|_| !self.gathered.is_empty());
        waits.map_or(u64::MAX, |wait| self.since + wait)
    }

    fn run(&mut self) {
        let mut arrived = 0;
        loop {
            let arrival = self.asks.get(arrived).map_or(u64::MAX, |ask| ask.0);
            let end = self.running.as_ref().map_or(u64::MAX, |running| running.0);
            let now = arrival.min(end).min(self.deadline());
            if now == u64::MAX {
                return;
            }
            if end == now {
                match self.running.take().expect("it ends").1 {
                    Work::Read(n) => self.ends[n] = now,
                    Work::Wordline(pages) => pages.into_iter().for_each(|page| self.programmed(now, page)),
                }
            }
            while self.asks.get(arrived).is_some_and(|ask| ask.0 == now) {
                self.arrives(now, arrived);
                arrived += 1;
            }
            if !self.gathered.is_empty() && (self.is_awaited || self.deadline() <= now) {
                self.close();
            }
            if self.running.is_none()
                && let Some(work) = self.queue.pop_front()
            {
                let time = match &work {
                    Work::Read(_) => READ + PAGE,
                    Work::Wordline(pages) => pages.len() as u64 * PAGE + PROGRAM,
                };
                self.running = Some((now + time, work));
            }
        }
    }
}

pub(super) fn asks(random: &mut Pcg64Mcg) -> Vec<OnePage> {
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
pub(super) fn request(&(at, op, page, fua): &OnePage) -> TestRequest {
    let touch = match op {
        Flush => Touch::Bytes(0, 0),
        _ if fua => Touch::Fua(page * 8_192, 8_192),
        _ => Touch::Bytes(page * 8_192, 8_192),
    };
    TestRequest { at, flow: 0, op, touch }
}

/// A drive, and how many pages its buffer has.
fn any_drive(random: &mut Pcg64Mcg) -> (Config, usize) {
    let mut below = |n: u64| random.next_u64() % n;
    let mut config = drive();
    config.nand.one_shot_pages = 2 + below(3) as u32;
    config.nand.one_shot_wait =
        [None, Some(0), Some(300_000), Some(3_000_000)][below(4) as usize].map(Duration::from_ns);
    let pages = config.nand.one_shot_pages + below(12) as u32;
    config.buffer = Some(Buffer::plain(pages, 0));
    config.check().expect("a legal device");
    (config, pages as usize)
}

/// Every request ends in the engine when it does in the model, and as many pages are programmed and padded.
#[test]
fn random_requests_end_as_in_the_plain_model() {
    let mut random = Pcg64Mcg::new(0x0e5407);
    let (mut programs, mut padded) = (0, 0);
    for scene in 0..1_500 {
        let (config, capacity) = any_drive(&mut random);
        let asks = asks(&mut random);
        let mut plane = Plane {
            asks: &asks,
            capacity,
            wordline: config.nand.one_shot_pages as usize,
            wait: config.nand.one_shot_wait.map(Duration::ns),
            buffer: BTreeMap::new(),
            gathered: Vec::new(),
            since: 0,
            is_awaited: false,
            queue: VecDeque::new(),
            running: None,
            waiting: VecDeque::new(),
            owed: Vec::new(),
            ends: vec![0; asks.len()],
            programs: 0,
            padded: 0,
        };
        plane.run();
        let requests: Vec<TestRequest> = asks.iter().map(request).collect();
        let result = play::play(&config, &recipe("fcfs", &[]), &requests, Wake::Plain);
        let mut ends = vec![0; asks.len()];
        result.completions.iter().for_each(|c| ends[c.id.0 as usize] = c.done.ns());
        if let Some(first) = (0..ends.len()).find(|&n| ends[n] != plane.ends[n]) {
            let (own, model, nand) = (ends[first], plane.ends[first], &config.nand);
            let (pages, wait) = (nand.one_shot_pages, nand.one_shot_wait);
            panic!(
                "scene {scene}: request {first} of {asks:?} ends at {own}, in the model at {model}; {capacity}, {pages}, {wait:?}"
            );
        }
        let totals = (result.totals.user_programs, result.totals.padded);
        assert_eq!(totals, (plane.programs, Some(plane.padded)), "scene {scene}: {asks:?}");
        (programs, padded) = (programs + plane.programs, padded + plane.padded);
    }
    assert!(programs > 30_000 && padded > 5_000, "{programs} pages programmed, {padded} padded");
}
