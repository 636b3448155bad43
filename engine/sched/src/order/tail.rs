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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pick::testing::{board, read};

    #[test]
    fn what_arrives_goes_behind_what_waits() {
        let mut board = board(1, 1);
        let [_, new] = [1, 2].map(|serial| read(&mut board, serial, 0, serial));
        let queue = board.txn(new).queue;
        assert!(Tail.position(&board, new, queue).in_front_of.is_none(), "nothing that waits is passed");
        assert!(Tail.declares().is_tail, "it says in advance that nothing is");
    }
}
