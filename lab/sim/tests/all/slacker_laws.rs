//! Properties of Slacker in every scene: no request ends later than estimated (A-SLK-17 and random scenes), shadow mode
//! changes nothing, and the estimator's records of ended transactions are removed.

use crate::common::play::{TestRequest, Touch, asks, audit, play};
use crate::common::record::{Line, play_lines};
use crate::common::{CYCLE, device, drain, recipe, scene, table1, unit_cycle};
use flashlane_core::Op::{Read, Write};
use flashlane_core::event::Event;
use flashlane_core::transaction::Stage;
use flashlane_core::{Duration, Lpn, RequestId, Time};
use flashlane_ssd::config::Config;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// The generator of A-SLK-17: single-operation scenes of 300 reads.
fn stress(seed: u64) -> Vec<(u64, Vec<u32>)> {
    let mut x = seed;
    let mut g = |m: u64| {
        x = (1_103_515_245 * x + 12_345) % (1 << 31);
        (x >> 16) % m
    };
    let (mut t, mut next) = (0, [0u32; 4]);
    (0..300)
        .map(|_| {
            t += g(3);
            g(10);
            let (count, first) = (1 + g(4), g(4));
            let pages = (0..count).map(|i| {
                let chip = ((first + i) % 4) as usize;
                next[chip] += 1;
                next[chip] * 4 + chip as u32
            });
            (t, pages.collect())
        })
        .collect()
}

/// A-SLK-17: the sums, the jumps, and that no request ends later than estimated.
#[test]
fn a_slk_17_stress() {
    for (seed, plain, bypassed, jumps) in [(1, 456, 450, 30), (7, 852, 829, 129)] {
        let requests = stress(seed);
        let lines: Vec<Line<'_>> = requests.iter().map(|(t, pages)| (*t, Read, &pages[..])).collect();
        let config = unit_cycle(4);
        let sum = |name: &str| -> u64 {
            let (done, _) = play_lines(&config, &recipe(name, &[]), &lines);
            done.iter().zip(&lines).map(|(done, (at, ..))| done - at).sum()
        };
        assert_eq!((sum("fr-fcfs"), sum("rbyp"), sum("slacker")), (plain, bypassed, bypassed), "seed {seed}");
        assert_eq!(positions_jumped(&config, "slacker", &lines), jumps, "seed {seed}");
        assert!(late(&config, "rbyp", &lines).is_empty(), "seed {seed}");
    }
}

