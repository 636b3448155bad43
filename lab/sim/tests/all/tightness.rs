//! Every flash timing is exact to the nanosecond: a completion is not there at `t - 1` and is there at `t`.
//!
//! Each case is one request or two on one idle chip, and its end as a sum of the configuration's own times.

use crate::common::{device, one_plane, recipe, table1};
use flashlane_core::Op::{Read, Write};
use flashlane_core::decide::Question;
use flashlane_core::{Duration, Extent, FlowId, Lpn, Op, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::Device;
use flashlane_ssd::config::{Buffer, Config, Latency, PageTimes};

const READ: u64 = 75_000;
const PROGRAM: u64 = 1_300_000;
const ERASE: u64 = 3_800_000;
/// Bus time of a page.
const PAGE: u64 = 24_601;

fn submit(device: &mut Device, id: u64, (at, op, extent): (u64, Op, Extent<'_>)) {
    let now = Time::from_ns(at);
    device.advance(now);
    let request = Request { id: RequestId(id), flow: FlowId(0), op, fua: false, arrival: now, extent };
    device.submit(now, &request).expect("within the drive");
}

/// Runs `lines`; checks that the last request completes at `end` and not before.
fn ends(config: &Config, recipe: &Recipe, lines: &[(u64, Op, Extent<'_>)], end: u64) {
    let mut device = device(config, recipe);
    for (id, line) in lines.iter().enumerate() {
        submit(&mut device, id as u64, *line);
    }
    let last = RequestId(lines.len() as u64 - 1);
    device.advance(Time::from_ns(end - 1));
    let early = device.completions().iter().find(|c| c.id == last).copied();
    assert_eq!(early, None, "completed before {end} ns");
    device.advance(Time::from_ns(end));
    let done = device.completions().iter().find(|c| c.id == last).copied();
    assert_eq!(done.expect("completed by then").done, Time::from_ns(end));
}

fn page(lpn: &Lpn) -> Extent<'_> {
    Extent::Pages(std::slice::from_ref(lpn))
}

fn one(config: &Config, op: Op, end: u64) {
    ends(config, &recipe("read-first", &[]), &[(1000, op, page(&Lpn(0)))], 1000 + end);
}

#[test]
fn read_program_and_transfer() {
    let mut config = one_plane();
    one(&config, Read, READ + PAGE);
    one(&config, Write, PAGE + PROGRAM);
    config.bus.mega_transfers = u32::MAX;
    one(&config, Read, READ);
    one(&config, Write, PROGRAM);
    config.nand.read = Latency::Constant(Duration::from_ns(1));
    one(&config, Read, 1);
}

#[test]
fn command_times_set_up_and_metadata() {
    let mut config = one_plane();
    config.bus.command = [290, 361, 220].map(Duration::from_ns);
    config.bus.data_out_setup = Duration::from_ns(30);
    one(&config, Read, 290 + READ + 30 + PAGE);
    one(&config, Write, 361 + PAGE + PROGRAM);
    config.bus.with_metadata = true;
    // 8640 bytes at 333 MB/s: 25,945.9 ns.
    one(&config, Read, 290 + READ + 30 + 25_946);
    one(&config, Write, 361 + 25_946 + PROGRAM);
}

#[test]
fn a_further_plane_costs_its_gap() {
    let mut config = table1(1, 1);
    config.bus.plane_gap = Duration::from_ns(7);
    let both = [Lpn(0), Lpn(1)];
    let rf = recipe("read-first", &[]);
    ends(&config, &rf, &[(0, Read, Extent::Pages(&both))], READ + 7 + 2 * PAGE);
    ends(&config, &rf, &[(0, Write, Extent::Pages(&both))], 2 * PAGE + PROGRAM + 7);
    // The data of every page is set up.
    config.bus.data_out_setup = Duration::from_ns(30);
    ends(&config, &rf, &[(0, Read, Extent::Pages(&both))], READ + 7 + 2 * (30 + PAGE));
}

#[test]
fn part_of_a_page_and_its_rounding() {
    let config = one_plane();
    let rf = recipe("read-first", &[]);
    // Whole sectors cross: 513 bytes are 1024, 3075.08 ns.
    for (length, bus) in [(512, 1538), (513, 3075), (4096, 12_300), (8192, PAGE)] {
        ends(&config, &rf, &[(0, Read, Extent::Bytes { offset: 0, length })], READ + bus);
    }
}

#[test]
fn suspending_and_resuming() {
    let mut config = one_plane();
    (config.nand.suspend, config.nand.resume) = (Duration::from_ns(5_001), Duration::from_ns(7_003));
    let rfs = recipe("read-first-suspend", &[]);
    let write = (0, Write, page(&Lpn(0)));
    let read = (300_000, Read, page(&Lpn(1)));
    ends(&config, &rfs, &[write, read], 300_000 + 5_001 + READ + PAGE);
    // The program ends later by that time: checked as the last request.
    let mut device = device(&config, &rfs);
    submit(&mut device, 0, write);
    submit(&mut device, 1, read);
    let end = PAGE + PROGRAM + 5_001 + READ + PAGE + 7_003;
    device.advance(Time::from_ns(end - 1));
    assert_eq!(device.completions().len(), 1);
    device.advance(Time::from_ns(end));
    assert_eq!(device.completions().len(), 2);
}

#[test]
fn pausing_at_a_boundary() {
    let config = one_plane();
    let mut mix = recipe("fr-fcfs", &[]);
    mix.answers.push((Question::Preempt, "pause-at-boundary".to_owned()));
    // Twenty iterations of 65 us; the read comes in the fifth.
    let boundary = PAGE + 5 * 65_000;
    let lines = [(0, Write, page(&Lpn(0))), (boundary - 1, Read, page(&Lpn(1)))];
    ends(&config, &mix, &lines, boundary + READ + PAGE);
}

/// A read that waits behind an erase alone: a full block without a valid page, overwritten page by page.
#[test]
fn erase() {
    for command in [0, 220] {
        let mut config = one_plane();
        config.geometry.blocks_per_plane = 8;
        config.geometry.pages_per_block = 2;
        config.ftl.logical_pages = 4;
        config.bus.command[2] = Duration::from_ns(command);
        let fcfs = recipe("fcfs", &[]);
        let mut device = device(&config, &fcfs);
        let mut at = 0;
        let mut id = 0;
        // Pages 0 and 1 alternate, so each block but the newest has no valid page. Stops when the first erase begins.
        while device.board().units[0].counters.erases == 0 {
            submit(&mut device, id, (at, Write, page(&Lpn((id % 2) as u32))));
            id += 1;
            at += PAGE + PROGRAM;
            device.advance(Time::from_ns(at));
            device.next_event();
            assert!(id < 100, "no erase in {id} writes");
        }
        device.completions().clear();
        let read = (at + 1, Read, page(&Lpn(3)));
        submit(&mut device, id, read);
        let end = at + command + ERASE + READ + PAGE;
        device.advance(Time::from_ns(end - 1));
        assert!(device.completions().is_empty(), "the erase was short");
        device.advance(Time::from_ns(end));
        assert_eq!(device.completions().len(), 1, "the erase was long");
    }
}

#[test]
fn memory_and_link() {
    let mut config = one_plane();
    config.buffer = Some(Buffer::plain(4, 4));
    config.memory = Duration::from_ns(1_234);
    one(&config, Write, 1_234);
    // A page of 8192 bytes at 1 GB/s, and half a microsecond each way: to the device with the data, back without.
    config.front.link_bytes_per_s = 1_000_000_000;
    config.front.link_latency = Duration::from_ns(500);
    one(&config, Write, 8_192 + 500 + 1_234 + 500);
    one(&config, Read, 500 + READ + PAGE + 8_192 + 500);
}

#[test]
fn fast_and_slow_pages() {
    let mut config = one_plane();
    let pair = |fast, slow| Latency::fast_slow(Duration::from_ns(fast), Duration::from_ns(slow));
    config.nand.program = pair(500_000, 2_000_000);
    config.nand.read = pair(50_000, 90_000);
    let rf = recipe("fcfs", &[]);
    let (a, b) = (Lpn(0), Lpn(1));
    let writes = [(0, Write, page(&a)), (0, Write, page(&b))];
    let first = PAGE + 500_000;
    ends(&config, &rf, &writes[..1], first);
    ends(&config, &rf, &writes, first + PAGE + 2_000_000);
    let later = 10_000_000;
    ends(&config, &rf, &[writes[0], writes[1], (later, Read, page(&a))], later + 50_000 + PAGE);
    ends(&config, &rf, &[writes[0], writes[1], (later, Read, page(&b))], later + 90_000 + PAGE);
}

/// The pages of a wordline of three bits take times of their own, page after page of a block.
#[test]
fn pages_of_a_wordline() {
    let mut config = one_plane();
    let times = |us: [u64; 3]| Latency::ByPage(PageTimes::new(&us.map(Duration::from_us)).expect("three times"));
    (config.nand.program, config.nand.read) = (times([300, 900, 2000]), times([40, 60, 90]));
    let rf = recipe("fcfs", &[]);
    let lpns = [0, 1, 2, 3].map(Lpn);
    let writes: Vec<_> = lpns.iter().map(|lpn| (0, Write, page(lpn))).collect();
    let mut end = 0;
    for (n, us) in [300, 900, 2000, 300].into_iter().enumerate() {
        end += PAGE + us * 1000;
        ends(&config, &rf, &writes[..=n], end);
    }
    let later = 10_000_000;
    for (n, us) in [40, 60, 90, 40].into_iter().enumerate() {
        let mut all = writes.clone();
        all.push((later, Read, page(&lpns[n])));
        ends(&config, &rf, &all, later + us * 1000 + PAGE);
    }
}

/// A command over fast and slow pages takes as long as its slowest page, whichever of them leads. Page `n` lies on plane `n` modulo 2;
/// the first page of plane 0 has been written, so its next is slow, while that of plane 1 is fast.
#[test]
fn a_command_over_fast_and_slow_pages_takes_the_slow_ones_time() {
    let mut config = table1(1, 1);
    let pair = |fast, slow| Latency::fast_slow(Duration::from_ns(fast), Duration::from_ns(slow));
    (config.nand.program, config.nand.read) = (pair(500_000, 2_000_000), pair(50_000, 90_000));
    config.nand.same_page_program = false;
    let (rf, later) = (recipe("fr-fcfs", &[]), 10_000_000);
    let first = Lpn(0);
    for both in [[Lpn(2), Lpn(1)], [Lpn(1), Lpn(2)]] {
        let writes = [(0, Write, page(&first)), (later, Write, Extent::Pages(&both))];
        ends(&config, &rf, &writes, later + 2 * PAGE + 2_000_000);
        let reads = [writes[0], writes[1], (2 * later, Read, Extent::Pages(&both))];
        ends(&config, &rf, &reads, 2 * later + 90_000 + 2 * PAGE);
        // The first page of plane 1 and the third of plane 0 are fast.
        let (third, fast) = (Lpn(4), [Lpn(4), Lpn(1)]);
        let reads = [writes[0], writes[1], (2 * later, Write, page(&third)), (3 * later, Read, Extent::Pages(&fast))];
        ends(&config, &rf, &reads, 3 * later + 50_000 + 2 * PAGE);
    }
}
