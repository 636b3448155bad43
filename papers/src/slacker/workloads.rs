//! The workloads of Table 2 and the scenarios that run them.

use crate::Runner;
use flashlane_lab::results::Summary;
use flashlane_lab::run::RunError;
use flashlane_lab::scenario::{Device, Document, Run, SchedulerChoice};
use flashlane_lab::workload::clone::{CloneSpec, SlackerTrace, Table};

/// The device of Table 1.
pub const DEVICE: &str = "slacker-asplos17";
/// The baseline of the paper: FR-FCFS with a conditional queue size.
pub const BASELINE: &str = "fr-fcfs";

/// Measured requests of a run: full, and in a quick run. Model 1.2.1 asks for 300,000; a third of that keeps the whole
/// paper, with five seeds of everything, below half an hour.
const REQUESTS: (u64, u64) = (100_000, 12_000);

/// Measured requests of each run.
pub fn requests(runner: &Runner<'_>) -> u64 {
    runner.amount(REQUESTS.0, REQUESTS.1)
}

/// A scenario of `workload` with `requests` measured requests after a warm-up of a tenth as many, under `schedulers`, on the
/// paper's device.
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
    let clone = CloneSpec::new(Table::Slacker, &workload.name, requests + requests / 10);
    Ok(Document {
        name: Some(format!("slacker {}", workload.name)),
        seed: Some(seed),
        device: Device::preset(DEVICE.into()),
        schedulers: Some(schedulers.iter().map(|name| SchedulerChoice::Named((*name).into())).collect()),
        run: Run { warm_up_requests: Some(requests / 10), ..Run::default() },
        flow: vec![runner.flow(&workload.name, requests + requests / 10, clone)?],
        ..Document::default()
    })
}

/// A run of a workload with a seed.
pub struct WorkloadRun {
    /// The workload.
    pub workload: SlackerTrace,
    /// The result.
    pub summary: Summary,
}

/// Runs every workload with every seed under `schedulers`, several in parallel, in the order of `workloads`; `change` is
/// applied to each scenario last. A trace has no seeds, so it is run once.
///
/// # Errors
/// Bad input, or a run that failed.
pub fn run_all(
    runner: &Runner<'_>,
    workloads: Vec<SlackerTrace>,
    schedulers: &[&str],
    change: impl Fn(&mut Document) + Sync,
) -> Result<Vec<WorkloadRun>, RunError> {
    let mut runs = Vec::new();
    for workload in workloads {
        let seeds = if runner.trace(&workload.name)?.is_some() { vec![1] } else { runner.seeds() };
        runs.extend(seeds.into_iter().map(|seed| (workload.clone(), seed)));
    }
    runner.each(runs, |(workload, seed)| {
        let mut document = document(runner, &workload, requests(runner), seed, schedulers)?;
        change(&mut document);
        let summary = runner.compare(document)?;
        Ok(WorkloadRun { workload, summary })
    })
}

/// The paper's device with a flow of hardly any requests, for computations on its geometry.
pub fn plain_document() -> Document {
    let flow = flashlane_lab::scenario::Flow {
        clone: Some(CloneSpec { mean_gap_us: Some(1e6), ..CloneSpec::new(Table::Slacker, "fin1", 1) }),
        ..flashlane_lab::scenario::Flow::default()
    };
    Document { device: Device::preset(DEVICE.into()), flow: vec![flow], ..Document::default() }
}
