//! Merging and plugs in scenes worked out by hand.

use alloc::vec::Vec;

use flashlane_core::{Duration, FlowId, Op, RequestId, Time};

use crate::config::{Config, Deadline, ElevatorConfig, FlowConfig, Merging};
use crate::{Bio, Block, Request, Stage};

const KIB: u64 = 1_024;

fn config(elevator: ElevatorConfig, depth: u32, tags: u32) -> Config {
    let merging = Some(Merging { max_bytes: 1_280 * KIB, max_segments: 128 });
    let flows = [FlowConfig::default(); 2].into();
    Config { elevator, depth, tags, merging, slice: Duration::from_us(100_000), flows }
}

fn deadline() -> ElevatorConfig {
    ElevatorConfig::MqDeadline(Deadline::usual())
}

fn us(us: u64) -> Time {
    Time::from_ns(us * 1_000)
}

/// A bio of flow 0, its place and length in KiB.
fn bio(id: u64, op: Op, offset: u64, length: u64) -> Bio {
    let (offset, bytes) = (offset * KIB, length * KIB);
    Bio { id: RequestId(id), flow: FlowId(0), op, plain: op.is_data(), offset, bytes }
}

fn enter(block: &mut Block, at: u64, bios: impl IntoIterator<Item = Bio>) {
    bios.into_iter().for_each(|bio| block.enter(us(at), bio));
    block.unplug(us(at));
}

/// What goes to the drive: number, place and length in KiB, bios.
fn issued(block: &mut Block, at: u64) -> Vec<(u64, u64, u64, u32)> {
    let words = |request: Request| (request.id.0, request.offset / KIB, request.bytes / KIB, request.bios);
    core::iter::from_fn(|| block.issue(us(at))).map(words).collect()
}

