//! Whether a running program or erase is paused, decided in Python.

use flashlane_core::decide::{Preempt, PreemptDeclares, Scope, SuspendPoints};
use flashlane_core::{Board, Duration, TxnId, UnitId};

use pyo3::prelude::PyAnyMethods;

use super::asked::{Asked, candidates, unfit};

pub(super) struct PythonPreempt(pub(super) Asked);

impl PythonPreempt {
    /// What `method` says of `unit`, whose next read is `read`; `Duration::ZERO`, no charge to any slack, for yes.
    fn says(&mut self, method: &str, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration> {
        candidates(board, unit, Scope::Reads, &mut self.0.rows);
        // The read that would go next is the first.
        let at = self.0.rows.iter().position(|&row| row == read);
        if let Some(at) = at {
            self.0.rows[..=at].rotate_right(1);
        }
        let yes = self.0.ask(board, |py, state, _| {
            let said = state.call(py, method, (&state.board, unit.0))?;
            said.extract::<bool>().map_err(|_| unfit(method, &said, "True or False"))
        });
        yes?.then_some(Duration::ZERO)
    }
}

impl Preempt for PythonPreempt {
    fn declares(&self) -> PreemptDeclares {
        let suspend_points =
            if self.0.written.between_iterations { SuspendPoints::Boundary } else { SuspendPoints::Any };
        PreemptDeclares { suspend_points, keeps: self.0.keeps() }
    }

    fn pause(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration> {
        self.says("pause", board, unit, read)
    }

    fn serve(&mut self, board: &Board, unit: UnitId, read: TxnId) -> Option<Duration> {
        self.says("serve", board, unit, read)
    }
}
