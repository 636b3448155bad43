//! Hand-worked scenes with exact timelines: the statements on the device and the baseline (model 8.4).

use crate::common::{CYCLE, atomic, device, drain, ends, one_plane, recipe, scene, table1, unit_cycle};
use flashlane_core::Op::{Read, Write};
use flashlane_core::Owner;
use flashlane_core::decide::Question;
use flashlane_core::event::Event;
use flashlane_core::{Duration, Extent, FlowId, Request, RequestId, Time};
use flashlane_ssd::config::{Buffer, Latency, Precondition};

/// A-SUB-01: two planes of one die, in one command and in two.
#[test]
fn a_sub_01_multi_plane_commands() {
    let both = table1(1, 1);
    let mut single = table1(1, 1);
    single.nand.multi_plane = false;
    let rp = recipe("read-first", &[]);
    assert_eq!(ends(&both, &rp, &[(0, Write, &[0, 1])]), [1_349_202]);
    assert_eq!(ends(&single, &rp, &[(0, Write, &[0, 1])]), [2_649_202]);
    assert_eq!(ends(&both, &rp, &[(0, Read, &[0, 1])]), [124_202]);
    assert_eq!(ends(&single, &rp, &[(0, Read, &[0, 1])]), [199_202]);
}

/// A-SUB-02 and A-SUB-03: four chips share one channel.
#[test]
fn a_sub_02_03_chips_share_a_channel() {
    let config = table1(1, 4);
    let rp = recipe("read-first", &[]);
    let four = |op| [(0, op, &[0u32][..]), (0, op, &[1]), (0, op, &[2]), (0, op, &[3])];
    assert_eq!(ends(&config, &rp, &four(Read)), [99_601, 124_202, 148_803, 173_404]);
    assert_eq!(ends(&config, &rp, &four(Write)), [1_324_601, 1_349_202, 1_373_803, 1_398_404]);
}

/// Two reads of two planes, on two chips of a channel: both pages of the second find the bus taken (eq. 6 counts pages), whether
/// or not somebody watches.
#[test]
fn every_page_of_a_command_that_waits_for_the_bus_counts() {
    for watched in [false, true] {
        let mut device = device(&table1(1, 2), &recipe("read-first", &[]));
        if watched {
            device.report_events();
        }
        let done = scene(&mut device, &[(0, Read, &[0, 2]), (0, Read, &[1, 3])]);
        assert_eq!(done.iter().map(|c| c.done.ns()).collect::<Vec<_>>(), [124_202, 173_404]);
        assert_eq!(device.totals().transfers, [4, 2]);
    }
}

/// A-SUB-04: emptying and erasing a victim with 64 valid pages holds the chip for 94 948 928 ns. Random overwrites of a
/// small drive bring victims of every size; each takes its exact time from its first command to its erase.
#[test]
fn a_sub_04_a_victim_with_64_valid_pages() {
    let mut config = one_plane();
    config.geometry.blocks_per_plane = 16;
    config.ftl.logical_pages = 11 * 128;
    config.precondition = Precondition::Steady;
    let mut device = device(&config, &atomic("fr-fcfs", &[]));
    device.report_events();
    let pages: Vec<[u32; 1]> = (0..20_000u64).map(|i| [(i * i % 7919 * 31 % 1408) as u32]).collect();
    let lines: Vec<_> = pages.iter().enumerate().map(|(i, p)| (i as u64 * 4_000_000, Write, &p[..])).collect();
    scene(&mut device, &lines);
    let (mut valid, mut moves, mut begun, mut last) = (0, 0, None, Time::ZERO);
    let mut gc = std::collections::BTreeSet::new();
    let mut seen = std::collections::BTreeSet::new();
    for stamped in device.events().drain(..) {
        match stamped.event {
            Event::VictimChosen { valid: v, .. } => (valid, moves, begun) = (v, 0, None),
            Event::Queued { txn, owner: Owner::Gc, .. } => drop(gc.insert(txn)),
            Event::Dispatched { txn, .. } if gc.contains(&txn) => {
                moves += 1;
                begun = begun.or(Some(stamped.at));
            }
            Event::Erased { .. } => {
                assert_eq!(moves, 2 * valid + 1, "one plane, one chip: nothing overtakes an atomic collection");
                let took = (stamped.at - begun.expect("began")).ns();
                assert_eq!(took, u64::from(valid) * (75_000 + 2 * 24_601 + 1_300_000) + 3_800_000);
                seen.insert((valid, took));
                last = stamped.at;
            }
            _ => {}
        }
    }
    assert!(last > Time::ZERO);
    assert!(seen.contains(&(64, 94_948_928)), "no victim had 64 valid pages: {seen:?}");
    device.check();
}

