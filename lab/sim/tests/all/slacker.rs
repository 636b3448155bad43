//! Slacker, statement by statement (model 8.1): the paper's figures worked by hand, pauses, dynamic allocation, the
//! parameters. Properties of all scenes are in `slacker_laws.rs`.
//!
//! The arithmetic of the estimator (A-SLK-06 to 10) and insertion (A-SLK-05) are tested beside their code, the figures
//! also as files that users can run (`scenarios/golden`).

use crate::common::record::{Line, Record, collect_events, play_lines};
use crate::common::{CYCLE, device, drain, ends, recipe, scene, table1, unit_cycle};
use flashlane_core::Op::{self, Read, Write};
use flashlane_core::decide::Question;
use flashlane_core::event::Event;
use flashlane_core::transaction::Stage;
use flashlane_core::{Duration, Extent, FlowId, Lpn, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_sched::order::KnownResponses;
use flashlane_ssd::config::{Config, FlowConfig, Latency};

/// A-SLK-01, figure 2. Requests 12 and 13 are A and B.
#[test]
fn a_slk_01_figure_2() {
    let fillers = [1u32, 5, 9, 13, 17, 21, 25, 2, 6, 10, 14, 3];
    let mut lines: Vec<Line<'_>> = fillers.iter().map(|page| (0, Read, std::slice::from_ref(page))).collect();
    lines.push((0, Read, &[100, 101, 102]));
    lines.push((0, Read, &[106, 107]));
    let config = unit_cycle(4);
    let (_, plain) = play_lines(&config, &recipe("wp", &[]), &lines);
    assert_eq!((Record::of(&plain.done, 12), Record::of(&plain.done, 13)), (vec![1, 8, 5], vec![6, 2]));
    assert_eq!(Record::of(&plain.estimated, 12), [7, 0, 3]);
    let (_, rbyp) = play_lines(&config, &recipe("rbyp", &[]), &lines);
    assert_eq!((Record::of(&rbyp.done, 12), Record::of(&rbyp.done, 13)), (vec![1, 8, 6], vec![5, 2]));
    assert_eq!(Record::of(&rbyp.estimated, 12), [7, 0, 3]);
    assert_eq!(
        (Record::of(&rbyp.dispatched_slack, 12), Record::of(&rbyp.dispatched_slack, 13)),
        (vec![7, 0, 2], vec![0, 3])
    );
}

/// A-SLK-02, figure 6a. Requests 16 to 18 are RA, RB, RC; time 0 of the paper is cycle 2.
#[test]
fn a_slk_02_figure_6a() {
    let fillers = [1u32, 5, 9, 13, 17, 21, 2, 6, 10, 14, 3, 7, 11, 15, 19];
    let mut lines: Vec<Line<'_>> = vec![(0, Write, &[0])];
    lines.extend(fillers.iter().map(|page| (0, Read, std::slice::from_ref(page))));
    lines.extend([(2, Read, &[100u32, 101][..]), (2, Read, &[106, 104]), (2, Read, &[111, 108])]);
    let config = unit_cycle(4);
    let (done, plain) = play_lines(&config, &recipe("wp", &[]), &lines);
    let slacks = |list| [16, 17, 18].map(|request| Record::of(list, request));
    // By page: RA1, RA2; RB2 (page 104), RB1 (106); RC2 (108), RC1 (111).
    assert_eq!(slacks(&plain.estimated), [vec![2, 0], vec![0, 1], vec![0, 1]]);
    assert_eq!(done[16..].iter().map(|at| at - 2).collect::<Vec<_>>(), [5, 4, 5]);
    let (done, rbyp) = play_lines(&config, &recipe("rbyp", &[]), &lines);
    assert_eq!(done[16..].iter().map(|at| at - 2).collect::<Vec<_>>(), [5, 3, 4]);
    assert_eq!(done[0] - 2, 2, "WA1");
    let on_chip_1 = [17, 18, 16].map(|request| Record::of(&rbyp.done, request)[0] - 2);
    assert_eq!(on_chip_1, [3, 4, 5], "RB2, RC2, RA1");
    assert_eq!(slacks(&rbyp.dispatched_slack), [vec![0, 0], vec![0, 0], vec![0, 0]]);
}

/// A-SLK-03, figure 6b. Requests 9 and 10 are WB and WC; time 0 of the paper is cycle 3.
#[test]
fn a_slk_03_figure_6b() {
    let fillers = [1u32, 5, 9, 13, 17, 21, 25, 29];
    let mut lines: Vec<Line<'_>> = vec![(0, Write, &[0])];
    lines.extend(fillers.iter().map(|page| (0, Read, std::slice::from_ref(page))));
    lines.extend([(3, Write, &[101u32, 100, 102][..]), (4, Write, &[104])]);
    let config = unit_cycle(4);
    let (done, plain) = play_lines(&config, &recipe("wp", &[]), &lines);
    // By page: WB2 (page 100), WB1 (101), WB3 (102): estimates 5, 9, 4.
    assert_eq!(Record::of(&plain.estimated, 9), [4, 0, 5]);
    assert_eq!((done[9] - 3, done[10] - 4), (9, 8));
    for name in ["wbyp", "slacker"] {
        let (done, wbyp) = play_lines(&config, &recipe(name, &[]), &lines);
        assert_eq!((done[9] - 3, done[10] - 4), (9, 4), "{name}");
        assert_eq!(Record::of(&wbyp.done, 9).iter().map(|at| at - 3).collect::<Vec<_>>(), [9, 9, 4], "{name}");
        assert_eq!((done[0] - 3, done[10] - 3), (1, 5), "{name}: WA1, WC1");
    }
}

/// A-SLK-04, figure 6c. Requests 6 to 8 are WB, RA, RB; time 0 of the paper is cycle 1.
#[test]
fn a_slk_04_figure_6c() {
    let fillers = [3u32, 7, 11, 15, 19];
    let mut lines: Vec<Line<'_>> = vec![(0, Write, &[0])];
    lines.extend(fillers.iter().map(|page| (0, Read, std::slice::from_ref(page))));
    lines.extend([(1, Write, &[103u32, 101, 102][..]), (2, Read, &[110, 108]), (2, Read, &[114])]);
    let config = unit_cycle(4);
    // RA1, RA2, RB1, WB3, WB1, WA1.
    let times = |record: &Record| {
        let of = |request, place: usize| Record::of(&record.done, request)[place] - 1;
        [of(7, 1), of(7, 0), of(8, 0), of(6, 1), of(6, 2), of(0, 0)]
    };
    let (base, plain) = play_lines(&config, &recipe("fr-fcfs", &[]), &lines);
    assert_eq!(times(&plain), [5, 4, 6, 4, 8, 3]);
    for name in ["wp", "slacker"] {
        let mut device = device(&config, &recipe(name, &[]));
        device.report_events();
        let scaled: Vec<_> = lines.iter().map(|&(at, op, pages)| (at * CYCLE, op, pages)).collect();
        let done: Vec<u64> = scene(&mut device, &scaled).iter().map(|c| c.done.ns() / CYCLE).collect();
        let left = device.board().txns.iter().find(|txn| txn.lpn == Lpn(102)).expect("WB3").slack;
        let record = collect_events(&mut device, CYCLE);
        assert_eq!(times(&record), [2, 4, 3, 6, 8, 3], "{name}");
        // By page: WB2 (page 101), WB3 (102), WB1 (103).
        assert_eq!(Record::of(&record.estimated, 6), [4, 4, 0], "{name}");
        assert_eq!((record.pauses, left.ns() / CYCLE), (1, 2), "{name}");
        let gain: Vec<u64> = base.iter().zip(&done).map(|(base, done)| base - done).collect();
        assert_eq!(gain[6..], [0, 1, 3], "{name}: WB, RA, RB");
        assert_eq!(gain[0], 0, "{name}: WA");
    }
}

/// A-SLK-13: the table that dynamic allocation needs, 7 bits per page.
#[test]
fn a_slk_13_redirection_table() {
    let scenario = flashlane_scenario::Scenario::parse(
        "table-1",
        "device = \"slacker-asplos17\"\n[[flow]]\nname = \"x\"\nrequest = [{ at_ns = 0, op = \"read\", pages = [0] }]"
            .into(),
    );
    let g = scenario.expect("a scenario").device_config().expect("the paper's device").geometry;
    let pages = u64::from(g.planes()) * u64::from(g.pages_per_plane());
    let bits = u64::from(g.planes().ilog2());
    assert_eq!((pages, bits), (134_217_728, 7));
    let bytes = pages * bits / 8;
    assert_eq!(bytes, 117_440_512);
    assert_eq!((bytes * 10_000).div_ceil(512_000_000), 2_294, "22.94 % of 512 MB");
}

/// Two channels of one chip, read 75 us, program 20 iterations of 65 us, 25 us per page on the bus, exactly.
fn round_times() -> Config {
    let mut config = table1(2, 1);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    (config.geometry.page_bytes, config.bus.mega_transfers) = (12_800, 512);
    config
}

/// A write of pages 0 and 1 at `at` us whose page on chip 1 waits for `reads` earlier ones there; then a read of chip 0 at
/// `read_at`. Instants in us at which that read and page 0 are done, and the slack page 0 had and has left.
fn pause(config: &Config, reads: u32, at: u64, read_at: u64) -> (u64, u64, u64, u64) {
    let mut device = device(config, &recipe("wp", &[]));
    device.report_events();
    let fillers: Vec<u32> = (0..reads).map(|i| 1001 + 2 * i).collect();
    let mut lines: Vec<Line<'_>> = fillers.iter().map(|page| (0, Read, std::slice::from_ref(page))).collect();
    lines.push((at * 1000, Write, &[0, 1]));
    lines.push((read_at * 1000, Read, &[500]));
    let done = scene(&mut device, &lines);
    let left = device.board().txns.iter().find(|t| t.lpn == Lpn(0) && t.stage == Stage::Free).expect("page 0").slack;
    let record = collect_events(&mut device, 1000);
    let write = u64::from(reads);
    let read = done.last().expect("some").done.ns() / 1000;
    (read - at, Record::of(&record.done, write)[0] - at, Record::of(&record.estimated, write)[0], left.ns() / 1000)
}

/// A-SLK-14: slack 500, a read at 300: pause at the boundary 350.
#[test]
fn a_slk_14_a_pause_in_real_time() {
    let mut config = round_times();
    assert_eq!(pause(&config, 5, 0, 300), (450, 1425, 500, 400));
    (config.nand.suspend, config.nand.resume) = (Duration::from_us(5), Duration::from_us(5));
    assert_eq!(pause(&config, 5, 0, 300), (455, 1435, 500, 390));
}

/// A-SLK-15: with a slack of 80 there is no pause.
#[test]
fn a_slk_15_too_little_slack() {
    assert_eq!(pause(&round_times(), 1, 20, 320), (1425, 1325, 80, 80));
}

/// A program whose slack is exactly the 100 us of a read is paused, and with a microsecond less it is not; likewise
/// with the overheads of the pause added.
#[test]
fn slack_that_is_just_enough() {
    let mut config = round_times();
    assert_eq!(pause(&config, 1, 0, 300), (450, 1425, 100, 0));
    assert_eq!(pause(&config, 1, 1, 301), (1425, 1325, 99, 99));
    (config.nand.suspend, config.nand.resume) = (Duration::from_us(5), Duration::from_us(5));
    assert_eq!(pause(&config, 2, 90, 390), (455, 1435, 110, 0));
    assert_eq!(pause(&config, 2, 91, 391), (1425, 1325, 109, 109));
}

/// A pause is charged to every program of the command: on a chip of two planes, of a write whose third page waits for 2 ms
/// elsewhere. The first program has 2,000 us to spare and the second, behind it, 675 (D-SLK-04 counts it), each 100 less after.
#[test]
fn every_program_of_a_command_pays_for_its_pause() {
    let mut config = table1(2, 1);
    (config.geometry.page_bytes, config.bus.mega_transfers) = (12_800, 512);
    let mut device = device(&config, &recipe("wp", &[]));
    let fillers: Vec<u32> = (0..20).map(|i| 1001 + 2 * i).collect();
    let mut lines: Vec<Line<'_>> = fillers.iter().map(|page| (0, Read, std::slice::from_ref(page))).collect();
    lines.push((0, Write, &[0, 2, 1]));
    lines.push((300_000, Read, &[500]));
    let done = scene(&mut device, &lines);
    assert_eq!(done[21].done.ns(), (50 + 4 * 65 + 100) * 1000);
    let slack = [0, 2].map(|page| {
        let txn = device.board().txns.iter().find(|t| t.lpn == Lpn(page) && t.stage == Stage::Free);
        txn.expect("it was written").slack.ns() / 1000
    });
    assert_eq!(slack, [1_900, 575]);
}

/// In a queue of hundreds, too, a transaction is charged every time it is passed.
///
/// At 0 chip 1 has 1,000 reads to do. Then come 300 requests of a page on each chip. On chip 1 the i-th (from 0) waits
/// for 1,000 + i; on chip 0 it passes all before it, so that its slack there is 1,000 + i. The 299 - i that come later
/// pass it, for a cycle each, and it is done in cycle 300 - i.
#[test]
fn who_is_passed_pays_in_a_long_queue() {
    let pages: Vec<[u32; 2]> = (0..300).map(|i| [2 * i, 2 * i + 1]).collect();
    let fillers: Vec<u32> = (0..1_000).map(|i| 2 * (300 + i) + 1).collect();
    let mut lines: Vec<Line<'_>> = fillers.iter().map(|page| (0, Read, std::slice::from_ref(page))).collect();
    lines.extend(pages.iter().map(|pages| (0, Read, &pages[..])));
    let (_, record) = play_lines(&unit_cycle(2), &recipe("rbyp", &[]), &lines);
    for i in 0..300 {
        let of = |list| Record::of(list, 1_000 + i)[0];
        assert_eq!((of(&record.estimated), of(&record.done)), (1_000 + i, 300 - i), "request {i}");
        assert_eq!(of(&record.dispatched_slack), 1_000 + i - (299 - i), "request {i}");
    }
}

/// Transactions that passed others report it when they are done: in figure 2 one read of B's, and none in order of
/// arrival.
#[test]
fn who_jumped_is_marked() {
    let fillers = [1u32, 5, 9, 13, 17, 21, 25, 2, 6, 10, 14, 3];
    let mut lines: Vec<Line<'_>> = fillers.iter().map(|page| (0, Read, std::slice::from_ref(page))).collect();
    lines.push((0, Read, &[100, 101, 102]));
    lines.push((0, Read, &[106, 107]));
    for (scheduler, expected) in [("rbyp", vec![13]), ("wp", vec![])] {
        let done = scene(&mut device(&unit_cycle(4), &recipe(scheduler, &[])), &lines);
        let jumped = done.iter().filter(|c| c.tags & flashlane_core::transaction::tag::JUMPED != 0);
        assert_eq!(jumped.map(|c| c.id.0).collect::<Vec<_>>(), expected, "{scheduler}");
    }
}

/// Where Slacker spends a page's slack on a request that gains nothing by it, bypass by need keeps it for one that does (model 1.1.9).
///
/// All arrive at 0: fillers of one page, two for chip 0 and three for chip 1, then A = {A0 -> 0, A1 -> 1}, which ends at 4 and whose A0 can
/// spare 1, B = {B0 -> 0, B1 -> 1}, which ends at 5 whatever B0 does, and C = {C0 -> 0}.
#[test]
fn need_keeps_slack_for_those_that_gain() {
    let fillers = [0u32, 2, 1, 3, 5];
    let mut lines: Vec<Line<'_>> = fillers.iter().map(|page| (0, Read, std::slice::from_ref(page))).collect();
    lines.extend([(0, Read, &[100, 101][..]), (0, Read, &[102, 103]), (0, Read, &[104])]);
    for (name, ends, slack_of_a) in
        [("fr-fcfs", [4, 5, 5], None), ("slacker", [4, 5, 5], Some([0, 0])), ("need", [4, 5, 3], Some([0, 0]))]
    {
        let (done, record) = play_lines(&unit_cycle(2), &recipe(name, &[]), &lines);
        assert_eq!(done[5..], ends, "{name}");
        if let Some(slack) = slack_of_a {
            assert_eq!(Record::of(&record.dispatched_slack, 5), slack, "{name}");
        }
    }
}

/// A-SLK-19: bound at dispatch, writes of one home spread over the chips.
#[test]
fn a_slk_19_dynamic_allocation_at_dispatch() {
    let config = unit_cycle(3);
    let lines: Vec<Line<'_>> = vec![(0, Write, &[0]), (0, Write, &[3]), (0, Write, &[6]), (0, Write, &[9])];
    let (done, _) = play_lines(&config, &recipe("fr-fcfs", &[]), &lines);
    assert_eq!(done, [4, 8, 12, 16]);
    for name in ["dynalloc", "dynalloc+slacker"] {
        let mut device = device(&config, &recipe(name, &[]));
        device.report_events();
        let scaled: Vec<_> = lines.iter().map(|&(at, op, pages)| (at, op, pages)).collect();
        let done: Vec<u64> = scene(&mut device, &scaled).iter().map(|c| c.done.ns() / CYCLE).collect();
        assert_eq!(done, [4, 4, 4, 8], "{name}");
        let chips = device.events().drain(..).filter_map(|s| match s.event {
            Event::Mapped { plane, .. } => Some(plane.0),
            _ => None,
        });
        assert_eq!(chips.collect::<Vec<_>>(), [0, 1, 2, 0], "{name}");
        device.check();
    }
}

/// Channels come first in turn, then chips; a chip with a read waiting takes no write.
#[test]
fn dynamic_allocation_takes_channels_in_turn_and_leaves_reads_alone() {
    let mut config = unit_cycle(2);
    config.geometry.channels = 2;
    config.ftl.logical_pages = config.geometry.planes() * config.geometry.pages_per_plane() / 2;
    // Page 1 lies on channel 1, chip 0: planes are numbered channel by channel, so that is plane 2.
    let mut device = device(&config, &recipe("dynalloc", &[]));
    device.report_events();
    let lines: Vec<Line<'_>> =
        vec![(0, Read, &[1]), (0, Write, &[10]), (0, Write, &[20]), (0, Write, &[30]), (0, Write, &[40])];
    scene(&mut device, &lines);
    let chips = device.events().drain(..).filter_map(|s| match s.event {
        Event::Mapped { plane, .. } => Some((s.at.ns() / CYCLE, plane.0)),
        _ => None,
    });
    assert_eq!(chips.collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 3), (1, 2)]);
}

