//! Dynamic allocation on boards made by hand: A-SLK-20, turns, companions, who is free.

use super::*;
use crate::pick::testing::board;
use alloc::vec;
use alloc::vec::Vec;
use flashlane_core::Time;
use flashlane_core::board::Command;
use flashlane_core::geometry::Geometry;

const US: u64 = 1000;

/// Single-plane chips: `channels` of `chips` each, all with room.
fn chips(channels: u32, chips: u32) -> Board {
    let facts = board(1, 1).facts;
    let geometry = Geometry { channels, chips_per_channel: chips, ..facts.geometry };
    let mut board = Board::new(flashlane_core::board::Facts { geometry, ..facts }, 1);
    for plane in &mut board.planes {
        (plane.room, plane.free_pages) = (true, 100);
    }
    board
}

/// A write's service is 10: chip by chip this much of another is left.
fn busy(left: [u64; 3]) -> Board {
    let mut board = chips(3, 1);
    board.facts.array[1] = Duration::from_us(10);
    board.facts.transfer_page = Duration::ZERO;
    board.facts.transfer_sectors = vec![Duration::ZERO; 9];
    board.now = Time::from_ns(10 * US);
    for (unit, left) in board.units.iter_mut().zip(left) {
        if left > 0 {
            unit.service = Service::Busy;
            unit.command = Command { op: FlashOp::Program, started: Time::from_ns(left * US), ..Command::NONE };
        }
    }
    board
}

fn at_arrival() -> Dynamic {
    Dynamic { estimator: Some(Estimator::new(Default::default(), false)), turn: 0 }
}

/// A-SLK-20: the least estimate, the first of equals. The estimates are 10 + 0, 10 + 0, 10 + ... less for none: here 14, 14,
/// 13 and 14, 14 stand for 10, 10, 9 and 10, 10.
#[test]
fn a_slk_20_the_least_estimate_takes_it() {
    let mut place = at_arrival();
    assert!(!place.binds_at_dispatch());
    assert_eq!(place.plane(&busy([4, 4, 3]), Lpn(0), PlaneId(1)), PlaneId(2));
    let mut equal = busy([4, 4, 9]);
    assert_eq!(place.plane(&equal, Lpn(0), PlaneId(1)), PlaneId(0));
    // A chip without room is no choice; if none has any, the page stays at home.
    equal.planes[0].room = false;
    assert_eq!(place.plane(&equal, Lpn(0), PlaneId(2)), PlaneId(1));
    equal.planes.iter_mut().for_each(|plane| plane.room = false);
    assert_eq!(place.plane(&equal, Lpn(0), PlaneId(2)), PlaneId(2));
}

/// What [`Dynamic::draw`] gives to whom until it lets the rest wait.
fn drawn(board: &mut Board) -> Vec<u16> {
    let mut place = Dynamic { estimator: None, turn: 0 };
    let mut planes = Vec::new();
    while let Some(plane) = place.draw(board, TxnId::NONE) {
        planes.push(plane.0);
        let (unit, slot) = board.home_of(plane);
        let id = TxnId(board.txns.len() as u32);
        let queue = board.queue_id(unit, QueueKind::Write(0));
        let op = FlashOp::Program;
        board.txns.push(flashlane_core::Transaction {
            op,
            slot,
            plane,
            unit,
            queue,
            ..flashlane_core::Transaction::EMPTY
        });
        board.link(id, queue, TxnId::NONE);
        assert!(planes.len() < 100, "no end: {planes:?}");
    }
    planes
}

/// Channels first, then chips, then companions for the planes that may share a command.
#[test]
fn turns() {
    assert_eq!(drawn(&mut chips(2, 3)), [0, 3, 1, 4, 2, 5]);
    let facts = chips(2, 1).facts;
    let geometry = Geometry { dies_per_chip: 2, planes_per_die: 2, ..facts.geometry };
    let widened = |multi_plane: bool, multi_die: bool, next_page: u32| {
        let facts = flashlane_core::board::Facts {
            geometry,
            multi_plane,
            multi_die,
            same_page: [false, true, false],
            ..facts.clone()
        };
        let mut board = Board::new(facts, 1);
        for plane in &mut board.planes {
            (plane.room, plane.free_pages) = (true, 100);
        }
        board.planes[1].next_page = next_page;
        drawn(&mut board)
    };
    assert_eq!(widened(false, false, 0), [0, 4]);
    assert_eq!(widened(true, true, 0), [0, 4, 1, 5, 2, 6, 3, 7]);
    assert_eq!(widened(true, false, 0), [0, 4, 1, 5]);
    assert_eq!(widened(false, true, 0), [0, 4, 2, 6]);
    // Planes 0 and 1 do not work the same page offset.
    assert_eq!(widened(true, true, 7), [0, 4, 2, 5, 3, 6, 7]);
}

/// Units that are busy, collect or have a read take none.
#[test]
fn only_free_chips() {
    let mut board = chips(4, 1);
    board.units[0].service = Service::Busy;
    board.units[1].gc.reads = 1;
    board.units[2].waiting[0] = 1;
    assert_eq!(drawn(&mut board), [3]);
    board.planes[3].room = false;
    assert_eq!(drawn(&mut board), [0; 0]);
}
