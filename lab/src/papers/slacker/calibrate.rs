//! The rates of the clones: Table 2 prints sizes and slack but no rates (SPEC 1.2, "Needs").
//!
//! For each workload, the mean time between requests is bisected until the actual slack of the baseline's transactions
//! (of writes; of reads where the group is read-intensive) has the mean that Table 2 prints.

use std::fmt::Write as _;

use rayon::prelude::*;

use super::workloads::{BASELINE, document, requests};
use crate::papers::Bench;
use crate::run::RunError;
use crate::workload::clone::{Group, SlackerRow};

/// How near the printed slack is near enough to stop.
const NEAR: f64 = 0.02;
/// Runs of a workload at most.
const STEPS: usize = 24;

/// A calibrated workload.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// Its row of Table 2.
    pub row: SlackerRow,
    /// Mean time between requests, us.
    pub gap_us: f64,
    /// The slack reached with it, ms.
    pub reached_ms: f64,
}

impl Calibrated {
    /// The slack that Table 2 prints.
    pub fn wanted_ms(&self) -> f64 {
        wanted_ms(&self.row)
    }

    /// Whether the slack reached is within 10 % of the printed one.
    pub fn is_reached(&self) -> bool {
        (self.reached_ms - self.wanted_ms()).abs() <= 0.1 * self.wanted_ms()
    }
}

/// The calibrated column of Table 2.
fn wanted_ms(row: &SlackerRow) -> f64 {
    if row.group == Group::ReadIntensive { row.read_slack_ms_mean } else { row.write_slack_ms_mean }
}

/// Calibrates every workload of Table 2; `told` hears of each when it is done.
///
/// # Errors
/// A run that failed.
pub fn calibrate(bench: &Bench<'_>, told: &(dyn Fn(&Calibrated) + Sync)) -> Result<Vec<Calibrated>, RunError> {
    SlackerRow::all()
        .into_par_iter()
        .map(|row| {
            let done = one(bench, row)?;
            told(&done);
            Ok(done)
        })
        .collect()
}

/// Bisects the logarithm of the gap between one with too little slack and one with too much.
fn one(bench: &Bench<'_>, row: SlackerRow) -> Result<Calibrated, RunError> {
    let wanted = wanted_ms(&row);
    // Begin where the chips, a page at a time, would be half busy.
    let pages = |kb: f64| kb / 8.0 + 0.5;
    let work_us = row.write_fraction * pages(row.write_kb_mean) * 1_325.0
        + (1.0 - row.write_fraction) * pages(row.read_kb_mean) * 100.0;
    let mut gap = work_us / 16.0 / 0.5;
    let (mut short, mut long): (Option<f64>, Option<f64>) = (None, None);
    let mut best = Calibrated { row: row.clone(), gap_us: gap, reached_ms: f64::INFINITY };
    for _ in 0..STEPS {
        // As it is stored.
        gap = (gap * 10.0).round() / 10.0;
        let reached = slack_ms(bench, &row, gap)?;
        if (reached / wanted).ln().abs() < (best.reached_ms / wanted).ln().abs() || best.reached_ms.is_infinite() {
            best = Calibrated { gap_us: gap, reached_ms: reached, ..best };
        }
        if (reached - wanted).abs() <= NEAR * wanted {
            break;
        }
        if reached > wanted {
            short = Some(gap)
        } else {
            long = Some(gap)
        }
        gap = match (short, long) {
            (Some(short), Some(long)) if (long / short).ln().abs() < 1e-4 => break,
            (Some(short), Some(long)) => (short * long).sqrt(),
            (Some(short), None) => short * 1.5,
            (None, Some(long)) => long / 1.5,
            (None, None) => gap,
        };
        // Beyond a hundred times what the chips can do a page at a time, nothing more is to be had.
        if gap < work_us / 16.0 / 100.0 {
            break;
        }
    }
    Ok(best)
}

/// Mean over the seeds of the baseline's mean actual slack at this gap, ms.
fn slack_ms(bench: &Bench<'_>, row: &SlackerRow, gap_us: f64) -> Result<f64, RunError> {
    let seeds = bench.seeds();
    let slacks: Vec<f64> = seeds
        .par_iter()
        .map(|&seed| {
            let mut document = document(bench, row, requests(bench), seed, &[BASELINE])?;
            document.run.slack = Some(true);
            if let Some(clone) = &mut document.flow[0].clone {
                clone.mean_gap_us = Some(gap_us);
            }
            let summary = bench.compare(document)?;
            let slack = summary.schedulers[0].slack.as_ref().expect("asked for");
            let part = if row.group == Group::ReadIntensive { &slack.read } else { &slack.write };
            Ok(part.as_ref().map_or(0.0, |part| part.mean_ns / 1e6))
        })
        .collect::<Result<_, RunError>>()?;
    Ok(slacks.iter().sum::<f64>() / slacks.len() as f64)
}

/// Table 2 as a data file, with the gaps found; `command` made it.
pub fn to_csv(calibrated: &[Calibrated], command: &str) -> String {
    let mut text = format!("# Table 2 of Slacker, ASPLOS 2017; the last two columns are made by: {command}\n");
    text.push_str(
        "name,group,write_fraction,read_kb_mean,read_kb_sd,write_kb_mean,write_kb_sd,read_slack_ms_mean,read_slack_ms_sd,\
         write_slack_ms_mean,write_slack_ms_sd,mean_gap_us,reached_slack_ms\n",
    );
    for one in calibrated {
        let row = &one.row;
        let _ = writeln!(
            text,
            "{},{},{},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.1},{:.2}",
            row.name,
            row.group.name().replace('_', "-"),
            row.write_fraction,
            row.read_kb_mean,
            row.read_kb_sd,
            row.write_kb_mean,
            row.write_kb_sd,
            row.read_slack_ms_mean,
            row.read_slack_ms_sd,
            row.write_slack_ms_mean,
            row.write_slack_ms_sd,
            one.gap_us,
            one.reached_ms
        );
    }
    text
}
