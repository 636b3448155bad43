//! Reads that are tried again (model 0.4): exact scenes, and the same pages for every scheduler.

use std::collections::BTreeMap;

use crate::common::play::{TestRequest, Touch, Wake, audit, play};
use crate::common::{device, ends, one_plane, recipe, table1};
use flashlane_core::Op::{Read, Write};
use flashlane_core::{Duration, Extent, FlowId, Lpn, Request, RequestId, Time};
use flashlane_ssd::config::{Config, Precondition, ReadRetry, RetryState};

const READ: u64 = 75_000;
const STEP: u64 = 60_000;
/// Bus time of a page.
const PAGE: u64 = 24_601;

/// A state in which every page takes `steps` further steps.
fn always(steps: usize, erases: u32, age_days: u32) -> RetryState {
    let mut below = vec![0; steps];
    below.push(1 << 32);
    RetryState { erases, age_days, below }
}

fn with(mut config: Config, states: Vec<RetryState>) -> Config {
    let step = Duration::from_ns(STEP);
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config.retry = Some(ReadRetry { step, initial_erases: 10, initial_age_days: 90, states });
    config
}

/// The last state with no more erases and days than the page's applies; what the run writes is young.
#[test]
fn wear_and_age_choose_the_state() {
    let read_after = |states: Vec<RetryState>, end: u64| {
        assert_eq!(ends(&with(one_plane(), states), &recipe("fcfs", &[]), &[(0, Read, &[0u32][..])]), [end]);
    };
    read_after(vec![always(2, 0, 0)], READ + 2 * STEP + PAGE);
    read_after(vec![always(2, 0, 0), always(1, 10, 90)], READ + STEP + PAGE);
    read_after(vec![always(1, 10, 90), always(2, 0, 0)], READ + 2 * STEP + PAGE);
    read_after(vec![always(2, 0, 0), always(1, 11, 0), always(3, 0, 91)], READ + 2 * STEP + PAGE);
    read_after(vec![always(1, 11, 0), always(3, 0, 91)], READ + PAGE);
    let written = [(0, Write, &[0u32][..]), (5_000_000, Read, &[0]), (6_000_000, Read, &[1])];
    let old_and_young = with(one_plane(), vec![always(0, 0, 0), always(2, 0, 1)]);
    let done = ends(&old_and_young, &recipe("fcfs", &[]), &written);
    assert_eq!(done[1..], [5_000_000 + READ + PAGE, 6_000_000 + READ + 2 * STEP + PAGE]);
}

/// Pages never written take no further step, and nothing is counted where no page does.
#[test]
fn pages_never_written_are_read_at_once() {
    let mut config = with(one_plane(), vec![always(2, 0, 0)]);
    config.precondition = Precondition::Fresh;
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &[(0, Read, &[0u32][..])]), [READ + PAGE]);
}

/// A command takes as long as its slowest page: one of the two has been written in the run, and takes no further step.
#[test]
fn the_slowest_page_sets_the_time_of_a_command() {
    let config = with(table1(1, 1), vec![always(0, 0, 0), always(3, 0, 90)]);
    let lines = [(0, Write, &[0u32][..]), (5_000_000, Read, &[0, 1]), (9_000_000, Read, &[0])];
    let done = ends(&config, &recipe("fr-fcfs", &[]), &lines);
    assert_eq!(done[1..], [5_000_000 + READ + 3 * STEP + 2 * PAGE, 9_000_000 + READ + PAGE]);
}

/// A read is counted when it ends, whether phases are watched or not: figures are taken while others are under way.
#[test]
fn a_read_under_way_is_not_counted() {
    for watched in [false, true] {
        let mut device = device(&with(one_plane(), vec![always(2, 0, 0)]), &recipe("fcfs", &[]));
        if watched {
            device.report_events();
        }
        let extent = Extent::Pages(&[Lpn(0)]);
        let (id, arrival) = (RequestId(0), Time::ZERO);
        let read = Request { id, flow: FlowId(0), op: Read, fua: false, arrival, extent };
        device.submit(arrival, &read).expect("a page of the drive");
        let mut counted_at = |ns| {
            device.advance(Time::from_ns(ns));
            device.totals().retries
        };
        let end = READ + 2 * STEP + PAGE;
        assert_eq!(
            [1, READ, end - 1, end].map(&mut counted_at),
            [[0, 0], [0, 0], [0, 0], [1, 2]].map(Some),
            "{watched}"
        );
    }
}

/// Further steps of each read, from its response time: one at a time, long after the writes.
fn steps_under(scheduler: &str, config: &Config, writes: &[TestRequest], pages: u32) -> BTreeMap<u32, u64> {
    let mut requests = writes.to_vec();
    let reads = |n: u32| 2_000_000_000 + u64::from(n) * 1_000_000;
    requests.extend((0..pages).map(|n| TestRequest {
        at: reads(n),
        flow: 0,
        op: Read,
        touch: Touch::Pages(vec![Lpn(n)]),
    }));
    let recipe = recipe(scheduler, &[]);
    let result = play(config, &recipe, &requests, Wake::Plain);
    let (audited, verdict) = audit(config, &recipe, &requests).expect("it can be built");
    assert!(verdict.is_clean(), "{scheduler}: {verdict}");
    assert_eq!(audited.completions, result.completions);
    let first = writes.len() as u64;
    let reads = result.completions.iter().filter(|c| c.id.0 >= first);
    reads.map(|c| ((c.id.0 - first) as u32, (c.done.since(c.arrival).ns() - READ - PAGE) / STEP)).collect()
}

/// Whatever a scheduler does to the writes before, it meets the same pages that are hard to read, in the configured shares.
#[test]
fn every_scheduler_meets_the_same_pages() {
    let quarter = 1u64 << 30;
    let shares = RetryState { erases: 0, age_days: 0, below: vec![quarter, 3 * quarter, 4 * quarter] };
    let mut config = with(table1(2, 2), vec![shares]);
    config.seed = 5;
    let pages = 4_000;
    let write = |n: u64| TestRequest {
        at: n * 20_000,
        flow: 0,
        op: Write,
        touch: Touch::Pages(vec![Lpn((n * n * 7 % 613) as u32)]),
    };
    let writes: Vec<TestRequest> = (0..3_000).map(write).collect();
    let first = steps_under("fcfs", &config, &writes, pages);
    for scheduler in ["fr-fcfs", "read-first-suspend", "slacker", "flin", "sos", "dynalloc"] {
        assert_eq!(steps_under(scheduler, &config, &writes, pages), first, "{scheduler}");
    }
    let count = |steps| first.values().filter(|&&n| n == steps).count();
    // 4,000 pages: a deviation of 27 for a quarter, 32 for a half.
    for (steps, expected) in [(0, 1_000), (1, 2_000), (2, 1_000)] {
        assert!(count(steps).abs_diff(expected) < 150, "{steps} steps: {} of {expected}", count(steps));
    }
    let none_written = steps_under("fcfs", &config, &[], pages);
    assert_ne!(none_written, first, "another version of a page is another draw");
}
