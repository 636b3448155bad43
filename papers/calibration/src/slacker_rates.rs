//! The rates of the clones: Table 2 prints sizes and slack but no rates (model 1.2, "Needs").
//!
//! For each workload, the mean time between requests is searched until the actual slack of the baseline's transactions
//! (of writes; of reads where the group is read-intensive) has the mean that Table 2 prints.

use rayon::prelude::*;

use flashlane_papers::slacker::workloads::{BASELINE, document, requests, work_us};
use flashlane_papers::{RunStats, Runner};
use flashlane_scenario::workload::clone::{CloneSpec, Group, SlackerTrace};
use flashlane_sim::RunError;

/// Relative distance from the printed slack at which the search stops.
const NEAR: f64 = 0.02;
/// The most gaps tried.
const STEPS: usize = 16;
/// The highest load tried, relative to what chips can do one page at a time: they have eight planes.
const HIGHEST_LOAD: f64 = 24.0;

/// A gap that was tried, us, and the slack that it led to, ms.
type Tried = (f64, f64);

/// The value of Table 2 that the search aims at.
pub fn wanted_ms(workload: &SlackerTrace) -> f64 {
    if workload.group == Group::ReadIntensive { workload.read_slack_ms_mean } else { workload.write_slack_ms_mean }
}

/// Table 2 with the gap of every workload.
pub fn find(runner: &Runner<'_>, told: &(dyn Fn(String, bool) + Sync)) -> Result<String, RunError> {
    let row = |workload| {
        let (gap, reached) = one(runner, &workload)?;
        let (name, wanted) = (&workload.name, wanted_ms(&workload));
        let is_reached = (reached - wanted).abs() <= 0.1 * wanted;
        told(format!("{name}: {gap:.1} us gives {reached:.2} ms for {wanted:.1}"), is_reached);
        Ok(to_csv(&workload, gap, reached))
    };
    let rows = SlackerTrace::all().into_par_iter().map(row).collect::<Result<Vec<String>, RunError>>()?;
    Ok(String::from(HEADER) + &rows.concat())
}

/// Finds the gap by linear interpolation of logarithms between a gap with too little slack and one with too much. The
/// value of an end that stays is halved (the Illinois rule); otherwise the search could approach from one side only,
/// slowly.
fn one(runner: &Runner<'_>, workload: &SlackerTrace) -> Result<Tried, RunError> {
    let wanted = wanted_ms(workload);
    // Advanced commands serve several pages at once, so a chip can serve a higher load than one page at a time.
    let work = work_us(workload, runner.settings.setting);
    let mut gap = work / 2.0;
    let mut short: Option<(f64, f64)> = None;
    let mut long: Option<(f64, f64)> = None;
    let mut best: Option<Tried> = None;
    for _ in 0..STEPS {
        // Rounded as it is stored.
        gap = (gap * 10.0).round().max(1.0) / 10.0;
        let reached = slack_ms(runner, workload, gap)?;
        let off = (reached.max(1e-6) / wanted).ln();
        if best.is_none_or(|(_, nearest)| off.abs() < (nearest / wanted).ln().abs()) {
            best = Some((gap, reached));
        }
        if (reached - wanted).abs() <= NEAR * wanted {
            break;
        }
        if off > 0.0 {
            short = Some((gap.ln(), off));
            long = long.map(|(at, off)| (at, off / 2.0));
        } else {
            long = Some((gap.ln(), off));
            short = short.map(|(at, off)| (at, off / 2.0));
        }
        gap = match (short, long) {
            (Some((a, _)), Some((b, _))) if b - a < 1e-3 => break,
            (Some((a, over)), Some((b, under))) => (a + (b - a) * over / (over - under)).exp(),
            (Some((a, _)), None) => a.exp() * 1.6,
            (None, Some((b, _))) => b.exp() / 1.6,
            (None, None) => break,
        };
        if gap < work / HIGHEST_LOAD {
            break;
        }
    }
    Ok(best.expect("at least one step"))
}

/// Mean over the seeds of the baseline's mean actual slack at this gap, ms.
fn slack_ms(runner: &Runner<'_>, workload: &SlackerTrace, gap_us: f64) -> Result<f64, RunError> {
    let made = runs(runner, workload, |clone| clone.mean_gap_us = Some(gap_us))?;
    Ok(made.iter().map(|(mean, _)| mean).sum::<f64>() / made.len() as f64)
}

/// Mean and standard deviation of the baseline's actual slack, ms, for each seed, of the clone after `change`.
pub fn runs(
    runner: &Runner<'_>,
    workload: &SlackerTrace,
    change: impl Fn(&mut CloneSpec),
) -> Result<Vec<(f64, f64)>, RunError> {
    let of_seed = |seed| {
        let mut document = document(runner, workload, requests(runner), seed, &[BASELINE])?;
        document.run.slack = Some(true);
        document.flow[0].clone.iter_mut().for_each(&change);
        Ok(((), document))
    };
    let documents = runner.seeds().into_iter().map(of_seed).collect::<Result<_, RunError>>()?;
    let slack = |((), made): ((), RunStats)| {
        let slack = made.schedulers[0].slack.as_ref().expect("asked for");
        let part = if workload.group == Group::ReadIntensive { &slack.read } else { &slack.write };
        part.as_ref().map_or((0.0, 0.0), |part| (part.mean_ns / 1e6, part.stdev_ns / 1e6))
    };
    Ok(runner.compare(documents)?.into_iter().map(slack).collect())
}

const HEADER: &str = "\
# Table 2 of Slacker, ASPLOS 2017; the last two columns are made by: flashlane-calibration slacker-rates
name,group,write_fraction,read_kb_mean,read_kb_sd,write_kb_mean,write_kb_sd,read_slack_ms_mean,read_slack_ms_sd,\
write_slack_ms_mean,write_slack_ms_sd,mean_gap_us,reached_slack_ms
";

/// The row of Table 2 with the gap found and the slack reached.
fn to_csv(workload: &SlackerTrace, gap_us: f64, reached_ms: f64) -> String {
    format!(
        "{},{},{},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{gap_us:.1},{reached_ms:.2}\n",
        workload.name,
        workload.group.name().replace('_', "-"),
        workload.write_fraction,
        workload.read_kb_mean,
        workload.read_kb_sd,
        workload.write_kb_mean,
        workload.write_kb_sd,
        workload.read_slack_ms_mean,
        workload.read_slack_ms_sd,
        workload.write_slack_ms_mean,
        workload.write_slack_ms_sd,
    )
}
