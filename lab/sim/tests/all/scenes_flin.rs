//! FLIN's second and third stages on a device, with exact timelines (model 2.1.6, model 2.1.7).

mod readings;

use crate::common::{device, drain, one_plane, recipe, table1};
use flashlane_core::Op::{self, Read, Write};
use flashlane_core::decide::Question;
use flashlane_core::event::{End, Event, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Extent, FlowId, Lpn, Owner, Request, RequestId, Time};
use flashlane_sched::catalogue::schedulers;
use flashlane_ssd::Device;
use flashlane_ssd::config::{Config, FlowConfig, Precondition};

const READ: u64 = 99_601;
const WRITE: u64 = 1_324_601;

/// A request of one page: arrival ns, flow, operation, page.
type Line = (u64, u16, Op, u32);

fn send(device: &mut Device, id: u64, &(at, flow, op, page): &Line) {
    let now = Time::from_ns(at);
    device.advance(now);
    let extent = Extent::Pages(&[Lpn(page)]);
    let request = Request { id: RequestId(id), flow: FlowId(flow), op, fua: false, arrival: now, extent };
    device.submit(now, &request).expect("within the drive");
}

/// Runs `lines`; returns when each was done, in their order, and all events.
fn play(config: &Config, scheduler: &str, params: &[(&str, u64)], lines: &[Line]) -> (Vec<u64>, Vec<Stamped>) {
    let mut device = device(config, &recipe(scheduler, params));
    device.report_events();
    lines.iter().enumerate().for_each(|(id, line)| send(&mut device, id as u64, line));
    drain(&mut device);
    device.check();
    let mut done = std::mem::take(device.completions());
    done.sort_by_key(|c| c.id);
    (done.iter().map(|c| c.done.ns()).collect(), std::mem::take(device.events()))
}

fn ends(config: &Config, scheduler: &str, lines: &[Line]) -> Vec<u64> {
    play(config, scheduler, &[], lines).0
}

/// One chip, and flows with these levels.
fn levels(levels: &[u8]) -> Config {
    let mut config = one_plane();
    config.flows = levels.iter().map(|&level| FlowConfig::at_priority(level)).collect();
    config.priorities = levels.iter().max().expect("some") + 1;
    config
}

/// A-FLN-08 on a device: fifteen reads of each of four levels wait at an idle chip. Levels take turns by the ruler
/// sequence, so the top level gets 8 of the first 15.
#[test]
fn levels_take_turns_by_weight() {
    let config = levels(&[0, 1, 2, 3]);
    for op in [Read, Write] {
        let lines: Vec<Line> = (0..60).map(|i| (0, i % 4, op, u32::from(i))).collect();
        let done = ends(&config, "flin", &lines);
        let mut order: Vec<(u64, u16)> = done.iter().zip(&lines).map(|(&done, line)| (done, line.1)).collect();
        order.sort_unstable();
        let flows: Vec<u16> = order.iter().take(15).map(|&(_, flow)| flow).collect();
        assert_eq!(flows, [3, 2, 3, 1, 3, 2, 3, 0, 3, 2, 3, 1, 3, 2, 3], "{op:?}");
    }
}

/// A-FLN-09: the write is served once its proportional wait is at least as long. Each read arrives when the last is
/// done, so it has not waited when the chip is free: break-even at 13.299 x 1,324,601 - 99,601 ns.
#[test]
fn a_write_among_reads_that_have_just_come() {
    let config = one_plane();
    let mut lines: Vec<Line> = vec![(0, 0, Read, 0), (0, 0, Write, 1)];
    lines.extend((1..200).map(|i| (u64::from(i) * READ, 0, Read, 1 + i)));
    for scheduler in ["flin", "flin-stage3"] {
        let done = ends(&config, scheduler, &lines);
        let break_even = WRITE * WRITE / READ - READ;
        let reads_before = break_even / READ + 1;
        assert_eq!(done[1], reads_before * READ + WRITE, "{scheduler}");
    }
}

