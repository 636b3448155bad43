//! Violations of the rules about blocks in SLC mode.

use flashlane_core::event::Event;
use flashlane_core::request::Op;
use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_core::{Duration, Lpn, PlaneId, RequestId};
use flashlane_ssd::config::{FullCache, Latency, SlcCache};

use super::case::*;
use super::scenes::*;
use super::table::*;
use crate::Rule;

/// A device whose blocks have two pages in SLC mode; the last `static_blocks` blocks of each plane are always in SLC mode.
fn with_cache(static_blocks: u32) -> Case {
    let mut case = Case::new();
    case.config.gc.start_blocks = 2;
    case.config.slc = Some(SlcCache {
        static_blocks,
        dynamic: static_blocks == 0,
        dynamic_limit: u32::MAX,
        bits: 2,
        read: Duration::from_ns(READ),
        program: Duration::from_ns(PROGRAM),
        erase: Duration::from_ns(ERASE),
        idle: Some(Duration::ZERO),
        full: FullCache::Direct,
    });
    case
}

fn open(case: &mut Case, at: u64, block: u32) {
    case.push(at, Event::SlcOpened { plane: PlaneId(0), block });
}

/// Page `lpn` of plane 0 is written to `ppa`. Returns the end.
fn put(case: &mut Case, at: u64, lpn: u32, ppa: u32) -> u64 {
    let name = 1000 + u64::from(lpn);
    case.submit(at, name, Op::Write, 1);
    case.queue(at, name, Requester::Request(name), FlashOp::Program, lpn, 0);
    // Those of the fold in between are 30 to 70.
    let command = if lpn < 2 { 1 + u64::from(lpn) } else { name };
    let done = case.program(at, name, command, lpn, (0, ppa));
    case.complete(done, name);
    done
}

/// Block 6 is opened in SLC mode and filled.
fn filled() -> (Case, u64) {
    let mut case = with_cache(2);
    open(&mut case, 0, 6);
    let first = put(&mut case, 0, 0, 24);
    let second = put(&mut case, first, 1, 25);
    (case, second)
}

/// Block 6 is filled, and folded when the device is idle.
fn folded() -> Case {
    let (mut case, at) = filled();
    case.push(at, Event::VictimChosen { plane: PlaneId(0), block: 6, valid: 2 });
    case.queue(at, 3, Requester::Gc, FlashOp::Read, 0, 0);
    case.queue(at, 5, Requester::Gc, FlashOp::Read, 1, 0);
    let first = relocate(&mut case, at, 3, 0, (24, 0));
    let second = relocate(&mut case, first, 5, 1, (25, 1));
    case.erase(second, 7, 70, 0, 6);
    for stamped in &mut case.events {
        if let Event::Queued { owner, .. } = &mut stamped.event
            && *owner == Owner::Gc
        {
            *owner = Owner::Fold;
        }
    }
    case
}

/// Blocks 6 and 7 are filled in this order, and the folding of the first begins.
fn two_filled() -> Case {
    let (mut case, at) = filled();
    open(&mut case, at, 7);
    let first = put(&mut case, at, 2, 28);
    let second = put(&mut case, first, 3, 29);
    case.push(second, Event::VictimChosen { plane: PlaneId(0), block: 6, valid: 2 });
    case
}

/// Free blocks fall below five when a page goes to native cells, and the dynamic block 2 is folded for that.
fn short_of_blocks() -> Case {
    let mut case = with_cache(0);
    case.config.gc.start_blocks = 5;
    case.start = Some((&[(10, 0, 0), (11, 0, 1), (12, 0, 2)], &[(0, 0, 4), (0, 1, 4)]));
    open(&mut case, 0, 2);
    let first = put(&mut case, 0, 0, 8);
    let second = put(&mut case, first, 1, 9);
    put(&mut case, second, 2, 12);
    case.push(second, Event::VictimChosen { plane: PlaneId(0), block: 2, valid: 2 });
    case
}

/// Two dynamic blocks are opened, one after the other.
fn two_dynamic() -> Case {
    let mut case = with_cache(0);
    case.start = Some((&[(10, 0, 0), (11, 0, 1), (12, 0, 2)], &[(0, 0, 4), (0, 1, 4)]));
    open(&mut case, 0, 2);
    let first = put(&mut case, 0, 0, 8);
    let second = put(&mut case, first, 1, 9);
    open(&mut case, second, 3);
    put(&mut case, second, 2, 12);
    case
}

