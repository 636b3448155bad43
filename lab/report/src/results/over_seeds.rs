//! What other seeds say of a difference between two schedulers: the rule of docs/reading-results.md.
//!
//! Promises to read the summary alone. A difference is decided if at least five seeds were run and all differ by over 1 % in one direction.

use std::borrow::Cow;

use super::flow_stats::FlowStats;
use super::replications::{RequestKind, SeedFigures, SeedMeasure, SeedRun};
use super::summary::{SchedulerResult, Summary};

/// The fewest seeds by which a difference is decided.
pub const LEAST_SEEDS: u32 = 5;
/// Two figures differ if the larger is more than this many times the smaller.
pub const TOLERANCE: f64 = 1.01;

/// Which difference is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case<'a> {
    /// The scheduler that is better or worse.
    pub scheduler: &'a str,
    /// Than this one.
    pub baseline: &'a str,
    /// For this flow; `None` for all together.
    pub flow: Option<&'a str>,
    /// For requests of this kind; write amplification and erases are of the whole device, whatever stands here and in `flow`.
    pub kind: RequestKind,
    /// In this.
    pub measure: SeedMeasure,
}

/// What the seeds say of a difference. A factor is the larger figure over the smaller, so at least 1; it is infinite if the smaller is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct OverSeeds {
    /// What they say.
    pub says: Says,
    /// Seeds under which both schedulers have the figure.
    pub seeds: u32,
    /// How many different outcomes these seeds had: runs whose figures for this tenant and kind are all equal are one.
    pub outcomes: u32,
    /// The seeds under which the scheduler is better by over 1 %.
    pub better: Option<Spread>,
    /// The seeds under which it is worse by over 1 %.
    pub worse: Option<Spread>,
    /// Seeds under which the two are within 1 % of one another.
    pub alike: u32,
}

/// In short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// There is one seed.
    Unrepeated,
    /// There are fewer than five: nothing is decided.
    TooFew,
    /// All seeds give the same figures: seeds change nothing here.
    Same,
    /// Better by over 1 % under all seeds.
    Better,
    /// Worse by over 1 % under all seeds.
    Worse,
    /// Within 1 % under all seeds.
    Alike,
    /// Neither: not decided.
    Open,
}

/// The seeds that go one way, and their factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// How many.
    pub seeds: u32,
    /// The smallest factor.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

/// Whether every run of every scheduler has the same figures under all of at least two seeds.
pub fn seeds_change_nothing(summary: &Summary) -> bool {
    let Some(made) = &summary.replications else { return false };
    let first = |run: &SeedRun| made.runs.iter().find(|other| other.scheduler == run.scheduler);
    let same = |run: &SeedRun| first(run).is_some_and(|first| SeedRun { seed: run.seed, ..first.clone() } == *run);
    made.seeds.len() > 1 && made.runs.iter().all(same)
}

impl OverSeeds {
    /// What the seeds of `summary` say; `None` where one of the two schedulers has no such figure under the scenario's own seed.
    pub fn of(summary: &Summary, case: &Case<'_>) -> Option<OverSeeds> {
        let (base, own) = (runs(summary, case.baseline), runs(summary, case.scheduler));
        let pairs: Vec<Pair> = base.iter().zip(&own).map(|(base, own)| Pair::of(summary, case, base, own)).collect();
        pairs.first()?.values?;
        let found: Vec<(&Pair, [f64; 2])> = pairs.iter().filter_map(|pair| Some((pair, pair.values?))).collect();
        let mut outcomes: Vec<&Pair> = Vec::new();
        for (pair, _) in &found {
            if !outcomes.contains(pair) {
                outcomes.push(pair);
            }
        }
        let (mut better, mut worse, mut alike) = (None, None, 0);
        for (_, [base, own]) in &found {
            let (less, more) = (base.min(*own), base.max(*own));
            let factor = if more == 0.0 { 1.0 } else { more / less };
            if factor <= TOLERANCE {
                alike += 1;
            } else if (own < base) == case.measure.is_better_lower() {
                Spread::add(&mut better, factor);
            } else {
                Spread::add(&mut worse, factor);
            }
        }
        let (seeds, outcomes) = (found.len() as u32, outcomes.len() as u32);
        let all = |side: &Option<Spread>| side.is_some_and(|side| side.seeds == seeds);
        let says = match seeds {
            1 => Says::Unrepeated,
            seeds if seeds < LEAST_SEEDS => Says::TooFew,
            _ if outcomes == 1 => Says::Same,
            _ if all(&better) => Says::Better,
            _ if all(&worse) => Says::Worse,
            seeds if alike == seeds => Says::Alike,
            _ => Says::Open,
        };
        Some(OverSeeds { says, seeds, outcomes, better, worse, alike })
    }

    /// Whether a direction is decided: all of at least five seeds differ by over 1 % in it.
    pub fn is_decided(&self) -> bool {
        matches!(self.says, Says::Better | Says::Worse)
    }
}

impl SeedRun {
    /// The figures of a run under this seed.
    pub fn of(seed: u64, run: &SchedulerResult) -> SeedRun {
        let flows = run.flows.iter().flat_map(|flow| figures(Some(&flow.name), &flow.figures));
        SeedRun {
            seed,
            scheduler: run.name.clone(),
            write_amplification: run.device.write_amplification,
            erases: run.device.gc.erases,
            figures: figures(None, &run.total).chain(flows).collect(),
        }
    }
}

