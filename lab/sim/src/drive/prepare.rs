//! A scenario prepared for its runs: finds every error that shows without a run, and which runs are needed.

use std::sync::Arc;

use flashlane_core::Time;
use flashlane_core::decide::Scheduler;
use flashlane_sched::catalogue::{Catalogue, Recipe, SHADOW};
use flashlane_ssd::Config;
use flashlane_ssd::config::Precondition;

use crate::error::RunError;
use crate::plan::changes::Changes;
use crate::plan::decisions::{self, Common};
use crate::plan::recipes::{check, check_base, recipe};
use crate::plan::state_file::StateFile;
use crate::plan::states::States;
use crate::run::feed::Feed;
use crate::run::observers::ObserverOptions;
use crate::run::request_rows::Above;
use crate::run::simulation::{Limits, Outcome, Simulation};
use crate::run::traces::Traces;
use flashlane_outputs::shown;
use flashlane_report::results::Decisions;
use flashlane_scenario::{BlockLayer, FlowPlan, ResponseFrom, Run, Scenario, SchedulerChoice};

/// A scenario prepared for its runs; it holds no error that shows without a run.
pub struct Prepared {
    /// The catalogue in which schedulers are looked up.
    pub(crate) catalogue: Arc<Catalogue>,
    /// What the scenario says about decisions, for all schedulers alike.
    pub(crate) common: Common,
    pub(crate) config: Config,
    /// The host before the device, if there is one.
    pub(crate) host: Option<flashlane_host::Config>,
    /// The operating system's block layers before the device, if there are any: every scheduler runs below each.
    pub(crate) blocks: Vec<BlockLayer>,
    pub(crate) flows: Vec<FlowPlan>,
    /// What is compared: each scheduler, below each block layer in turn.
    pub(crate) schedulers: Vec<(String, Recipe)>,
    pub(crate) alone: Option<Option<Recipe>>,
    /// For each scheduler, the one whose alone runs it shares.
    pub(crate) alone_of: Vec<usize>,
    /// The scheduler that the others are compared with.
    pub(crate) baseline: usize,
    /// Whether requests are paired: there are several schedulers, and arrivals depend on none of them.
    pub(crate) pairs: bool,
    pub(crate) slack: bool,
    pub(crate) limits: Limits,
    pub(crate) seed: u64,
    /// The flows' traces.
    pub(crate) traces: Arc<Traces>,
    /// The state of the drive, if it takes a replay.
    pub(crate) states: States,
    /// What changes during a run.
    pub(crate) changes: Changes,
    /// What is to be said of when flows begin: a flow, or `traces`, and a sentence.
    pub(crate) distances: Vec<(String, String)>,
    /// Whether the summary has the scenario's hash.
    pub(crate) is_hashed: bool,
}

/// One run of a comparison: which scheduler, and which flow if it runs alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(crate) scheduler: usize,
    pub(crate) alone: Option<usize>,
}

impl Prepared {
    /// The same for a summary that is not kept: it has no hash of the scenario, for which every trace would be read once more.
    pub fn without_hash(self) -> Prepared {
        Prepared { is_hashed: false, ..self }
    }

    /// Opens the sources of the flows for which `is_active` is true, for a run.
    pub(crate) fn feeds(&self, is_active: impl Fn(usize) -> bool) -> Result<Vec<Option<Feed>>, RunError> {
        let opened = (0..self.flows.len()).map(|flow| is_active(flow).then(|| self.feed(flow)).transpose());
        opened.collect::<Result<_, _>>()
    }

    /// Opens the source of a flow.
    pub(crate) fn feed(&self, flow: usize) -> Result<Feed, RunError> {
        let (plan, page_bytes) = (&self.flows[flow], self.config.geometry.page_bytes);
        Ok(Feed::with_reader(plan, self.traces.open(flow, plan)?, flow as u16, page_bytes, self.seed)?)
    }

