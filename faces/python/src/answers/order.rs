//! Where in its queue a transaction stands, decided in Python.

use flashlane_core::decide::{Needs, Order, OrderDeclares, Position};
use flashlane_core::{Board, QueueId, TxnId};

use pyo3::prelude::PyAnyMethods;

use super::asked::{Asked, place, unfit};

pub(super) struct PythonOrder(pub(super) Asked);

impl Order for PythonOrder {
    fn declares(&self) -> OrderDeclares {
        let needs = Needs { arrivals_from_units: true, ..Needs::NOTHING };
        OrderDeclares { needs, keeps: self.0.keeps(), ..OrderDeclares::ASK }
    }

    fn position(&mut self, board: &Board, txn: TxnId, queue: QueueId) -> Position {
        self.0.rows.clear();
        self.0.rows.extend(board.walk(queue));
        self.0.rows.push(txn);
        let unit = board.txn(txn).unit.0;
        let chosen = self.0.ask(board, |py, state, rows| {
            let chosen = state.call(py, "position", (&state.board, unit))?;
            let Ok(chosen) = chosen.extract::<usize>() else {
                return Err(unfit(
                    "position",
                    &chosen,
                    "the place at which the last transaction on the board shall stand",
                ));
            };
            place("position", chosen, rows.len())
        });
        let in_front_of = match chosen {
            // At its own place, the last, it joins at the tail.
            Some(chosen) if chosen + 1 < self.0.rows.len() => self.0.rows[chosen],
            _ => TxnId::NONE,
        };
        Position { in_front_of, ..Position::TAIL }
    }
}
