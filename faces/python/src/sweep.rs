//! Sweeps for Python: the runs of a file, made on this machine or one by one where a cluster wants them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flashlane_outputs::{Results, State, Store};
use flashlane_sim::RunError;
use flashlane_sweep::{Made, MakeOptions, Plan, PlannedRun, Progress, Shard, Sweep};
use pyo3::prelude::*;

use crate::error::{error, panicked};
use crate::runs::{Outcome, RunsJob};
use crate::scenario::toml_of;

/// A run as it is sent to a worker: its name, and for each axis the place of its value.
type Sent = (String, Vec<usize>);

/// A sweep.
#[pyclass(frozen)]
pub struct NativeSweep {
    sweep: Arc<Sweep>,
}

#[pymethods]
impl NativeSweep {
    /// The sweep of the file `path`, or of `text`, or of `document`, a JSON object. Files that a text names are relative to the folder
    /// of `path`.
    #[new]
    #[pyo3(signature = (path, text = None, document = None))]
    fn new(path: PathBuf, text: Option<String>, document: Option<&str>) -> PyResult<NativeSweep> {
        let sweep = match (text, document) {
            (Some(text), _) => Sweep::of_file(&path, text),
            (None, Some(json)) => Sweep::of_file(&path, toml_of(json)?),
            (None, None) => Sweep::load(&path),
        };
        Ok(NativeSweep { sweep: Arc::new(sweep.map_err(error)?) })
    }

    /// All runs, checked: their names, and for each axis the place of its value.
    fn plan(&self, py: Python<'_>) -> PyResult<Vec<Sent>> {
        let plan = self.planned(py)?;
        Ok(plan.runs.into_iter().map(|run| (run.name, run.at)).collect())
    }

    /// The number of seeds that the scenario asks for, which a sweep does not use.
    fn seeds(&self) -> Option<u64> {
        let first = vec![0; self.sweep.axes.len()];
        self.sweep.scenario(&first).ok()?.document().run.seeds
    }

    /// The axes: paths, and values as text.
    fn axes(&self) -> Vec<(String, Vec<String>)> {
        let texts = |axis: &flashlane_sweep::Axis| axis.values.iter().map(flashlane_sweep::label).collect();
        self.sweep.axes.iter().map(|axis| (axis.path.clone(), texts(axis))).collect()
    }

    /// Those of `runs` that are not in the store `out`.
    fn missing(&self, out: PathBuf, runs: Vec<Sent>) -> PyResult<Vec<Sent>> {
        let results = Results::of(&out, &flashlane_sim::maker()).map_err(error)?;
        let whole = |name: &str| results.as_ref().is_some_and(|results| results.has(name));
        Ok(runs.into_iter().filter(|(name, _)| !whole(name)).collect())
    }

    /// The names of those of `runs` that are in the store `out` and damaged, which are made again as if they were missing.
    fn damaged(&self, out: PathBuf, runs: Vec<Sent>) -> PyResult<Vec<String>> {
        let results = Results::of(&out, &flashlane_sim::maker()).map_err(error)?;
        let damaged = |name: &str| results.as_ref().is_some_and(|results| results.state(name) == State::Damaged);
        Ok(runs.into_iter().map(|(name, _)| name).filter(|name| damaged(name)).collect())
    }

    /// Makes `runs` in the store `out` unless they are there, one after the other; returns how many were made here.
    fn make(&self, py: Python<'_>, out: PathBuf, runs: Vec<Sent>, command: String, audit: bool) -> PyResult<usize> {
        let sweep = Arc::clone(&self.sweep);
        let work = move || -> Result<usize, RunError> {
            let store = open(&out)?;
            let progress = Progress::default();
            let options = MakeOptions { shard: Shard::WHOLE, audit, command, progress: &progress };
            let mut made = 0;
            for (name, at) in runs {
                let absent = !store.has(&name);
                if absent {
                    flashlane_sim::fits(&flashlane_sim::memory(&flashlane_sim::prepare(&sweep.scenario(&at)?)?)?)?;
                }
                flashlane_sweep::claim_and_make(&sweep, &PlannedRun { name, at }, &store, &options, true)?;
                made += usize::from(absent);
            }
            store.sync()?;
            Ok(made)
        };
        let made = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
        made.map_err(|cause| panicked(&*cause))?.map_err(error)
    }

