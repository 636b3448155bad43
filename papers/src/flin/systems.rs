//! FLIN, its stages and the baselines on 40 mixes of traces (FLN-E8 to E13), and which traces interfere (table 2).

use super::mixes::{self, TraceMix};
use super::setup::{clone, document, systems};
use crate::{Figures, RunFigures, Runner};
use flashlane_lab::results::{FairnessFigures, SchedulerResult};
use flashlane_lab::run::RunError;
use flashlane_lab::scenario::SchedulerChoice;
use flashlane_lab::workload::clone::FlinTrace;

/// The systems of section 7, its two baselines first.
pub const SYSTEMS: [&str; 6] = ["sprinkler", "sprinkler+fairness", "flin", "flin-stage1", "flin-stage3", "fcfs"];

/// Simulated time of a mix, ms: full, and in a quick run. Model 2.2.1 has 60 s; with a sixth of that and two draws of mixes the
/// whole paper stays below an hour, and the mixes, which differ by far more than seconds do, are twice as many.
const MS: (u64, u64) = (10_000, 1_000);

/// Simulated time of a mix where many settings are tried, ms.
const SWEPT_MS: u64 = 5_000;

/// Simulated time of a mix.
pub fn ms(runner: &Runner<'_>) -> u64 {
    runner.amount(MS.0, MS.1)
}

/// Simulated time of a mix where many settings are tried.
pub fn swept_ms(runner: &Runner<'_>) -> u64 {
    runner.amount(SWEPT_MS, MS.1)
}

/// The result of a mix.
pub struct MixResult {
    /// The mix.
    pub mix: TraceMix,
    /// Its figures.
    pub figures: RunFigures,
}

/// Runs the first `count` mixes of each class of every seed's draw under `schedulers` for `ms`, in the order of the draws and
/// mixes; `change` is applied to each scenario last.
///
/// # Errors
/// Bad input, or a run that failed.
pub fn run_all(
    runner: &Runner<'_>,
    count: usize,
    ms: u64,
    schedulers: &[SchedulerChoice],
    change: impl Fn(&mut flashlane_lab::scenario::Document),
) -> Result<Vec<MixResult>, RunError> {
    let of_seed = |seed| mixes::first(count, seed).into_iter().map(move |mix| (mix, seed));
    let runs = runner.seeds().into_iter().flat_map(of_seed).collect();
    run_mixes(runner, runs, ms, schedulers, change)
}

/// Runs these mixes, each with its seed.
fn run_mixes(
    runner: &Runner<'_>,
    runs: Vec<(TraceMix, u64)>,
    ms: u64,
    schedulers: &[SchedulerChoice],
    change: impl Fn(&mut flashlane_lab::scenario::Document),
) -> Result<Vec<MixResult>, RunError> {
    let scenario = |(mix, seed): (TraceMix, u64)| -> Result<_, RunError> {
        let flows = mix.traces.iter().map(|name| clone(runner, name, ms)).collect::<Result<_, _>>()?;
        let mut document = document(runner, format!("flin {}", mix.name), (seed, ms), schedulers.to_vec(), flows);
        change(&mut document);
        Ok((mix, document))
    };
    let made = runner.compare(runs.into_iter().map(scenario).collect::<Result<_, _>>()?)?;
    Ok(made.into_iter().map(|(mix, figures)| MixResult { mix, figures }).collect())
}

/// Runs FLN-E8 to E13: fairness, largest slowdown, deviation of slowdowns and weighted speedup, by class of mixes.
pub fn all(runner: &Runner<'_>) -> Result<Figures, RunError> {
    let mut figures = Figures::default();
    let made = run_all(runner, runner.amount(10, 2) as usize, ms(runner), &systems(runner, &SYSTEMS), |_| ())?;
    let overloaded =
        |made: &&MixResult| made.figures.schedulers.iter().any(|run| run.flows.iter().any(|f| f.overloaded));
    figures.note(format!(
        "{} of {} runs of mixes have overloaded flows under some scheduler: their slowdowns grow with the {} s simulated",
        made.iter().filter(overloaded).count(),
        made.len(),
        ms(runner) / 1_000
    ));
    for name in made.iter().flat_map(|one| &one.mix.traces) {
        if runner.trace(name)?.is_some() {
            figures.note(format!("{name}: a trace, not a clone"));
        }
    }
    for one in &made {
        for run in &one.figures.schedulers {
            add(&mut figures, &one.mix, run);
        }
    }
    classes(&mut figures, &made);
    orders(&mut figures);
    Ok(figures)
}

