//! The guarantees of every scheduler, checked on every scheduler of the catalogue, so a new one is tested as soon as it is
//! listed.
//!
//! Conservation, determinism, independence of when and how often the device is woken and of other devices in the
//! process, no allocation once a run is in progress, and that nothing waits for ever. The auditor checks every run. A
//! scheduler needs no line here; one in [`STARVATION_BOUNDS`] holds it to a bound on how often a waiting transaction can be passed by.

use crate::common::play::{self, Mix, TestRequest, Touch, Wake, asks, play};
use crate::common::{recipe, small_gc_drive};
use flashlane_core::Op::{self, Read, Write};
use flashlane_core::decide::{Group, Pick, Question, Scheduler, Scope};
use flashlane_core::event::Event;
use flashlane_core::geometry::UnitKind;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Board, Completion, Duration, Lpn, Owner, Time, UnitId};
use flashlane_sched::catalogue::{AnswerEntry, Build, Catalogue, Recipe, SHIPPED, SchedulerEntry, schedulers};
use flashlane_ssd::config::{Buffer, Config, Dispatch, FlowConfig, Precondition, Protocol};
use rand_pcg::Pcg64Mcg;

/// A small drive in steady state, which collects garbage all the time.
fn two_priority_drive() -> Config {
    let mut config = small_gc_drive();
    config.flows = vec![FlowConfig::at_priority(0), FlowConfig::at_priority(1)];
    config.priorities = 2;
    config
}

/// [`two_priority_drive`] with everything that commands can pass on their way to the flash: a buffer, narrow limits, a link,
/// overheads.
fn all_features_drive() -> Config {
    let mut config = two_priority_drive();
    config.geometry.unit = UnitKind::Die;
    config.ftl.read_modify_write = true;
    (config.nand.suspend, config.nand.resume) = (Duration::from_us(5), Duration::from_us(7));
    config.bus.command = [290, 361, 220].map(Duration::from_ns);
    config.buffer = Some(Buffer { per_flow: true, read_allocate: true, ..Buffer::plain(64, 16) });
    config.front.protocol = Protocol::Nvme { depth: 8 };
    (config.front.in_flight, config.front.queue_capacity) = (12, [8, 8]);
    (config.front.link_bytes_per_s, config.front.link_latency) = (2_000_000_000, Duration::from_us(3));
    config
}

/// One flow behind a link, and nothing else that takes part: reads that find their unit idle begin at once.
fn linked_drive() -> Config {
    let mut config = small_gc_drive();
    config.bus.dispatch = Dispatch::BusIdle;
    config.front.link_latency = Duration::from_us(3);
    config
}

fn workload(config: &Config, seed: u128, requests: usize) -> Vec<TestRequest> {
    let mix = Mix { requests, gap: 500_000, reads: 55, pages: 4, hot: 20, partial: 30, scattered: 20 };
    asks(config, &mix, &mut Pcg64Mcg::new(seed))
}

/// Runs `check` for every scheduler on each device.
fn each(check: impl FnMut(&SchedulerEntry, &Recipe, &Config, &[TestRequest])) {
    each_with(2500, check);
}

/// Runs `check` for every scheduler on each device, with so many requests.
fn each_with(requests: usize, mut check: impl FnMut(&SchedulerEntry, &Recipe, &Config, &[TestRequest])) {
    for config in [two_priority_drive(), all_features_drive(), linked_drive()] {
        let asks = workload(&config, 7, requests);
        for entry in schedulers() {
            check(entry, &recipe(entry.name, &[]), &config, &asks);
        }
    }
}

#[test]
fn every_request_completes_once_twice_the_same_whether_watched_or_not_and_the_auditor_is_silent() {
    each(|entry, recipe, config, asks| {
        let (watched, verdict) =
            play::audit(config, recipe, asks).unwrap_or_else(|why| panic!("{}: {why}", entry.name));
        assert!(verdict.events > 10_000 && watched.totals.erases > 50, "{}: too little happened", entry.name);
        let once = play(config, recipe, asks, Wake::Plain);
        play::conserved(asks, &once.completions).unwrap_or_else(|why| panic!("{}: {why}", entry.name));
        assert_eq!(once, play(config, recipe, asks, Wake::Plain), "{}", entry.name);
        assert_eq!(once, watched, "{}: watching changes the run", entry.name);
    });
}

