//! For whom something is won or lost: the flows of a comparison; with one flow its reads and its writes.

use crate::metrics::randomization::sign_p;
use crate::results::flow_stats::{FlowStats, ResponseStats};
use crate::results::paired::{PairStats, Paired};
use crate::results::summary::{SchedulerResult, Summary};

/// The level of the tests: a difference counts if chance makes one as large in fewer cases than this.
pub(super) const LEVEL: f64 = 0.05;
/// Differences that no test is made of count from this share on: means of runs that cannot be paired or differ in a few batches only, p99,
/// throughput.
const UNTESTED: f64 = 0.05;
/// Differences of the mean below this share count as none, whatever the test says.
const NEGLIGIBLE: f64 = 0.01;
/// A percentile is trusted with this many requests beyond it.
pub(super) const BEYOND: u64 = 10;

/// A tenant, with an entry per scheduler in each list.
pub(super) struct Tenant<'a> {
    /// Its name.
    pub(super) name: String,
    plural: bool,
    /// Whether its next request waits for a completion: then throughput is what a scheduler gives it.
    pub(super) is_closed_loop: bool,
    /// Its figures; `None` where it completed nothing.
    pub(super) figures: Vec<Option<&'a ResponseStats>>,
    /// Its requests one by one against the same ones under the scheduler compared with.
    pub(super) pairs: Vec<Option<&'a PairStats>>,
    /// Its slowdown, if there were alone runs.
    pub(super) slowdowns: Vec<Option<f64>>,
    baseline: usize,
}

/// The tenants of a summary.
pub(super) fn of(summary: &Summary) -> Vec<Tenant<'_>> {
    let baseline = summary.schedulers.iter().position(|run| run.name == summary.baseline).unwrap_or(0);
    if summary.flows.len() > 1 {
        let tenant = |(i, flow): (usize, &super::super::FlowInfo)| Tenant {
            name: flow.name.clone(),
            plural: false,
            is_closed_loop: flow.depth.is_some(),
            figures: each(summary, |run| run.flows[i].figures.all.as_ref()),
            pairs: each(summary, |run| run.flows[i].paired.as_ref()),
            slowdowns: each(summary, |run| run.flows[i].slowdown),
            baseline,
        };
        return summary.flows.iter().enumerate().map(tenant).collect();
    }
    type Part = (&'static str, fn(&FlowStats) -> Option<&ResponseStats>, fn(&Paired) -> Option<&PairStats>);
    let directions: [Part; 2] = [
        ("reads", |figures| figures.read.as_ref(), |paired| paired.read.as_ref()),
        ("writes", |figures| figures.write.as_ref(), |paired| paired.write.as_ref()),
    ];
    let tenant = |(name, figures, pairs): Part| Tenant {
        name: name.to_owned(),
        plural: true,
        is_closed_loop: summary.flows.iter().any(|flow| flow.depth.is_some()),
        figures: each(summary, |run| figures(&run.total)),
        pairs: each(summary, |run| run.paired.as_ref().and_then(pairs)),
        slowdowns: vec![None; summary.schedulers.len()],
        baseline,
    };
    directions.map(tenant).into_iter().filter(|tenant| tenant.figures.iter().any(Option::is_some)).collect()
}

fn each<'a, T>(summary: &'a Summary, of: impl Fn(&'a SchedulerResult) -> Option<T>) -> Vec<Option<T>> {
    summary.schedulers.iter().map(of).collect()
}

/// `from / to`, or 1 where they differ by `least` of the smaller or less; `None` unless both are above 0.
fn ratio(from: f64, to: f64, least: f64) -> Option<f64> {
    let is_alike = (from - to).abs() <= least * from.min(to);
    (from > 0.0 && to > 0.0).then(|| if is_alike { 1.0 } else { from / to })
}

impl Tenant<'_> {
    /// Its mean response time under a scheduler, ns.
    pub(super) fn mean(&self, run: usize) -> Option<f64> {
        self.figures[run].map(|figures| figures.mean_ns)
    }

    /// Its p99 under a scheduler, ns, if enough requests are beyond it.
    pub(super) fn p99(&self, run: usize) -> Option<f64> {
        self.figures[run].filter(|figures| figures.requests >= 100 * BEYOND).map(|figures| figures.p99_ns as f64)
    }

    /// Requests that it completed per second under a scheduler.
    pub(super) fn served(&self, run: usize) -> Option<f64> {
        self.figures[run].and_then(|figures| figures.iops)
    }

    /// How much faster it is under a scheduler than under the one compared with, as the ratio of the means; 1 where the
    /// difference is none that counts.
    pub(super) fn gain(&self, run: usize) -> Option<f64> {
        let (from, to) = self.mean(self.baseline).zip(self.mean(run))?;
        match self.pairs[run].and_then(|pairs| pairs.p) {
            Some(p) if p > LEVEL => Some(1.0),
            Some(_) => ratio(from, to, NEGLIGIBLE),
            None => ratio(from, to, UNTESTED),
        }
    }

    /// The same for its p99.
    pub(super) fn tail_gain(&self, run: usize) -> Option<f64> {
        let (from, to) = self.p99(self.baseline).zip(self.p99(run))?;
        ratio(from, to, UNTESTED)
    }

    /// How many times the requests per second it gets of what the one compared with gives it, if it is a closed loop; 1 where the
    /// difference is none that counts.
    pub(super) fn throughput_gain(&self, run: usize) -> Option<f64> {
        let (from, to) = self.served(self.baseline).zip(self.served(run)).filter(|_| self.is_closed_loop)?;
        ratio(to, from, UNTESTED)
    }

    /// By what it is judged: a closed loop by the requests per second it gets, if they differ; everybody else by the mean.
    pub(super) fn judged_gain(&self, run: usize) -> Option<f64> {
        self.throughput_gain(run).filter(|gain| *gain != 1.0).or_else(|| self.gain(run))
    }

    /// How many more of its requests are slower than faster under a scheduler, as a share: above 0 more are slower. `None` where that
    /// could be chance, or hardly any differ.
    pub(super) fn slower_by_count(&self, run: usize) -> Option<f64> {
        let pairs = self.pairs[run]?;
        let share = (pairs.slower as f64 - pairs.faster as f64) / pairs.requests as f64;
        let is_chance = sign_p(pairs.batches_mostly_faster, pairs.batches_mostly_slower) > LEVEL;
        (!is_chance && share.abs() > UNTESTED).then_some(share)
    }

    /// Whether no difference of the means counts between any scheduler and the one compared with, nor of the throughput of closed loops.
    pub(super) fn is_alike(&self) -> bool {
        (0..self.figures.len()).all(|run| self.judged_gain(run).is_none_or(|gain| gain == 1.0))
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
