//! The bursts and the unevenness of the clones in whole pages (model 9.4): the paper prints neither, but the mean and the deviation of the
//! slack they lead to.
//!
//! For each workload and each of a few exponents, the mean length of a burst is searched until the actual slack of the baseline's
//! transactions has the mean of Table 2. Of the exponents that reach it, the one whose slack has the nearest deviation is taken. What
//! schedulers gain plays no part.

use std::fmt::Write as _;

use rayon::prelude::*;

use super::calibrate::{wanted_ms, work_us};
use super::workloads::{BASELINE, document, requests};
use crate::{Runner, Setting};
use flashlane_lab::run::RunError;
use flashlane_lab::workload::clone::{Group, SlackerTrace};

/// Share of the time in which chips are busy.
const BUSY: f64 = 0.3;
/// The exponents that are tried.
const THETAS: [f64; 7] = [0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0];
/// The longest and the shortest burst that is tried, requests. A run has ten of the longest.
const BURSTS: (f64, f64) = (1.0, 10_000.0);
/// Relative distance from the printed slack at which the search stops.
const NEAR: f64 = 0.03;
/// Relative distance from the printed slack that counts as reached.
const REACHED: f64 = 0.1;
/// The most lengths tried for an exponent.
const STEPS: usize = 9;

/// Mean and standard deviation of slack, ms.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SlackMs {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
}

/// A calibrated workload.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// Its row of Table 2.
    pub workload: SlackerTrace,
    /// Mean time between requests, us.
    pub gap_us: f64,
    /// Mean requests of a burst.
    pub burst: f64,
    /// Zipf exponent of the popularity of chips.
    pub theta: f64,
    /// The slack reached.
    pub reached: SlackMs,
}

impl Calibrated {
    /// The slack that Table 2 prints.
    pub fn wanted(&self) -> SlackMs {
        wanted(&self.workload)
    }

    /// Whether the mean reached is within 10 % of the printed one.
    pub fn is_reached(&self) -> bool {
        self.off() <= REACHED
    }

    /// Relative distance of the mean from the printed one.
    fn off(&self) -> f64 {
        (self.reached.mean / self.wanted().mean - 1.0).abs()
    }

    /// Distance of the deviation from the printed one, as a logarithm of their ratio.
    fn sd_off(&self) -> f64 {
        (self.reached.sd / self.wanted().sd).ln().abs()
    }
}

/// What Table 2 prints of the slack that is aimed at.
fn wanted(workload: &SlackerTrace) -> SlackMs {
    let reads = workload.group == Group::ReadIntensive;
    let sd = if reads { workload.read_slack_ms_sd } else { workload.write_slack_ms_sd };
    SlackMs { mean: wanted_ms(workload), sd }
}

/// Calibrates every workload of Table 2; `report` is called with each when it is done.
///
/// # Errors
/// A run that failed.
pub fn calibrate(runner: &Runner<'_>, report: &(dyn Fn(&Calibrated) + Sync)) -> Result<Vec<Calibrated>, RunError> {
    SlackerTrace::all()
        .into_par_iter()
        .map(|workload| {
            let done = one(runner, &workload)?;
            report(&done);
            Ok(done)
        })
        .collect()
}

/// Calibrates a workload.
fn one(runner: &Runner<'_>, workload: &SlackerTrace) -> Result<Calibrated, RunError> {
    let mut best: Option<Calibrated> = None;
    for theta in THETAS {
        let found = at_theta(runner, workload, theta)?;
        let better = best.as_ref().is_none_or(|best| match (found.is_reached(), best.is_reached()) {
            (true, true) => found.sd_off() < best.sd_off(),
            (false, false) => found.off() < best.off(),
            (reached, _) => reached,
        });
        if better {
            best = Some(found);
        }
    }
    Ok(best.expect("an exponent was tried"))
}

/// Finds the length of bursts for an exponent: slack grows nearly in proportion to it, so each step scales it by what is missing, inside
/// what earlier steps have left.
fn at_theta(runner: &Runner<'_>, workload: &SlackerTrace, theta: f64) -> Result<Calibrated, RunError> {
    let wanted = wanted(workload);
    // Rounded as it is stored.
    let gap_us = (work_us(workload, Setting::Chosen) / BUSY * 10.0).round() / 10.0;
    let (mut low, mut high) = BURSTS;
    let mut burst: f64 = 300.0;
    let mut best: Option<Calibrated> = None;
    for _ in 0..STEPS {
        burst = (burst * 10.0).round() / 10.0;
        let reached = slack_ms(runner, workload, gap_us, burst, theta)?;
        let tried = Calibrated { workload: workload.clone(), gap_us, burst, theta, reached };
        let is_near = tried.off() <= NEAR;
        if best.as_ref().is_none_or(|best| tried.off() < best.off()) {
            best = Some(tried);
        }
        if reached.mean < wanted.mean {
            low = burst;
        } else {
            high = burst;
        }
        if is_near || high / low < 1.01 {
            break;
        }
        let scaled = burst * wanted.mean / reached.mean.max(1e-6);
        burst = if scaled > low && scaled < high { scaled } else { (low * high).sqrt() };
    }
    Ok(best.expect("at least one step"))
}

/// Mean over the seeds of mean and deviation of the baseline's actual slack.
fn slack_ms(
    runner: &Runner<'_>,
    workload: &SlackerTrace,
    gap_us: f64,
    burst: f64,
    theta: f64,
) -> Result<SlackMs, RunError> {
    let seeds = runner.seeds();
    let of_seed = |&seed: &u64| {
        let mut document = document(runner, workload, requests(runner), seed, &[BASELINE])?;
        document.run.slack = Some(true);
        if let Some(clone) = &mut document.flow[0].clone {
            (clone.mean_gap_us, clone.burst_requests, clone.lane_theta) = (Some(gap_us), Some(burst), Some(theta));
        }
        let made = runner.compare_one(document)?;
        let slack = made.schedulers[0].slack.as_ref().expect("asked for");
        let part = if workload.group == Group::ReadIntensive { &slack.read } else { &slack.write };
        let ms = |ns: f64| ns / 1e6;
        Ok(part.as_ref().map_or((0.0, 0.0), |part| (ms(part.mean_ns), ms(part.stdev_ns))))
    };
    let of_seeds = seeds.par_iter().map(of_seed).collect::<Result<Vec<_>, RunError>>()?;
    let mean = |of: fn(&(f64, f64)) -> f64| of_seeds.iter().map(of).sum::<f64>() / seeds.len() as f64;
    Ok(SlackMs { mean: mean(|s| s.0), sd: mean(|s| s.1) })
}

/// The data file with what was found; `command` is the command line that made it.
pub fn to_csv(calibrated: &[Calibrated], command: &str) -> String {
    let mut text = format!("# Clones of Slacker's Table 2 in whole pages (docs/model.md, 9.4); made by: {command}\n");
    text.push_str("name,mean_gap_us,burst_requests,lane_theta,reached_slack_ms,reached_slack_sd_ms\n");
    for one in calibrated {
        let Calibrated { workload, gap_us, burst, theta, reached } = one;
        let SlackMs { mean, sd } = reached;
        let _ = writeln!(text, "{},{gap_us:.1},{burst:.1},{theta},{mean:.2},{sd:.2}", workload.name);
    }
    text
}
