//! The workloads of Table 2 and the scenarios that run them.

use crate::{RunStats, Runner, Setting};
use flashlane_scenario::workload::clone::{CloneSpec, Shape, SlackerBursts, SlackerTrace, Table};
use flashlane_scenario::{Device, Document, Run, SchedulerChoice, Word};
use flashlane_sim::RunError;
use flashlane_ssd::config::Dispatch;

/// The device of Table 1.
pub const TABLE_1: &str = "slacker-asplos17";
/// The same with one page a command and long write queues: that of the chosen setting.
const ONE_PAGE: &str = "slacker-one-page";
/// The baseline of the paper: FR-FCFS with a conditional queue size.
pub const BASELINE: &str = "fr-fcfs";

/// How the paper's drive collects garbage: a chip does nothing else meanwhile (D-SLK-14). No scheduler of the paper decides it.
pub const COLLECT: &str = "atomic";

/// Measured requests of a run: full, and in a quick run. Model 1.2.1 asks for 300,000; a third of that keeps the whole
/// paper, with five seeds of everything, below half an hour.
const REQUESTS: (u64, u64) = (100_000, 12_000);

/// Measured requests of each run.
pub fn requests(runner: &Runner<'_>) -> u64 {
    runner.amount(REQUESTS.0, REQUESTS.1)
}

/// The device under the runner's setting. In the chosen one a chip begins nothing while its channel is taken, as §5.1 says ("the FSU is
/// not able to schedule a command to any other chips on that channel").
pub fn device(runner: &Runner<'_>) -> Device {
    if !runner.is_chosen() {
        return Device::preset(TABLE_1.into());
    }
    let mut device = Device::preset(ONE_PAGE.into());
    device.bus.dispatch = Some(Word(Dispatch::BusIdle));
    device
}

/// The clone of a workload under the runner's setting. What was calibrated is written out, so that it is part of the scenario.
///
/// # Errors
/// A workload that the table does not have.
pub fn clone_of(runner: &Runner<'_>, name: &str, requests: u64) -> Result<CloneSpec, RunError> {
    let clone = CloneSpec::new(Table::Slacker, name, requests);
    if !runner.is_chosen() {
        return Ok(clone);
    }
    let bursts = SlackerBursts::named(name)?;
    Ok(CloneSpec {
        shape: Some(Shape::WholePages),
        mean_gap_us: Some(bursts.mean_gap_us),
        burst_requests: Some(bursts.burst_requests),
        lane_theta: Some(bursts.lane_theta),
        ..clone
    })
}

/// Mean time for which a request keeps the 16 chips busy if every page is a command of its own, divided by the number
/// of chips, us. The clones of the plain setting end inside a page, so that half a page is read or written in vain on average; those of
/// the chosen setting have whole pages.
pub fn work_us(workload: &SlackerTrace, setting: Setting) -> f64 {
    let in_vain = if setting == Setting::Chosen { 0.0 } else { 0.5 };
    let pages = |kb: f64| kb / 8.0 + in_vain;
    let (writes, reads) = (workload.write_fraction, 1.0 - workload.write_fraction);
    (writes * pages(workload.write_kb_mean) * 1_325.0 + reads * pages(workload.read_kb_mean) * 100.0) / 16.0
}

/// A scenario of `workload` with `requests` measured requests after a warm-up of a tenth as many, under `schedulers`, with
/// the device and the clone of the runner's setting.
///
/// # Errors
/// A folder of traces that cannot be read.
pub fn document(
    runner: &Runner<'_>,
    workload: &SlackerTrace,
    requests: u64,
    seed: u64,
    schedulers: &[&str],
) -> Result<Document, RunError> {
    let clone = clone_of(runner, &workload.name, requests + requests / 10)?;
    let mut document = Document {
        name: Some(format!("slacker {}", workload.name)),
        seed: Some(seed),
        device: device(runner),
        schedulers: Some(schedulers.iter().map(|name| SchedulerChoice::Named((*name).into())).collect()),
        run: Run { warm_up_requests: Some(requests / 10), collect: Some(COLLECT.into()), ..Run::default() },
        flow: vec![runner.flow(&workload.name, requests + requests / 10, clone)?],
        ..Document::default()
    };
    if let Some(variant) = runner.settings.variant {
        (variant.change)(&mut document, variant.name);
    }
    Ok(document)
}