/// Adds the figures of one mix under one system.
fn add(figures: &mut Figures, mix: &TraceMix, run: &SchedulerResult) {
    let of = |what: &str| format!("{what}_{}", mix.class);
    let mut push = |what: &str, value: f64| figures.push(&[&of(what), &run.name, &mix.name], value);
    if let Some(fairness) = &run.fairness {
        push("fairness", fairness.fairness);
        push("max_slowdown", fairness.max_slowdown);
        push("stdev", fairness.stdev);
        push("weighted_speedup", fairness.weighted_speedup);
    }
    push("overloaded_flows", run.flows.iter().filter(|flow| flow.overloaded).count() as f64);
    push("units_busy_percent", 100.0 * run.device.chip_utilisation);
    push("collections_forced", run.device.gc.forced as f64);
    for flow in &run.flows {
        let path = format!("{} {}", mix.name, flow.name);
        figures.push_some(&[&of("slowdown"), &run.name, &path], flow.slowdown);
    }
}

/// A measure of a mix under a system.
type Measure = fn(&FairnessFigures) -> f64;

/// The measures of a class of mixes, by name.
const MEASURES: [(&str, Measure); 4] = [
    ("fairness", |f| f.fairness),
    ("max_slowdown", |f| f.max_slowdown),
    ("stdev", |f| f.stdev),
    ("weighted_speedup", |f| f.weighted_speedup),
];

/// Adds the mean of each class of mixes under each system, and of FLIN's gains over its baselines mix by mix: figures with a value
/// for each mix, so that their intervals are over the mixes.
fn classes(figures: &mut Figures, made: &[MixResult]) {
    figures.note("class_* and flin_over_*: values and confidence intervals are over the mixes of a class".into());
    for one in made {
        let class = one.mix.class.to_string();
        let of = |system: &str| {
            let run = one.figures.schedulers.iter().find(|run| run.name == system);
            run.and_then(|run| run.fairness.as_ref())
        };
        for (what, value) in MEASURES {
            for system in SYSTEMS {
                figures.push_some(&[&format!("class_{what}"), system, &class], of(system).map(value));
            }
            for base in &SYSTEMS[..2] {
                let Some((own, against)) = of("flin").zip(of(base)) else { continue };
                figures.push(&[&format!("flin_over_{what}"), base, &class], value(own) / value(against));
            }
        }
    }
}

/// The mean of a class under the system of a given name.
type Means<'a> = dyn Fn(&str) -> f64 + 'a;

