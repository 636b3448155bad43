//! Answers to the pick question that are written in Python.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::{Board, TxnId, UnitId};
use flashlane_sched::catalogue::{Answers, Catalogue, Choice, SchedulerEntry};
use flashlane_sim::Progress;
use flashlane_sched::pick::widen;
use pyo3::prelude::*;

use crate::error::error;
use crate::view::{BoardView, candidates};

/// As Python gives it: the name of the answer and its scheduler, the scheduler it starts from, what makes an instance, what makes an
/// error of what was raised, whether a lone transaction always goes, and the columns it looks at if not all.
pub type Written = (String, String, Py<PyAny>, Py<PyAny>, bool, Option<Vec<String>>);

/// The first exception of a decision made in Python, which ends all runs.
#[derive(Clone)]
pub(crate) struct Failures {
    progress: Arc<Progress>,
    first: Arc<Mutex<Option<PyErr>>>,
    /// Of answers that let units idle until their run could not go on: the message about each.
    stalled: Arc<Mutex<Vec<String>>>,
    /// One for each run with such an answer.
    calls: Arc<Mutex<Vec<Arc<Call>>>>,
}

/// Where a run is with its answer: in a call of it, or not.
struct Call {
    name: &'static str,
    /// The thread, as Python calls it.
    thread: u64,
    /// Calls begun and calls ended: odd within a call.
    steps: AtomicU64,
    /// What it was when it was looked at and had changed, and when.
    seen: Mutex<(u64, Instant)>,
}

impl Call {
    fn step(&self) {
        self.steps.fetch_add(1, Relaxed);
    }

    /// How long one call has lasted at least, s.
    fn lasts(&self) -> Option<f64> {
        let steps = self.steps.load(Relaxed);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.0 != steps {
            *seen = (steps, Instant::now());
        }
        (steps % 2 == 1).then(|| seen.1.elapsed().as_secs_f64())
    }
}

impl Failures {
    pub(crate) fn new(progress: Arc<Progress>) -> Failures {
        Failures { progress, first: Arc::default(), stalled: Arc::default(), calls: Arc::default() }
    }

    /// The calls that have not returned: the answer's name, its thread, and how long it has been seen in this call, s.
    pub(crate) fn calls(&self) -> Vec<(&'static str, u64, f64)> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().filter_map(|call| Some((call.name, call.thread, call.lasts()?))).collect()
    }

    fn call(&self, name: &'static str, thread: u64) -> Arc<Call> {
        let call = Call { name, thread, steps: AtomicU64::new(0), seen: Mutex::new((0, Instant::now())) };
        let call = Arc::new(call);
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&call));
        call
    }

    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Why a run ended before its requests, if an answer written in Python let units idle for ever.
    pub(crate) fn stalled(&self) -> Option<String> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner).iter().min().cloned()
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    pub(crate) fn put(&self, raised: PyErr) {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(raised);
        self.progress.stop();
    }
}

/// The shipped catalogue with these answers, and for each a scheduler.
pub(crate) fn extended(picks: Vec<Written>, failures: &Failures) -> PyResult<Catalogue> {
    let mut catalogue = Catalogue::shipped();
    for (name, base, factory, failure, lone, columns) in picks {
        // A catalogue is used until the program ends.
        let name: &'static str = Box::leak(name.into_boxed_str());
        let failures = failures.clone();
        let build = Box::leak(Box::new(move |_: &flashlane_sched::Values<'_>| -> Box<dyn Pick> {
            let (factory, failure) = Python::attach(|py| (factory.clone_ref(py), failure.clone_ref(py)));
            let (failures, columns) = (failures.clone(), columns.clone());
            Box::new(PythonPick {
                name,
                factory,
                failure,
                failures,
                lone,
                columns,
                state: None,
                waiting: Vec::new(),
                declined: 0,
            })
        }));
        catalogue
            .add_answer::<dyn Pick>(Choice {
                name,
                summary: "written in Python",
                source: "the caller",
                params: &[],
                build,
            })
            .map_err(error)?;
        let Some(from) = catalogue.scheduler(&base).copied() else {
            let names: Vec<&str> = catalogue.schedulers().iter().map(|entry| entry.name).collect();
            return Err(error(format!("{name}: base = {base:?}: no such scheduler; there are {}", names.join(", "))));
        };
        let answers = Answers { pick: name, ..from.answers };
        let entry = SchedulerEntry { name, paper: "none", section: "", summary: "written in Python", answers, ..from };
        catalogue.add_scheduler(entry).map_err(error)?;
    }
    Ok(catalogue)
}

