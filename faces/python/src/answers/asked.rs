//! The Python side of an answer: the instance that is asked, the board that it is shown, and what is wrong in what it returns.

use std::sync::Arc;

use flashlane_core::decide::{Keeps, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, TxnId, UnitId};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use super::failures::{Call, Failures};
use crate::error::error;
use crate::view::BoardView;

/// An answer as Python gives it: a dict with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Written {
    /// The question it answers.
    pub(super) question: String,
    /// Its name, and that of its scheduler.
    pub(super) name: String,
    /// The scheduler that answers the other questions.
    pub(super) base: String,
    /// Makes an instance.
    factory: Py<PyAny>,
    /// Makes an error of what was raised.
    failure: Py<PyAny>,
    /// The columns of the board it looks at; `None` for all of the waiting transactions.
    columns: Option<Vec<String>>,
    /// Pick: whether a lone transaction always goes.
    pub(super) skips_when_single: bool,
    /// Place: whether writes get their plane when a unit takes them, and how many of them are shown.
    pub(super) binds_at_dispatch: bool,
    pub(super) window: usize,
    /// Preempt: whether programs are paused at the ends of iterations only.
    pub(super) between_iterations: bool,
    /// Collect: whether reads may pause garbage collection.
    pub(super) pausable: bool,
}

/// What makes the answers of a run.
pub(super) struct Maker {
    pub(super) name: &'static str,
    pub(super) written: Arc<Written>,
    pub(super) failures: Failures,
}

/// The Python side of an answer, in one run.
pub(super) struct Asked {
    name: &'static str,
    pub(super) written: Arc<Written>,
    failures: Failures,
    state: Option<State>,
    /// The transactions that the next call is shown.
    pub(super) rows: Vec<TxnId>,
    /// How often in a row it decided nothing where something waited.
    declined: u64,
}

/// The instance, the board it is shown, and whether it is being asked.
pub(super) struct State {
    instance: Py<PyAny>,
    pub(super) board: Py<BoardView>,
    call: Arc<Call>,
}

impl State {
    fn new(asked: &Asked) -> PyResult<State> {
        Python::attach(|py| {
            let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
            let call = asked.failures.call(asked.name, thread);
            call.step();
            let instance = asked.written.factory.bind(py).call0();
            call.step();
            let board = Py::new(py, BoardView::new(py, asked.written.columns.as_deref())?)?;
            Ok(State { instance: instance?.unbind(), board, call })
        })
    }

    /// What a method of the instance returns.
    pub(super) fn call<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        arguments: impl PyCallArgs<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.call.step();
        let returned = self.instance.bind(py).call_method1(method, arguments);
        self.call.step();
        returned
    }
}

impl Asked {
    pub(super) fn new(maker: &Maker) -> Asked {
        let Maker { name, written, failures } = maker;
        let (written, failures) = (Arc::clone(written), failures.clone());
        Asked { name, written, failures, state: None, rows: Vec::new(), declined: 0 }
    }

    /// What `call` makes of the instance and the board, which shows the transactions in `rows`. `None` where something went wrong, now or
    /// earlier: the runs end soon.
    pub(super) fn ask<T>(
        &mut self,
        board: &Board,
        call: impl FnOnce(Python<'_>, &State, &[TxnId]) -> PyResult<T>,
    ) -> Option<T> {
        if self.failures.is_stopped() {
            return None;
        }
        match self.attempt(board, call) {
            Ok(answer) => Some(answer),
            Err(raised) => {
                self.failures.put(self.error(raised));
                // What it holds is not held until the other runs have ended.
                Python::attach(|_| self.state = None);
                None
            }
        }
    }

    fn attempt<T>(
        &mut self,
        board: &Board,
        call: impl FnOnce(Python<'_>, &State, &[TxnId]) -> PyResult<T>,
    ) -> PyResult<T> {
        if self.state.is_none() {
            self.state = Some(State::new(self)?);
        }
        let Some(state) = &self.state else { return Err(error("an answer has no state")) };
        Python::attach(|py| {
            state.board.borrow_mut(py).show(py, board, &self.rows)?;
            call(py, state, &self.rows)
        })
    }

    /// What was raised as an error of the package, with the scheduler's line.
    fn error(&self, raised: PyErr) -> PyErr {
        Python::attach(|py| {
            let value = raised.value(py);
            // Before Python 3.12 an exception that no Python code has caught yet does not have it.
            if let Some(traceback) = raised.traceback(py) {
                let _ = value.setattr("__traceback__", traceback);
            }
            self.written.failure.bind(py).call1((value,)).map_or_else(|_| raised.clone_ref(py), PyErr::from_value)
        })
    }

    /// What the device keeps for the columns it looks at.
    pub(super) fn keeps(&self) -> Keeps {
        let named = |name: &str| self.written.columns.iter().flatten().any(|column| column == name);
        Keeps {
            page_flows: named("flow_valid_pages") || named("flow_moved"),
            valid_pages: named("plane_valid_pages"),
            page_planes: named("page_at"),
            request_pages: named("request_units"),
        }
    }

    /// Counts whether it decided something where something waited.
    pub(super) fn decided(&mut self, something: bool) {
        self.declined = if something { 0 } else { self.declined + 1 };
    }
}

/// The run is over: had it ended well, the last that waited would have been served.
impl Drop for Asked {
    fn drop(&mut self) {
        if self.declined == 0 || self.failures.is_stopped() {
            return;
        }
        let method = if self.written.binds_at_dispatch { "place_at_dispatch" } else { "pick" };
        self.failures.stall(format!(
            "{}: {method} returned None {} times in a row, the last time with {} transactions waiting, and then nothing was under way that \
             could change its mind; it must choose one in the end",
            self.name,
            self.declined,
            self.rows.len()
        ));
    }
}

/// The waiting transactions of `unit` that may go now, into `rows`: reads first, each kind in the order of its queue.
pub(super) fn candidates(board: &Board, unit: UnitId, scope: Scope, rows: &mut Vec<TxnId>) {
    rows.clear();
    let ops = if scope == Scope::Any { &[FlashOp::Read, FlashOp::Program][..] } else { &[FlashOp::Read] };
    for &op in ops {
        rows.extend(board.walk(board.queue_for(unit, op, 0)).filter(|&txn| board.eligible(txn)));
    }
}

/// A place below `len` that `method` returned.
pub(super) fn place(method: &str, place: usize, len: usize) -> PyResult<usize> {
    let message = || error(format!("{method} returned {place}: must be below len(board) = {len}"));
    if place < len { Ok(place) } else { Err(message()) }
}

/// What `method` returned is not what it must return.
pub(super) fn unfit(method: &str, returned: &Bound<'_, PyAny>, legal: &str) -> PyErr {
    match returned.repr() {
        Ok(shown) => error(format!("{method} returned {shown}: must be {legal}")),
        Err(raised) => raised,
    }
}
