//! FLIN's second and third stages: priorities take turns, then the read or the write goes that has waited more in
//! proportion to its service (FLIN §4.2, §4.3, algorithm 2).
//!
//! A unit has a slot for a read and one for a write. Stage 2 fills an empty slot when the unit is free, and that of the read
//! also when a running program may be suspended for it (O1); stage 3 dispatches one slot, with companions of its priority and direction (D-FLN-17). Garbage collection
//! that goes before the write is the collect decision's; its time counts in both waits (D-FLN-11).

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Board, TxnId, UnitId};

use super::widen::widen;
use crate::entries::{AnswerEntry, Build};
use crate::flin;
use crate::flin::balance::{Claim, waits};
use crate::flin::gc_quota::QuotaRule;
use crate::flin::priority_sequence::PrioritySequence;

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "wait-balanced",
    summary: "levels in turn by weight, then the read or write that waits longer in proportion to its service",
    source: "FLIN §4.2-4.3, §5.4; model 2.1.6, model 2.1.7",
    params: flin::QUOTA_PARAMS,
    build: Build::Pick(&|v| Box::new(WaitBalanced::new(flin::quota_rule(v)))),
};

/// What stage 2 chose for a direction of a unit.
#[derive(Clone, Copy, Debug)]
struct Slot {
    txn: TxnId,
    /// Serial numbers are not reused, ids are.
    serial: u64,
    sequence: PrioritySequence,
}

/// Priority arbitration and wait balancing.
#[derive(Debug)]
pub struct WaitBalanced {
    quota_rule: QuotaRule,
    /// By unit: reads, programs.
    slots: Vec<[Slot; 2]>,
}

impl WaitBalanced {
    pub(crate) const fn new(quota_rule: QuotaRule) -> WaitBalanced {
        WaitBalanced { quota_rule, slots: Vec::new() }
    }

    /// The transaction in the slot, filled if it was empty.
    fn slot(&mut self, board: &Board, unit: UnitId, op: FlashOp) -> TxnId {
        let priorities = board.facts.priorities;
        let slot = &mut self.slots[unit.index()][op.index()];
        if slot.txn.is_some() {
            let txn = board.txn(slot.txn);
            if txn.serial == slot.serial && txn.stage == Stage::Waiting && txn.unit == unit {
                return slot.txn;
            }
        }
        slot.txn = if priorities == 1 {
            ready(board, unit, op, 0)
        } else {
            let heads = |priority| ready(board, unit, op, priority);
            let which =
                (0..priorities).fold(0u32, |all, priority| all | u32::from(heads(priority).is_some()) << priority);
            slot.sequence.next(priorities, which).map_or(TxnId::NONE, heads)
        };
        if slot.txn.is_some() {
            slot.serial = board.txn(slot.txn).serial;
        }
        slot.txn
    }

    /// Whether the read's proportional wait is longer than the write's.
    fn read_goes_first(&self, board: &Board, read: TxnId, write: TxnId) -> bool {
        let claim = |txn| Claim { waited: board.now - board.txn(txn).enqueued, service: board.service(txn) };
        let (of_read, of_write) = waits(claim(read), claim(write), self.quota_rule.time(board, write));
        of_read.longer_than(of_write)
    }
}

/// The first transaction of a priority that may go. Only a write whose page has an older write waiting elsewhere is passed
/// over.
fn ready(board: &Board, unit: UnitId, op: FlashOp, priority: u8) -> TxnId {
    let queue = board.queue_for(unit, op, priority);
    let head = board.queues[queue.index()].head;
    if head.is_none() || board.eligible(head) {
        return head;
    }
    board.walk(queue).find(|&txn| board.eligible(txn)).unwrap_or(TxnId::NONE)
}

impl Pick for WaitBalanced {
    fn declares(&self) -> PickDeclares {
        PickDeclares { skips_when_single: true, per_priority_queues: true, ..PickDeclares::ASK }
    }

    fn prepare(&mut self, board: &Board) {
        let empty = Slot { txn: TxnId::NONE, serial: 0, sequence: PrioritySequence::default() };
        self.slots = vec![[empty; 2]; board.units.len()];
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        let paid = board.units[unit.index()].foreground_gc.write();
        if scope == Scope::Any && paid.is_some() {
            // Its garbage collection is done, so it goes now, whatever has arrived meanwhile (algorithm 2, line 17).
            widen(board, paid, group);
            return;
        }
        let read = self.slot(board, unit, FlashOp::Read);
        let write = if scope == Scope::Any { self.slot(board, unit, FlashOp::Program) } else { TxnId::NONE };
        let lead = match (read.is_some(), write.is_some()) {
            (true, true) if self.read_goes_first(board, read, write) => read,
            (_, true) => write,
            (true, false) => read,
            (false, false) => return,
        };
        widen(board, lead, group);
    }

