//! The drive and the flows that experiments are made of.
//!
//! The drive is a sixteenth of table 1's: as many units, a sixteenth of the blocks of each, and with it a sixteenth of
//! the user's space and of the clones' working sets. A plane then has as many blocks between the start of collection and
//! the hard threshold as a run of seconds uses up; on the whole drive that takes minutes, and no experiment of a length
//! that can be made would see collection compete with users.

use crate::Bench;
use flashlane_lab::run::RunError;
use flashlane_lab::scenario::{Device, Document, DriveState, Flow, Mix, Run, SchedulerChoice};
use flashlane_lab::workload::clone::{CloneSpec, Table};
use flashlane_lab::workload::synthetic::{Size, SyntheticSpec};

/// Bytes that a clone works on: a sixteenth of the clones' own default.
const WORKING_SET_BYTES: u64 = 1_000_000_000;

/// Bytes a page.
pub const PAGE: u64 = 8_192;

/// Table 1, a sixteenth of it.
pub fn drive() -> Device {
    let mut device = Device::preset("flin-isca18".into());
    device.geometry.blocks_per_plane = Some(256);
    device.ftl.user_gb = Some(30);
    device
}

/// The same in another state.
pub fn drive_in(state: DriveState) -> Device {
    let mut device = drive();
    device.precondition.state = Some(state);
    device
}

/// Full and in equilibrium by overwriting it twice, so that all flows' blocks are as full (docs/papers/flin.md); for a look,
/// by arithmetic.
pub fn overwritten(bench: &Bench<'_>) -> Device {
    drive_in(if bench.settings.quick { DriveState::Steady } else { DriveState::Replayed })
}

/// Rows of the catalogue.
pub fn rows(names: &[&str]) -> Vec<SchedulerChoice> {
    names.iter().map(|name| SchedulerChoice::Row((*name).into())).collect()
}

/// `base` with parameters changed, called `name`.
pub fn with(name: &str, base: &str, parameters: &[(&str, u64)]) -> SchedulerChoice {
    let parameters = parameters.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    mix(Mix { name: Some(name.into()), base: Some(base.into()), parameters, ..Mix::default() })
}

/// A mix of answers.
pub fn mix(mix: Mix) -> SchedulerChoice {
    SchedulerChoice::Mix(Box::new(mix))
}

/// A scenario of so many milliseconds, the first tenth of which does not count.
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

/// A flow called `name`, the user's trace or the clone, for so many milliseconds.
///
/// # Errors
/// As [`Bench::trace`].
pub fn clone(bench: &Bench<'_>, name: &str, ms: u64) -> Result<Flow, RunError> {
    let clone = CloneSpec {
        requests: None,
        duration_s: Some(ms as f64 / 1e3),
        working_set_bytes: Some(WORKING_SET_BYTES),
        ..CloneSpec::new(Table::Flin, name, 0)
    };
    bench.flow(name, u64::MAX, clone)
}

/// A synthetic flow called `name`, for so many milliseconds.
pub fn synthetic(name: &str, ms: u64, spec: SyntheticSpec) -> Flow {
    let spec = SyntheticSpec { duration_s: Some(ms as f64 / 1e3), ..spec };
    Flow { name: Some(name.into()), synthetic: Some(spec), ..Flow::default() }
}

/// Requests of a page each, at random places (D-FLN-24), so many megabytes a second.
pub fn pages_at(mb_per_s: f64, read_ratio: f64) -> SyntheticSpec {
    SyntheticSpec {
        read_ratio: Some(read_ratio),
        size: Size::Constant(PAGE),
        align_bytes: Some(PAGE),
        rate_mb_per_s: Some(mb_per_s),
        ..SyntheticSpec::default()
    }
}
