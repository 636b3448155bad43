//! Many runs that are made beside Python: those of a sweep, or of a recommendation.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use flashlane_sim::RunError;
use flashlane_sweep::Progress;
use pyo3::prelude::*;

use crate::error::{error, panicked};
use crate::job::Promise;
use crate::pool::pool;

/// What the runs gave.
#[derive(IntoPyObject)]
pub enum Outcome {
    /// Of a sweep: runs made now, runs there before, and the names of those made that were there and damaged.
    Sweep((usize, usize, Vec<String>)),
    /// A recommendation as JSON, as text, and the names of runs that were found damaged and are made again.
    Recommendation((String, String, Vec<String>)),
}

/// Many runs that are being made.
#[pyclass(frozen)]
pub struct RunsJob {
    progress: Arc<Progress>,
    promise: Arc<Promise<PyResult<Outcome>>>,
}

impl RunsJob {
    /// Starts `make` on threads of its own, `jobs` of them.
    pub(crate) fn start(
        jobs: Option<usize>,
        make: impl FnOnce(&Progress) -> Result<Outcome, RunError> + Send + 'static,
    ) -> PyResult<RunsJob> {
        let pool = pool(jobs)?;
        let (progress, promise) = (Arc::new(Progress::default()), Promise::new());
        let (shown, given) = (Arc::clone(&progress), Arc::clone(&promise));
        let work = move || {
            let made = catch_unwind(AssertUnwindSafe(|| pool.install(|| make(&shown))));
            given.give(match made {
                Ok(made) => made.map_err(error),
                Err(cause) => Err(panicked(&*cause)),
            });
        };
        let spawned = std::thread::Builder::new().name("flashlane-runs".into()).spawn(work);
        spawned.map_err(|cause| error(format!("cannot start a thread: {cause}")))?;
        Ok(RunsJob { progress, promise })
    }
}

#[pymethods]
impl RunsJob {
    /// Waits at most this many seconds; whether they are over.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        self.promise.wait(py, seconds)
    }

    /// Runs made, and runs to make as far as is known; 0 while unknown.
    fn progress(&self) -> (u64, u64) {
        (self.progress.done(), self.progress.of())
    }

    /// Ends them soon.
    fn stop(&self) {
        self.progress.stop();
    }

    /// What they gave, once they are over.
    fn result(&self) -> PyResult<Outcome> {
        self.promise.take().unwrap_or_else(|| Err(error("the runs are not over, or their outcome was taken")))
    }
}
