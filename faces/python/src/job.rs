//! A comparison that runs beside Python.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use flashlane_report::results::{Format, ResultsDir};
use flashlane_scenario::Scenario;
use flashlane_sim::{AvailableMemory, Options, Progress, RowOutput, RunError, amount};
use pyo3::prelude::*;

use crate::answers::Failures;
use crate::error::{error, panicked};
use crate::pool::pool;
use crate::results::Outcome;

/// A value that another thread will give.
pub(crate) struct Promise<T> {
    value: Mutex<Option<T>>,
    given: Condvar,
}

impl<T: Send> Promise<T> {
    pub(crate) fn new() -> Arc<Promise<T>> {
        Arc::new(Promise { value: Mutex::new(None), given: Condvar::new() })
    }

    pub(crate) fn give(&self, value: T) {
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        self.given.notify_all();
    }

    /// Waits for it at most so long; whether it is there.
    pub(crate) fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        let limit = Duration::from_secs_f64(seconds.clamp(0.0, 3600.0));
        py.detach(|| {
            let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.given.wait_timeout_while(value, limit, |value| value.is_none());
            waited.map(|(value, _)| value.is_some()).unwrap_or(true)
        })
    }

    pub(crate) fn take(&self) -> Option<T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// With less memory than this left, runs are ended: the next allocation that fails might be one that ends the process.
const MIN_MEMORY: u64 = 128 << 20;

/// What is kept of the runs beside the figures.
#[derive(Clone, Copy)]
pub(crate) struct Kept {
    pub(crate) requests: bool,
    pub(crate) transactions: bool,
    pub(crate) audit: bool,
    pub(crate) activity: bool,
    pub(crate) ceiling: bool,
}

/// A comparison that runs.
#[pyclass(frozen)]
pub struct Job {
    failures: Failures,
    promise: Arc<Promise<PyResult<Outcome>>>,
    /// What would take less memory, if rows are kept.
    advice: &'static str,
}

impl Job {
    /// Starts a comparison on threads of its own.
    pub(crate) fn start(scenario: Scenario, kept: Kept, jobs: Option<usize>, failures: Failures) -> PyResult<Job> {
        let pool = pool(jobs)?;
        let progress = failures.progress();
        let promise = Promise::new();
        let (shown, given, ended) = (progress, Arc::clone(&promise), failures.clone());
        let work = move || {
            let made = catch_unwind(AssertUnwindSafe(|| pool.install(|| make(&scenario, kept, &shown))));
            let made = made.map_err(|cause| panicked(&*cause));
            // What went wrong in Python comes before what followed from it.
            given.give(match (ended.take(), made) {
                (Some(raised), _) => Err(raised),
                (None, Ok(made)) => made.map_err(|cause| ended.stalled().map_or_else(|| error(cause), error)),
                (None, Err(panicked)) => Err(panicked),
            });
        };
        let spawned = std::thread::Builder::new().name("flashlane".into()).spawn(work);
        spawned.map_err(|cause| error(format!("cannot start a thread: {cause}")))?;
        let advice = match (kept.transactions, kept.requests) {
            (true, _) => "; a row for each transaction is kept: transactions=False",
            (false, true) => "; a row for each request is kept: requests=False",
            (false, false) => "",
        };
        Ok(Job { failures, promise, advice })
    }

    /// Ends the runs if hardly any memory is left.
    fn watch_memory(&self) {
        let here = AvailableMemory::here();
        let left = here.memory.into_iter().chain(here.space).min();
        if let Some(left) = left.filter(|left| *left < MIN_MEMORY) {
            let message = format!("{} of memory are left, so the runs were ended{}", amount(left), self.advice);
            self.failures.put(error(message));
        }
    }
}

#[pymethods]
impl Job {
    /// Waits at most this many seconds; whether the comparison is over.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        let over = self.promise.wait(py, seconds);
        if !over {
            self.watch_memory();
        }
        over
    }

    /// The calls of schedulers written in Python that have not returned: the scheduler, its thread, and how long it has been seen in
    /// this call, s.
    fn calls(&self) -> Vec<(&'static str, u64, f64)> {
        self.failures.calls()
    }

    /// Requests completed, and how many there will be; 0 while unknown.
    fn progress(&self) -> (u64, u64) {
        (self.failures.progress().done(), self.failures.progress().total())
    }

    /// Ends the runs soon.
    fn stop(&self) {
        self.failures.progress().stop();
    }

    /// The outcome, once it is over.
    fn result(&self) -> PyResult<Outcome> {
        self.promise.take().unwrap_or_else(|| Err(error("the comparison is not over, or its outcome was taken")))
    }
}

fn make(scenario: &Scenario, kept: Kept, progress: &Progress) -> Result<Outcome, RunError> {
    let prepared = flashlane_sim::prepare(scenario)?;
    flashlane_sim::fits(&flashlane_sim::memory(&prepared)?)?;
    let dir = ResultsDir::in_memory();
    let rows = RowOutput { dir: &dir, format: Format::Parquet, transactions: kept.transactions };
    let rows = (kept.requests || kept.transactions).then_some(rows);
    let options = Options { audit: kept.audit, rows, activity: kept.activity, progress: Some(progress) };
    // Before the runs, which take over the traces.
    let ceiling = kept.ceiling.then(|| flashlane_sim::ceiling(&prepared)).transpose()?;
    let mut made = flashlane_sim::compare_repeated(scenario, &prepared, &options)?;
    if let Some(ceiling) = ceiling {
        made.summary.compare_with_ceiling(ceiling);
    }
    Ok(Outcome::new(made, dir.take_rows()))
}