/// The number of positions jumped by all transactions together: a service time is charged for each.
fn positions_jumped(config: &Config, name: &str, lines: &[Line<'_>]) -> u64 {
    let (_, record) = play_lines(config, &recipe(name, &[]), lines);
    let sum = |list: &[(u64, u32, u64)]| list.iter().map(|&(.., slack)| slack).sum::<u64>();
    sum(&record.estimated) - sum(&record.dispatched_slack)
}

/// Requests that ended later than their arrival and the longest estimate of their transactions.
fn late(config: &Config, name: &str, lines: &[Line<'_>]) -> Vec<RequestId> {
    let mut device = device(config, &recipe(name, &[]));
    device.report_events();
    let scaled: Vec<_> = lines.iter().map(|&(at, op, pages)| (at * CYCLE, op, pages)).collect();
    let done = scene(&mut device, &scaled);
    let mut latest = vec![Time::ZERO; lines.len()];
    let mut request_of = std::collections::BTreeMap::new();
    for stamped in device.events().drain(..) {
        match stamped.event {
            Event::Queued { txn, request: Some(request), .. } => drop(request_of.insert(txn, request.0 as usize)),
            Event::Estimated { txn, estimate, slack } => {
                let end = stamped.at + estimate.response() + slack;
                let latest = &mut latest[request_of[&txn]];
                assert!(*latest == Time::ZERO || *latest == end, "siblings agree on the request's end");
                *latest = end;
            }
            Event::Dispatched { slack, .. } => assert!(slack.ns() < 1 << 60, "slack is never negative"),
            _ => {}
        }
    }
    done.iter().filter(|c| c.done > latest[c.id.0 as usize]).map(|c| c.id).collect()
}

/// With exact estimates (unit cycles, all reads or all writes) no request ends later than estimated on arrival: 10,000
/// random scenes of each.
#[test]
fn no_request_is_later_than_estimated() {
    random_scenes("slacker", Read);
    random_scenes("slacker", Write);
}

/// The same where transactions bypass only as far as their request needs (model 1.1.9).
#[test]
fn no_request_is_later_than_estimated_when_they_bypass_by_need() {
    random_scenes("need", Read);
    random_scenes("need", Write);
}

fn random_scenes(name: &str, op: flashlane_core::Op) {
    let mut rng = Pcg64Mcg::new(2017);
    let mut jumped = 0;
    for round in 0..10_000 {
        let mut of = |n: u32| rng.next_u32() % n;
        let chips = 1 + of(6);
        let gap = 1 + of(4);
        let mut next = vec![0u32; chips as usize];
        let mut at = 0;
        let requests: Vec<(u64, Vec<u32>)> = (0..4 + of(20))
            .map(|_| {
                // A write takes four times as long.
                at += u64::from(of(gap)) * if op == Read { 1 } else { 4 };
                let pages = (0..1 + of(2 * chips)).map(|_| {
                    let chip = of(chips);
                    next[chip as usize] += 1;
                    next[chip as usize] * chips + chip
                });
                (at, pages.collect())
            })
            .collect();
        let lines: Vec<Line<'_>> = requests.iter().map(|(t, pages)| (*t, op, &pages[..])).collect();
        let config = unit_cycle(chips);
        assert_eq!(late(&config, name, &lines), [], "{name}, round {round}: {chips} chips, {lines:?}");
        jumped += if round % 100 == 0 { positions_jumped(&config, name, &lines) } else { 0 };
    }
    assert!(jumped > 100, "{name}, {op:?}: of every hundredth scene {jumped} positions: the scenes are dull");
}

/// Shadow mode changes nothing, under any scheduler.
#[test]
fn the_shadow_changes_nothing() {
    let mut config = table1(2, 2);
    config.flows.push(flashlane_ssd::config::FlowConfig::at_priority(0));
    let mix = crate::common::play::Mix {
        requests: 600,
        gap: 90_000,
        reads: 60,
        pages: 6,
        hot: 10,
        partial: 20,
        scattered: 20,
    };
    let asks = asks(&config, &mix, &mut Pcg64Mcg::new(5));
    for entry in flashlane_sched::catalogue::schedulers() {
        let plain = play(&config, &recipe(entry.name, &[]), &asks, crate::common::play::Wake::Plain);
        let (watched, verdict) = audit(&config, &recipe(entry.name, &[("shadow", 1)]), &asks).expect("clean");
        assert_eq!(plain, watched, "{}", entry.name);
        assert!(verdict.events > 1000);
    }
}

/// Stops in the middle of a run to look at the slack of waiting transactions, then runs the device to its end.
#[test]
fn estimates_do_not_outlive_their_requests() {
    let config = table1(2, 2);
    let mut device = device(&config, &recipe("slacker", &[]));
    for id in 0..50u64 {
        let pages = vec![Lpn(id as u32 * 7), Lpn(id as u32 * 7 + 1), Lpn(id as u32 * 7 + 2)];
        let ask = TestRequest { at: id * 1000, flow: 0, op: Write, touch: Touch::Pages(pages) };
        device.advance(Time::from_ns(ask.at));
        crate::common::play::hand_over(&mut device, id, &ask);
    }
    let waiting = device.board().txns.iter().filter(|txn| txn.stage == Stage::Waiting);
    let (mut some, mut none) = (0, 0);
    waiting.for_each(|txn| if txn.slack > Duration::ZERO { some += 1 } else { none += 1 });
    assert!(some > 20 && none > 20, "{some} and {none}");
    drain(&mut device);
    assert_eq!(device.completions().len(), 50);
}
