//! Where FLIN gains and loses (A1): the first mix of every class again with other answers and readings. Not an experiment
//! of the paper.

use super::mixes::TraceMix;
use super::setting;
use super::setup::{mix, systems, with};
use super::systems::{ms, run_all};
use crate::{Measurements, Runner};
use flashlane_report::results::SchedulerResult;
use flashlane_scenario::{Document, Limit, Mix, SchedulerChoice};
use flashlane_sim::RunError;

/// A row made of the system `base` with another answer to one question.
fn answer(runner: &Runner<'_>, name: &str, base: &str, set: fn(&mut Mix)) -> SchedulerChoice {
    let mut changed = Mix { name: Some(name.into()), ..setting::system(runner.settings.setting, base) };
    set(&mut changed);
    if changed.preempt.is_some() {
        // It goes with the answer that it is a parameter of.
        changed.parameters.retain(|name, _| !setting::OF_PREEMPT.contains(&name.as_str()));
    }
    mix(changed)
}

/// The systems and their variants.
fn variants(runner: &Runner<'_>) -> Vec<SchedulerChoice> {
    let answer = |name: &str, base, set| answer(runner, name, base, set);
    let with = |name: &str, base, set: &[(&str, u64)]| with(runner, name, base, set);
    let mut all = systems(runner, &["sprinkler", "sprinkler+fairness", "flin", "flin-stage1", "flin-stage3"]);
    // Without garbage collection only scheduling is left.
    all.extend(
        ["sprinkler", "sprinkler+fairness", "flin"]
            .map(|row| answer(&format!("{row} gc-free"), row, |mix| mix.collect = Some("free".into()))),
    );
    all.extend([
        answer("flin semi-preemptive", "flin", |mix| mix.collect = Some("semi-preemptive".into())),
        answer("flin suspend", "flin", |mix| mix.preempt = Some("suspend".into())),
        answer("flin suspend semi-preemptive", "flin", |mix| {
            (mix.preempt, mix.collect) = (Some("suspend".into()), Some("semi-preemptive".into()));
        }),
        with("flin no-barrier", "flin", &[("barrier", 0)]),
        with("flin all-low", "flin", &[("alpha_read", 1 << 50), ("alpha_write", 1 << 50)]),
        with("flin gc-never-paid", "flin", &[("gc_pages", 0)]),
        with("budget until-fetched", "sprinkler+fairness", &[("budget_until_completed", 0)]),
        with("budget no-compensation", "sprinkler+fairness", &[("budget_compensation", 0)]),
    ]);
    all
}

/// The commands that the drive holds at a time, beyond which it fetches no more: 512 a flow, as MQSim by default.
const FETCHED: u64 = 4 * 512;

/// The systems on a drive that leaves further commands in the submission queues, where budgets decide.
fn limited(runner: &Runner<'_>) -> Vec<SchedulerChoice> {
    ["sprinkler", "sprinkler+fairness", "flin"].map(|row| with(runner, &format!("{row} fetch-limit"), row, &[])).into()
}

/// Runs the ablation A1.
pub fn all(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    let limit = |document: &mut Document| document.device.front.in_flight = Some(Limit::At(FETCHED));
    for made in run_all(runner, 1, ms(runner), &limited(runner), limit)? {
        made.figures.schedulers.iter().for_each(|run| add(&mut figures, &made.mix, run));
    }
    for made in run_all(runner, 1, ms(runner), &variants(runner), |_| ())? {
        made.figures.schedulers.iter().for_each(|run| add(&mut figures, &made.mix, run));
    }
    Ok(figures)
}

fn add(figures: &mut Measurements, mix: &TraceMix, run: &SchedulerResult) {
    let Some(fairness) = &run.fairness else { return };
    let mut push = |what, value| figures.push(&["ablation", what, &run.name, &mix.name], value);
    push("fairness", fairness.fairness);
    push("max_slowdown", fairness.max_slowdown);
    push("weighted_speedup", fairness.weighted_speedup);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flin::setup::{document, synthetic};
    use crate::{Place, Setting, Settings};
    use flashlane_scenario::Scenario;

    /// Every variant is legal in both settings: a row without an answer has none of its parameters.
    #[test]
    fn variants_are_legal_in_both_settings() {
        for setting in [Setting::Plain, Setting::Chosen] {
            let settings = Settings::quick(setting);
            let runner = Runner::new(&settings, Place::default());
            let rows = [variants(&runner), limited(&runner)].concat();
            let flow = synthetic(
                "one",
                1,
                flashlane_scenario::workload::synthetic::SyntheticSpec {
                    rate_iops: Some(1000.0),
                    ..Default::default()
                },
            );
            let document = document(&runner, "a1".into(), (1, 1), rows, vec![flow]);
            let legal = Scenario::from_document("a1", document).check();
            assert!(legal.is_ok(), "{setting:?}: {}", legal.unwrap_err());
        }
    }
}
