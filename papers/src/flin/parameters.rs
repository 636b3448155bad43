//! FLIN's parameters, one at a time (FLN-E14 to E17), on the first two mixes of every class.
//!
//! GC_FLIN is swept on larger planes too: on the experiments' drive half of its levels lie above the start of collection.

use super::setup::{larger, with};
use super::systems::{run_all, swept_ms};
use crate::{Measurements, Runner};
use flashlane_sim::RunError;

/// A parameter: the name of its figure and its name in the catalogue, the conversion between the two, its levels; and how many times as
/// large the drive is.
struct Parameter {
    name: &'static str,
    key: &'static str,
    scale: u64,
    levels: &'static [u64],
    larger: u32,
}

/// The levels of GC_FLIN, pages.
const GC_FLIN: &[u64] = &[256, 512, 1_024, 2_048, 4_096, 8_192];

/// A parameter on the experiments' drive.
const fn swept(name: &'static str, key: &'static str, scale: u64, levels: &'static [u64]) -> Parameter {
    Parameter { name, key, scale, levels, larger: 1 }
}

const PARAMETERS: [Parameter; 6] = [
    swept("epoch_ms", "epoch_us", 1_000, &[1, 3, 10, 30, 100, 300, 1_000]),
    swept("alpha_read_mb_per_s", "alpha_read", 1_000_000, &[4, 8, 16, 32, 64, 128]),
    swept("f_thr_percent", "fairness_threshold", 10, &[10, 20, 40, 60, 80, 95]),
    swept("gc_flin_pages", "gc_pages", 1, GC_FLIN),
    Parameter { larger: 4, ..swept("gc_flin_pages_of_1024_blocks", "gc_pages", 1, GC_FLIN) },
    swept("rate_window_epochs", "rate_window", 1, &[1, 10, 100]),
];

/// Runs FLN-E14 to E17, and the rate window of D-FLN-03.
pub fn sweeps(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    let choice = |parameter: &Parameter, level: u64| {
        with(runner, &format!("{} {level}", parameter.name), "flin", &[(parameter.key, level * parameter.scale)])
    };
    for parameter in &PARAMETERS {
        let choices: Vec<_> = parameter.levels.iter().map(|&level| choice(parameter, level)).collect();
        let larger = |document: &mut _| larger(document, parameter.larger);
        for made in run_all(runner, runner.amount(2, 1) as usize, swept_ms(runner), &choices, larger)? {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flin::setup::{document, pages_at, synthetic};
    use crate::{Place, Setting, Settings};
    use flashlane_scenario::Scenario;

    /// On planes of 1,024 blocks all levels of GC_FLIN lie below the start of collection; on the experiments' drive the two highest lie
    /// above it, so that writes pay from the start.
    #[test]
    fn the_levels_of_gc_flin_lie_below_the_start_of_collection_on_larger_planes() {
        let settings = Settings::quick(Setting::Chosen);
        let runner = Runner::new(&settings, Place::default());
        let above = |factor| {
            let flow = synthetic("any", 1, pages_at(1.0, 1.0));
            let mut document = document(&runner, "drive".into(), (1, 1), Vec::new(), vec![flow]);
            larger(&mut document, factor);
            let config = Scenario::from_document("drive", document).device_config().expect("a drive");
            let start = u64::from(config.gc.start_blocks) * u64::from(config.geometry.pages_per_block);
            GC_FLIN.iter().filter(|&&pages| pages >= start).count()
        };
        assert_eq!(
            PARAMETERS.iter().filter(|of| of.key == "gc_pages").map(|of| above(of.larger)).collect::<Vec<_>>(),
            [2, 0]
        );
    }
}
