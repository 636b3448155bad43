//! NCQ scheduling and serial service (model 5.1): against a plain model, the bound on overtakings, and what the admit decision sees.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::common::play::{self, Mix, TestRequest, Touch, Wake, asks, play};
use crate::common::{recipe, table1};
use flashlane_core::decide::{Admit, AdmitDeclares, Commands, Fetch};
use flashlane_core::event::Event;
use flashlane_core::{Board, Duration, FlowId, Lpn, Op, Op::Read, Op::Write, Time};
use flashlane_sched::catalogue::{Recipe, build};
use flashlane_ssd::Device;
use flashlane_ssd::config::*;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Times of a page, ns, of [`config`].
const PAGE: [u64; 2] = [20_000, 200_000];
const MEMORY: u64 = 700;
const ROWS: [&str; 5] = ["ncq-fcfs", "ncq-s", "ncq-sb", "ncq-ts", "ncq-tsb"];

/// A small drive with the page times of the paper, serial service over SATA, and a buffer.
fn config(pages: u32, cluster: u32, charge: Charge) -> Config {
    let mut config = table1(4, 2);
    config.geometry.page_bytes = 4096;
    let [read, program] = PAGE.map(|ns| Latency::Constant(Duration::from_ns(ns)));
    (config.nand.read, config.nand.program, config.bus.mega_transfers) = (read, program, u32::MAX);
    config.memory = Duration::from_ns(MEMORY);
    (config.front.protocol, config.front.in_flight) = (Protocol::Sata { depth: 32 }, 1);
    config.front.service = Service::Serial { cluster, charge };
    let buffer = Buffer::plain(pages, pages);
    config.buffer = (pages > 0).then_some(buffer);
    config
}

/// Requests of up to 20 pages over a space small enough for hits; some list their pages in any order, and some of these twice.
fn load(config: &Config, seed: u128, requests: usize) -> Vec<TestRequest> {
    let small = Config { ftl: Ftl { logical_pages: 160, ..config.ftl.clone() }, ..config.clone() };
    let mix = Mix { requests, gap: 900_000, reads: 60, pages: 20, hot: 30, partial: 20, scattered: 30 };
    asks(&small, &mix, &mut Pcg64Mcg::new(seed))
}

fn pages(ask: &TestRequest) -> Vec<u32> {
    match &ask.touch {
        Touch::Bytes(offset, length) | Touch::Fua(offset, length) => {
            ((offset / 4096) as u32..(offset + length).div_ceil(4096) as u32).collect()
        }
        Touch::Pages(list) => list.iter().map(|lpn| lpn.0).collect(),
    }
}

/// A plain model of serial service under an NCQ row: the buffer a list of (page, dirty), oldest first, and a queue.
struct Plain<'a> {
    row: &'a str,
    alpha: u64,
    capacity: usize,
    cluster: u64,
    literal: bool,
    allocates: bool,
    /// Whether writes are done in the buffer; otherwise it only holds pages that were read.
    back: bool,
    depth: usize,
    buffer: VecDeque<(u32, bool)>,
}

