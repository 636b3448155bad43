//! FLIN, its stages and the baselines on 40 mixes of traces (FLN-E8 to E13), and which traces interfere (table 2).

use super::collectors;
use super::measures::{MEASURES, MixResult, SYSTEMS};
use super::mixes::{self, TraceMix};
use super::overload;
use super::setup::{clone, document, systems};
use super::variants;
use crate::{Measurements, Runner, falls_behind};
use flashlane_report::results::SchedulerResult;
use flashlane_scenario::SchedulerChoice;
use flashlane_scenario::workload::clone::{FlinTrace, Interference};
use flashlane_sim::RunError;

/// Simulated time of a mix of E8 to E13, ms (model 2.2.1): long enough that a mix which the drive cannot serve is told from one whose
/// bursts it works off.
const MIX_MS: u64 = 60_000;

/// Simulated time of traces elsewhere, ms: full, and of any in a quick run.
const MS: (u64, u64) = (10_000, 1_000);

/// Simulated time of a mix where many settings are tried, ms.
const SWEPT_MS: u64 = 5_000;

/// Simulated time of a mix of E8 to E13.
fn mix_ms(runner: &Runner<'_>) -> u64 {
    runner.amount(if runner.settings.variant.is_some() { variants::MS } else { MIX_MS }, MS.1)
}

/// Simulated time of traces where neither [`mix_ms`] nor [`swept_ms`] is meant.
pub fn ms(runner: &Runner<'_>) -> u64 {
    runner.amount(MS.0, MS.1)
}

/// Simulated time of a mix where many settings are tried.
pub fn swept_ms(runner: &Runner<'_>) -> u64 {
    runner.amount(SWEPT_MS, MS.1)
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
    change: impl Fn(&mut flashlane_scenario::Document),
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
    change: impl Fn(&mut flashlane_scenario::Document),
) -> Result<Vec<MixResult>, RunError> {
    let scenario = |(mix, seed): (TraceMix, u64)| -> Result<_, RunError> {
        let flows = mix.traces.iter().map(|name| clone(runner, name, ms)).collect::<Result<_, _>>()?;
        let mut document = document(runner, format!("flin {}", mix.name), (seed, ms), schedulers.to_vec(), flows);
        change(&mut document);
        if let Some(variant) = runner.settings.variant {
            (variant.change)(&mut document, variant.name);
        }
        Ok((mix, document))
    };
    let made = runner.compare(runs.into_iter().map(scenario).collect::<Result<_, _>>()?)?;
    Ok(made.into_iter().map(|(mix, figures)| MixResult { mix, figures }).collect())
}

/// Runs FLN-E8 to E13: fairness, largest slowdown, deviation of slowdowns and weighted speedup, by class of mixes.
pub fn all(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    let count = if runner.settings.variant.is_some() { variants::MIXES } else { 10 };
    let rows = [systems(runner, &SYSTEMS), collectors::rows(runner)].concat();
    let made = run_all(runner, runner.amount(count, 2) as usize, mix_ms(runner), &rows, |_| ())?;
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
    overload::add(&mut figures, &made, mix_ms(runner));
    Ok(figures)
}

/// Adds the figures of one mix under one system.
fn add(figures: &mut Measurements, mix: &TraceMix, run: &SchedulerResult) {
    let of = |what: &str| format!("{what}_{}", mix.class);
    let mut push = |what: &str, value: f64| figures.push(&[&of(what), &run.name, &mix.name], value);
    if let Some(fairness) = &run.fairness {
        MEASURES.iter().for_each(|(what, value)| push(what, value(fairness)));
    }
    push("overloaded_flows", run.flows.iter().filter(|flow| falls_behind(flow)).count() as f64);
    push("units_busy_percent", 100.0 * run.device.chip_utilisation);
    push("collections_forced", run.device.gc.forced as f64);
    for flow in &run.flows {
        let path = format!("{} {}", mix.name, flow.name);
        figures.push_some(&[&of("slowdown"), &run.name, &path], flow.slowdown);
        let high = FlinTrace::named(&flow.name).is_ok_and(|trace| trace.interference == Interference::High);
        let table = of(if high { "response_ms_high" } else { "response_ms_low" });
        figures.push_some(&[&table, &run.name, &path], flow.figures.all.as_ref().map(|all| all.mean_ns / 1e6));
    }
}

/// Adds the mean of each class of mixes under each system, and of FLIN's gains over its baselines mix by mix: figures with a value
/// for each mix, so that their intervals are over the mixes.
fn classes(figures: &mut Measurements, made: &[MixResult]) {
    figures.note("class_* and flin_over_*: values and confidence intervals are over the mixes of a class".into());
    for one in made {
        let class = one.mix.class.to_string();
        let of = |system: &str| {
            let run = one.figures.schedulers.iter().find(|run| run.name == system);
            run.and_then(|run| run.fairness.as_ref())
        };
        for (what, value) in MEASURES {
            for run in &one.figures.schedulers {
                let system = run.name.as_str();
                figures.push_some(&[&format!("class_{what}"), system, &class], of(system).map(value));
            }
            for base in SYSTEMS[..2].iter().chain(&collectors::FLIN_COLLECTS[..2]) {
                let Some((own, baseline)) = of("flin").zip(of(base)) else { continue };
                figures.push(&[&format!("flin_over_{what}"), base, &class], value(own) / value(baseline));
            }
        }
    }
}

