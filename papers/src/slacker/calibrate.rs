//! The rates of the clones: Table 2 prints sizes and slack but no rates (model 1.2, "Needs").
//!
//! For each workload, the mean time between requests is searched until the actual slack of the baseline's transactions
//! (of writes; of reads where the group is read-intensive) has the mean that Table 2 prints.

use std::fmt::Write as _;

use rayon::prelude::*;

use super::workloads::{BASELINE, document, requests};
use crate::{Runner, Setting};
use flashlane_lab::run::RunError;
use flashlane_lab::workload::clone::{Group, SlackerTrace};

/// Relative distance from the printed slack at which the search stops.
const NEAR: f64 = 0.02;
/// The most gaps tried.
const STEPS: usize = 16;
/// The highest load tried, relative to what chips can do one page at a time: they have eight planes.
const HIGHEST_LOAD: f64 = 24.0;

/// A calibrated workload.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// Its row of Table 2.
    pub workload: SlackerTrace,
    /// Mean time between requests, us.
    pub gap_us: f64,
    /// The slack reached with it, ms.
    pub reached_ms: f64,
}

impl Calibrated {
    /// The slack that the calibration aims at: the one Table 2 prints.
    pub fn wanted_ms(&self) -> f64 {
        wanted_ms(&self.workload)
    }

    /// Whether the slack reached is within 10 % of the printed one.
    pub fn is_reached(&self) -> bool {
        (self.reached_ms - self.wanted_ms()).abs() <= 0.1 * self.wanted_ms()
    }
}

/// The value of Table 2 that the calibration aims at.
pub(super) fn wanted_ms(workload: &SlackerTrace) -> f64 {
    if workload.group == Group::ReadIntensive { workload.read_slack_ms_mean } else { workload.write_slack_ms_mean }
}

/// Calibrates every workload of Table 2; `report` is called with each when it is done.
///
/// # Errors
/// A run that failed.
pub fn calibrate(runner: &Runner<'_>, report: &(dyn Fn(&Calibrated) + Sync)) -> Result<Vec<Calibrated>, RunError> {
    SlackerTrace::all()
        .into_par_iter()
        .map(|workload| {
            let done = one(runner, workload)?;
            report(&done);
            Ok(done)
        })
        .collect()
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

/// Finds the gap by linear interpolation of logarithms between a gap with too little slack and one with too much. The
/// value of an end that stays is halved (the Illinois rule); otherwise the search could approach from one side only,
/// slowly.
fn one(runner: &Runner<'_>, workload: SlackerTrace) -> Result<Calibrated, RunError> {
    let wanted = wanted_ms(&workload);
    // Advanced commands serve several pages at once, so a chip can serve a higher load than one page at a time.
    let work = work_us(&workload, runner.settings.setting);
    let mut gap = work / 2.0;
    let mut short: Option<(f64, f64)> = None;
    let mut long: Option<(f64, f64)> = None;
    let mut best: Option<Calibrated> = None;
    for _ in 0..STEPS {
        // Rounded as it is stored.
        gap = (gap * 10.0).round().max(1.0) / 10.0;
        let reached = slack_ms(runner, &workload, gap)?;
        let off = (reached.max(1e-6) / wanted).ln();
        if best.as_ref().is_none_or(|best| off.abs() < (best.reached_ms / wanted).ln().abs()) {
            best = Some(Calibrated { workload: workload.clone(), gap_us: gap, reached_ms: reached });
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
    let seeds = runner.seeds();
    let slacks: Vec<f64> = seeds
        .par_iter()
        .map(|&seed| {
            let mut document = document(runner, workload, requests(runner), seed, &[BASELINE])?;
            document.run.slack = Some(true);
            if let Some(clone) = &mut document.flow[0].clone {
                clone.mean_gap_us = Some(gap_us);
            }
            let made = runner.compare_one(document)?;
            let slack = made.schedulers[0].slack.as_ref().expect("asked for");
            let part = if workload.group == Group::ReadIntensive { &slack.read } else { &slack.write };
            Ok(part.as_ref().map_or(0.0, |part| part.mean_ns / 1e6))
        })
        .collect::<Result<_, RunError>>()?;
    Ok(slacks.iter().sum::<f64>() / slacks.len() as f64)
}

/// Table 2 as a data file with the gaps found; `command` is the command line that made it.
pub fn to_csv(calibrated: &[Calibrated], command: &str) -> String {
    let mut text = format!("# Table 2 of Slacker, ASPLOS 2017; the last two columns are made by: {command}\n");
    text.push_str(
        "name,group,write_fraction,read_kb_mean,read_kb_sd,write_kb_mean,write_kb_sd,read_slack_ms_mean,read_slack_ms_sd,\
         write_slack_ms_mean,write_slack_ms_sd,mean_gap_us,reached_slack_ms\n",
    );
    for one in calibrated {
        let workload = &one.workload;
        let _ = writeln!(
            text,
            "{},{},{},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.2}",
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
            one.gap_us,
            one.reached_ms
        );
    }
    text
}
