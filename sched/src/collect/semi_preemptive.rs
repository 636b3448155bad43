//! Semi-preemptive garbage collection: user transactions go between its steps as long as a plane of the unit has more
//! free blocks than the hard threshold; at or below it, garbage collection goes first (SPEC 2.1.9 SPGC).

use flashlane_core::decide::{Collect, Style, Turn};
use flashlane_core::{Board, UnitId};

/// Semi-preemptive garbage collection.
#[derive(Debug)]
pub struct SemiPreemptive;

impl Collect for SemiPreemptive {
    fn turn(&mut self, board: &Board, unit: UnitId) -> Turn {
        let planes = board.facts.geometry.planes_per_unit() as usize;
        let first = unit.index() * planes;
        let pressed = board.planes[first..first + planes]
            .iter()
            .any(|plane| plane.collecting && plane.free_blocks <= board.facts.gc_hard_blocks);
        if pressed { Turn::Gc } else { Turn::User }
    }

    fn style(&self) -> Style {
        Style::Transactions { pausable: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::board;

    /// With so many free blocks in its planes, those named being collected.
    fn turn(free: [u32; 2], collecting: [bool; 2]) -> Turn {
        let mut board = board(1, 2);
        board.facts.gc_hard_blocks = 3;
        for (plane, (free, collecting)) in board.planes.iter_mut().zip(free.into_iter().zip(collecting)) {
            (plane.free_blocks, plane.collecting) = (free, collecting);
        }
        SemiPreemptive.turn(&board, UnitId(0))
    }

    /// At the hard threshold and below it, collection goes first; above it and in planes that are not collected, users do.
    #[test]
    fn the_hard_threshold_decides() {
        for (free, expected) in [(2, Turn::Gc), (3, Turn::Gc), (4, Turn::User)] {
            assert_eq!(turn([free, 9], [true, false]), expected, "{free} blocks");
            assert_eq!(turn([9, free], [true, true]), expected, "{free} blocks in the second plane");
            assert_eq!(turn([9, free], [true, false]), Turn::User, "{free} blocks in a plane without a victim");
        }
    }
}
