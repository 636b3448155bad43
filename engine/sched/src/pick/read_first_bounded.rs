//! Reads before writes, but not for ever: a unit that has begun so many commands of reads while a write waited begins a write
//! (model 1.1.12). Where there are priorities the most urgent of each direction goes ([`most_urgent`]), and a command takes companions of
//! all of them.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, TxnId, UnitId};

use super::{most_urgent, oldest, widen::widen_over_priorities};
use crate::entries::{AnswerEntry, Build};
use crate::params::{Param, Values};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "read-first-bounded",
    summary: "reads before writes, the most urgent where there are priorities; a write goes after so many reads in a row",
    source: "ours; model 1.1.12",
    params: PARAMS,
    build: Build::Pick(&|v| Box::new(ReadFirstBounded::of(v))),
};

/// Parameters of [`ReadFirstBounded`].
pub(crate) const PARAMS: &[Param] = &[Param {
    name: "reads_in_row",
    unit: "commands",
    default: 100,
    min: 1,
    max: 1 << 30,
    help: "a chip begins a write after this many commands of reads while one waited",
}];

/// Reads first, to a bound.
#[derive(Debug)]
pub struct ReadFirstBounded {
    most: u32,
    /// By unit: commands of reads that it has begun since a write began or none waited.
    reads: Vec<u32>,
}

impl ReadFirstBounded {
    /// With a scheduler's parameters.
    pub(crate) fn of(values: &Values<'_>) -> ReadFirstBounded {
        ReadFirstBounded { most: values.get("reads_in_row") as u32, reads: Vec::new() }
    }

    /// The read or write that goes next: of each priority's oldest that may go the most urgent.
    fn next(board: &Board, unit: UnitId, op: FlashOp) -> TxnId {
        let priorities = board.facts.priorities;
        if priorities == 1 || board.waiting(unit, op) == 0 {
            return oldest(board, unit, op);
        }
        let first = |priority| {
            let mut waiting = board.walk(board.queue_for(unit, op, priority));
            waiting.find(|&id| board.eligible(id)).unwrap_or(TxnId::NONE)
        };
        let ready = (0..priorities).map(first).filter(|id| id.is_some());
        most_urgent(board, ready).unwrap_or(TxnId::NONE)
    }
}

impl Pick for ReadFirstBounded {
    fn declares(&self) -> PickDeclares {
        PickDeclares { skips_when_single: true, per_priority_queues: true, ..PickDeclares::ASK }
    }

