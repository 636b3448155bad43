//! Every write is programmed.

use flashlane_core::decide::{Cancel, CancelDeclares};
use flashlane_core::{Board, TxnId};

/// No write is dropped.
#[derive(Debug)]
pub struct Keep;

impl Cancel for Keep {
    fn declares(&self) -> CancelDeclares {
        CancelDeclares { keeps_all: true, ..CancelDeclares::ASK }
    }

    fn drops(&mut self, _: &Board, _: TxnId) -> bool {
        false
    }
}