    /// Starts making what is missing in the store `out`, on this machine: all of it, or the part `shard`.
    #[pyo3(signature = (out, command, jobs, shard, audit))]
    fn start(
        &self,
        out: PathBuf,
        command: String,
        jobs: Option<usize>,
        shard: Option<&str>,
        audit: bool,
    ) -> PyResult<RunsJob> {
        let shard = shard_of(shard)?;
        let sweep = Arc::clone(&self.sweep);
        RunsJob::start(jobs, move |progress| make_all(&sweep, &out, (command, shard, audit), progress))
    }

    /// Writes `results.parquet`, and `results.csv` and `report.html` if asked for, from the runs in the store; returns the path of the
    /// first.
    #[pyo3(signature = (out, command, csv, report))]
    fn finish(&self, py: Python<'_>, out: PathBuf, command: &str, csv: bool, report: bool) -> PyResult<PathBuf> {
        let plan = self.planned(py)?;
        let write = || -> Result<PathBuf, RunError> {
            let store = open(&out)?;
            let table = plan.table(&self.sweep, &store)?;
            let parquet = table.write_parquet(Vec::new()).map_err(|cause| RunError::Fault(cause.to_string()))?;
            store.begin("results.parquet")?.write_whole(&parquet)?;
            if csv {
                let mut bytes = Vec::new();
                table.write_csv(&mut bytes).map_err(|cause| RunError::Fault(cause.to_string()))?;
                store.begin("results.csv")?.write_whole(&bytes)?;
            }
            if report {
                let page = flashlane_sweep::html(&self.sweep, &plan, &table, command);
                store.begin("report.html")?.write_whole(page.as_bytes())?;
            }
            Ok(out.join("results.parquet"))
        };
        py.detach(write).map_err(error)
    }

    /// Those of `runs`, which are all runs, that the part `shard` has.
    fn part(&self, runs: Vec<Sent>, shard: Option<&str>) -> PyResult<Vec<Sent>> {
        let shard = shard_of(shard)?;
        Ok(runs.into_iter().enumerate().filter(|(number, _)| shard.has(*number)).map(|(_, run)| run).collect())
    }

    /// The values of a run in words.
    fn describe(&self, at: Vec<usize>) -> String {
        self.sweep.describe(&at)
    }
}

impl NativeSweep {
    fn planned(&self, py: Python<'_>) -> PyResult<Plan> {
        py.detach(|| self.sweep.plan()).map_err(error)
    }
}

fn open(out: &Path) -> Result<Store, RunError> {
    Ok(Store::open(out, &flashlane_sim::maker())?)
}

/// The part of a sweep that `3/8` names; all of it without a text.
fn shard_of(text: Option<&str>) -> PyResult<Shard> {
    text.map_or(Ok(Shard::WHOLE), |text| text.parse().map_err(|cause| error(format!("shard = {cause}"))))
}

/// Makes the runs of a part of the sweep that the store does not have.
fn make_all(
    sweep: &Sweep,
    out: &Path,
    (command, shard, audit): (String, Shard, bool),
    progress: &Progress,
) -> Result<Outcome, RunError> {
    let plan = sweep.plan()?;
    if let Some(needs) = &plan.memory {
        flashlane_sim::fits(needs)?;
    }
    let store = open(out)?;
    let options = MakeOptions { shard, audit, command, progress };
    let Made { made, there, failed } = flashlane_sweep::make(sweep, &plan, &store, &options)?;
    match failed.into_iter().next() {
        Some((number, cause)) => {
            let values = sweep.describe(&plan.runs[number].at);
            Err(RunError::Input(format!(
                "{cause} (in the run with {values}); the other {} runs are kept",
                made + there
            )))
        }
        None => Ok(Outcome::Sweep((made, there, progress.damaged()))),
    }
}

/// The results of the store that was read last: who reads one summary reads others.
static LAST: Mutex<Option<(PathBuf, Results)>> = Mutex::new(None);

/// The bytes of the summary of the run `run` in a store.
#[pyfunction]
pub fn summary_of(store: PathBuf, run: &str) -> PyResult<String> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if last.as_ref().is_none_or(|(path, _)| *path != store) {
        let results = Results::of(&store, &flashlane_sim::maker()).map_err(error)?;
        let results = results.ok_or_else(|| error(format!("{}: is no store of runs", store.display())))?;
        *last = Some((store, results));
    }
    let (_, results) = last.as_ref().expect("just set");
    String::from_utf8(results.read(run, flashlane_sweep::SUMMARY).map_err(error)?).map_err(error)
}
