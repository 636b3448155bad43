//! What a scheduler changes for the requests of a case, against the scheduler compared with.

use super::cases::{Case, Role};
use super::finding::{Change, Compared, SeedOpinion, SeedRange, SeedWord};
use crate::results::over_seeds::{self, OverSeeds, Says, Spread};
use crate::results::replications::{RequestKind, SeedMeasure};
use crate::results::summary::{DeviceStats, Summary};

/// Means and rates are alike within this share of the smaller.
pub(super) const TOLERANCE: f64 = 0.01;
/// 99th percentiles are alike within this share of the smaller, and write amplification.
pub(super) const WIDE: f64 = 0.05;
/// Write amplification that rests on so many erases or more is not left to chance by that.
pub const ENOUGH_ERASES: u64 = 30;
/// A factor that is written in place of a larger one, of figures that are 0.
pub(super) const LARGEST: f64 = 1e9;

/// What a scheduler changes for a case.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    /// The number of the case.
    pub(super) case: usize,
    /// The number of the scheduler.
    pub(super) run: usize,
    /// What changes, that by which the case is judged first, unless it is alike.
    pub(super) changes: Vec<Change>,
    /// Whether none of these requests completed, and some did under the scheduler compared with.
    pub(super) starves: bool,
}

impl Effect {
    /// The effect; `None` where one of the two has no figure, unless the scheduler starves the case.
    pub(super) fn of(summary: &Summary, cases: &[Case], case: usize, baseline: usize, run: usize) -> Option<Effect> {
        let one = &cases[case];
        one.figures(summary, baseline)?;
        if one.figures(summary, run).is_none() {
            return Some(Effect { case, run, changes: Vec::new(), starves: true });
        }
        let of = |measure: Compared| change(summary, one, measure, baseline, run);
        // Of an open flow the rate is what arrives.
        let has_rate = one.is_loop && (one.role == Role::Tenant || one.kind == RequestKind::Commit);
        let measures: &[Compared] = match one.role {
            Role::Total => &[Compared::Rate],
            _ if has_rate => &[Compared::Rate, Compared::Mean, Compared::P99],
            _ => &[Compared::Mean, Compared::P99],
        };
        let mut changes: Vec<Change> = measures.iter().filter_map(|&measure| of(measure)).collect();
        if has_rate && changes.first().is_some_and(|rate| rate.measure == Compared::Rate && rate.is_alike()) {
            changes.remove(0);
        }
        // What differs comes before what does not.
        if changes.first().is_some_and(Change::is_alike) {
            changes.sort_by_key(Change::is_alike);
        }
        Some(Effect { case, run, changes, starves: false })
    }

    /// By how much the case is better off in a measure; 1 where that is alike.
    pub(super) fn factor(&self, measure: Compared) -> f64 {
        self.changes.iter().find(|change| change.measure == measure).map_or(1.0, |change| change.factor)
    }

    /// Whether nothing differs.
    pub(super) fn is_alike(&self) -> bool {
        !self.starves && self.changes.iter().all(Change::is_alike)
    }

    /// Whether anything is worse.
    pub(super) fn is_worse(&self) -> bool {
        self.starves || self.changes.iter().any(|change| change.factor < 1.0)
    }

    /// The largest change.
    pub(super) fn size(&self) -> f64 {
        if self.starves { LARGEST } else { self.changes.iter().map(Change::size).fold(1.0, f64::max) }
    }
}

/// A figure of a case under two schedulers.
fn change(summary: &Summary, case: &Case, measure: Compared, baseline: usize, run: usize) -> Option<Change> {
    let of = |run: usize| {
        let (figures, path) = case.figures(summary, run)?;
        Some(match measure {
            Compared::Mean => case.mean(summary, run)?,
            // A commit has no percentile of its own.
            Compared::P99 if case.kind == RequestKind::Commit => return None,
            Compared::P99 => (figures.p99_ns as f64, vec![format!("{path}/p99_ns")]),
            Compared::Rate => (figures.own_iops?, vec![format!("{path}/own_iops")]),
            Compared::WriteAmplification => return None,
        })
    };
    let ((from, from_paths), (to, to_paths)) = of(baseline).zip(of(run))?;
    let within = if measure == Compared::P99 { WIDE } else { TOLERANCE };
    let requests = [baseline, run].map(|run| case.figures(summary, run).map_or(0, |(figures, _)| figures.requests));
    Some(Change {
        measure,
        from,
        to,
        paths: from_paths.into_iter().chain(to_paths).collect(),
        factor: factor(from, to, within, measure),
        within_percent: 100.0 * within,
        requests: requests[0].min(requests[1]),
        too_few_erases: None,
        seeds: seeds(summary, case, measure, baseline, run),
    })
}