/// Reporting events does not change estimates either: an estimate sees the channels as they are, even where transfers
/// without a reported beginning are recorded late. Looked at after every fourth request: most of what waits does so for longer.
fn slack_is_the_same(requests: usize, at_least: usize) {
    let mut with_slack = 0;
    each_with(requests, |entry, recipe, config, asks| {
        let [mut quiet, mut watched] = [(); 2].map(|()| play::built(config, recipe).expect("legal").0);
        watched.report_events();
        for (id, ask) in asks.iter().enumerate() {
            let slacks = [&mut quiet, &mut watched].map(|device| {
                device.advance(Time::from_ns(ask.at));
                play::hand_over(device, id as u64, ask);
                device.events().clear();
                device.completions().clear();
                if id % 4 != 0 {
                    return Vec::new();
                }
                let waiting = device.board().txns.iter().filter(|txn| txn.stage == Stage::Waiting);
                waiting.map(|txn| (txn.serial, txn.slack)).collect::<Vec<_>>()
            });
            assert_eq!(slacks[0], slacks[1], "{}, request {id}", entry.name);
            with_slack += slacks[0].iter().filter(|(_, slack)| *slack > Duration::ZERO).count();
        }
    });
    assert!(with_slack > at_least, "{with_slack} are too few");
}

#[test]
fn slack_is_the_same_whether_watched_or_not() {
    slack_is_the_same(700, 1_000);
}

#[test]
#[ignore = "nightly: more than three times the requests"]
fn slack_is_the_same_in_longer_runs() {
    slack_is_the_same(2500, 5_000);
}

#[test]
fn spare_wake_ups_and_stops_at_completions_change_nothing() {
    each(|entry, recipe, config, asks| {
        let plain = play(config, recipe, asks, Wake::Plain);
        for wake in [Wake::Spare(1), Wake::Spare(2), Wake::Completions] {
            assert_eq!(plain, play(config, recipe, asks, wake.clone()), "{}, {wake:?}", entry.name);
        }
    });
}

/// `advance(a); advance(b)` is `advance(b)`: two seconds in one step, in seven, or in a hundred thousand.
#[test]
fn many_steps_are_one_step() {
    each(|entry, recipe, config, asks| {
        let asks = &asks[..200];
        let last = asks.last().expect("some").at;
        let run = |steps: u64| {
            let (mut device, _) = play::built(config, recipe).expect("legal");
            for (id, ask) in asks.iter().enumerate() {
                device.advance(Time::from_ns(ask.at));
                play::hand_over(&mut device, id as u64, ask);
            }
            let end = last + 2_000_000_000;
            for step in 1..=steps {
                device.advance(Time::from_ns(last + (end - last) * step / steps));
            }
            (std::mem::take(device.completions()), device.totals())
        };
        let one = run(1);
        assert_eq!(one.0.len(), asks.len(), "{}: two seconds are enough", entry.name);
        assert_eq!(one, run(7), "{}", entry.name);
        assert_eq!(one, run(100_003), "{}", entry.name);
    });
}

#[test]
fn two_devices_in_a_process_do_not_meet() {
    let (a, b) = (two_priority_drive(), all_features_drive());
    let (asks_a, asks_b) = (workload(&a, 8, 1200), workload(&b, 9, 900));
    for entry in schedulers() {
        let recipe = recipe(entry.name, &[]);
        let alone = [play(&a, &recipe, &asks_a, Wake::Plain), play(&b, &recipe, &asks_b, Wake::Plain)];
        let together = play::interleaved([(&a, &recipe), (&b, &recipe)], [&asks_a, &asks_b]);
        assert_eq!(alone.map(|played| played.completions), together, "{}", entry.name);
    }
}

