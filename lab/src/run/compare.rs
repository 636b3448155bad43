//! A comparison: the same arrivals under several schedulers, and each flow alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use flashlane_core::Time;
use flashlane_sched::catalogue::{Catalogue, Recipe, RecipeError, SHADOW};
use flashlane_ssd::Config;
use rayon::prelude::*;

use super::drive::{Limits, Outcome, Run};
use super::expected;
use super::feed::Feed;
use super::observe::{self, Onlookers};
use super::oracle;
use super::pairing::Pairing;
use super::{Progress, RunError};
use crate::metrics::FlowMetrics;
use crate::results::{FlowInfo, Format, MadeBy, ResultsDir, SchedulerResult, Summary};
use crate::scenario::{FlowPlan, FlowSource, Mix, Scenario, SchedulerChoice};

/// How a comparison is made.
#[derive(Debug)]
pub struct Options<'a> {
    /// Audits every run; a violation is an error.
    pub audit: bool,
    /// Where rows go, and as what: requests, and transactions if asked for.
    pub rows: Option<Rows<'a>>,
    /// The command that makes the results again.
    pub command: String,
    /// Who is told how far it has come.
    pub progress: Option<&'a Progress>,
}

/// Rows of requests and transactions to write.
#[derive(Debug)]
pub struct Rows<'a> {
    /// The results folder.
    pub dir: &'a ResultsDir,
    /// Parquet or CSV.
    pub format: Format,
    /// Whether transactions are written too.
    pub transactions: bool,
}

/// What a comparison came to.
#[derive(Debug)]
pub struct Comparison {
    /// The figures.
    pub summary: Summary,
    /// What trace readers noticed, by flow.
    pub remarks: Vec<(String, String)>,
    /// Events audited, if runs were audited.
    pub audited: Option<u64>,
}

/// A scenario made ready: everything that can be wrong with it has been found.
pub(super) struct Ready {
    /// Where the schedulers are looked up.
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) config: Config,
    pub(super) flows: Vec<FlowPlan>,
    schedulers: Vec<(String, Recipe)>,
    alone: Option<Option<Recipe>>,
    /// Whose alone runs each scheduler's are.
    alone_of: Vec<usize>,
    /// The scheduler that the others are compared with.
    against: usize,
    /// Whether requests are paired: several schedulers, and arrivals that depend on none of them.
    pairs: bool,
    slack: bool,
    pub(super) limits: Limits,
    pub(super) seed: u64,
}

/// One run of a comparison: which scheduler, and which flow if it runs alone.
#[derive(Clone, Copy)]
pub(super) struct Task {
    scheduler: usize,
    pub(super) alone: Option<usize>,
}

/// Makes a comparison of everything `scenario` names.
///
/// # Errors
/// Bad input, a device that cannot go on, results that cannot be written, or a violation found by an audit.
pub fn compare(scenario: &Scenario, options: &Options<'_>) -> Result<Comparison, RunError> {
    let ready = ready(scenario)?;
    let tasks = tasks(&ready);
    if let Some(progress) = options.progress {
        progress.expect(expected::in_all(&ready, &tasks)?);
    }
    let pairing = Pairing::default();
    let mut outcomes: Vec<Outcome> = tasks
        .par_iter()
        .map(|task| {
            let mut outcome = run(&ready, *task, options)?;
            pairing.hear(ready.is_against(*task), &mut outcome);
            Ok(outcome)
        })
        .collect::<Result<Vec<_>, RunError>>()?;
    let pairs = pairing.finish(&mut outcomes);
    let audited = options.audit.then(|| outcomes.iter().flat_map(|o| &o.verdict).map(|v| v.events).sum());
    let infos: Vec<FlowInfo> = ready.flows.iter().map(info).collect();
    let mut results = Vec::new();
    let mut remarks = Vec::new();
    for (index, (name, _)) in ready.schedulers.iter().enumerate() {
        let of = |alone: Option<usize>| {
            let made_by = if alone.is_some() { ready.alone_of[index] } else { index };
            tasks.iter().position(|t| t.alone == alone && t.scheduler == made_by).map(|i| &outcomes[i])
        };
        let shared = of(None).expect("every scheduler has its run");
        if index == 0 {
            let named = ready.flows.iter().zip(&shared.remarks);
            remarks = named.filter_map(|(flow, text)| Some((flow.name.clone(), text.clone()?))).collect();
        }
        let alone: Option<Vec<FlowMetrics>> = ready
            .alone
            .as_ref()
            .map(|_| (0..ready.flows.len()).filter_map(|flow| of(Some(flow)).map(|o| o.flows[flow].clone())).collect());
        let result = SchedulerResult::new(name, &infos, &shared.flows, alone.as_deref(), &shared.device);
        results.push(result.with_slack(shared.slack.as_ref()).with_estimation(shared.estimation.as_ref()));
    }
    let made_by = MadeBy {
        flashlane: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: scenario.name().to_owned(),
        scenario_hash: scenario.hash()?,
        seed: scenario.seed(),
        device: scenario.device_name(),
        command: options.command.clone(),
    };
    let mut summary = Summary::new(made_by, infos, results, Vec::new());
    let of_run = |index: usize| tasks.iter().position(|t| t.alone.is_none() && t.scheduler == index);
    let pairs: Vec<_> =
        (0..ready.schedulers.len()).map(|index| of_run(index).and_then(|task| pairs[task].clone())).collect();
    summary.compare_with(ready.against, &pairs);
    Ok(Comparison { summary, remarks, audited })
}

