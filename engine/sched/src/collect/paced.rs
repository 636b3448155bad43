//! Paced garbage collection: as semi-preemptive, but at the hard threshold of free blocks writes go between its steps, at the pace at which
//! it frees pages (model 1.1.13).
//!
//! If collection goes first until its victim is erased, writes wait for hundreds of page moves, and when all chips reach the threshold
//! together no write goes anywhere, although open blocks still have free pages. To erase a victim with `v` valid pages of `n` takes `v` moves
//! and frees `n - v` pages: a write that waits for `v / (n - v)` moves for each page of the write before takes no more pages than are freed.

use alloc::boxed::Box;

use flashlane_core::decide::{Collect, CollectDeclares, GcPrecedence};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, UnitId};

use super::{planes, short_of_blocks};
use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "paced",
    summary: "semi-preemptive, but at the hard threshold writes go between its steps, as many as it frees pages for",
    source: "ours; model 1.1.13",
    params: &[],
    build: Build::Collect(&|_| Box::new(Paced)),
};

/// Paced garbage collection.
#[derive(Debug)]
pub struct Paced;

/// Whether a unit at the hard threshold has collected as much since its last write as that one's pages cost: a step at least.
pub(crate) fn may_write(board: &Board, unit: UnitId) -> bool {
    let pages = u64::from(board.facts.geometry.pages_per_block);
    let counters = &board.units[unit.index()].counters;
    let collected = counters.moves + counters.erases - counters.collected_before_write;
    let (mut moved, mut freed) = (0, 0);
    for plane in planes(board, unit).iter().filter(|plane| plane.collecting) {
        moved += u64::from(plane.victim_pages);
        freed += pages.saturating_sub(u64::from(plane.victim_pages));
    }
    collected > 0 && collected * freed >= counters.last_write * moved
}

impl Collect for Paced {
    fn declares(&self) -> CollectDeclares {
        CollectDeclares { paced: true, ..CollectDeclares::ASK }
    }

    fn precedence(&mut self, board: &Board, unit: UnitId) -> GcPrecedence {
        let write_goes = || board.waiting(unit, FlashOp::Program) > 0 && may_write(board, unit);
        if short_of_blocks(board, unit) && !write_goes() { GcPrecedence::Gc } else { GcPrecedence::User }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::{board, program};

    /// The one unit of two planes is at the hard threshold, its victims have 6 and 4 valid pages of 8: a page costs 10 moves for 6 pages freed.
    fn short(last_write: u64, moves: u64, erases: u64) -> Board {
        let mut board = board(1, 2);
        board.facts.geometry.pages_per_block = 8;
        board.facts.gc_hard_blocks = 3;
        for (plane, victim) in board.planes.iter_mut().zip([6, 4]) {
            (plane.free_blocks, plane.collecting, plane.victim_pages) = (3, true, victim);
        }
        let counters = &mut board.units[0].counters;
        (counters.moves, counters.erases) = (100 + moves, 20 + erases);
        (counters.collected_before_write, counters.last_write) = (120, last_write);
        board
    }

    #[test]
    fn a_write_goes_when_collection_has_earned_its_pages() {
        for (last_write, moves, erases, goes) in [
            (1, 0, 0, false),
            (1, 1, 0, false),
            (1, 2, 0, true), // 2 * 6 >= 10
            (1, 1, 1, true),
            (2, 3, 0, false),
            (2, 4, 0, true),  // 4 * 6 >= 20
            (0, 0, 0, false), // no write yet, but one step at least
            (0, 1, 0, true),
        ] {
            let mut board = short(last_write, moves, erases);
            assert_eq!(
                may_write(&board, UnitId(0)),
                goes,
                "a write goes when what was collected since the last one has freed that one's pages, a step at least; {last_write} pages \
                 written, {moves} moved, {erases} erased, victims have 6 and 4 valid pages of 8"
            );
            assert_eq!(
                Paced.precedence(&board, UnitId(0)),
                GcPrecedence::Gc,
                "collection goes first where no write waits"
            );
            program(&mut board, 0, 1);
            let turn = if goes { GcPrecedence::User } else { GcPrecedence::Gc };
            assert_eq!(Paced.precedence(&board, UnitId(0)), turn, "a write that waits goes when it may");
            board.planes.iter_mut().for_each(|plane| plane.free_blocks = 4);
            assert_eq!(
                Paced.precedence(&board, UnitId(0)),
                GcPrecedence::User,
                "users go first above the hard threshold"
            );
        }
    }

    /// Victims without valid pages are erased before each write.
    #[test]
    fn an_erase_goes_before_each_write() {
        for (erases, goes) in [(0, false), (1, true)] {
            let mut board = short(2, 0, erases);
            board.planes.iter_mut().for_each(|plane| plane.victim_pages = 0);
            assert_eq!(
                may_write(&board, UnitId(0)),
                goes,
                "a victim without valid pages is erased before a write; {erases} erased"
            );
        }
    }
}
