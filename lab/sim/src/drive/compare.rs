//! A comparison: the same arrivals under several schedulers, and each flow alone.

use rayon::prelude::*;

use super::oracle;
use super::prepare::{Prepared, Task, is_shadowed, needs_responses, prepare, tasks};
use crate::error::RunError;
use crate::plan::decisions;
use crate::progress::Progress;
use crate::progress::{Expected, Reported};
use crate::run::host_outcome::HostOutcome;
use crate::run::observers::{ObserverOptions, audit_error};
use crate::run::pairing::Pairing;
use crate::run::request_rows::RequestRows;
use crate::run::simulation::Outcome;
use flashlane_outputs::shown::{self, counted};
use flashlane_report::metrics::{Activity, FlowMetrics};
use flashlane_report::results::{BlockStats, FlowInfo, Format, MadeBy, ResultsDir, SchedulerResult, Summary};
use flashlane_scenario::{FlowPlan, FlowSource, Scenario};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::Precondition;

/// Options of a comparison.
#[derive(Debug)]
pub struct Options<'a> {
    /// Whether every run is audited; a violation is an error.
    pub audit: bool,
    /// Where rows are written and in which format: of requests, and of transactions if asked for.
    pub rows: Option<RowOutput<'a>>,
    /// Whether what the dies do over time is recorded, for a report.
    pub activity: bool,
    /// Counter of completed requests that is updated while runs are made.
    pub progress: Option<&'a Progress>,
}

/// Rows of requests and transactions to write.
#[derive(Debug)]
pub struct RowOutput<'a> {
    /// The results folder.
    pub dir: &'a ResultsDir,
    /// Parquet or CSV.
    pub format: Format,
    /// Whether transactions are written too.
    pub transactions: bool,
}

/// The result of a comparison.
#[derive(Debug)]
pub struct Comparison {
    /// The summary of all figures.
    pub summary: Summary,
    /// Remarks of trace readers: the flow and the text.
    pub remarks: Vec<(String, String)>,
    /// What the dies did over time under each scheduler, if it was recorded.
    pub activity: Vec<Activity>,
    /// Number of events audited, if runs were audited.
    pub audited: Option<u64>,
}

/// Runs everything that `scenario` names and compares the results.
///
/// # Errors
/// Bad input, a device that cannot go on, results that cannot be written, or a violation found by an audit.
pub fn compare(scenario: &Scenario, options: &Options<'_>) -> Result<Comparison, RunError> {
    compare_prepared(scenario, &prepare(scenario)?, options)
}

/// [`compare`] for a scenario that has been prepared.
///
/// # Errors
/// As [`compare`].
pub fn compare_prepared(
    scenario: &Scenario,
    prepared: &Prepared,
    options: &Options<'_>,
) -> Result<Comparison, RunError> {
    compare_counted(scenario, prepared, options, &expected(prepared))
}

/// How many requests the runs of a comparison have.
pub(crate) fn expected(prepared: &Prepared) -> Expected {
    let alone = tasks(prepared).iter().map(|task| task.alone).collect();
    Expected::new(prepared.flows.len(), alone, prepared.limits.requests)
}

