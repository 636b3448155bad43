//! What HOS leaves to be gained (SOS-E1, E2), and what each addition gains (SOS-E4, E5).

use super::shares::Shares;
use super::workloads::{DONE_IN, TIMES, at_a_tenth, device, document};
use crate::{Measurements, Runner};
use flashlane_report::results::SchedulerResult;
use flashlane_scenario::workload::clone::SosBenchmark;
use flashlane_scenario::{Device, Document};
use flashlane_sim::RunError;

/// The baseline first.
const SYSTEMS: [&str; 4] = ["hos", "hos+qsl", "hos+whm", "sos"];

/// The setting in which every benchmark keeps the chips busy for a tenth of the time.
const TENTH: &str = "flash_1300_tenth_busy";

/// Every benchmark with every seed; a trace has no seeds, so it is run once.
fn runs(runner: &Runner<'_>) -> Result<Vec<(SosBenchmark, u64)>, RunError> {
    let mut runs = Vec::new();
    for benchmark in SosBenchmark::all() {
        runs.extend(runner.seeds_of(&benchmark.name)?.into_iter().map(|seed| (benchmark.clone(), seed)));
    }
    Ok(runs)
}

/// Runs SOS-E1 and E2.
pub fn shares(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    let mut documents = Vec::new();
    for (benchmark, seed) in runs(runner)? {
        let plain = document(runner, &benchmark, seed, device(TIMES[0], DONE_IN[0]), &["hos"])?;
        let mut busier = plain.clone();
        at_a_tenth(&benchmark, &mut busier);
        documents.push((("flash_1300", benchmark.name.clone()), plain));
        documents.push(((TENTH, benchmark.name), busier));
    }
    for ((setting, name), (reallocatable, overwritten)) in runner.count::<Shares, _>(documents)? {
        figures.push(&["reallocatable_percent", setting, &name], reallocatable);
        figures.push(&["overwrite_percent", setting, &name], overwritten);
        if runner.trace(&name)?.is_some() {
            figures.note(format!("{name}: a trace, not a clone"));
        }
    }
    Ok(figures)
}

/// Runs SOS-E4 and E5.
pub fn all(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    for done_in in DONE_IN {
        for times in TIMES {
            let setting = format!("{done_in}_{}", times.0);
            compare(runner, &setting, &device(times, done_in), |_, _| (), &mut figures)?;
        }
    }
    compare(runner, TENTH, &device(TIMES[0], DONE_IN[0]), at_a_tenth, &mut figures)?;
    Ok(figures)
}

/// Runs every benchmark under the four systems on `device`; `change` is applied to each scenario last.
fn compare(
    runner: &Runner<'_>,
    setting: &str,
    device: &Device,
    change: impl Fn(&SosBenchmark, &mut Document),
    figures: &mut Measurements,
) -> Result<(), RunError> {
    let mut documents = Vec::new();
    for (benchmark, seed) in runs(runner)? {
        let mut document = document(runner, &benchmark, seed, device.clone(), &SYSTEMS)?;
        change(&benchmark, &mut document);
        documents.push((benchmark.name, document));
    }
    for (name, made) in runner.compare(documents)? {
        add(figures, setting, &name, &made.schedulers);
    }
    Ok(())
}

/// Adds the figures of a benchmark under the four systems.
fn add(figures: &mut Measurements, setting: &str, name: &str, runs: &[SchedulerResult]) {
    let mut gains = Vec::new();
    for run in runs {
        let mut push = |what: &str, value: Option<f64>| figures.push_some(&[what, setting, &run.name, name], value);
        let changes = run.change_percent.as_ref();
        let gain = changes.and_then(|c| c.all.as_ref()?.mean).map(|change| -change);
        push("improvement", gain);
        push("read_improvement", changes.and_then(|c| c.read.as_ref()?.mean).map(|change| -change));
        push("write_improvement", changes.and_then(|c| c.write.as_ref()?.mean).map(|change| -change));
        push("mean_ms", run.total.all.as_ref().map(|all| all.mean_ns / 1e6));
        push("chips_busy_percent", Some(100.0 * run.device.chip_utilisation));
        push("programs", Some(run.device.user_programs as f64));
        if let Some(writes) = &run.device.waiting_writes {
            push("moved", Some(writes.moved as f64));
            push("programs_saved_percent", writes.programs_saved_percent);
        }
        gains.push(gain.unwrap_or(0.0));
    }
    // What the two give together beyond their sum.
    figures.push(&["interaction", setting, name], gains[3] - gains[1] - gains[2]);
}
