//! The workloads of Table 2 and the scenarios that run them.

use crate::Bench;
use flashlane_lab::results::Summary;
use flashlane_lab::run::RunError;
use flashlane_lab::scenario::{Device, Document, Run, SchedulerChoice};
use flashlane_lab::workload::clone::{CloneSpec, SlackerRow, Table};

/// The device of Table 1.
pub const DEVICE: &str = "slacker-asplos17";
/// The baseline of the paper: FR-FCFS with a conditional queue size.
pub const BASELINE: &str = "fr-fcfs";

/// Measured requests of a run: full, and in a quick run. Model 1.2.1 asks for 300,000; a third of that keeps the whole
/// paper, with five seeds of everything, below half an hour.
const REQUESTS: (u64, u64) = (100_000, 12_000);

/// Measured requests of each run.
pub fn requests(bench: &Bench<'_>) -> u64 {
    bench.amount(REQUESTS.0, REQUESTS.1)
}

/// A scenario of `row` with `requests` measured requests after a warm-up of a tenth as many, under `schedulers`, on the
/// paper's device.
///
/// # Errors
/// A folder of traces that cannot be read.
pub fn document(
    bench: &Bench<'_>,
    row: &SlackerRow,
    requests: u64,
    seed: u64,
    schedulers: &[&str],
) -> Result<Document, RunError> {
    let clone = CloneSpec::new(Table::Slacker, &row.name, requests + requests / 10);
    Ok(Document {
        name: Some(format!("slacker {}", row.name)),
        seed: Some(seed),
        device: Device::preset(DEVICE.into()),
        schedulers: Some(schedulers.iter().map(|name| SchedulerChoice::Row((*name).into())).collect()),
        run: Run { warm_up_requests: Some(requests / 10), ..Run::default() },
        flow: vec![bench.flow(&row.name, requests + requests / 10, clone)?],
        ..Document::default()
    })
}

/// A run of a workload with a seed.
pub struct Made {
    /// The workload.
    pub row: SlackerRow,
    /// The result.
    pub summary: Summary,
}

/// Runs every row with every seed under `schedulers`, several in parallel, in the order of the rows; `change` is
/// applied to each scenario last. A trace has no seeds, so it is run once.
///
/// # Errors
/// Bad input, or a run that failed.
pub fn run_all(
    bench: &Bench<'_>,
    rows: Vec<SlackerRow>,
    schedulers: &[&str],
    change: impl Fn(&mut Document) + Sync,
) -> Result<Vec<Made>, RunError> {
    let mut runs = Vec::new();
    for row in rows {
        let seeds = if bench.trace(&row.name)?.is_some() { vec![1] } else { bench.seeds() };
        runs.extend(seeds.into_iter().map(|seed| (row.clone(), seed)));
    }
    bench.each(runs, |(row, seed)| {
        let mut document = document(bench, &row, requests(bench), seed, schedulers)?;
        change(&mut document);
        let summary = bench.compare(document)?;
        Ok(Made { row, summary })
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
