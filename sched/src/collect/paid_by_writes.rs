//! FLIN's garbage collection: in idle time, and before writes of planes short of free pages, as much as the write's flow
//! has caused (FLIN §4.3 algorithm 2, §5.4 eq. 10).

use flashlane_core::decide::{Collect, Debt, Style, Turn};
use flashlane_core::{Board, TxnId, UnitId};

use crate::flin::migrations::Migrations;

/// Garbage collection that writes pay for.
#[derive(Debug)]
pub struct PaidByWrites {
    migrations: Migrations,
}

impl PaidByWrites {
    pub(crate) const fn new(migrations: Migrations) -> PaidByWrites {
        PaidByWrites { migrations }
    }
}

impl Collect for PaidByWrites {
    fn turn(&mut self, _: &Board, _: UnitId) -> Turn {
        Turn::User
    }

    fn style(&self) -> Style {
        Style::Transactions { pausable: true }
    }

    fn writes_pay(&self) -> bool {
        true
    }

    fn debt(&mut self, board: &Board, write: TxnId) -> Debt {
        self.migrations.debt(board, write)
    }
}
