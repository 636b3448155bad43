//! Commands entering and leaving: queues, link, memory, buffer, and the admit decision.

use super::*;

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

/// The queue of writes that have no unit yet has the capacity of all units' queues, here two.
///
/// Two writes are in progress and two wait, so the queue is full: a fifth write enters when those begin, and so does
/// the read behind it. Without the fifth the read enters at once, and its chip serves it before a write.
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

/// A command that enters as another completes is seen by the unit that becomes free then: the read goes before the
/// waiting write.
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

/// A request served from memory is answered after the memory's time, even if nothing else happens.
#[test]
fn memory_answers() {
    let config = one_plane();
    let lines: [Line<'_>; 3] = [(0, 0, Write, &[0]), (10_000, 0, Read, &[0]), (10_500, 0, Read, &[0])];
    assert_eq!(ends(&config, &recipe("fcfs", &[]), &lines), [WRITE, 11_000, 11_500]);
}

/// A page rewritten while it is being written out is written out again the instant that write has ended; writes that
/// wait for space continue the instant a page has left.
#[test]
fn a_page_has_been_flushed() {
    let mut config = one_plane();
    config.buffer = Some(Buffer::plain(2, 0));
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
        let request = Request { id: RequestId(0), flow: FlowId(0), op: Write, fua: false, arrival: Time::ZERO, extent };
        device.submit(Time::ZERO, &request).expect("within the drive");
        drain(&mut device);
        assert_eq!(device.completions()[0].done.ns(), READ + WRITE);
    }
}

/// A decision that asks to be asked again at an instant is asked exactly then, not only when something else happens.
///
/// Two chips and rounds of 1.4 ms: each of two flows has 1.4 ms of flash time a round. Fifteen reads of 99,601 ns take the
/// first to -94,015 ns. The second writes, for 1,324,601 ns behind those reads, and so has 75,399 left as long as it has a
/// command in the device. The first waits to the round's end, with the sixteenth read, which the other chip then does at once.
/// Reads end at 14 x 99,601 = 1,394,414 and at 1,494,015, and nothing else happens between.
#[test]
fn an_admission_asked_for_at_an_instant() {
    let config = Config { flows: vec![FlowConfig::at_priority(0); 2], ..chips(2) };
    let budget = recipe("sprinkler+fairness", &[("budget_round_us", 1_400)]);
    let pages: Vec<[u32; 1]> = (0..15).map(|i| [2 + 2 * i]).collect();
    let mut lines: Vec<Line<'_>> = vec![(0, 1, Write, &[0])];
    lines.extend(pages.iter().map(|page| (0, 0, Read, &page[..])));
    lines.push((0, 0, Read, &[1]));
    let done = ends(&config, &budget, &lines);
    assert_eq!((done[15], done[0]), (15 * READ, 15 * READ + WRITE));
    assert_eq!(done[16], 1_400_000 + READ);
}
