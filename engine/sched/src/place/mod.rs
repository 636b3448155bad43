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
fn planes(board: &Board, unit: UnitId) -> impl Iterator<Item = PlaneId> + use<> {
    let each = board.facts.geometry.planes_per_unit() as u16;
    (unit.0 * each..(unit.0 + 1) * each).map(PlaneId)
}

/// Where a write goes that no unit could begin: if nothing runs or waits, to the plane of `next` with most free pages, the first of equals.
/// `next` reports that pages ran out, or collects.
fn when_at_rest(board: &Board, write: TxnId, next: UnitId) -> Option<Placement> {
    let at_rest = |unit: &Unit| unit.service == Service::Idle && unit.user_waiting() == 0 && !unit.gc.any();
    let roomiest = || planes(board, next).max_by_key(|&plane| (board.plane(plane).free_pages, Reverse(plane)));
    let to = board.units.iter().all(at_rest).then(roomiest)??;
    Some(Placement { write, to })
}
