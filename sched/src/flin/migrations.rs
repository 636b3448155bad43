//! Garbage collection that goes before a write: so many page moves as the write's flow has caused (FLIN §5.4, eq. 9-10).
//!
//! A move is a read and a program. A move whose read is done and an empty victim's erase are what is left of moves paid
//! for before or begun in idle time; they go first whenever any go.

use flashlane_core::decide::Debt;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, TxnId};

/// How eq. 10 is rounded (D-FLN-13).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rounding {
    Up,
    Down,
    Nearest,
}

impl Rounding {
    /// By the number parameters give it.
    pub(crate) const fn numbered(number: u64) -> Rounding {
        match number {
            0 => Rounding::Up,
            1 => Rounding::Down,
            _ => Rounding::Nearest,
        }
    }
}

/// When writes pay, and how much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Migrations {
    /// Free pages of a plane below which its writes pay (GC_FLIN, D-FLN-14).
    pub(crate) below_pages: u64,
    pub(crate) rounding: Rounding,
}

/// A flow's part in the need for garbage collection: of the pages written since a block was last erased, and of the pages
/// that hold data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    pub(crate) written: (u64, u64),
    pub(crate) valid: (u64, u64),
}

/// Page moves before a write (eq. 10), of `waiting`. A share of nothing is a whole one (D-FLN-13).
pub(crate) fn moves(shares: Shares, waiting: u32, rounding: Rounding) -> u32 {
    let whole = |(part, all): (u64, u64)| if all == 0 { (1, 1) } else { (u128::from(part), u128::from(all)) };
    let ((written, all_written), (valid, all_valid)) = (whole(shares.written), whole(shares.valid));
    let (over, under) = (written * valid * u128::from(waiting), all_written * all_valid);
    let moves = match rounding {
        Rounding::Up => over.div_ceil(under),
        Rounding::Down => over / under,
        Rounding::Nearest => (2 * over + under) / (2 * under),
    };
    moves.min(u128::from(waiting)) as u32
}

impl Migrations {
    /// What goes before `write` at its unit.
    pub(crate) fn debt(&self, board: &Board, write: TxnId) -> Debt {
        let txn = board.txn(write);
        let plane = board.plane(txn.plane);
        let short = plane.free_blocks <= board.facts.gc_hard_blocks;
        if !board.units[txn.unit.index()].gc.any() || u64::from(plane.free_pages) >= self.below_pages && !short {
            return Debt::default();
        }
        let waiting = board.units[txn.unit.index()].gc.reads;
        let flow = board.flow(txn.flow);
        let sum = board.flows.iter().fold((0, 0), |(w, v), f| (w + f.written_since_erase(), v + f.valid_pages));
        let shares = Shares { written: (flow.written_since_erase(), sum.0), valid: (flow.valid_pages, sum.1) };
        let share = moves(shares, waiting, self.rounding);
        // The safety net: a plane about to run out of blocks is collected whoever writes.
        let pairs = if short { waiting } else { share };
        Debt { due: true, pairs, forced: pairs > share }
    }

    /// How long that takes (eq. 9). The erase counts only if the victim will be empty (D-FLN-12).
    pub(crate) fn time(&self, board: &Board, write: TxnId) -> Duration {
        if !board.facts.writes_pay {
            return Duration::ZERO;
        }
        let debt = self.debt(board, write);
        if !debt.due {
            return Duration::ZERO;
        }
        let waiting = board.units[board.txn(write).unit.index()].gc;
        let emptied = debt.pairs == waiting.reads && debt.pairs + waiting.programs > 0 || waiting.erases > 0;
        time(board, debt.pairs, waiting.programs, emptied)
    }
}

/// Time of `pairs` moves, `begun` more programs, and an erase if the victim is `emptied`.
fn time(board: &Board, pairs: u32, begun: u32, emptied: bool) -> Duration {
    let page = board.facts.geometry.page_bytes;
    let [read, program, erase] =
        [FlashOp::Read, FlashOp::Program, FlashOp::Erase].map(|op| board.facts.service(op, page));
    let moved = (read + program) * u64::from(pairs) + program * u64::from(begun);
    if emptied { moved + erase } else { moved }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::board;

    fn shares(written: (u64, u64), valid: (u64, u64)) -> Shares {
        Shares { written, valid }
    }

    /// A-FLN-10.
    #[test]
    fn worked_examples_of_the_model() {
        let board = board(1, 2);
        let us = Duration::from_us;
        let up = |s, len| moves(s, len, Rounding::Up);
        let some = up(shares((30, 120), (6000, 10_000)), 64);
        assert_eq!((some, time(&board, some, 0, false)), (10, us(14_250)), "9.6 moves");
        let all = up(shares((120, 120), (10_000, 10_000)), 64);
        assert_eq!((all, time(&board, all, 0, true)), (64, us(95_000)));
        let one = up(shares((1, 200), (10, 10_000)), 3);
        assert_eq!((one, time(&board, one, 0, false)), (1, us(1425)));
    }

    /// D-FLN-13.
    #[test]
    fn rounding_and_empty_sums() {
        let s = shares((30, 120), (6000, 10_000));
        assert_eq!((moves(s, 64, Rounding::Down), moves(s, 64, Rounding::Nearest)), (9, 10));
        assert_eq!(moves(shares((1, 200), (10, 10_000)), 3, Rounding::Down), 0);
        assert_eq!(moves(shares((0, 200), (10, 10_000)), 3, Rounding::Up), 0, "who wrote nothing pays nothing");
        assert_eq!(
            moves(shares((0, 0), (5000, 10_000)), 64, Rounding::Up),
            32,
            "nothing written: the first share is 1"
        );
    }
}