/// [`compare_prepared`], whose requests are among those of `expected`.
pub(crate) fn compare_counted(
    scenario: &Scenario,
    prepared: &Prepared,
    options: &Options<'_>,
    expected: &Expected,
) -> Result<Comparison, RunError> {
    let tasks = tasks(prepared);
    announce(prepared, &tasks);
    let pairing = Pairing::default();
    let run_of = |task: &Task| {
        let mut outcome = run(prepared, *task, options, expected)?;
        pairing.add(prepared.is_against(*task), &mut outcome)?;
        Ok(outcome)
    };
    // In a scope even a run that is the only one takes one of the threads; else it and one that decodes ahead would be two with `--jobs 1`.
    let mut outcomes = rayon::scope(|_| {
        prepared.states.make_ahead(&prepared.config, options.progress)?;
        tasks.par_iter().map(run_of).collect::<Result<Vec<Outcome>, RunError>>()
    })?;
    let pairs = pairing.finish(&mut outcomes)?;
    let audited = options.audit.then(|| outcomes.iter().flat_map(|o| &o.verdict).map(|v| v.events).sum());
    let mut infos: Vec<FlowInfo> = prepared.flows.iter().map(flow_info).collect();
    if let Some(shared) = tasks.iter().position(|task| task.alone.is_none()) {
        infos.iter_mut().zip(&outcomes[shared].recorded).for_each(|(info, rate)| info.recorded = rate.clone());
        infos
            .iter_mut()
            .zip(&outcomes[shared].flows)
            .for_each(|(info, flow)| info.writes_per_flush = flow.writes_per_flush());
    }
    let mut results = Vec::new();
    let mut remarks = Vec::new();
    for (index, (name, recipe)) in prepared.schedulers.iter().enumerate() {
        let of = |alone: Option<usize>| {
            let made_by = if alone.is_some() { prepared.alone_of[index] } else { index };
            tasks.iter().position(|t| t.alone == alone && t.scheduler == made_by).map(|i| &outcomes[i])
        };
        let shared = of(None).expect("every scheduler has its run");
        if index == 0 {
            let of_record = prepared.notes().iter().map(|note| ("record".to_owned(), note.clone()));
            remarks = of_record.chain(of_traces(&prepared.flows, &shared.remarks)).collect();
            remarks.extend(prepared.distances.iter().cloned());
        }
        let alone: Option<Vec<FlowMetrics>> = prepared.alone.as_ref().map(|_| {
            (0..prepared.flows.len()).filter_map(|flow| of(Some(flow)).map(|o| o.flows[flow].clone())).collect()
        });
        let result = SchedulerResult::new(name, &infos, &shared.flows, alone.as_deref(), &shared.device);
        let result = result.with_slack(shared.slack.as_ref()).with_estimation(shared.estimation.as_ref());
        let result = result.with_decisions(decisions::shown(&prepared.catalogue, recipe));
        let result = result.with_control(prepared.catalogue.is_control(recipe).expect("resolved before"));
        let result = result.with_blocks_never_folded(prepared.config.blocks_never_folded());
        let names = || infos.iter().map(|info| info.name.as_str());
        let below = prepared.block(index).zip(shared.block.as_ref());
        let result = result
            .with_block(below.map(|(layer, waits)| BlockStats::new(&layer.config, layer.above(name), names(), waits)));
        results.push(result.with_host(shared.host.as_ref().map(HostOutcome::figures)));
    }
    let mut summary = Summary::new(made_by(scenario, prepared, &results)?, infos, results, Vec::new());
    let of_run = |index: usize| tasks.iter().position(|t| t.alone.is_none() && t.scheduler == index);
    let pairs: Vec<_> =
        (0..prepared.schedulers.len()).map(|index| of_run(index).and_then(|task| pairs[task].clone())).collect();
    summary.compare_with(prepared.baseline, &pairs);
    let activity = (0..prepared.schedulers.len()).filter_map(|i| outcomes[of_run(i)?].activity.take()).collect();
    Ok(Comparison { summary, remarks, activity, audited })
}

