//! Every reason for which a unit, or the admission of commands, must decide again: a scene each, with exact times. Were the
//! reason forgotten, something in its scene would never happen, or happen later.
//!
//! Each scene is played with the event log and without, since a device that is not watched takes shorter ways. The auditor
//! has a rule of its own for the same fault (`NotIdle`), which holds everywhere else.

mod common;

use common::{CYCLE, device, drain, one_plane, recipe, table1, unit_cycle};
use flashlane_core::Op::{self, Read, Write};
use flashlane_core::event::Event;
use flashlane_core::{Duration, Extent, FlowId, Lpn, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::*;

/// A page over the bus, an array's read, a whole read, a whole write (Table 1 of Slacker and FLIN), ns.
const BUS: u64 = 24_601;
const ARRAY: u64 = 75_000;
const READ: u64 = ARRAY + BUS;
const WRITE: u64 = BUS + 1_300_000;

/// A request: arrival ns, flow, operation, pages.
type Line<'a> = (u64, u16, Op, &'a [u32]);

/// A device that has been handed these requests and has lived to the end.
fn lived(config: &Config, recipe: &Recipe, lines: &[Line<'_>], watched: bool) -> flashlane_ssd::Device {
    let mut device = device(config, recipe);
    if watched {
        device.report_events();
    }
    for (id, &(at, flow, op, pages)) in lines.iter().enumerate() {
        let arrival = Time::from_ns(at);
        device.advance(arrival);
        let pages: Vec<Lpn> = pages.iter().copied().map(Lpn).collect();
        // One page as bytes: such a request may be its transaction.
        let page = u64::from(config.geometry.page_bytes);
        let extent = match pages[..] {
            [one] => Extent::Bytes { offset: u64::from(one.0) * page, length: page },
            _ => Extent::Pages(&pages),
        };
        let request = Request { id: RequestId(id as u64), flow: FlowId(flow), op, arrival, extent };
        device.submit(arrival, &request).expect("within the drive");
    }
    drain(&mut device);
    device.check();
    device
}

/// When each request was done, watched or not.
fn ends(config: &Config, recipe: &Recipe, lines: &[Line<'_>]) -> Vec<u64> {
    let [quiet, watched] = [false, true].map(|watched| {
        let mut done = std::mem::take(lived(config, recipe, lines, watched).completions());
        assert_eq!(done.len(), lines.len(), "every request completes");
        done.sort_by_key(|c| c.id);
        done.iter().map(|c| c.done.ns()).collect::<Vec<_>>()
    });
    assert_eq!(quiet, watched, "watching changes nothing");
    watched
}

/// When each request entered the device.
fn admitted(config: &Config, recipe: &Recipe, lines: &[Line<'_>]) -> Vec<u64> {
    let mut device = lived(config, recipe, lines, true);
    let mut at = vec![0; lines.len()];
    for stamped in device.events().drain(..) {
        if let Event::Admitted { request } = stamped.event {
            at[request.0 as usize] = stamped.at.ns();
        }
    }
    at
}

/// `row` with other answers.
fn mix(row: &str, answers: &[(&str, &str)], params: &[(&str, u64)]) -> Recipe {
    let answers = answers.iter().map(|&(question, answer)| (question.to_owned(), answer.to_owned())).collect();
    Recipe { answers, ..recipe(row, params) }
}

/// `channels` of one chip of one plane each.
fn chips(channels: u32) -> Config {
    let mut config = table1(channels, 1);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    config
}

/// A unit is free when its program's array phase ends, and when the last page of its read is over the bus: what waits for
/// it begins at that instant.
#[test]
fn a_command_ends() {
    let lines: [Line<'_>; 4] = [(0, 0, Write, &[0]), (0, 0, Read, &[1]), (0, 0, Read, &[2]), (0, 0, Write, &[3])];
    let done = ends(&one_plane(), &recipe("fcfs", &[]), &lines);
    assert_eq!(done, [WRITE, WRITE + READ, WRITE + 2 * READ, 2 * WRITE + 2 * READ]);
}

/// Two reads on one channel: the second has its page at 75,000, finds the bus taken and has it the instant it comes free.
/// Then its unit begins the third, though the other unit has the bus next.
#[test]
fn a_bus_comes_free() {
    let mut config = table1(1, 2);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    let lines: [Line<'_>; 4] = [(0, 0, Read, &[0]), (0, 0, Read, &[1]), (0, 0, Read, &[2]), (0, 0, Read, &[3])];
    // Chip 0: bus at 75,000 and, from 99,601 + 75,000, at 174,601. Chip 1: bus at 99,601, then from 124,202 + 75,000.
    let second = READ + BUS;
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [READ, second, 2 * READ, second + READ]);
}

/// Where units may choose only while their bus is free, they choose the instant it comes free.
#[test]
fn a_unit_that_may_not_choose_before_the_bus_is_free() {
    let mut config = table1(1, 2);
    config.geometry.planes_per_die = 1;
    config.ftl.logical_pages /= 2;
    config.bus.dispatch = Dispatch::BusIdle;
    let lines: [Line<'_>; 3] = [(0, 0, Read, &[0]), (80_000, 0, Read, &[1]), (80_000, 0, Read, &[3])];
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [READ, 2 * READ, 3 * READ]);
    // A program's data come in first, until 24,601; the read on the other chip begins then.
    let lines: [Line<'_>; 2] = [(0, 0, Write, &[0]), (10_000, 0, Read, &[1])];
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [WRITE, BUS + READ]);
}

/// A program that can be suspended is suspended the instant a read comes, at the instant its array begins if the read came
/// before, and goes on the instant the read is out, or the second that came meanwhile.
#[test]
fn a_read_comes_to_a_program_and_leaves() {
    let suspend = recipe("read-first-suspend", &[]);
    let config = one_plane();
    let alone: [Line<'_>; 2] = [(0, 0, Write, &[0]), (500_000, 0, Read, &[1])];
    assert_eq!(ends(&config, &suspend, &alone), [WRITE + READ, 500_000 + READ]);
    let before: [Line<'_>; 2] = [(0, 0, Write, &[0]), (BUS - 1, 0, Read, &[1])];
    assert_eq!(ends(&config, &suspend, &before), [WRITE + READ, BUS + READ]);
    let two: [Line<'_>; 3] = [(0, 0, Write, &[0]), (500_000, 0, Read, &[1]), (500_001, 0, Read, &[2])];
    assert_eq!(ends(&config, &suspend, &two), [WRITE + 2 * READ, 500_000 + READ, 500_000 + 2 * READ]);
}

/// With overheads of 3 and 5 us: a read is served the instant suspending is over, the program takes 5 us from the instant the
/// read is out, and a read that comes in those 5 us suspends it the instant they are over.
#[test]
fn an_overhead_is_over() {
    let suspend = recipe("read-first-suspend", &[]);
    let mut config = one_plane();
    (config.nand.suspend, config.nand.resume) = (Duration::from_us(3), Duration::from_us(5));
    let first = 500_000 + 3_000 + READ;
    let lines: [Line<'_>; 2] = [(0, 0, Write, &[0]), (500_000, 0, Read, &[1])];
    assert_eq!(ends(&config, &suspend, &lines), [WRITE + READ + 8_000, first]);
    let during: [Line<'_>; 3] = [(0, 0, Write, &[0]), (500_000, 0, Read, &[1]), (first + 1_000, 0, Read, &[2])];
    let second = first + 5_000 + 3_000 + READ;
    assert_eq!(ends(&config, &suspend, &during), [WRITE + 2 * (READ + 8_000), first, second]);
    // A read that comes while suspending is served right after the first.
    let meanwhile: [Line<'_>; 3] = [(0, 0, Write, &[0]), (500_000, 0, Read, &[1]), (501_000, 0, Read, &[2])];
    assert_eq!(ends(&config, &suspend, &meanwhile), [WRITE + 2 * READ + 8_000, first, first + READ]);
}

/// Iterations of 65 us from 24,601 on. A read that came while the data went in waits for the first boundary, one that came
/// in the middle for the next; after resuming, iterations are counted from the instant the array works again.
#[test]
fn an_iteration_ends() {
    let pauses = mix("fr-fcfs", &[("preempt", "pause-at-boundary")], &[]);
    let mut config = one_plane();
    let boundary = |n: u64| BUS + n * 65_000;
    for (at, n) in [(1_000, 1), (BUS, 1), (boundary(1) + 1, 2), (boundary(7), 7), (boundary(18) + 1, 19)] {
        let lines: [Line<'_>; 2] = [(0, 0, Write, &[0]), (at, 0, Read, &[1])];
        assert_eq!(ends(&config, &pauses, &lines), [WRITE + READ, boundary(n) + READ], "read at {at}");
    }
    // The last iteration's end is the program's.
    let lines: [Line<'_>; 2] = [(0, 0, Write, &[0]), (boundary(19) + 1, 0, Read, &[1])];
    assert_eq!(ends(&config, &pauses, &lines), [WRITE, WRITE + READ]);
    // Paused at 89,601 for 99,601, going on takes 5 us: the array works from 194,202, and the boundary after a read at
    // 200,000, or in the overhead, is at 259,202.
    config.nand.resume = Duration::from_us(5);
    let works = boundary(1) + READ + 5_000;
    for at in [works - 4_000, works, 200_000] {
        let lines: [Line<'_>; 3] = [(0, 0, Write, &[0]), (30_000, 0, Read, &[1]), (at, 0, Read, &[2])];
        let second = works + 65_000 + READ;
        assert_eq!(ends(&config, &pauses, &lines), [WRITE + 2 * (READ + 5_000), boundary(1) + READ, second], "{at}");
    }
}

/// What a program waits for may go away: a younger write takes the place of a waiting one on another chip, and the fill
/// trigger no longer forbids a pause, which comes at the next boundary.
///
/// Writes go to the chips in turn. At 0 chip 1 has two reads to do (2 cycles) before its half of the first write (4), so the
/// half on chip 0 has a slack of 2. Behind it two writes wait there: more than 50 % of 2, so the read at 0.5 pauses nothing.
/// At 1.5 the write of page 20 is replaced by one that goes to chip 1. At 2 the program is paused, for one cycle.
#[test]
fn a_write_is_withdrawn() {
    let config = unit_cycle(2);
    let answers = [("place", "rotate"), ("cancel", "overwrite")];
    let recipe = mix("wp", &answers, &[("alpha", 50), ("write_capacity", 2)]);
    let mut lines: Vec<Line<'_>> = vec![
        (0, 0, Read, &[1]),
        (0, 0, Read, &[3]),
        (0, 0, Write, &[100, 102]),
        (0, 0, Write, &[20]),
        (0, 0, Write, &[22]),
        (0, 0, Write, &[24]),
        (500, 0, Read, &[40]),
    ];
    assert_eq!(
        ends(&config, &recipe, &lines)[6],
        9 * CYCLE,
        "behind writes 100 and 20: then one waits, not more than 1"
    );
    lines.push((1_500, 0, Write, &[20]));
    assert_eq!(ends(&config, &recipe, &lines)[6], 3 * CYCLE, "in the pause");
}

/// A write that waits for an older one of its page on another chip begins the instant that one does.
#[test]
fn an_older_write_of_the_page_begins() {
    let rotate = mix("read-first", &[("place", "rotate")], &[]);
    let lines: [Line<'_>; 3] = [(0, 0, Read, &[0]), (0, 0, Write, &[5]), (0, 0, Write, &[5])];
    // Chip 0 reads for a cycle and then programs page 5; chip 1 is idle until then.
    assert_eq!(ends(&unit_cycle(2), &rotate, &lines), [CYCLE, 5 * CYCLE, 5 * CYCLE]);
}

/// A read whose page was written elsewhere while it waited goes there: an idle unit begins it at that instant, and the unit
/// it came from begins the next.
///
/// Writes go to the chips in turn: 8 to chip 0, 9 to chip 1, both to 4. Behind 9 wait seven reads of chip 1, the last but one
/// of page 7, which the third write takes to chip 0, programmed from 4 to 8. At 9 chip 1 has served five reads and finds it.
#[test]
fn a_read_goes_to_another_unit() {
    let rotate = mix("read-first", &[("place", "rotate")], &[]);
    let lines: [Line<'_>; 9] = [
        (0, 0, Write, &[8]),
        (0, 0, Write, &[9]),
        (1, 0, Read, &[1]),
        (1, 0, Read, &[3]),
        (1, 0, Read, &[5]),
        (1, 0, Read, &[15]),
        (1, 0, Read, &[17]),
        (1, 0, Read, &[7]),
        (1, 0, Read, &[19]),
    ];
    let mut lines = lines.to_vec();
    lines.push((2, 0, Write, &[7]));
    let cycles: Vec<u64> = ends(&unit_cycle(2), &rotate, &lines).iter().map(|ns| ns / CYCLE).collect();
    assert_eq!(cycles, [4, 4, 5, 6, 7, 8, 9, 10, 10, 8], "at 9 chip 0 takes page 7 and chip 1 page 19");
    // Whoever orders queues hears of it: all is done under every row.
    for row in flashlane_sched::catalogue::rows() {
        let done = ends(&unit_cycle(2), &mix(row.name, &[("place", "rotate")], &[]), &lines);
        assert!(done.iter().all(|&ns| ns <= 18 * CYCLE), "{}: {done:?}", row.name);
    }
}

/// The same where the read is found in a pause: the program on the unit it came from goes on at once, or another read is
/// served.
///
/// Chip 1 programs page 9 from 0 on, paused at 0.5 for four reads, until 4.5. Page 7, read next there, is programmed on chip 0
/// from 4 on; that program is suspended for the read from 4.5 to 5.5.
#[test]
fn a_read_goes_to_another_unit_in_a_pause() {
    let rotate = mix("read-first-suspend", &[("place", "rotate")], &[]);
    let mut lines: Vec<Line<'_>> = vec![
        (0, 0, Write, &[8]),
        (0, 0, Write, &[9]),
        (500, 0, Read, &[1]),
        (500, 0, Read, &[3]),
        (500, 0, Read, &[5]),
        (500, 0, Read, &[15]),
        (500, 0, Read, &[7]),
        (600, 0, Write, &[7]),
    ];
    assert_eq!(ends(&unit_cycle(2), &rotate, &lines), [4_000, 8_000, 1_500, 2_500, 3_500, 4_500, 5_500, 9_000]);
    lines.push((700, 0, Read, &[19]));
    assert_eq!(ends(&unit_cycle(2), &rotate, &lines), [4_000, 9_000, 1_500, 2_500, 3_500, 4_500, 5_500, 9_000, 5_500]);
}

/// Writes that no unit has yet: a unit that comes to have nothing else takes the next, whatever it did before.
#[test]
fn a_unit_takes_the_next_write() {
    let dynamic = recipe("dynalloc", &[]);
    let lines: [Line<'_>; 4] = [(0, 0, Read, &[0]), (0, 0, Write, &[2]), (0, 0, Write, &[4]), (4_500, 0, Write, &[6])];
    // Chip 0 reads first, so write 2 goes to chip 1 and write 4 to chip 0 at 1; at 4.5 chip 1 has been idle for half a cycle.
    let done = ends(&unit_cycle(2), &dynamic, &lines);
    assert_eq!(done, [CYCLE, 4 * CYCLE, 5 * CYCLE, 8_500]);
    // One whose page has an older write that has not begun lets the next go first.
    let lines: [Line<'_>; 3] = [(0, 0, Write, &[5]), (0, 0, Write, &[5]), (0, 0, Write, &[6])];
    assert_eq!(ends(&unit_cycle(2), &dynamic, &lines), [4 * CYCLE, 8 * CYCLE, 4 * CYCLE]);
}

/// A queue with space for two: a command enters the instant one of its queue begins, and so does the one behind it, which is
/// for an idle chip.
#[test]
fn a_queue_has_space_again() {
    let mut config = chips(2);
    config.front.queue_capacity = [2, 2];
    for op in [Read, Write] {
        let length = if op == Read { READ } else { WRITE };
        let lines: [Line<'_>; 5] =
            [(0, 0, op, &[0]), (0, 0, op, &[2]), (0, 0, op, &[4]), (0, 0, op, &[6]), (0, 0, op, &[1])];
        // At 0 the first begins, the second and third wait. The fourth enters when the second begins, with the fifth.
        assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [1, 2, 3, 4, 2].map(|n| n * length));
        // With space for one more the fourth and the fifth enter at once.
        config.front.queue_capacity = [3, 3];
        assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines)[4], length);
        config.front.queue_capacity = [2, 2];
    }
}

/// The line of writes that no unit has yet has the space of all units' lines, here two.
///
/// Two writes are under way and two wait, so the line is full: a fifth write enters when those begin, and so does the read
/// behind it. Without the fifth the read enters at once, and its chip does it before a write.
#[test]
fn the_line_of_the_device_has_space_again() {
    let mut config = chips(2);
    config.front.queue_capacity = [1, 1];
    let dynamic = recipe("dynalloc", &[]);
    let mut lines: Vec<Line<'_>> =
        vec![(0, 0, Write, &[0]), (0, 0, Write, &[2]), (1, 0, Write, &[4]), (1, 0, Write, &[6]), (1, 0, Read, &[1])];
    assert_eq!(ends(&config, &dynamic, &lines), [WRITE, WRITE, 2 * WRITE, 2 * WRITE + READ, WRITE + READ]);
    assert_eq!(admitted(&config, &dynamic, &lines), [0, 0, 1, 1, 1]);
    lines.insert(4, (1, 0, Write, &[8]));
    assert_eq!(ends(&config, &dynamic, &lines), [WRITE, WRITE, 2 * WRITE, 2 * WRITE, 3 * WRITE, 2 * WRITE + READ]);
    assert_eq!(admitted(&config, &dynamic, &lines), [0, 0, 1, 1, WRITE, WRITE]);
}

/// A device that takes one command at a time takes the next the instant one completes; so does a queue of depth one.
#[test]
fn a_command_completes() {
    let mut config = chips(2);
    config.front.in_flight = 1;
    let lines: [Line<'_>; 3] = [(0, 0, Read, &[0]), (0, 0, Read, &[1]), (0, 0, Write, &[2])];
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [READ, 2 * READ, 2 * READ + WRITE]);
    for protocol in [Protocol::Nvme { depth: 1 }, Protocol::Sata { depth: 1 }] {
        let mut config = chips(2);
        config.front.protocol = protocol;
        assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [READ, 2 * READ, 2 * READ + WRITE], "{protocol:?}");
    }
}

/// What enters as another completes is seen by the unit that is free then: the read goes before the write that waits.
#[test]
fn a_command_enters_before_units_decide() {
    let mut config = one_plane();
    config.front.in_flight = 2;
    let lines: [Line<'_>; 3] = [(0, 0, Write, &[0]), (0, 0, Write, &[1]), (0, 0, Read, &[2])];
    assert_eq!(ends(&config, &recipe("read-first", &[]), &lines), [WRITE, 2 * WRITE + READ, WRITE + READ]);
}

/// A command that has crossed the link enters the instant it arrives; so does one whose decision takes time. The answer is
/// seen when it has crossed back.
#[test]
fn a_command_crosses_the_link() {
    let mut config = chips(2);
    config.front.link_latency = Duration::from_us(3);
    let lines: [Line<'_>; 2] = [(0, 0, Read, &[0]), (10_000, 0, Write, &[1])];
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [READ + 6_000, 10_000 + WRITE + 6_000]);
    // A byte a nanosecond: 8,192 ns out for the read, 8,192 in for the write.
    config.front.link_bytes_per_s = 1_000_000_000;
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [READ + 14_192, 10_000 + WRITE + 14_192]);
    // One page crosses at a time: the second write comes in behind the first, and of two reads done at once one goes out behind.
    let lines: [Line<'_>; 2] = [(0, 0, Write, &[0]), (0, 0, Write, &[1])];
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [14_192 + WRITE, 14_192 + 8_192 + WRITE]);
    let lines: [Line<'_>; 2] = [(0, 0, Read, &[0]), (0, 0, Read, &[1])];
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [READ + 14_192, READ + 14_192 + 8_192]);
}

/// What memory serves is answered when it has answered, with nothing else going on.
#[test]
fn memory_answers() {
    let config = one_plane();
    let lines: [Line<'_>; 3] = [(0, 0, Write, &[0]), (10_000, 0, Read, &[0]), (10_500, 0, Read, &[0])];
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [WRITE, 11_000, 11_500]);
}

/// A page rewritten while it is written out is written out again the instant that has ended; writes that wait for space go
/// on the instant a page has left.
#[test]
fn a_page_has_been_flushed() {
    let mut config = one_plane();
    config.buffer = Some(Buffer { pages: 2, per_flow: false, write_back: true, read_allocate: false, flush_above: 0 });
    let lines: [Line<'_>; 4] =
        [(0, 0, Write, &[0]), (10_000, 0, Write, &[0]), (20_000, 0, Write, &[1]), (30_000, 0, Write, &[2])];
    // Page 0 from 0, page 1 from 1 x and page 0 again from 2 x 1,324,601. Page 2 finds both places taken until page 1 leaves.
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [1_000, 11_000, 21_000, 2 * WRITE + 1_000]);
    let begun = |lines: &[Line<'_>]| {
        let mut device = lived(&config, &recipe("fcfs", &[]), lines, true);
        let begun = device.events().drain(..).filter(|s| matches!(s.event, Event::Dispatched { .. }));
        begun.map(|s| s.at.ns()).collect::<Vec<_>>()
    };
    assert_eq!(begun(&lines), [0, WRITE, 2 * WRITE, 3 * WRITE]);
    assert_eq!(begun(&lines[..2]), [0, WRITE], "page 0 alone");
}

/// A write of part of a page is programmed the instant the rest of the page has been read.
#[test]
fn the_rest_of_a_page_has_been_read() {
    let mut config = one_plane();
    config.ftl.read_modify_write = true;
    for watched in [false, true] {
        let mut device = device(&config, &recipe("fcfs", &[]));
        if watched {
            device.report_events();
        }
        let extent = Extent::Bytes { offset: 4096, length: 2048 };
        let request = Request { id: RequestId(0), flow: FlowId(0), op: Write, arrival: Time::ZERO, extent };
        device.submit(Time::ZERO, &request).expect("within the drive");
        drain(&mut device);
        assert_eq!(device.completions()[0].done.ns(), READ + WRITE);
    }
}

/// A chip whose writes soon start a collection.
fn collecting() -> Config {
    let mut config = one_plane();
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (24, 16);
    (config.ftl.logical_pages, config.precondition) = (17 * 16, Precondition::Steady);
    config
}

/// Garbage collection without a request in sight: each step begins the instant the one before it ends, under every way to
/// collect. A victim of `v` pages takes `v` reads and programs and an erase.
#[test]
fn a_step_of_garbage_collection_ends() {
    for row in ["fr-fcfs", "read-first", "sprinkler", "flin", "slacker"] {
        let pages: Vec<[u32; 1]> = (0..60u32).map(|i| [i * 77 % 272]).collect();
        // So far apart that the collection a write starts is over before the next.
        let lines: Vec<Line<'_>> =
            pages.iter().enumerate().map(|(i, page)| (i as u64 * 100_000_000, 0, Write, &page[..])).collect();
        let mut device = lived(&collecting(), &recipe(row, &[]), &lines, true);
        let (mut chosen, mut victims, mut free) = (None, 0, 0);
        for stamped in device.events().drain(..) {
            let now = stamped.at.ns();
            match stamped.event {
                Event::Submitted { .. } => free = now + WRITE,
                Event::VictimChosen { valid, .. } => chosen = Some((free.max(now), u64::from(valid))),
                Event::Erased { .. } => {
                    let (from, valid) = chosen.take().expect("a victim");
                    assert_eq!(now, from + valid * (READ + WRITE) + 3_800_000, "{row}: {valid} pages");
                    (victims, free) = (victims + 1, now);
                }
                _ => {}
            }
        }
        assert!(victims > 2, "{row}: {victims} victims");
    }
}

/// A plane that falls short of free blocks begins to collect at that instant, and again as soon as a block has been erased
/// if it is still short: no instant ends with a plane that is short and does nothing about it.
#[test]
fn a_plane_is_short_of_blocks() {
    let config = collecting();
    for row in ["fr-fcfs", "sprinkler", "flin"] {
        let mut device = device(&config, &recipe(row, &[]));
        let mut short = 0;
        for id in 0..400u64 {
            let now = Time::from_ns(id * 2_000_000);
            device.advance(now);
            let page = [Lpn((id * 77 % 272) as u32)];
            let extent = Extent::Pages(&page);
            device
                .submit(now, &Request { id: RequestId(id), flow: FlowId(0), op: Write, arrival: now, extent })
                .unwrap();
            while device.next_event() < Time::from_ns((id + 1) * 2_000_000) {
                let plane = &device.board().planes[0];
                assert!(plane.free_blocks >= config.gc.start_blocks || plane.collecting, "{row}: {plane:?}");
                short += u64::from(plane.collecting);
                let next = device.next_event();
                device.advance(next);
            }
        }
        assert!(short > 500, "{row}: {short}");
    }
}

/// A plane that is short of blocks and has nothing but valid pages begins to collect the instant it loses a copy to another
/// plane.
///
/// Writes go to the two chips in turn, ten cycles apart. Those on chip 0 are of pages of chip 1, so chip 0 loses nothing: of
/// its eight blocks of four pages four are full at first and three are opened, the last by the ninth write there. The others
/// are of page 31, which lies on chip 1. The last write is of page 0 of chip 0, and goes to chip 1.
#[test]
fn a_plane_loses_a_copy() {
    let mut config = unit_cycle(2);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (8, 4);
    (config.gc.start_blocks, config.ftl.logical_pages) = (2, 32);
    config.precondition = Precondition::Filled { per_mille: 1000 };
    let pages: Vec<[u32; 1]> = (0..20)
        .map(|i| {
            [if i == 19 {
                0
            } else if i % 2 == 0 {
                1 + i
            } else {
                31
            }]
        })
        .collect();
    let lines: Vec<Line<'_>> =
        pages.iter().enumerate().map(|(i, page)| (10 * CYCLE * i as u64, 0, Write, &page[..])).collect();
    let mut device = lived(&config, &mix("fr-fcfs", &[("place", "rotate")], &[]), &lines, true);
    let chosen = device.events().drain(..).filter_map(|s| match s.event {
        Event::VictimChosen { plane, .. } if plane.0 == 0 => Some(s.at.ns() / CYCLE),
        _ => None,
    });
    assert_eq!(chosen.collect::<Vec<_>>(), [190]);
}

/// An answer that asks to be asked again at an instant is asked then: not a nanosecond later, and not when something else
/// happens.
///
/// Two chips and rounds of 1.4 ms: each of two flows has 1.4 ms of flash time a round. Fifteen reads of 99,601 ns take the
/// first to -94,015 ns. The second writes, for 1,324,601 ns behind those reads, and so has 75,399 left as long as it has a
/// command in the device. The first waits to the round's end, with the sixteenth read, which the other chip then does at once.
/// Reads end at 14 x 99,601 = 1,394,414 and at 1,494,015, and nothing else happens between.
#[test]
fn an_admission_asked_for_at_an_instant() {
    let config = Config { flows: vec![FlowConfig::at_level(0); 2], ..chips(2) };
    let budget = recipe("sprinkler+fairness", &[("budget_round_us", 1_400)]);
    let pages: Vec<[u32; 1]> = (0..15).map(|i| [2 + 2 * i]).collect();
    let mut lines: Vec<Line<'_>> = vec![(0, 1, Write, &[0])];
    lines.extend(pages.iter().map(|page| (0, 0, Read, &page[..])));
    lines.push((0, 0, Read, &[1]));
    let done = ends(&config, &budget, &lines);
    assert_eq!((done[15], done[0]), (15 * READ, 15 * READ + WRITE));
    assert_eq!(done[16], 1_400_000 + READ);
}
