//! Across papers: every scheduler of the catalogue on every paper's workloads, and on the user's traces.
//!
//! Owns which workloads stand for a paper and what is compared; has no claims, for no paper made this comparison. Garbage
//! collection is semi-preemptive for every scheduler whose paper is not about collection, so that schedulers are compared and
//! not ways to collect.

mod picture;
mod rows;
mod workloads;

pub use picture::picture;

use self::rows::{FIRST, rows_for};
use self::workloads::{Workload, all};
use crate::{Group, Measurements, Paper, RunStats, Runner, falls_behind};
use flashlane_report::results::SchedulerResult;
use flashlane_sim::RunError;

/// The comparison, made like a paper.
pub const CROSS: Paper = Paper {
    name: "cross",
    seeds: 1,
    claims: include_str!("../../cross/claims.toml"),
    variants: &[],
    groups: &[Group {
        experiments: &["X1"],
        about: "every scheduler on the workloads of Slacker, FLIN, NCQ scheduling and SOS, and on traces",
        run: compare,
    }],
};

/// Runs every scheduler on every workload. A figure's values are those of the workloads of its family.
fn compare(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    let workloads = all(runner)?;
    for family in workloads::FAMILIES {
        let count = workloads.iter().filter(|workload| workload.family == *family).count();
        if count > 0 {
            figures.note(format!("{family}: {count} workloads; means and intervals are over them"));
        }
    }
    figures.note(format!(
        "speedup: mean response time under {FIRST} over the row's, geometric mean over the workloads; improvements in percent, against \
         {FIRST} on the same arrivals"
    ));
    let mut runs = Vec::new();
    for Workload { family, mut document } in workloads {
        document.schedulers = Some(rows_for(&document)?);
        runs.push((family, document));
    }
    let made = runner.compare(runs)?;
    speedups(&mut figures, &made);
    for (family, made) in &made {
        add(&mut figures, family, made);
    }
    Ok(figures)
}

/// Adds how many times as fast as the first a scheduler is: the geometric mean over the workloads of a family, for a ratio of ten and
/// one of a tenth cancel out.
fn speedups(figures: &mut Measurements, made: &[(&str, RunStats)]) {
    let mean_ns = |run: &SchedulerResult| run.total.all.as_ref().map(|all| all.mean_ns);
    let mut logarithms = Measurements::default();
    for (family, made) in made {
        let first = mean_ns(&made.schedulers[0]);
        for run in &made.schedulers {
            let ratio = first.zip(mean_ns(run)).map(|(first, own)| libm::log(first / own));
            logarithms.push_some(&[family, &run.name], ratio);
        }
    }
    for (path, values) in logarithms.iter() {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        figures.push(&["speedup", &path[0], &path[1]], libm::exp(mean));
    }
}

/// Adds what one workload showed.
fn add(figures: &mut Measurements, family: &str, made: &RunStats) {
    let first = &made.schedulers[0];
    for run in &made.schedulers {
        let mut push = |what: &str, value: Option<f64>| figures.push_some(&[what, family, &run.name], value);
        if run.name != first.name {
            let change = run.change_percent.as_ref().and_then(|change| change.all.as_ref());
            push("improvement_percent", change.and_then(|change| change.mean).map(|change| 0.0 - change));
            push(
                "gain_percent_per_request",
                run.paired.as_ref().and_then(|paired| paired.all.gain_percent_per_request),
            );
            push("p999_improvement_percent", change.and_then(|change| change.p99_9).map(|change| 0.0 - change));
        }
        push("fairness", run.fairness.as_ref().map(|fairness| fairness.fairness));
        push("largest_slowdown", run.fairness.as_ref().map(|fairness| fairness.max_slowdown));
        push("write_amplification", run.device.write_amplification);
        push("overloaded_flows", Some(overloaded(run)));
    }
}

fn overloaded(run: &SchedulerResult) -> f64 {
    run.flows.iter().filter(|flow| falls_behind(flow)).count() as f64
}