/// Once tables have reached their size, requests allocate nothing: tested on a device that has served a workload, with
/// the same workload repeated later in time, each time on an idle drive. A table may still grow when more is in progress than
/// ever before, but an allocation per request, decision or full block would show in every round.
#[test]
fn no_allocation_in_steady_state() {
    let counts = allocation_counter::measure(|| drop(std::hint::black_box(Box::new(1u8))));
    assert_eq!(counts.count_total, 1, "the counter counts");
    let config = two_priority_drive();
    // Ranges, not page lists: a list is the caller's, and the device makes a copy.
    let mix = Mix { requests: 3000, gap: 900_000, reads: 55, pages: 4, hot: 20, partial: 30, scattered: 0 };
    let asks = asks(&config, &mix, &mut Pcg64Mcg::new(10));
    // Writes come faster than the drive takes them: it catches up between the rounds.
    let span = 10 * asks.last().expect("some").at;
    for entry in schedulers() {
        let (mut device, _) = play::built(&config, &recipe(entry.name, &[])).expect("legal");
        let mut round = |number: u64| {
            let mut completed = 0;
            for (id, ask) in asks.iter().enumerate() {
                let Touch::Bytes(offset, length) = ask.touch else { unreachable!("no lists asked for") };
                let touch = Touch::Bytes(offset, length);
                let at = ask.at + number * span;
                device.advance(Time::from_ns(at));
                play::hand_over(&mut device, number * 10_000 + id as u64, &TestRequest { at, touch, ..*ask });
                completed += device.completions().drain(..).count();
            }
            device.advance(Time::from_ns((number + 1) * span - 1));
            completed += device.completions().drain(..).count();
            assert_eq!(completed, asks.len(), "{}: idle after round {number}", entry.name);
        };
        (0..4).for_each(&mut round);
        let rounds = (4..12).map(|number| allocation_counter::measure(|| round(number)).count_total);
        let counts: Vec<u64> = rounds.collect();
        assert!(counts.iter().sum::<u64>() < 8, "{}: allocations in rounds of 3000 requests: {counts:?}", entry.name);
    }
}

/// How long a scheduler lets a transaction wait on one chip while the other kind floods it: at most this many transactions of
/// the other kind that came later go first, whether or not garbage collection waits. `None`: without a bound, by the
/// scheduler's definition.
struct StarvationBound {
    scheduler: &'static str,
    /// Parameters for which the bounds hold.
    params: &'static [(&'static str, u64)],
    /// The bound for a read while writes flood.
    read: Option<u64>,
    /// The bound for a write while reads flood.
    write: Option<u64>,
}

/// Requests of the flooding kind kept outstanding, and how many of them are sent between two requests of the other
/// kind.
const DEPTH: u64 = 8;
const APART: u64 = 20;

/// Service times of the chip, ns.
const READ_TIME: u64 = 99_601;
const WRITE_TIME: u64 = 1_324_601;

/// Reads that come later and pass a write under balanced waits, with `gc` ns of garbage collection before the write
/// (model 2.3, starvation figures): the oldest read of the flood has waited for those before it, and the write goes
/// once it has waited longer in proportion. Reads that waited when the write came do not count. Each pass takes the
/// time of one read.
const fn balanced(gc: u64) -> u64 {
    let read_has_waited = (DEPTH - 1) * READ_TIME;
    let write_waits = WRITE_TIME * (read_has_waited + WRITE_TIME + gc) / READ_TIME - READ_TIME - gc;
    write_waits.div_ceil(READ_TIME) + 1 - DEPTH
}

/// The most garbage collection that may go before a write on [`short`]: every page of a victim, and its erase.
const WHOLE_VICTIM: u64 = 16 * (READ_TIME + WRITE_TIME) + 3_800_000;

/// A write queue that is soon full.
const SOON_FULL: &[(&str, u64)] = &[("alpha", 80), ("write_capacity", 10)];

/// Reads that pass a write under `late`: while it waits for a chip without reads, for 50 programs; and then the four that may go in a
/// row, and those for which the write before it stands paused as long as it takes itself. These may be the last for an earlier write, too.
const PASSED_BY_READS: u64 = 50 * WRITE_TIME / READ_TIME + 2 * (4 + WRITE_TIME / READ_TIME);

