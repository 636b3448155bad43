//! Which decision is behind the largest gain and the largest loss of a comparison: runs of mixes that differ from the one scheduler, or from
//! the other, in a single decision.

use std::collections::BTreeMap;

use super::attribute::{Settings, differences, mix, settings};
use super::further::{Further, MOST_REQUESTS};
use super::prepare::prepare;
use crate::error::RunError;
use crate::plan::decisions::Common;
use flashlane_report::results::{
    Deciding, MOST_OF_IT, RequestKind, SchedulerResult, SeedFigures, SeedMeasure, SeedRun, Summary, TriedDecision,
    Untried, Way,
};
use flashlane_scenario::{Scenario, SchedulerChoice};

/// The factor above which a gain or a loss is looked into.
const LARGE: f64 = 2.0;
/// Fewest requests whose 99th percentile is looked at.
const REQUESTS_FOR_P99: u64 = 1_000;
/// The most differences that a subset of them is written down for.
const MOST_DIFFERENCES: usize = 32;

/// A figure that is far from the baseline's.
#[derive(Clone, Debug, PartialEq)]
struct Large {
    way: Way,
    /// Which of the summary's schedulers.
    scheduler: usize,
    flow: Option<String>,
    kind: RequestKind,
    measure: SeedMeasure,
    /// Under the baseline, then under the scheduler, ns.
    values: [f64; 2],
}

/// Figures of the mixes that were run, by scheduler and subset of its differences; `None` for a mix that cannot run.
type Made = BTreeMap<(usize, u64), Option<SchedulerResult>>;

/// The largest gain and the largest loss, each with what decides it; empty where no figure is more than twice another.
///
/// # Errors
/// As those of the runs, but that a mix cannot run is no error.
pub(crate) fn find(scenario: &Scenario, further: &Further<'_>, summary: &Summary) -> Result<Vec<Deciding>, RunError> {
    let prepared = further.prepared;
    let mut search = Search {
        scenario,
        further,
        summary,
        choices: scenario.schedulers()?,
        common: Common::of(scenario)?,
        made: Made::new(),
    };
    // What a block layer brings is no decision of a scheduler.
    let layer = |scheduler| scheduler % prepared.blocks.len().max(1);
    let is_below_same = |scheduler| layer(scheduler) == layer(prepared.baseline);
    let large = [Way::Gain, Way::Loss].into_iter().filter_map(|way| largest(summary, way, is_below_same));
    large.map(|large| search.decide(&large)).collect()
}

/// The largest gain or loss in a mean; where no mean is so far off, in a 99th percentile.
fn largest(summary: &Summary, way: Way, is_candidate: impl Fn(usize) -> bool) -> Option<Large> {
    let base = summary.schedulers.iter().find(|run| run.name == summary.baseline)?;
    let base_figures = SeedRun::of(0, base);
    let in_measure = |measure: SeedMeasure| {
        let others = summary.schedulers.iter().enumerate();
        let others = others.filter(|&(i, run)| run.name != base.name && !run.control && is_candidate(i));
        let figures = others.flat_map(|(scheduler, run)| {
            let figures = SeedRun::of(0, run).figures.into_iter().filter(|figures| is_looked_at(summary, run, figures));
            figures.map(move |figures| (scheduler, figures)).collect::<Vec<_>>()
        });
        let large = figures.filter_map(|(scheduler, own)| {
            let base = base_figures.figures(own.flow.as_deref(), own.kind)?;
            let values = [value(base, measure)?, value(&own, measure)?];
            let factor = if way == Way::Gain { values[0] / values[1] } else { values[1] / values[0] };
            let large = Large { way, scheduler, flow: own.flow, kind: own.kind, measure, values };
            (factor > LARGE && factor.is_finite()).then_some((factor, large))
        });
        // Of equal ones the first.
        large.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, large)| large)
    };
    in_measure(SeedMeasure::Mean).or_else(|| in_measure(SeedMeasure::P99))
}

/// Tenants by themselves where there are several, and each kind by itself where a tenant has several.
fn is_looked_at(summary: &Summary, run: &SchedulerResult, figures: &SeedFigures) -> bool {
    let of = match &figures.flow {
        None if summary.flows.len() > 1 => return false,
        Some(_) if summary.flows.len() == 1 => return false,
        None => &run.total,
        Some(name) => match run.flows.iter().find(|flow| flow.name == *name) {
            Some(flow) => &flow.figures,
            None => return false,
        },
    };
    // What a flow of commits writes and flushes is told of its commits.
    let flow =
        figures.flow.as_ref().map_or(summary.flows.first(), |name| summary.flows.iter().find(|f| f.name == *name));
    let commits = flow.is_some_and(|flow| flow.writes_per_flush.is_some());
    let both = of.read.is_some() && of.write.is_some();
    match figures.kind {
        RequestKind::All => !both && !commits,
        RequestKind::Write | RequestKind::Flush if commits => false,
        RequestKind::Read | RequestKind::Write => both,
        RequestKind::FuaWrite | RequestKind::Commit => false,
        RequestKind::Trim | RequestKind::WriteZeroes | RequestKind::Flush => true,
    }
}

fn value(figures: &SeedFigures, measure: SeedMeasure) -> Option<f64> {
    match measure {
        SeedMeasure::Mean => Some(figures.mean_ns),
        _ => (figures.requests >= REQUESTS_FOR_P99).then_some(figures.p99_ns as f64),
    }
}

/// What is looked for, and the runs made so far.
struct Search<'a> {
    scenario: &'a Scenario,
    further: &'a Further<'a>,
    summary: &'a Summary,
    choices: Vec<SchedulerChoice>,
    common: Common,
    made: Made,
}