/// The time of decisions is added to every command on its way in, and to nothing else.
#[test]
fn a_decision_takes_its_time() {
    let config = table1(2, 2);
    let lines: Vec<Line<'_>> = vec![(0, Read, &[0]), (0, Write, &[1]), (700_000, Read, &[5])];
    let at_once = ends(&config, &recipe("slacker", &[]), &lines);
    let later = ends(&config, &recipe("slacker", &[("decision_ns", 1000)]), &lines);
    assert_eq!(later, at_once.iter().map(|end| end + 1000).collect::<Vec<_>>());
}

/// D-SLK-11: a read that arrives takes its service time from the slack of every waiting write of its chip, down to
/// zero.
#[test]
fn reads_may_be_charged_to_waiting_writes() {
    let config = unit_cycle(2);
    // Chip 1 is busy for 9 cycles, chip 0 for 4: the second write of chip 0 has a slack.
    let lines: Vec<Line<'_>> = vec![
        (0, Write, &[0]),
        (0, Read, &[11]),
        (0, Read, &[13]),
        (0, Read, &[15]),
        (0, Read, &[17]),
        (0, Read, &[19]),
        (0, Read, &[21]),
        (0, Write, &[2, 3]),
        (1, Read, &[4]),
        (2, Read, &[6]),
        (2, Read, &[8]),
    ];
    let slack_left = |params: &[(&str, u64)]| {
        let (_, record) = play_lines(&config, &recipe("wbyp", params), &lines);
        (Record::of(&record.estimated, 7), Record::of(&record.dispatched_slack, 7))
    };
    // Page 2 waits for the four cycles of page 0 (which has not begun: it is in the queue before it), page 3 for six
    // reads.
    assert_eq!(slack_left(&[]), (vec![2, 0], vec![2, 0]));
    assert_eq!(slack_left(&[("charge_reads", 1)]), (vec![2, 0], vec![0, 0]));
    // Of whatever priority the writes are, where the pick decision keeps priorities apart.
    let slack_at = |priority, charge_reads| {
        let mut config = config.clone();
        (config.priorities, config.flows) = (2, vec![FlowConfig::at_priority(priority)]);
        let answers = vec![(Question::Pick, "wait-balanced".to_owned())];
        let recipe = Recipe { answers, ..recipe("wbyp", &[("charge_reads", charge_reads)]) };
        Record::of(&play_lines(&config, &recipe, &lines).1.dispatched_slack, 7)
    };
    assert_eq!([0, 1].map(|priority| slack_at(priority, 0)), [[2, 0], [2, 0]]);
    assert_eq!([0, 1].map(|priority| slack_at(priority, 1)), [[0, 0], [0, 0]]);
    // Writes that arrive take nothing.
    let mut writes = lines.clone();
    writes[8..].iter_mut().for_each(|line| line.1 = Write);
    let (_, record) = play_lines(&config, &recipe("wbyp", &[("charge_reads", 1), ("wbyp", 0)]), &writes);
    assert_eq!(Record::of(&record.dispatched_slack, 7), [2, 0]);
}

