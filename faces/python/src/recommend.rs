//! Recommendations for Python: which scheduler to take for a workload.

use std::path::PathBuf;

use flashlane_outputs::Store;
use flashlane_report::results::recommendation_text;
use flashlane_scenario::Scenario;
use flashlane_sim::RunError;
use flashlane_sweep::{Limit, Limits, MakeOptions, Recommend, Shard};
use pyo3::prelude::*;

use crate::error::error;
use crate::runs::{Outcome, RunsJob};
use crate::scenario::{assign, read};

/// Starts a recommendation.
///
/// The scenario is given as to [`start`](crate::scenario::start); `limits` are those on p99, that of flushes, write amplification and fairness, as the
/// program reads them. Runs are kept in the store `out`, if there is one.
#[pyfunction]
#[pyo3(signature = (path, document, sets, limits, out, command, audit, jobs))]
#[allow(clippy::too_many_arguments)]
pub fn recommend(
    path: Option<PathBuf>,
    document: Option<&str>,
    sets: Vec<(bool, String, String)>,
    limits: (String, String, String, String),
    out: Option<PathBuf>,
    command: String,
    audit: bool,
    jobs: Option<usize>,
) -> PyResult<RunsJob> {
    let mut scenario = read(path.as_deref(), document)?;
    assign(&mut scenario, &sets)?;
    let (p99, flush_p99, write_amplification, fairness) = limits;
    let named = |name: &str, text: &str, limit: Result<Limit, String>| {
        limit.map_err(|legal| error(format!("{name} = {text:?}: {legal}")))
    };
    let limits = Limits {
        p99_ns: named("p99", &p99, Limit::of_p99(&p99))?,
        flush_p99_ns: named("flush_p99", &flush_p99, Limit::of_p99(&flush_p99))?,
        write_amplification: named(
            "write_amplification",
            &write_amplification,
            Limit::of_write_amplification(&write_amplification),
        )?,
        fairness: named("fairness", &fairness, Limit::of_fairness(&fairness))?,
    };
    RunsJob::start(jobs, move |progress| {
        let options = MakeOptions { shard: Shard::WHOLE, audit, command, progress };
        make(&scenario, limits, out, &options)
    })
}

/// The number of seeds that a scenario asks for, which is given as to [`recommend`] and which a recommendation does not use.
#[pyfunction]
pub fn seeds(path: Option<PathBuf>, document: Option<&str>, sets: Vec<(bool, String, String)>) -> PyResult<Option<u64>> {
    let mut scenario = read(path.as_deref(), document)?;
    assign(&mut scenario, &sets)?;
    Ok(scenario.document().run.seeds)
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
    let damaged = options.progress.damaged();
    Ok(Outcome::Recommendation((made.to_json(), recommendation_text::render(&made), damaged)))
}
