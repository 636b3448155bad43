//! Slacker beside dynamic redirection of writes (SLK-E15).
//!
//! Redirection slows reads down only where pages were written with it. So a first flow writes the working set at random
//! through the system under test; then the workload begins. The working set is small, so that most of it gets written.

use super::workloads::{BASELINE, COLLECT, clone_of, device, requests};
use crate::{Measurements, RunStats, Runner};
use flashlane_report::results::SchedulerResult;
use flashlane_scenario::workload::clone::{CloneSpec, SlackerTrace, Table};
use flashlane_scenario::{Document, Flow, Range, RangeWord, Run, SchedulerChoice, Word};
use flashlane_sim::RunError;

/// The systems, the baseline first.
const SYSTEMS: [&str; 4] = [BASELINE, "dynalloc", "slacker", "dynalloc+slacker"];
/// One workload of each group; the paper names only the second.
const WORKLOADS: [&str; 3] = ["rsrch1", "src2-0-p", "rsrch2-p"];

/// Bytes of the working set.
const WORKING_SET: u64 = 1 << 30;
/// How often the first flow overwrites it on average, so that 95 % of its pages are written.
const TIMES: f64 = 3.0;
/// Mean time between writes of the first flow: chips are busy for a third of the time.
const WRITE_GAP_US: f64 = 900.0;

/// Runs SLK-E15.
pub fn redirection(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut runs = Vec::new();
    for name in WORKLOADS {
        let workload = SlackerTrace::named(name)?;
        for seed in runner.seeds() {
            runs.push((name, document(runner, &workload, seed)?));
        }
    }
    let mut figures = Measurements::default();
    for (name, RunStats { schedulers: runs }) in runner.compare(runs)? {
        for (part, of) in [("improvement", 0), ("reads", 1), ("writes", 2)] {
            let mean = |run: &SchedulerResult| {
                let figures = &run.flows[1].figures;
                let part = [&figures.all, &figures.read, &figures.write][of];
                part.as_ref().map(|f| f.mean_ns)
            };
            for run in &runs[1..] {
                let change = mean(&runs[0]).zip(mean(run)).map(|(base, own)| 100.0 * (base - own) / base);
                figures.push_some(&["dynalloc", part, &run.name, name], change);
            }
        }
        for run in &runs[1..] {
            let gain = run.paired.as_ref().and_then(|paired| paired.all.gain_percent_per_request);
            figures.push_some(&["dynalloc", "gain_per_request", &run.name, name], gain);
        }
    }
    Ok(figures)
}

/// A scenario of the first flow, then the workload.
fn document(runner: &Runner<'_>, workload: &SlackerTrace, seed: u64) -> Result<Document, RunError> {
    let requests = requests(runner) / 2;
    let pages = WORKING_SET as f64 / 8_192.0 * TIMES;
    let writes = pages / (workload.write_kb_mean / 8.0 + 0.5);
    let first = CloneSpec {
        read_ratio: Some(0.0),
        mean_gap_us: Some(WRITE_GAP_US),
        sequential_probability: Some(0.0),
        working_set_bytes: Some(WORKING_SET),
        ..CloneSpec::new(Table::Slacker, &workload.name, writes as u64)
    };
    // Since writes come in bursts, the last may end somewhat later than the mean rate says.
    let begins_us = 1.3 * writes * WRITE_GAP_US + 5e6;
    let measured = CloneSpec {
        start_us: Some(begins_us),
        working_set_bytes: Some(WORKING_SET),
        ..clone_of(runner, &workload.name, requests)?
    };
    let flow = |name: &str, clone: CloneSpec| Flow {
        name: Some(name.into()),
        range: Some(Range::Word(Word(RangeWord::All))),
        clone: Some(clone),
        ..Flow::default()
    };
    Ok(Document {
        name: Some(format!("slacker E15 {}", workload.name)),
        seed: Some(seed),
        device: device(runner),
        schedulers: Some(SYSTEMS.map(|name| SchedulerChoice::Named(name.into())).into()),
        // Pairs are of the second flow only.
        run: Run {
            alone: Some(false),
            warm_up_ms: Some((begins_us / 1e3) as u64),
            collect: Some(COLLECT.into()),
            ..Run::default()
        },
        flow: vec![flow("fill", first), flow("measured", measured)],
        ..Document::default()
    })
}