/// A-FLN-14: one unit, w1 r1 w2 r2 queued at 0.
#[test]
fn a_fln_14_fcfs_against_read_first() {
    let mut config = one_plane();
    config.bus.mega_transfers = u32::MAX;
    let us = |n| Latency::Constant(Duration::from_us(n));
    config.nand.read = us(100);
    config.nand.program = us(1325);
    let lines = [(0, Write, &[0u32][..]), (0, Read, &[1]), (0, Write, &[2]), (0, Read, &[3])];
    let micro = |name| ends(&config, &recipe(name, &[]), &lines).iter().map(|ns| ns / 1000).collect::<Vec<_>>();
    assert_eq!(micro("fcfs"), [1325, 1425, 2750, 2850]);
    assert_eq!(micro("read-first"), [1525, 100, 2850, 200]);
}

/// A-SLK-11: capacity 10, alpha 80: service order w0 w1 r0 r1 r2 w2 w3 ...
#[test]
fn a_slk_11_fill_trigger() {
    let mut config = unit_cycle(1);
    config.nand.program = Latency::Constant(Duration::from_ns(CYCLE));
    config.nand.iterations = 1;
    let pages: Vec<[u32; 1]> = (0..13).map(|p| [p]).collect();
    let lines: Vec<_> = pages.iter().enumerate().map(|(i, p)| (0, if i < 10 { Write } else { Read }, &p[..])).collect();
    let done = ends(&config, &recipe("fr-fcfs", &[("alpha", 80), ("write_capacity", 10)]), &lines);
    let cycles: Vec<u64> = done.iter().map(|ns| ns / CYCLE).collect();
    assert_eq!(cycles, [1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 3, 4, 5]);
}

/// D-SLK-16: a read of a waiting or running write is served from memory in 1 us; two writes of a page keep their order.
#[test]
fn hazards_of_one_page() {
    let config = table1(1, 1);
    let lines = [(0, Write, &[0u32][..]), (0, Write, &[0]), (10_000, Read, &[0]), (1_400_000, Read, &[0])];
    let done = ends(&config, &recipe("read-first", &[]), &lines);
    assert_eq!(done, [1_324_601, 2_649_202, 11_000, 1_401_000]);
}

/// Suspension at any instant: a read that comes while a program runs is served at once, and the program ends later by
/// that time.
#[test]
fn a_read_suspends_a_program() {
    let mut config = one_plane();
    let lines = [(0, Write, &[0u32][..]), (300_000, Read, &[1])];
    assert_eq!(ends(&config, &recipe("read-first-suspend", &[]), &lines), [1_324_601 + 99_601, 399_601]);
    config.nand.suspend = Duration::from_us(5);
    config.nand.resume = Duration::from_us(7);
    let overheads = ends(&config, &recipe("read-first-suspend", &[]), &lines);
    assert_eq!(overheads, [1_324_601 + 99_601 + 12_000, 399_601 + 5_000]);
    assert_eq!(ends(&config, &recipe("read-first", &[]), &lines), [1_324_601, 1_424_202]);
}

/// A read that comes during a program's data transfer or during an overhead is served as soon as the array can be
/// interrupted: at once, or at the end of the first iteration.
#[test]
fn a_read_that_came_before_the_array_began_suspends_it() {
    let mut config = one_plane();
    let lines = [(0, Write, &[0u32][..]), (10_000, Read, &[1])];
    assert_eq!(ends(&config, &recipe("read-first-suspend", &[]), &lines), [1_324_601 + 99_601, 24_601 + 99_601]);
    let at_boundaries = flashlane_sched::catalogue::Recipe {
        base: Some("fr-fcfs".to_owned()),
        answers: vec![(Question::Preempt, "pause-at-boundary".to_owned())],
        ..Default::default()
    };
    assert_eq!(ends(&config, &at_boundaries, &lines), [1_324_601 + 99_601, 24_601 + 65_000 + 99_601]);
    config.nand.resume = Duration::from_us(30);
    // The second comes during the overhead that the first has caused.
    let two = [(0, Write, &[0u32][..]), (10_000, Read, &[1]), (130_000, Read, &[2])];
    let resumed = 24_601 + 99_601 + 30_000;
    assert_eq!(ends(&config, &recipe("read-first-suspend", &[]), &two)[1..], [24_601 + 99_601, resumed + 99_601]);
}