/// What the readers of traces say, by flow. What they say alike of volumes of one file, which are a flow each, is said once of the file.
fn of_traces(flows: &[FlowPlan], said: &[Option<String>]) -> Vec<(String, String)> {
    let file = |flow: &FlowPlan| match &flow.source {
        FlowSource::Trace(path, trace) if trace.part.is_some() => Some(path.clone()),
        _ => None,
    };
    let read = || flows.iter().zip(said).filter_map(move |(flow, text)| Some((flow, file(flow), text.as_ref()?)));
    let mut remarks: Vec<(String, String)> = Vec::new();
    for (flow, file, text) in read() {
        let Some(path) = file else {
            remarks.push((flow.name.clone(), text.clone()));
            continue;
        };
        let path = &path;
        let volumes = || read().filter(move |(_, file, _)| file.as_ref() == Some(path));
        let alike = volumes().filter(|(_, _, other)| *other == text).count();
        let remark = match (alike, volumes().count()) {
            (1, _) => (flow.name.clone(), text.clone()),
            (alike, all) if alike == all => (shown::path(path), format!("{text}; each of its {all} volumes is a flow")),
            (alike, all) => {
                (shown::path(path), format!("{text}; so {alike} of its {all} volumes, each of which is a flow"))
            }
        };
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    remarks
}

/// The uses of the drive that happened here and were not measured when its device was fitted.
fn not_measured(scenario: &Scenario, results: &[SchedulerResult]) -> Result<Vec<String>, RunError> {
    let runs =
        |figures: fn(&SchedulerResult) -> Option<u64>| results.iter().any(|run| figures(run).is_some_and(|n| n > 0));
    let writes = runs(|run| run.total.write.as_ref().map(|kind| kind.requests));
    let reads = runs(|run| run.total.read.as_ref().map(|kind| kind.requests));
    let uses = scenario.fitted()?.not_measured().into_iter().zip([reads, writes, reads && writes]);
    Ok(uses
        .filter(|((_, is_unknown), is_here)| *is_unknown && *is_here)
        .map(|((what, _), _)| what.to_owned())
        .collect())
}

/// What the results are made from.
fn made_by(scenario: &Scenario, prepared: &Prepared, results: &[SchedulerResult]) -> Result<MadeBy, RunError> {
    let run = &scenario.document().run;
    Ok(MadeBy {
        flashlane: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: scenario.name().to_owned(),
        scenario_hash: if prepared.is_hashed { scenario.hash()? } else { String::new() },
        seed: scenario.seed(),
        warm_up_ms: run.warm_up_ms.unwrap_or(0),
        warm_up_requests: run.warm_up_requests.unwrap_or(0),
        device: scenario.device_described(),
        drive_state: drive_state(prepared.config.precondition),
        without_effect: scenario.keys_without_effect()?,
        not_measured: not_measured(scenario, results)?,
    })
}

/// Runs the first scheduler that `scenario` names, with all its flows.
///
/// # Errors
/// As [`compare`], except for violations: the auditor's verdict is part of the outcome.
pub fn run_observed(scenario: &Scenario, observers: ObserverOptions<'_>) -> Result<Outcome, RunError> {
    let prepared = prepare(scenario)?;
    prepared.states.make_ahead(&prepared.config, None)?;
    // In a scope, as in a comparison: on one of the threads.
    rayon::scope(|_| {
        let scheduler =
            prepared.catalogue.build(&prepared.schedulers[0].1).map_err(|error| RunError::Input(error.to_string()))?;
        prepared.finish(0, prepared.simulation(scheduler, prepared.feeds(|_| true)?, observers)?)
    })
}

/// The scheduler of a run.
fn recipe_of(prepared: &Prepared, task: Task) -> &Recipe {
    match (&prepared.alone, task.alone) {
        (Some(Some(common)), Some(_)) => common,
        _ => &prepared.schedulers[task.scheduler].1,
    }
}

/// Announces how often the drive's state will be taken: once a run, twice for an oracle.
pub(crate) fn announce(prepared: &Prepared, tasks: &[Task]) {
    for task in tasks {
        let times = if needs_responses(&prepared.catalogue, recipe_of(prepared, *task)) { 2 } else { 1 };
        prepared.states.expect_runs(times);
    }
}

/// Makes one run.
pub(crate) fn run(
    prepared: &Prepared,
    task: Task,
    options: &Options<'_>,
    expected: &Expected,
) -> Result<Outcome, RunError> {
    let name = &prepared.schedulers[task.scheduler].0;
    let recipe = recipe_of(prepared, task);
    let feeds = || prepared.feeds(|i| task.alone.is_none_or(|flow| flow == i));
    let catalogue = &prepared.catalogue;
    let informed =
        needs_responses(catalogue, recipe).then(|| oracle::with_responses(prepared, recipe, feeds()?)).transpose()?;
    let recipe = informed.as_ref().unwrap_or(recipe);
    let scheduler = catalogue.build(recipe).map_err(|error| RunError::Input(error.to_string()))?;
    let shared = task.alone.is_none();
    let (responses, slack, estimation) =
        (shared && prepared.pairs, shared && prepared.slack, shared && is_shadowed(recipe));
    let activity = shared && options.activity;
    let mut observers =
        ObserverOptions { audit: options.audit, responses, slack, estimation, activity, ..ObserverOptions::default() };
    if let (Some(rows), None) = (&options.rows, task.alone) {
        // With one scheduler the rows are written beside summary.json, with several each scheduler has a folder.
        let folder = (prepared.schedulers.len() > 1).then_some(name.as_str());
        observers.requests = Some(RequestRows::begin(rows.dir, folder, rows.format, prepared.above())?);
        if rows.transactions {
            observers.transactions = Some(rows.dir.rows(folder, rows.format)?);
        }
    }
    let progress = options.progress.map(|shown| Reported { shown, expected });
    let run = prepared.simulation(scheduler, feeds()?, observers)?;
    let outcome = prepared.finish(task.scheduler, run.reporting(progress)).map_err(|error| match error {
        RunError::Device(message) => RunError::Device(format!("{name}: {message}")),
        other => other,
    })?;
    match &outcome.verdict {
        Some(verdict) if !verdict.is_clean() => Err(audit_error(name, verdict)),
        _ => Ok(outcome),
    }
}

/// The state in which the drive starts, in words.
fn drive_state(precondition: Precondition) -> String {
    match precondition {
        Precondition::Fresh => "fresh".into(),
        Precondition::Filled { per_mille } => format!("filled to {} %", f64::from(per_mille) / 10.0),
        Precondition::Steady => "steady".into(),
        Precondition::Replayed { percent } => format!("overwritten by {percent} %"),
    }
}

/// The description of a flow for the results.
fn flow_info(plan: &FlowPlan) -> FlowInfo {
    let (workload, sequential) = match &plan.source {
        FlowSource::Trace(path, trace) => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            let volume = trace.part.as_ref().map(|name| format!(", volume {}", String::from_utf8_lossy(name)));
            let speed = trace.speedup.as_ref().map(|s| format!(" at {}x", s.0));
            let closed = trace.closed_depth().map(|depth| format!(", {depth} outstanding"));
            (format!("{name}{}", [volume, speed, closed].into_iter().flatten().collect::<String>()), false)
        }
        FlowSource::Synthetic(spec) => (spec.describe(), spec.is_streaming()),
        FlowSource::Clone(spec) => (spec.describe(), false),
        FlowSource::Inline(requests) => (format!("{} written out", counted(requests.len(), "request")), false),
    };
    FlowInfo {
        name: plan.name.clone(),
        workload,
        priority: plan.priority,
        depth: plan.closed_depth(),
        sequential,
        writes_per_flush: None,
        recorded: None,
    }
}
