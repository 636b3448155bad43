//! Semi-preemptive garbage collection: user transactions go between its steps as long as a plane of the unit has more
//! free blocks than the hard threshold; at or below it, garbage collection goes first (model 2.1.9 SPGC).

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
