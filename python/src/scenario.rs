//! From what Python gives to a scenario.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flashlane_scenario::{PRESETS, Scenario, SchedulerChoice};
use flashlane_sched::catalogue::Catalogue;
use flashlane_sim::Progress;
use pyo3::prelude::*;

use crate::answers::{self, Failures, Written};
use crate::error::{DICT, error};
use crate::job::{Job, Kept};

/// Starts a comparison.
///
/// The scenario is the file `path`, or `document`, a JSON object with a scenario's keys. Then the keys in `sets`, paths with JSON
/// values, are set. `chosen` are names of schedulers, of the scenario's own or of the catalogue. `answers` are
/// those written in Python.
#[pyfunction]
#[pyo3(signature = (path, document, sets, chosen, one, answers, requests, transactions, audit, activity, ceiling, jobs))]
#[allow(clippy::too_many_arguments)]
pub fn start(
    path: Option<PathBuf>,
    document: Option<&str>,
    sets: Vec<(String, String)>,
    chosen: Option<Vec<String>>,
    one: bool,
    answers: Vec<Written>,
    requests: bool,
    transactions: bool,
    audit: bool,
    activity: bool,
    ceiling: bool,
    jobs: Option<usize>,
) -> PyResult<Job> {
    let mut scenario = read(path.as_deref(), document)?;
    assign(&mut scenario, &sets)?;
    let failures = Failures::new(Arc::new(Progress::default()));
    if !answers.is_empty() {
        scenario.use_catalogue(Arc::new(answers::extended(answers, &failures)?));
    }
    choose(&mut scenario, chosen, one)?;
    Job::start(scenario, Kept { requests, transactions, audit, activity, ceiling }, jobs, failures)
}

/// Reads a scenario.
pub(crate) fn read(path: Option<&Path>, document: Option<&str>) -> PyResult<Scenario> {
    match (path, document) {
        (Some(path), _) => Scenario::load(path).map_err(error),
        (None, Some(json)) => Scenario::parse(DICT, toml_of(json)?).map_err(error),
        (None, None) => Err(error("there is no scenario; give a path, a dict, or keys")),
    }
}

/// A JSON object as TOML.
pub(crate) fn toml_of(json: &str) -> PyResult<String> {
    let wrong = |cause: &dyn std::fmt::Display| error(format!("scenario: {cause}"));
    let table: toml::Table = serde_json::from_str(json).map_err(|cause| wrong(&cause))?;
    toml::to_string(&table).map_err(|cause| wrong(&cause))
}

/// Sets keys by their paths.
pub(crate) fn assign(scenario: &mut Scenario, sets: &[(String, String)]) -> PyResult<()> {
    let written = sets.iter().map(|(key, json)| {
        let value: toml::Value =
            serde_json::from_str(json).map_err(|cause| error(format!("{key} = {json}: {cause}")))?;
        Ok((key.clone(), value.to_string()))
    });
    let written: Vec<(String, String)> = written.collect::<PyResult<_>>()?;
    scenario.assign(&written).map_err(error)
}

/// Chooses the schedulers: those named, or with `one` the scenario's first.
fn choose(scenario: &mut Scenario, chosen: Option<Vec<String>>, one: bool) -> PyResult<()> {
    let own = scenario.schedulers().map_err(error)?;
    let named = |name: String| {
        let found = own.iter().find(|choice| choice.name() == name).cloned();
        found.unwrap_or(SchedulerChoice::Named(name))
    };
    let choices: Vec<SchedulerChoice> = match chosen {
        Some(names) => names.into_iter().map(named).collect(),
        None if one => own.into_iter().take(1).collect(),
        None => return Ok(()),
    };
    scenario.set("schedulers", "schedulers", |document| {
        document.scheduler = None;
        document.schedulers = Some(choices);
    });
    Ok(())
}

/// The schedulers of the catalogue: name, paper, what it does.
#[pyfunction]
pub fn schedulers() -> Vec<(&'static str, &'static str, &'static str)> {
    let catalogue = Catalogue::shipped();
    catalogue.schedulers().iter().map(|entry| (entry.name, entry.paper, entry.summary)).collect()
}

/// The names of the device presets.
#[pyfunction]
pub fn devices() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}
