//! Semi-preemptive garbage collection: user transactions go between its steps as long as a plane of the unit has more
//! free blocks than the hard threshold; at or below it, garbage collection goes first (model 2.1.9 SPGC).

use alloc::boxed::Box;

use flashlane_core::decide::{Collect, CollectDeclares, GcMode, GcPrecedence};
use flashlane_core::{Board, UnitId};

use super::short_of_blocks;
use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "semi-preemptive",
    summary: "user transactions go between its steps above the hard threshold of free blocks",
    source: "model 2.1.9 SPGC",
    params: &[],
    build: Build::Collect(&|_| Box::new(SemiPreemptive)),
};

/// Semi-preemptive garbage collection.
#[derive(Debug)]
pub struct SemiPreemptive;

impl Collect for SemiPreemptive {
    fn declares(&self) -> CollectDeclares {
        CollectDeclares { mode: GcMode::Transactions { pausable: true }, ..CollectDeclares::ASK }
    }

    fn precedence(&mut self, board: &Board, unit: UnitId) -> GcPrecedence {
        if short_of_blocks(board, unit) { GcPrecedence::Gc } else { GcPrecedence::User }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::board;

    /// It is enough that one plane of the unit is at the threshold.
    #[test]
    fn collection_goes_first_at_the_hard_threshold() {
        let mode = SemiPreemptive.declares().mode;
        assert_eq!(mode, GcMode::Transactions { pausable: true }, "reads may pause the programs of collection");
        let mut board = board(2, 2);
        board.facts.gc_hard_blocks = 3;
        for short_of_blocks in 0..4 {
            for (free_blocks, collecting, turn) in [
                (4, true, GcPrecedence::User),
                (3, true, GcPrecedence::Gc),
                (2, true, GcPrecedence::Gc),
                (0, true, GcPrecedence::Gc),
                (0, false, GcPrecedence::User),
            ] {
                board.planes.iter_mut().for_each(|plane| (plane.free_blocks, plane.collecting) = (9, true));
                (board.planes[short_of_blocks].free_blocks, board.planes[short_of_blocks].collecting) =
                    (free_blocks, collecting);
                let is = SemiPreemptive.precedence(&board, UnitId(0));
                let rule = "collection goes first at the hard threshold, 3 free blocks, of a plane that is collected";
                assert_eq!(
                    is, turn,
                    "{rule}; plane {short_of_blocks}: {free_blocks} free blocks, collecting: {collecting}"
                );
            }
        }
    }

    #[test]
    fn planes_of_another_unit_do_not_count() {
        let facts = board(1, 2).facts;
        let geometry = flashlane_core::Geometry { chips_per_channel: 3, ..facts.geometry };
        let mut board = Board::new(flashlane_core::board::Facts { geometry, ..facts }, 1);
        board.planes.iter_mut().for_each(|plane| (plane.free_blocks, plane.collecting) = (9, true));
        (board.planes[2].free_blocks, board.planes[3].free_blocks) = (9, 1);
        let turns = [0, 1, 2].map(|unit| SemiPreemptive.precedence(&board, UnitId(unit)));
        assert_eq!(
            turns,
            [GcPrecedence::User, GcPrecedence::Gc, GcPrecedence::User],
            "only planes of the unit count; one of unit 1 is short of blocks"
        );
    }
}
