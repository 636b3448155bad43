//! The bursts and the unevenness of the clones in whole pages at other rates of bursts than model 9.4's: the paper gives no rate.
//!
//! The gap between requests changes, so that bursts arrive at the rate; their factor and their share of the time stay. The exponent is chosen
//! by the shape of slack with the first seed; then the length of a burst is searched with all seeds. What schedulers gain plays no part.

use rayon::prelude::*;

use flashlane_papers::slacker::workloads::work_us;
use flashlane_papers::{Runner, Setting, Settings};
use flashlane_scenario::workload::clone::{SlackerBursts, SlackerTrace};
use flashlane_sim::RunError;

use crate::slacker_bursts::{NEAR, SlackMs, Tried, better, slack_ms, wanted};

/// Rates of bursts over what the drive can take.
const RATES: [f64; 8] = [4.8, 3.0, 2.4, 1.67, 1.2, 1.0, 0.6, 0.3];
/// The rate of a burst over the mean rate (model 9.4).
const FACTOR: f64 = 10.0;
/// The exponents that are tried.
const THETAS: [f64; 4] = [0.0, 0.3, 0.6, 1.0];
/// The longest burst that is tried, requests: the 100,000 measured requests have 20 of them.
const LONGEST: f64 = 5_000.0;
/// The most lengths tried for an exponent, and at the end with all seeds.
const STEPS: usize = 7;

/// Logarithms: of a length, and of the slack it leads to over what is wanted.
type Point = (f64, f64);

/// The bursts and the unevenness of every workload of Table 2 at every rate.
pub fn find(runner: &Runner<'_>, told: &(dyn Fn(String, bool) + Sync)) -> Result<String, RunError> {
    let of_workload = |workload: SlackerTrace| {
        let mut found = Vec::new();
        let mut start = SlackerBursts::named(&workload.name)?.burst_requests.min(LONGEST);
        for rate in RATES {
            let best = one(runner, &workload, rate, start)?;
            // The next search begins here: slower bursts need more requests for the same slack.
            start = best.burst;
            let Tried { wanted, gap_us, burst, theta, reached } = best;
            let slack = format!("{:.2} ± {:.2} ms for {} ± {}", reached.mean, reached.sd, wanted.mean, wanted.sd);
            let name = &workload.name;
            told(format!("{rate}, {name}: bursts of {burst:.0}, exponent {theta} give {slack}"), best.is_reached());
            let row = format!("{rate},{name},{gap_us:.1},{burst:.1},{theta},{:.4},{:.4}\n", reached.mean, reached.sd);
            found.push(row);
        }
        Ok(found)
    };
    let made = SlackerTrace::all().into_par_iter().map(of_workload).collect::<Result<Vec<_>, RunError>>()?;
    let by_rate = (0..RATES.len()).flat_map(|at| made.iter().map(move |rows| rows[at].as_str()));
    Ok(by_rate.fold(String::from(HEADER), |text, row| text + row))
}

const HEADER: &str = "\
# Clones of Slacker's Table 2 in whole pages at other rates of bursts; made by: flashlane-calibration slacker-burst-rates
rate,name,mean_gap_us,burst_requests,lane_theta,reached_slack_ms,reached_slack_sd_ms
";

/// The exponent with which deviation over mean is nearest to Table 2's at the length `start` with the first seed, and the length that all
/// seeds need; the next nearest where that reaches no length.
fn one(runner: &Runner<'_>, workload: &SlackerTrace, rate: f64, start: f64) -> Result<Tried, RunError> {
    let first = Settings { seeds: 1, ..runner.settings.clone() };
    let first = runner.under(&first);
    let mut thetas = Vec::new();
    for theta in THETAS {
        let tried = at(&first, workload, rate, theta, start)?;
        let ratio = |slack: SlackMs| slack.sd / slack.mean.max(1e-6);
        thetas.push(((ratio(tried.reached) / ratio(tried.wanted)).ln().abs(), theta));
    }
    thetas.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut best: Option<Tried> = None;
    for (_, theta) in thetas {
        let found = length(runner, workload, rate, theta, best.map_or(start, |best| best.burst))?;
        if best.is_none_or(|best| better(&found, &best)) {
            best = Some(found);
        }
        if found.is_reached() {
            break;
        }
    }
    Ok(best.expect("an exponent was tried"))
}

/// What these bursts lead to.
fn at(runner: &Runner<'_>, workload: &SlackerTrace, rate: f64, theta: f64, burst: f64) -> Result<Tried, RunError> {
    // Rounded as they are stored.
    let rounded = |value: f64| (value * 10.0).round() / 10.0;
    let gap_us = rounded(work_us(workload, Setting::Chosen) * FACTOR / rate);
    let burst = rounded(burst);
    let reached = slack_ms(runner, workload, gap_us, burst, theta)?;
    Ok(Tried { wanted: wanted(workload), gap_us, burst, theta, reached })
}

/// Finds the length of bursts by linear interpolation of logarithms, from `start`; the longest, if that is too short.
fn length(runner: &Runner<'_>, workload: &SlackerTrace, rate: f64, theta: f64, start: f64) -> Result<Tried, RunError> {
    let (mut below, mut above): (Option<Point>, Option<Point>) = (None, None);
    let mut burst: f64 = start;
    let mut best: Option<Tried> = None;
    for _ in 0..STEPS {
        let tried = at(runner, workload, rate, theta, burst)?;
        burst = tried.burst;
        if best.is_none_or(|best| tried.off() < best.off()) {
            best = Some(tried);
        }
        let miss = (tried.reached.mean.max(1e-6) / tried.wanted.mean).ln();
        if tried.off() <= NEAR || (miss < 0.0 && burst >= LONGEST) || (miss > 0.0 && burst <= 1.0) {
            break;
        }
        if miss < 0.0 {
            below = Some((burst.ln(), miss));
        } else {
            above = Some((burst.ln(), miss));
        }
        burst = match (below, above) {
            (Some((a, _)), Some((b, _))) if (b - a).abs() < 0.01 => break,
            (Some((a, under)), Some((b, over))) => (a - (b - a) * under / (over - under)).exp(),
            _ => (burst * (-1.2 * miss).exp()).clamp(1.0, LONGEST),
        };
    }
    Ok(best.expect("at least one step"))
}