/// A-FLN-12 (O1): a read suspends a program that has waited less in proportion; without a gain it does not.
#[test]
fn a_read_suspends_a_program_that_waits_less() {
    let mut config = one_plane();
    let lines = [(0, 0, Write, 0), (300_000, 0, Read, 1)];
    assert_eq!(ends(&config, "flin", &lines), [WRITE + READ, 300_000 + READ]);
    // Two programs; the second has waited 1,324,601 when it begins. A read that comes with 13 us of it left waits
    // 13,000 / 99,601 against (1,324,601 + 99,601) / 1,324,601.
    let late = 2 * WRITE - 13_000;
    let lines = [(0, 0, Write, 0), (0, 0, Write, 1), (late, 0, Read, 2)];
    assert_eq!(ends(&config, "flin", &lines), [WRITE, 2 * WRITE, 2 * WRITE + READ]);
    // With 108 us left it is 1.084 against 1.0752; a microsecond later the read waits for the program.
    let lines = |left: u64| [(0, 0, Write, 0), (0, 0, Write, 1), (2 * WRITE - left, 0, Read, 2)];
    let even = READ * (WRITE + READ) / WRITE;
    assert_eq!(ends(&config, "flin", &lines(even + 1))[2], 2 * WRITE - even - 1 + READ);
    assert_eq!(ends(&config, "flin", &lines(even))[2], 2 * WRITE + READ);
    // Overheads count against it.
    config.nand.suspend = flashlane_core::Duration::from_us(20);
    let over = READ * (WRITE + READ + 20_000) / WRITE;
    assert_eq!(ends(&config, "flin", &lines(over + 1))[2], 2 * WRITE - over - 1 + 20_000 + READ);
    assert_eq!(ends(&config, "flin", &lines(over))[2], 2 * WRITE + READ);
}

/// A pause counts as the program's waiting afterwards. One read has suspended it for 99,601 ns; the next, with L ns of
/// the program left, suspends it if L / 99,601 is more than (99,601 + 99,601) / 1,324,601: from 14,979 ns on.
#[test]
fn a_program_that_was_suspended_has_waited() {
    let config = one_plane();
    let even = READ * (READ + READ) / WRITE;
    let end = WRITE + READ;
    let lines = |left: u64| [(0, 0, Write, 0), (300_000, 0, Read, 1), (end - left, 0, Read, 2)];
    assert_eq!(ends(&config, "flin", &lines(even)), [end, 300_000 + READ, end + READ]);
    assert_eq!(ends(&config, "flin", &lines(even + 1)), [end + READ, 300_000 + READ, end - even - 1 + READ]);
}

/// A-FLN-03 on a device: the alone time of each waiting read of a flow is recorded as it joins its queue.
#[test]
fn alone_times_are_noted() {
    let mut device = crate::common::device(&levels(&[0, 0]), &recipe("flin", &[]));
    let lines = [(0, 0, Read, 9), (1_000, 0, Read, 1), (1_000, 1, Read, 2), (2_000, 0, Read, 3), (2_000, 1, Read, 4)];
    lines.iter().enumerate().for_each(|(id, line)| send(&mut device, id as u64, line));
    let alone =
        |page| device.board().txns.iter().find(|txn| txn.lpn == Lpn(page)).expect("it waits").isolated_latency.ns();
    assert_eq!([1, 2].map(alone), [READ; 2]);
    assert_eq!([3, 4].map(alone), [2 * READ - 1_000; 2]);
    drain(&mut device);
}

/// A chip whose first write starts a collection.
fn collecting() -> Config {
    let mut config = one_plane();
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (24, 16);
    (config.ftl.logical_pages, config.precondition) = (17 * 16, Precondition::Steady);
    config.flows = vec![FlowConfig { pages: 8 * 16, ..FlowConfig::at_priority(0) }; 2];
    config.flows[1].first_page = 8 * 16;
    config
}

