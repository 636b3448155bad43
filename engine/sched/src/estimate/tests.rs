//! The estimator on boards made by hand: A-SLK-09 and 10, and the states the paper does not mention.

use super::*;
use crate::pick::testing::{board, program, read, serve};
use flashlane_core::board::{Command, Service, UnitCounters};
use flashlane_core::{Owner, Time};

const US: u64 = 1000;

/// The numbers of A-SLK-06 to 10: reads 75 + 25 us, programs 1300 + 25, erases 3800.
fn rounded() -> Board {
    board(1, 2)
}

fn response(estimate: &Estimate) -> u64 {
    estimate.response().ns()
}

/// A-SLK-10: three reads of one request on three chips.
#[test]
fn a_slk_10_three_reads() {
    let full = Duration::from_us(100);
    let estimator = Estimator::new(Options::default(), false);
    let (unit, op) = (UnitId(0), FlashOp::Read);
    let contended = |board: &mut Board| {
        (board.channels[0].stalled, board.channels[0].transfers) = (3, 10);
    };

    // a: three ahead, 825 us of a write left, E = 0.3 with 25 us a transfer.
    let mut a = rounded();
    contended(&mut a);
    let write = program(&mut a, 0, 1);
    serve(&mut a, &[write], Time::from_ns(1325 * US));
    a.now = Time::from_ns(500 * US);
    let first = estimator.at(&a, unit, op, 3, full);
    assert_eq!(response(&first), 1_232_500);

    // b: nothing ahead, collection 950/3 us, E = 0.3.
    let mut b = rounded();
    contended(&mut b);
    b.units[0].counters = UnitCounters { user: [1000, 500], erases: 5, moves: 320, ..UnitCounters::default() };
    let second = estimator.at(&b, unit, op, 0, full);
    assert_eq!(response(&second), 424_167, "424.1667 us, to the ns half up");

    // c: six ahead, half of the reads in commands of two, 40 us of a read left.
    let mut c = rounded();
    c.units[0].counters =
        UnitCounters { user: [100, 0], advanced: [50, 0], advanced_commands: [25, 0], ..UnitCounters::default() };
    let busy = read(&mut c, 0, 0, 1);
    serve(&mut c, &[busy], Time::from_ns(100 * US));
    c.now = Time::from_ns(60 * US);
    let third = estimator.at(&c, unit, op, 6, full);
    assert_eq!(response(&third), 590_000);

    let slack = [second, third].map(|estimate| (first.response() - estimate.response()).ns());
    assert_eq!(slack, [808_333, 642_500]);
}

/// A-SLK-09 on the board: a write, a read that runs late, an idle chip, an erase.
#[test]
fn a_slk_09_residual_of_a_chip() {
    let latency = latency(&rounded());
    assert_eq!((latency.read, latency.program, latency.erase), (100 * US, 1325 * US, 3800 * US));
    let left = |op, owner, now: u64| {
        let mut board = rounded();
        board.units[0].service = Service::Busy;
        board.units[0].command = Command { op, owner, started: Time::from_ns(1000 * US), ..Command::NONE };
        board.now = Time::from_ns(now * US);
        residual::remaining(&board, UnitId(0), false) / US
    };
    assert_eq!(left(FlashOp::Program, Owner::User, 1500), 825);
    assert_eq!(left(FlashOp::Read, Owner::User, 1200), 0);
    assert_eq!(left(FlashOp::Erase, Owner::Gc, 2000), 2800);
    assert_eq!(residual::remaining(&rounded(), UnitId(0), false), 0);
}

/// A paused write: what was left of it when it was paused, and the read in service.
#[test]
fn residual_of_a_paused_write() {
    let mut board = rounded();
    let at = |us: u64| Time::from_ns(us * US);
    let unit = &mut board.units[0];
    unit.paused = Command {
        lead: TxnId(0),
        op: FlashOp::Program,
        started: at(0),
        paused_at: at(350),
        remaining: Duration::from_us(975),
        ..Command::NONE
    };
    unit.service = Service::Busy;
    unit.command = Command { op: FlashOp::Read, started: at(350), ends: at(450), ..Command::NONE };
    board.now = at(380);
    assert_eq!(residual::remaining(&board, UnitId(0), false), (975 + 70) * US);
    board.facts.resume = Duration::from_us(5);
    assert_eq!(residual::remaining(&board, UnitId(0), true), (975 + 5 + 70) * US);
    board.units[0].service = Service::Paused;
    assert_eq!(residual::remaining(&board, UnitId(0), false), 975 * US);
}

/// The rest of a collection: three more moves, one of which is being read, and the erase.
#[test]
fn residual_of_a_collection() {
    let mut board = rounded();
    board.units[0].gc.reads = 2;
    board.planes[1].collecting = true;
    let unit = &mut board.units[0];
    unit.service = Service::Busy;
    unit.command = Command { op: FlashOp::Read, owner: Owner::Gc, started: Time::ZERO, ..Command::NONE };
    board.now = Time::from_ns(30 * US);
    let moves = 2 * (100 + 1325) + 1325;
    assert_eq!(residual::remaining(&board, UnitId(0), false) / US, 70 + moves + 3800);
}

