//! One-shot programs (model 0.15): exact scenes, and a plain model of random writes, flushes and reads.

mod behind_cache;
mod model;

use crate::common::play::{TestRequest, ends_under, flush, fua, page};
use crate::common::{atomic, device, drain, one_plane, recipe, slc_cache, table1};
use flashlane_core::Op::{Read, Trim, Write};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Time};
use flashlane_sched::catalogue::build;
use flashlane_ssd::config::{Buffer, Config, Latency, PageTimes, Precondition, Protocol, Service};
use flashlane_ssd::{Device, Totals};

/// Array times, bus time of a page, memory, ns.
const READ: u64 = 75_000;
const PROGRAM: u64 = 1_300_000;
const ERASE: u64 = 3_800_000;
const PAGE: u64 = 24_601;
const MEMORY: u64 = 1_000;

/// The program of a wordline of which so many pages have data: these cross the bus.
const fn wordline(pages: u64) -> u64 {
    pages * PAGE + PROGRAM
}

/// One plane of blocks of twelve pages, three a wordline, with a buffer that gathers pages as soon as they are written.
fn drive() -> Config {
    let mut config = one_plane();
    config.geometry.pages_per_block = 12;
    config.ftl.logical_pages = 480;
    config.nand.one_shot_pages = 3;
    config.buffer = Some(Buffer::plain(6, 0));
    config.check().expect("a legal device");
    config
}

fn ends(config: &Config, asks: &[TestRequest]) -> (Vec<u64>, Totals) {
    ends_under(config, &recipe("fcfs", &[]), asks)
}

/// Pages programmed for the host, and without data.
fn programs(totals: &Totals) -> (u64, Option<u64>) {
    (totals.user_programs, totals.padded)
}

/// Three pages are a wordline, which one program writes; the flush only waits for it.
#[test]
fn a_full_wordline_is_one_program() {
    let asks = [page(0, Write, 5), page(0, Write, 9), page(0, Write, 2), flush(10_000)];
    let (done, totals) = ends(&drive(), &asks);
    assert_eq!(done, [MEMORY, MEMORY, MEMORY, wordline(3)]);
    assert_eq!((programs(&totals), totals.transactions), ((3, Some(0)), 3));
    // A device that programs page by page takes three programs.
    let mut config = drive();
    config.nand.one_shot_pages = 1;
    let (done, totals) = ends(&config, &asks);
    assert_eq!((done[3], programs(&totals)), (3 * wordline(1), (3, None)));
}

/// Two pages wait until a flush comes: their wordline is padded. Without a flush they stay in the buffer.
#[test]
fn a_flush_pads_the_wordline() {
    let (done, totals) = ends(&drive(), &[page(0, Write, 5), page(0, Write, 9), flush(2_000_000)]);
    assert_eq!(done[2], 2_000_000 + wordline(2));
    assert_eq!(programs(&totals), (2, Some(1)));
    let (_, totals) = ends(&drive(), &[page(0, Write, 5), page(0, Write, 9)]);
    assert_eq!(programs(&totals), (0, Some(0)));
    // What the capacitors keep needs no program.
    let mut protected = drive();
    protected.buffer.as_mut().expect("one").protected = true;
    let (done, totals) = ends(&protected, &[page(0, Write, 5), flush(2_000_000)]);
    assert_eq!((done[1], programs(&totals)), (2_000_000 + MEMORY, (0, Some(0))));
}

/// A write with FUA pads the wordline of its page, at the end of the instant: what is written in that instant shares it.
#[test]
fn a_write_with_fua_pads_the_wordline() {
    let (done, totals) = ends(&drive(), &[page(0, Write, 5), fua(10_000, 9)]);
    assert_eq!((done[1], programs(&totals)), (10_000 + wordline(2), (2, Some(1))));
    let (done, totals) = ends(&drive(), &[fua(10_000, 9), page(10_000, Write, 5), page(10_000, Write, 6)]);
    assert_eq!((done[0], programs(&totals)), (10_000 + wordline(3), (3, Some(0))));
}

/// A write with FUA whose page is trimmed in the same instant ends with the trim: nothing is padded for it.
#[test]
fn a_trimmed_write_with_fua_pads_nothing() {
    let (done, totals) = ends(&drive(), &[page(0, Write, 5), fua(0, 9), page(0, Trim, 9)]);
    assert_eq!((done, programs(&totals)), (vec![MEMORY, 0, 0], (0, Some(0))));
}

