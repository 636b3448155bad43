//! Every write is programmed.

use flashlane_core::decide::Cancel;
use flashlane_core::{Board, TxnId};

/// No write is dropped.
#[derive(Debug)]
pub struct Keep;

impl Cancel for Keep {
    fn drops(&mut self, _: &Board, _: TxnId) -> bool {
        false
    }

    fn keeps_all(&self) -> bool {
        true
    }
}