/// A drive that pauses a command once at most: the second read waits until the program ends, which is later by the first read alone. A
/// read that comes during the pause still goes before the program resumes.
#[test]
fn a_program_is_paused_no_more_often_than_the_drive_can() {
    let mut config = one_plane();
    let lines = [(0, Write, &[0u32][..]), (300_000, Read, &[1]), (500_000, Read, &[2])];
    let rfs = recipe("read-first-suspend", &[]);
    let (once, twice) = (1_324_601 + 99_601, 1_324_601 + 2 * 99_601);
    assert_eq!(ends(&config, &rfs, &lines), [twice, 399_601, 599_601]);
    config.nand.suspend_limit = 2;
    assert_eq!(ends(&config, &rfs, &lines), [twice, 399_601, 599_601]);
    config.nand.suspend_limit = 1;
    assert_eq!(ends(&config, &rfs, &lines), [once, 399_601, once + 99_601]);
    let soon = [lines[0], lines[1], (390_000, Read, &[2][..])];
    assert_eq!(ends(&config, &rfs, &soon), [twice, 399_601, 399_601 + 99_601]);
    config.nand.suspend_limit = 0;
    assert_eq!(ends(&config, &rfs, &lines)[..2], [1_324_601, 1_324_601 + 99_601]);
    // At the ends of iterations: the unit is not asked again once the limit is reached.
    let mut boundary = recipe("fr-fcfs", &[]);
    boundary.answers.push((Question::Preempt, "pause-at-boundary".to_owned()));
    config.nand.suspend_limit = 1;
    assert_eq!(ends(&config, &boundary, &lines), [once, 24_601 + 5 * 65_000 + 99_601, once + 99_601]);
}

/// A program is not suspended when its remaining time is less than the overheads.
#[test]
fn a_pause_that_saves_nothing_is_not_made() {
    let mut config = one_plane();
    config.nand.suspend = Duration::from_us(20);
    config.nand.resume = Duration::from_us(20);
    let late = [(0, Write, &[0u32][..]), (1_324_601 - 40_000, Read, &[1])];
    assert_eq!(ends(&config, &recipe("read-first-suspend", &[]), &late), [1_324_601, 1_424_202]);
    let earlier = [(0, Write, &[0u32][..]), (1_324_601 - 40_001, Read, &[1])];
    assert_eq!(ends(&config, &recipe("read-first-suspend", &[]), &earlier)[1], 1_324_601 - 40_001 + 20_000 + 99_601);
}

/// Pausing at boundaries: iterations of 65 us from 24.601 us on (as A-SLK-14, with blind pausing).
#[test]
fn a_boundary_pause() {
    let config = one_plane();
    let mix = flashlane_sched::catalogue::Recipe {
        base: Some("fr-fcfs".to_owned()),
        answers: vec![(Question::Preempt, "pause-at-boundary".to_owned())],
        ..flashlane_sched::catalogue::Recipe::default()
    };
    let boundary = 24_601 + 5 * 65_000;
    let lines = [(0, Write, &[0u32][..]), (300_000, Read, &[1])];
    assert_eq!(ends(&config, &mix, &lines), [1_324_601 + 99_601, boundary + 99_601]);
    // A read that arrives exactly at a boundary is served at it (R-ORDER: boundaries are examined after arrivals).
    let at = [(0, Write, &[0u32][..]), (boundary, Read, &[1])];
    assert_eq!(ends(&config, &mix, &at)[1], boundary + 99_601);
    let after = [(0, Write, &[0u32][..]), (boundary + 1, Read, &[1])];
    assert_eq!(ends(&config, &mix, &after)[1], boundary + 65_000 + 99_601);
}

