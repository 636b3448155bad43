//! FR-FCFS with conditional queue size: reads first, unless the write queue is fuller than a threshold (Slacker §2.1,
//! model 1.1.2).

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, UnitId};

use super::{FillTrigger, oldest, widen::widen};

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
