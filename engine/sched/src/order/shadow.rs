//! Shadow mode: Slacker's estimator beside any other order. It estimates and notes; the other order decides the places.

use alloc::boxed::Box;
use alloc::vec::Vec;

use flashlane_core::decide::{Departure, Estimate, Needs, Order, OrderDeclares, Position, Promotion};
use flashlane_core::{Board, Duration, QueueId, RequestId, TxnId, UnitId};

use crate::estimate::Estimator;

/// An order with the estimator beside it.
pub struct Shadow {
    order: Box<dyn Order>,
    estimator: Estimator,
}

impl Shadow {
    /// `order`, with `estimator` beside it.
    pub(crate) fn new(order: Box<dyn Order>, estimator: Estimator) -> Shadow {
        Shadow { order, estimator }
    }
}

impl Order for Shadow {
    fn declares(&self) -> OrderDeclares {
        let declared = self.order.declares();
        let needs = declared.needs;
        let ends = needs.ends || self.estimator.uses_error_term();
        OrderDeclares { needs: Needs { estimates: true, ends, ..needs }, ..declared }
    }

    fn prepare(&mut self, board: &Board) {
        self.order.prepare(board);
    }

    fn position(&mut self, board: &Board, txn: TxnId, queue: QueueId) -> Position {
        self.order.position(board, txn, queue)
    }

    fn promote(&mut self, board: &Board, created: &[TxnId], promotions: &mut Vec<Promotion>) {
        self.order.promote(board, created, promotions);
    }

    fn rerank(&mut self, board: &Board, unit: UnitId, promotions: &mut Vec<Promotion>) {
        self.order.rerank(board, unit, promotions);
    }

    fn estimate(&mut self, board: &Board, txn: TxnId, _: RequestId) -> Estimate {
        self.estimator.waiting(board, txn)
    }

    fn departs(&mut self, board: &Board, txn: TxnId, departure: Departure) -> Duration {
        self.order.departs(board, txn, departure)
    }

    fn ended(&mut self, board: &Board, txn: TxnId) {
        self.order.ended(board, txn);
        self.estimator.ended(board, txn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Options;
    use crate::order::tail::Tail;
    use crate::pick::testing::{board, read};

    /// An order that takes 7 ns from what leaves.
    struct Takes;

    impl Order for Takes {
        fn declares(&self) -> OrderDeclares {
            OrderDeclares::ASK
        }

        fn position(&mut self, _: &Board, _: TxnId, _: QueueId) -> Position {
            Position { isolated_latency: Duration::from_ns(5), ..Position::TAIL }
        }

        fn departs(&mut self, _: &Board, _: TxnId, _: Departure) -> Duration {
            Duration::from_ns(7)
        }
    }

    #[test]
    fn the_order_beside_it_is_asked() {
        let mut board = board(1, 1);
        let new = read(&mut board, 1, 0, 1);
        let mut order = Shadow::new(Box::new(Takes), Estimator::new(Options::default(), false));
        let noted = order.position(&board, new, board.txn(new).queue).isolated_latency.ns();
        assert_eq!(noted, 5, "what the order notes of a transaction is noted");
        let owes = order.departs(&board, new, Departure::Dispatched).ns();
        assert_eq!(owes, 7, "what the order takes from the slack of one that leaves is taken");
        assert!(!order.declares().is_tail, "what the order declares is declared");
    }

    #[test]
    fn the_estimator_changes_no_place() {
        let mut board = board(1, 1);
        let [_, new] = [1, 2].map(|serial| read(&mut board, serial, 0, serial));
        let (queue, request) = (board.txn(new).queue, RequestId(0));
        for error_term in [false, true] {
            let mut order = Shadow::new(Box::new(Tail), Estimator::new(Options::default(), error_term));
            assert!(order.position(&board, new, queue).in_front_of.is_none(), "the order beside it decides the place");
            let waits = order.estimate(&board, new, request).queue;
            assert_eq!(waits, board.service(new), "the read ahead is in the estimate");
            let declared = order.declares();
            assert!(declared.is_tail && declared.needs.estimates, "it declares what the order does, and estimates");
            assert_eq!(declared.needs.ends, error_term, "ends are needed for the error term alone");
        }
    }
}
