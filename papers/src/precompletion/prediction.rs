//! How well means of three observations predict (PRE-E2): drawn times of table 1's components, and the modelled prototype.

use flashlane_core::Duration;
use flashlane_host::average::Average3;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::setup::{document, hosts, thread, window};
use crate::{Measurements, Runner};
use flashlane_scenario::WindowKey;
use flashlane_sim::RunError;

/// A component of table 1: its name, mean and standard deviation, ns.
const COMPONENTS: [(&str, f64, f64); 2] = [("flash", 352_000.0, 660.0), ("dma", 9_000.0, 260.0)];

/// Kinds of noise: each time is `rho` times the deviation of the last one and fresh noise besides; of a share of the times,
/// 5 us more.
const NOISES: [(&str, f64, f64); 4] =
    [("independent", 0.0, 0.0), ("ar_minus_half", -0.5, 0.0), ("ar_half", 0.5, 0.0), ("spikes", 0.0, 0.01)];

/// Runs PRE-E2.
pub fn errors(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    let draws = runner.amount(1_000_000, 100_000);
    for seed in runner.seeds() {
        for (component, mean, sd) in COMPONENTS {
            for (noise, rho, spikes) in NOISES {
                let mut rng = Pcg64Mcg::seed_from_u64(seed);
                let error = drawn(&mut rng, draws, [mean, sd, rho, spikes]);
                figures.push(&["prediction", component, noise, "rmse_us"], error.rmse_ns / 1e3);
                figures.push(&["prediction", component, noise, "rmse_over_sd"], error.rmse_ns / error.sd_ns);
                figures.push(&["prediction", component, noise, "last_value_over_sd"], error.last_rmse_ns / error.sd_ns);
                figures.push(&["prediction", component, noise, "mean_prediction_us"], error.mean_ns / 1e3);
            }
        }
    }
    let requests = runner.amount(100_000, 10_000);
    let one = |seed| ((), document("E2", seed, window(WindowKey::Ns(16_000)), thread(requests)));
    for ((), figures_of_host) in hosts(runner, runner.seeds().into_iter().map(one).collect())? {
        if let Some(pre) = figures_of_host.precompletion {
            figures.push_some(&["prediction", "device", "rmse_us"], pre.at_issue.rmse_ns.map(|ns| ns / 1e3));
            figures
                .push_some(&["prediction", "device", "beyond_1us_percent"], pre.at_issue.beyond_1us.map(|s| s * 100.0));
        }
    }
    Ok(figures)
}

/// Errors over a series of times.
struct Seen {
    rmse_ns: f64,
    last_rmse_ns: f64,
    mean_ns: f64,
    sd_ns: f64,
}

/// Draws times with this mean, deviation, correlation and share of spikes, and predicts each from those before it.
fn drawn(rng: &mut Pcg64Mcg, draws: u64, [mean, sd, rho, spikes]: [f64; 4]) -> Seen {
    let fresh = sd * (1.0 - rho * rho).sqrt();
    let (mut deviation, mut last) = (0.0, None);
    let mut average = Average3::default();
    let (mut count, mut squares, mut last_squares, mut predictions, mut spread) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for _ in 0..draws {
        deviation = rho * deviation + fresh * normal(rng);
        let spike = if uniform(rng) < spikes { 5_000.0 } else { 0.0 };
        let time = (mean + deviation + spike).round();
        if let (Some(predicted), Some(last)) = (average.mean(), last) {
            let predicted = predicted.ns() as f64;
            let before: f64 = last;
            count += 1.0;
            squares += (predicted - time) * (predicted - time);
            last_squares += (before - time) * (before - time);
            predictions += predicted;
            spread += (time - mean) * (time - mean);
        }
        last = Some(time);
        average.observe(Duration::from_ns(time as u64));
    }
    let root = |sum: f64| (sum / count).sqrt();
    Seen { rmse_ns: root(squares), last_rmse_ns: root(last_squares), mean_ns: predictions / count, sd_ns: root(spread) }
}

/// Uniform from 0 to 1.
fn uniform(rng: &mut Pcg64Mcg) -> f64 {
    f64::from(rng.next_u32()) / (u64::from(u32::MAX) + 1) as f64
}

/// Approximately Gaussian: the sum of twelve uniform numbers less six has unit variance.
fn normal(rng: &mut Pcg64Mcg) -> f64 {
    (0..12).map(|_| uniform(rng)).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A-PRE-07: with independent noise the error of a mean of three is sqrt(4/3) of the deviation.
    #[test]
    fn the_error_of_a_mean_of_three() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let seen = drawn(&mut rng, 400_000, [352_000.0, 660.0, 0.0, 0.0]);
        let (mean_of_three, last) = (seen.rmse_ns / seen.sd_ns, seen.last_rmse_ns / seen.sd_ns);
        assert!((mean_of_three - 1.1547).abs() < 0.004 && (last - 2f64.sqrt()).abs() < 0.005, "{mean_of_three} {last}");
        assert!((seen.rmse_ns - 762.0).abs() < 4.0 && (seen.last_rmse_ns - 933.0).abs() < 4.0);
    }
}
