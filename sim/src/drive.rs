//! The drive of a scenario by itself: for programs that give it requests of their own.

use flashlane_scenario::{FlowPlan, Scenario};
use flashlane_ssd::Device;

use super::RunError;
use super::available::fits;
use super::memory::memory;
use super::prepare::{needs_responses, prepare};

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
}

/// The drive of a scenario under its first scheduler.
///
/// # Errors
/// Anything wrong with the scenario; a `[host]`, which models what a program of its own is; a scheduler that needs an earlier run; too
/// little memory.
pub fn drive(scenario: &Scenario) -> Result<Drive, RunError> {
    let prepared = prepare(scenario)?;
    if prepared.host.is_some() {
        let message = "must not be there: the host is the real one here";
        return Err(RunError::Input(format!("{}: [host]: {message}", scenario.name())));
    }
    let (name, recipe) = &prepared.schedulers[0];
    if needs_responses(&prepared.catalogue, recipe) {
        return Err(RunError::Input(format!(
            "{name}: needs the response times of an earlier run of the same requests"
        )));
    }
    let scheduler = prepared.catalogue.build(recipe).map_err(|error| RunError::Input(error.to_string()))?;
    fits(&memory(&prepared)?)?;
    prepared.states.make_ahead(&prepared.config, None)?;
    let replayed = prepared.states.take(&prepared.config)?;
    let device = Device::in_state(&prepared.config, scheduler, replayed);
    let page_bytes = prepared.config.geometry.page_bytes;
    Ok(Drive {
        device: device.map_err(|error| RunError::Input(error.to_string()))?,
        scheduler: name.clone(),
        flows: prepared.flows,
        page_bytes,
        bytes: u64::from(prepared.config.ftl.logical_pages) * u64::from(page_bytes),
    })
}