/// Slack from the baseline's true response times instead of estimates.
#[test]
fn an_oracle_believes_what_it_is_told() {
    let fillers = [1u32, 5, 9, 13, 17, 21, 25, 2, 6, 10, 14, 3];
    let mut lines: Vec<Line<'_>> = fillers.iter().map(|page| (0, Read, std::slice::from_ref(page))).collect();
    lines.push((0, Read, &[100, 101, 102]));
    lines.push((0, Read, &[106, 107]));
    let config = unit_cycle(4);
    let cycles = |n| Duration::from_ns(n * CYCLE);
    let record = |times: [u64; 3]| {
        let entries = [100, 101, 102].iter().zip(times).map(|(&page, n)| (RequestId(12), Lpn(page), cycles(n)));
        let known = Some(std::sync::Arc::new(KnownResponses::new(entries.collect())));
        play_lines(&config, &Recipe { known, ..recipe("oracle-slack", &[]) }, &lines).1
    };
    // The truth: as by estimate. Record that A2 has no slack, it is not passed.
    assert_eq!(Record::of(&record([1, 8, 5]).done, 13), [5, 2]);
    let wrong = record([1, 5, 8]);
    assert_eq!((Record::of(&wrong.estimated, 12), Record::of(&wrong.done, 13)), (vec![7, 3, 0], vec![6, 2]));
}

