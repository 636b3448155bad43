//! The mixes between two schedulers: a run for each subset of the decisions and parameters in which they differ.

use std::collections::{BTreeMap, BTreeSet};

use flashlane_sched::catalogue::{Answers, Catalogue};

use super::compare::{Options, compare};
use super::prepare::prepare;
use crate::error::RunError;
use crate::plan::decisions::{Common, parameters};
use crate::plan::recipes::recipe;
use flashlane_report::results::{Attribution, Difference, Measure, SchedulerResult, Summary};
use flashlane_scenario::{Mix, Scenario, SchedulerChoice};

/// The most differences: each doubles the number of runs.
pub const MAX_DIFFERENCES: usize = 10;

/// A scheduler with all its decisions written out.
pub(crate) struct Settings {
    answers: Answers,
    parameters: BTreeMap<String, u64>,
}

/// Shares the difference between `from` and `to` among the decisions and parameters in which they differ, on the flows and the device of
/// `scenario`, for `seeds` seeds from the scenario's on.
///
/// # Errors
/// Schedulers that do not differ, or in too much; otherwise as [`compare`].
pub fn attribute(
    scenario: &Scenario,
    from: &SchedulerChoice,
    to: &SchedulerChoice,
    seeds: u64,
) -> Result<Attribution, RunError> {
    // Finds every error that shows without a run.
    prepare(scenario)?;
    let (catalogue, common) = (scenario.catalogue(), Common::of(scenario)?);
    let settings = |choice: &SchedulerChoice| settings(catalogue, &common, choice);
    let ends = [settings(from)?, settings(to)?];
    let differences = differences(&ends);
    let names = (from.name(), to.name());
    if differences.is_empty() {
        return Err(RunError::Input(format!(
            "{} and {} decide alike: there is nothing to attribute",
            names.0, names.1
        )));
    }
    if differences.len() > MAX_DIFFERENCES {
        let what: Vec<&str> = differences.iter().map(|difference| difference.what.as_str()).collect();
        let (one, other, count) = (&names.0, &names.1, differences.len());
        return Err(RunError::Input(format!(
            "{one} and {other} differ in {count} decisions and parameters ({}), which are 2^{count} runs; must be at most \
             {MAX_DIFFERENCES}",
            what.join(", ")
        )));
    }
    let mixes: Vec<SchedulerChoice> =
        (0..1usize << differences.len()).map(|subset| mix(catalogue, &ends, &differences, subset)).collect();
    let mut summaries = Vec::new();
    for seed in (0..seeds).map(|i| scenario.seed().wrapping_add(i)) {
        let mut scenario = scenario.clone();
        scenario.set("schedulers", "attribute", |document| {
            document.scheduler = None;
            document.schedulers = Some(mixes.clone());
            document.seed = Some(seed);
            document.run.alone = Some(false);
            document.run.baseline = None;
        });
        let options = Options { audit: false, rows: None, activity: false, progress: None };
        summaries.push(compare(&scenario, &options)?.summary);
    }
    let (mixes, count) = (mixes.len() as u64, differences.len());
    Ok(Attribution { from: names.0, to: names.1, mixes, seeds, measures: measures(count, &summaries), differences })
}

pub(crate) fn settings(catalogue: &Catalogue, common: &Common, choice: &SchedulerChoice) -> Result<Settings, RunError> {
    let recipe = common.decide(catalogue, recipe(choice));
    let answers = catalogue.resolve(&recipe).map_err(|error| RunError::Input(error.to_string()))?;
    Ok(Settings { answers, parameters: parameters(catalogue, &recipe, &answers) })
}

/// The questions that are answered otherwise, and the parameters of both that have other values. A parameter that only one of the two has
/// belongs to the answer it comes with.
pub(crate) fn differences([from, to]: &[Settings; 2]) -> Vec<Difference> {
    let ends = &to.answers;
    let answers = from.answers.iter().filter(|&(question, from)| *from != ends[question]).map(|(question, from)| {
        Difference { what: question.name().to_owned(), from: (*from).to_owned(), to: ends[question].to_owned() }
    });
    let values = from.parameters.iter().filter_map(|(name, from)| Some((name, from, to.parameters.get(name)?)));
    let values = values.filter(|(_, from, to)| from != to).map(|(name, from, to)| Difference {
        what: name.clone(),
        from: from.to_string(),
        to: to.to_string(),
    });
    answers.chain(values).collect()
}

/// The mix that has made the changes of `subset`.
pub(crate) fn mix(
    catalogue: &Catalogue,
    [from, to]: &[Settings; 2],
    differences: &[Difference],
    subset: usize,
) -> SchedulerChoice {
    let changed: BTreeSet<&str> =
        differences.iter().enumerate().filter(|(i, _)| subset & 1 << i != 0).map(|(_, d)| d.what.as_str()).collect();
    let mut answers = from.answers;
    for (question, end) in to.answers.iter() {
        if changed.contains(question.name()) {
            answers[question] = end;
        }
    }
    let value = |name: &str| match (from.parameters.get(name), to.parameters.get(name)) {
        (Some(_), Some(end)) if changed.contains(name) => Some(*end),
        (Some(own), _) => Some(*own),
        (None, end) => end.copied(),
    };
    let parameters = catalogue.params(&answers).into_iter();
    let parameters = parameters.filter_map(|param| Some((param.name.to_owned(), value(param.name)?))).collect();
    SchedulerChoice::Mix(Box::new(Mix::of(format!("mix-{subset}"), &answers, parameters)))
}

/// A measure's mean response time in a run, ns.
type MeanOf<'a> = Box<dyn Fn(&SchedulerResult) -> Option<f64> + 'a>;

/// The measures: all requests; then each of several flows, or reads and writes if there are both.
fn measures(count: usize, summaries: &[Summary]) -> Vec<Measure> {
    let mut of: Vec<(String, MeanOf<'_>)> = Vec::new();
    of.push(("all requests".into(), Box::new(|run: &SchedulerResult| Some(run.total.all.as_ref()?.mean_ns))));
    let flows = summaries.first().map_or(&[][..], |summary| &summary.flows);
    if flows.len() > 1 {
        for (i, flow) in flows.iter().enumerate() {
            let mean = move |run: &SchedulerResult| Some(run.flows[i].figures.all.as_ref()?.mean_ns);
            of.push((flow.name.clone(), Box::new(mean)));
        }
    } else {
        of.push(("reads".into(), Box::new(|run: &SchedulerResult| Some(run.total.read.as_ref()?.mean_ns))));
        of.push(("writes".into(), Box::new(|run: &SchedulerResult| Some(run.total.write.as_ref()?.mean_ns))));
    }
    let measure = |(name, of): (String, MeanOf<'_>)| {
        let value = |summary: &Summary| summary.schedulers.iter().map(&of).collect::<Option<Vec<f64>>>();
        let values: Option<Vec<Vec<f64>>> = summaries.iter().map(value).collect();
        Some(Measure::of(&name, count, &values?))
    };
    let measures: Vec<Measure> = of.into_iter().filter_map(measure).collect();
    let alone = flows.len() == 1 && measures.len() == 2;
    measures.into_iter().take(if alone { 1 } else { usize::MAX }).collect()
}
