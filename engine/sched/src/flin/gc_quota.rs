//! Garbage collection that goes before a write: as many page moves as the write's flow has caused (FLIN §5.4, eq. 9-10).
//!
//! A move is a read and a program. A move whose read is done and an empty victim's erase are what is left of moves paid
//! for before or begun in idle time; they go first whenever any go.

use flashlane_core::decide::GcQuota;
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

/// When writes trigger collection, and how much.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuotaRule {
    /// Free pages of a plane below which its writes trigger it (GC_FLIN, D-FLN-14).
    pub(crate) below_pages: u64,
    /// Free blocks of a plane at and below which a write does all that waits (the safety net of D-FLN-13).
    pub(crate) net_blocks: u64,
    pub(crate) rounding: Rounding,
    /// Whether reads may go between the moves and interrupt their programs (D-FLN-16).
    pub(crate) preemptible: bool,
}

/// A flow's share in the need for garbage collection: of the pages written since a block was last erased, and of the pages
/// that hold data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares {
    pub(crate) written: (u64, u64),
    pub(crate) valid: (u64, u64),
}

/// Page moves before a write (eq. 10), of `waiting`. If the total is zero, the share is one (D-FLN-13).
pub(crate) fn page_moves(shares: Shares, waiting: u32, rounding: Rounding) -> u32 {
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

impl QuotaRule {
    /// What goes before `write` at its unit.
    pub(crate) fn quota(&self, board: &Board, write: TxnId) -> GcQuota {
        let txn = board.txn(write);
        let plane = board.plane(txn.plane);
        let short = u64::from(plane.free_blocks) <= self.net_blocks;
        if !board.units[txn.unit.index()].gc.any() || u64::from(plane.free_pages) >= self.below_pages && !short {
            return GcQuota::default();
        }
        let waiting = board.units[txn.unit.index()].gc.reads;
        let flow = board.flow(txn.flow);
        let sum = board.flows.iter().fold((0, 0), |(w, v), f| (w + f.written_since_erase(), v + f.valid_pages()));
        let shares = Shares { written: (flow.written_since_erase(), sum.0), valid: (flow.valid_pages(), sum.1) };
        let share = page_moves(shares, waiting, self.rounding);
        // Safety net: a plane about to run out of blocks is collected, whichever flow writes.
        let page_moves = if short { waiting } else { share };
        GcQuota { due: true, page_moves, forced: page_moves > share, preemptible: self.preemptible }
    }

    /// How long that takes (eq. 9). The erase counts only if the victim will be empty (D-FLN-12).
    pub(crate) fn time(&self, board: &Board, write: TxnId) -> Duration {
        if !board.facts.write_triggered_gc {
            return Duration::ZERO;
        }
        let quota = self.quota(board, write);
        if !quota.due {
            return Duration::ZERO;
        }
        let waiting = board.units[board.txn(write).unit.index()].gc;
        let emptied =
            quota.page_moves == waiting.reads && quota.page_moves + waiting.programs > 0 || waiting.erases > 0;
        time(board, quota.page_moves, waiting.programs, emptied)
    }
}

/// Time of `page_moves` moves, `begun` more programs, and an erase if the victim is `emptied`.
fn time(board: &Board, page_moves: u32, begun: u32, emptied: bool) -> Duration {
    let page = board.facts.geometry.page_bytes;
    let [read, program, erase] =
        [FlashOp::Read, FlashOp::Program, FlashOp::Erase].map(|op| board.facts.service(op, page));
    let moved = (read + program) * u64::from(page_moves) + program * u64::from(begun);
    if emptied { moved + erase } else { moved }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::board;
    use alloc::vec;

    fn shares(written: (u64, u64), valid: (u64, u64)) -> Shares {
        Shares { written, valid }
    }

    /// A-FLN-10.
    #[test]
    fn worked_examples_of_the_model() {
        let board = board(1, 2);
        let us = Duration::from_us;
        let up = |s, len| page_moves(s, len, Rounding::Up);
        let some = up(shares((30, 120), (6000, 10_000)), 64);
        assert_eq!((some, time(&board, some, 0, false)), (10, us(14_250)), "9.6 moves");
        let all = up(shares((120, 120), (10_000, 10_000)), 64);
        assert_eq!((all, time(&board, all, 0, true)), (64, us(95_000)));
        let one = up(shares((1, 200), (10, 10_000)), 3);
        assert_eq!((one, time(&board, one, 0, false)), (1, us(1425)));
    }

    /// A write pays from one page below the threshold on, and for all that waits at the net's number of blocks and below.
    #[test]
    fn thresholds_of_pages_and_blocks() {
        use flashlane_core::board::{Flow, FlowFigures, GcWaiting};
        let mut board = board(1, 2);
        // The threshold of yielding collection is not FLIN's.
        board.facts.gc_hard_blocks = 50;
        board.flows = vec![1, 3]
            .into_iter()
            .map(|n| Flow::from(FlowFigures { programmed: n, valid_pages: n, ..FlowFigures::default() }))
            .collect();
        let write = crate::pick::testing::program(&mut board, 1, 0);
        let quota_rule = QuotaRule { net_blocks: 3, ..BELOW_100 };
        let quota = |board: &mut Board, free_blocks, free_pages| {
            (board.planes[1].free_blocks, board.planes[1].free_pages) = (free_blocks, free_pages);
            quota_rule.quota(board, write)
        };
        assert_eq!(quota(&mut board, 1, 1), GcQuota::default(), "nothing waits");
        board.units[0].gc = GcWaiting { reads: 32, ..GcWaiting::default() };
        let share = GcQuota { due: true, page_moves: 2, ..GcQuota::default() };
        let all = GcQuota { due: true, page_moves: 32, forced: true, ..GcQuota::default() };
        for (blocks, pages, expected) in [
            (4, 101, GcQuota::default()),
            (4, 100, GcQuota::default()),
            (4, 99, share),
            (4, 0, share),
            (3, 100, all),
            (3, 99, all),
            (2, 1_000, all),
            (0, 0, all),
        ] {
            assert_eq!(quota(&mut board, blocks, pages), expected, "{blocks} blocks, {pages} pages");
        }
        board.units[0].gc = GcWaiting { erases: 1, ..GcWaiting::default() };
        assert_eq!(quota(&mut board, 4, 99), GcQuota { due: true, ..GcQuota::default() }, "only an erase is left");
        assert_eq!(quota(&mut board, 4, 100), GcQuota::default());
    }

    /// D-FLN-13.
    #[test]
    fn rounding_and_empty_sums() {
        let s = shares((30, 120), (6000, 10_000));
        assert_eq!((page_moves(s, 64, Rounding::Down), page_moves(s, 64, Rounding::Nearest)), (9, 10));
        assert_eq!(page_moves(shares((1, 200), (10, 10_000)), 3, Rounding::Down), 0);
        assert_eq!(page_moves(shares((0, 200), (10, 10_000)), 3, Rounding::Up), 0, "who wrote nothing pays nothing");
        assert_eq!(
            page_moves(shares((0, 0), (5000, 10_000)), 64, Rounding::Up),
            32,
            "nothing written: the first share is 1"
        );
    }

    /// A unit with this much garbage collection waiting, its first plane with these free blocks and pages, and a write of
    /// flow 0, which wrote `written` of 120 pages and owns 6,000 of 10,000.
    fn due(gc: [u32; 3], (blocks, pages): (u32, u32), written: u64) -> (Board, TxnId) {
        let mut board = board(1, 2);
        board.facts.write_triggered_gc = true;
        let flow = |programmed, valid_pages| {
            flashlane_core::board::FlowFigures { programmed, valid_pages, ..Default::default() }.into()
        };
        board.flows = alloc::vec![flow(written, 6_000), flow(120 - written, 4_000)];
        let [reads, programs, erases] = gc;
        board.units[0].gc = flashlane_core::board::GcWaiting { reads, programs, erases };
        (board.planes[0].free_blocks, board.planes[0].free_pages) = (blocks, pages);
        let write = crate::pick::testing::program(&mut board, 0, 1);
        (board, write)
    }

    const BELOW_100: QuotaRule =
        QuotaRule { below_pages: 100, net_blocks: 2, rounding: Rounding::Up, preemptible: false };

    /// Writes trigger collection below the limit of free pages and not at it, and at the net's blocks for all that waits, not a
    /// block above it; and only where something waits.
    #[test]
    fn when_a_write_pays() {
        let share = 10;
        for (gc, free, expected) in [
            ([64, 0, 0], (9, 99), (true, share, false)),
            ([64, 0, 0], (9, 100), (false, 0, false)),
            ([64, 0, 0], (3, 100), (false, 0, false)),
            ([64, 0, 0], (3, 99), (true, share, false)),
            ([64, 0, 0], (2, 100), (true, 64, true)),
            ([64, 0, 0], (2, 5_000), (true, 64, true)),
            ([64, 0, 0], (0, 0), (true, 64, true)),
            ([0, 1, 0], (2, 99), (true, 0, false)),
            ([0, 0, 1], (9, 99), (true, 0, false)),
            ([0, 0, 0], (0, 0), (false, 0, false)),
        ] {
            let (board, write) = due(gc, free, 30);
            let GcQuota { due, page_moves, forced, preemptible } = BELOW_100.quota(&board, write);
            assert_eq!(
                (due, page_moves, forced, preemptible),
                (expected.0, expected.1, expected.2, false),
                "{gc:?} waiting, {free:?} free"
            );
            let preemptible = QuotaRule { preemptible: true, ..BELOW_100 }.quota(&board, write);
            assert_eq!(
                preemptible,
                GcQuota { preemptible: due, due, page_moves, forced },
                "{gc:?} waiting, {free:?} free"
            );
        }
    }

    /// Eq. 9: the moves, the programs of moves begun, and the erase if the victim will be empty; 1,425 us, 1,325 and 3,800.
    #[test]
    fn how_long_garbage_collection_takes() {
        for (gc, written, us) in [
            ([64, 0, 0], 30, 10 * 1_425),
            ([63, 1, 0], 30, 10 * 1_425 + 1_325),
            ([1, 0, 0], 30, 1_425 + 3_800),
            ([1, 1, 0], 30, 1_425 + 1_325 + 3_800),
            ([0, 1, 0], 30, 1_325 + 3_800),
            ([0, 0, 1], 30, 3_800),
            ([64, 0, 1], 30, 10 * 1_425 + 3_800),
            ([64, 0, 0], 0, 0),
            ([0, 0, 0], 30, 0),
        ] {
            let (board, write) = due(gc, (9, 99), written);
            assert_eq!(BELOW_100.time(&board, write), Duration::from_us(us), "{gc:?} waiting, {written} written");
        }
        let (mut board, write) = due([64, 0, 0], (9, 100), 30);
        assert_eq!(BELOW_100.time(&board, write), Duration::ZERO, "not due");
        board.planes[0].free_pages = 99;
        board.facts.write_triggered_gc = false;
        assert_eq!(BELOW_100.time(&board, write), Duration::ZERO, "goes at its own time");
    }
}