#[test]
fn what_a_flow_asks_at_one_instant_in_a_row_is_one_request() {
    let mut block = Block::new(&config(ElevatorConfig::None, 8, 8));
    enter(&mut block, 0, (0..4).map(|id| bio(id, Op::Read, 4 * id, 4)));
    assert_eq!(issued(&mut block, 0), [(0, 0, 16, 4)]);
    assert_eq!(block.bios(RequestId(0)).map(|(bio, _)| bio.id.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    enter(&mut block, 1, [bio(4, Op::Read, 16, 4)]);
    assert_eq!(issued(&mut block, 1), [(4, 16, 4, 1)], "a later instant");
    block.completed(us(2), RequestId(0));
    enter(&mut block, 2, [bio(5, Op::Write, 8, 4), bio(6, Op::Write, 4, 4)]);
    assert_eq!(issued(&mut block, 2), [(5, 4, 8, 2)], "before the last one");
    assert_eq!((block.waits()[0].requests, block.waits()[0].merged), (7, 4));
}

/// Another place, direction, kind or flow, or more than fits: a request of its own.
#[test]
fn what_does_not_fit_is_a_request_of_its_own() {
    let sizes = |merging: Merging, bios: &[Bio]| {
        let mut block = Block::new(&Config { merging: Some(merging), ..config(ElevatorConfig::None, 8, 8) });
        enter(&mut block, 0, bios.iter().copied());
        issued(&mut block, 0).iter().map(|request| request.2).collect::<Vec<_>>()
    };
    let plenty = Merging { max_bytes: 1_280 * KIB, max_segments: 128 };
    let first = bio(0, Op::Write, 0, 4);
    let second = bio(1, Op::Write, 4, 4);
    assert_eq!(sizes(plenty, &[first, second]), [8]);
    let apart = [
        Bio { offset: 8 * KIB, ..second },
        Bio { offset: 2 * KIB, ..second },
        Bio { op: Op::Read, ..second },
        Bio { plain: false, ..second },
        Bio { op: Op::Trim, plain: false, ..second },
        Bio { flow: FlowId(1), ..second },
    ];
    for other in apart {
        assert_eq!(sizes(plenty, &[first, other]), [4, 4], "{other:?}");
    }
    assert_eq!(sizes(Merging { max_bytes: 8 * KIB - 1, ..plenty }, &[first, second]), [4, 4]);
    let third = bio(2, Op::Write, 8, 4);
    assert_eq!(sizes(Merging { max_segments: 2, ..plenty }, &[first, second, third]), [8, 4]);
    let between = Bio { offset: 512 * KIB, ..second };
    let next = Bio { id: RequestId(2), ..second };
    assert_eq!(sizes(plenty, &[first, between, next]), [4, 4, 4], "only with the last in the plug");
}

/// After 32 requests, or one of 128 KiB, the plug ends; an elevator then has what it held, without one it has gone on its way.
#[test]
fn a_plug_ends_when_it_is_full() {
    let mut block = Block::new(&config(ElevatorConfig::None, 64, 64));
    let scattered = (0..32).map(|id| bio(id, Op::Read, 64 * id, 4));
    scattered.for_each(|bio| block.enter(us(0), bio));
    assert_eq!(issued(&mut block, 0), [], "32 are in the plug");
    block.enter(us(0), bio(32, Op::Read, 64 * 31 + 4, 4));
    assert_eq!(issued(&mut block, 0), [], "this one joins the last");
    block.enter(us(0), bio(33, Op::Read, 4_096, 4));
    assert_eq!(issued(&mut block, 0).len(), 32);
    block.unplug(us(0));
    assert_eq!(issued(&mut block, 0), [(33, 4_096, 4, 1)]);

    let mut block = Block::new(&config(ElevatorConfig::None, 8, 8));
    block.enter(us(0), bio(0, Op::Write, 0, 64));
    block.enter(us(0), bio(1, Op::Write, 64, 64));
    block.enter(us(0), bio(2, Op::Write, 128, 64));
    assert_eq!(issued(&mut block, 0), [], "what lies beside it still joins");
    block.enter(us(0), bio(3, Op::Write, 512, 4));
    assert_eq!(issued(&mut block, 0), [(0, 0, 192, 3)]);
}

/// With one in the drive and one that has left the elevator, requests that wait grow at both ends; one that begins lower then goes sooner.
#[test]
fn requests_that_wait_in_an_elevator_grow_at_both_ends() {
    let mut block = Block::new(&config(deadline(), 1, 16));
    enter(&mut block, 0, [bio(0, Op::Read, 900, 4), bio(1, Op::Read, 1_000, 4)]);
    assert_eq!(issued(&mut block, 0), [(0, 900, 4, 1)]);
    for (at, bio) in
        [bio(2, Op::Read, 104, 4), bio(3, Op::Read, 50, 4), bio(4, Op::Read, 1_004, 4)].into_iter().enumerate()
    {
        enter(&mut block, 1 + at as u64, [bio]);
        assert_eq!(issued(&mut block, 1 + at as u64), [], "1 has left the elevator: 4 does not join it");
    }
    enter(&mut block, 5, [bio(5, Op::Read, 108, 4)]);
    enter(&mut block, 6, [bio(6, Op::Read, 100, 4)]);
    enter(&mut block, 7, [bio(7, Op::Read, 46, 4)]);
    let mut order = Vec::new();
    let mut last = RequestId(0);
    for at in 10..14 {
        block.completed(us(at), last);
        let next = issued(&mut block, at);
        last = RequestId(next[0].0);
        order.extend(next);
    }
    // The batch rises from 1,004; then the oldest begins, 2, which by then begins at 100.
    assert_eq!(order, [(1, 1_000, 4, 1), (4, 1_004, 4, 1), (2, 100, 12, 3), (3, 46, 8, 2)]);
}

/// A front merge changes a request's place: the next batch takes the one that now begins lower.
#[test]
fn a_front_merge_moves_a_request() {
    let order = |with_front: bool| {
        let mut block = Block::new(&config(deadline(), 1, 16));
        enter(&mut block, 0, [bio(0, Op::Read, 0, 4), bio(1, Op::Read, 8, 4)]);
        assert_eq!(issued(&mut block, 0), [(0, 0, 4, 1)]);
        enter(&mut block, 1, [bio(2, Op::Read, 64, 4), bio(3, Op::Read, 56, 4)]);
        enter(&mut block, 2, with_front.then(|| bio(4, Op::Read, 48, 16)).map(|bio| Bio { bytes: 8 * KIB, ..bio }));
        enter(&mut block, 2, with_front.then(|| bio(5, Op::Read, 44, 4)));
        let mut order = Vec::new();
        let mut last = 0;
        for at in [3, 4, 5] {
            block.completed(us(at), RequestId(last));
            let next = issued(&mut block, at);
            last = next[0].0;
            order.extend(next);
        }
        order
    };
    assert_eq!(order(false), [(1, 8, 4, 1), (3, 56, 4, 1), (2, 64, 4, 1)]);
    assert_eq!(order(true), [(1, 8, 4, 1), (3, 44, 16, 3), (2, 64, 4, 1)]);
}

/// Without a free tag a thread waits with one bio, its plug ends, and what stands behind joins that one once it has its tag: one tag for all.
#[test]
fn what_stands_behind_one_that_waits_for_a_tag_joins_it() {
    let mut block = Block::new(&config(ElevatorConfig::None, 8, 1));
    for bio in
        [bio(0, Op::Write, 0, 4), bio(1, Op::Write, 100, 4), bio(2, Op::Write, 104, 4), bio(3, Op::Write, 200, 4)]
    {
        block.enter(us(0), bio);
    }
    assert_eq!(issued(&mut block, 0), [(0, 0, 4, 1)], "the plug has ended: its thread waits");
    block.completed(us(7), RequestId(0));
    assert_eq!(issued(&mut block, 7), [(1, 100, 8, 2)]);
    block.completed(us(9), RequestId(1));
    block.unplug(us(9));
    assert_eq!(issued(&mut block, 9), [(3, 200, 4, 1)]);
    let tag = block.waits()[0].stages[Stage::Tag as usize];
    assert_eq!((tag.requests, tag.total_ns), (3, 7_000 + 7_000 + 9_000));
}
