//! The knobs of the clones: the slides print shares of writes, and neither rates nor addresses (model 9.3).
//!
//! For each benchmark, load, burst size, share and distance of rewrites are searched until HOS's re-allocatable and overwritten
//! shares are the printed ones. There are four knobs for two shares, so other clones reach them too (D-SOS-15).

use std::fmt::Write as _;

use rayon::prelude::*;

use super::shares::Shares;
use super::workloads::{DONE_IN, TIMES, device, document, gap_us};
use crate::Runner;
use flashlane_lab::run::RunError;
use flashlane_lab::workload::clone::SosBenchmark;

/// Sum of squares of the relative distances from the printed shares at which the search stops: 2 % each.
const NEAR: f64 = 0.0008;
/// The most rounds of tries.
const ROUNDS: usize = 30;

/// The knobs: share of the time the chips work, requests of a burst, share of rewrites, their distance in requests.
type Knobs = [f64; 4];
const START: Knobs = [0.1, 4.0, 0.5, 16.0];
const MIN_KNOBS: Knobs = [0.01, 1.0, 0.02, 1.0];
const MAX_KNOBS: Knobs = [0.8, 256.0, 0.98, 256.0];

/// A calibrated benchmark.
#[derive(Clone, Debug)]
pub struct Calibrated {
    /// Its row of the slides, with the knobs found and the shares reached.
    pub benchmark: SosBenchmark,
    off: f64,
}

impl Calibrated {
    /// Whether both shares reached are within 10 % of the printed ones.
    pub fn is_reached(&self) -> bool {
        let row = &self.benchmark;
        let near = |reached: Option<f64>, wanted: f64| reached.is_some_and(|r| (r - wanted).abs() <= 0.1 * wanted);
        near(row.reached_reallocatable_percent, row.reallocatable_percent)
            && near(row.reached_overwrite_percent, row.overwrite_percent)
    }
}

/// Calibrates every benchmark; `report` is called with each when it is done.
///
/// # Errors
/// A run that failed.
pub fn calibrate(runner: &Runner<'_>, report: &(dyn Fn(&Calibrated) + Sync)) -> Result<Vec<Calibrated>, RunError> {
    SosBenchmark::all()
        .into_par_iter()
        .map(|benchmark| {
            let done = one(runner, &benchmark)?;
            report(&done);
            Ok(done)
        })
        .collect()
}

/// Tries both neighbours in every knob, goes to the best, and halves the steps where none is better.
fn one(runner: &Runner<'_>, benchmark: &SosBenchmark) -> Result<Calibrated, RunError> {
    let mut at = START;
    let mut step = 1.0;
    let mut best = with(runner, benchmark, at)?;
    for _ in 0..ROUNDS {
        if best.off <= NEAR || step < 0.02 {
            break;
        }
        let tries: Vec<Knobs> = (0..4)
            .flat_map(|knob| [-1.0, 1.0].map(|way| moved(at, knob, way * step)))
            .filter(|knobs| *knobs != at)
            .collect();
        let made =
            tries.par_iter().map(|&knobs| with(runner, benchmark, knobs)).collect::<Result<Vec<_>, RunError>>()?;
        let (index, nearest) =
            made.into_iter().enumerate().min_by(|a, b| a.1.off.total_cmp(&b.1.off)).expect("some were tried");
        if nearest.off < best.off {
            (at, best) = (tries[index], nearest);
        } else {
            step /= 2.0;
        }
    }
    Ok(best)
}

/// `at` with one knob changed: shares of rewrites by `way` quarters, the others by a factor of `2^way`, rounded as they are stored.
fn moved(mut at: Knobs, knob: usize, way: f64) -> Knobs {
    let to = if knob == 2 { at[2] + way / 4.0 } else { at[knob] * way.exp2() };
    at[knob] = (to.clamp(MIN_KNOBS[knob], MAX_KNOBS[knob]) * 1000.0).round() / 1000.0;
    at
}

/// The shares reached with these knobs, means over the seeds.
fn with(runner: &Runner<'_>, benchmark: &SosBenchmark, knobs: Knobs) -> Result<Calibrated, RunError> {
    let [load, burst, ratio, distance] = knobs;
    let gap = gap_us(benchmark, load);
    let seeds = runner.seeds();
    let (mut reallocatable, mut overwritten) = (0.0, 0.0);
    for &seed in &seeds {
        let mut document = document(runner, benchmark, seed, device(TIMES[0], DONE_IN[0]), &["hos"])?;
        if let Some(clone) = &mut document.flow[0].clone {
            clone.mean_gap_us = Some(gap);
            clone.burst_requests = Some(burst);
            clone.rewrite_ratio = Some(ratio);
            clone.rewrite_distance_requests = Some(distance);
        }
        let (moves, overwrites) = runner.count_one::<Shares>(document)?;
        reallocatable += moves / seeds.len() as f64;
        overwritten += overwrites / seeds.len() as f64;
    }
    let off = |reached: f64, wanted: f64| ((reached - wanted) / wanted).powi(2);
    let off = off(reallocatable, benchmark.reallocatable_percent) + off(overwritten, benchmark.overwrite_percent);
    let benchmark = SosBenchmark {
        mean_gap_us: Some(gap),
        burst_requests: Some(burst),
        rewrite_ratio: Some(ratio),
        rewrite_distance_requests: Some(distance),
        reached_reallocatable_percent: Some(reallocatable),
        reached_overwrite_percent: Some(overwritten),
        ..benchmark.clone()
    };
    Ok(Calibrated { benchmark, off })
}

/// The slides' table as a data file with the knobs found; `command` is the command line that made it.
pub fn to_csv(calibrated: &[Calibrated], command: &str) -> String {
    let mut text =
        format!("# Benchmarks of SOS, MSST 2013, slides; the columns after the first four are made by: {command}\n");
    text.push_str(
        "name,read_percent,reallocatable_percent,overwrite_percent,mean_gap_us,burst_requests,rewrite_ratio,\
         rewrite_distance_requests,reached_reallocatable_percent,reached_overwrite_percent\n",
    );
    for Calibrated { benchmark: row, .. } in calibrated {
        let stored = |value: Option<f64>| value.expect("calibrated");
        let _ = writeln!(
            text,
            "{},{:.1},{},{},{:.1},{:.3},{:.3},{:.3},{:.2},{:.2}",
            row.name,
            row.read_percent,
            row.reallocatable_percent,
            row.overwrite_percent,
            stored(row.mean_gap_us),
            stored(row.burst_requests),
            stored(row.rewrite_ratio),
            stored(row.rewrite_distance_requests),
            stored(row.reached_reallocatable_percent),
            stored(row.reached_overwrite_percent)
        );
    }
    text
}
