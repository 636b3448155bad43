//! What every scheduler of the catalogue owes, by walking the catalogue: a new row is under contract at once.
//!
//! That answers allocate nothing is not tested here: counting allocations needs `unsafe`, which is forbidden. They are
//! `no_std`, and the lists they may look at are the board's.

mod common;

use common::{device, drain, recipe, table1};
use flashlane_core::{Completion, Extent, FlowId, Lpn, Op, Request, RequestId, Time};
use flashlane_lab::audit::{Auditor, KEPT, Policy, Start};
use flashlane_sched::catalogue::{self, build};
use flashlane_ssd::config::{Config, FlowConfig, Precondition};
use flashlane_ssd::{Device, Totals};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A small drive with two flows that collects garbage and can pause.
fn config() -> Config {
    let mut config = table1(2, 2);
    config.geometry.blocks_per_plane = 24;
    config.geometry.pages_per_block = 32;
    config.ftl.logical_pages = config.geometry.planes() * 24 * 32 * 3 / 4;
    config.precondition = Precondition::Steady;
    config.flows = vec![FlowConfig { level: 0 }, FlowConfig { level: 1 }];
    config
}

/// Arrival, flow, operation, first page, pages.
type Line = (u64, u16, Op, u32, u32);

/// Requests that load the drive to about two thirds, in bursts, with equal arrival times among them.
fn lines(config: &Config, count: usize, seed: u128) -> Vec<Line> {
    let mut rng = Pcg64Mcg::new(seed | 1);
    let mut at = 0;
    (0..count)
        .map(|_| {
            if !rng.next_u32().is_multiple_of(3) {
                at += u64::from(rng.next_u32() % 2_400_000);
            }
            let op = if rng.next_u32() % 10 < 7 { Op::Read } else { Op::Write };
            let pages = 1 + rng.next_u32() % 4;
            let first = rng.next_u32() % (config.ftl.logical_pages - pages);
            (at, (rng.next_u32() % 2) as u16, op, first, pages)
        })
        .collect()
}

fn submit(device: &mut Device, id: usize, &(at, flow, op, first, pages): &Line) {
    let (now, extent) =
        (Time::from_ns(at), Extent::Bytes { offset: u64::from(first) * 8192, length: u64::from(pages) * 8192 });
    device.submit(now, &Request { id: RequestId(id as u64), flow: FlowId(flow), op, arrival: now, extent }).unwrap();
}

/// Plays the lines; `wake` may advance the device to instants of its own before each arrival.
fn play(device: &mut Device, lines: &[Line], mut wake: impl FnMut(&mut Device, Time)) -> (Vec<Completion>, Totals) {
    for (id, line) in lines.iter().enumerate() {
        wake(device, Time::from_ns(line.0));
        submit(device, id, line);
    }
    drain(device);
    (device.completions().drain(..).collect(), device.totals())
}

#[test]
fn every_request_completes_exactly_once_and_the_same_way_each_time() {
    let config = config();
    let lines = lines(&config, 3_000, 1);
    for row in catalogue::rows() {
        let run = || play(&mut device(&config, &recipe(row.name, &[])), &lines, |d, t| d.advance(t));
        let (done, totals) = run();
        let mut seen: Vec<u64> = done.iter().map(|c| c.id.0).collect();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..lines.len() as u64), "{}: each request once", row.name);
        assert!(done.windows(2).all(|w| w[0].done <= w[1].done), "{}: in order of time", row.name);
        assert!(done.iter().all(|c| c.done > c.arrival), "{}: after its arrival", row.name);
        assert!(totals.erases > 0, "{}: garbage was collected, so the contract covers it", row.name);
        assert_eq!((done, totals), run(), "{}: twice the same", row.name);
    }
}

#[test]
fn spare_wake_ups_change_nothing() {
    let config = config();
    let lines = lines(&config, 2_000, 2);
    for row in catalogue::rows() {
        let new = || device(&config, &recipe(row.name, &[]));
        // Submission alone advances the device.
        let plain = play(&mut new(), &lines, |_, _| {});
        let mut rng = Pcg64Mcg::new(99);
        let woken = play(&mut new(), &lines, |device, until| {
            for _ in 0..rng.next_u32() % 4 {
                let span = until.since(device.now()).ns();
                let to = device.now().ns() + if span == 0 { 0 } else { u64::from(rng.next_u32()) % span };
                device.advance(Time::from_ns(to));
                device.advance(Time::from_ns(to));
            }
        });
        assert_eq!(plain.0, woken.0, "{}", row.name);
        assert_eq!(plain.1, woken.1, "{}", row.name);
        // Event by event, as a driver with a clock of its own would.
        let stepped = play(&mut new(), &lines, |device, until| {
            while device.now() < until {
                let next = device.next_event();
                device.advance(next.min(until));
            }
        });
        assert_eq!(plain, stepped, "{}", row.name);
    }
}

