//! Changes of the drive during a run: those that a record of a served drive has, each at its instant.

use std::collections::VecDeque;

use flashlane_audit::Policy;
use flashlane_core::decide::Scheduler;
use flashlane_core::{FlowId, Time};
use flashlane_scenario::{Change, RecordedChange, Recording, Scenario};
use flashlane_sched::catalogue::{Catalogue, Recipe};
use flashlane_ssd::{Config, Replayed};

use super::decisions::Common;
use super::recipes::{self, check};
use super::state_file::state_hash;
use super::used;
use crate::error::RunError;
use crate::maker;

/// The changes of a record that a run makes, and what is to be said of them.
#[derive(Clone, Default, Debug)]
pub(crate) struct Changes {
    list: Vec<(Time, PlannedChange)>,
    /// For whoever reads the results.
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Debug)]
enum PlannedChange {
    Scheduler(String, Recipe),
    Priority(FlowId, u8),
}

/// The changes that a run has still to make.
pub(crate) struct Pending {
    config: Config,
    changes: VecDeque<(Time, Due)>,
    /// Requests that came while the drive drained for another scheduler are given to it then.
    pub(crate) not_before: Time,
}

/// A change that a run makes.
pub(crate) enum Due {
    /// Another scheduler, once the device has drained.
    Scheduler(Box<Scheduler>, Policy),
    Priority(FlowId, u8),
}

impl Changes {
    /// What a run of `scenario` under these schedulers makes of its record, if it is one: changes of scheduler are made by a run of the
    /// scheduler that was recorded, and by no comparison.
    ///
    /// # Errors
    /// A change to what does not exist; a host before the device.
    pub(crate) fn of(
        scenario: &Scenario,
        config: &Config,
        common: &Common,
        names: &[String],
    ) -> Result<Changes, RunError> {
        let Some(recording) = scenario.recording() else { return Ok(Changes::default()) };
        let mut changes = Changes { notes: build_notes(recording), list: Vec::new() };
        let run = &scenario.document().run;
        let follows = names == [recording.scheduler.clone()] && run.alone_scheduler.is_none();
        let mut left_out = 0;
        for RecordedChange { line, ns, change } in &recording.changes {
            let refused = |why: String| RunError::Input(format!("{}:{line}: {why}", recording.file.display()));
            let (at, last) = (Time::from_ns(*ns), Time::LAST);
            if at > last {
                return Err(refused(format!("a change at {ns} ns: must be at {} ns at the latest", last.ns())));
            }
            let planned = match change {
                Change::Priority { flow, priority } => priority_change(config, *flow, *priority).map_err(refused)?,
                Change::Scheduler(_) if !follows => {
                    left_out += 1;
                    continue;
                }
                Change::Scheduler(choice) => {
                    let recipe = common.decide(scenario.catalogue(), recipes::recipe(choice));
                    check(scenario, config, &choice.name(), ("a change of scheduler", &recipe))?;
                    PlannedChange::Scheduler(choice.name(), recipe)
                }
            };
            changes.list.push((at, planned));
        }
        if left_out > 0 {
            changes.notes.push(format!(
                "its changes of scheduler ({left_out}) are left out: only a run of the recorded scheduler, {}, makes them",
                recording.scheduler
            ));
        }
        let document = scenario.document();
        for (table, is_there) in [("host", document.host.is_some()), ("block", document.block.is_some())] {
            if is_there && !changes.list.is_empty() {
                let why = format!("[{table}] must not be there: the record has changes, which were made without one");
                return Err(RunError::Input(format!("{}: {why}", scenario.name())));
            }
        }
        changes.note_made();
        Ok(changes)
    }

