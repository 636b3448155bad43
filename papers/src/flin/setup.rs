//! The drive and the flows of which experiments consist.
//!
//! The drive is a sixteenth of table 1's: as many units with a sixteenth of the blocks each, and accordingly a
//! sixteenth of the user's space and of the clones' working sets. In a plane of that size, a run of seconds uses up the
//! blocks between the start of collection and the hard threshold. On the whole drive that would take minutes, and
//! collection would not compete with users in any experiment of practical length.

use crate::Runner;
use flashlane_lab::run::RunError;
use flashlane_lab::scenario::{Device, Document, DriveState, Flow, Mix, Run, SchedulerChoice};
use flashlane_lab::workload::clone::{CloneSpec, Table};
use flashlane_lab::workload::synthetic::{Size, SyntheticSpec};

/// Bytes of a clone's working set: a sixteenth of the clones' default.
const WORKING_SET_BYTES: u64 = 1_000_000_000;

/// Bytes of a page.
pub const PAGE: u64 = 8_192;

/// The drive of table 1 with a sixteenth of the blocks.
pub fn drive() -> Device {
    let mut device = Device::preset("flin-isca18".into());
    device.geometry.blocks_per_plane = Some(256);
    device.ftl.user_gb = Some(30);
    device
}

/// [`drive`] in another state.
pub fn drive_in(state: DriveState) -> Device {
    let mut device = drive();
    device.precondition.state = Some(state);
    device
}

/// A full drive in equilibrium, reached by overwriting it twice, so that the blocks of all flows are equally full
/// (docs/papers/flin.md); in a quick run, the analytic steady state.
pub fn overwritten(runner: &Runner<'_>) -> Device {
    drive_in(if runner.settings.quick { DriveState::Steady } else { DriveState::Replayed })
}

/// Schedulers of the catalogue to run.
pub fn named(names: &[&str]) -> Vec<SchedulerChoice> {
    names.iter().map(|name| SchedulerChoice::Named((*name).into())).collect()
}

/// The scheduler `base` with changed parameters, called `name`.
pub fn with(name: &str, base: &str, parameters: &[(&str, u64)]) -> SchedulerChoice {
    let parameters = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    mix(Mix { name: Some(name.into()), base: Some(base.into()), parameters, ..Mix::default() })
}

/// A mix of answers as a scheduler to run.
pub fn mix(mix: Mix) -> SchedulerChoice {
    SchedulerChoice::Mix(Box::new(mix))
}

/// A scenario of `ms` milliseconds, of which the first tenth is not measured.
pub fn document(name: String, seed: u64, ms: u64, schedulers: Vec<SchedulerChoice>, flow: Vec<Flow>) -> Document {
    Document {
        name: Some(name),
        seed: Some(seed),
        device: drive(),
        schedulers: Some(schedulers),
        run: Run { duration_ms: Some(ms), warm_up_ms: Some(ms / 10), ..Run::default() },
        flow,
        ..Document::default()
    }
}

/// A flow called `name`, the user's trace or the clone, for `ms` milliseconds.
///
/// # Errors
/// As [`Runner::trace`].
pub fn clone(runner: &Runner<'_>, name: &str, ms: u64) -> Result<Flow, RunError> {
    let clone = CloneSpec {
        requests: None,
        duration_s: Some(ms as f64 / 1e3),
        working_set_bytes: Some(WORKING_SET_BYTES),
        ..CloneSpec::new(Table::Flin, name, 0)
    };
    runner.flow(name, u64::MAX, clone)
}

/// A synthetic flow called `name`, for `ms` milliseconds.
pub fn synthetic(name: &str, ms: u64, spec: SyntheticSpec) -> Flow {
    let spec = SyntheticSpec { duration_s: Some(ms as f64 / 1e3), ..spec };
    Flow { name: Some(name.into()), synthetic: Some(spec), ..Flow::default() }
}

/// Requests of one page at random places (D-FLN-24), at a rate in MB/s.
pub fn pages_at(mb_per_s: f64, read_ratio: f64) -> SyntheticSpec {
    SyntheticSpec {
        read_ratio: Some(read_ratio),
        size: Size::Constant(PAGE),
        align_bytes: Some(PAGE),
        rate_mb_per_s: Some(mb_per_s),
        ..SyntheticSpec::default()
    }
}
