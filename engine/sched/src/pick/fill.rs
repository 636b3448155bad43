//! The fill trigger of FR-FCFS: writes go first while the write queue is fuller than a threshold (Slacker §2.1, "conditional
//! queue size", model 1.1.2). What to pick next and whether to pause a program must agree on it (D-SLK-15).

use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, UnitId};

use crate::params::Param;

/// Parameters of the trigger.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "alpha",
        unit: "%",
        default: 80,
        min: 0,
        max: 100,
        help: "writes go first while more than this share of the write queue's capacity waits (D-SLK-09)",
    },
    Param {
        name: "write_capacity",
        unit: "transactions",
        default: 4096,
        min: 1,
        max: 1 << 40,
        help: "capacity of a unit's write queue that alpha is a share of (D-SLK-09)",
    },
];

/// Whether a unit's writes go first.
#[derive(Clone, Copy, Debug)]
pub struct FillTrigger {
    /// Waiting writes above which writes go first, in hundredths of a write.
    threshold: u64,
}

impl FillTrigger {
    /// Writes go first while more than `alpha_percent` of `write_capacity` waits (D-SLK-09).
    pub const fn new(alpha_percent: u64, write_capacity: u64) -> FillTrigger {
        FillTrigger { threshold: alpha_percent * write_capacity }
    }

    /// The trigger with a scheduler's parameters.
    pub(crate) fn of(values: &crate::params::Values<'_>) -> FillTrigger {
        FillTrigger::new(values.get("alpha"), values.get("write_capacity"))
    }

    /// Whether writes go first now.
    #[inline(always)]
    pub fn holds(&self, board: &Board, unit: UnitId) -> bool {
        u64::from(board.waiting(unit, FlashOp::Program)) * 100 > self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::{board, program, read};

    /// Writes go first from the first write above the share on: reads that wait do not count, nor does the share itself.
    #[test]
    fn writes_go_first_above_the_share_and_not_at_it() {
        for (alpha, capacity, most) in
            [(80, 10, 8), (50, 4, 2), (50, 5, 2), (100, 3, 3), (0, 10, 0), (99, 1, 0), (100, 1, 1)]
        {
            let mut board = board(1, 2);
            for i in 0..20 {
                read(&mut board, i, 0, i);
            }
            let fill = FillTrigger::new(alpha, capacity);
            for waiting in 0..12 {
                assert_eq!(fill.holds(&board, UnitId(0)), waiting > most, "{waiting} of {capacity} at {alpha} %");
                program(&mut board, 0, 100 + waiting as u32);
            }
        }
    }
}