    /// The state in which the drive of a record was, if it was a used one; notes where that cannot be had.
    pub(crate) fn start(&mut self, scenario: &Scenario, config: &Config) -> Option<Replayed> {
        let recording = scenario.recording()?;
        let is_same = match used::of_record(recording, config) {
            Ok(Some(state)) => return Some(state),
            Ok(None) => recording.state.ends_with(&state_hash(config)),
            Err(why) => {
                self.notes.push(format!("the drive was a used one, whose state cannot be taken up: {why}"));
                false
            }
        };
        if !is_same {
            self.notes.push("the drive is not the recorded one in its state before the first request: response times differ from those that were served".into());
        }
        None
    }

    /// Notes the changes that are made, the first few of them in words.
    fn note_made(&mut self) {
        const LISTED: usize = 8;
        for (at, change) in self.list.iter().take(LISTED) {
            let at = at.ns() as f64 / 1e6;
            self.notes.push(match change {
                PlannedChange::Scheduler(name, _) => {
                    format!("the scheduler is {name} from {at:.3} ms on, once the drive has drained")
                }
                PlannedChange::Priority(flow, priority) => {
                    format!("flow {} has priority {priority} from {at:.3} ms on", flow.0)
                }
            });
        }
        if self.list.len() > LISTED {
            self.notes.push(format!("and {} more changes", self.list.len() - LISTED));
        }
    }

    /// Whether a run makes any.
    pub(crate) fn are_made(&self) -> bool {
        !self.list.is_empty()
    }

    /// The changes of scheduler: when, in ns, and to which.
    pub(crate) fn schedulers(&self) -> impl Iterator<Item = (u64, &str, &Recipe)> {
        self.list.iter().filter_map(|(at, change)| match change {
            PlannedChange::Scheduler(name, recipe) => Some((at.ns(), name.as_str(), recipe)),
            PlannedChange::Priority(..) => None,
        })
    }

    /// For a run on the device of `config`; `None` if there are none.
    pub(crate) fn pending(&self, catalogue: &Catalogue, config: &Config) -> Result<Option<Box<Pending>>, RunError> {
        if self.list.is_empty() {
            return Ok(None);
        }
        let built = |(at, change): &(Time, PlannedChange)| {
            let change = match change {
                PlannedChange::Scheduler(_, recipe) => {
                    let scheduler = catalogue.build(recipe).map_err(|error| RunError::Input(error.to_string()))?;
                    let policy = Policy::of(&scheduler);
                    Due::Scheduler(Box::new(scheduler), policy)
                }
                PlannedChange::Priority(flow, priority) => Due::Priority(*flow, *priority),
            };
            Ok((*at, change))
        };
        let changes = self.list.iter().map(built).collect::<Result<_, RunError>>()?;
        Ok(Some(Box::new(Pending { config: config.clone(), changes, not_before: Time::ZERO })))
    }
}

impl Pending {
    /// When the next change is made; [`Time::NEVER`] after the last.
    pub(crate) fn next(&self) -> Time {
        self.changes.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    /// Takes the next change.
    pub(crate) fn take(&mut self) -> Option<(Time, Due)> {
        self.changes.pop_front()
    }

    /// What the device was built from.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }
}

/// A recorded change of a flow's priority.
///
/// # Errors
/// A flow or a priority that the device does not have.
fn priority_change(config: &Config, flow: u16, priority: u8) -> Result<PlannedChange, String> {
    let (flows, levels) = (config.flows.len(), config.priorities);
    if usize::from(flow) >= flows {
        let last = flows - 1;
        return Err(format!(
            "a change of priority of flow {flow}: must be one of the drive's {flows} flows, 0 to {last}"
        ));
    }
    if priority >= levels {
        return Err(format!("a change to priority {priority}: must be below {levels} (device.front.priority_levels)"));
    }
    Ok(PlannedChange::Priority(FlowId(flow), priority))
}

/// What is to be said where a record was made by another build.
fn build_notes(recording: &Recording) -> Vec<String> {
    if recording.build == maker() {
        return Vec::new();
    }
    let theirs = if recording.build.is_empty() { "an unknown build" } else { &recording.build };
    vec![format!(
        "recorded by flashlane {theirs}; this is {}: response times may differ from those that were served",
        maker()
    )]
}