/// A write never passes an older write of its page, whatever slack that has.
#[test]
fn writes_of_a_page_keep_their_order() {
    let mut config = unit_cycle(2);
    config.nand.program = Latency::Constant(Duration::from_ns(CYCLE));
    // On chip 0 the first write of page 2 has a slack of 3 and that of page 4, which passes it, one of 4. The second write
    // of page 2 finds 2 left of the first's, enough to pass it were it of another page; behind it nothing can be passed.
    let lines: Vec<Line<'_>> = vec![
        (0, Write, &[0]),
        (0, Write, &[1]),
        (0, Write, &[3]),
        (0, Write, &[5]),
        (0, Write, &[7]),
        (0, Write, &[2, 9]),
        (0, Write, &[4, 11]),
        (0, Write, &[2]),
        (0, Write, &[4]),
    ];
    let (_, record) = play_lines(&config, &recipe("wbyp", &[]), &lines);
    let of = |request| Record::of(&record.done, request)[0];
    assert_eq!([5, 7, 6, 8].map(of), [3, 4, 2, 5]);
}

/// With `charge_reads` a read takes its service time from the slack of the writes that wait for its chip, on every level. Writes of the
/// higher level: page 0 on chip 0, 1 and 3 on chip 1, then 2 and 5 of one request, which have 8 and 12 cycles to go; so page 2 has a
/// slack of 4, of which the read of the lower level takes 1.
#[test]
fn reads_are_charged_to_writes_of_every_level() {
    let mut config = unit_cycle(2);
    (config.priorities, config.flows) = (2, vec![FlowConfig::at_priority(0), FlowConfig::at_priority(1)]);
    for (charge_reads, left) in [(0, 4), (1, 3)] {
        let params = [("charge_reads", charge_reads), ("rbyp", 0), ("wbyp", 0)];
        let answers = vec![(Question::Pick, "wait-balanced".to_owned())];
        let mut device = device(&config, &Recipe { answers, ..recipe("slacker", &params) });
        device.report_events();
        let lines: [(u64, u16, Op, &[u32]); 5] =
            [(0, 1, Write, &[0]), (0, 1, Write, &[1]), (0, 1, Write, &[3]), (0, 1, Write, &[2, 5]), (1, 0, Read, &[4])];
        for (id, &(at, flow, op, pages)) in lines.iter().enumerate() {
            let arrival = Time::from_ns(at * CYCLE);
            device.advance(arrival);
            let list: Vec<Lpn> = pages.iter().copied().map(Lpn).collect();
            let (id, extent) = (RequestId(id as u64), Extent::Pages(&list));
            device
                .submit(arrival, &Request { id, flow: FlowId(flow), op, fua: false, arrival, extent })
                .expect("within the drive");
        }
        drain(&mut device);
        let record = collect_events(&mut device, CYCLE);
        assert_eq!(Record::of(&record.estimated, 3), [4, 0], "charge_reads {charge_reads}");
        assert_eq!(Record::of(&record.dispatched_slack, 3), [left, 0], "charge_reads {charge_reads}");
    }
}