/// The instants at which programs begin, and how many pages each has.
fn begun(config: &Config, asks: &[TestRequest]) -> Vec<(u64, usize)> {
    let mut device = device(config, &recipe("fcfs", &[]));
    device.report_events();
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        crate::common::play::hand_over(&mut device, id as u64, ask);
    }
    drain(&mut device);
    let mut programs: Vec<(u64, u64, usize)> = Vec::new();
    for event in device.events() {
        if let Event::Dispatched { command, .. } = event.event {
            match programs.last_mut().filter(|last| last.1 == command) {
                Some(last) => last.2 += 1,
                None => programs.push((event.at.ns(), command, 1)),
            }
        }
    }
    programs.into_iter().map(|(at, _, pages)| (at, pages)).collect()
}

/// A wordline is padded when its first page has waited for so long; a page that comes in that instant belongs to it.
#[test]
fn a_wordline_is_padded_after_the_wait() {
    let mut config = drive();
    config.nand.one_shot_wait = Some(Duration::from_us(500));
    assert_eq!(begun(&config, &[page(0, Write, 5)]), [(500_000, 1)]);
    assert_eq!(begun(&config, &[page(0, Write, 5), page(400_000, Write, 6)]), [(500_000, 2)]);
    assert_eq!(begun(&config, &[page(0, Write, 5), page(500_000, Write, 6)]), [(500_000, 2)]);
    // The third page fills the wordline, and the wait begins anew with the fourth.
    let asks = [5, 6, 7, 8].map(|number| page(100_000 * (number - 5), Write, number));
    assert_eq!(begun(&config, &asks), [(200_000, 3), (200_000 + wordline(3), 1)]);
    let (_, totals) = ends(&config, &asks);
    assert_eq!(programs(&totals), (4, Some(2)));
    config.nand.one_shot_wait = Some(Duration::ZERO);
    assert_eq!(begun(&config, &[page(0, Write, 5), page(0, Write, 6)]), [(0, 2)]);
}

/// A page that is written again while it is gathered is programmed once. While its wordline is under way, the newer version is gathered when
/// that has ended, with what has been gathered meanwhile.
#[test]
fn a_page_is_overwritten_while_it_is_gathered() {
    let (done, totals) = ends(&drive(), &[page(0, Write, 5), page(0, Write, 9), page(0, Write, 5), flush(10_000)]);
    assert_eq!((done[3], programs(&totals)), (10_000 + wordline(2), (2, Some(1))));
    let asks = [5, 6, 7].map(|number| page(0, Write, number));
    let again = [page(10_000, Write, 5), page(10_000, Write, 1), flush(3_000_000)];
    let (done, totals) = ends(&drive(), &[asks.clone(), again].concat());
    assert_eq!((done[5], programs(&totals)), (3_000_000 + wordline(2), (5, Some(1))));
    // A flush during the program waits for the newer version too, whose program begins when the older one's has ended.
    let again = [page(10_000, Write, 5), flush(20_000), flush(30_000)];
    let (done, totals) = ends(&drive(), &[asks, again].concat());
    assert_eq!((done[4], done[5]), (wordline(3) + wordline(1), wordline(3) + wordline(1)));
    assert_eq!(programs(&totals), (4, Some(2)));
}

/// The buffer is full of pages under way: the seventh write waits for the first wordline.
#[test]
fn a_full_buffer_waits_for_a_wordline() {
    let asks: Vec<TestRequest> = (0..8).map(|number| page(0, Write, number)).collect();
    let (done, totals) = ends(&drive(), &asks);
    assert_eq!(done[..6], [MEMORY; 6]);
    assert_eq!(done[6..], [wordline(3) + MEMORY; 2]);
    assert_eq!(programs(&totals), (6, Some(0)), "two pages stay in the buffer");
}

