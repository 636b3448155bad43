//! The drive of a scenario by itself: for programs that give it requests of their own.

use std::path::Path;

use flashlane_core::decide::Scheduler;
use flashlane_outputs::shown;
use flashlane_scenario::{Change, FlowPlan, Scenario, SchedulerChoice};
use flashlane_ssd::config::Buffer;
use flashlane_ssd::{Config, Device, Replayed};

use super::available::fits;
use super::memory::memory;
use super::prepare::{Prepared, needs_responses, prepare};
use crate::error::RunError;
use crate::plan::decisions::Common;
use crate::plan::recipes::{check, recipe};
use crate::plan::state_file::state_hash;
use crate::plan::used::{self, Found};

/// A drive under a scheduler, and the flows that its requests may come through.
pub struct Drive {
    /// The device, in the state before the first request.
    pub device: Device,
    /// The name of the scheduler.
    pub scheduler: String,
    /// The flows, by number; where their requests would come from in a run does not matter.
    pub flows: Vec<FlowPlan>,
    /// Size of a page, bytes.
    pub page_bytes: u32,
    /// Size of the whole drive, bytes.
    pub bytes: u64,
    /// Whether a write may be done in a page buffer that loses it with the power.
    pub has_volatile_writes: bool,
    /// In which state it begins, in words.
    pub start: String,
    /// Whether that is the state in which an earlier use left it.
    pub is_used: bool,
    /// How a record of its requests begins.
    pub record_head: String,
    /// Makes other schedulers for it.
    pub schedulers: Schedulers,
}

/// The schedulers that a drive can have, by name: the scenario's and those of the catalogue.
pub struct Schedulers {
    scenario: Scenario,
    /// Those that the scenario lists.
    own: Vec<SchedulerChoice>,
    common: Common,
    config: Config,
}

impl Schedulers {
    /// The scheduler of this name, with the change that a record says.
    ///
    /// # Errors
    /// No such scheduler, or one that needs an earlier run.
    pub fn named(&self, name: &str) -> Result<(Scheduler, Change), RunError> {
        let own = self.own.iter().find(|choice| choice.name() == name).cloned();
        let choice = own.unwrap_or_else(|| SchedulerChoice::Named(name.to_owned()));
        let catalogue = self.scenario.catalogue();
        let recipe = self.common.decide(catalogue, recipe(&choice));
        check(&self.scenario, &self.config, name, ("scheduler", &recipe))?;
        if needs_responses(catalogue, &recipe) {
            return Err(needs_a_run(name));
        }
        let scheduler = catalogue.build(&recipe).map_err(|error| RunError::Input(error.to_string()))?;
        Ok((scheduler, Change::Scheduler(choice)))
    }

    /// What the drive was built from.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

fn needs_a_run(name: &str) -> RunError {
    RunError::Input(format!("{name}: needs the response times of an earlier run of the same requests"))
}

/// The drive of a scenario under its first scheduler; `own` are the schedulers that its file lists, which it may be given by name. It begins in
/// the state that an earlier use left in the file `state`, if it is there and is of such a drive.
///
/// # Errors
/// Anything wrong with the scenario; a `[host]`, which models what a program of its own is; a scheduler that needs an earlier run; too
/// little memory.
pub fn drive(scenario: &Scenario, own: Vec<SchedulerChoice>, state: Option<&Path>) -> Result<Drive, RunError> {
    let prepared = prepare(scenario)?;
    for (table, is_there) in [("host", prepared.host.is_some()), ("block", !prepared.blocks.is_empty())] {
        if is_there {
            let message = "must not be there: the host is the real one here";
            return Err(RunError::Input(format!("{}: [{table}]: {message}", scenario.name())));
        }
    }
    let (name, recipe) = &prepared.schedulers[0];
    if needs_responses(&prepared.catalogue, recipe) {
        return Err(needs_a_run(name));
    }
    let scheduler = prepared.catalogue.build(recipe).map_err(|error| RunError::Input(error.to_string()))?;
    fits(&memory(&prepared)?)?;
    let Start { state: replayed, words, recorded, is_used } = start(&prepared, state)?;
    let device = Device::in_state(&prepared.config, scheduler, replayed);
    let device = device.map_err(|error| RunError::Input(error.to_string()))?;
    let page_bytes = prepared.config.geometry.page_bytes;
    let record_head = scenario.recording_head(&crate::maker(), &recorded)?;
    Ok(Drive {
        start: words,
        is_used,
        record_head,
        device,
        scheduler: name.clone(),
        flows: prepared.flows,
        page_bytes,
        has_volatile_writes: prepared.config.buffer.as_ref().is_some_and(Buffer::is_volatile),
        bytes: u64::from(prepared.config.ftl.logical_pages) * u64::from(page_bytes),
        schedulers: Schedulers { scenario: scenario.clone(), own, common: prepared.common, config: prepared.config },
    })
}

/// The state in which a drive begins.
struct Start {
    state: Option<Replayed>,
    words: String,
    /// What a record says of it.
    recorded: String,
    is_used: bool,
}

fn start(prepared: &Prepared, file: Option<&Path>) -> Result<Start, RunError> {
    let config = &prepared.config;
    let why = match file.map(|file| Ok::<_, RunError>((file, used::find(file, config)?))).transpose()? {
        Some((_, Found::State(state, hash))) => {
            let words = "the drive is as its last session left it".into();
            return Ok(Start { state: Some(*state), words, recorded: used::in_record(&hash), is_used: true });
        }
        Some((file, Found::Unfit(why))) => {
            format!(": its state {} {why}, and is replaced at the end", shown::path(file))
        }
        Some((_, Found::Nothing)) => ": there is no state of an earlier session that ended by itself".into(),
        None => String::new(),
    };
    prepared.states.make_ahead(config, None)?;
    Ok(Start {
        state: prepared.states.take(config)?,
        words: format!("the drive begins as its precondition says{why}"),
        recorded: format!("as the precondition says, {}", state_hash(config)),
        is_used: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: &str = "[[flow]]\nname = \"one\"\nrequest = [{ at_ns = 0, op = \"read\", pages = [0] }]\n";

    fn of(keys: &str) -> Result<Drive, RunError> {
        let text = format!("scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\n{keys}{FLOW}");
        drive(&Scenario::parse("t.toml", text).unwrap_or_else(|why| panic!("{why}")), Vec::new(), None)
    }

    /// Only a buffer that completes writes and is not protected loses what has been answered.
    #[test]
    fn a_write_back_buffer_makes_writes_volatile() {
        for (keys, volatile) in [
            ("", false),
            ("buffer = { pages = 64, write_back = false, read_allocate = true }\n", false),
            ("buffer = { pages = 64, write_back = true, protected = true }\n", false),
            ("buffer = { pages = 64, write_back = true, protected = false }\n", true),
        ] {
            let drive = of(keys).unwrap_or_else(|why| panic!("{keys}: {why}"));
            assert_eq!(drive.has_volatile_writes, volatile, "{keys}");
            assert_eq!((drive.scheduler.as_str(), drive.flows.len(), drive.page_bytes), ("fcfs", 1, 8192), "{keys}");
        }
    }

    #[test]
    fn a_host_or_an_earlier_run_cannot_be_served() {
        let why = |keys: &str| of(keys).map(|_| ()).expect_err(keys).to_string();
        assert!(why("[host]\ncpus = 1\n").contains("[host]: must not be there"), "{}", why("[host]\ncpus = 1\n"));
    }
}
