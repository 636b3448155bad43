//! Trims and write zeroes (model 0.12): exact scenes. The plain model of them is that of the buffer (`buffer_model`).

use crate::common::play::{RunResult, TestRequest, Touch, audit};
use crate::common::{device, one_plane, recipe};
use flashlane_core::Op::{self, Read, Trim, Write, WriteZeroes};
use flashlane_core::decide::Question;
use flashlane_core::{Duration, Extent, FlowId, Lpn, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::{Buffer, Charge, Config, Mapping, Precondition, Protocol, Service, Unmap, UnmappedReads};
use flashlane_ssd::{Refusal, Totals};

/// A page over the bus, a whole read, a whole program, memory, ns.
const BUS: u64 = 24_601;
const PAGE: u64 = 75_000 + BUS;
const PROGRAM: u64 = BUS + 1_300_000;
const MEMORY: u64 = 1_000;
const MS: u64 = 1_000_000;

/// Times of a trim, and of each mapped page.
const COMMAND: u64 = 5_000;
const MAPPED: u64 = 100;

/// One plane, whose reads of pages without data need no flash.
fn drive(precondition: Precondition) -> Config {
    let mut config = one_plane();
    config.ftl.logical_pages = 4_000;
    config.precondition = precondition;
    let [command, page] = [COMMAND, MAPPED].map(Duration::from_ns);
    config.unmap = Unmap { command, page, reads: UnmappedReads::Memory };
    config
}

fn full() -> Config {
    drive(Precondition::Filled { per_mille: 1000 })
}

/// When each request of pages is done under FCFS, and the totals.
fn ends(config: &Config, lines: &[(u64, Op, &[u32])]) -> (Vec<u64>, Totals) {
    ends_under(config, &recipe("fcfs", &[]), lines)
}

fn ends_under(config: &Config, recipe: &Recipe, lines: &[(u64, Op, &[u32])]) -> (Vec<u64>, Totals) {
    let touch = |pages: &[u32]| Touch::Pages(pages.iter().copied().map(Lpn).collect());
    let asks: Vec<_> =
        lines.iter().map(|&(at, op, pages)| TestRequest { at, flow: 0, op, touch: touch(pages) }).collect();
    played(config, recipe, &asks)
}

fn played(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> (Vec<u64>, Totals) {
    let RunResult { mut completions, totals } = audit(config, recipe, asks).unwrap_or_else(|why| panic!("{why}")).0;
    completions.sort_by_key(|completion| completion.id);
    (completions.iter().map(|completion| completion.done.ns()).collect(), totals)
}

/// A trim takes its time and that of the pages that it unmaps: page 2 is unmapped once.
#[test]
fn a_trim_takes_the_time_of_its_mapped_pages() {
    let lines = [(0, Trim, &[0u32, 1, 2][..]), (10_000, Trim, &[2, 3]), (20_000, WriteZeroes, &[3])];
    let (done, totals) = ends(&full(), &lines);
    assert_eq!(done, [COMMAND + 3 * MAPPED, 10_000 + COMMAND + MAPPED, 20_000 + COMMAND]);
    assert_eq!(totals.unmapped, 4);
    let mut config = full();
    config.unmap = Unmap::default();
    assert_eq!(ends(&config, &lines).0, [0, 10_000, 20_000]);
}

/// Only whole pages inside its range are unmapped: of the first trim page 1, of the second none.
#[test]
fn the_edges_of_a_trim_are_kept() {
    let page = 8_192;
    let ask = |at, op, offset, length| TestRequest { at, flow: 0, op, touch: Touch::Bytes(offset, length) };
    let asks = [
        ask(0, Trim, page / 2, 3 * page / 2 + 100),
        ask(10_000, Trim, 5 * page + 1, 2 * page - 2),
        ask(MS, Read, 0, page),
        ask(2 * MS, Read, page, page),
        ask(3 * MS, Read, 2 * page, page),
        ask(4 * MS, Read, 5 * page, page),
        ask(5 * MS, Read, 6 * page, page),
    ];
    let (done, totals) = played(&full(), &recipe("fcfs", &[]), &asks);
    assert_eq!(done[..2], [COMMAND + MAPPED, 10_000 + COMMAND]);
    let after = |at: usize| done[at + 1] - at as u64 * MS;
    assert_eq!([1, 2, 3, 4, 5].map(after), [PAGE, MEMORY, PAGE, PAGE, PAGE]);
    assert_eq!(totals.unmapped, 1);
}

/// A read that waits when its page is trimmed sees the data; one that comes later finds none, and needs no flash or, as a device says, does.
#[test]
fn older_reads_see_the_data() {
    let lines = [(0, Read, &[5u32][..]), (10, Read, &[6]), (20, Trim, &[6]), (30, Read, &[6])];
    let (done, totals) = ends(&full(), &lines);
    assert_eq!(done, [PAGE, 2 * PAGE, 20 + COMMAND + MAPPED, 30 + MEMORY]);
    assert_eq!(totals.kept_reads, 1);
    let mut config = full();
    config.unmap.reads = UnmappedReads::Flash;
    assert_eq!(ends(&config, &lines).0[3], 3 * PAGE);
}

/// A program under way ends, and its page is invalid at once: it counts as mapped. A write that waits is done with the trim. Younger
/// writes are not touched.
#[test]
fn older_writes_are_dropped() {
    let lines = [
        (0, Write, &[0u32][..]),
        (10, Write, &[1]),
        (20, Write, &[2]),
        (30, Trim, &[0, 1]),
        (40, Write, &[1]),
        (4 * MS, Read, &[0]),
        (5 * MS, Read, &[1]),
    ];
    let (done, totals) = ends(&drive(Precondition::Fresh), &lines);
    let trim = 30 + COMMAND + MAPPED;
    assert_eq!(done, [PROGRAM, 30, 2 * PROGRAM, trim, 3 * PROGRAM, 4 * MS + MEMORY, 5 * MS + PAGE]);
    assert_eq!((totals.user_programs, totals.trimmed_writes, totals.unmapped), (3, 1, 1));
}

/// A write that has taken the place of an older one is dropped, and the older one, which would have ended with it, is done too.
#[test]
fn writes_dropped_before_are_done_with_the_trim() {
    let cancels = Recipe { answers: vec![(Question::Cancel, "overwrite".to_owned())], ..recipe("fcfs", &[]) };
    let lines = [(0, Read, &[9u32][..]), (10, Write, &[1]), (20, Write, &[1]), (30, Trim, &[1])];
    let (done, totals) = ends_under(&drive(Precondition::Fresh), &cancels, &lines);
    assert_eq!(done, [MEMORY, 10 + PROGRAM, 30, 30 + COMMAND + MAPPED], "page 9 needs no flash");
    let (done, totals_full) = ends_under(&full(), &cancels, &lines);
    assert_eq!(done, [PAGE, 30, 30, 30 + COMMAND + MAPPED]);
    assert_eq!((totals.trimmed_writes, totals_full.cancelled, totals_full.trimmed_writes), (1, 1, 1));
}

/// A write of a part of a page reads the rest first only where there is data, and if it waits for that read when it is trimmed, it is done.
#[test]
fn parts_of_pages_without_data_are_written_at_once() {
    let mut config = full();
    config.ftl.read_modify_write = true;
    let ask = |at, op, length| TestRequest { at, flow: 0, op, touch: Touch::Bytes(0, length) };
    let asks = [ask(0, Write, 4_096), ask(10, Trim, 8_192), ask(MS, Write, 4_096)];
    let (done, totals) = played(&config, &recipe("fcfs", &[]), &asks);
    assert_eq!(done, [10, 10 + COMMAND + MAPPED, MS + PROGRAM]);
    assert_eq!((totals.partial_reads, totals.user_programs), (1, 1));
}

/// With SATA a trim is not queued: it waits until the commands before it have ended, and those behind it wait for it.
#[test]
fn a_trim_is_alone_in_a_sata_drive() {
    let lines = [(0, Read, &[0u32][..]), (10, Trim, &[1]), (20, Read, &[2]), (30, Trim, &[3]), (40, Read, &[4])];
    let (done, _) = ends(&full(), &lines);
    let trim = COMMAND + MAPPED;
    assert_eq!(done, [PAGE, 10 + trim, 2 * PAGE, 30 + trim, 3 * PAGE]);
    let mut config = full();
    config.front.protocol = Protocol::Sata { depth: 32 };
    let (done, _) = ends(&config, &lines);
    assert_eq!(done, [PAGE, PAGE + trim, 2 * PAGE + trim, 2 * PAGE + 2 * trim, 3 * PAGE + 2 * trim]);
}

/// What a buffer holds of a trimmed page is gone, and its programs that wait; a write that waits for space for it is done.
#[test]
fn a_buffer_gives_trimmed_pages_up() {
    let mut config = drive(Precondition::Fresh);
    config.buffer = Some(Buffer::plain(2, 0));
    let lines = [
        (0, Write, &[0u32][..]),
        (5, Write, &[1]),
        (10, Write, &[2]),
        (15, Write, &[3]),
        (20, Trim, &[1, 2]),
        (MS, Read, &[1]),
        (3 * MS, Read, &[3]),
    ];
    let (done, totals) = ends(&config, &lines);
    // Page 2 needs none and is done at once. Page 3 takes the place of page 1.
    let trim = 20 + COMMAND;
    let expected = [MEMORY, 5 + MEMORY, 20, 20 + MEMORY, trim, MS + MEMORY, 3 * MS + PAGE];
    assert_eq!(done, expected);
    assert_eq!(totals.user_programs, 2);
}

/// Blocks all of whose pages are trimmed are collected without moving any.
#[test]
fn trimmed_pages_are_not_moved() {
    let mut config = drive(Precondition::Fresh);
    (config.geometry.blocks_per_plane, config.ftl.logical_pages) = (16, 11 * 128);
    let pages: Vec<u32> = (0..11 * 128).collect();
    let mut lines = Vec::new();
    for round in 0..6 {
        lines.push((round * 10_000 * MS, Write, &pages[..]));
        lines.push((round * 10_000 * MS + 9_000 * MS, Trim, &pages[..]));
    }
    let (_, totals) = ends(&config, &lines);
    assert!(totals.erases > 40, "{totals:?}");
    assert_eq!((totals.gc_programs, totals.unmapped), (0, 6 * 11 * 128));
}

/// Under serial service a trim takes its own time, and the buffer gives the page up.
#[test]
fn serial_service_trims() {
    let mut config = full();
    config.front.service = Service::Serial { cluster: 1, charge: Charge::FreeAware };
    config.front.in_flight = 1;
    config.buffer = Some(Buffer { read_allocate: true, ..Buffer::plain(2, 0) });
    let lines = [(0, Read, &[0u32][..]), (MS, Read, &[0]), (2 * MS, Trim, &[0]), (3 * MS, Read, &[0])];
    let (done, _) = ends(&config, &lines);
    assert_eq!(done[1..3], [MS + MEMORY, 2 * MS + COMMAND]);
    assert_eq!(done[3] - 3 * MS, done[0]);
    assert!(done[0] > 75_000, "{done:?}");
}

/// A trim makes the entries of its pages dirty. All four of translation page 0 are in memory then, so that it is written anew without a
/// read when one of them makes room.
#[test]
fn a_trim_dirties_translation_pages() {
    let mut config = full();
    let (host_entries, entry_bytes, read_bytes) = (0, 4, config.geometry.page_bytes);
    config.mapping =
        Some(Mapping { entries: 4, host_entries, entries_per_page: 4, entry_bytes, read_bytes, warm: false });
    let lines = [(0, Trim, &[0u32, 1, 2, 3][..]), (MS, Read, &[4]), (5 * MS, Read, &[1]), (6 * MS, Read, &[0])];
    let (done, totals) = ends(&config, &lines);
    assert_eq!(done[..2], [COMMAND + 4 * MAPPED, MS + 2 * PAGE]);
    // The entry of page 1 is held, that of page 0 must be read; neither has data.
    assert_eq!(done[2..], [5 * MS + MEMORY, 6 * MS + PAGE + MEMORY]);
    assert_eq!(totals.mapping_programs, 1);
}

/// A write whose entry of the map is being read is dropped as any that waits.
#[test]
fn a_write_that_waits_for_its_entry_is_dropped() {
    let mut config = full();
    let (host_entries, entry_bytes, read_bytes) = (0, 4, config.geometry.page_bytes);
    config.mapping =
        Some(Mapping { entries: 4, host_entries, entries_per_page: 4, entry_bytes, read_bytes, warm: false });
    let (done, totals) = ends(&config, &[(0, Write, &[0u32][..]), (10, Trim, &[0]), (20, Write, &[0])]);
    assert_eq!(done, [10, 10 + COMMAND + MAPPED, PAGE + PROGRAM]);
    assert_eq!(totals.user_programs, 1);
}

/// A trim beyond the drive, or of nothing, is refused.
#[test]
fn trims_that_do_not_fit_are_refused() {
    let mut device = device(&full(), &recipe("fcfs", &[]));
    let mut refusal = |offset, length| {
        let extent = Extent::Bytes { offset, length };
        let (id, flow, arrival) = (RequestId(0), FlowId(0), Time::ZERO);
        device.submit(Time::ZERO, &Request { id, flow, op: Trim, fua: false, arrival, extent }).err()
    };
    assert_eq!(refusal(3_999 * 8_192, 2 * 8_192), Some(Refusal::BeyondDrive { pages: 4_000 }));
    assert_eq!(refusal(0, 0), Some(Refusal::Empty));
    assert_eq!(refusal(0, 4_000 * 8_192), None, "a trim has no limit of size");
}

/// The 21st write of each of two chips opens the sixth of its eight blocks, so one without data is erased before its next write. That of the first is
/// trimmed meanwhile; the last write, which waits for a chip, begins there when the erase has ended.
#[test]
fn a_chip_whose_write_is_trimmed_takes_another_after_the_erase() {
    const ERASE: u64 = 3_800_000;
    let mut config = drive(Precondition::Fresh);
    config.geometry.channels = 2;
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (8, 4);
    config.ftl.logical_pages = 16;
    let mut late = recipe("late", &[("gc_pages", 100)]);
    late.answers.push((Question::Collect, "write-triggered".to_owned()));
    let mut lines: Vec<(u64, Op, &[u32])> = (0..40).map(|n| (n * 10 * MS, Write, &[0u32][..])).collect();
    let begin = 400 * MS;
    let trim = begin + PROGRAM + MS;
    let pages: [&[u32]; 5] = [&[0], &[1], &[2], &[3], &[4]];
    lines.extend((0..5).map(|n| (begin + n as u64, Write, pages[n])));
    lines.push((trim, Trim, pages[2]));
    let (done, totals) = ends_under(&config, &late, &lines);
    let erased = begin + PROGRAM + ERASE;
    assert_eq!(done[40..42], [begin + PROGRAM, begin + 1 + PROGRAM]);
    assert_eq!(done[42..], [trim, erased + 1 + PROGRAM, erased + PROGRAM, trim + COMMAND]);
    assert_eq!((totals.erases, totals.user_programs), (2, 44));
}
