//! Which chip does a write go to?

pub(crate) mod dynamic;
pub(crate) mod home;
pub(crate) mod late;
pub(crate) mod rebalance;
pub(crate) mod rotate;

use core::cmp::Reverse;

use flashlane_core::board::{Service, Unit};
use flashlane_core::decide::Placement;
use flashlane_core::{Board, PlaneId, TxnId, UnitId};

/// The planes of a unit.
fn planes(board: &Board, unit: UnitId) -> impl Iterator<Item = PlaneId> + Clone + use<> {
    let each = board.facts.geometry.planes_per_unit() as u16;
    (unit.0 * each..(unit.0 + 1) * each).map(PlaneId)
}

/// Blocks of valid pages that planes may differ by, for a write to go to the one with most free pages.
const UNEVEN: u32 = 4;

/// The most valid pages of a plane that takes a write, if one with `fewest_valid` could take it too.
///
/// By free pages alone writes would stay in one plane: where all are at the threshold of collection, the plane that was written last is
/// also collected last, and has most again. Its valid pages become more and collection of it dearer, and the others are never collected.
fn most_valid(board: &Board, fewest_valid: u32) -> u32 {
    fewest_valid.saturating_add(UNEVEN * board.facts.geometry.pages_per_block)
}

/// Where a write goes that no unit could begin: if nothing runs or waits, to the plane of `next` with most free pages, the first of equals.
/// `next` reports that pages ran out, or collects.
fn when_at_rest(board: &Board, write: TxnId, next: UnitId) -> Option<Placement> {
    let at_rest = |unit: &Unit| unit.service == Service::Idle && unit.user_waiting() == 0 && !unit.gc.any();
    let roomiest = || planes(board, next).max_by_key(|&plane| (board.plane(plane).free_pages, Reverse(plane)));
    let to = board.units.iter().all(at_rest).then(roomiest)??;
    Some(Placement { write, to })
}
