//! At the tail: order of arrival.

use flashlane_core::decide::{Order, OrderDeclares, Position};
use flashlane_core::{Board, QueueId, TxnId};

/// Order of arrival.
#[derive(Debug)]
pub struct Tail;

impl Order for Tail {
    fn declares(&self) -> OrderDeclares {
        OrderDeclares { is_tail: true, ..OrderDeclares::ASK }
    }

    fn position(&mut self, _: &Board, _: TxnId, _: QueueId) -> Position {
        Position::TAIL
    }
}
