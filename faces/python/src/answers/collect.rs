//! Whether garbage collection goes before user transactions, decided in Python.

use flashlane_core::decide::{Collect, CollectDeclares, GcMode, GcPrecedence, Scope};
use flashlane_core::{Board, UnitId};

use pyo3::prelude::PyAnyMethods;

use super::asked::{Asked, candidates, unfit};

pub(super) struct PythonCollect(pub(super) Asked);

impl Collect for PythonCollect {
    fn declares(&self) -> CollectDeclares {
        let mode = GcMode::Transactions { pausable: self.0.written.pausable };
        CollectDeclares { mode, keeps: self.0.keeps(), ..CollectDeclares::ASK }
    }

    fn precedence(&mut self, board: &Board, unit: UnitId) -> GcPrecedence {
        candidates(board, unit, Scope::Any, &mut self.0.rows);
        let first = self.0.ask(board, |py, state, _| {
            let said = state.call(py, "goes_first", (&state.board, unit.0))?;
            said.extract::<bool>().map_err(|_| unfit("goes_first", &said, "True or False"))
        });
        if first.unwrap_or(true) { GcPrecedence::Gc } else { GcPrecedence::User }
    }
}