/// A device that gathers pages to wordlines of two while its cache is full; that has one page.
fn gathering() -> Case {
    let mut case = with_cache(2);
    case.config.nand.one_shot_pages = 2;
    open(&mut case, 0, 6);
    put(&mut case, 0, 0, 24);
    case
}

/// A device with rows of two pages, of which a block in SLC mode has one: a page is written there, and the row padded.
fn padded_row() -> Case {
    let mut case = with_cache(2);
    case.config.geometry.slots = 2;
    open(&mut case, 0, 6);
    put(&mut case, 0, 0, 24);
    case.push(0, Event::Padded { plane: PlaneId(0), ppa: 25 });
    case
}

/// An instant after [`folded`].
const LATER: u64 = 90_000_000;

pub fn rows() -> Vec<Breach> {
    vec![
        (Rule::SlcOpen, folded(), |c| open(c, LATER, 3)),
        (Rule::SlcOpen, folded(), |c| {
            open(c, LATER, 6);
            open(c, LATER, 7);
        }),
        (Rule::SlcOpen, two_dynamic(), |c| c.config.slc.as_mut().expect("a cache").dynamic_limit = 1),
        (Rule::SlcPages, folded(), |c| {
            open(c, LATER, 7);
            let first = put(c, LATER, 2, 28);
            let second = put(c, first, 3, 29);
            put(c, second, 4, 30);
        }),
        (Rule::SlcFirst, folded(), |c| {
            put(c, LATER, 2, 2);
        }),
        (Rule::SlcFirst, gathering(), |c| {
            put(c, LATER, 2, 0);
            c.push(LATER, Event::Padded { plane: PlaneId(0), ppa: 1 });
        }),
        (Rule::Wordline, padded_row(), |c| c.leave_out(0, |e| matches!(e, Event::Padded { .. }))),
        (Rule::SlcMoves, folded(), |c| {
            open(c, 2 * (X + PROGRAM) + 1, 7);
            edit!(c, 5, dispatched, Event::Dispatched { ppa, .. } => *ppa = 28);
            edit!(c, 3, mapped, Event::Mapped { ppa, .. } => *ppa = 28);
        }),
        (Rule::FoldNeed, folded(), |c| c.config.slc.as_mut().expect("a cache").idle = None),
        (Rule::FoldOrder, two_filled(), |c| edit!(c, 0, chosen, Event::VictimChosen { block, .. } => *block = 7)),
        (Rule::FoldFirst, short_of_blocks(), |c| {
            edit!(c, 0, chosen, Event::VictimChosen { block, valid, .. } => (*block, *valid) = (1, 0));
        }),
        (Rule::FoldOwner, folded(), |c| {
            let erase = |e: &Event| matches!(e, Event::Queued { txn: 7, .. });
            edit!(c, 0, erase, Event::Queued { owner, .. } => *owner = Owner::Gc);
        }),
    ]
}

/// A read of a page without a copy waits while the page is trimmed, which changes nothing, written in SLC mode, and trimmed again: it reads
/// the copy in SLC mode.
#[test]
fn a_trim_of_a_page_without_a_copy_changes_nothing_for_its_reads() {
    let mut case = with_cache(2);
    case.config.nand.read = Latency::Constant(Duration::from_ns(2 * READ));
    let trim = |case: &mut Case, at: u64, name: u64| {
        case.submit(at, name, Op::Trim, 1);
        case.push(at, Event::Unmapped { request: RequestId(name), lpn: Lpn(0), pages: 1 });
        case.complete(at, name);
    };
    case.submit(0, 1, Op::Read, 1);
    case.queue(0, 1, Requester::Request(1), FlashOp::Read, 0, 0);
    trim(&mut case, 0, 2);
    open(&mut case, 0, 6);
    let written = put(&mut case, 0, 0, 24);
    trim(&mut case, written, 3);
    let done = case.read(written, 1, 5, 0, 24, 0);
    case.complete(done, 1);
    let verdict = case.audit();
    assert!(verdict.is_clean(), "{verdict}");
}