    /// A run of `feeds` under `scheduler`, on the drive in its first state.
    pub(crate) fn simulation<'a>(
        &self,
        scheduler: Scheduler,
        feeds: Vec<Option<Feed>>,
        observers: ObserverOptions<'a>,
    ) -> Result<Simulation<'a>, RunError> {
        let replayed = self.states.take(&self.config)?;
        let run = Simulation::in_state(&self.config, replayed, scheduler, feeds, self.limits, observers)?;
        Ok(run.with_changes(self.changes.pending(&self.catalogue, &self.config)?))
    }

    /// What is to be said of a record that is run: by what it was made, and what changes meanwhile.
    pub fn notes(&self) -> &[String] {
        &self.changes.notes
    }

    /// Makes a run of this scheduler, behind the host or below its block layer if there is one.
    pub(crate) fn finish(&self, scheduler: usize, run: Simulation<'_>) -> Result<Outcome, RunError> {
        match (&self.host, self.block(scheduler)) {
            (Some(host), _) => run.finish_hosted(host),
            (None, Some(block)) => run.finish_blocked(&block.config),
            (None, None) => run.finish(),
        }
    }

    /// What stands before the device.
    pub(crate) fn above(&self) -> Above {
        match (&self.host, self.blocks.is_empty()) {
            (Some(_), _) => Above::Host,
            (None, false) => Above::Block,
            (None, true) => Above::Nothing,
        }
    }

    /// The block layer above this scheduler, if there is one.
    pub(crate) fn block(&self, scheduler: usize) -> Option<&BlockLayer> {
        self.blocks.get(scheduler % self.blocks.len().max(1))
    }

    /// Which of the scenario's schedulers this is.
    pub(crate) fn choice(&self, scheduler: usize) -> usize {
        scheduler / self.blocks.len().max(1)
    }

    /// Every scheduler that runs, the one for alone runs included.
    pub(crate) fn recipes(&self) -> impl Iterator<Item = &Recipe> {
        self.schedulers.iter().map(|(_, recipe)| recipe).chain(self.alone.iter().flatten())
    }

    /// What each scheduler decides, with the scenario's say in it: equal where schedulers act alike.
    pub fn decisions(&self) -> impl Iterator<Item = Decisions> {
        self.schedulers.iter().map(|(_, recipe)| decisions::shown(&self.catalogue, recipe))
    }

    /// Whether the drive begins in a state that a record has, or is changed meanwhile as a record says.
    pub(crate) fn is_as_recorded(&self) -> bool {
        self.states.is_used() || self.changes.are_made()
    }

    /// Number of runs with all flows: one for each scheduler and block layer.
    pub(crate) fn shared_runs(&self) -> u64 {
        self.schedulers.len() as u64
    }

    /// Whether this is the run that the others are compared with.
    pub(crate) fn is_against(&self, task: Task) -> bool {
        task.alone.is_none() && task.scheduler == self.baseline
    }
}

/// For each scheduler, the first one below the same block layer, of `layers`, whose alone runs it can share: any where `alone_scheduler` names one,
/// else one that differs in nothing that affects a single flow. With one flow every admit decision that does not compare
/// commands fetches them in their order as soon as there is space.
fn alone_of(
    catalogue: &Catalogue,
    schedulers: &[(String, Recipe)],
    alone: &Option<Option<Recipe>>,
    layers: usize,
) -> Vec<usize> {
    if let Some(Some(_)) = alone {
        return (0..schedulers.len()).map(|i| i % layers).collect();
    }
    let keys = schedulers.iter().enumerate().map(|(i, (_, recipe))| (i % layers, behaviour_alone(catalogue, recipe)));
    let keys: Vec<_> = keys.collect();
    keys.iter().map(|key| keys.iter().position(|other| other == key).expect("itself at least")).collect()
}

/// The answers and parameters of a scheduler that affect a flow by itself.
fn behaviour_alone(catalogue: &Catalogue, recipe: &Recipe) -> impl PartialEq + use<> {
    let mut answers = catalogue.resolve(recipe).expect("resolved before");
    if !catalogue.build(recipe).expect("resolved before").admit.declares().ranks_all_waiting {
        answers.admit = "round-robin";
    }
    let parameters = decisions::parameters(catalogue, recipe, &answers);
    (answers, parameters, is_shadowed(recipe))
}

