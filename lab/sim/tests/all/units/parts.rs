//! Writes of a part of a unit in a write-back buffer, whose rest is read first (model 0.10): exact scenes. The plain model of them is that of the
//! buffer (`buffer_model`).

use super::{PAGE, READ, row, with_slots};
use crate::common::play::{TestRequest, Touch, ends_under, events, flush, hand_over, page};
use crate::common::{device, one_plane, recipe};
use flashlane_core::Op::{Read, Trim, Write};
use flashlane_core::Time;
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_ssd::Totals;
use flashlane_ssd::config::{Config, Mapping, Precondition, UnmappedReads};

const MEMORY: u64 = 1_000;
/// The read of a rest.
const REST: u64 = READ + PAGE;

/// One plane, full, with rows of four pages and a buffer of twelve, which leave it as soon as they can.
fn drive() -> Config {
    let mut config = with_slots(4, one_plane());
    config.precondition = Precondition::Filled { per_mille: 1000 };
    config.ftl.read_modify_write = true;
    config
}

/// A write of bytes of a page, 512 from this one on.
fn part(at: u64, number: u64, from: u64) -> TestRequest {
    TestRequest { at, flow: 0, op: Write, touch: Touch::Bytes(number * 8_192 + from, 512) }
}

fn done(config: &Config, asks: &[TestRequest]) -> (Vec<u64>, Totals) {
    ends_under(config, &recipe("fcfs", &[]), asks)
}

/// When a program of a page joined a queue.
fn queued(config: &Config, asks: &[TestRequest]) -> Vec<(u64, u32)> {
    let programs = |stamped: &flashlane_core::event::Stamped| match stamped.event {
        Event::Queued { op: FlashOp::Program, lpn, .. } => Some((stamped.at.ns(), lpn.0)),
        _ => None,
    };
    events(config, &recipe("fcfs", &[]), asks).iter().filter_map(programs).collect()
}

/// Two parts of a page are done in the buffer, and the rest is read once. Until then its row is not full (A-SUB-12).
#[test]
fn the_rest_is_read_once_before_the_page_is_gathered() {
    let mut asks = vec![part(0, 5, 0), page(0, Write, 6), page(0, Write, 7), page(0, Write, 8), part(10, 5, 1_024)];
    asks.push(flush(REST + 1));
    let (ends, totals) = done(&drive(), &asks);
    assert_eq!((ends[0], ends[4], ends[5]), (MEMORY, 10 + MEMORY, REST + row(4)));
    assert_eq!((totals.partial_reads, totals.user_programs, totals.padded), (1, 4, Some(0)));
    assert_eq!(queued(&drive(), &asks), [6, 7, 8, 5].map(|lpn| (REST, lpn)));
    let mut off = drive();
    off.ftl.read_modify_write = false;
    asks.remove(4);
    let (ends, totals) = done(&off, &asks);
    assert_eq!((ends[4], totals.partial_reads), (row(4), 0));
}

/// A flush, and a write with FUA, wait for the rest and then for the program.
#[test]
fn flushes_and_fua_wait_for_the_rest() {
    let (ends, totals) = done(&drive(), &[part(0, 5, 0), flush(10)]);
    assert_eq!((ends[1], totals.padded), (REST + row(1), Some(3)));
    let fua = TestRequest { touch: Touch::Fua(5 * 8_192, 512), ..part(0, 5, 0) };
    let (ends, totals) = done(&drive(), &[fua]);
    assert_eq!((ends[0], totals.partial_reads), (REST + row(1), 1));
}

/// A page that is written whole while its rest is being read waits for that no longer, and neither does one that is trimmed.
#[test]
fn a_page_that_is_written_whole_waits_for_no_rest() {
    let asks = [page(0, Read, 20), part(1, 5, 0), page(2, Write, 5), flush(3)];
    assert_eq!(queued(&drive(), &asks), [(3, 5)]);
    let (ends, totals) = done(&drive(), &asks);
    assert_eq!((ends[3], totals.partial_reads), (2 * REST + row(1), 1), "the older read goes first all the same");
    let asks = [part(0, 5, 0), page(10, Trim, 5), flush(20)];
    let (ends, totals) = done(&drive(), &asks);
    assert_eq!((ends[2], totals.partial_reads, totals.user_programs), (20 + MEMORY, 1, 0));
    // Written in part again after the trim it needs a read of its own, where unmapped pages are read, and none where the map tells.
    let asks = [part(0, 5, 0), page(10, Trim, 5), part(20, 5, 0), flush(30)];
    let (ends, totals) = done(&drive(), &asks);
    assert_eq!((ends[3], totals.partial_reads), (2 * REST + row(1), 2));
    let mut tells = drive();
    tells.unmap.reads = UnmappedReads::Memory;
    let (ends, totals) = done(&tells, &asks);
    assert_eq!((ends[3], totals.partial_reads), (REST + row(1), 1), "behind the read that was begun");
}

/// What the buffer has needs no read: of a page that is dirty, or whose program is under way.
#[test]
fn a_page_in_the_buffer_needs_no_read() {
    let asks = [page(0, Write, 5), part(10, 5, 0), flush(20), part(1_000_000, 5, 512), flush(2_000_000)];
    let (ends, totals) = done(&drive(), &asks);
    assert_eq!((ends[2], ends[4]), (20 + row(1), 2_000_000 + row(1)));
    assert_eq!((totals.partial_reads, totals.user_programs), (0, 2));
}

/// All pages of the buffer lack their rest, and a write waits for space: their reads need none. The twelve reads are older than the programs, of
/// which the first has the first four pages.
#[test]
fn a_buffer_full_of_parts_empties() {
    let asks: Vec<TestRequest> = (0..13).map(|number| part(0, number, 0)).collect();
    let (ends, totals) = done(&drive(), &asks);
    assert_eq!(ends[11], MEMORY);
    assert_eq!(ends[12], 12 * REST + row(4) + MEMORY);
    assert_eq!((totals.partial_reads, totals.user_programs), (13, 12));
}

/// The entry of the page comes first; its program finds it in memory.
#[test]
fn the_entry_comes_before_the_rest() {
    let mut config = drive();
    config.mapping = Some(Mapping {
        entries: 100,
        host_entries: 0,
        entries_per_page: 64,
        entry_bytes: 4,
        read_bytes: 8_192,
        warm: false,
    });
    config.check().expect("a legal device");
    let (ends, totals) = done(&config, &[part(0, 5, 0), part(10, 6, 0), flush(20)]);
    // The flush waits for page 5, whose row is padded before page 6 has its rest.
    assert_eq!(ends[2], 3 * REST + 2 * row(1));
    assert_eq!((totals.partial_reads, totals.padded), (2, Some(6)));
}

/// Reads of rests that wait for the flash are not among what it has done, in whichever instant that is asked.
#[test]
fn reads_of_rests_count_once_they_begin() {
    let mut device = device(&drive(), &recipe("fcfs", &[]));
    (0..3).for_each(|number| hand_over(&mut device, number, &part(0, number, 0)));
    for (at, begun) in [(0, 0), (1, 1), (REST, 1), (REST + 1, 2), (3 * REST, 3)] {
        device.advance(Time::from_ns(at));
        let totals = device.totals();
        assert_eq!((totals.partial_reads, totals.user[0]), (begun, begun), "at {at}");
    }
}
