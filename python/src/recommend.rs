//! Recommendations for Python: which scheduler to take for a workload.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use flashlane_outputs::Store;
use flashlane_report::results::recommendation_text;
use flashlane_scenario::Scenario;
use flashlane_sim::RunError;
use flashlane_sweep::{Limit, Limits, MakeOptions, Progress, Recommend, Shard};
use pyo3::prelude::*;

use crate::error::{error, panicked};
use crate::job::Promise;
use crate::pool::pool;
use crate::scenario::{assign, read};

/// A recommendation as JSON, as text, and the names of runs that were found damaged and are made again.
type Outcome = (String, String, Vec<String>);

/// Starts a recommendation.
///
/// The scenario is given as to [`start`](crate::scenario::start); `limits` are those on p99, write amplification and fairness, as the
/// program reads them. Runs are kept in the store `out`, if there is one.
#[pyfunction]
#[pyo3(signature = (path, document, sets, limits, out, command, audit, jobs))]
#[allow(clippy::too_many_arguments)]
pub fn recommend(
    path: Option<PathBuf>,
    document: Option<&str>,
    sets: Vec<(String, String)>,
    limits: (String, String, String),
    out: Option<PathBuf>,
    command: String,
    audit: bool,
    jobs: Option<usize>,
) -> PyResult<RecommendJob> {
    let mut scenario = read(path.as_deref(), document)?;
    assign(&mut scenario, &sets)?;
    let (p99, write_amplification, fairness) = limits;
    let named = |name: &str, text: &str, limit: Result<Limit, String>| {
        limit.map_err(|legal| error(format!("{name} = {text:?}: {legal}")))
    };
    let limits = Limits {
        p99_ns: named("p99", &p99, Limit::of_p99(&p99))?,
        write_amplification: named(
            "write_amplification",
            &write_amplification,
            Limit::of_write_amplification(&write_amplification),
        )?,
        fairness: named("fairness", &fairness, Limit::of_fairness(&fairness))?,
    };
    let pool = pool(jobs)?;
    let (progress, promise) = (Arc::new(Progress::default()), Promise::new());
    let (shown, given) = (Arc::clone(&progress), Arc::clone(&promise));
    let work = move || {
        let options = MakeOptions { shard: Shard::WHOLE, audit, command, progress: &shown };
        let made = || pool.install(|| make(&scenario, limits, out, &options));
        given.give(match catch_unwind(AssertUnwindSafe(made)) {
            Ok(made) => made.map_err(error),
            Err(cause) => Err(panicked(&*cause)),
        });
    };
    let spawned = std::thread::Builder::new().name("flashlane-recommend".into()).spawn(work);
    spawned.map_err(|cause| error(format!("cannot start a thread: {cause}")))?;
    Ok(RecommendJob { progress, promise })
}

fn make(
    scenario: &Scenario,
    limits: Limits,
    out: Option<PathBuf>,
    options: &MakeOptions<'_>,
) -> Result<Outcome, RunError> {
    let recommend = Recommend::new(scenario, limits)?;
    flashlane_sim::fits(&recommend.memory()?)?;
    let store = out.map(|out| Store::open(&out, &flashlane_sim::maker())).transpose()?;
    let made = recommend.make(store.as_ref(), options)?;
    Ok((made.to_json(), recommendation_text::render(&made), options.progress.damaged()))
}

/// A recommendation that is being made.
#[pyclass(frozen)]
pub struct RecommendJob {
    progress: Arc<Progress>,
    promise: Arc<Promise<PyResult<Outcome>>>,
}

#[pymethods]
impl RecommendJob {
    /// Waits at most this many seconds; whether it is over.
    fn wait(&self, py: Python<'_>, seconds: f64) -> bool {
        self.promise.wait(py, seconds)
    }

    /// Runs made, and runs to make as far as is known.
    fn progress(&self) -> (u64, u64) {
        (self.progress.done(), self.progress.of())
    }

    /// Ends it soon.
    fn stop(&self) {
        self.progress.stop();
    }

    /// The recommendation, once it is over.
    fn result(&self) -> PyResult<Outcome> {
        self.promise.take().unwrap_or_else(|| Err(error("the recommendation is not over, or its outcome was taken")))
    }
}