/// How many times better `to` is than `from`; 1 where they are alike.
fn factor(from: f64, to: f64, within: f64, measure: Compared) -> f64 {
    let (less, more) = (from.min(to), from.max(to));
    if more - less <= within * less {
        return 1.0;
    }
    let size = (more / less).min(LARGEST);
    let is_better = (to < from) == (measure != Compared::Rate);
    if is_better { size } else { 1.0 / size }
}

/// The write amplification of two runs.
pub(super) fn write_amplification(summary: &Summary, baseline: usize, run: usize) -> Option<Change> {
    let devices = [baseline, run].map(|run| &summary.schedulers[run].device);
    let [from, to] = devices.map(|device| device.write_amplification);
    let (from, to) = from.zip(to)?;
    let measure = Compared::WriteAmplification;
    let case = Case { flow: None, kind: RequestKind::All, role: Role::Total, is_loop: false };
    let few = devices.into_iter().filter(|device| is_few(device)).map(|device| device.gc.erases).min();
    Some(Change {
        measure,
        from,
        to,
        paths: [baseline, run].map(|run| format!("/schedulers/{run}/device/write_amplification")).into(),
        factor: factor(from, to, WIDE, measure),
        within_percent: 100.0 * WIDE,
        requests: devices.iter().map(|device| device.gc.erases).min().unwrap_or(0),
        too_few_erases: few.filter(|_| !is_repeated(summary)),
        seeds: seeds(summary, &case, measure, baseline, run),
    })
}

/// Whether there are other seeds.
fn is_repeated(summary: &Summary) -> bool {
    summary.replications.as_ref().is_some_and(|made| made.seeds.len() > 1)
}

/// Whether write amplification rests on few erases: some, but hardly any.
fn is_few(device: &DeviceStats) -> bool {
    device.write_amplification.is_some() && (1..ENOUGH_ERASES).contains(&device.gc.erases)
}

/// Whether the write amplification of a run is too few erases to tell: it rests on 1 to 29, and there are no other seeds.
pub fn is_too_few_to_tell(summary: &Summary, device: &DeviceStats) -> bool {
    is_few(device) && !is_repeated(summary)
}

/// What the seeds say of a change; `None` if there is one.
fn seeds(summary: &Summary, case: &Case, measure: Compared, baseline: usize, run: usize) -> Option<SeedOpinion> {
    let [baseline, scheduler] = [baseline, run].map(|run| summary.schedulers[run].name.as_str());
    let measure = match measure {
        Compared::Mean => SeedMeasure::Mean,
        Compared::P99 => SeedMeasure::P99,
        Compared::Rate => SeedMeasure::Rate,
        Compared::WriteAmplification => SeedMeasure::WriteAmplification,
    };
    let flow = case.flow_name(summary);
    let case = over_seeds::Case { scheduler, baseline, flow: flow.as_deref(), kind: case.kind, measure };
    let over = OverSeeds::of(summary, &case)?;
    let range = |spread: Spread| SeedRange {
        seeds: spread.seeds,
        low: spread.low.min(LARGEST),
        high: spread.high.min(LARGEST),
    };
    let says = match over.says {
        Says::Unrepeated => return None,
        Says::TooFew => SeedWord::TooFew,
        Says::Same => SeedWord::Same,
        Says::Better | Says::Worse => SeedWord::Decided,
        Says::Alike => SeedWord::Alike,
        Says::Open => SeedWord::Open,
    };
    Some(SeedOpinion {
        says,
        seeds: over.seeds,
        outcomes: over.outcomes,
        better: over.better.map(range),
        worse: over.worse.map(range),
        alike: over.alike,
    })
}