/// Prepares a scenario for its runs.
///
/// # Errors
/// Anything wrong with it that shows without a run.
pub fn prepare(scenario: &Scenario) -> Result<Prepared, RunError> {
    let scenario = &*scenario.with_volumes_apart()?;
    let mut config = scenario.device_config()?;
    let (host, blocks) = (scenario.host(&config)?, scenario.blocks(&config)?);
    let (flows, distances) = scenario.flows_in_time(&config)?;
    for (flow, plan) in config.flows.iter_mut().zip(&flows) {
        let page = u64::from(config.geometry.page_bytes);
        (flow.first_page, flow.pages) = ((plan.range.offset / page) as u32, (plan.range.length / page) as u32);
    }
    scenario.seeds()?;
    let catalogue = scenario.catalogue();
    let document = scenario.document();
    let common = Common::of(scenario)?;
    let schedulers = below_each(scenario, &blocks, schedulers(scenario, &config, &common)?)?;
    let layers = blocks.len().max(1);
    let run = &document.run;
    let alone = alone(scenario, &config, &common, flows.len())?;
    let limits = limits(run);
    if limits.response_from_entry && host.is_some() {
        let message = "with a [host] section must be \"arrival\": the host's figures count from its threads' calls";
        return Err(scenario.key_error("run.response_from", "\"entry\"", message).into());
    }
    if limits.response_from_entry && !blocks.is_empty() {
        let message =
            "with a [block] section must be \"arrival\": requests wait in the block layer before they enter the queue";
        return Err(scenario.key_error("run.response_from", "\"entry\"", message).into());
    }
    let baseline = baseline(scenario, &schedulers, layers)?;
    let closed = flows.iter().any(|flow| flow.closed_depth().is_some());
    let pairs = schedulers.len() > 1 && !closed;
    if let (Some(i), true) = (schedulers.iter().position(|(_, recipe)| needs_responses(catalogue, recipe)), closed) {
        let key = scheduler_key(scenario, i / layers);
        let message = "needs the response times of a run of the baseline with the same arrivals, which a closed loop does not have";
        return Err(scenario.key_error(&key, format!("{:?}", schedulers[i].0), message).into());
    }
    let alone_of = alone_of(catalogue, &schedulers, &alone, layers);
    let (slack, seed) = (run.slack.unwrap_or(false), scenario.seed());
    let several = schedulers.len() > 1 || alone.is_some() || scenario.seeds()?.is_some_and(|seeds| seeds > 1);
    let traces = Arc::new(Traces::new(flows.len(), several));
    let kept = States::kept(state_file(scenario, &config)?);
    let names: Vec<String> = schedulers.iter().map(|(name, _)| name.clone()).collect();
    let mut changes = Changes::of(scenario, &config, &common, &names)?;
    let states = changes.start(scenario, &config).map_or(kept, States::used);
    Ok(Prepared {
        catalogue: catalogue.clone(),
        common,
        config,
        host,
        blocks,
        flows,
        schedulers,
        alone,
        alone_of,
        baseline,
        pairs,
        slack,
        limits,
        seed,
        traces,
        states,
        changes,
        distances,
        is_hashed: true,
    })
}

/// The schedulers that the scenario names, each with its answers as the runs have them.
fn schedulers(scenario: &Scenario, config: &Config, common: &Common) -> Result<Vec<(String, Recipe)>, RunError> {
    let checked = |(i, choice): (usize, &SchedulerChoice)| {
        let mut recipe = common.decide(scenario.catalogue(), recipe(choice));
        if scenario.document().run.shadow_estimator == Some(true) && !is_shadowed(&recipe) {
            recipe.params.push((SHADOW.name.to_owned(), 1));
        }
        let key = scheduler_key(scenario, i);
        check_base(scenario, choice, &key)?;
        check(scenario, config, &choice.name(), (&key, &recipe))?;
        Ok((choice.name(), recipe))
    };
    scenario.schedulers()?.iter().enumerate().map(checked).collect()
}

/// Each scheduler below each block layer.
fn below_each(
    scenario: &Scenario,
    blocks: &[BlockLayer],
    schedulers: Vec<(String, Recipe)>,
) -> Result<Vec<(String, Recipe)>, RunError> {
    if blocks.is_empty() {
        return Ok(schedulers);
    }
    let below = |(name, recipe): (String, Recipe)| {
        blocks.iter().map(move |layer| (layer.below(&name), recipe.clone())).collect::<Vec<_>>()
    };
    let all: Vec<(String, Recipe)> = schedulers.into_iter().flat_map(below).collect();
    for (i, (name, _)) in all.iter().enumerate() {
        if all[..i].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            let message = format!("two runs would have the name {name}; give a mix another name");
            return Err(scenario.key_error("block.elevators", "", message).into());
        }
    }
    Ok(all)
}

/// The key that names the `i`-th scheduler.
fn scheduler_key(scenario: &Scenario, i: usize) -> String {
    if scenario.document().scheduler.is_some() { "scheduler".into() } else { format!("schedulers[{i}]") }
}