/// Makes the run of the first scheduler that `scenario` names, with all its flows.
///
/// # Errors
/// As [`compare`], but for violations: the auditor's verdict is part of the outcome.
pub fn watch(scenario: &Scenario, onlookers: Onlookers<'_>) -> Result<Outcome, RunError> {
    let ready = ready(scenario)?;
    let scheduler =
        ready.catalogue.build(&ready.schedulers[0].1).map_err(|error| RunError::Input(error.to_string()))?;
    Run::new(&ready.config, scheduler, ready.feeds(|_| true)?, ready.limits, onlookers, None)?.finish()
}

impl Ready {
    /// The sources of the flows that speak.
    fn feeds(&self, speaks: impl Fn(usize) -> bool) -> Result<Vec<Option<Feed>>, RunError> {
        let open = |(i, plan)| Feed::open(plan, i as u16, self.config.geometry.page_bytes, self.seed);
        let opened = self.flows.iter().enumerate().map(|(i, plan)| speaks(i).then(|| open((i, plan))).transpose());
        Ok(opened.collect::<Result<_, _>>()?)
    }

    /// Every scheduler that runs, that of the runs alone included.
    pub(super) fn recipes(&self) -> impl Iterator<Item = &Recipe> {
        self.schedulers.iter().map(|(_, recipe)| recipe).chain(self.alone.iter().flatten())
    }

    /// Runs with all flows: one a scheduler.
    pub(super) fn shared_runs(&self) -> u64 {
        self.schedulers.len() as u64
    }

    /// Whether this is the run that the others are compared with.
    fn is_against(&self, task: Task) -> bool {
        task.alone.is_none() && task.scheduler == self.against
    }
}

/// For every scheduler, the first whose alone runs are its own too: all of them where one scheduler is named for that,
/// else those that differ in nothing that a flow by itself could notice. With one flow every admit decision fetches its
/// commands in their order as soon as there is space.
fn alone_of(catalogue: &Catalogue, schedulers: &[(String, Recipe)], alone: &Option<Option<Recipe>>) -> Vec<usize> {
    if let Some(Some(_)) = alone {
        return vec![0; schedulers.len()];
    }
    let keys: Vec<_> = schedulers.iter().map(|(_, recipe)| behaviour_alone(catalogue, recipe)).collect();
    keys.iter().map(|key| keys.iter().position(|other| other == key).expect("itself at least")).collect()
}

/// Answers and parameters that matter to a flow by itself.
fn behaviour_alone(catalogue: &Catalogue, recipe: &Recipe) -> impl PartialEq + use<> {
    let mut answers = catalogue.resolve(recipe).expect("resolved before");
    answers.admit = "round-robin";
    let row = recipe.base.as_deref().and_then(|name| catalogue.row(name));
    let set = row.map_or(&[][..], |row| row.set).iter().map(|&(name, value)| (name.to_owned(), value));
    let set: BTreeMap<String, u64> = set.chain(recipe.params.iter().cloned()).collect();
    let known = catalogue.params(&answers);
    let own = |name: &str| name == SHADOW.name || known.iter().any(|param| param.name == name);
    let set: Vec<(String, u64)> = set.into_iter().filter(|(name, _)| own(name)).collect();
    (answers, set)
}