/// The commands of a chip: start, operation, owner.
fn commands(events: &[Stamped]) -> Vec<(u64, FlashOp, Owner)> {
    let mut kinds = std::collections::BTreeMap::new();
    let mut list = Vec::new();
    for stamped in events {
        match stamped.event {
            Event::Queued { txn, op, owner, .. } => drop(kinds.insert(txn, (op, owner))),
            Event::Dispatched { txn, .. } => list.push((stamped.at.ns(), kinds[&txn].0, kinds[&txn].1)),
            _ => {}
        }
    }
    list
}

/// Algorithm 2, lines 10-17: before a write to a plane short of free pages goes its share of page moves, each a read
/// and its program; then the write, whatever reads have arrived meanwhile. The remaining moves are done in idle time,
/// and a read does not wait for the program of a move (O2).
#[test]
fn a_write_pays_its_share_and_then_goes() {
    let config = collecting();
    // Flow 0 fills the open block until a collection starts, without idle time for moves.
    let mut lines: Vec<Line> = (0..100).map(|i| (0, 0, Write, i * 77 % 128)).collect();
    // Reads arrive all the time.
    lines.extend((0..400u32).map(|i| (u64::from(i) * 150_000, 1, Read, 200 + i % 50)));
    lines.sort_by_key(|line| line.0);
    let (_, events) = play(&config, "flin-stage3", &[], &lines);
    let list = commands(&events);
    let (mut batches, mut pairs) = (0, 0);
    let mut i = 0;
    while i < list.len() {
        if list[i].1 == FlashOp::Read && list[i].2 == Owner::Gc {
            let begin = i;
            while list[i].2 == Owner::Gc {
                i += 1;
            }
            let moved = list[begin..i].iter().filter(|c| c.1 == FlashOp::Read).count();
            let programmed = list[begin..i].iter().filter(|c| c.1 == FlashOp::Program).count();
            assert_eq!(moved, programmed, "moves are whole while writes wait: {:?}", &list[begin..=i]);
            assert_eq!(
                (list[i].1, list[i].2),
                (FlashOp::Program, Owner::User),
                "then the write: {:?}",
                &list[begin..=i]
            );
            (batches, pairs) = (batches + 1, pairs + moved);
        }
        i += 1;
        if list.iter().skip(i).all(|c| c.1 != FlashOp::Program || c.2 == Owner::Gc) {
            break;
        }
    }
    assert!(batches >= 5 && pairs > batches, "{batches} batches of {pairs} pairs");
}

/// O2: a move begun in idle time is a read and a program; the program is paused for a user's read, the erase is not.
#[test]
fn idle_moves_give_way_to_reads() {
    let config = collecting();
    let mut lines: Vec<Line> = (0..100).map(|i| (0, 0, Write, i * 77 % 128)).collect();
    let (_, events) = play(&config, "flin", &[("gc_pages", 0)], &lines);
    let list = commands(&events);
    let idle = |op| list.iter().rev().find(|c| c.1 == op && c.2 == Owner::Gc).expect("the collection was idle").0;
    let (program, erase) = (idle(FlashOp::Program), idle(FlashOp::Erase));
    lines.push((program + 700_000, 1, Read, 200));
    let done = play(&config, "flin", &[("gc_pages", 0)], &lines).0;
    assert_eq!(done[100], program + 700_000 + READ, "the program was suspended");
    lines[100].0 = erase + 100_000;
    let done = play(&config, "flin", &[("gc_pages", 0)], &lines).0;
    assert_eq!(done[100], erase + 3_800_000 + READ, "the erase was not");
}

