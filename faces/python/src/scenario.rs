//! From what Python gives to a scenario.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use flashlane_scenario::{Given, PRESETS, Scenario, SchedulerChoice};
use flashlane_sched::catalogue::SHIPPED;
use flashlane_sim::Progress;
use pyo3::prelude::*;

use crate::answers::{self, Failures, Written};
use crate::error::{ARGUMENT, DICT, error};
use crate::job::{Job, Kept};

/// Starts a comparison.
///
/// The scenario is the file `path`, or `document`, a JSON object with a scenario's keys. Then the keys in `sets`, paths with JSON
/// values, are set; those with `true` are arguments of that name. `chosen` are names of schedulers, of the scenario's own or of the catalogue. `answers` are
/// those written in Python.
#[pyfunction]
#[pyo3(signature = (path, document, sets, chosen, one, answers, requests, transactions, audit, activity, ceiling, jobs))]
#[allow(clippy::too_many_arguments)]
pub fn start(
    path: Option<PathBuf>,
    document: Option<&str>,
    sets: Vec<(bool, String, String)>,
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
    choose(&mut scenario, chosen, one, &sets)?;
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

/// Sets keys by their paths; those with `true` are given by an argument of that name, the others by `set`.
pub(crate) fn assign(scenario: &mut Scenario, sets: &[(bool, String, String)]) -> PyResult<()> {
    let given = sets.iter().map(|(named, key, json)| {
        let value: toml::Value =
            serde_json::from_str(json).map_err(|cause| error(format!("{key} = {json}: {cause}")))?;
        Ok(if *named { Given::by(ARGUMENT, key, value) } else { Given::set(key, value.to_string()) })
    });
    let given: Vec<Given> = given.collect::<PyResult<_>>()?;
    scenario.give(&given).map_err(error)
}

/// Chooses the schedulers: those named, or with `one` the scenario's first. What `sets` change must be one of them.
fn choose(
    scenario: &mut Scenario,
    chosen: Option<Vec<String>>,
    one: bool,
    sets: &[(bool, String, String)],
) -> PyResult<()> {
    let own = scenario.schedulers().map_err(error)?;
    for (_, key, json) in sets {
        let (Some(names), Some(index)) = (&chosen, scheduler_in(key)) else { continue };
        if own.get(index).is_some_and(|choice| !names.contains(&choice.name())) {
            return Err(error(format!("keys: {key} = {json}: the schedulers are {}; give them once", names.join(", "))));
        }
    }
    let named = |name: String| {
        let found = own.iter().find(|choice| choice.name() == name).cloned();
        found.unwrap_or(SchedulerChoice::Named(name))
    };
    if one {
        scenario.keep_first_block().map_err(error)?;
    }
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

/// Which of the scenario's schedulers `key` changes: `schedulers[1].alpha`, `scheduler.alpha`.
fn scheduler_in(key: &str) -> Option<usize> {
    let key = key.trim();
    let listed = key.strip_prefix("schedulers[").and_then(|rest| rest.split_once(']')?.0.parse().ok());
    listed.or_else(|| key.starts_with("scheduler.").then_some(0))
}

/// The schedulers of the catalogue: name, paper, what it does.
#[pyfunction]
pub fn schedulers() -> Vec<(&'static str, &'static str, &'static str)> {
    SHIPPED.schedulers().iter().map(|entry| (entry.name, entry.paper, entry.summary)).collect()
}

/// The names of the device presets.
#[pyfunction]
pub fn devices() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}