const STARVATION_BOUNDS: &[StarvationBound] = &[
    // The oldest goes first, whatever it is.
    StarvationBound { scheduler: "fcfs", params: &[], read: Some(0), write: Some(0) },
    // Reads always go before writes: a write waits as long as there are reads.
    StarvationBound { scheduler: "read-first", params: &[], read: Some(0), write: None },
    StarvationBound { scheduler: "read-first-suspend", params: &[], read: Some(0), write: None },
    // Writes go once more than 80 % of 10 wait: a write is served when eight more have come after it.
    StarvationBound { scheduler: "fr-fcfs", params: SOON_FULL, read: Some(0), write: Some(9 * (APART + 1)) },
    // A transaction without slack is not passed by its own kind, and slack does not affect the other kind.
    StarvationBound { scheduler: "wbyp", params: SOON_FULL, read: Some(0), write: Some(9 * (APART + 1)) },
    StarvationBound { scheduler: "rbyp", params: SOON_FULL, read: Some(0), write: Some(9 * (APART + 1)) },
    StarvationBound { scheduler: "wp", params: SOON_FULL, read: Some(0), write: Some(9 * (APART + 1)) },
    StarvationBound { scheduler: "rbyp+wp", params: SOON_FULL, read: Some(0), write: Some(9 * (APART + 1)) },
    StarvationBound { scheduler: "slacker", params: SOON_FULL, read: Some(0), write: Some(9 * (APART + 1)) },
    StarvationBound { scheduler: "need", params: SOON_FULL, read: Some(0), write: Some(9 * (APART + 1)) },
    // The fill trigger begins a write, which is then paused for as long as reads wait.
    StarvationBound { scheduler: "wp-blind", params: SOON_FULL, read: Some(0), write: None },
    StarvationBound { scheduler: "oracle-slack", params: SOON_FULL, read: Some(0), write: Some(9 * (APART + 1)) },
    // Writes wait in one queue until a chip has no read: there is no fill trigger.
    StarvationBound { scheduler: "dynalloc", params: SOON_FULL, read: Some(0), write: None },
    StarvationBound { scheduler: "dynalloc+slacker", params: SOON_FULL, read: Some(0), write: None },
    // Reads go before a write until it has waited for 50 programs, and after that to the number that may go in a row.
    StarvationBound { scheduler: "late", params: &[], read: Some(0), write: Some(PASSED_BY_READS) },
    // Reads always go before writes.
    StarvationBound { scheduler: "sprinkler", params: &[], read: Some(0), write: None },
    StarvationBound { scheduler: "sprinkler+fairness", params: &[], read: Some(0), write: None },
    StarvationBound { scheduler: "sprinkler-np", params: &[], read: Some(0), write: None },
    StarvationBound { scheduler: "sprinkler+fairness-np", params: &[], read: Some(0), write: None },
    StarvationBound { scheduler: "flin-stage1", params: &[], read: Some(0), write: None },
    // The device here takes every command as it comes, and its chips serve the oldest first.
    StarvationBound { scheduler: "ncq-fcfs", params: &[], read: Some(0), write: Some(0) },
    StarvationBound { scheduler: "ncq-s", params: &[], read: Some(0), write: Some(0) },
    StarvationBound { scheduler: "ncq-sb", params: &[], read: Some(0), write: Some(0) },
    StarvationBound { scheduler: "ncq-ts", params: &[], read: Some(0), write: Some(0) },
    StarvationBound { scheduler: "ncq-tsb", params: &[], read: Some(0), write: Some(0) },
    // The oldest on a chip goes first; what moves goes earlier.
    StarvationBound { scheduler: "hos", params: &[], read: Some(0), write: Some(0) },
    StarvationBound { scheduler: "hos+qsl", params: &[], read: Some(0), write: Some(0) },
    // A write is never passed, but its page's next write may take its place and join the tail; it is then another.
    StarvationBound { scheduler: "hos+whm", params: &[], read: Some(0), write: Some(0) },
    StarvationBound { scheduler: "sos", params: &[], read: Some(0), write: Some(0) },
    // In proportion to service. A flow that floods itself waits as long as it would alone, times its slowdown.
    StarvationBound { scheduler: "flin-stage3", params: &[], read: Some(0), write: Some(balanced(0)) },
    StarvationBound { scheduler: "flin", params: &[], read: Some(0), write: Some(balanced(0)) },
];

/// The schedulers whose writes wait longer with garbage collection before them.
const PAID_BY_WRITES: [&str; 2] = ["flin", "flin-stage3"];

/// The scheduler whose bound is for the first of a line of writes: on a drive that collects, they come here faster than reads leave room for
/// them and for the collection they need, and each waits for those before it too.
const FIRST_IN_LINE: &str = "late";

#[test]
fn nothing_waits_longer_than_its_row_promises() {
    for entry in schedulers() {
        keeps_its_promise(&SHIPPED, entry.name, None).unwrap_or_else(|broken| panic!("{broken}"));
    }
}

/// The same under paced collection, which lets writes go between its steps, for those that leave it open.
#[test]
fn nothing_waits_longer_than_its_row_promises_while_collection_is_paced() {
    for entry in schedulers().iter().filter(|entry| entry.open.contains(&Question::Collect)) {
        let kept = keeps_its_promise(&SHIPPED, entry.name, Some("paced"));
        kept.unwrap_or_else(|broken| panic!("{broken}"));
    }
}