/// A write buffer answers at memory speed while it has space, and at flash speed when it is full.
#[test]
fn a_write_buffer() {
    let mut config = one_plane();
    config.buffer = Some(Buffer::plain(2, 2));
    let lines =
        [(0, Write, &[0u32][..]), (0, Write, &[1]), (0, Write, &[2]), (50_000, Read, &[1]), (50_000, Read, &[5])];
    let done = ends(&config, &recipe("read-first", &[]), &lines);
    // The third write waits until page 0 is programmed, then takes its slot.
    assert_eq!(done, [1_000, 1_000, 1_325_601, 51_000, 1_424_202]);
}

/// Reads of part of a page move only that part over the bus.
#[test]
fn part_of_a_page() {
    let config = table1(1, 1);
    let mut device = device(&config, &recipe("read-first", &[]));
    let extent = Extent::Bytes { offset: 4096, length: 4096 };
    let request = Request { id: RequestId(0), flow: FlowId(0), op: Read, fua: false, arrival: Time::ZERO, extent };
    device.submit(Time::ZERO, &request).unwrap();
    drain(&mut device);
    assert_eq!(device.completions()[0].done.ns(), 75_000 + 12_300);
}

/// The error of a drive out of space names the plane and the figures.
#[test]
fn out_of_space_is_an_error_not_a_hang() {
    let mut config = one_plane();
    config.geometry.blocks_per_plane = 8;
    config.ftl.logical_pages = 4 * 128;
    config.gc.start_blocks = 2;
    config.precondition = Precondition::Filled { per_mille: 1000 };
    let device = device(&config, &recipe("fr-fcfs", &[]));
    assert_eq!(device.fault(), None);
    // Four blocks of data in eight leave room for any number of overwrites.
    let mut device = device;
    let lines: Vec<(u64, flashlane_core::Op, Vec<u32>)> =
        (0..5000u64).map(|i| (i * 2_000_000, Write, vec![(i * 7919 % 512) as u32])).collect();
    let borrowed: Vec<_> = lines.iter().map(|(t, op, p)| (*t, *op, &p[..])).collect();
    scene(&mut device, &borrowed);
    device.check();
}

/// A write of high priority that waits for an older, low-priority write of its page must not block that write: the unit
/// would stay idle for ever.
#[test]
fn an_overwrite_of_higher_priority_lets_its_predecessor_go() {
    use flashlane_ssd::config::FlowConfig;
    let mut config = one_plane();
    config.priorities = 2;
    config.flows = vec![FlowConfig::at_priority(0), FlowConfig::at_priority(1)];
    for entry in flashlane_sched::catalogue::schedulers() {
        let mut device = device(&config, &recipe(entry.name, &[]));
        // The first write keeps the chip busy while the other two arrive.
        for (id, flow, page) in [(0, 0, 9), (1, 0, 5), (2, 1, 5)] {
            let extent = Extent::Pages(&[flashlane_core::Lpn(page)]);
            let request =
                Request { id: RequestId(id), flow: FlowId(flow), op: Write, fua: false, arrival: Time::ZERO, extent };
            device.submit(Time::ZERO, &request).unwrap();
            device.next_event();
        }
        drain(&mut device);
        let ends: Vec<u64> = device.completions().iter().map(|c| c.done.ns()).collect();
        // Where useless writes are cancelled the second is done with the third.
        let third = if entry.answers.cancel == "keep" { 3_973_803 } else { 2_649_202 };
        assert_eq!(ends, [1_324_601, 2_649_202, third], "{}", entry.name);
    }
}

/// Writes that must wait for older ones do not fill the window in which `largest-group` looks for groups: here the
/// older write of page 5 waits on the other chip, and page 9 is written meanwhile.
#[test]
fn blocked_writes_do_not_fill_the_window() {
    let mut config = table1(1, 2);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    let mut recipe = recipe("sprinkler", &[("group_window", 1)]);
    recipe.answers = vec![(Question::Place, "rotate".to_owned()), (Question::Preempt, "never".to_owned())];
    // The read keeps chip 0 behind chip 1; writes go to the chips in turn.
    let writes = [0u32, 1, 5, 5, 8, 9];
    let mut lines = vec![(0, Read, &[0u32][..])];
    lines.extend(writes.iter().map(|page| (1, Write, std::slice::from_ref(page))));
    let done = ends(&config, &recipe, &lines);
    let program = 24_601 + 1_300_000;
    assert_eq!(done[2], 1 + program, "page 1, at once on chip 1");
    assert_eq!(done[6], 1 + 2 * program, "page 9, next on chip 1");
    assert!(done[4] > done[6], "page 5 again");
}