/// FLN-E13: the number of classes in which the means of the systems have the order of figure 14.
fn orders(figures: &mut Figures) {
    let classes = [25, 50, 75, 100];
    let mean = |what: &str, class: u32, system: &str| {
        let table = format!("{what}_{class}");
        let of = |path: &[String]| path[0] == table && path[1] == system;
        let values: Vec<f64> =
            figures.iter().filter(|(path, _)| of(path)).map(|(_, v)| crate::mean_and_ci95(v).0).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let count = |what: &str, holds: fn(&Means<'_>) -> bool| {
        classes.iter().filter(|&&class| holds(&|system| mean(what, class, system))).count() as f64
    };
    let mut found = Vec::new();
    for what in ["fairness", "weighted_speedup"] {
        found.push((
            what,
            "flin_over_its_parts",
            count(what, |of| of("flin") > of("flin-stage1").max(of("flin-stage3"))),
        ));
        found.push((
            what,
            "parts_over_sprinkler",
            count(what, |of| of("flin-stage1").min(of("flin-stage3")) > of("sprinkler")),
        ));
        found.push((what, "stage1_over_stage3", count(what, |of| of("flin-stage1") > of("flin-stage3"))));
    }
    found.push((
        "max_slowdown",
        "stage3_below_stage1",
        count("max_slowdown", |of| of("flin-stage3") < of("flin-stage1")),
    ));
    for (what, order, classes) in found {
        figures.push(&["classes_in_order", what, order], classes);
    }
}

/// Runs table 2: how long each trace alone keeps the units busy.
pub fn interference(runner: &Runner<'_>) -> Result<Figures, RunError> {
    let alone = |workload: FlinTrace| -> Result<_, RunError> {
        let flow = clone(runner, &workload.name, ms(runner))?;
        let name = format!("flin {}", workload.name);
        let document =
            document(runner, name, (runner.first_seed(), ms(runner)), systems(runner, &["sprinkler"]), vec![flow]);
        Ok((workload, document))
    };
    let runs = FlinTrace::all().into_iter().map(alone).collect::<Result<_, _>>()?;
    let mut figures = Figures::default();
    let mut alike = 0;
    for (workload, made) in runner.compare(runs)? {
        let run = &made.schedulers[0];
        let high = workload.interference == flashlane_lab::workload::clone::Interference::High;
        let busy = 100.0 * run.device.chip_utilisation;
        alike += u32::from((busy > 8.0) == high);
        figures.push(&["table2", "busy_percent", &workload.name], busy);
        figures.push(&["table2", "high_in_table", &workload.name], f64::from(u8::from(high)));
        figures.push_some(
            &["table2", "mean_response_ms", &workload.name],
            run.total.all.as_ref().map(|f| f.mean_ns / 1e6),
        );
    }
    figures.push(&["table2_alike"], f64::from(alike));
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, Setting, Settings};
    use flashlane_lab::scenario::Limit;

    /// A very short run of a mix has every figure of every system, and yields the same ones again, under either setting.
    #[test]
    fn a_mix_comes_to_figures() {
        let plain = figures_of_a_mix(Setting::Plain);
        assert_ne!(plain.to_json(), figures_of_a_mix(Setting::Chosen).to_json());
    }

    fn figures_of_a_mix(setting: Setting) -> Figures {
        let settings = Settings { quick: true, seeds: 1, first_seed: 1, traces: None, setting };
        let runner = Runner::new(&settings, Place::default());
        let make = || {
            let mix = mixes::first(1, 1)[3].clone();
            let runs = [1, 2].map(|seed| (mix.clone(), seed)).to_vec();
            let shorter = |document: &mut flashlane_lab::scenario::Document| {
                document.device.geometry.blocks_per_plane = Some(64);
                document.device.ftl.user_gb = Some(5);
                document.device.gc.hard_blocks = Some(1);
                document.device.front.depth = Some(Limit::At(1_024));
                for clone in document.flow.iter_mut().filter_map(|flow| flow.clone.as_mut()) {
                    clone.working_set_bytes = Some(100_000_000);
                }
            };
            let mut figures = Figures::default();
            let made = run_mixes(&runner, runs, 300, &systems(&runner, &SYSTEMS), shorter).expect("runs");
            classes(&mut figures, &made);
            for made in made {
                made.figures.schedulers.iter().for_each(|run| add(&mut figures, &made.mix, run));
            }
            figures
        };
        let figures = make();
        for what in ["fairness_100", "max_slowdown_100", "stdev_100", "weighted_speedup_100"] {
            for system in SYSTEMS {
                let mean = figures.mean(&[what, system, "100-01"]);
                assert!(mean.is_some_and(|mean| mean > 0.0), "{what} {system}: {mean:?}");
            }
        }
        let fairness = figures.mean(&["fairness_100", "flin", "100-01"]).expect("measured");
        assert!(fairness <= 1.0);
        let seeds = figures.iter().map(|(_, values)| values.len()).collect::<Vec<_>>();
        assert!(seeds.iter().all(|&count| count == 2), "{seeds:?}");
        assert_eq!(figures.mean(&["class_fairness", "flin", "100"]), Some(fairness));
        assert_eq!(make().to_json(), figures.to_json());
        figures
    }

    #[test]
    fn orders_are_counted_by_class() {
        let mut figures = Figures::default();
        for (class, flin) in [(25, 0.9), (50, 0.8), (75, 0.3), (100, 0.2)] {
            for (system, value) in [("sprinkler", 0.1), ("flin-stage1", 0.5), ("flin-stage3", 0.4), ("flin", flin)] {
                for what in ["fairness", "weighted_speedup", "max_slowdown"] {
                    figures.push(&[&format!("{what}_{class}"), system, "mix"], value);
                }
            }
        }
        orders(&mut figures);
        let count = |what, order| figures.mean(&["classes_in_order", what, order]);
        assert_eq!(count("fairness", "flin_over_its_parts"), Some(2.0));
        assert_eq!(count("weighted_speedup", "parts_over_sprinkler"), Some(4.0));
        assert_eq!(count("fairness", "stage1_over_stage3"), Some(4.0));
        assert_eq!(count("max_slowdown", "stage3_below_stage1"), Some(4.0));
    }
}
