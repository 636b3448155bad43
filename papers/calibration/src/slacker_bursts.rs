//! The bursts and the unevenness of the clones in whole pages (model 9.4): the paper prints neither, but the mean and the deviation of the
//! slack they lead to.
//!
//! For each workload and each of a few exponents, the mean length of a burst is searched until the actual slack of the baseline's
//! transactions has the mean of Table 2. Of the exponents that reach it, the one whose slack has the nearest deviation is taken. What
//! schedulers gain plays no part.

use rayon::prelude::*;

use flashlane_papers::slacker::workloads::work_us;
use flashlane_papers::{Runner, Setting};
use flashlane_scenario::workload::clone::{Group, SlackerTrace};
use flashlane_sim::RunError;

use crate::slacker_rates::{runs, wanted_ms};

/// Share of the time in which chips are busy.
const BUSY: f64 = 0.3;
/// The exponents that are tried.
const THETAS: [f64; 7] = [0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0];
/// The longest and the shortest burst that is tried, requests. A run has ten of the longest.
const BURSTS: (f64, f64) = (1.0, 10_000.0);
/// Relative distance from the printed slack at which the search stops.
pub const NEAR: f64 = 0.03;
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

/// What was tried for a workload.
#[derive(Clone, Copy, Debug)]
pub struct Tried {
    /// The slack that Table 2 prints.
    pub wanted: SlackMs,
    /// Mean time between requests, us.
    pub gap_us: f64,
    /// Mean requests of a burst.
    pub burst: f64,
    /// Zipf exponent of the popularity of chips.
    pub theta: f64,
    /// The slack reached.
    pub reached: SlackMs,
}

impl Tried {
    /// Whether the mean reached is within 10 % of the printed one.
    pub fn is_reached(&self) -> bool {
        self.off() <= REACHED
    }

    /// Relative distance of the mean from the printed one.
    pub fn off(&self) -> f64 {
        (self.reached.mean / self.wanted.mean - 1.0).abs()
    }

    /// Distance of the deviation from the printed one, as a logarithm of their ratio.
    fn sd_off(&self) -> f64 {
        (self.reached.sd / self.wanted.sd).ln().abs()
    }
}

/// What Table 2 prints of the slack that is aimed at.
pub fn wanted(workload: &SlackerTrace) -> SlackMs {
    let reads = workload.group == Group::ReadIntensive;
    let sd = if reads { workload.read_slack_ms_sd } else { workload.write_slack_ms_sd };
    SlackMs { mean: wanted_ms(workload), sd }
}

/// The bursts and the unevenness of every workload of Table 2.
pub fn find(runner: &Runner<'_>, told: &(dyn Fn(String, bool) + Sync)) -> Result<String, RunError> {
    let row = |workload: SlackerTrace| {
        let found = one(runner, &workload)?;
        let Tried { wanted, gap_us, burst, theta, reached } = found;
        let (name, SlackMs { mean, sd }) = (&workload.name, reached);
        let slack = format!("{mean:.2} ± {sd:.2} ms for {} ± {}", wanted.mean, wanted.sd);
        told(format!("{name}: bursts of {burst:.0}, exponent {theta} give {slack}"), found.is_reached());
        Ok(format!("{name},{gap_us:.1},{burst:.1},{theta},{mean:.2},{sd:.2}\n"))
    };
    let rows = SlackerTrace::all().into_par_iter().map(row).collect::<Result<Vec<String>, RunError>>()?;
    Ok(String::from(HEADER) + &rows.concat())
}

const HEADER: &str = "\
# Clones of Slacker's Table 2 in whole pages (docs/model.md, 9.4); made by: flashlane-calibration slacker-bursts
name,mean_gap_us,burst_requests,lane_theta,reached_slack_ms,reached_slack_sd_ms
";

/// The best of all exponents.
fn one(runner: &Runner<'_>, workload: &SlackerTrace) -> Result<Tried, RunError> {
    let mut best: Option<Tried> = None;
    for theta in THETAS {
        let found = at_theta(runner, workload, theta)?;
        if best.is_none_or(|best| better(&found, &best)) {
            best = Some(found);
        }
    }
    Ok(best.expect("an exponent was tried"))
}

/// Whether the first is nearer to Table 2: of those that reach the mean, the one with the nearer deviation.
pub fn better(found: &Tried, best: &Tried) -> bool {
    match (found.is_reached(), best.is_reached()) {
        (true, true) => found.sd_off() < best.sd_off(),
        (false, false) => found.off() < best.off(),
        (reached, _) => reached,
    }
}

/// Finds the length of bursts for an exponent: slack grows nearly in proportion to it, so each step scales it by what is missing, inside
/// what earlier steps have left.
fn at_theta(runner: &Runner<'_>, workload: &SlackerTrace, theta: f64) -> Result<Tried, RunError> {
    let wanted = wanted(workload);
    // Rounded as it is stored.
    let gap_us = (work_us(workload, Setting::Chosen) / BUSY * 10.0).round() / 10.0;
    let (mut low, mut high) = BURSTS;
    let mut burst: f64 = 300.0;
    let mut best: Option<Tried> = None;
    for _ in 0..STEPS {
        burst = (burst * 10.0).round() / 10.0;
        let reached = slack_ms(runner, workload, gap_us, burst, theta)?;
        let tried = Tried { wanted, gap_us, burst, theta, reached };
        let is_near = tried.off() <= NEAR;
        if best.is_none_or(|best| tried.off() < best.off()) {
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
pub fn slack_ms(
    runner: &Runner<'_>,
    workload: &SlackerTrace,
    gap_us: f64,
    burst: f64,
    theta: f64,
) -> Result<SlackMs, RunError> {
    let made = runs(runner, workload, |clone| {
        (clone.mean_gap_us, clone.burst_requests, clone.lane_theta) = (Some(gap_us), Some(burst), Some(theta));
    })?;
    let mean = |of: fn(&(f64, f64)) -> f64| made.iter().map(of).sum::<f64>() / made.len() as f64;
    Ok(SlackMs { mean: mean(|s| s.0), sd: mean(|s| s.1) })
}
