//! Another scheduler on a drained device: it acts as a device that was built with that scheduler and is in the same state.

use crate::common::play::{Mix, TestRequest, asks, hand_over};
use crate::common::small_gc_drive;
use flashlane_audit::{Auditor, Policy, Preconditioned, Start};
use flashlane_core::{Completion, Duration, Time};
use flashlane_sched::catalogue::{Recipe, build, schedulers};
use flashlane_ssd::Device;
use flashlane_ssd::config::{Buffer, Config, FlowConfig, Mapping};
use rand_pcg::Pcg64Mcg;

/// A small drive that collects garbage all the time, with two flows on two priorities.
fn drive() -> Config {
    let mut config = small_gc_drive();
    config.bus.command = [290, 361, 220].map(Duration::from_ns);
    config.flows = (0..2).map(FlowConfig::at_priority).collect();
    config.priorities = 2;
    config
}

/// The same with a map that does not fit into memory.
fn drive_with_mapping_cache() -> Config {
    let mut config = drive();
    let (entries, entries_per_page, read_bytes) = (500, 64, 512);
    config.mapping =
        Some(Mapping { entries, host_entries: 20, entries_per_page, entry_bytes: 4, read_bytes, warm: true });
    config
}

/// The schedulers that need no earlier run.
fn recipes() -> Vec<Recipe> {
    let all = schedulers().iter().map(|row| Recipe { base: Some(row.name.to_owned()), ..Recipe::default() });
    all.filter(|recipe| build(recipe).is_ok_and(|scheduler| !scheduler.admit.declares().needs_buffer)).collect()
}

fn device(config: &Config, recipe: &Recipe) -> Device {
    Device::new(config, build(recipe).expect("a recipe")).expect("a legal drive")
}

/// Random requests from `start` on; `reads` percent of them read.
fn requests(config: &Config, reads: u32, start: u64, seed: u64) -> Vec<TestRequest> {
    let mix = Mix { requests: 600, gap: 40_000, reads, pages: 4, hot: 20, partial: 30, scattered: 20 };
    let mut asks = asks(config, &mix, &mut Pcg64Mcg::new(u128::from(seed) | 1));
    asks.iter_mut().for_each(|ask| ask.at += start);
    asks
}

/// Submits `asks`, the first of them as number `first`, and drains the device, in steps of different lengths.
fn serve(device: &mut Device, asks: &[TestRequest], first: u64) -> Vec<Completion> {
    for (ask, id) in asks.iter().zip(first..) {
        device.advance(Time::from_ns(ask.at));
        hand_over(device, id, ask);
    }
    let mut limit = device.now();
    while !device.drain(limit) {
        limit = limit + Duration::from_ns(1 + limit.ns() % 90_000);
    }
    assert_eq!((device.fault(), device.outstanding()), (None, 0));
    assert!(device.now() <= limit);
    device.check();
    std::mem::take(device.completions())
}

const LATER: u64 = 10_000_000_000;

/// After reads, which change nothing of the drive but what its channels have counted, every scheduler does what it does on a drive that
/// is new. Slacker's estimates depend on these counts.
#[test]
fn a_changed_device_is_one_that_was_built_so() {
    let config = drive();
    let all = recipes();
    assert!(all.len() > 15, "{}", all.len());
    let (before, after) = (requests(&config, 100, 0, 1), requests(&config, 55, LATER, 2));
    let reads_counts = |recipe: &Recipe| build(recipe).expect("a recipe").order.declares().needs.estimates;
    for (i, to) in all.iter().enumerate().filter(|(_, to)| !reads_counts(to)) {
        let expected = serve(&mut device(&config, to), &after, 600);
        for from in [&all[(i + 1) % all.len()], &all[(i + 7) % all.len()]] {
            let mut changed = device(&config, from);
            assert_eq!(serve(&mut changed, &before, 0).len(), 600);
            changed.change_scheduler(&config, build(to).expect("a recipe"));
            let done = serve(&mut changed, &after, 600);
            let differing = done.iter().zip(&expected).find(|(one, other)| one != other);
            assert_eq!(differing, None, "{from:?} to {to:?}");
        }
    }
}