/// D-SLK-04: what stands before a transaction counts, itself and what stands behind do not; all reads go before writes.
#[test]
fn only_what_goes_first_counts() {
    let mut board = rounded();
    let reads: [TxnId; 3] = core::array::from_fn(|i| read(&mut board, 0, 0, i as u32));
    let writes: [TxnId; 2] = core::array::from_fn(|i| program(&mut board, 0, 10 + i as u32));
    let mut estimator = Estimator::new(Options::default(), false);
    let mut queue = |id| estimator.waiting(&board, id).queue.ns() / US;
    assert_eq!(reads.map(&mut queue), [0, 100, 200]);
    assert_eq!(writes.map(&mut queue), [300, 300 + 1325]);
}

/// Footnote 3: the mean error of the last second is reported beside the estimate, and is not part of it.
#[test]
fn the_error_term_is_a_correction() {
    let mut board = rounded();
    let id = read(&mut board, 0, 0, 1);
    board.txn_mut(id).estimate = Duration::from_us(300);
    let mut estimator = Estimator::new(Options::default(), true);
    board.now = Time::from_ns(420 * US);
    estimator.ended(&board, id);
    let estimate = estimator.waiting(&board, id);
    assert_eq!((estimate.correction, response(&estimate)), (120_000, 100_000));
    let plain = Estimator::new(Options::default(), false).waiting(&board, id);
    assert_eq!((plain.correction, plain.response()), (0, estimate.response()));
}

/// An erase in service is one of the erases to come, and is counted by itself: here with another plane's victim behind it, of
/// which one page is left to move.
#[test]
fn residual_of_an_erase_and_another_victim() {
    let mut board = rounded();
    board.units[0].gc.reads = 1;
    board.planes.iter_mut().for_each(|plane| plane.collecting = true);
    let unit = &mut board.units[0];
    unit.service = Service::Busy;
    unit.command = Command { op: FlashOp::Erase, owner: Owner::Gc, started: Time::ZERO, ..Command::NONE };
    board.now = Time::from_ns(800 * US);
    assert_eq!(residual::remaining(&board, UnitId(0), false) / US, 3000 + (100 + 1325) + 3800);
}

/// Of the same kind, those of higher priorities go first, and those of the same priority that are before it; lower priorities do not.
#[test]
fn higher_levels_go_first() {
    let facts = rounded().facts;
    let mut board = Board::new(flashlane_core::board::Facts { priorities: 3, ..facts }, 1);
    let mut ids = [TxnId::NONE; 6];
    for (i, priority) in [0u8, 0, 1, 1, 1, 2].into_iter().enumerate() {
        let id = read(&mut board, i as u32, 0, i as u32);
        board.unlink(id);
        let queue = board.queue_for(UnitId(0), FlashOp::Read, priority);
        let txn = board.txn_mut(id);
        (txn.priority, txn.queue) = (priority, queue);
        board.link(id, queue, TxnId::NONE);
        ids[i] = id;
    }
    let mut estimator = Estimator::new(Options::default(), false);
    let queue = ids.map(|id| estimator.waiting(&board, id).queue.ns() / US);
    assert_eq!(queue, [400, 500, 100, 200, 300, 0]);
}

/// A write that is not bound to a unit yet: as many of those before it and itself as there are idle units go at once, and all
/// units share the rest. A unit with anything to do is not idle.
#[test]
fn writes_not_bound_to_a_unit() {
    let facts = rounded().facts;
    let geometry = flashlane_core::Geometry { chips_per_channel: 4, ..facts.geometry };
    let mut board = Board::new(flashlane_core::board::Facts { geometry, ..facts }, 1);
    let line = board.unplaced();
    let ids: [TxnId; 4] = core::array::from_fn(|i| {
        let id = program(&mut board, 0, i as u32);
        board.unlink(id);
        board.txn_mut(id).queue = line;
        board.link(id, line, TxnId::NONE);
        id
    });
    board.units[1].service = Service::Busy;
    board.units[2].set_waiting([1, 0]);
    let mut estimator = Estimator::new(Options::default(), false);
    let queue = ids.map(|id| estimator.waiting(&board, id).queue.ns());
    // Units 0 and 3 are idle: the first two wait for nothing.
    assert_eq!(queue, [0, 0, 1, 2].map(|waits_for| waits_for * 1_325_000 / 4));
}

/// With `gc_per_op` collection may come before every operation ahead of a write, reads and writes, and before it: here 4 times 950/3 us
/// (A-SLK-07).
#[test]
fn collection_before_every_operation_ahead_of_a_write() {
    let mut board = rounded();
    board.units[0].counters = UnitCounters { user: [1000, 500], erases: 5, moves: 320, ..UnitCounters::default() };
    for request in 0..2 {
        read(&mut board, 0, 0, request);
    }
    let [_, last] = [10, 11].map(|request| program(&mut board, 0, request));
    for (gc_per_operation, expected) in [(false, 316_667), (true, 1_266_667)] {
        let options = Options { gc_per_operation, ..Options::default() };
        assert_eq!(Estimator::new(options, false).waiting(&board, last).gc.ns(), expected);
    }
}
