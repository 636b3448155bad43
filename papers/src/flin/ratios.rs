//! The effect of access patterns and of the share of reads (FLN-E5, E6).

use super::intensity::{SATURATION_MB_PER_S, closed};
use super::setup::{PAGE, document, drive_in, synthetic, systems};
use crate::{Measurements, Runner};
use flashlane_scenario::workload::synthetic::{Size, SyntheticSpec};
use flashlane_scenario::{Document, DriveState};
use flashlane_sim::RunError;

/// Share of the drive's bandwidth that each flow of E5 offers.
const LOAD: f64 = 0.4;
/// Bytes of a streaming request.
const STREAM: u64 = 65_536;

/// Reads of which this percentage of the bytes are single pages at random places; the rest are sequential 64 KiB.
fn reads(random_percent: u32) -> SyntheticSpec {
    let x = f64::from(random_percent) / 100.0;
    let (pages, streams) = (x / PAGE as f64, (1.0 - x) / STREAM as f64);
    SyntheticSpec {
        read_ratio: Some(1.0),
        size: match random_percent {
            0 => Size::Constant(STREAM),
            100 => Size::Constant(PAGE),
            _ => Size::Mix(vec![(PAGE, pages), (STREAM, streams)]),
        },
        sequential_probability: Some(streams / (pages + streams)),
        align_bytes: Some(PAGE),
        rate_mb_per_s: Some(LOAD * SATURATION_MB_PER_S),
        ..SyntheticSpec::default()
    }
}

/// Runs FLN-E5.
pub fn patterns(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let ms = runner.amount(2_000, 200);
    let mut runs = Vec::new();
    for percent in [0, 20, 40, 60, 80, 100] {
        for seed in runner.seeds() {
            let flows = vec![synthetic("base", ms, reads(0)), synthetic("interfering", ms, reads(percent))];
            let schedulers = systems(runner, &["fcfs", "sprinkler"]);
            let document = document(runner, format!("flin E5 {percent}"), (seed, ms), schedulers, flows);
            let document = Document { device: drive_in(runner, DriveState::Filled), ..document };
            runs.push((percent.to_string(), document));
        }
    }
    let mut figures = Measurements::default();
    for (percent, made) in runner.compare(runs)? {
        for run in &made.schedulers {
            for flow in &run.flows {
                figures.push_some(&["patterns", &flow.name, &run.name, &percent], flow.slowdown);
            }
            figures
                .push_some(&["patterns", "fairness", &run.name, &percent], run.fairness.as_ref().map(|f| f.fairness));
        }
    }
    Ok(figures)
}

/// Writes of the base flow, percent of its requests.
const WRITES: [u32; 4] = [0, 30, 70, 100];

/// Runs FLN-E6.
pub fn directions(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let ms = runner.amount(1_000, 100);
    let schedulers = ["fcfs", "read-first", "read-first-suspend"];
    let one = |writes: u32, reads: u32, seed: u64| {
        let base = closed(1, 1.0 - f64::from(writes) / 100.0);
        let other = closed(6, f64::from(reads) / 100.0);
        let flows = vec![synthetic("base", ms, base), synthetic("interfering", ms, other)];
        let name = format!("flin E6 {writes} {reads}");
        let document = document(runner, name, (seed, ms), systems(runner, &schedulers), flows);
        ((writes, reads), Document { device: drive_in(runner, DriveState::Filled), ..document })
    };
    let runs = WRITES.iter().flat_map(|&writes| (0..=10).map(move |step| (writes, 10 * step)));
    let seeds = runner.seeds();
    let runs = runs.flat_map(|(writes, reads)| seeds.iter().map(move |&seed| (writes, reads, seed)));
    let runs = runs.map(|(writes, reads, seed)| one(writes, reads, seed)).collect();
    let mut figures = Measurements::default();
    for ((writes, reads), made) in runner.compare(runs)? {
        let (table, level) = (format!("directions_{writes}"), reads.to_string());
        for run in &made.schedulers {
            let mean_us = run.total.all.as_ref().map(|f| f.mean_ns / 1e3);
            figures.push_some(&[&table, "mean_us", &run.name, &level], mean_us);
            figures.push_some(&[&table, "fairness", &run.name, &level], run.fairness.as_ref().map(|f| f.fairness));
        }
    }
    Ok(figures)
}