    /// O1 compares the read in the slot (model 2.1.7).
    fn next_read(&mut self, board: &Board, unit: UnitId) -> TxnId {
        self.slot(board, unit, FlashOp::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{board, read};
    use super::*;
    use crate::flin::gc_quota::Rounding;
    use flashlane_core::board::Board;

    fn balanced(board: &Board) -> WaitBalanced {
        let mut pick = WaitBalanced::new(QuotaRule {
            below_pages: 1024,
            net_blocks: 1,
            rounding: Rounding::Up,
            preemptible: false,
        });
        pick.prepare(board);
        pick
    }

    /// A transaction in a slot is not replaced by a later one, but it is once it has left its queue.
    #[test]
    fn a_slot_keeps_its_transaction_until_it_goes() {
        let mut board = board(1, 2);
        let mut pick = balanced(&board);
        for i in 0..3 {
            read(&mut board, i, 0, i);
        }
        let mut group = Group::new();
        pick.pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.lead(), TxnId(0), "the oldest read takes the slot");
        let queue = board.txn(TxnId(2)).queue;
        board.unlink(TxnId(2));
        board.link(TxnId(2), queue, TxnId(0));
        group.clear();
        pick.pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.lead(), TxnId(0), "a slot keeps its transaction when another is inserted before it");
        board.unlink(TxnId(0));
        board.txn_mut(TxnId(0)).stage = Stage::InService;
        group.clear();
        pick.pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.lead(), TxnId(2), "a slot whose transaction has left takes the first that waits");
        // Its number is given to another, at the tail.
        board.unlink(TxnId(2)).serial = 9;
        board.link(TxnId(2), queue, TxnId::NONE);
        group.clear();
        pick.pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.lead(), TxnId(1), "a slot does not take another of the same number for its transaction");
    }

    /// A read and a write that have waited so long, us, at an idle unit; whether the read is picked.
    fn read_goes_first(board: &mut Board, waited: [u64; 2]) -> bool {
        board.now = flashlane_core::Time::from_ns(300_000_000);
        let queued = [read(board, 1, 0, 1), super::super::testing::program(board, 0, 2)];
        for (id, us) in queued.into_iter().zip(waited) {
            board.txn_mut(id).enqueued = flashlane_core::Time::from_ns(300_000_000 - us * 1000);
        }
        let mut group = Group::new();
        balanced(board).pick(board, UnitId(0), Scope::Any, &mut group);
        assert!(queued.contains(&group.lead()));
        group.lead() == queued[0]
    }

    /// D-FLN-11: the garbage collection that goes before the write counts in both waits. A read that has just come against a
    /// write that has waited 18,000 us: 1,325 / 100 against 18,100 / 1,325 = 13.66, the write goes. With ten moves of
    /// 1,425 us before it 15,575 / 100 against 32,350 / 1,325 = 24.4, the read; up to 1,325 x 155.75 - 14,350 = 192,018 us.
    #[test]
    fn collection_counts_in_the_balance() {
        for (moves, waited, read_first) in
            [(0, 18_000, false), (64, 18_000, true), (0, 17_000, true), (64, 192_018, true), (64, 192_019, false)]
        {
            let mut board = board(1, 2);
            board.facts.write_triggered_gc = true;
            let flow = |programmed, valid_pages| {
                flashlane_core::board::FlowFigures { programmed, valid_pages, ..Default::default() }.into()
            };
            board.flows = alloc::vec![flow(30, 6_000), flow(90, 4_000)];
            board.units[0].gc.reads = moves;
            (board.planes[0].free_blocks, board.planes[0].free_pages) = (9, 9);
            let first = read_goes_first(&mut board, [0, waited]);
            let rule = "what waits longer over its service goes, and collection before the write counts in both waits";
            assert_eq!(
                first, read_first,
                "whether the read goes: {rule}; {moves} moves, the write has waited {waited} us"
            );
        }
    }

    /// A write whose garbage collection is done goes, whatever read has arrived meanwhile; not where only reads may go.
    #[test]
    fn a_write_whose_collection_is_done_goes() {
        let mut board = board(1, 2);
        board.now = flashlane_core::Time::from_ns(10_000_000);
        let reading = read(&mut board, 1, 0, 1);
        let write = super::super::testing::program(&mut board, 0, 2);
        board.txn_mut(write).enqueued = board.now;
        board.units[0].foreground_gc = flashlane_core::board::ForegroundGc::begun(write, false, 0, false);
        let mut group = Group::new();
        balanced(&board).pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.lead(), write, "a write whose collection is done goes before any read");
        group.clear();
        balanced(&board).pick(&board, UnitId(0), Scope::Reads, &mut group);
        assert_eq!(group.lead(), reading, "where only reads may go no write does");
    }

    /// A slot does not keep a transaction that has moved to another unit.
    #[test]
    fn a_slot_drops_a_transaction_moved_to_another_unit() {
        let mut board = board(1, 2);
        let mut pick = balanced(&board);
        let [first, second] = [0, 1].map(|i| read(&mut board, i, 0, i));
        let mut group = Group::new();
        pick.pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.lead(), first);
        board.unlink(first).unit = UnitId(1);
        group.clear();
        pick.pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.lead(), second, "a slot drops a transaction that has moved to another chip");
    }
}