impl Plain<'_> {
    fn holds(&self, page: u32) -> bool {
        self.buffer.iter().any(|&(held, _)| held == page)
    }

    fn estimate(&self, ask: &TestRequest, overtaken: u32) -> u64 {
        let all = pages(ask);
        let past = ask.op == Write && !self.back;
        let missing = all.iter().filter(|&&page| past || !self.holds(page)).count() as u64;
        let plain = match self.row {
            "ncq-fcfs" => return 0,
            "ncq-s" => all.len() as u64 * PAGE[0],
            "ncq-sb" => missing * PAGE[0],
            "ncq-ts" => all.len() as u64 * PAGE[ask.op.index()],
            _ => missing * PAGE[ask.op.index()],
        };
        (0..overtaken).fold(plain, |estimate, _| estimate * self.alpha / 100)
    }

    /// Uses a page of the buffer.
    fn renew(&mut self, page: u32, write: bool) {
        let at = self.buffer.iter().position(|&(held, _)| held == page).expect("held");
        let (_, dirty) = self.buffer.remove(at).expect("just found");
        self.buffer.push_back((page, dirty || write));
    }

    /// Takes a page in; returns whether a dirty one had to go.
    fn take_in(&mut self, page: u32, write: bool) -> bool {
        let gone = if self.buffer.len() == self.capacity { self.buffer.pop_front() } else { None };
        self.buffer.push_back((page, write));
        gone.is_some_and(|(_, dirty)| dirty)
    }

    /// How long a command takes.
    fn serve(&mut self, ask: &TestRequest) -> u64 {
        let mut all = pages(ask);
        all.sort_unstable();
        if ask.op == Write && !self.back {
            // It goes past the buffer, where it makes its pages the most recently used.
            let held = all.iter().filter(|&&page| self.holds(page)).copied().collect::<Vec<_>>();
            held.iter().for_each(|&page| self.renew(page, false));
            return (all.len() as u64).div_ceil(self.cluster) * PAGE[1];
        }
        let (hits, misses): (Vec<u32>, Vec<u32>) = all.into_iter().partition(|&page| self.holds(page));
        hits.iter().for_each(|&page| self.renew(page, ask.op == Write));
        let (mut reads, mut writes, mut missed) = (0u64, 0u64, 0u64);
        for &page in &misses {
            // A page that a list names twice has been taken in by now.
            if self.holds(page) {
                self.renew(page, ask.op == Write);
                continue;
            }
            missed += 1;
            if ask.op == Read {
                reads += 1;
                writes += u64::from(self.allocates && self.take_in(page, false));
            } else if self.capacity == 0 {
                writes += 1;
            } else {
                writes += u64::from(self.take_in(page, true));
            }
        }
        if ask.op == Write && self.literal {
            writes = missed;
        }
        let busy = reads.div_ceil(self.cluster) * PAGE[0] + writes.div_ceil(self.cluster) * PAGE[1];
        if busy == 0 { MEMORY } else { busy }
    }

    /// When each request is done, ns.
    fn run(&mut self, asks: &[TestRequest]) -> Vec<u64> {
        let mut done = vec![0; asks.len()];
        let mut queue: Vec<(usize, u32)> = Vec::new();
        let (mut next, mut now) = (0, 0);
        while next < asks.len() || !queue.is_empty() {
            if queue.is_empty() {
                now = now.max(asks[next].at);
            }
            while next < asks.len() && asks[next].at <= now {
                queue.push((next, 0));
                next += 1;
            }
            let window = 0..queue.len().min(self.depth);
            let best = window.min_by_key(|&i| (self.estimate(&asks[queue[i].0], queue[i].1), i)).expect("one waits");
            queue[..best].iter_mut().for_each(|(_, overtaken)| *overtaken += 1);
            let (id, _) = queue.remove(best);
            now += self.serve(&asks[id]);
            done[id] = now;
        }
        done
    }
}

/// Every row, alpha, cluster, kind of charging and depth comes to the times of the plain model, with the auditor watching.
#[test]
fn serial_service_is_that_of_a_plain_model() {
    let mut rng = Pcg64Mcg::new(3);
    for seed in 0..60 {
        let one_of = |rng: &mut Pcg64Mcg, of: &[u64]| of[rng.next_u32() as usize % of.len()];
        let capacity = one_of(&mut rng, &[0, 1, 7, 40, 100]) as usize;
        let cluster = one_of(&mut rng, &[1, 2, 4, 8]);
        let literal = rng.next_u32().is_multiple_of(2);
        let charge = if literal { Charge::Literal } else { Charge::FreeAware };
        let mut config = config(capacity as u32, cluster as u32, charge);
        let depth = one_of(&mut rng, &[1, 4, 32, 128]) as usize;
        config.front.protocol = Protocol::Sata { depth: depth as u32 };
        let allocates = capacity > 0 && rng.next_u32().is_multiple_of(2);
        let back = capacity == 0 || !rng.next_u32().is_multiple_of(4);
        if let Some(buffer) = &mut config.buffer {
            (buffer.read_allocate, buffer.write_back) = (allocates, back);
        }
        let alpha = one_of(&mut rng, &[0, 25, 50, 90, 99, 100]);
        let asks = load(&config, seed, 400);
        for row in ROWS {
            let params: &[(&str, u64)] = if row == "ncq-fcfs" { &[] } else { &[("ncq_alpha", alpha)] };
            let (played, _) =
                play::audit(&config, &recipe(row, params), &asks).unwrap_or_else(|why| panic!("{row}: {why}"));
            let mut done = vec![0; asks.len()];
            played.completions.iter().for_each(|c| done[c.id.0 as usize] = c.done.ns());
            let buffer = VecDeque::new();
            let mut plain = Plain { row, alpha, capacity, cluster, literal, allocates, back, depth, buffer };
            assert_eq!(done, plain.run(&asks), "seed {seed}: {row}, alpha {alpha}, {capacity} pages, depth {depth}");
        }
    }
}

