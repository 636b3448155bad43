//! The rebalancer on boards made by hand: which chip gives, which write, to which plane, and when none moves.

use super::*;
use crate::pick::testing::{board, scene, to};
use alloc::vec;
use flashlane_core::Time;
use flashlane_core::Transaction;
use flashlane_core::board::{Command, Facts, Service};
use flashlane_core::geometry::Geometry;
use flashlane_core::transaction::Stage;

const CYCLE: u64 = 1000;

/// `chips` single-plane chips on a channel; a read takes a cycle, a program four.
fn chips(chips: u32) -> Board {
    let facts = board(1, 1).facts;
    let geometry = Geometry { chips_per_channel: chips, ..facts.geometry };
    let array = [CYCLE, 4 * CYCLE, 10 * CYCLE].map(Duration::from_ns);
    let (transfer_page, transfer_sectors) = (Duration::ZERO, vec![Duration::ZERO; 9]);
    let mut board = Board::new(Facts { geometry, array, transfer_page, transfer_sectors, ..facts }, 1);
    for plane in &mut board.planes {
        (plane.has_free_page, plane.free_pages, plane.free_blocks) = (true, 100, 8);
    }
    board.now = Time::from_ns(100 * CYCLE);
    board
}

/// A transaction of `op` joins the tail of `unit`'s queue.
fn put(board: &mut Board, unit: u16, op: FlashOp) -> TxnId {
    put_at(board, 0, unit, op)
}

/// The same at any priority.
fn put_at(board: &mut Board, priority: u8, unit: u16, op: FlashOp) -> TxnId {
    let (id, unit) = (TxnId(board.txns.len() as u32), UnitId(unit));
    let plane = PlaneId(unit.0 * board.facts.geometry.planes_per_unit() as u16);
    let queue = board.queue_for(unit, op, priority);
    let serial = u64::from(id.0);
    let stage = Stage::Waiting;
    board.txns.push(Transaction { op, priority, plane, unit, queue, serial, stage, ..Transaction::EMPTY });
    board.link(id, queue, TxnId::NONE);
    id
}

/// `unit` works on a program that began this many cycles ago.
fn busy(board: &mut Board, unit: u16, cycles_ago: u64) {
    let state = &mut board.units[usize::from(unit)];
    state.service = Service::Busy;
    let started = Time::from_ns(board.now.ns() - cycles_ago * CYCLE);
    state.command = Command { op: FlashOp::Program, started, ..Command::NONE };
}

fn rebalance(params: &[(&str, u64)]) -> Rebalance {
    Rebalance::of(&Values { params: PARAMS, set: params, known: None })
}

/// Five reads are less work than two writes. The foremost write moves; from the tail, the hindmost.
#[test]
fn the_chip_with_the_most_work_gives_its_foremost_write() {
    let mut board = chips(4);
    for _ in 0..5 {
        put(&mut board, 0, FlashOp::Read);
    }
    put(&mut board, 0, FlashOp::Program);
    let writes = [0, 1, 2].map(|_| put(&mut board, 1, FlashOp::Program));
    put(&mut board, 2, FlashOp::Program);
    for unit in 0..3 {
        busy(&mut board, unit, 1);
    }
    let stolen = |board: &Board, params: &[(&str, u64)]| {
        rebalance(params).steal_write(board, UnitId(3)).map(|moved| (moved.write, moved.to))
    };
    let rule = "the chip with the most work gives its foremost write, or its hindmost if set";
    let scene = scene(&board);
    assert_eq!(stolen(&board, &[]), Some((writes[0], PlaneId(3))), "{rule}; a read takes 1, a write 4; {scene}");
    let from_tail = stolen(&board, &[("rebalance_from_tail", 1)]);
    assert_eq!(from_tail, Some((writes[2], PlaneId(3))), "{rule}; a read takes 1, a write 4; {scene}");
    for _ in 0..3 {
        put(&mut board, 0, FlashOp::Read);
    }
    let equal = stolen(&board, &[]);
    assert_eq!(
        equal,
        Some((TxnId(5), PlaneId(3))),
        "of chips with as much work the first gives: 8 reads and a write are 3 writes"
    );
    busy(&mut board, 0, 2);
    let later = stolen(&board, &[]);
    assert_eq!(later, Some((writes[0], PlaneId(3))), "what is left of the command in service is work too");
}

/// A write behind an older write of its page, or for which garbage was collected, stays; without another, its chip gives none.
#[test]
fn some_writes_stay() {
    let mut board = chips(2);
    let writes = [0, 1, 2].map(|_| put(&mut board, 0, FlashOp::Program));
    busy(&mut board, 0, 1);
    board.txn_mut(writes[0]).blocked_by = TxnId(99);
    board.units[0].foreground_gc = flashlane_core::board::ForegroundGc::begun(writes[1], false, 0, false);
    let stolen = |board: &Board| rebalance(&[]).steal_write(board, UnitId(1)).map(|moved| moved.write);
    let rule = "a write behind an older one of its page, or whose collection has begun, stays";
    assert_eq!(stolen(&board), Some(writes[2]), "{rule}; {}", scene(&board));
    board.txn_mut(writes[2]).blocked_by = TxnId(98);
    assert_eq!(stolen(&board), None, "{rule}, and without another no write moves");
}