pub(super) fn ready(scenario: &Scenario) -> Result<Ready, RunError> {
    let mut config = scenario.device_config()?;
    let flows = scenario.flows(&config)?;
    for (flow, plan) in config.flows.iter_mut().zip(&flows) {
        let page = u64::from(config.geometry.page_bytes);
        (flow.first_page, flow.pages) = ((plan.range.offset / page) as u32, (plan.range.length / page) as u32);
    }
    let catalogue = scenario.catalogue();
    let document = scenario.document();
    let mut schedulers = Vec::new();
    for (i, choice) in scenario.schedulers()?.iter().enumerate() {
        let mut recipe = recipe(choice);
        if document.run.shadow_estimator == Some(true) && !is_shadowed(&recipe) {
            recipe.params.push((SHADOW.name.to_owned(), 1));
        }
        catalogue.resolve(&recipe).map_err(|error| {
            let key = if document.scheduler.is_some() { "scheduler".into() } else { format!("schedulers[{i}]") };
            scenario.complain(&key, format!("{:?}", error.value), legal(&error))
        })?;
        schedulers.push((choice.name(), recipe));
    }
    let run = &document.run;
    let wanted = run.alone.unwrap_or(true) && flows.len() > 1;
    let alone = match (&run.alone_scheduler, wanted) {
        (_, false) => None,
        (None, true) => Some(None),
        (Some(name), true) => {
            let recipe = Recipe { base: Some(name.clone()), ..Recipe::default() };
            catalogue
                .resolve(&recipe)
                .map_err(|error| scenario.complain("run.alone_scheduler", format!("{name:?}"), legal(&error)))?;
            Some(Some(recipe))
        }
    };
    let limits = Limits {
        end: run.duration_ms.map_or(Time::NEVER, |ms| Time::from_ns(ms * 1_000_000)),
        requests: run.requests.unwrap_or(u64::MAX),
        warm_up: Time::from_ns(run.warm_up_ms.unwrap_or(0) * 1_000_000),
        warm_up_requests: run.warm_up_requests.unwrap_or(0),
    };
    let against = match &run.against {
        None => 0,
        Some(name) => schedulers.iter().position(|(scheduler, _)| scheduler == name).ok_or_else(|| {
            let names = schedulers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            scenario.complain("run.against", format!("{name:?}"), format!("must be one that runs: {names}"))
        })?,
    };
    let closed = |flow: &FlowPlan| matches!(&flow.source, FlowSource::Synthetic(spec) if spec.is_closed_loop());
    let closed = flows.iter().any(closed);
    let pairs = schedulers.len() > 1 && !closed;
    if let (Some(i), true) = (schedulers.iter().position(|(_, recipe)| oracle::is_one(catalogue, recipe)), closed) {
        let key = if document.scheduler.is_some() { "scheduler".into() } else { format!("schedulers[{i}]") };
        let message =
            "knows the response times of a run of the baseline with the same arrivals: not with a closed loop";
        return Err(scenario.complain(&key, format!("{:?}", schedulers[i].0), message).into());
    }
    let alone_of = alone_of(catalogue, &schedulers, &alone);
    let (slack, seed) = (run.slack.unwrap_or(false), scenario.seed());
    Ok(Ready {
        catalogue: catalogue.clone(),
        config,
        flows,
        schedulers,
        alone,
        alone_of,
        against,
        pairs,
        slack,
        limits,
        seed,
    })
}

/// What is legal instead, with the nearest name.
fn legal(error: &RecipeError) -> String {
    let near = crate::scenario::nearest(&error.value, error.legal.split(", "));
    let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
    format!("no such {}; there are {}{near}", error.key, error.legal)
}

/// Whether the estimator runs in the scheduler's shadow and is looked at.
fn is_shadowed(recipe: &Recipe) -> bool {
    recipe.params.iter().any(|(name, value)| name == SHADOW.name && *value == 1)
}