/// For each command, how often one that was submitted later was admitted while it waited in the window.
fn overtakings(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> Vec<u32> {
    let (mut device, _) = play::built(config, recipe).expect("legal");
    device.report_events();
    let mut waiting: Vec<u64> = Vec::new();
    let mut overtaken = vec![0; asks.len()];
    let mut hear = |device: &mut Device| {
        for stamped in device.events().drain(..) {
            match stamped.event {
                Event::Submitted { request, .. } => waiting.push(request.0),
                Event::Admitted { request } => {
                    waiting.retain(|&id| id != request.0);
                    waiting.iter().filter(|&&id| id < request.0).for_each(|&id| overtaken[id as usize] += 1);
                }
                _ => {}
            }
        }
    };
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        play::hand_over(&mut device, id as u64, ask);
        hear(&mut device);
    }
    crate::common::drain(&mut device);
    hear(&mut device);
    overtaken
}

/// The largest number of younger commands that may overtake one with this estimate: as many steps of aging as bring it to 0
/// (model 5.1, D-NCQ-14).
fn bound(estimate: u64, alpha: u64) -> u32 {
    std::iter::successors(Some(estimate), |&estimate| Some(estimate * alpha / 100)).take_while(|&e| e > 0).count()
        as u32
}

/// For alpha below 1, a command is overtaken no more often than its pages at their full times allow, whatever the buffer holds: by
/// one command with alpha 0. Commands that miss nothing flood it too, and cannot pass it once it has aged to 0. On serial service and
/// on the flash, over SATA and over NVMe with three flows.
#[test]
fn overtakings_are_bounded() {
    for alpha in [0, 25, 50, 90, 97] {
        for (serial, nvme) in [(true, false), (false, false), (true, true), (false, true)] {
            let mut config = config(64, 1, Charge::FreeAware);
            config.front.protocol =
                if nvme { Protocol::Nvme { depth: u32::MAX } } else { Protocol::Sata { depth: u32::MAX } };
            if !serial {
                config.front.service = Service::Parallel;
            }
            config.flows = vec![FlowConfig::at_priority(0); if nvme { 3 } else { 1 }];
            // A rush of large commands, and then of small ones, many of which hit pages that are written all the time.
            let mut rng = Pcg64Mcg::new(u128::from(alpha) + 9);
            let asks: Vec<TestRequest> = (0..1500u64)
                .map(|i| {
                    let (op, first, count) = match rng.next_u32() % 4 {
                        0 => (Write, 200 + rng.next_u64() % 600, 1 + rng.next_u64() % 60),
                        1 => (Read, 200 + rng.next_u64() % 600, 1 + rng.next_u64() % 60),
                        2 => (Write, rng.next_u64() % 16, 1),
                        _ => (Read, rng.next_u64() % 16, 1),
                    };
                    let flow = (rng.next_u32() as usize % config.flows.len()) as u16;
                    TestRequest { at: i * 90_000, flow, op, touch: Touch::Bytes(first * 4096, count * 4096) }
                })
                .collect();
            let mut most = 0;
            for row in &ROWS[1..] {
                let by_type = row.starts_with("ncq-t");
                let made = overtakings(&config, &recipe(row, &[("ncq_alpha", alpha)]), &asks);
                for (ask, times) in asks.iter().zip(made) {
                    let page = if by_type { PAGE[ask.op.index()] } else { PAGE[0] };
                    let bound = bound(pages(ask).len() as u64 * page, alpha);
                    assert!(times <= bound, "{row}, alpha {alpha}: overtaken {times} times, not {bound}: {ask:?}");
                    most = most.max(times);
                }
            }
            let least =
                [(0, 1), (25, 2), (50, 2), (90, 8), (97, 15)].iter().find(|(a, _)| *a == alpha).expect("listed").1;
            assert!(most >= least || !serial, "alpha {alpha}, nvme {nvme}: at most {most} overtakings: a dull load");
        }
    }
    assert_eq!([bound(2_000_000, 0), bound(0, 90), bound(1, 99)], [1, 0, 1]);
}

/// Alpha 1 is the plain estimate: of all that wait, the shortest goes, the oldest of equals; and nothing bounds a wait.
#[test]
fn alpha_1_is_the_plain_estimate() {
    let config = config(0, 1, Charge::FreeAware);
    let mut asks = vec![TestRequest { at: 0, flow: 0, op: Write, touch: Touch::Bytes(0, 10 * 4096) }];
    let next = |i: u64| TestRequest { at: i * 150_000, flow: 0, op: Write, touch: Touch::Bytes(i * 40_960, 4096) };
    asks.extend((0..20).map(|_| next(0)));
    asks.extend((1..500).map(next));
    let made = overtakings(&config, &recipe("ncq-tsb", &[("ncq_alpha", 100)]), &asks);
    assert_eq!((made[0], made.iter().skip(1).max()), (519, Some(&0)));
    let aged = overtakings(&config, &recipe("ncq-tsb", &[]), &asks);
    assert!(aged[0] < 30, "{}", aged[0]);
}