/// After writes and collections, with pages away from home and a buffer that holds some: it does not matter which other schedulers came
/// between.
#[test]
fn only_the_last_scheduler_matters() {
    [drive(), drive_with_mapping_cache()].into_iter().for_each(only_the_last_scheduler_matters_on);
}

fn only_the_last_scheduler_matters_on(mut config: Config) {
    config.buffer = Some(Buffer { read_allocate: true, ..Buffer::plain(64, 40) });
    let all = recipes();
    let (before, after) = (requests(&config, 30, 0, 3), requests(&config, 50, LATER, 4));
    for (i, to) in all.iter().enumerate() {
        let run = |between: &[usize]| {
            let mut device = device(&config, &all[(i + 3) % all.len()]);
            serve(&mut device, &before, 0);
            for other in between {
                device.change_scheduler(&config, build(&all[other % all.len()]).expect("a recipe"));
                assert!(device.drain(Time::LAST));
            }
            device.change_scheduler(&config, build(to).expect("a recipe"));
            let completions = serve(&mut device, &after, 600);
            assert_eq!(completions.len(), 600);
            assert!(device.totals().erases > 20);
            (completions, device.totals())
        };
        assert!(run(&[]) == run(&[i + 5, i + 11]), "to {to:?}");
    }
}

/// Priorities change for what enters later; the auditor finds nothing wrong with a run under a dozen schedulers in turn.
#[test]
fn the_auditor_follows() {
    [drive(), drive_with_mapping_cache()].iter().for_each(the_auditor_follows_on);
}

fn the_auditor_follows_on(config: &Config) {
    let all = recipes();
    let mut device = device(config, &all[0]);
    device.report_events();
    let start = Preconditioned::of(config).expect("a formula");
    let first = Policy::of(&build(&all[0]).expect("a recipe"));
    let mut auditor = Auditor::new(config, first, Start::Formula(Box::new(start)), 8);
    for (number, recipe) in (0..).zip(&all[1..]) {
        let begin = device.now().ns() + 1;
        let asks = requests(config, 60, begin, number);
        assert_eq!(serve(&mut device, &asks, 600 * number).len(), 600);
        device.events().drain(..).for_each(|event| auditor.observe(&event));
        let scheduler = build(recipe).expect("a recipe");
        auditor.scheduler_changes(Policy::of(&scheduler));
        device.change_scheduler(config, scheduler);
        device.set_priority(flashlane_core::FlowId(0), (number % 2) as u8);
    }
    let verdict = auditor.finish();
    assert!(verdict.is_clean(), "{verdict}");
}

/// With priorities as the only difference, the flow with the higher one is served first.
#[test]
fn a_priority_holds_for_what_enters_later() {
    let config = drive();
    let flin = Recipe { base: Some("flin".to_owned()), ..Recipe::default() };
    let (before, after) = (requests(&config, 60, 0, 5), requests(&config, 60, LATER, 6));
    let mut swapped = config.clone();
    swapped.flows.reverse();
    let mut changed = device(&config, &flin);
    let plain = serve(&mut changed, &before, 0);
    assert!(plain == serve(&mut device(&config, &flin), &before, 0));
    changed.change_scheduler(&config, build(&flin).expect("a recipe"));
    changed.set_priority(flashlane_core::FlowId(0), 1);
    changed.set_priority(flashlane_core::FlowId(1), 0);
    let mut expected = device(&swapped, &flin);
    expected.set_priority(flashlane_core::FlowId(0), 0);
    expected.set_priority(flashlane_core::FlowId(1), 1);
    assert!(plain == serve(&mut expected, &before, 0));
    expected.change_scheduler(&swapped, build(&flin).expect("a recipe"));
    expected.set_priority(flashlane_core::FlowId(0), 1);
    expected.set_priority(flashlane_core::FlowId(1), 0);
    let (one, other) = (serve(&mut changed, &after, 600), serve(&mut expected, &after, 600));
    assert!(one == other);
    let mut unchanged = device(&config, &flin);
    serve(&mut unchanged, &before, 0);
    unchanged.change_scheduler(&config, build(&flin).expect("a recipe"));
    assert!(serve(&mut unchanged, &after, 600) != one, "priorities matter");
}
