//! The drive of a scenario by itself: for programs that give it requests of their own.

use flashlane_core::decide::Scheduler;
use flashlane_scenario::{Change, FlowPlan, Scenario, SchedulerChoice};
use flashlane_ssd::{Config, Device};

use super::RunError;
use super::available::fits;
use super::decisions::Common;
use super::memory::memory;
use super::prepare::{needs_responses, prepare};
use super::recipes::{check, recipe};
use super::state_file::state_hash;

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
    /// Whether a write may be done before it is on the flash, because the page buffer takes it.
    pub has_volatile_writes: bool,
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

/// The drive of a scenario under its first scheduler; `own` are the schedulers that its file lists, which it may be given by name.
///
/// # Errors
/// Anything wrong with the scenario; a `[host]`, which models what a program of its own is; a scheduler that needs an earlier run; too
/// little memory.
pub fn drive(scenario: &Scenario, own: Vec<SchedulerChoice>) -> Result<Drive, RunError> {
    let prepared = prepare(scenario)?;
    if prepared.host.is_some() {
        let message = "must not be there: the host is the real one here";
        return Err(RunError::Input(format!("{}: [host]: {message}", scenario.name())));
    }
    let (name, recipe) = &prepared.schedulers[0];
    if needs_responses(&prepared.catalogue, recipe) {
        return Err(needs_a_run(name));
    }
    let scheduler = prepared.catalogue.build(recipe).map_err(|error| RunError::Input(error.to_string()))?;
    fits(&memory(&prepared)?)?;
    prepared.states.make_ahead(&prepared.config, None)?;
    let replayed = prepared.states.take(&prepared.config)?;
    let device = Device::in_state(&prepared.config, scheduler, replayed);
    let device = device.map_err(|error| RunError::Input(error.to_string()))?;
    let page_bytes = prepared.config.geometry.page_bytes;
    let state = format!("as the precondition says, {}", state_hash(&prepared.config));
    let record_head = scenario.recording_head(&super::maker(), &state)?;
    Ok(Drive {
        record_head,
        device,
        scheduler: name.clone(),
        flows: prepared.flows,
        page_bytes,
        has_volatile_writes: prepared.config.buffer.as_ref().is_some_and(|buffer| buffer.write_back),
        bytes: u64::from(prepared.config.ftl.logical_pages) * u64::from(page_bytes),
        schedulers: Schedulers { scenario: scenario.clone(), own, common: prepared.common, config: prepared.config },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: &str = "[[flow]]\nname = \"one\"\nrequest = [{ at_ns = 0, op = \"read\", pages = [0] }]\n";

    fn of(keys: &str) -> Result<Drive, RunError> {
        let text = format!("scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\n{keys}{FLOW}");
        drive(&Scenario::parse("t.toml", text).unwrap_or_else(|why| panic!("{why}")), Vec::new())
    }

    /// Only a buffer that completes writes holds back what has been answered.
    #[test]
    fn a_write_back_buffer_makes_writes_volatile() {
        for (keys, volatile) in [
            ("", false),
            ("buffer = { pages = 64, write_back = false, read_allocate = true }\n", false),
            ("buffer = { pages = 64, write_back = true }\n", true),
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
