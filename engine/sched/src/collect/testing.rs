//! What the tests of collect answers share: a unit with a collection under way in each of its planes.

use flashlane_core::UnitId;
use flashlane_core::decide::{Collect, GcPrecedence};

/// Holds an answer to a table: free blocks of the planes, of which 3 are too few; what goes first; and the rule that says so.
pub(super) fn goes_first(mut answer: impl Collect, table: &[(u32, GcPrecedence, &str)]) {
    for &(free_blocks, first, rule) in table {
        let mut board = crate::pick::testing::board(1, 2);
        board.facts.gc_hard_blocks = 3;
        board.planes.iter_mut().for_each(|plane| (plane.free_blocks, plane.collecting) = (free_blocks, true));
        let is = answer.precedence(&board, UnitId(0));
        assert_eq!(is, first, "{rule}; planes that are collected have {free_blocks} free blocks, 3 are too few");
    }
}