/// A page that is trimmed while it is gathered makes space for another; one whose wordline waits behind a read is padded instead, be it the
/// first of its wordline or not; one whose program has begun is programmed.
#[test]
fn trimmed_pages_leave_their_wordline() {
    let asks =
        [page(0, Write, 5), page(0, Write, 6), page(0, Trim, 5), page(0, Write, 7), page(0, Write, 8), flush(10)];
    let (done, totals) = ends(&drive(), &asks);
    assert_eq!((done[5], programs(&totals)), (wordline(3), (3, Some(0))));
    for trimmed in [5, 6, 7] {
        let asks = [
            page(0, Read, 100),
            page(10, Write, 5),
            page(10, Write, 6),
            page(10, Write, 7),
            flush(20),
            page(30, Trim, trimmed),
        ];
        let (done, totals) = ends(&drive(), &asks);
        let read = READ + PAGE;
        assert_eq!((done[4], programs(&totals)), (read + wordline(2), (2, Some(1))), "{trimmed}");
        assert_eq!((totals.trimmed_writes, totals.unmapped), (1, 0));
    }
    let asks = [5, 6, 7].map(|number| page(10, Write, number));
    let (done, totals) = ends(&drive(), &[asks.to_vec(), vec![page(20, Trim, 6), flush(30)]].concat());
    assert_eq!((done[4], programs(&totals), totals.unmapped), (10 + wordline(3), (3, Some(0)), 1));
    let all = [asks.to_vec(), asks.map(|ask| TestRequest { at: 30, op: Trim, ..ask }).to_vec()].concat();
    let (_, totals) = ends(&drive(), &[vec![page(0, Read, 100)], all].concat());
    assert_eq!((programs(&totals), totals.trimmed_writes), ((0, Some(0)), 3), "nothing is left of the wordline");
}

/// Two planes take a wordline each in one command: six transfers and one array time. A read between begins behind it.
#[test]
fn a_multi_plane_command_has_a_wordline_of_each_plane() {
    let mut config = table1(1, 1);
    config.geometry.pages_per_block = 12;
    config.ftl.logical_pages = 480;
    config.nand.one_shot_pages = 3;
    config.buffer = Some(Buffer::plain(6, 0));
    let asks: Vec<TestRequest> = (0..6).map(|number| page(0, Write, number)).chain([flush(10)]).collect();
    let (done, totals) = ends(&config, &asks);
    assert_eq!((done[6], programs(&totals)), (6 * PAGE + PROGRAM, (6, Some(0))));
    // Of a stripe that is not full each plane pads its own.
    let asks: Vec<TestRequest> = (0..4).map(|number| page(0, Write, number)).chain([flush(10)]).collect();
    let (done, totals) = ends(&config, &asks);
    assert_eq!((done[4], programs(&totals)), (10 + 4 * PAGE + PROGRAM, (4, Some(2))));
}

/// A program of a wordline is suspended for a read as any program.
#[test]
fn a_wordline_is_suspended_for_a_read() {
    let asks = [5, 6, 7].map(|number| page(0, Write, number)).to_vec();
    let asks = [asks, vec![flush(10), page(500_000, Read, 100)]].concat();
    let (done, totals) = ends_under(&drive(), &recipe("read-first-suspend", &[]), &asks);
    assert_eq!((done[4], done[3]), (500_000 + READ + PAGE, wordline(3) + READ + PAGE));
    assert_eq!(totals.pauses, 1);
}

/// Victims with four valid pages are emptied by two programs each, of three pages and of one with two pads.
#[test]
fn collection_moves_wordlines() {
    let mut config = drive();
    // Of 16 blocks nine are full. Collection begins when the fifth of the other seven is opened, and ends with three free.
    config.geometry.blocks_per_plane = 16;
    config.ftl.logical_pages = 9 * 12;
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config.gc.start_blocks = 3;
    config.check().expect("a legal device");
    // The first eight pages of each of six blocks fill four blocks; three pages more open the fifth.
    let mut numbers: Vec<u64> = (0..6).flat_map(|block| 12 * block..12 * block + 8).collect();
    numbers.extend([72, 73, 74]);
    let asks: Vec<TestRequest> = numbers.into_iter().map(|number| page(0, Write, number)).collect();
    let atomic = atomic("fcfs", &[]);
    let mut device = device(&config, &atomic);
    device.report_events();
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        crate::common::play::hand_over(&mut device, id as u64, ask);
    }
    drain(&mut device);
    let (mut chosen, mut erased, mut moves) = (Vec::new(), Vec::new(), Vec::new());
    for event in device.events() {
        match event.event {
            Event::VictimChosen { block, valid, .. } => chosen.push((event.at.ns(), block, valid)),
            Event::Erased { .. } => erased.push(event.at.ns()),
            Event::Queued { op: FlashOp::Program, owner, .. } if owner.collects() => moves.push(event.at.ns()),
            _ => {}
        }
    }
    let (read, begins) = (READ + PAGE, 17 * wordline(3));
    let empties = 4 * read + wordline(3) + wordline(1) + ERASE;
    assert_eq!(chosen, [(16 * wordline(3), 0, 4), (begins + empties, 1, 4)]);
    assert_eq!(erased, [begins + empties, begins + 2 * empties]);
    // A page waits for its program once it has been read.
    let of_victim = [read, 2 * read, 3 * read, 4 * read + wordline(3)];
    let queued = [begins, begins + empties].map(|begins| of_victim.map(|after| begins + after));
    assert_eq!(moves, queued.concat());
    let (_, totals) = ends_under(&config, &atomic, &asks);
    assert_eq!((totals.gc_programs, programs(&totals)), (8, (51, Some(4))));
}