struct PythonPick {
    name: &'static str,
    factory: Py<PyAny>,
    failure: Py<PyAny>,
    failures: Failures,
    lone: bool,
    columns: Option<Vec<String>>,
    state: Option<State>,
    waiting: Vec<TxnId>,
    /// How often in a row it let a unit idle.
    declined: u64,
}

/// The run is over: had it ended well, the last that waited would have been picked.
impl Drop for PythonPick {
    fn drop(&mut self) {
        if self.declined == 0 || self.failures.progress.is_stopped() {
            return;
        }
        let message = format!(
            "{}: pick returned None {} times in a row, the last time with {} transactions waiting, and then nothing was under way that \
             could change its mind; it must pick one in the end",
            self.name,
            self.declined,
            self.waiting.len()
        );
        self.failures.stalled.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }
}

/// The instance's method, the board it is shown, and whether it is being asked.
struct State {
    pick: Py<PyAny>,
    board: Py<BoardView>,
    call: Arc<Call>,
}

impl State {
    fn new(own: &PythonPick) -> PyResult<State> {
        Python::attach(|py| {
            let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
            let call = own.failures.call(own.name, thread);
            call.step();
            let instance = own.factory.bind(py).call0();
            call.step();
            let board = Py::new(py, BoardView::new(py, own.columns.clone())?)?;
            Ok(State { pick: instance?.getattr("pick")?.unbind(), board, call })
        })
    }

    /// The places of the lead and its companions that Python chose; the companions are `None` if they are left to Flashlane.
    fn ask(&self, board: &Board, unit: UnitId, waiting: &[TxnId]) -> PyResult<Option<(usize, Option<Vec<usize>>)>> {
        Python::attach(|py| {
            self.board.borrow_mut(py).show(py, board, waiting)?;
            self.call.step();
            let chosen = self.pick.bind(py).call1((&self.board, unit.0));
            self.call.step();
            let chosen = chosen?;
            if chosen.is_none() {
                return Ok(None);
            }
            let legal = |place: usize| {
                let message = format!("pick returned {place}: must be below len(board) = {}", waiting.len());
                if place < waiting.len() { Ok(place) } else { Err(error(message)) }
            };
            if let Ok(place) = chosen.extract::<usize>() {
                return Ok(Some((legal(place)?, None)));
            }
            let Ok(places) = chosen.extract::<Vec<usize>>() else {
                let shown = chosen.repr()?;
                return Err(error(format!(
                    "pick returned {shown}: must be None, a place on the board, or a list of places, the lead first"
                )));
            };
            let places = places.into_iter().map(legal).collect::<PyResult<Vec<_>>>()?;
            Ok(places.split_first().map(|(lead, others)| (*lead, Some(others.to_vec()))))
        })
    }
}

impl PythonPick {
    /// What was raised as an error of the package, with the scheduler's line.
    fn error(&self, raised: PyErr) -> PyErr {
        Python::attach(|py| {
            let value = raised.value(py);
            // Before Python 3.12 an exception that no Python code has caught yet does not have it.
            if let Some(traceback) = raised.traceback(py) {
                let _ = value.setattr("__traceback__", traceback);
            }
            self.failure.bind(py).call1((value,)).map_or_else(|_| raised.clone_ref(py), PyErr::from_value)
        })
    }

    fn choose(&mut self, board: &Board, unit: UnitId, group: &mut Group) -> PyResult<()> {
        if self.state.is_none() {
            self.state = Some(State::new(self)?);
        }
        let Some(state) = &self.state else { return Ok(()) };
        let Some((lead, companions)) = state.ask(board, unit, &self.waiting)? else {
            self.declined += 1;
            return Ok(());
        };
        self.declined = 0;
        let Some(companions) = companions else {
            widen(board, self.waiting[lead], group);
            return Ok(());
        };
        group.push(board, self.waiting[lead]);
        for place in companions {
            let txn = self.waiting[place];
            if !board.may_join(group, txn) {
                let message = format!("pick returned {place} as a companion of {lead}: it cannot share the command");
                return Err(error(message));
            }
            group.push(board, txn);
        }
        Ok(())
    }
}

impl Pick for PythonPick {
    fn declares(&self) -> PickDeclares {
        PickDeclares { skips_when_single: self.lone, ..PickDeclares::ASK }
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        candidates(board, unit, scope, &mut self.waiting);
        if self.waiting.is_empty() {
            return;
        }
        if !self.failures.progress.is_stopped() {
            match self.choose(board, unit, group) {
                Ok(()) => return,
                Err(raised) => self.failures.put(self.error(raised)),
            }
            // What it holds is not held until the other runs have ended.
            Python::attach(|_| self.state = None);
        }
        // The runs end soon; until then the device goes on as it may.
        if group.members().is_empty() {
            group.push(board, self.waiting[0]);
        }
    }
}
