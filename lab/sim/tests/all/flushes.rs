//! Flushes and writes with FUA (model 0.13): exact scenes. The plain model of them is that of the buffer (`buffer_model`).

use crate::common::play::{TestRequest, ends_under, flush, fua, page};
use crate::common::{device, one_plane, recipe};
use flashlane_core::Op::{Flush, Read, Write};
use flashlane_core::decide::Question;
use flashlane_core::{Extent, FlowId, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::{Buffer, Charge, Config, Precondition, Protocol, Service};
use flashlane_ssd::{Refusal, Totals};

/// A whole read, a whole program, memory, ns.
const PAGE: u64 = 75_000 + 24_601;
const PROGRAM: u64 = 24_601 + 1_300_000;
const MEMORY: u64 = 1_000;

/// One plane, full, with a buffer of four pages that keeps them until it must write them out.
fn drive() -> Config {
    let mut config = one_plane();
    config.ftl.logical_pages = 4_000;
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config.buffer = Some(Buffer::plain(4, 4));
    config
}

fn ends(config: &Config, asks: &[TestRequest]) -> (Vec<u64>, Totals) {
    ends_under(config, &recipe("fcfs", &[]), asks)
}

/// A flush writes out what is dirty; with nothing dirty, a protected buffer or none, it takes the time of the memory. So does FUA with
/// a protected buffer; without a buffer it means nothing.
#[test]
fn a_flush_waits_for_what_is_dirty() {
    let asks = [page(0, Write, 3), page(0, Write, 1), flush(10_000), flush(9_000_000), fua(10_000_000, 7)];
    let (done, totals) = ends(&drive(), &asks);
    assert_eq!(done[2..], [10_000 + 2 * PROGRAM, 9_000_000 + MEMORY, 10_000_000 + PROGRAM]);
    assert_eq!(totals.user_programs, 3);
    let mut protected = drive();
    protected.buffer.as_mut().expect("one").protected = true;
    let (done, totals) = ends(&protected, &asks);
    assert_eq!(done[2..], [10_000 + MEMORY, 9_000_000 + MEMORY, 10_000_000 + MEMORY]);
    assert_eq!(totals.user_programs, 0);
    let mut none = drive();
    none.buffer = None;
    let (done, _) = ends(&none, &asks);
    assert_eq!(done, [PROGRAM, 2 * PROGRAM, 10_000 + MEMORY, 9_000_000 + MEMORY, 10_000_000 + PROGRAM]);
}

/// Page 1 is written again while the program for the flush is under way: the flush ends with that program, and page 1 stays dirty. A second
/// flush waits for the next one. A page that is first written after the first flush is not waited for.
#[test]
fn later_writes_do_not_prolong_a_flush() {
    let asks = [page(0, Write, 1), flush(10_000), page(20_000, Write, 1), page(30_000, Write, 2)];
    let (done, totals) = ends(&drive(), &asks);
    assert_eq!((done[1], totals.user_programs), (10_000 + PROGRAM, 1));
    let asks = [asks.to_vec(), vec![flush(40_000)]].concat();
    let (done, totals) = ends(&drive(), &asks);
    // Page 2 is written out at once, page 1 when its program has ended.
    assert_eq!((done[1], done[4], totals.user_programs), (10_000 + PROGRAM, 10_000 + 3 * PROGRAM, 3));
}

/// The program of page 1 waits behind a read when a younger write takes its place: the flush ends when that one has been programmed.
#[test]
fn a_cancelled_program_counts_when_its_successor_ends() {
    let mut config = drive();
    let buffer = config.buffer.as_mut().expect("one");
    (buffer.flush_above, buffer.merge_writes) = (0, false);
    let cancels = Recipe { answers: vec![(Question::Cancel, "overwrite".to_owned())], ..recipe("fcfs", &[]) };
    let asks = [page(0, Read, 9), page(10, Write, 1), flush(20), page(30, Write, 1), page(40, Write, 2)];
    let (done, totals) = ends_under(&config, &cancels, &asks);
    assert_eq!((done[0], done[2]), (PAGE, PAGE + PROGRAM));
    assert_eq!((totals.cancelled, totals.user_programs), (1, 2));
}

/// With SATA a flush waits until the commands before it have ended, and those behind it wait for it.
#[test]
fn a_flush_is_alone_in_a_sata_drive() {
    let mut config = drive();
    config.front.protocol = Protocol::Sata { depth: 32 };
    let asks = [page(0, Write, 1), page(10_000, Read, 9), flush(10_010), page(10_020, Read, 8)];
    let (done, _) = ends(&config, &asks);
    let read = 10_000 + PAGE;
    assert_eq!(done, [MEMORY, read, read + PROGRAM, read + PROGRAM + PAGE]);
}

/// Under serial service a flush writes its dirty pages out at page times, `cluster` at a time, and so does a write with FUA its own; the
/// command behind waits for it.
#[test]
fn serial_service_writes_out_for_a_flush() {
    for (cluster, programs) in [(1, 3), (2, 2), (4, 1)] {
        let mut config = drive();
        config.geometry.channels = 4;
        config.front.service = Service::Serial { cluster, charge: Charge::FreeAware };
        config.front.in_flight = 1;
        let asks = [page(0, Write, 1), page(10, Write, 3), page(20, Write, 2), flush(10_000), page(10_010, Write, 1)];
        let asks = [&asks[..], &[flush(9_000_000), flush(19_000_000), fua(29_000_000, 7)]].concat();
        let (done, _) = ends(&config, &asks);
        let flushed = 10_000 + programs * PROGRAM;
        assert_eq!(done[3..5], [flushed, flushed + MEMORY], "{cluster}");
        assert_eq!(done[5..], [9_000_000 + PROGRAM, 19_000_000 + MEMORY, 29_000_000 + PROGRAM], "{cluster}");
    }
}

/// A flush of a part of the drive is refused.
#[test]
fn a_flush_has_no_offset() {
    let mut device = device(&drive(), &recipe("fcfs", &[]));
    let extent = Extent::Bytes { offset: 8_192, length: 0 };
    let request = Request { id: RequestId(0), flow: FlowId(0), op: Flush, fua: false, arrival: Time::ZERO, extent };
    assert_eq!(device.submit(Time::ZERO, &request), Err(Refusal::FlushOfPart));
}
