//! At the tail: order of arrival.

use flashlane_core::decide::{Order, Position};
use flashlane_core::{Board, QueueId, TxnId};

/// Order of arrival.
#[derive(Debug)]
pub struct Tail;

impl Order for Tail {
    fn position(&mut self, _: &Board, _: TxnId, _: QueueId) -> Position {
        Position::TAIL
    }

    fn is_tail(&self) -> bool {
        true
    }
}