/// What an admit decision sees: for each waiting command how many pages the buffer lacks, at every decision.
#[derive(Clone, Default)]
struct Probe(Arc<Mutex<Vec<Vec<u32>>>>);

impl Admit for Probe {
    fn declares(&self) -> AdmitDeclares {
        AdmitDeclares { ranks_all_waiting: true, ..AdmitDeclares::ASK }
    }

    fn next(&mut self, _: &Board, commands: &dyn Commands) -> Option<Fetch> {
        let [first, second] = commands.waiting(FlowId(0));
        let seen = first.iter().chain(second).map(|&command| commands.missing(command)).collect();
        self.0.lock().expect("one thread").push(seen);
        Some(Fetch::head(FlowId(0)))
    }
}

/// A-NCQ-03: what a read of 1 and 4 lacks, at the decision. Asking does not touch: else 1 would not be the first to go. On serial
/// service and on the flash.
#[test]
fn what_the_buffer_lacks_is_asked_at_the_decision() {
    for serial in [true, false] {
        let mut config = config(4, 1, Charge::FreeAware);
        if !serial {
            config.front.service = Service::Parallel;
        }
        let probe = Probe::default();
        let mut scheduler = build(&recipe("ncq-fcfs", &[])).expect("a row");
        scheduler.admit = Box::new(probe.clone());
        let mut device = Device::new(&config, scheduler).expect("legal");
        let scene: [(u64, Op, &[u32]); 5] = [
            (0, Write, &[1, 2, 3, 4]),
            (1_000_000, Write, &[2, 5, 6]),
            (1_000_000, Read, &[1, 4]),
            (1_000_000, Read, &[4, 7]),
            (1_000_000, Read, &[1, 4]),
        ];
        for (id, (at, op, list)) in scene.into_iter().enumerate() {
            device.advance(Time::from_ns(at));
            let touch = Touch::Pages(list.iter().copied().map(Lpn).collect());
            play::hand_over(&mut device, id as u64, &TestRequest { at, flow: 0, op, touch });
        }
        crate::common::drain(&mut device);
        let seen = probe.0.lock().expect("one thread").clone();
        assert_eq!(seen, [vec![4], vec![2, 0, 1, 0], vec![1, 1, 1], vec![1, 1], vec![1]], "serial {serial}");
    }
}

/// Commands beyond the queue depth wait in the host, where no decision sees them.
#[test]
fn the_depth_bounds_what_is_seen() {
    let ends = |depth: u32| {
        let mut config = config(0, 1, Charge::FreeAware);
        config.front.protocol = Protocol::Sata { depth };
        let asks: Vec<TestRequest> = [9, 8, 7, 1]
            .into_iter()
            .map(|count| TestRequest { at: 0, flow: 0, op: Read, touch: Touch::Bytes(0, count * 4096) })
            .collect();
        let played = play(&config, &recipe("ncq-ts", &[("ncq_alpha", 100)]), &asks, Wake::Plain);
        played.completions.iter().map(|c| c.id.0).collect::<Vec<_>>()
    };
    assert_eq!(ends(1), [0, 1, 2, 3]);
    assert_eq!(ends(2), [1, 2, 3, 0]);
    assert_eq!(ends(3), [2, 3, 1, 0]);
    assert_eq!(ends(128), [3, 2, 1, 0]);
}

/// Where all flows have one queue, the admit decision is asked only when a command waits that may enter: beyond the depth nothing does.
#[test]
fn nothing_is_asked_about_commands_beyond_the_depth() {
    let mut config = config(0, 1, Charge::FreeAware);
    (config.front.protocol, config.front.in_flight) = (Protocol::Sata { depth: 2 }, u32::MAX);
    config.front.service = Service::Parallel;
    let probe = Probe::default();
    let mut scheduler = build(&recipe("ncq-fcfs", &[])).expect("a row");
    scheduler.admit = Box::new(probe.clone());
    let mut device = Device::new(&config, scheduler).expect("legal");
    for id in 0..6 {
        let ask = TestRequest { at: 0, flow: 0, op: Read, touch: Touch::Bytes(id * 4096, 4096) };
        play::hand_over(&mut device, id, &ask);
    }
    crate::common::drain(&mut device);
    let seen: Vec<usize> = probe.0.lock().expect("one thread").iter().map(Vec::len).collect();
    // Two are read at a time, each on its own chip, so that both end together: then two are seen, and one when the first has entered.
    assert_eq!(seen, [2, 1, 2, 1, 2, 1]);
}