    fn prepare(&mut self, board: &Board) {
        self.reads = vec![0; board.units.len()];
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        let write_waits = scope == Scope::Any && board.waiting(unit, FlashOp::Program) > 0;
        let mut lead = TxnId::NONE;
        if write_waits && self.reads[unit.index()] >= self.most {
            lead = Self::next(board, unit, FlashOp::Program);
        }
        if lead.is_none() {
            lead = Self::next(board, unit, FlashOp::Read);
        }
        if lead.is_none() && write_waits {
            lead = Self::next(board, unit, FlashOp::Program);
        }
        if lead.is_none() {
            return;
        }
        let reads = &mut self.reads[unit.index()];
        *reads = if write_waits && board.txn(lead).op == FlashOp::Read { *reads + 1 } else { 0 };
        widen_over_priorities(board, lead, group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::{board, program, read, scene};
    use flashlane_core::board::Board;
    use flashlane_core::transaction::Stage;
    use flashlane_core::{Time, Transaction};

    fn pick_of(board: &Board, most: u64) -> ReadFirstBounded {
        let mut pick = ReadFirstBounded::of(&Values { params: PARAMS, set: &[("reads_in_row", most)], known: None });
        pick.prepare(board);
        pick
    }

    fn next(pick: &mut ReadFirstBounded, board: &mut Board, scope: Scope) -> TxnId {
        let mut group = Group::new();
        pick.pick(board, UnitId(0), scope, &mut group);
        let lead = group.lead();
        if lead.is_some() {
            board.unlink(lead);
        }
        lead
    }

    /// Three reads, then the write; while no write may go, or none waits, reads are not counted.
    #[test]
    fn a_write_goes_after_so_many_reads() {
        let mut board = board(1, 1);
        let mut pick = pick_of(&board, 3);
        let reads: Vec<TxnId> = (0..12).map(|i| read(&mut board, i, 0, i)).collect();
        for &first in &reads[..4] {
            assert_eq!(next(&mut pick, &mut board, Scope::Any), first, "the oldest read goes where no write waits");
        }
        let writes = [20, 21].map(|i| program(&mut board, 0, i));
        assert_eq!(next(&mut pick, &mut board, Scope::Reads), reads[4], "in a pause a read goes, and is not counted");
        let expected = [reads[5], reads[6], reads[7], writes[0], reads[8], reads[9], reads[10], writes[1], reads[11]];
        for expected in expected {
            let before = scene(&board);
            let rule = "a write goes after three reads begun while one waited, reads before that";
            assert_eq!(next(&mut pick, &mut board, Scope::Any), expected, "{rule}; {before}");
        }
        assert!(next(&mut pick, &mut board, Scope::Any).is_none(), "of nothing nothing goes");
    }

    /// What another chip has begun brings no write forward.
    #[test]
    fn every_chip_counts_its_own_reads() {
        let facts = board(1, 1).facts;
        let geometry = flashlane_core::Geometry { chips_per_channel: 2, ..facts.geometry };
        let mut board = Board::new(flashlane_core::board::Facts { geometry, ..facts }, 1);
        let mut pick = pick_of(&board, 2);
        let waits = |board: &mut Board, unit: u16, op: FlashOp| {
            let (id, unit) = (TxnId(board.txns.len() as u32), UnitId(unit));
            let queue = board.queue_for(unit, op, 0);
            board.txns.push(Transaction { unit, queue, op, stage: Stage::Waiting, ..Transaction::EMPTY });
            board.link(id, queue, TxnId::NONE);
        };
        for unit in [0, 1] {
            (0..3).for_each(|_| waits(&mut board, unit, FlashOp::Read));
            waits(&mut board, unit, FlashOp::Program);
        }
        for (unit, op) in [(1, FlashOp::Read), (1, FlashOp::Read), (0, FlashOp::Read), (1, FlashOp::Program)] {
            let mut group = Group::new();
            pick.pick(&board, UnitId(unit), Scope::Any, &mut group);
            let before = scene(&board);
            let begun = board.unlink(group.lead()).op;
            assert_eq!(begun, op, "a write of chip {unit} goes after two reads of that chip; {before}");
        }
    }

    /// A write whose page has an older write waiting elsewhere does not take the turn.
    #[test]
    fn a_write_that_may_not_go_lets_reads_go() {
        let mut board = board(1, 1);
        let mut pick = pick_of(&board, 1);
        let write = program(&mut board, 0, 9);
        board.txn_mut(write).blocked_by = TxnId(77);
        let reads: Vec<TxnId> = (0..3).map(|i| read(&mut board, i, 0, i)).collect();
        for read in reads {
            let rule = "a write behind an older one of its page leaves its turn to reads";
            assert_eq!(next(&mut pick, &mut board, Scope::Any), read, "{rule}");
        }
        assert!(next(&mut pick, &mut board, Scope::Any).is_none(), "a write behind an older one of its page stays");
    }

    /// A transaction of the higher of two priorities passes those that have waited less than twice as long, reads and writes; of
    /// equals the older goes.
    #[test]
    fn a_wait_counts_twice_a_step_of_priority() {
        let facts = flashlane_core::board::Facts { priorities: 2, ..board(1, 1).facts };
        let mut board = Board::new(facts, 1);
        board.now = Time::from_ns(1_000);
        for op in [FlashOp::Read, FlashOp::Program] {
            let mut pick = pick_of(&board, 100);
            let waited = [(0, 900), (0, 600), (0, 200), (1, 500), (1, 300), (1, 100), (1, 50)];
            let ids = waited.map(|(priority, waited)| {
                let id = TxnId(board.txns.len() as u32);
                let (unit, queue) = (UnitId(0), board.queue_for(UnitId(0), op, priority));
                let (serial, enqueued) = (1_000 - waited, Time::from_ns(1_000 - waited));
                let waiting = Transaction { unit, queue, op, priority, serial, enqueued, ..Transaction::EMPTY };
                board.txns.push(Transaction { stage: Stage::Waiting, ..waiting });
                board.link(id, queue, TxnId::NONE);
                id
            });
            for expected in [3, 0, 1, 4, 2, 5, 6] {
                assert_eq!(
                    next(&mut pick, &mut board, Scope::Any),
                    ids[expected],
                    "a wait counts twice for a step of priority, of equals the older goes; {op:?}s of (priority, \
                     waited): {waited:?}"
                );
            }
        }
    }
}
