//! FR-FCFS with conditional queue size: reads first, unless the write queue is fuller than a threshold (Slacker §2.1,
//! model 1.1.2).

use alloc::boxed::Box;

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, UnitId};

use super::fill::{self, FillTrigger};
use super::{oldest, widen::widen};
use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "fr-fcfs",
    summary: "reads before writes until the write queue fills",
    source: "Slacker §2.1; model 1.1.2",
    params: fill::PARAMS,
    build: Build::Pick(&|v| Box::new(FrFcfs::new(FillTrigger::of(v)))),
};

/// Reads first until the write queue fills.
#[derive(Debug)]
pub struct FrFcfs {
    fill: FillTrigger,
}

impl FrFcfs {
    /// Writes go first while `fill` holds.
    pub const fn new(fill: FillTrigger) -> FrFcfs {
        FrFcfs { fill }
    }
}

impl Pick for FrFcfs {
    fn declares(&self) -> PickDeclares {
        PickDeclares { skips_when_single: true, ..PickDeclares::ASK }
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        let triggered = scope == Scope::Any && self.fill.holds(board, unit);
        let order = if triggered { [FlashOp::Program, FlashOp::Read] } else { [FlashOp::Read, FlashOp::Program] };
        for op in order {
            if op == FlashOp::Program && scope == Scope::Reads {
                continue;
            }
            let lead = oldest(board, unit, op);
            if lead.is_some() {
                widen(board, lead, group);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::begins;
    use Scope::{Any, Reads};

    /// Writes go first while more than two wait.
    #[test]
    fn reads_go_first_until_more_writes_wait_than_the_share() {
        begins(
            FrFcfs::new(FillTrigger::new(50, 4)),
            &[
                ("w1 w2 r9", Any, "r9", "at the share reads go first"),
                ("w1 w2 w3 r9", Any, "w1", "above the share writes go first, the oldest of them"),
                ("r1 w2 w3 w4", Any, "w2", "above the share writes go before older reads too"),
                ("w1! w2! w3! r9", Any, "r9", "above the share a read goes if no write can"),
                ("r1 r2", Any, "r1", "of reads the oldest goes"),
                ("w1", Any, "w1", "a write goes if no read waits"),
                ("w1 w2 w3 r9", Reads, "r9", "in a pause only reads go, however many writes wait"),
                ("w1 w2 w3", Reads, "", "in a pause only reads go"),
                ("w1 w2/1 w3 r9", Any, "w1 w2/1", "a write of another plane joins"),
            ],
        );
    }
}
