//! The page buffer compared with a plain [`model`]: every request must end at the same instant as on the device.
//!
//! Covers which pages are written out and when (order of use, `flush_above`, pages that writes wait for), that a write which finds others
//! waiting waits behind them, even if its page is in the buffer, and that a read does if `front.order` is `shared`, the pace at which writes
//! enter, what keeps a page in the buffer, which reads memory serves, what trims drop, and what flushes and writes with FUA wait for.

mod model;

use crate::common::{device, drain, recipe, unit_cycle};
use flashlane_core::decide::Question;
use flashlane_core::{Duration, Extent, FlowId, Lpn, Op, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::{Buffer, BufferOrder, Config, FlowConfig, Unmap, UnmappedReads};
use model::{MEMORY, Model, READ, TestRequest};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

fn config(buffer: Buffer, flows: usize) -> Config {
    let mut config = unit_cycle(1);
    (config.memory, config.buffer) = (Duration::from_ns(MEMORY), Some(buffer));
    config.flows = vec![FlowConfig::at_priority(0); flows];
    config
}

fn on_device(config: &Config, asks: &[TestRequest]) -> Vec<u64> {
    on_device_under(config, &recipe("fcfs", &[]), asks)
}

fn on_device_under(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> Vec<u64> {
    let mut device = device(config, recipe);
    for (id, ask) in asks.iter().enumerate() {
        let (now, list) = (Time::from_ns(ask.at), ask.pages.iter().copied().map(Lpn).collect::<Vec<_>>());
        device.advance(now);
        let (id, flow) = (RequestId(id as u64), FlowId(ask.flow as u16));
        let extent = match ask.op {
            Op::Flush => Extent::Bytes { offset: 0, length: 0 },
            // The first or the last bytes of the page.
            _ if ask.is_part => {
                let (page, length) = (u64::from(config.geometry.page_bytes), 512);
                let skip = if id.0.is_multiple_of(2) { 0 } else { page - length };
                Extent::Bytes { offset: u64::from(ask.pages[0]) * page + skip, length }
            }
            _ => Extent::Pages(&list),
        };
        device
            .submit(now, &Request { id, flow, op: ask.op, fua: ask.fua, arrival: now, extent })
            .expect("within the drive");
    }
    drain(&mut device);
    let mut done = std::mem::take(device.completions());
    done.sort_by_key(|c| c.id);
    done.iter().map(|c| c.done.ns()).collect()
}

#[test]
fn the_buffer_against_a_plain_one() {
    against_a_plain_one(77, [0, 0, 0], BufferOrder::ByKind, 0);
}

#[test]
fn the_buffer_with_trims_against_a_plain_one() {
    for (seed, trims) in [(78, 5), (79, 30)] {
        against_a_plain_one(seed, [trims, 0, 0], BufferOrder::ByKind, 0);
    }
}

#[test]
fn the_buffer_with_flushes_and_fua_against_a_plain_one() {
    for (seed, shares) in [(80, [0, 5, 0]), (81, [0, 30, 0]), (82, [10, 20, 0])] {
        against_a_plain_one(seed, shares, BufferOrder::ByKind, 0);
    }
}

#[test]
fn reads_behind_writes_without_space_against_a_plain_one() {
    for (seed, shares) in [(83, [0, 0, 0]), (84, [20, 0, 0]), (85, [10, 20, 0])] {
        against_a_plain_one(seed, shares, BufferOrder::Shared, 0);
    }
}

#[test]
fn writes_that_enter_at_a_pace_against_a_plain_one() {
    for (seed, shares, order) in [(86, [0, 0, 0], BufferOrder::ByKind), (87, [10, 20, 0], BufferOrder::Shared)] {
        against_a_plain_one(seed, shares, order, 30_000);
    }
}

#[test]
fn parts_of_pages_against_a_plain_one() {
    let (by_kind, shared) = (BufferOrder::ByKind, BufferOrder::Shared);
    for (seed, shares, order, paces) in [
        (88, [0, 0, 50], by_kind, 0),
        (89, [20, 0, 80], by_kind, 0),
        (90, [0, 20, 50], by_kind, 0),
        (91, [10, 20, 50], shared, 0),
        (92, [10, 10, 50], by_kind, 30_000),
    ] {
        against_a_plain_one(seed, shares, order, paces);
    }
}

/// Random requests, of which `trims` percent are trims and `flushes` percent flushes or writes with FUA, with paces drawn below `paces` ns (0: none).
/// Of the writes `parts` percent are of a part of a page.
fn against_a_plain_one(seed: u128, [trims, flushes, parts]: [u64; 3], order: BufferOrder, paces: u64) {
    let mut rng = Pcg64Mcg::new(seed);
    let mut of = |below: u64| rng.next_u64() % below;
    for case in 0..600 {
        let flows = 1 + of(2) as usize;
        let pages = flows as u32 * (1 + of(10) as u32);
        let (write_back, read_allocate) = (of(4) > 0, of(2) > 0);
        let flush_above = of(u64::from(pages) + 1) as u32;
        let buffer = Buffer {
            pages,
            per_flow: of(2) > 0,
            write_back,
            read_allocate,
            flush_above,
            merge_writes: true,
            protected: flushes > 0 && of(8) == 0,
            pace: Duration::from_ns(if paces > 0 { of(paces) } else { 0 }),
        };
        let mut config = config(buffer.clone(), flows);
        config.front.order = order;
        config.ftl.read_modify_write = parts > 0 && write_back;
        if trims > 0 {
            let [command, page] = [of(3) * 1_000, of(3) * 100].map(Duration::from_ns);
            let reads = if of(2) > 0 { UnmappedReads::Memory } else { UnmappedReads::Flash };
            config.unmap = Unmap { command, page, reads };
        }
        let (span, gap, reads) = (1 + of(3 * u64::from(pages)), 1 + of(5_000), of(80));
        let mut at = 0;
        let asks: Vec<TestRequest> = (0..120)
            .map(|_| {
                at += if of(3) > 0 { of(2 * gap) } else { 0 };
                let flow = of(flows as u64) as usize;
                let op = match of(100) {
                    _ if trims > 0 && of(100) < trims => Op::Trim,
                    _ if flushes > 0 && of(100) < flushes => Op::Flush,
                    read if read < reads => Op::Read,
                    _ => Op::Write,
                };
                let is_part = parts > 0 && write_back && op == Op::Write && of(100) < parts;
                let count = if is_part { 1 } else { 1 + of(3) };
                let pages = (0..count).map(|_| (1_000 * flow as u64 + of(span)) as u32).collect();
                let fua = flushes > 0 && op == Op::Write && of(100) < flushes;
                TestRequest { at, flow, op, fua, is_part, pages: if op == Op::Flush { Vec::new() } else { pages } }
            })
            .collect();
        let (plain, real) = (Model::new(&config, &asks).run(), on_device(&config, &asks));
        let differs = (0..asks.len()).find(|&i| plain[i] != real[i]);
        assert_eq!(differs, None, "case {case}, {buffer:?}: {:?}", differs.map(|i| (&asks[i], plain[i], real[i])));
    }
}

fn write(at: u64, page: u32) -> TestRequest {
    TestRequest { at, flow: 0, op: Op::Write, fua: false, is_part: false, pages: vec![page] }
}

/// A write that waits for space is not overtaken by one whose page is in the buffer already.
#[test]
fn a_buffered_page_is_not_written_ahead_of_writes_that_wait() {
    let buffer = Buffer::plain(2, 2);
    let asks = [write(0, 0), write(0, 1), write(10, 2), write(20, 1), write(30, 2)];
    // Page 0 leaves the buffer at 4010 and page 2 enters; the pages of the writes behind it are in the buffer by then.
    let expected = [MEMORY, MEMORY, 4_010 + MEMORY, 4_010 + MEMORY, 4_010 + MEMORY];
    assert_eq!(on_device(&config(buffer, 1), &asks), expected);
}

/// A read of a page whose write waits for space is served from memory, as that of any page with a write that waits or runs (model 0.7);
/// of a page that the write has stored, from the buffer; of others, and once the write's page has gone to the flash, from the flash.
#[test]
fn a_read_of_a_page_whose_write_waits_for_space_is_served_from_memory() {
    let buffer = Buffer::plain(2, 0);
    let read = |at, page| TestRequest { op: Op::Read, ..write(at, page) };
    let large = TestRequest { pages: vec![1, 2, 3, 3], ..write(10, 0) };
    // Page 0 has been programmed at 4000, page 1 at 8000, page 2 at 12000, page 3 at 16000 and 20000.
    let asks =
        [write(0, 0), large, read(20, 1), read(30, 2), read(40, 3), read(3_000, 4), read(8_500, 3), read(40_000, 3)];
    let done = on_device(&config(buffer, 1), &asks);
    assert_eq!(done[1], 8_000 + MEMORY, "page 2 took the place of page 0 and page 3 that of page 1");
    assert_eq!(done[2..5], [20, 30, 40].map(|at| at + MEMORY));
    assert_eq!(done[6], 8_500 + MEMORY, "in the buffer");
    assert!(done[5] > 4_000 && done[7] == 41_000, "{done:?}");
}

/// Writes enter a buffer of four pages with a pace of 2,000 ns: at once while more than two pages are free, then half of that time after the
/// last, and all of it where one page is free.
#[test]
fn writes_enter_at_the_pace_of_the_free_pages() {
    let buffer = Buffer { pace: Duration::from_ns(2_000), ..Buffer::plain(4, 0) };
    let writes: Vec<_> = (0..7).map(|page| write(0, page)).collect();
    // Pages 0 and 1 are programmed by 4,000 and 8,000: a page becomes free, in which the fifth write enters 2,000 after the fourth, and the
    // sixth at once, because the fifth entered long before.
    let entered = [0, 0, 1_000, 3_000, 5_000, 8_000, 12_000];
    assert_eq!(on_device(&config(buffer, 1), &writes), entered.map(|at| at + MEMORY));
}

/// With `n` pages written once, all but `flush_above` are written to the flash in the background, oldest first, one
/// after the other.
#[test]
fn as_many_pages_as_flush_above_stay_dirty() {
    for flush_above in 0..5 {
        let buffer = Buffer::plain(8, flush_above);
        for count in 0..8u32 {
            let mut device = device(&config(buffer.clone(), 1), &recipe("fcfs", &[]));
            for page in 0..count {
                let (arrival, extent) = (Time::ZERO, Extent::Pages(&[Lpn(page)]));
                let id = RequestId(page.into());
                let request = Request { id, flow: FlowId(0), op: Op::Write, fua: false, arrival, extent };
                device.submit(arrival, &request).expect("within the drive");
            }
            drain(&mut device);
            let written = u64::from(count.saturating_sub(flush_above));
            assert_eq!(device.totals().user_programs, written, "{count} pages, {flush_above} may stay");
            assert_eq!(device.free_buffer_pages(FlowId(0)), Some(8 - count.min(flush_above)));
        }
    }
}

/// When writes are stored by flows with this many pages of the buffer each; a read of flow 0 keeps the chip until 1,000.
fn stored(each: u32, merge_writes: bool, lines: &[(u64, usize, &[u32])]) -> Vec<u64> {
    let flows = 1 + lines.iter().map(|line| line.1).max().expect("some");
    let pages = each * flows as u32;
    let buffer = Buffer { per_flow: true, merge_writes, ..Buffer::plain(pages, 0) };
    let read = TestRequest { at: 0, flow: 0, op: Op::Read, fua: false, is_part: false, pages: vec![9] };
    let write = |&(at, flow, pages): &(u64, usize, &[u32])| TestRequest {
        at,
        flow,
        op: Op::Write,
        fua: false,
        is_part: false,
        pages: pages.to_vec(),
    };
    let asks: Vec<TestRequest> = [read].into_iter().chain(lines.iter().map(write)).collect();
    let overwrite = Recipe { answers: vec![(Question::Cancel, "overwrite".to_owned())], ..recipe("fcfs", &[]) };
    let done = on_device_under(&config(buffer, flows), &overwrite, &asks);
    assert_eq!(done[0], READ);
    done[1..].iter().map(|done| done - MEMORY).collect()
}

/// A write of flow 1 replaces one of flow 0 that waits to be programmed. It takes the page of flow 1; that of flow 0 is free at once, and
/// the next write of flow 0 gets it. Flow 1's next write gets its page when the program of the replacing write has ended.
#[test]
fn a_write_of_another_flow_gives_the_replaced_writes_page_back() {
    // The programs of pages 5, 6 and 7 end at 5, 9 and 13 thousand.
    let lines: [(u64, usize, &[u32]); 5] =
        [(0, 0, &[5]), (100, 0, &[6]), (500, 1, &[5]), (600, 1, &[7]), (700, 0, &[8])];
    assert_eq!(stored(1, false, &lines), [0, 500, 500, 5_000, 9_000]);
    // One write replaces a write of each of two flows, for each of which another one waits.
    let lines: [(u64, usize, &[u32]); 5] =
        [(0, 0, &[5, 6]), (100, 0, &[7]), (200, 1, &[15, 16]), (300, 1, &[17]), (500, 2, &[5, 15])];
    assert_eq!(stored(2, false, &lines), [0, 500, 200, 500, 500]);
}

/// The same when the write of flow 1 has waited for space itself, until the program of page 20 ends at 5 thousand.
#[test]
fn a_write_that_waited_gives_the_replaced_writes_page_back() {
    let lines: [(u64, usize, &[u32]); 4] = [(0, 1, &[20]), (100, 0, &[5]), (200, 0, &[6]), (300, 1, &[5])];
    assert_eq!(stored(1, false, &lines), [0, 100, 5_000, 5_000]);
}

/// Where writes are merged the page stays in the part of flow 0, whose next write gets it when the page has been programmed; the page
/// of flow 1 is free meanwhile.
#[test]
fn a_page_stays_in_its_part_when_another_flow_writes_it() {
    // The programs of pages 5 and 7 end at 5 and 9 thousand.
    let lines: [(u64, usize, &[u32]); 5] =
        [(0, 0, &[5]), (500, 1, &[5]), (600, 0, &[6]), (700, 1, &[7]), (800, 1, &[8])];
    assert_eq!(stored(1, true, &lines), [0, 500, 5_000, 700, 9_000]);
}

/// Flows have equal parts; pages that are left over belong to nobody.
#[test]
fn parts_of_the_buffer_are_equal() {
    let buffer = Buffer { per_flow: true, ..Buffer::plain(5, 5) };
    let device = device(&config(buffer, 2), &recipe("fcfs", &[]));
    assert_eq!([0, 1].map(|flow| device.free_buffer_pages(FlowId(flow))), [Some(2); 2]);
}