/// Where the state of the drive is kept, if the user gave a file.
fn state_file(scenario: &Scenario, config: &Config) -> Result<Option<StateFile>, RunError> {
    let Some(path) = scenario.state_file() else { return Ok(None) };
    if !matches!(config.precondition, Precondition::Replayed { .. }) {
        let path = shown::path(path);
        let message = "device.precondition.state must be \"replayed\": other states take no time to make";
        return Err(RunError::Input(format!("--state {path}: {message}")));
    }
    Ok(Some(StateFile::new(path)))
}

/// Which scheduler serves flows alone, if they are run alone; `Some(None)` means each scheduler its own.
fn alone(
    scenario: &Scenario,
    config: &Config,
    common: &Common,
    flows: usize,
) -> Result<Option<Option<Recipe>>, RunError> {
    let run = &scenario.document().run;
    match (&run.alone_scheduler, run.alone.unwrap_or(true) && flows > 1) {
        (_, false) => Ok(None),
        (None, true) => Ok(Some(None)),
        (Some(name), true) => {
            let recipe = Recipe { base: Some(name.clone()), ..Recipe::default() };
            let recipe = common.decide(scenario.catalogue(), recipe);
            check(scenario, config, name, ("run.alone_scheduler", &recipe))?;
            Ok(Some(Some(recipe)))
        }
    }
}

/// How much is run and measured.
fn limits(run: &Run) -> Limits {
    Limits {
        end: run.duration_ms.map_or(Time::NEVER, |ms| Time::from_ns(ms * 1_000_000)),
        requests: run.requests.unwrap_or(u64::MAX),
        warm_up: Time::from_ns(run.warm_up_ms.unwrap_or(0) * 1_000_000),
        warm_up_requests: run.warm_up_requests.unwrap_or(0),
        response_from_entry: run.response_from == Some(ResponseFrom::Entry),
    }
}

/// The scheduler that the others are compared with.
fn baseline(scenario: &Scenario, schedulers: &[(String, Recipe)], layers: usize) -> Result<usize, RunError> {
    let Some(name) = &scenario.document().run.baseline else { return Ok(0) };
    let known = schedulers.iter().position(|(scheduler, _)| scheduler == name);
    // Of a scheduler alone, below the first of several block layers.
    let choice = || scenario.schedulers().ok()?.iter().position(|choice| choice.name() == *name);
    let known = known.or_else(|| choice().map(|choice| choice * layers));
    known.ok_or_else(|| {
        let names = schedulers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        scenario.key_error("run.baseline", format!("{name:?}"), format!("must be one that runs: {names}")).into()
    })
}

/// Whether the scheduler needs known response times.
pub(crate) fn needs_responses(catalogue: &Catalogue, recipe: &Recipe) -> bool {
    catalogue.needs_responses(recipe).unwrap_or(false)
}

/// Whether the estimator runs in shadow mode and its estimates are recorded.
pub(crate) fn is_shadowed(recipe: &Recipe) -> bool {
    recipe.params.iter().any(|(name, value)| name == SHADOW.name && *value == 1)
}

/// Whether `choice` is a control in `scenario`; false where it is no scheduler at all.
pub fn is_control(scenario: &Scenario, choice: &SchedulerChoice) -> bool {
    let catalogue = scenario.catalogue();
    let common = Common::of(scenario);
    common.is_ok_and(|common| catalogue.is_control(&common.decide(catalogue, recipe(choice))).unwrap_or(false))
}

/// All runs of a comparison.
pub(crate) fn tasks(prepared: &Prepared) -> Vec<Task> {
    // The run that the others are compared with comes first, so that they hold their response times only briefly.
    let others = (0..prepared.schedulers.len()).filter(|scheduler| *scheduler != prepared.baseline);
    let shared = std::iter::once(prepared.baseline).chain(others).map(|scheduler| Task { scheduler, alone: None });
    let flows = 0..prepared.flows.len();
    let alone: Vec<Task> = match &prepared.alone {
        None => Vec::new(),
        Some(_) => (0..prepared.schedulers.len())
            .filter(|&scheduler| prepared.alone_of[scheduler] == scheduler)
            .flat_map(|scheduler| flows.clone().map(move |flow| Task { scheduler, alone: Some(flow) }))
            .collect(),
    };
    shared.chain(alone).collect()
}
