//! For whom something is won or lost: the flows of a comparison; with one flow its reads and its writes.

use crate::results::flow_figures::{Figures, ResponseFigures};
use crate::results::paired::{PairFigures, Paired};
use crate::results::summary::{SchedulerResult, Summary};

/// Without a confidence interval, differences of the mean below this share count as none.
const WITHOUT_INTERVAL: f64 = 0.05;
/// Differences of the mean below this share count as none, whatever the interval.
const NEGLIGIBLE: f64 = 0.01;

/// A party, with an entry a scheduler in each list.
pub(super) struct Party<'a> {
    /// Its name.
    pub(super) name: String,
    plural: bool,
    /// Its figures; `None` where it completed nothing.
    pub(super) figures: Vec<Option<&'a ResponseFigures>>,
    /// Its requests one by one against the same ones under the scheduler compared with.
    pairs: Vec<Option<&'a PairFigures>>,
    /// Its slowdown, if there were alone runs.
    pub(super) slowdowns: Vec<Option<f64>>,
    against: usize,
}

/// The parties of a summary.
pub(super) fn of(summary: &Summary) -> Vec<Party<'_>> {
    let against = summary.schedulers.iter().position(|run| run.name == summary.against).unwrap_or(0);
    if summary.flows.len() > 1 {
        let party = |(i, flow): (usize, &super::super::FlowInfo)| Party {
            name: flow.name.clone(),
            plural: false,
            figures: each(summary, |run| run.flows[i].figures.all.as_ref()),
            pairs: each(summary, |run| run.flows[i].paired.as_ref()),
            slowdowns: each(summary, |run| run.flows[i].slowdown),
            against,
        };
        return summary.flows.iter().enumerate().map(party).collect();
    }
    type Part = (&'static str, fn(&Figures) -> Option<&ResponseFigures>, fn(&Paired) -> Option<&PairFigures>);
    let directions: [Part; 2] = [
        ("reads", |figures| figures.read.as_ref(), |paired| paired.read.as_ref()),
        ("writes", |figures| figures.write.as_ref(), |paired| paired.write.as_ref()),
    ];
    let party = |(name, figures, pairs): Part| Party {
        name: name.to_owned(),
        plural: true,
        figures: each(summary, |run| figures(&run.total)),
        pairs: each(summary, |run| run.paired.as_ref().and_then(pairs)),
        slowdowns: vec![None; summary.schedulers.len()],
        against,
    };
    directions.map(party).into_iter().filter(|party| party.figures.iter().any(Option::is_some)).collect()
}

fn each<'a, T>(summary: &'a Summary, of: impl Fn(&'a SchedulerResult) -> Option<T>) -> Vec<Option<T>> {
    summary.schedulers.iter().map(of).collect()
}

impl Party<'_> {
    /// Its mean response time under a scheduler, ns.
    pub(super) fn mean(&self, run: usize) -> Option<f64> {
        self.figures[run].map(|figures| figures.mean_ns)
    }

    /// How much faster it is under a scheduler than under the one compared with, as the ratio of the means; 1 where the
    /// difference is none that counts.
    pub(super) fn gain(&self, run: usize) -> Option<f64> {
        let (from, to) = self.mean(self.against).zip(self.mean(run))?;
        if from <= 0.0 || to <= 0.0 {
            return None;
        }
        let difference = (from - to).abs();
        let least = NEGLIGIBLE * from.min(to);
        let noise = match self.pairs[run] {
            Some(PairFigures { gain_ci95_ns: Some(half), .. }) => *half,
            _ => WITHOUT_INTERVAL * from.min(to),
        };
        Some(if difference <= least.max(noise) { 1.0 } else { from / to })
    }

    /// Whether nothing counts between any scheduler and the one compared with.
    pub(super) fn is_alike(&self) -> bool {
        (0..self.figures.len()).all(|run| self.gain(run).is_none_or(|gain| gain == 1.0))
    }

    /// Whether its name is a plural: reads or writes rather than the name of a flow.
    pub(super) fn is_plural(&self) -> bool {
        self.plural
    }

    /// The fewest requests it completed under any scheduler.
    pub(super) fn fewest(&self) -> u64 {
        self.figures.iter().map(|figures| figures.map_or(0, |figures| figures.requests)).min().unwrap_or(0)
    }
}
