//! Dynamic allocation on boards made by hand: A-SLK-20, turns, companions, which units are free.

use super::*;
use crate::pick::testing::{board, scene, to};
use alloc::vec;
use alloc::vec::Vec;
use flashlane_core::Time;
use flashlane_core::board::Command;
use flashlane_core::geometry::Geometry;

const US: u64 = 1000;

/// Single-plane chips: `channels` of `chips` each, all with free pages.
fn chips(channels: u32, chips: u32) -> Board {
    let facts = board(1, 1).facts;
    let geometry = Geometry { channels, chips_per_channel: chips, ..facts.geometry };
    let mut board = Board::new(flashlane_core::board::Facts { geometry, ..facts }, 1);
    for plane in &mut board.planes {
        (plane.has_free_page, plane.free_pages) = (true, 100);
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
    assert!(!place.declares().binds_at_dispatch, "it says in advance that writes are bound at arrival");
    assert_eq!(place.plane(&busy([4, 4, 3]), to(1)), PlaneId(2), "the least estimate takes a write: of 14, 14 and 13");
    let mut equal = busy([4, 4, 9]);
    assert_eq!(place.plane(&equal, to(1)), PlaneId(0), "of equal estimates the first takes a write");
    equal.planes[0].has_free_page = false;
    assert_eq!(place.plane(&equal, to(2)), PlaneId(1), "a chip without a free page is no choice");
    equal.planes.iter_mut().for_each(|plane| plane.has_free_page = false);
    assert_eq!(place.plane(&equal, to(2)), PlaneId(2), "a write stays at home where no chip has a free page");
}

/// The planes that [`Dynamic::place_at_dispatch`] gives out until it lets the rest wait.
fn placed(board: &mut Board) -> Vec<u16> {
    let mut place = Dynamic { estimator: None, turn: 0 };
    let mut planes = Vec::new();
    while let Some(Placement { to: plane, .. }) = place.place_at_dispatch(board, TxnId::NONE) {
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

#[test]
fn units_take_turns_channels_first() {
    let rule = "chips take turns, channels first, then companions for planes that may share a command";
    assert_eq!(placed(&mut chips(2, 3)), [0, 3, 1, 4, 2, 5], "{rule}");
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
            (plane.has_free_page, plane.free_pages) = (true, 100);
        }
        board.planes[1].next_page = next_page;
        placed(&mut board)
    };
    for (multi_plane, multi_die, next_page, planes) in [
        (false, false, 0, &[0, 4][..]),
        (true, true, 0, &[0, 4, 1, 5, 2, 6, 3, 7]),
        (true, false, 0, &[0, 4, 1, 5]),
        (false, true, 0, &[0, 4, 2, 6]),
        // Planes 0 and 1 do not work the same page offset.
        (true, true, 7, &[0, 4, 2, 5, 3, 6, 7]),
    ] {
        let is = widened(multi_plane, multi_die, next_page);
        let case = (multi_plane, multi_die, next_page);
        assert_eq!(is, planes, "{rule}; multi-plane, multi-die, next page of plane 1: {case:?}");
    }
}

/// Units that are busy, collect or have a read take none.
#[test]
fn only_free_chips_take_writes() {
    let mut board = chips(4, 1);
    board.units[0].service = Service::Busy;
    board.units[1].gc.reads = 1;
    board.units[2].set_waiting([1, 0]);
    let rule = "chips that are busy, collect or have a read waiting take no write";
    assert_eq!(placed(&mut board), [3], "{rule}; {}", scene(&board));
    board.planes[3].has_free_page = false;
    assert_eq!(placed(&mut board), [0; 0], "planes without a free page take no write; {}", scene(&board));
}

/// A chip of several planes: bound at dispatch, a write goes to the plane with most free pages, the first of equals; bound at
/// arrival, to the one with fewest waiting writes, the first of equals. Planes without a free page are passed over.
#[test]
fn the_plane_that_takes_a_write() {
    let roomy = |free: [u32; 4]| {
        let mut board = board(2, 2);
        for (plane, free_pages) in board.planes.iter_mut().zip(free) {
            (plane.has_free_page, plane.free_pages) = (free_pages > 0, free_pages);
        }
        board
    };
    for (free, first) in [([5, 9, 9, 7], 1), ([9, 9, 9, 9], 0), ([0, 0, 0, 1], 3), ([1, 2, 3, 0], 2)] {
        let taken = Dynamic { estimator: None, turn: 0 }.place_at_dispatch(&roomy(free), TxnId::NONE);
        assert_eq!(
            taken.map(|taken| taken.to),
            Some(PlaneId(first)),
            "the plane with most free pages takes a write, the first of equals: of {free:?}"
        );
    }
    for (writes, expected) in
        [(&[0u8, 0, 1, 3][..], 2), (&[], 0), (&[0], 1), (&[0, 1, 2, 3], 0), (&[0, 1, 1, 2, 3, 3], 0)]
    {
        let mut board = roomy([5, 9, 9, 7]);
        for &slot in writes {
            crate::pick::testing::program(&mut board, slot, 0);
        }
        assert_eq!(
            at_arrival().plane(&board, to(3)),
            PlaneId(expected),
            "bound at arrival, the plane with fewest writes takes one; they wait for planes {writes:?}"
        );
        board.planes[usize::from(expected)].has_free_page = false;
        assert_ne!(at_arrival().plane(&board, to(3)), PlaneId(expected), "a plane without a free page takes none");
    }
}

/// A plane with more valid pages than another of its chip, by more than four blocks of 16 pages, takes no write, however bound.
#[test]
fn a_plane_far_fuller_than_another_takes_none() {
    for (valid_pages, taken) in [(64, 0), (65, 1)] {
        let mut board = board(1, 2);
        board.facts.gc_start_blocks = 8;
        board.planes.iter_mut().for_each(|plane| (plane.has_free_page, plane.free_pages) = (true, 9));
        (board.planes[0].free_pages, board.planes[0].valid_pages) = (10, valid_pages);
        let at_dispatch = Dynamic { estimator: None, turn: 0 }.place_at_dispatch(&board, TxnId::NONE);
        assert_eq!(at_dispatch.map(|taken| taken.to), Some(PlaneId(taken)), "{valid_pages} valid pages more");
        assert_eq!(at_arrival().plane(&board, to(0)), PlaneId(taken), "{valid_pages} valid pages more, at arrival");
    }
}

/// Bound at arrival, a plane takes no write that would have more valid pages than one of another chip by more than half of the blocks at which
/// collection begins, once the writes that wait are done.
#[test]
fn bound_at_arrival_planes_of_all_chips_fill_alike() {
    for (start_blocks, valid_pages, waiting, taken) in
        [(2, 16, 0, 0), (2, 17, 0, 1), (2, 15, 1, 0), (2, 16, 1, 1), (5, 32, 0, 0), (5, 33, 0, 1)]
    {
        let mut board = busy([0, 0, 0]);
        board.facts.gc_start_blocks = start_blocks;
        // By its estimate the first chip takes all writes, and the second those that it may not.
        board.units[1].set_waiting([8, 0]);
        board.units[2].set_waiting([9, 0]);
        board.planes[0].valid_pages = valid_pages;
        for _ in 0..waiting {
            crate::pick::testing::program(&mut board, 0, 0);
        }
        let is = at_arrival().plane(&board, to(0));
        assert_eq!(is, PlaneId(taken), "{valid_pages} valid pages and {waiting} waiting, {start_blocks} blocks");
    }
}

/// Waiting writes and reads of a chip count in its estimate: each write and each read that waits is one more before it.
#[test]
fn waiting_transactions_count_in_the_estimate() {
    let mut board = busy([0, 0, 0]);
    // Reads take 75 us here, writes 10.
    for (waiting, taker) in [
        ([[0, 1], [0, 0], [0, 0]], 1),
        ([[0, 2], [0, 2], [0, 1]], 2),
        ([[1, 0], [2, 0], [1, 0]], 0),
        ([[1, 0], [0, 7], [0, 8]], 1),
        ([[1, 0], [0, 8], [0, 8]], 0),
    ] {
        board.units.iter_mut().zip(waiting).for_each(|(unit, waiting)| unit.set_waiting(waiting));
        let is = at_arrival().plane(&board, to(0));
        let rule = "the chip takes a write at which what waits, reads of 75 us and writes of 10, takes least";
        assert_eq!(is, PlaneId(taker), "{rule}; reads and writes by chip: {waiting:?}");
    }
}

/// If nothing runs or waits and no plane has a free page, the next chip gets the write, so that it reports the shortage or
/// collects; with anything under way the write waits.
#[test]
fn no_plane_has_room() {
    let full = || {
        let mut board = chips(2, 2);
        board.planes.iter_mut().for_each(|plane| plane.has_free_page = false);
        board
    };
    let chosen = |board: &Board, turn| {
        Dynamic { estimator: None, turn }.place_at_dispatch(board, TxnId::NONE).map(|chosen| chosen.to)
    };
    let in_turn = [0, 1, 2, 3].map(|turn| chosen(&full(), turn));
    let rule = "where nothing runs or waits and no plane has a free page the next chip gets the write";
    assert_eq!(in_turn, [0, 2, 1, 3].map(|plane| Some(PlaneId(plane))), "{rule}");
    let disturbed: [fn(&mut flashlane_core::board::Unit); 4] = [
        |unit| unit.service = Service::Busy,
        |unit| unit.set_waiting([1, 0]),
        |unit| unit.set_waiting([0, 1]),
        |unit| unit.gc.erases = 1,
    ];
    for disturb in disturbed {
        let mut board = full();
        disturb(&mut board.units[3]);
        assert_eq!(
            chosen(&board, 0),
            None,
            "without a free page a write waits while anything is under way; {}",
            scene(&board)
        );
    }
}