/// The catalogue's words for a scheduler of a scenario.
fn recipe(choice: &SchedulerChoice) -> Recipe {
    match choice {
        SchedulerChoice::Row(name) => Recipe { base: Some(name.clone()), ..Recipe::default() },
        SchedulerChoice::Mix(mix) => {
            let Mix { base, parameters, .. } = &**mix;
            Recipe {
                base: base.clone(),
                answers: mix.answers().into_iter().map(|(q, a)| (q.to_owned(), a.to_owned())).collect(),
                params: parameters.iter().map(|(name, value)| (name.clone(), *value)).collect(),
                known: None,
            }
        }
    }
}

/// All runs of a comparison.
pub(super) fn tasks(ready: &Ready) -> Vec<Task> {
    // First the one that the others are compared with, so that they need not keep what they have for long.
    let others = (0..ready.schedulers.len()).filter(|scheduler| *scheduler != ready.against);
    let shared = std::iter::once(ready.against).chain(others).map(|scheduler| Task { scheduler, alone: None });
    let flows = 0..ready.flows.len();
    let alone: Vec<Task> = match &ready.alone {
        None => Vec::new(),
        Some(Some(_)) => flows.map(|flow| Task { scheduler: 0, alone: Some(flow) }).collect(),
        Some(None) => (0..ready.schedulers.len())
            .filter(|&scheduler| ready.alone_of[scheduler] == scheduler)
            .flat_map(|scheduler| flows.clone().map(move |flow| Task { scheduler, alone: Some(flow) }))
            .collect(),
    };
    shared.chain(alone).collect()
}

/// Makes one run.
fn run(ready: &Ready, task: Task, options: &Options<'_>) -> Result<Outcome, RunError> {
    let (name, own) = &ready.schedulers[task.scheduler];
    let recipe = match (&ready.alone, task.alone) {
        (Some(Some(common)), Some(_)) => common,
        _ => own,
    };
    let feeds = || ready.feeds(|i| task.alone.is_none_or(|flow| flow == i));
    let catalogue = &ready.catalogue;
    let told = oracle::is_one(catalogue, recipe).then(|| oracle::told(ready, recipe, feeds()?)).transpose()?;
    let recipe = told.as_ref().unwrap_or(recipe);
    let scheduler = catalogue.build(recipe).map_err(|error| RunError::Input(error.to_string()))?;
    let shared = task.alone.is_none();
    let (responses, slack, estimation) = (shared && ready.pairs, shared && ready.slack, shared && is_shadowed(recipe));
    let mut onlookers = Onlookers { audit: options.audit, responses, slack, estimation, ..Onlookers::default() };
    if let (Some(rows), None) = (&options.rows, task.alone) {
        // One scheduler's rows lie beside summary.json, those of several in a folder each.
        let folder = (ready.schedulers.len() > 1).then_some(name.as_str());
        onlookers.requests = Some(rows.dir.rows(folder, rows.format)?);
        if rows.transactions {
            onlookers.transactions = Some(rows.dir.rows(folder, rows.format)?);
        }
    }
    let run = Run::new(&ready.config, scheduler, feeds()?, ready.limits, onlookers, options.progress)?;
    let outcome = run.finish().map_err(|error| match error {
        RunError::Device(message) => RunError::Device(format!("{name}: {message}")),
        other => other,
    })?;
    match &outcome.verdict {
        Some(verdict) if !verdict.is_clean() => Err(observe::complain(name, verdict)),
        _ => Ok(outcome),
    }
}

/// A flow as the results describe it.
fn info(plan: &FlowPlan) -> FlowInfo {
    let (workload, depth, sequential) = match &plan.source {
        FlowSource::Trace(path, trace) => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
            let speed = trace.speedup.as_ref().map(|s| format!(" at {}x", s.0)).unwrap_or_default();
            (format!("{name}{speed}"), None, false)
        }
        FlowSource::Synthetic(spec) => (spec.in_words(), spec.closed_depth(), spec.is_streaming()),
        FlowSource::Clone(spec) => (spec.in_words(), None, false),
        FlowSource::Inline(requests) => (format!("{} requests written out", requests.len()), None, false),
    };
    FlowInfo { name: plan.name.clone(), workload, priority: plan.priority, depth, sequential }
}