/// Eq. 10 on a device. Two flows own half of the pages each and only one writes, so half of the moves that wait when a
/// write's turn comes go before it, rounded up: for writes that all wait from the start, and for writes that come one
/// by one.
#[test]
fn half_of_what_waits_goes_before_a_write() {
    let config = collecting();
    for gap in [0, 3_000_000, 9_000_000] {
        let lines: Vec<Line> = (0..100).map(|i| (u64::from(i) * gap, 0, Write, i * 77 % 128)).collect();
        let (_, events) = play(&config, "flin", &[], &lines);
        let mut kinds = std::collections::BTreeMap::new();
        // Moves that have not begun; those that waited when the next write's turn began; those begun or dropped since.
        let (mut waiting, mut base, mut moved, mut dropped) = (0u64, 0, 0, 0);
        let (mut fresh, mut paid, mut writes) = (true, 0, 0);
        for Stamped { event, at } in events {
            match event {
                Event::VictimChosen { valid, .. } => (waiting, fresh) = (waiting + u64::from(valid), false),
                Event::Queued { txn, op, owner, .. } => {
                    kinds.insert(txn, (op, owner));
                    if owner == Owner::User {
                        // Its turn begins now, unless it has to wait for another write's turn to end.
                        if writes == 0 {
                            (base, moved, dropped, fresh) = (waiting, 0, 0, true);
                        }
                        writes += 1;
                    }
                }
                Event::Ended { txn, end: End::Stale, .. } if kinds[&txn].0 == FlashOp::Read => {
                    (waiting, dropped) = (waiting - 1, dropped + 1);
                }
                Event::Dispatched { txn, .. } if kinds[&txn] == (FlashOp::Read, Owner::Gc) => {
                    (waiting, moved) = (waiting - 1, moved + 1);
                }
                Event::Dispatched { txn, .. } if kinds[&txn] == (FlashOp::Program, Owner::User) => {
                    // (A victim chosen in between adds to the waiting moves, not to this write's share.)
                    if base > 0 && fresh && dropped == 0 {
                        assert_eq!(moved, base.div_ceil(2), "of {base}, {gap} ns apart, {at}");
                        paid += 1;
                    }
                    (base, moved, dropped, fresh) = (waiting, 0, 0, true);
                    writes -= 1;
                }
                _ => {}
            }
        }
        assert!(paid >= 5, "{paid} writes paid, {gap} ns apart");
    }
}

/// When writes have done their shares, the remaining moves are done in idle time, and are again paused for reads.
#[test]
fn idle_moves_after_a_batch_give_way_to_reads() {
    let config = collecting();
    let mut left = 0;
    for writes in 20..60 {
        let mut lines: Vec<Line> = (0..writes).map(|i| (0, 0, Write, i * 77 % 128)).collect();
        let (done, events) = play(&config, "flin", &[], &lines);
        let last = *done.iter().max().expect("some");
        let list = commands(&events);
        // Garbage collection ran before writes, and a move begins when the writes are done.
        let before = list.iter().any(|c| c.0 < last && c.2 == Owner::Gc);
        let after = list.iter().find(|c| c.0 >= last && c.1 == FlashOp::Program);
        if let Some(&(program, ..)) = after.filter(|_| before) {
            lines.push((program + 700_000, 1, Read, 200));
            assert_eq!(ends(&config, "flin", &lines).pop(), Some(program + 700_000 + READ), "{writes} writes");
            left += 1;
        }
    }
    assert!(left > 5, "{left} times moves were left");
}

/// Where reads pause programs at boundaries, a move's program is paused like any other, and an erase is not.
#[test]
fn an_erase_has_no_boundaries() {
    let config = collecting();
    let pauses = flashlane_sched::catalogue::Recipe {
        answers: vec![(Question::Preempt, "pause-at-boundary".to_owned())],
        ..recipe("read-first", &[])
    };
    let mut lines: Vec<Line> = (0..100).map(|i| (0, 0, Write, i * 77 % 128)).collect();
    let run = |lines: &[Line]| {
        let mut device = device(&config, &pauses);
        device.report_events();
        lines.iter().enumerate().for_each(|(id, line)| send(&mut device, id as u64, line));
        drain(&mut device);
        let done = device.completions().iter().find(|c| c.id.0 == 100).map_or(0, |c| c.done.ns());
        (done, std::mem::take(device.events()))
    };
    let list = commands(&run(&lines).1);
    let first = |op| list.iter().find(|c| c.1 == op && c.2 == Owner::Gc).expect("a collection").0;
    let (program, erase) = (first(FlashOp::Program), first(FlashOp::Erase));
    // Its data are in after 24,601 ns; of its iterations of 65 us ten are over at 650 us.
    lines.push((program + 24_601 + 600_000, 1, Read, 200));
    assert_eq!(run(&lines).0, program + 24_601 + 650_000 + READ);
    lines[100].0 = erase + 100_000;
    // The erase is not paused. The plane is still short then, so a page of the next victim is read first; its program is paused
    // at its first boundary.
    assert_eq!(run(&lines).0, erase + 3_800_000 + READ + 24_601 + 65_000 + READ);
}