#[test]
fn two_devices_in_one_process_are_strangers() {
    let config = config();
    let (one, two) = (lines(&config, 800, 3), lines(&config, 800, 4));
    for row in catalogue::rows() {
        let new = || device(&config, &recipe(row.name, &[]));
        let alone = [play(&mut new(), &one, |_, _| {}), play(&mut new(), &two, |_, _| {})];
        let (mut a, mut b) = (new(), new());
        for id in 0..one.len() {
            submit(&mut a, id, &one[id]);
            submit(&mut b, id, &two[id]);
        }
        let together = [&mut a, &mut b].map(|device| {
            drain(device);
            (device.completions().drain(..).collect::<Vec<_>>(), device.totals())
        });
        assert_eq!(alone, together, "{}", row.name);
    }
}

#[test]
fn the_auditor_finds_nothing() {
    let config = config();
    let lines = lines(&config, 2_000, 5);
    for row in catalogue::rows() {
        let scheduler = build(&recipe(row.name, &[])).unwrap();
        let policy = Policy { moments: scheduler.preempt.moments(), style: scheduler.collect.style() };
        let mut device = Device::new(&config, scheduler).unwrap();
        device.report_events();
        let mut auditor = {
            let owner = |plane, ppa| device.owner_of(plane, ppa);
            let written = |plane, block| device.written_in(plane, block);
            Auditor::new(&config, policy, Start::Known { owner: &owner, written: &written }, KEPT)
        };
        play(&mut device, &lines, |_, _| {});
        device.events().drain(..).for_each(|stamped| auditor.observe(&stamped));
        let verdict = auditor.finish();
        assert!(verdict.is_clean(), "{}: {verdict}", row.name);
        device.check();
    }
}

/// The longest a lone write waits behind an endless stream of reads, in service times of a read, under each row; `None`
/// where reads starve it by definition (SPEC 2.1.9: "reads always before writes"). A new row must say its figure here.
fn patience(row: &str) -> Option<u64> {
    match row {
        "fcfs" => Some(20),
        // The write queue never fills with one write in it.
        "read-first" | "read-first-suspend" | "fr-fcfs" | "sprinkler" => None,
        other => panic!("{other}: state in this test how long a write may wait behind a stream of reads"),
    }
}

#[test]
fn nothing_starves_beyond_what_is_stated() {
    let mut config = table1(1, 1);
    config.flows = vec![FlowConfig { level: 0 }];
    config.nand.multi_plane = false;
    for row in catalogue::rows() {
        let mut device = device(&config, &recipe(row.name, &[]));
        let read_ns = 99_601;
        // Ten reads always wait: a new one comes with each that ends.
        let mut sent = 0u64;
        let mut send = |device: &mut Device, op: Op, lpn: u32| {
            let (now, pages) = (device.now(), [Lpn(lpn)]);
            let extent = Extent::Pages(&pages);
            device.submit(now, &Request { id: RequestId(sent), flow: FlowId(0), op, arrival: now, extent }).unwrap();
            sent += 1;
        };
        (0..10).for_each(|i| send(&mut device, Op::Read, 2 * i));
        send(&mut device, Op::Write, 101);
        let mut waited = None;
        for i in 0..500u32 {
            let next = device.next_event();
            device.advance(next);
            let ended: Vec<Completion> = device.completions().drain(..).collect();
            for completion in ended {
                match completion.op {
                    Op::Write => waited = Some((completion.done.ns() - 1_324_601) / read_ns),
                    Op::Read => send(&mut device, Op::Read, 2 * (i % 50)),
                }
            }
        }
        match patience(row.name) {
            Some(most) => assert!(waited.is_some_and(|w| w <= most), "{}: waited {waited:?} reads", row.name),
            None => assert_eq!(waited, None, "{}: reads starve a lone write; state the new figure", row.name),
        }
        // Once the stream ends, what starved is served.
        drain(&mut device);
    }
}
