//! First come, first served over reads and writes of a unit (model 2.1.9 FCFS).

use alloc::boxed::Box;
use core::cmp::Reverse;

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, UnitId};

use super::{oldest, widen::widen_over_priorities};
use crate::entries::{AnswerEntry, Build};
use crate::params::Param;

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "fcfs",
    summary: "the oldest transaction, read or write",
    source: "model 2.1.9",
    params: &[
        Param::switch(
            "fcfs_widen",
            1,
            "whether companions may share the oldest transaction's command (multi-plane, multi-die)",
        ),
        Param::switch(
            "fcfs_by_priority",
            0,
            "whether a transaction of a flow with a higher priority goes before all of lower ones, read or write (D-SOS-17)",
        ),
    ],
    build: Build::Pick(&|v| Box::new(Fcfs::new(v.get("fcfs_widen") == 1, v.get("fcfs_by_priority") == 1))),
};

/// The older of the oldest read and the oldest write, of those of the highest priority.
#[derive(Debug)]
pub struct Fcfs {
    widen: bool,
    by_priority: bool,
}

impl Fcfs {
    /// `widen` lets companions of the same kind join the oldest transaction's command; without `by_priority` all flows are of one priority.
    pub const fn new(widen: bool, by_priority: bool) -> Fcfs {
        Fcfs { widen, by_priority }
    }
}

impl Pick for Fcfs {
    fn declares(&self) -> PickDeclares {
        PickDeclares {
            skips_when_single: true,
            per_priority_queues: self.by_priority,
            oldest_first: !self.by_priority,
            ..PickDeclares::ASK
        }
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        let read = oldest(board, unit, FlashOp::Read);
        let write =
            if scope == Scope::Any { oldest(board, unit, FlashOp::Program) } else { flashlane_core::TxnId::NONE };
        let place = |id| (Reverse(board.txn(id).priority), board.txn(id).age());
        let lead = match (read.is_some(), write.is_some()) {
            (true, true) if place(write) < place(read) => write,
            (true, _) => read,
            (false, true) => write,
            (false, false) => return,
        };
        if self.widen { widen_over_priorities(board, lead, group) } else { group.push(board, lead) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::begins;
    use Scope::{Any, Reads};

    #[test]
    fn the_older_of_the_oldest_read_and_the_oldest_write_goes() {
        let table = [
            ("r3 w1", Any, "w1", "an older write goes before a read"),
            ("r1 w3", Any, "r1", "an older read goes before a write"),
            ("w1 w2", Any, "w1", "of writes the oldest goes"),
            ("r1 r2", Any, "r1", "of reads the oldest goes"),
            ("w2", Any, "w2", "a write goes if no read waits"),
            ("w1! w2 r3", Any, "w2", "a write behind an older one of its page is passed over"),
            ("w1! r3", Any, "r3", "a write behind an older one of its page is passed over"),
            ("r3 w1", Reads, "r3", "in a pause only reads go"),
            ("w1", Reads, "", "in a pause only reads go"),
            ("", Any, "", "of nothing nothing goes"),
        ];
        begins(Fcfs::new(true, false), &table);
        begins(Fcfs::new(false, false), &table);
    }

    #[test]
    fn by_priority_the_higher_goes_whatever_it_is() {
        let table = [
            ("w1 r2+", Any, "r2+", "a read of the higher priority goes before an older write"),
            ("r1 w2+", Any, "w2+", "a write of the higher priority goes before an older read"),
            ("r3+ w2+ r1", Any, "w2+", "of one priority the older goes"),
            ("w1 r2", Any, "w1", "of one priority the older goes"),
            ("r1 w2+", Reads, "r1", "in a pause only reads go"),
            ("w1 w2+!", Any, "w1", "a write behind an older one of its page is passed over, whatever its priority"),
        ];
        begins(Fcfs::new(false, true), &table);
        begins(Fcfs::new(true, true), &[("w1 r2+ r3/1", Any, "r2+ r3/1", "one of a lower priority joins")]);
    }

    #[test]
    fn companions_join_if_asked_for() {
        begins(Fcfs::new(false, false), &[("r1 r2/1", Any, "r1", "one at a time")]);
        begins(
            Fcfs::new(true, false),
            &[
                ("r1 r2/1", Any, "r1 r2/1", "a read of another plane joins"),
                ("r1 r2 r3/1", Any, "r1 r3/1", "one of the same plane does not"),
                ("w1 r2/1", Any, "w1", "nor does one of another kind"),
            ],
        );
    }
}