/// The figures of each kind that there is.
fn figures<'a>(flow: Option<&'a str>, of: &'a FlowStats) -> impl Iterator<Item = SeedFigures> + 'a {
    RequestKind::COUNTED.into_iter().filter_map(move |kind| {
        let stats = kind.of(of)?;
        Some(SeedFigures {
            flow: flow.map(str::to_owned),
            kind,
            requests: stats.requests,
            mean_ns: stats.mean_ns,
            p99_ns: stats.p99_ns,
            iops: stats.iops,
            own_iops: stats.own_iops,
        })
    })
}

impl SeedMeasure {
    fn is_better_lower(self) -> bool {
        !matches!(self, SeedMeasure::Rate | SeedMeasure::Served)
    }
}

impl Spread {
    fn add(side: &mut Option<Spread>, factor: f64) {
        let side = side.get_or_insert(Spread { seeds: 0, low: factor, high: factor });
        (side.seeds, side.low, side.high) = (side.seeds + 1, side.low.min(factor), side.high.max(factor));
    }
}

/// The range of a scheduler's figure over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeedRange {
    /// Seeds under which it has the figure.
    pub seeds: u32,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl SeedRange {
    /// The range of `measure` (of requests of this kind, of a flow or of all) under `scheduler`; `None` where it has none.
    pub fn of(
        summary: &Summary,
        scheduler: &str,
        flow: Option<&str>,
        kind: RequestKind,
        measure: SeedMeasure,
    ) -> Option<SeedRange> {
        let case = Case { scheduler, baseline: scheduler, flow, kind, measure };
        let values = runs(summary, scheduler).iter().filter_map(|run| value(summary, &case, run)).collect::<Vec<_>>();
        let (low, high) = (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
        Some(SeedRange { seeds: values.len() as u32, low, high })
    }
}

/// The runs of a scheduler, one a seed, the scenario's own first: from its figures where there are no others.
fn runs<'a>(summary: &'a Summary, scheduler: &str) -> Vec<Cow<'a, SeedRun>> {
    match &summary.replications {
        Some(made) => made.runs.iter().filter(|run| run.scheduler == scheduler).map(Cow::Borrowed).collect(),
        None => {
            let own = summary.schedulers.iter().find(|run| run.name == scheduler);
            own.map(|run| Cow::Owned(SeedRun::of(summary.made_by.seed, run))).into_iter().collect()
        }
    }
}

/// The two schedulers under one seed: the figure that is compared, and all figures by which an outcome is told from another.
#[derive(PartialEq)]
struct Pair {
    values: Option<[f64; 2]>,
    figures: [Vec<Option<f64>>; 2],
}

impl Pair {
    fn of(summary: &Summary, case: &Case<'_>, base: &SeedRun, own: &SeedRun) -> Pair {
        let value = |run| value(summary, case, run);
        let values = value(base).zip(value(own)).map(|(base, own)| [base, own]);
        Pair { values, figures: [base, own].map(|run| outcome(case, run)) }
    }
}

/// The figure of a run that is compared.
fn value(summary: &Summary, case: &Case<'_>, run: &SeedRun) -> Option<f64> {
    let figures = |kind| run.figures(case.flow, kind);
    match (case.measure, case.kind) {
        (SeedMeasure::WriteAmplification, _) => run.write_amplification,
        (SeedMeasure::Erases, _) => Some(run.erases as f64),
        (SeedMeasure::Mean, RequestKind::Commit) => {
            let writes = summary.flows.iter().find(|flow| Some(flow.name.as_str()) == case.flow)?.writes_per_flush?;
            Some(writes * figures(RequestKind::Write)?.mean_ns + figures(RequestKind::Flush)?.mean_ns)
        }
        (SeedMeasure::Rate, RequestKind::Commit) => figures(RequestKind::Flush)?.own_iops,
        (SeedMeasure::Served, RequestKind::Commit) => figures(RequestKind::Flush)?.iops,
        (SeedMeasure::P99, RequestKind::Commit) => None,
        (SeedMeasure::Mean, kind) => Some(figures(kind)?.mean_ns),
        (SeedMeasure::P99, kind) => Some(figures(kind)?.p99_ns as f64),
        (SeedMeasure::Rate, kind) => figures(kind)?.own_iops,
        (SeedMeasure::Served, kind) => figures(kind)?.iops,
    }
}

/// All figures of a run for this tenant and kind, or of the device.
fn outcome(case: &Case<'_>, run: &SeedRun) -> Vec<Option<f64>> {
    if matches!(case.measure, SeedMeasure::WriteAmplification | SeedMeasure::Erases) {
        return vec![run.write_amplification, Some(run.erases as f64)];
    }
    let kinds = match &case.kind {
        RequestKind::Commit => &[RequestKind::Write, RequestKind::Flush][..],
        kind => std::slice::from_ref(kind),
    };
    let figures = kinds.iter().filter_map(|&kind| run.figures(case.flow, kind));
    figures.flat_map(|f| [Some(f.requests as f64), Some(f.mean_ns), Some(f.p99_ns as f64), f.own_iops]).collect()
}

#[cfg(test)]
#[path = "over_seeds_tests.rs"]
mod tests;
