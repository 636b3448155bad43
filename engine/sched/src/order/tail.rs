//! At the tail: order of arrival.

use alloc::boxed::Box;

use flashlane_core::decide::{Order, OrderDeclares, Position};
use flashlane_core::{Board, QueueId, TxnId};

use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "tail",
    summary: "order of arrival",
    source: "",
    params: &[],
    build: Build::Order(&|_| Box::new(Tail)),
};

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
