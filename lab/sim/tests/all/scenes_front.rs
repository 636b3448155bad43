//! Commands before they reach a unit, with exact times: which comes next, and writes that younger ones replace.

use crate::common::{device, drain, one_plane, recipe, table1};
use flashlane_core::Op::{self, Read, Write};
use flashlane_core::decide::Question;
use flashlane_core::{Duration, Extent, FlowId, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::Totals;
use flashlane_ssd::config::{Buffer, BufferOrder, Config, Controller, FlowConfig, Protocol};

/// A whole read and a whole write, ns.
const READ: u64 = 99_601;
const WRITE: u64 = 1_324_601;
const PAGE: u64 = 8192;

/// A request: arrival ns, flow, operation, bytes from the page's beginning, page.
type Line = (u64, u16, Op, u64, u64);

/// When each request was done, and the device's totals.
fn play(config: &Config, recipe: &Recipe, lines: &[Line]) -> (Vec<u64>, Totals) {
    let mut device = device(config, recipe);
    for (id, &(at, flow, op, length, page)) in lines.iter().enumerate() {
        let arrival = Time::from_ns(at);
        device.advance(arrival);
        let extent = Extent::Bytes { offset: page * PAGE, length };
        let request = Request { id: RequestId(id as u64), flow: FlowId(flow), op, fua: false, arrival, extent };
        device.submit(arrival, &request).expect("within the drive");
    }
    drain(&mut device);
    device.check();
    let mut done = std::mem::take(device.completions());
    done.sort_by_key(|c| c.id);
    (done.iter().map(|c| c.done.ns()).collect(), device.totals())
}

/// `read-first` with this answer to this question.
fn with(question: Question, answer: &str) -> Recipe {
    Recipe { answers: vec![(question, answer.to_owned())], ..recipe("read-first", &[]) }
}

/// A device that takes one command at a time: with NVMe from each flow's queue in turn, with SATA the oldest.
#[test]
fn whose_command_comes_next() {
    let mut config = one_plane();
    config.flows = vec![FlowConfig::at_priority(0); 3];
    config.front.in_flight = 1;
    let line = |flow| (0, flow, Read, PAGE, u64::from(flow));
    let lines = [2, 0, 0, 0, 1, 2].map(line);
    let of = |protocol| {
        let config = Config { front: flashlane_ssd::config::Front { protocol, ..config.front }, ..config.clone() };
        play(&config, &recipe("read-first", &[]), &lines).0
    };
    assert_eq!(of(Protocol::Nvme { depth: 9 }), [1, 2, 5, 6, 3, 4].map(|n| n * READ));
    assert_eq!(of(Protocol::Sata { depth: 9 }), [1, 2, 3, 4, 5, 6].map(|n| n * READ));
}

/// By weight: two flows of level 0 have a fetch each, one of level 1 has two, and so on; all have commands waiting.
#[test]
fn flows_of_a_level_share_its_fetches() {
    let mut config = one_plane();
    config.flows = [0, 0, 1].map(FlowConfig::at_priority).to_vec();
    config.priorities = 2;
    config.front.in_flight = 1;
    let lines: Vec<Line> = (0..18).map(|i| (0, i % 3, Read, PAGE, u64::from(i))).collect();
    let (done, _) = play(&config, &with(Question::Admit, "weighted-round-robin"), &lines);
    let mut order: Vec<(u64, u16)> = done.iter().zip(&lines).map(|(&done, line)| (done, line.1)).collect();
    order.sort_unstable();
    // The first had entered before the others arrived.
    let flows: Vec<u16> = order.iter().map(|&(_, flow)| flow).collect();
    let fetched = |flow: u16, of: usize| flows[1..=of].iter().filter(|&&f| f == flow).count();
    for rounds in 1..=3 {
        let counts = [0, 1, 2].map(|flow| fetched(flow, 3 * rounds));
        assert_eq!((counts[2], counts[0] + counts[1]), (2 * rounds, rounds), "{flows:?}");
        assert!(counts[0].abs_diff(counts[1]) <= 1, "flows of a level in turn: {flows:?}");
    }
}

/// A younger write takes the place of a waiting write of its page, at the tail; the older completes with it. A running
/// write is not replaced.
#[test]
fn a_waiting_write_is_replaced() {
    let write = |at, page| (at, 0, Write, PAGE, page);
    let lines = [write(0, 9), write(1, 5), write(2, 6), write(3, 5), write(4, 5), write(5, 7)];
    let (done, totals) = play(&one_plane(), &with(Question::Cancel, "overwrite"), &lines);
    assert_eq!(done, [1, 3, 2, 3, 3, 4].map(|n| n * WRITE));
    assert_eq!((totals.cancelled, totals.user_programs), (2, 4));
    let (done, totals) = play(&one_plane(), &with(Question::Cancel, "keep"), &lines);
    assert_eq!(done, [1, 2, 3, 4, 5, 6].map(|n| n * WRITE));
    assert_eq!((totals.cancelled, totals.user_programs), (0, 6));
    let (done, totals) = play(&one_plane(), &with(Question::Cancel, "overwrite"), &[write(0, 5), write(WRITE - 1, 5)]);
    assert_eq!((done, totals.cancelled), (vec![WRITE, 2 * WRITE], 0));
}

/// A write that takes another's place waits for the older write that the other waited for: here one of part of the
/// page, whose rest is read first.
#[test]
fn who_replaces_a_write_waits_for_what_it_waited_for() {
    let mut config = one_plane();
    config.ftl.read_modify_write = true;
    let lines = [(0, 0, Write, 2048, 5), (1, 0, Write, PAGE, 5), (2, 0, Write, PAGE, 5)];
    let (done, totals) = play(&config, &with(Question::Cancel, "overwrite"), &lines);
    assert_eq!(done, [READ + WRITE, READ + 2 * WRITE, READ + 2 * WRITE]);
    assert_eq!((totals.cancelled, totals.partial_reads, totals.user_programs), (1, 1, 2));
}

/// A write takes the place of the one it replaces only on its own level. The younger write of page 5 is of the higher level, where it
/// goes first; in the place of the older one it would go after that of page 7.
#[test]
fn a_write_of_another_level_does_not_take_the_place() {
    let mut config = one_plane();
    (config.priorities, config.flows) = (2, vec![FlowConfig::at_priority(0), FlowConfig::at_priority(1)]);
    let answers = [(Question::Pick, "wait-balanced"), (Question::Cancel, "overwrite")];
    let answers = answers.map(|(question, answer)| (question, answer.to_owned())).to_vec();
    let inherits = Recipe { answers, ..recipe("read-first", &[("cancel_inherit_place", 1)]) };
    let write = |at, flow, page| (at, flow, Write, PAGE, page);
    let (done, totals) = play(&config, &inherits, &[write(0, 0, 9), write(1, 0, 7), write(2, 0, 5), write(3, 1, 5)]);
    assert_eq!(done, [1, 3, 2, 2].map(|n| n * WRITE));
    assert_eq!(totals.cancelled, 1);
    // On one level it goes where the older one stood: second of three, not last.
    let (done, _) = play(&config, &inherits, &[write(0, 0, 9), write(1, 0, 5), write(2, 0, 7), write(3, 0, 5)]);
    assert_eq!(done, [1, 2, 3, 2].map(|n| n * WRITE));
}

/// The controller takes 4 us for a write and 2 us for a read, and 1 us more for a page. With one core commands wait for it in the order in which
/// they have come; of two cores the one that is free first takes the next, and a short command passes a long one.
#[test]
fn the_controller_takes_commands_in_turn() {
    let mut config = one_plane();
    config.buffer = Some(Buffer::plain(64, 64));
    let us = |time: [u64; 2]| time.map(Duration::from_us);
    config.front.controller = Controller { cores: 1, command: us([2, 4]), page: us([1, 1]) };
    let fifo = recipe("read-first", &[]);
    // The memory serves all of it, each in 1 us.
    let lines = [(0, 0, Write, 2 * PAGE, 0), (0, 0, Write, PAGE, 4), (0, 0, Read, PAGE, 0), (9_000, 0, Read, PAGE, 1)];
    assert_eq!(play(&config, &fifo, &lines).0, [7_000, 12_000, 15_000, 18_000]);
    config.front.link_latency = Duration::from_us(10);
    assert_eq!(play(&config, &fifo, &lines[..2]).0, [27_000, 32_000], "10 us of the link each way");
    config.front.link_latency = Duration::ZERO;
    config.front.controller.cores = 2;
    // The second core does the second write until 5 us and the read until 8; the first is free at 6 and takes the last at 9.
    assert_eq!(play(&config, &fifo, &lines).0, [7_000, 6_000, 9_000, 13_000]);
    // A trim takes the controller no time, and is behind what has come before it: the write leaves the controller at 6 us.
    for cores in [1, 2] {
        config.front.controller.cores = cores;
        assert_eq!(play(&config, &fifo, &[lines[0], (0, 0, Op::Trim, PAGE, 9)]).0, [7_000, 6_000]);
    }
}

/// 300 writes that come at once leave the controller at its rate: one in 4,166 ns, 240,000 a second.
#[test]
fn the_controller_limits_commands_a_second() {
    let mut config = one_plane();
    config.buffer = Some(Buffer::plain(512, 512));
    config.front.controller.command[1] = Duration::from_ns(4_166);
    let lines: Vec<Line> = (0..300).map(|page| (0, 0, Write, PAGE, page)).collect();
    let ends = play(&config, &recipe("read-first", &[]), &lines).0;
    assert!(ends.iter().zip(1..).all(|(&end, n)| end == n * 4_166 + 1_000));
}

/// A buffer of one page: the second write waits until the first has been programmed, the third until the second has. Reads of the other chip wait
/// with the writes before them where they share their order, and find what these have stored.
#[test]
fn reads_wait_behind_writes_without_space() {
    let mut config = table1(1, 2);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    config.buffer = Some(Buffer::plain(1, 0));
    let at = |at, op, page| (at, 0, op, PAGE, page);
    let lines = [
        at(0, Write, 0),
        at(5_000, Read, 1),
        at(10_000, Write, 2),
        at(200_000, Read, 1),
        at(210_000, Read, 2),
        at(300_000, Write, 4),
        at(400_000, Read, 3),
    ];
    let fifo = recipe("read-first", &[]);
    let writes = [1_000, WRITE + 1_000, 2 * WRITE + 1_000];
    let by_kind = play(&config, &fifo, &lines).0;
    assert_eq!([by_kind[0], by_kind[2], by_kind[5]], writes);
    assert_eq!(
        [by_kind[1], by_kind[3], by_kind[4], by_kind[6]],
        [5_000 + READ, 200_000 + READ, 211_000, 400_000 + READ]
    );
    config.front.order = BufferOrder::Shared;
    let shared = play(&config, &fifo, &lines).0;
    assert_eq!([shared[0], shared[2], shared[5]], writes);
    assert_eq!(
        [shared[1], shared[3], shared[4], shared[6]],
        [5_000 + READ, WRITE + READ, WRITE + 1_000, 2 * WRITE + READ]
    );
    // A flow with a part of its own waits for no write of another.
    config.flows = vec![FlowConfig::at_priority(0); 2];
    config.buffer = Some(Buffer { per_flow: true, ..Buffer::plain(2, 0) });
    let lines = [lines[0], lines[2], (200_000, 1, Read, PAGE, 1)];
    assert_eq!(play(&config, &fifo, &lines).0, [1_000, WRITE + 1_000, 200_000 + READ]);
}

/// A trim of all that the first write waits for lets the read behind it go.
#[test]
fn a_trim_lets_reads_go_that_wait_behind_a_write() {
    let mut config = table1(1, 2);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    config.buffer = Some(Buffer::plain(1, 0));
    config.front.order = BufferOrder::Shared;
    let lines = [
        (0, 0, Write, PAGE, 0),
        (10_000, 0, Write, PAGE, 2),
        (200_000, 0, Read, PAGE, 1),
        (300_000, 0, Op::Trim, PAGE, 2),
    ];
    assert_eq!(play(&config, &recipe("read-first", &[]), &lines).0, [1_000, 300_000, 300_000 + READ, 300_000]);
}
