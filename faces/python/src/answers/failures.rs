//! What goes wrong in answers that are written in Python, and where their calls are.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use flashlane_sim::Progress;
use pyo3::prelude::*;

/// The first exception of a decision made in Python, which ends all runs.
#[derive(Clone)]
pub(crate) struct Failures {
    progress: Arc<Progress>,
    first: Arc<Mutex<Option<PyErr>>>,
    /// Of answers that decided nothing until their run could not go on: the message about each.
    stalled: Arc<Mutex<Vec<String>>>,
    /// One for each answer of each run.
    calls: Arc<Mutex<Vec<Arc<Call>>>>,
}

/// Where a run is with its answer: in a call of it, or not.
pub(crate) struct Call {
    name: &'static str,
    /// The thread, as Python calls it.
    thread: u64,
    /// Calls begun and calls ended: odd within a call.
    steps: AtomicU64,
    /// What it was when it was looked at and had changed, and when.
    seen: Mutex<(u64, Instant)>,
}

impl Call {
    /// A call begins, or ends.
    pub(super) fn step(&self) {
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

    pub(super) fn call(&self, name: &'static str, thread: u64) -> Arc<Call> {
        let call = Call { name, thread, steps: AtomicU64::new(0), seen: Mutex::new((0, Instant::now())) };
        let call = Arc::new(call);
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&call));
        call
    }

    pub(crate) fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }

    /// Whether the runs are being ended.
    pub(super) fn is_stopped(&self) -> bool {
        self.progress.is_stopped()
    }

    /// Notes that an answer decided nothing until its run could not go on.
    pub(super) fn stall(&self, message: String) {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner).push(message);
    }

    /// Why a run ended before its requests, if an answer written in Python decided nothing for ever.
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