/// Runs table 2: how long each trace alone keeps the units busy.
pub fn interference(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let alone = |workload: FlinTrace| -> Result<_, RunError> {
        let flow = clone(runner, &workload.name, ms(runner))?;
        let name = format!("flin {}", workload.name);
        let document =
            document(runner, name, (runner.first_seed(), ms(runner)), systems(runner, &["sprinkler"]), vec![flow]);
        Ok((workload, document))
    };
    let runs = FlinTrace::all().into_iter().map(alone).collect::<Result<_, _>>()?;
    let mut figures = Measurements::default();
    for (workload, made) in runner.compare(runs)? {
        let run = &made.schedulers[0];
        let high = workload.interference == Interference::High;
        let busy = 100.0 * run.device.chip_utilisation;
        figures.push(&["table2", "busy_percent", &workload.name], busy);
        figures.push(&["table2", "high_in_table", &workload.name], f64::from(u8::from(high)));
        figures.push_some(
            &["table2", "mean_response_ms", &workload.name],
            run.total.all.as_ref().map(|f| f.mean_ns / 1e6),
        );
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, Setting, Settings};
    use flashlane_report::results::FlowResult;
    use flashlane_scenario::{Document, Limit};

    /// A mix is overloaded if no system of figures 10 to 12 keeps up with it, and then it is in no figure of those served.
    #[test]
    fn a_mix_that_one_system_keeps_up_with_counts() {
        let settings = Settings::quick(Setting::Plain);
        let runner = Runner::new(&settings, Place::default());
        let heavy = mixes::first(2, 1).split_off(6);
        let runs = heavy.into_iter().map(|mix| (mix, 1)).collect();
        let mut made = run_mixes(&runner, runs, 300, &systems(&runner, &SYSTEMS[..3]), small).expect("runs");
        let set = |flow: &mut FlowResult, falls_behind: bool| {
            let figures = &mut flow.figures;
            (figures.issued, figures.first_arrival_ns, figures.last_arrival_ns) = (1_000, Some(0), 100);
            figures.last_completion_ns = if falls_behind { 106 } else { 105 };
        };
        made[1].figures.schedulers.iter_mut().flat_map(|run| &mut run.flows).for_each(|flow| set(flow, false));
        let mut served = |overloaded: [bool; 3]| {
            for (run, overloaded) in made[0].figures.schedulers.iter_mut().zip(overloaded) {
                run.flows.iter_mut().for_each(|flow| set(flow, false));
                set(&mut run.flows[2], overloaded);
            }
            let mut figures = Measurements::default();
            overload::add(&mut figures, &made, 300);
            let kept = ["100-01", "100-02"].map(|mix| figures.mean(&["served_fairness", "flin", mix]).is_some());
            let percent = figures.mean(&["overloaded_mixes_percent", "100"]);
            (percent, kept, figures.notes()[0].contains("1 of 2 mixes: 100-01. "))
        };
        for some in [[false; 3], [true, true, false], [false, true, true], [true, false, true]] {
            assert_eq!(served(some), (Some(0.0), [true, true], false), "{some:?}");
        }
        assert_eq!(served([true; 3]), (Some(50.0), [false, true], true));
    }

    /// A very short run of a mix has every figure of every system, and yields the same ones again, under either setting.
    #[test]
    fn a_mix_comes_to_figures() {
        let plain = figures_of_a_mix(Setting::Plain);
        assert_ne!(plain.to_json(), figures_of_a_mix(Setting::Chosen).to_json());
    }

    /// A small drive.
    fn small(document: &mut Document) {
        document.device.geometry.blocks_per_plane = Some(64);
        document.device.ftl.user_gb = Some(5);
        document.device.gc.hard_blocks = Some(1);
        document.device.front.depth = Some(Limit::At(1_024));
        for clone in document.flow.iter_mut().filter_map(|flow| flow.clone.as_mut()) {
            clone.working_set_bytes = Some(100_000_000);
        }
    }

    fn figures_of_a_mix(setting: Setting) -> Measurements {
        let settings = Settings::quick(setting);
        let runner = Runner::new(&settings, Place::default());
        let make = || {
            let mix = mixes::first(1, 1)[3].clone();
            let runs = [1, 2].map(|seed| (mix.clone(), seed)).to_vec();
            let mut figures = Measurements::default();
            let made = run_mixes(&runner, runs, 300, &systems(&runner, &SYSTEMS), small).expect("runs");
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
}
