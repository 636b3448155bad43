//! When may garbage collection run?

pub(crate) mod first;
pub(crate) mod free;
pub(crate) mod paced;
pub(crate) mod semi_preemptive;
#[cfg(test)]
mod testing;
pub(crate) mod write_triggered;

use flashlane_core::board::Plane;
use flashlane_core::{Board, UnitId};

/// The planes of a unit.
fn planes(board: &Board, unit: UnitId) -> &[Plane] {
    let planes = board.facts.geometry.planes_per_unit() as usize;
    &board.planes[unit.index() * planes..][..planes]
}

/// Whether a plane of the unit that is being collected is at the hard threshold of free blocks or below.
fn short_of_blocks(board: &Board, unit: UnitId) -> bool {
    planes(board, unit).iter().any(|plane| plane.collecting && plane.free_blocks <= board.facts.gc_hard_blocks)
}