/// D-NCQ-16: over NVMe with several flows all queues are one, also on the flash with several commands at a time.
#[test]
fn nvme_queues_are_compared_with_one_another() {
    for service in [Service::Parallel, Service::Serial { cluster: 1, charge: Charge::FreeAware }] {
        let mut config = config(0, 1, Charge::FreeAware);
        (config.front.protocol, config.front.service) = (Protocol::Nvme { depth: 8 }, service);
        config.flows = vec![FlowConfig::at_priority(0); 3];
        let ask = |flow, count: u64| TestRequest { at: 0, flow, op: Read, touch: Touch::Bytes(0, count * 4096) };
        let asks = [ask(0, 40), ask(0, 10), ask(1, 30), ask(1, 5), ask(2, 20)];
        let played = play(&config, &recipe("ncq-tsb", &[]), &asks, Wake::Plain);
        assert_eq!(played.completions.iter().map(|c| c.id.0).collect::<Vec<_>>(), [3, 1, 4, 2, 0], "{service:?}");
        let played = play(&config, &recipe("ncq-fcfs", &[]), &asks, Wake::Plain);
        assert_eq!(played.completions.iter().map(|c| c.id.0).collect::<Vec<_>>(), [0, 1, 2, 3, 4], "{service:?}");
    }
}

/// D-NCQ-10: commands of one page may pass each other, or keep their order by a parameter.
#[test]
fn commands_of_a_page_pass_each_other_unless_told_otherwise() {
    let config = config(0, 1, Charge::FreeAware);
    let ask = |op, first: u64, count: u64| TestRequest {
        at: 0,
        flow: 0,
        op,
        touch: Touch::Bytes(first * 4096, count * 4096),
    };
    let asks = [ask(Write, 0, 9), ask(Read, 8, 2), ask(Read, 20, 3)];
    for (keeps, order) in [(0, [1, 2, 0]), (1, [2, 0, 1])] {
        let played = play(&config, &recipe("ncq-tsb", &[("ncq_keep_order", keeps)]), &asks, Wake::Plain);
        assert_eq!(played.completions.iter().map(|c| c.id.0).collect::<Vec<_>>(), order, "{keeps}");
    }
}

/// Commands whose pages are neighbours have none in common: only the read of the write's last page waits for the write. It does so
/// whether commands are of consecutive pages or list theirs.
#[test]
fn commands_of_neighbouring_pages_do_not_wait() {
    let config = config(0, 1, Charge::FreeAware);
    for (lists_write, lists_reads) in [(false, false), (true, false), (false, true), (true, true)] {
        let ask = |op, pages: &[u64], lists: bool| {
            let touch = match lists {
                true => Touch::Pages(pages.iter().map(|&page| Lpn(page as u32)).collect()),
                false => Touch::Bytes(pages[0] * 4096, pages.len() as u64 * 4096),
            };
            TestRequest { at: 0, flow: 0, op, touch }
        };
        let last: &[u64] = if lists_reads { &[40, 18] } else { &[18, 19] };
        let asks = [
            ask(Write, &[10, 11, 12, 13, 14, 15, 16, 17, 18], lists_write),
            ask(Read, last, lists_reads),
            ask(Read, &[19, 20], lists_reads),
            ask(Read, &[8, 9], lists_reads),
        ];
        let played = play(&config, &recipe("ncq-tsb", &[("ncq_keep_order", 1)]), &asks, Wake::Plain);
        let order: Vec<u64> = played.completions.iter().map(|c| c.id.0).collect();
        assert_eq!(order, [2, 3, 0, 1], "the write lists its pages: {lists_write}, the reads: {lists_reads}");
    }
}

/// What serial service counts: pages written as the flash would have written them.
#[test]
fn serial_service_counts_its_pages() {
    let config = config(4, 1, Charge::FreeAware);
    let ask = |at, op, first: u64, count: u64| TestRequest {
        at,
        flow: 0,
        op,
        touch: Touch::Bytes(first * 4096, count * 4096),
    };
    let asks = [ask(0, Write, 0, 4), ask(1, Write, 2, 5), ask(2, Read, 0, 8)];
    let played = play(&config, &recipe("ncq-fcfs", &[]), &asks, Wake::Plain);
    let totals = played.totals;
    assert_eq!((totals.user_programs, totals.transactions, totals.pages_from_memory), (3, 3 + 4, 4 + 5 + 4));
    let done: Vec<u64> = played.completions.iter().map(|c| c.done.ns()).collect();
    assert_eq!(done, [700, 700 + 600_000, 700 + 600_000 + 80_000]);
}