/// A write may be replaced by a younger one of its page while garbage collection is done for it.
#[test]
fn a_write_that_pays_may_be_replaced() {
    let config = collecting();
    let replaced = flashlane_sched::catalogue::Recipe {
        answers: vec![(Question::Cancel, "overwrite".to_owned())],
        ..recipe("flin", &[])
    };
    let asks: Vec<crate::common::play::TestRequest> = (0..2_000u32)
        .map(|i| {
            let page = if i % 8 == 0 { i / 8 * 77 % 128 } else { i % 4 };
            let touch = crate::common::play::Touch::Pages(vec![Lpn(page)]);
            crate::common::play::TestRequest { at: u64::from(i) * 400_000, flow: 0, op: Write, touch }
        })
        .collect();
    let (played, _) = crate::common::play::audit(&config, &replaced, &asks).unwrap_or_else(|why| panic!("{why}"));
    assert!(played.totals.cancelled > 100 && played.totals.erases > 10, "{:?}", played.totals);
}

/// D-FLN-13: at or below the hard threshold of free blocks a write does all waiting moves, which is counted as forced.
#[test]
fn the_safety_net_is_counted() {
    let mut config = collecting();
    let lines: Vec<Line> = (0..200).map(|i| (0, i % 2, Write, u32::from(i) * 31 % 272)).collect();
    let forced = |config: &Config| {
        let mut device = device(config, &recipe("flin", &[]));
        lines.iter().enumerate().for_each(|(id, line)| send(&mut device, id as u64, line));
        drain(&mut device);
        device.totals().forced_batches
    };
    config.gc.hard_blocks = 2;
    assert!(forced(&config) > 0);
    // No other answer forces garbage collection.
    for entry in schedulers().iter().filter(|entry| entry.answers.collect != "write-triggered") {
        let mut device = device(&config, &recipe(entry.name, &[]));
        lines.iter().enumerate().for_each(|(id, line)| send(&mut device, id as u64, line));
        drain(&mut device);
        assert_eq!(device.totals().forced_batches, 0, "{}", entry.name);
    }
}

/// Ownership of pages as the board shows it: at first by part of the drive, then by last writer.
#[test]
fn pages_belong_to_who_wrote_them_last() {
    let mut config = table1(2, 2);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (24, 16);
    config.ftl.logical_pages = config.geometry.planes() * 17 * 16;
    config.precondition = Precondition::Steady;
    let half = config.ftl.logical_pages / 2;
    config.flows = vec![FlowConfig { pages: half, ..FlowConfig::at_priority(0) }; 2];
    config.flows[1].first_page = half;
    let mut device = device(&config, &recipe("flin", &[]));
    let owned = |device: &Device| [0, 1].map(|f| device.board().flows[f].valid_pages());
    assert_eq!(owned(&device), [u64::from(half); 2]);
    // Flow 1 overwrites a hundred pages of flow 0, some twice.
    (0..150u32).for_each(|i| send(&mut device, u64::from(i), &(u64::from(i) * 2_000_000, 1, Write, i % 100)));
    drain(&mut device);
    device.check();
    assert_eq!(owned(&device), [u64::from(half) - 100, u64::from(half) + 100]);
    let flows = &device.board().flows;
    assert_eq!((flows[0].programmed(), flows[1].programmed()), (0, 150));
    let moved: u64 = flows.iter().map(|flow| flow.moved()).sum();
    assert_eq!(moved, device.totals().gc_programs, "every moved page is somebody's");
    assert!(device.totals().erases > 0 && flows[1].written_since_erase() < 150);
    // A scheduler that does not ask for ownership gets none.
    let plain = crate::common::device(&config, &recipe("read-first", &[]));
    assert_eq!(owned(&plain), [0, 0]);
}
