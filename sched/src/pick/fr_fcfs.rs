//! FR-FCFS with conditional queue size: reads first, unless the write queue is fuller than a threshold (Slacker §3.2,
//! SPEC 1.1.2).

use flashlane_core::decide::{Group, Pick, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, UnitId};

use super::{oldest, widen::widen};

/// Reads first until the write queue fills.
#[derive(Debug)]
pub struct FrFcfs {
    /// Waiting writes above which writes go first, in hundredths of a write.
    threshold: u64,
}

impl FrFcfs {
    /// Writes go first while more than `alpha_percent` of `write_capacity` waits (D-SLK-09).
    pub const fn new(alpha_percent: u64, write_capacity: u64) -> FrFcfs {
        FrFcfs { threshold: alpha_percent * write_capacity }
    }
}

impl Pick for FrFcfs {
    fn lets_lone_transactions_go(&self) -> bool {
        true
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        // All that waits for the unit is the cheaper bound: it seldom passes the threshold.
        let waiting = u64::from(board.units[unit.index()].user_waiting);
        let triggered = scope == Scope::Any
            && waiting * 100 > self.threshold
            && u64::from(board.waiting(unit, FlashOp::Program)) * 100 > self.threshold;
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