/// A write moves only if it begins earlier, by more than the least gain: what stands before it counts, older reads too.
#[test]
fn a_move_must_gain_time() {
    let mut board = chips(2);
    put(&mut board, 0, FlashOp::Read);
    let write = put(&mut board, 0, FlashOp::Program);
    for _ in 0..2 {
        put(&mut board, 0, FlashOp::Read);
    }
    let gains =
        |board: &Board, us: u64| rebalance(&[("rebalance_min_gain_us", us)]).steal_write(board, UnitId(1)).is_some();
    assert!(
        gains(&board, 0) && !gains(&board, 1),
        "a write moves if it begins earlier by more than the least gain: only one read of 1 us is older"
    );
    busy(&mut board, 0, 1);
    assert!(gains(&board, 3) && !gains(&board, 4), "what is left of the command in service counts too, 3 us");
    let other = put(&mut board, 1, FlashOp::Program);
    assert!(!gains(&board, 0), "a write that waits at its new chip is as long as what it leaves");
    board.unlink(other);
    board.unlink(write);
    assert!(!gains(&board, 0), "only writes move");
}

/// From the tail, the writes in front of the one that moves count: one of four cycles, also if the hindmost must stay.
#[test]
fn a_move_from_the_tail_must_gain_time() {
    let mut board = chips(2);
    put(&mut board, 0, FlashOp::Program);
    let gains = |board: &Board, us: u64| {
        rebalance(&[("rebalance_from_tail", 1), ("rebalance_min_gain_us", us)])
            .steal_write(board, UnitId(1))
            .map(|moved| moved.write)
    };
    assert_eq!(gains(&board, 0), None, "a write with nothing in front of it stays");
    let rule = "from the tail a write moves if the writes in front, of 4 us each, take more than the least gain";
    let second = put(&mut board, 0, FlashOp::Program);
    assert_eq!([3, 4].map(|us| gains(&board, us)), [Some(second), None], "{rule}; one is in front");
    let hindmost = put(&mut board, 0, FlashOp::Program);
    assert_eq!([7, 8].map(|us| gains(&board, us)), [Some(hindmost), None], "{rule}; two are in front");
    board.txn_mut(hindmost).blocked_by = TxnId(99);
    assert_eq!([3, 4].map(|us| gains(&board, us)), [Some(second), None], "{rule}; the hindmost must stay");
}

/// Higher priorities are served first, so their writes are the foremost, and stand in front of those of lower ones.
#[test]
fn writes_of_a_higher_priority_are_in_front() {
    let mut board = Board::new(Facts { priorities: 2, ..chips(2).facts }, 1);
    board.now = Time::from_ns(100 * CYCLE);
    board.planes.iter_mut().for_each(|plane| (plane.has_free_page, plane.free_blocks) = (true, 8));
    busy(&mut board, 0, 1);
    let [low, high] = [0, 1].map(|priority| put_at(&mut board, priority, 0, FlashOp::Program));
    let moves = |board: &Board, from_tail: u64, us: u64| {
        let params = [("rebalance_from_tail", from_tail), ("rebalance_min_gain_us", us)];
        rebalance(&params).steal_write(board, UnitId(1)).map(|moved| moved.write)
    };
    let scene = scene(&board);
    assert_eq!(moves(&board, 0, 0), Some(high), "the foremost write is one of the highest priority; {scene}");
    assert_eq!(moves(&board, 1, 0), Some(low), "the hindmost write is one of the lowest priority; {scene}");
    board.txn_mut(high).blocked_by = TxnId(99);
    let gains = [6, 7].map(|us| moves(&board, 0, us));
    assert_eq!(
        gains,
        [Some(low), None],
        "3 us in service and a write of 4 of the higher priority are before it; {scene}"
    );
}

/// The plane with fewest writes, then most free pages, then the first; none that is short of blocks or collects.
#[test]
fn the_plane_that_takes_the_write() {
    let mut board = board(2, 2);
    for (plane, free_pages) in board.planes.iter_mut().zip([50, 70, 90, 90]) {
        (plane.has_free_page, plane.free_pages, plane.free_blocks) = (true, free_pages, 5);
    }
    let takes = |board: &Board, expected: Option<u16>, rule: &str| {
        let plane = receiver(board, UnitId(0)).map(|plane| plane.0);
        assert_eq!(plane, expected, "{rule}; {}", scene(board));
    };
    takes(&board, Some(2), "of planes without a write the one with most free pages takes it, the first of equals");
    crate::pick::testing::program(&mut board, 2, 0);
    takes(&board, Some(3), "the plane for which fewest writes wait takes it");
    board.planes[3].collecting = true;
    takes(&board, Some(1), "a plane that is collected takes none");
    board.planes[1].free_blocks = board.facts.gc_start_blocks;
    takes(&board, Some(1), "a plane is not short of blocks while it has as many as collection begins below");
    board.planes[1].free_blocks = board.facts.gc_start_blocks - 1;
    takes(&board, Some(0), "a plane that is short of blocks takes none");
    board.planes[0].has_free_page = false;
    takes(&board, Some(2), "the plane for which a write waits takes it if no other can");
    board.planes[2].has_free_page = false;
    takes(&board, None, "a plane without a free page takes none");
}

/// Writes go home, or with rotation to the next plane in turn.
#[test]
fn writes_begin_at_home_or_in_turn() {
    let board = chips(3);
    let mut place = rebalance(&[]);
    assert_eq!([0; 3].map(|_| place.plane(&board, to(2)).0), [2, 2, 2], "writes begin at home");
    let mut place = rebalance(&[("rebalance_after_rotation", 1)]);
    assert_eq!([0; 4].map(|_| place.plane(&board, to(2)).0), [0, 1, 2, 0], "or at the next plane in turn, if set");
    assert_eq!(
        rebalance(&[("rebalance_at_once", 3), ("rebalance_move_ns", 5)]).declares().migration,
        MigrationLimits { at_once: 3, takes: Duration::from_ns(5) }
    );
}