impl Search<'_> {
    fn decide(&mut self, large: &Large) -> Result<Deciding, RunError> {
        let settings = |i: usize| {
            settings(self.scenario.catalogue(), &self.common, &self.choices[self.further.prepared.choice(i)])
        };
        let ends = [settings(self.further.prepared.baseline)?, settings(large.scheduler)?];
        let mut deciding = Deciding {
            way: large.way,
            scheduler: self.summary.schedulers[large.scheduler].name.clone(),
            baseline: self.summary.baseline.clone(),
            flow: large.flow.clone(),
            kind: large.kind,
            measure: large.measure,
            baseline_ns: large.values[0],
            scheduler_ns: large.values[1],
            differences: differences(&ends),
            decision: None,
            tried: Vec::new(),
            untried: None,
        };
        match deciding.differences.len() {
            0 => deciding.untried = Some(Untried::NoDifference),
            1 => deciding.decision = Some(deciding.differences[0].what.clone()),
            count if count > MOST_DIFFERENCES || !self.fits(large, count) => {
                deciding.untried = Some(Untried::TooManyRequests);
            }
            _ => self.try_each(large, &ends, &mut deciding)?,
        }
        Ok(deciding)
    }

    /// Whether the requests of two runs for each of so many decisions, and of the runs made before, are few enough.
    fn fits(&self, large: &Large, count: usize) -> bool {
        let wanted = (0..count).flat_map(|i| [alone(i), without(i, count)]).map(|subset| (large.scheduler, subset));
        let mut runs: Vec<(usize, u64)> = self.made.keys().copied().chain(wanted).collect();
        runs.sort_unstable();
        runs.dedup();
        let most = self.summary.schedulers.iter().map(|run| run.total.issued).max().unwrap_or(0);
        most.saturating_mul(runs.len() as u64) <= MOST_REQUESTS
    }

    /// Makes each decision alone, and those that bring most of the difference are left out of all the others.
    fn try_each(&mut self, large: &Large, ends: &[Settings; 2], deciding: &mut Deciding) -> Result<(), RunError> {
        let count = deciding.differences.len();
        self.run(large, ends, deciding, (0..count).map(alone).collect())?;
        let brings = |search: &Search<'_>, subset| {
            let ns = search.value(large, subset);
            (ns, ns.map(|ns| share(large.values, ns)))
        };
        let most: Vec<usize> =
            (0..count).filter(|&i| brings(self, alone(i)).1.is_some_and(|share| share >= MOST_OF_IT)).collect();
        self.run(large, ends, deciding, most.iter().map(|&i| without(i, count)).collect())?;
        let mut best = 0.0;
        for (i, difference) in deciding.differences.iter().enumerate() {
            let (alone_ns, brings_share) = brings(self, alone(i));
            let (without_ns, left) = if most.contains(&i) { brings(self, without(i, count)) } else { (None, None) };
            let takes = left.map(|left| 1.0 - left);
            if let (Some(brings), Some(takes)) = (brings_share, takes)
                && takes >= MOST_OF_IT
                && brings > best
            {
                best = brings;
                deciding.decision = Some(difference.what.clone());
            }
            let what = difference.what.clone();
            deciding.tried.push(TriedDecision { what, alone_ns, brings: brings_share, without_ns, takes });
        }
        Ok(())
    }

    /// Runs the mixes of these subsets that were not run before.
    fn run(
        &mut self,
        large: &Large,
        ends: &[Settings; 2],
        deciding: &Deciding,
        subsets: Vec<u64>,
    ) -> Result<(), RunError> {
        let catalogue = self.scenario.catalogue();
        let (mut subsets_run, mut prepared) = (Vec::new(), Vec::new());
        for subset in subsets {
            if self.made.contains_key(&(large.scheduler, subset)) {
                continue;
            }
            let choice = mix(catalogue, ends, &deciding.differences, subset as usize);
            let mut scenario = self.scenario.clone();
            scenario.set("schedulers", "the comparison", |document| {
                document.scheduler = None;
                document.schedulers = Some(vec![choice]);
                document.run.alone = Some(false);
                document.run.baseline = None;
            });
            if let Some(layer) = self.further.prepared.block(large.scheduler) {
                scenario.keep_block(layer);
            }
            match prepare(&scenario) {
                Ok(made) => {
                    subsets_run.push(subset);
                    prepared.push(made.for_figures_beside(self.further.prepared));
                }
                // A mix that does not go on this device.
                Err(_) => drop(self.made.insert((large.scheduler, subset), None)),
            }
        }
        self.further.expected.add_shared_runs(prepared.len() as u64);
        for (subset, made) in subsets_run.into_iter().zip(self.further.runs(&prepared)?) {
            let made = match made {
                Ok(made) => Some(made.result),
                Err(RunError::Device(_) | RunError::Input(_)) => None,
                Err(error) => return Err(error),
            };
            self.made.insert((large.scheduler, subset), made);
        }
        Ok(())
    }

    /// The figure under the mix of a subset, ns.
    fn value(&self, large: &Large, subset: u64) -> Option<f64> {
        let run = SeedRun::of(0, self.made.get(&(large.scheduler, subset))?.as_ref()?);
        let figures = run.figures(large.flow.as_deref(), large.kind)?;
        value(figures, large.measure).filter(|ns| *ns > 0.0)
    }
}

/// The subset of one difference.
fn alone(i: usize) -> u64 {
    1 << i
}

/// The subset of all but one.
fn without(i: usize, count: usize) -> u64 {
    ((1 << count) - 1) ^ (1 << i)
}

/// How much of the difference between two figures there is at `ns`: 0 at the first, 1 at the second, by the logarithm.
fn share([base, own]: [f64; 2], ns: f64) -> f64 {
    (ns / base).ln() / (own / base).ln()
}