/// Whether a scheduler, perhaps with this collect answer, keeps the promise of its row or, without one, ends the wait of everything once the
/// flood is over.
fn keeps_its_promise(catalogue: &Catalogue, name: &str, collect: Option<&str>) -> Result<(), String> {
    let row = STARVATION_BOUNDS.iter().find(|row| row.scheduler == name);
    let params = row.map_or(&[][..], |row| row.params);
    for (rare, config) in [(Read, roomy()), (Write, roomy()), (Read, short()), (Write, short())] {
        let mut recipe = recipe(name, params);
        recipe.answers.extend(collect.map(|answer| (Question::Collect, answer.to_owned())));
        let scheduler = catalogue.build(&recipe).expect("a scheduler of the catalogue");
        let Flooded { passed, left, erases, .. } = flood(&config, scheduler, rare);
        let kind = rare.name();
        if left > 0 {
            return Err(format!("{name}: {left} requests still wait when nothing is left to do ({kind}s in a flood)"));
        }
        let Some(row) = row else { continue };
        let bound = if rare == Read { row.read } else { row.write };
        let worst = passed.iter().max().copied().expect("some were served");
        let collects = config.precondition == Precondition::Steady;
        let pays = collects && rare == Write && PAID_BY_WRITES.contains(&name);
        let in_line = collects && rare == Write && name == FIRST_IN_LINE;
        match bound.filter(|_| !in_line).map(|bound| if pays { balanced(WHOLE_VICTIM) } else { bound }) {
            Some(_) if collects && erases <= 3 => {
                return Err(format!("{name}: {erases} erases are too few to be in the way"));
            }
            Some(bound) if worst > bound => {
                return Err(format!("{name}: a {kind} was passed {worst} times, not {bound}"));
            }
            // Otherwise a bound exists and must be stated.
            None if worst <= 1000 => {
                return Err(format!("{name}: a {kind} was passed {worst} times only: state the bound"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Begins the oldest of the kinds it serves.
#[derive(Debug)]
struct Oldest(&'static [FlashOp]);

impl Pick for Oldest {
    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        let ops = if scope == Scope::Any { self.0 } else { &[FlashOp::Read] };
        let waiting = ops.iter().flat_map(|&op| board.walk(board.queue_for(unit, op, 0)));
        if let Some(lead) = waiting.filter(|&txn| board.eligible(txn)).min_by_key(|&txn| board.txn(txn).serial) {
            group.push(board, lead);
        }
    }
}

/// The shipped catalogue with one row more, whose answer to the pick question is of one's own.
fn with_a_new_row(pick: AnswerEntry) -> Catalogue {
    let mut catalogue = SHIPPED.clone();
    let mut entry = *catalogue.scheduler("fcfs").expect("it ships");
    (entry.name, entry.answers.pick) = ("new-row", pick.name);
    catalogue.add_answer(pick).expect("a new name");
    catalogue.add_scheduler(entry).expect("a new name");
    catalogue
}

/// What docs/add-a-scheduler.md promises: a scheduler that is in the catalogue is tested without another line, and this test can fail.
#[test]
fn a_new_row_needs_no_other_line() {
    let answer = AnswerEntry {
        name: "new-pick",
        summary: "",
        source: "",
        params: &[],
        build: Build::Pick(&|_| Box::new(Oldest(&[FlashOp::Read, FlashOp::Program]))),
    };
    assert_eq!(keeps_its_promise(&with_a_new_row(answer), "new-row", None), Ok(()));
    let never_writes = AnswerEntry { build: Build::Pick(&|_| Box::new(Oldest(&[FlashOp::Read]))), ..answer };
    let broken = keeps_its_promise(&with_a_new_row(never_writes), "new-row", None).unwrap_err();
    assert!(broken.contains("still wait"), "{broken}");
}

/// A chip with room for all writes.
fn roomy() -> Config {
    let mut config = crate::common::one_plane();
    (config.geometry.blocks_per_plane, config.ftl.logical_pages) = (256, 12_000);
    config
}

/// A chip in steady state: garbage collection waits from the first write on.
fn short() -> Config {
    let mut config = crate::common::one_plane();
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (340, 16);
    (config.ftl.logical_pages, config.precondition) = (4500, Precondition::Steady);
    config
}

/// What a flood of one kind of requests does to a few of the other.
struct Flooded {
    /// For each of the few, how many of the flood that came later were dispatched before it.
    passed: Vec<u64>,
    /// Requests that still wait although the flood is over and the device has nothing left to do.
    left: usize,
    /// Blocks erased during the flood.
    erases: u64,
    /// The most reads, programs and erases of garbage collection between two of the flood.
    collected: u64,
}

/// Floods one chip with the kind of requests other than `rare` and sends a `rare` request now and then.
fn flood(config: &Config, scheduler: Scheduler, rare: Op) -> Flooded {
    let (mut device, _) = play::built_under(config, scheduler).expect("legal");
    device.report_events();
    let flood = if rare == Read { Write } else { Read };
    let (mut id, mut page, mut flooded) = (0, 0, 0);
    let mut arrived: Vec<(u64, u64)> = Vec::new();
    let mut floods: Vec<u64> = Vec::new();
    let mut passed = Vec::new();
    let (mut gone, mut collected, mut in_a_row) = (0, 0, 0);
    let mut send = |device: &mut flashlane_ssd::Device, op: Op, now: u64| {
        // Every page is used once, so that nothing is served from memory.
        let touch = Touch::Pages(vec![Lpn(page)]);
        page += 1;
        play::hand_over(device, id, &TestRequest { at: now, flow: 0, op, touch });
        id += 1;
    };
    (0..DEPTH).for_each(|_| send(&mut device, flood, 0));
    while flooded < 3000 {
        let now = device.next_event();
        if now == Time::NEVER {
            return Flooded { passed, left: device.outstanding(), erases: 0, collected };
        }
        device.advance(now);
        let done: Vec<Completion> = device.completions().drain(..).collect();
        for c in done.iter().filter(|c| c.op == flood) {
            assert!(c.done == now);
            send(&mut device, flood, now.ns());
            flooded += 1;
            if flooded % APART == 0 {
                send(&mut device, rare, now.ns());
            }
        }
        for stamped in device.events().drain(..) {
            match stamped.event {
                Event::Queued { txn, op, owner: Owner::User, .. } => {
                    let is_rare = (op == FlashOp::Read) == (rare == Read);
                    if is_rare { arrived.push((txn, 0)) } else { floods.push(txn) }
                }
                Event::Dispatched { txn, .. } => match arrived.iter().position(|&(rare, _)| rare == txn) {
                    Some(index) => passed.push(arrived.remove(index).1),
                    // Garbage collection does not count as part of the flood.
                    None if floods.binary_search(&txn).is_err() => {
                        in_a_row += 1;
                        collected = collected.max(in_a_row);
                    }
                    None => {
                        (gone, in_a_row) = (gone + 1, 0);
                        arrived.iter_mut().filter(|(rare, _)| *rare < txn).for_each(|(_, count)| *count += 1);
                    }
                },
                _ => {}
            }
        }
    }
    assert!(gone > 2000 && floods.len() > 2000, "a flood");
    // Transactions that still wait have been passed too.
    passed.extend(arrived.iter().map(|&(_, count)| count));
    let erases = device.totals().erases;
    loop {
        let next = device.next_event();
        if next == Time::NEVER {
            break;
        }
        device.advance(next);
    }
    Flooded { passed, left: device.outstanding(), erases, collected }
}

/// Writes flood a chip that is short of blocks: under paced collection a write waits for fewer steps than those of a victim, collection keeps
/// up with the writes as it does otherwise, and nothing is left waiting.
#[test]
fn writes_do_not_starve_under_paced_collection_nor_collection_under_writes() {
    // `dynamic` gives a chip no write while it collects, in steps or not (D-SLK-22).
    let open = |entry: &&SchedulerEntry| entry.open.contains(&Question::Collect) && entry.answers.place != "dynamic";
    for entry in schedulers().iter().filter(open) {
        let [paced, semi] = ["paced", "semi-preemptive"].map(|answer| {
            let mut recipe = recipe(entry.name, &[]);
            recipe.answers.push((Question::Collect, answer.to_owned()));
            flood(&short(), SHIPPED.build(&recipe).expect("a scheduler"), Read)
        });
        assert!(paced.left == 0 && paced.erases > 100 && paced.erases >= semi.erases, "{}", entry.name);
        // The read and the program of one move.
        assert!(paced.collected <= 2 && semi.collected > 2, "{}: {}, {}", entry.name, paced.collected, semi.collected);
    }
}