/// A run of a workload with a seed.
pub struct WorkloadRun {
    /// The workload.
    pub workload: SlackerTrace,
    /// Its figures.
    pub figures: RunStats,
}

/// A scenario of every workload with every seed under `schedulers`, in the order of `workloads`; `change` is applied to each last.
///
/// # Errors
/// A folder of traces that cannot be read.
pub fn documents(
    runner: &Runner<'_>,
    workloads: Vec<SlackerTrace>,
    schedulers: &[&str],
    change: impl Fn(&mut Document),
) -> Result<Vec<(SlackerTrace, Document)>, RunError> {
    let mut documents = Vec::new();
    for workload in workloads {
        for seed in runner.seeds_of(&workload.name)? {
            let mut document = document(runner, &workload, requests(runner), seed, schedulers)?;
            change(&mut document);
            documents.push((workload.clone(), document));
        }
    }
    Ok(documents)
}

/// Runs [`documents`], several in parallel.
///
/// # Errors
/// Bad input, or a run that failed.
pub fn run_all(
    runner: &Runner<'_>,
    workloads: Vec<SlackerTrace>,
    schedulers: &[&str],
    change: impl Fn(&mut Document),
) -> Result<Vec<WorkloadRun>, RunError> {
    let made = runner.compare(documents(runner, workloads, schedulers, change)?)?;
    Ok(made.into_iter().map(|(workload, figures)| WorkloadRun { workload, figures }).collect())
}

/// The paper's device with a flow of hardly any requests, for computations on its geometry.
pub fn plain_document() -> Document {
    let flow = flashlane_scenario::Flow {
        clone: Some(CloneSpec { mean_gap_us: Some(1e6), ..CloneSpec::new(Table::Slacker, "fin1", 1) }),
        ..flashlane_scenario::Flow::default()
    };
    Document { device: Device::preset(TABLE_1.into()), flow: vec![flow], ..Document::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, Settings};

    /// Only the chosen setting has another device and other clones, and then every workload does.
    #[test]
    fn the_setting_decides_device_and_clones() {
        for workload in SlackerTrace::all() {
            let of = |setting| {
                let settings = Settings::quick(setting);
                document(&Runner::new(&settings, Place::default()), &workload, 1_000, 7, &[BASELINE])
                    .expect("no traces are read")
            };
            let (plain, chosen) = (of(Setting::Plain), of(Setting::Chosen));
            assert_eq!(plain.device, Device::preset(TABLE_1.into()));
            assert_eq!(plain.flow[0].clone, Some(CloneSpec::new(Table::Slacker, &workload.name, 1_100)));
            assert_eq!(chosen.device.preset, Some(ONE_PAGE.into()));
            assert_eq!(chosen.device.bus.dispatch, Some(Word(Dispatch::BusIdle)), "{}", workload.name);
            let clone = chosen.flow[0].clone.as_ref().expect("a clone");
            let bursts = SlackerBursts::named(&workload.name).expect("a row");
            assert_eq!(clone.shape, Some(Shape::WholePages), "{}", workload.name);
            assert_eq!((clone.mean_gap_us, clone.requests), (Some(bursts.mean_gap_us), Some(1_100)));
            assert_eq!(
                (clone.burst_requests, clone.lane_theta),
                (Some(bursts.burst_requests), Some(bursts.lane_theta))
            );
            assert_eq!((plain.seed, plain.schedulers.is_some()), (chosen.seed, chosen.schedulers.is_some()));
        }
    }
}
