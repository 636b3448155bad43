//! FLIN's parameters, one at a time (FLN-E14 to E17), on the first two mixes of every class.

use super::setup::with;
use super::systems::{run_all, swept_ms};
use crate::{Figures, Runner};
use flashlane_lab::run::RunError;

/// A parameter: the name of its figure and its name in the catalogue, the conversion between the two, its levels.
struct Parameter {
    name: &'static str,
    key: &'static str,
    scale: u64,
    levels: &'static [u64],
}

const PARAMETERS: [Parameter; 5] = [
    Parameter { name: "epoch_ms", key: "epoch_us", scale: 1_000, levels: &[1, 3, 10, 30, 100, 300, 1_000] },
    Parameter { name: "alpha_read_mb_per_s", key: "alpha_read", scale: 1_000_000, levels: &[4, 8, 16, 32, 64, 128] },
    Parameter { name: "f_thr_percent", key: "fairness_threshold", scale: 10, levels: &[10, 20, 40, 60, 80, 95] },
    Parameter { name: "gc_flin_pages", key: "gc_pages", scale: 1, levels: &[256, 512, 1_024, 2_048, 4_096, 8_192] },
    Parameter { name: "rate_window_epochs", key: "rate_window", scale: 1, levels: &[1, 10, 100] },
];

/// Runs FLN-E14 to E17, and the rate window of D-FLN-03.
pub fn sweeps(runner: &Runner<'_>) -> Result<Figures, RunError> {
    let mut figures = Figures::default();
    let choice = |parameter: &Parameter, level: u64| {
        with(runner, &format!("{} {level}", parameter.name), "flin", &[(parameter.key, level * parameter.scale)])
    };
    for parameter in &PARAMETERS {
        let choices: Vec<_> = parameter.levels.iter().map(|&level| choice(parameter, level)).collect();
        for made in run_all(runner, runner.amount(2, 1) as usize, swept_ms(runner), &choices, |_| ())? {
            for (run, level) in made.figures.schedulers.iter().zip(parameter.levels) {
                let Some(fairness) = &run.fairness else { continue };
                let path = |what| [what, parameter.name, &level.to_string(), &made.mix.name].map(str::to_owned);
                let mut push = |what, value| {
                    let path = path(what);
                    figures.push(&path.each_ref().map(String::as_str), value);
                };
                push("parameter_fairness", fairness.fairness);
                push("parameter_weighted_speedup", fairness.weighted_speedup);
                if made.mix.class >= 50 {
                    push("parameter_fairness_half_high", fairness.fairness);
                }
            }
        }
    }
    Ok(figures)
}
