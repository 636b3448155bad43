//! The drive and the flows of which experiments consist.
//!
//! The drive is a sixteenth of table 1's: as many units with a sixteenth of the blocks each, and accordingly a
//! sixteenth of the user's space and of the clones' working sets. In a plane of that size, a run of seconds uses up the
//! blocks between the start of collection and the hard threshold. On the whole drive that would take minutes, and
//! collection would not compete with users in any experiment of practical length.
//!
//! Thresholds keep their order: on either drive collection starts first, then the baselines must collect, then FLIN's writes
//! pay, and FLIN's safety net comes last. FLIN's are numbers of pages and blocks; the hard threshold, half a percent of a plane's
//! blocks, would be one block here and come after both; under the plain reading it is a block more than GC_FLIN instead.

use super::setting;
use crate::Runner;
use flashlane_scenario::workload::clone::{CloneSpec, Table};
use flashlane_scenario::workload::synthetic::{Size, SyntheticSpec};
use flashlane_scenario::{Device, Document, DriveState, Flow, Mix, Run, SchedulerChoice, Word};
use flashlane_sim::RunError;

/// Bytes of a clone's working set: a sixteenth of the clones' default.
const WORKING_SET_BYTES: u64 = 1_000_000_000;

/// Bytes of a page.
pub const PAGE: u64 = 8_192;

/// Blocks of a plane.
const BLOCKS: u32 = 256;

/// The drive of table 1 with a sixteenth of the blocks.
pub fn drive(runner: &Runner<'_>) -> Device {
    let mut device = Device::preset("flin-isca18".into());
    device.geometry.blocks_per_plane = Some(BLOCKS);
    device.gc.hard_blocks = Some(setting::hard_blocks(runner.settings.setting));
    device.ftl.user_gb = Some(setting::user_gb(runner.settings.setting));
    device
}

/// [`drive`] with another geometry, as full as it is.
pub fn reshaped(device: &mut Device, runner: &Runner<'_>) {
    let percent = setting::over_provisioning_percent(runner.settings.setting);
    (device.ftl.user_gb, device.ftl.over_provisioning_percent) = (None, Some(percent));
}

/// Makes planes, the user's space and the clones' working sets `factor` times as large; thresholds keep their share of a plane.
pub fn larger(document: &mut Document, factor: u32) {
    let device = &mut document.device;
    for blocks in [&mut device.geometry.blocks_per_plane, &mut device.gc.hard_blocks] {
        *blocks = blocks.map(|blocks| blocks * factor);
    }
    device.ftl.user_gb = device.ftl.user_gb.map(|gb| gb * u64::from(factor));
    for clone in document.flow.iter_mut().filter_map(|flow| flow.clone.as_mut()) {
        clone.working_set_bytes = clone.working_set_bytes.map(|bytes| bytes * u64::from(factor));
    }
}

/// [`drive`] in another state.
pub fn drive_in(runner: &Runner<'_>, state: DriveState) -> Device {
    let mut device = drive(runner);
    device.precondition.state = Some(Word(state));
    device
}

/// A full drive in equilibrium, reached by overwriting it twice, so that the blocks of all flows are equally full
/// (docs/results/papers/flin.md); in a quick run, the analytic steady state.
pub fn overwritten(runner: &Runner<'_>) -> Device {
    drive_in(runner, if runner.settings.quick { DriveState::Steady } else { DriveState::Replayed })
}

/// Systems of the paper to run, as the setting has them.
pub fn systems(runner: &Runner<'_>, names: &[&str]) -> Vec<SchedulerChoice> {
    names.iter().map(|name| mix(setting::system(runner.settings.setting, name))).collect()
}

/// The paper's system `base` with changed parameters, called `name`.
pub fn with(runner: &Runner<'_>, name: &str, base: &str, parameters: &[(&str, u64)]) -> SchedulerChoice {
    let mut changed = Mix { name: Some(name.into()), ..setting::system(runner.settings.setting, base) };
    changed.parameters.extend(parameters.iter().map(|&(name, value)| (name.to_owned(), value)));
    mix(changed)
}

/// A mix of answers as a scheduler to run.
pub fn mix(mix: Mix) -> SchedulerChoice {
    SchedulerChoice::Mix(Box::new(mix))
}

/// A scenario of `ms` milliseconds, of which the first tenth is not measured.
pub fn document(
    runner: &Runner<'_>,
    name: String,
    (seed, ms): (u64, u64),
    schedulers: Vec<SchedulerChoice>,
    flow: Vec<Flow>,
) -> Document {
    Document {
        name: Some(name),
        seed: Some(seed),
        device: drive(runner),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, Setting, Settings};
    use flashlane_scenario::Scenario;
    use flashlane_sched::catalogue::{Recipe, SHIPPED};

    /// On the drive of table 1 collection starts before the baselines must collect, they must before FLIN's writes pay, and those
    /// pay a share before its safety net makes them pay for all; and on the experiments' drive, under either setting.
    #[test]
    fn thresholds_have_one_order_on_both_drives() {
        let settings = |setting| Settings::quick(setting);
        let drive = |setting| drive(&Runner::new(&settings(setting), Place::default()));
        let scaled = [Setting::Plain, Setting::Chosen].map(drive);
        let flin = SHIPPED.resolve(&Recipe { base: Some("flin".into()), ..Recipe::default() }).expect("a scheduler");
        let default =
            |name| SHIPPED.params(&flin).iter().find(|param| param.name == name).expect("a parameter").default;
        let document = |device| {
            let flow = vec![synthetic("any", 1, pages_at(1.0, 1.0))];
            Document { device, flow, ..Document::default() }
        };
        let mut four_times = document(scaled[1].clone());
        larger(&mut four_times, 4);
        let (device, of) = (&four_times.device, &scaled[1]);
        assert_eq!(device.geometry.blocks_per_plane, Some(1_024));
        assert_eq!(device.gc.hard_blocks, of.gc.hard_blocks.map(|blocks| 4 * blocks));
        assert_eq!(device.ftl.user_gb, of.ftl.user_gb.map(|gb| 4 * gb));
        let drives = [Device::preset("flin-isca18".into())].into_iter().chain(scaled).map(document);
        for document in drives.chain([four_times]) {
            let config = Scenario::from_document("drive", document).device_config().expect("a drive");
            let pays = default("gc_pages") / u64::from(config.geometry.pages_per_block);
            let order =
                [u64::from(config.gc.start_blocks), u64::from(config.gc.hard_blocks), pays, default("gc_net_blocks")];
            assert!(order.windows(2).all(|pair| pair[0] > pair[1]), "start, hard, GC_FLIN, net: {order:?} blocks");
        }
    }
}