/// Blocks of four pages in SLC mode are folded to wordlines of three: a full one, and one with a page and two pads.
#[test]
fn folding_writes_wordlines() {
    let mut config = drive();
    let (slc_read, slc_program, slc_erase) = (25_000, 200_000, 2_000_000);
    config.buffer = None;
    config.slc = Some(slc_cache(1, 3));
    config.check().expect("a legal device");
    let asks: Vec<TestRequest> = (0..5).map(|number| page(0, Write, number)).collect();
    let atomic = atomic("fcfs", &[]);
    let (done, totals) = ends_under(&config, &atomic, &asks);
    let write = PAGE + slc_program;
    let fold = 4 * (slc_read + PAGE) + wordline(3) + wordline(1) + slc_erase;
    assert_eq!(done, [write, 2 * write, 3 * write, 4 * write, 4 * write + fold + write]);
    assert_eq!((programs(&totals), totals.slc.map(|slc| slc.folded)), ((5, Some(2)), Some(4)));
}

/// Pages that are gathered when the scheduler changes are gathered anew for its placement, and programmed once.
#[test]
fn gathered_pages_outlast_a_change_of_scheduler() {
    let config = drive();
    for other in ["dynalloc", "late", "fcfs"] {
        let mut device = device(&config, &recipe("fcfs", &[]));
        let send = |device: &mut Device, id: u64, ask: TestRequest| {
            device.advance(Time::from_ns(ask.at));
            crate::common::play::hand_over(device, id, &ask);
        };
        send(&mut device, 0, page(0, Write, 5));
        send(&mut device, 1, page(0, Write, 6));
        assert!(device.drain(Time::LAST));
        device.change_scheduler(&config, build(&recipe(other, &[])).expect("a recipe"));
        let at = device.now().ns() + 10;
        send(&mut device, 2, page(at, Write, 7));
        send(&mut device, 3, flush(at + 10));
        drain(&mut device);
        let done = device.completions().iter().map(|completion| completion.done.ns()).max();
        assert_eq!((done, programs(&device.totals())), (Some(at + wordline(3)), (3, Some(0))), "{other}");
    }
}

/// What cannot be built, by the value at fault.
#[test]
fn devices_that_cannot_program_in_one_shot() {
    let refused = |change: fn(&mut Config)| {
        let mut config = drive();
        change(&mut config);
        config.check().expect_err("it cannot be built").to_string()
    };
    for (change, why) in [
        ((|c| c.nand.one_shot_pages = 0) as fn(&mut Config), "nand.one_shot_pages = 0: must be 1 to 4"),
        (|c| c.nand.one_shot_pages = 5, "nand.one_shot_pages = 5: must be 1 to 4"),
        (
            |c| c.geometry.pages_per_block = 11,
            "nand.one_shot_pages = 3: must be a divisor of geometry.pages_per_block, which is 11",
        ),
        (
            |c| c.buffer = None,
            "nand.one_shot_pages = 3: needs a page buffer with write_back and merge_writes, or an SLC cache, [device.slc], with full = \"fold\"; without them it must be 1",
        ),
        (
            |c| c.buffer = Some(Buffer::plain(2, 0)),
            "buffer.pages = 2: must be at least 3 with nand.one_shot_pages: 3 for each of 1 planes",
        ),
        (
            |c| c.nand.program = Latency::fast_slow(Duration::from_us(1), Duration::from_us(2)),
            "nand.program (with one_shot_pages) = one by page: must be one time, that of a program of all pages of a wordline",
        ),
        (
            |c| c.nand.read = Latency::ByPage(PageTimes::new(&[Duration::from_us(1); 2]).expect("two")),
            "nand.read (with one_shot_pages) = 2: must be as many times as one_shot_pages, 3, or one",
        ),
        (
            |c| {
                c.front.in_flight = 1;
                c.front.protocol = Protocol::Sata { depth: 32 };
                c.front.service = Service::Serial { cluster: 1, charge: flashlane_ssd::config::Charge::FreeAware };
            },
            "one_shot_pages (with serial service) = serial: has no flash to program in one shot; leave one_shot_pages out",
        ),
    ] {
        assert_eq!(refused(change), why);
    }
}
