//! What the gains depend on: the write-intensive workloads without advanced commands, at several loads (A1).
//!
//! Slack is accounted as if a chip served its queue one transaction after the other. A chip of four dies with two
//! planes serves several at once: a transaction that passes a write for another die gains nothing, but its service time
//! is still charged to that write.

use super::workloads::{BASELINE, run_all, work_us};
use crate::{Measurements, Runner};
use flashlane_scenario::workload::clone::{Group, SlackerTrace};
use flashlane_sim::RunError;

/// Loads: shares of the time in which the chips are busy, serving one page at a time.
const LOADS: [f64; 4] = [0.3, 0.5, 0.7, 0.9];

/// Runs A1.
pub fn one_page_at_a_time(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let workloads: Vec<SlackerTrace> =
        SlackerTrace::all().into_iter().filter(|workload| workload.group == Group::WriteIntensive).collect();
    let mut figures = Measurements::default();
    for load in LOADS {
        let made = run_all(runner, workloads.clone(), &[BASELINE, "wbyp", "slacker"], |document| {
            document.device.nand.multi_plane = Some(false);
            document.device.nand.multi_die = Some(false);
            for clone in document.flow.iter_mut().filter_map(|flow| flow.clone.as_mut()) {
                let workload = workloads.iter().find(|workload| workload.name == clone.name).expect("one of these");
                clone.mean_gap_us = Some(work_us(workload, runner.settings.setting) / load);
            }
        })?;
        let load = load.to_string();
        for one in &made {
            for run in &one.figures.schedulers[1..] {
                let Some(paired) = &run.paired else { continue };
                let percent = |count: u64| 100.0 * count as f64 / paired.all.requests as f64;
                let path = |what: &'static str| ["one_page_at_a_time", what, &run.name, &load, &one.workload.name];
                figures.push_some(&path("improvement"), paired.all.improvement_percent);
                figures.push_some(&path("gain_per_request"), paired.all.gain_percent_per_request);
                figures.push(&path("faster_percent"), percent(paired.all.faster));
                figures.push(&path("slower_percent"), percent(paired.all.slower));
            }
        }
    }
    Ok(figures)
}
