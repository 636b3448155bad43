//! The knobs of the clones: the slides print shares of writes, and neither rates nor addresses (model 9.3).
//!
//! For each benchmark, load, burst size, share and distance of rewrites are searched until HOS's re-allocatable and overwritten
//! shares are the printed ones. There are four knobs for two shares, so other clones reach them too (D-SOS-15).

use rayon::prelude::*;

use flashlane_papers::Runner;
use flashlane_papers::sos::shares::Shares;
use flashlane_papers::sos::workloads::{DONE_IN, TIMES, device, document, gap_us};
use flashlane_scenario::workload::clone::SosBenchmark;
use flashlane_sim::RunError;

/// Sum of squares of the relative distances from the printed shares at which the search stops: 2 % each.
const NEAR: f64 = 0.0008;
/// The most rounds of tries.
const ROUNDS: usize = 30;

/// The knobs: share of the time the chips work, requests of a burst, share of rewrites, their distance in requests.
type Knobs = [f64; 4];
const START: Knobs = [0.1, 4.0, 0.5, 16.0];
const MIN_KNOBS: Knobs = [0.01, 1.0, 0.02, 1.0];
const MAX_KNOBS: Knobs = [0.8, 256.0, 0.98, 256.0];

/// What was tried for a benchmark.
#[derive(Clone, Copy, Debug)]
struct Tried {
    gap_us: f64,
    knobs: Knobs,
    /// Re-allocatable and overwritten writes in 100, means over the seeds.
    reached: [f64; 2],
    /// Sum of squares of their relative distances from the printed ones.
    off: f64,
}

/// The slides' table with the knobs of every benchmark.
pub fn find(runner: &Runner<'_>, told: &(dyn Fn(String, bool) + Sync)) -> Result<String, RunError> {
    let row = |benchmark: SosBenchmark| {
        let Tried { gap_us, knobs: [_, burst, ratio, distance], reached, .. } = one(runner, &benchmark)?;
        let SosBenchmark { name, read_percent, reallocatable_percent, overwrite_percent, .. } = benchmark;
        let wanted = [reallocatable_percent, overwrite_percent];
        let is_reached = reached.iter().zip(wanted).all(|(r, wanted)| (r - wanted).abs() <= 0.1 * wanted);
        let [moves, overwrites] = reached;
        let shares = format!("{moves:.1} and {overwrites:.1} % for {reallocatable_percent} and {overwrite_percent}");
        told(format!("{name}: {shares}"), is_reached);
        Ok(format!(
            "{name},{read_percent:.1},{reallocatable_percent},{overwrite_percent},{gap_us:.1},{burst:.3},{ratio:.3},\
             {distance:.3},{moves:.2},{overwrites:.2}\n"
        ))
    };
    let rows = SosBenchmark::all().into_par_iter().map(row).collect::<Result<Vec<String>, RunError>>()?;
    Ok(String::from(HEADER) + &rows.concat())
}

const HEADER: &str = "\
# Benchmarks of SOS, MSST 2013, slides; the columns after the first four are made by: flashlane-calibration sos
name,read_percent,reallocatable_percent,overwrite_percent,mean_gap_us,burst_requests,rewrite_ratio,\
rewrite_distance_requests,reached_reallocatable_percent,reached_overwrite_percent
";

/// Tries both neighbours in every knob, goes to the best, and halves the steps where none is better.
fn one(runner: &Runner<'_>, benchmark: &SosBenchmark) -> Result<Tried, RunError> {
    let mut step = 1.0;
    let mut best = with(runner, benchmark, START)?;
    for _ in 0..ROUNDS {
        if best.off <= NEAR || step < 0.02 {
            break;
        }
        let tries: Vec<Knobs> = (0..4)
            .flat_map(|knob| [-1.0, 1.0].map(|way| moved(best.knobs, knob, way * step)))
            .filter(|knobs| *knobs != best.knobs)
            .collect();
        let made =
            tries.par_iter().map(|&knobs| with(runner, benchmark, knobs)).collect::<Result<Vec<_>, RunError>>()?;
        let nearest = made.into_iter().min_by(|a, b| a.off.total_cmp(&b.off)).expect("some were tried");
        if nearest.off < best.off {
            best = nearest;
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
fn with(runner: &Runner<'_>, benchmark: &SosBenchmark, knobs: Knobs) -> Result<Tried, RunError> {
    let [load, burst, ratio, distance] = knobs;
    let gap_us = gap_us(benchmark, load);
    let of_seed = |seed| {
        let mut document = document(runner, benchmark, seed, device(TIMES[0], DONE_IN[0]), &["hos"])?;
        if let Some(clone) = &mut document.flow[0].clone {
            clone.mean_gap_us = Some(gap_us);
            clone.burst_requests = Some(burst);
            clone.rewrite_ratio = Some(ratio);
            clone.rewrite_distance_requests = Some(distance);
        }
        Ok(((), document))
    };
    let made = runner.count::<Shares, ()>(runner.seeds().into_iter().map(of_seed).collect::<Result<_, RunError>>()?)?;
    let mut reached = [0.0; 2];
    for ((), (moves, overwrites)) in &made {
        reached[0] += moves / made.len() as f64;
        reached[1] += overwrites / made.len() as f64;
    }
    let wanted = [benchmark.reallocatable_percent, benchmark.overwrite_percent];
    let off = |at: usize| ((reached[at] - wanted[at]) / wanted[at]).powi(2);
    Ok(Tried { gap_us, knobs, reached, off: off(0) + off(1) })
}
