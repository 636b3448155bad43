//! The part of `summary.json` that follows single requests and transactions: what mechanisms touched, pairs of the same
//! request under two schedulers, and the actual slack.

use flashlane_core::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_stats::Cdf;
use crate::metrics::gain_places::Concentrated;
use crate::metrics::pairs::PairTotals;
use crate::metrics::sizes::{SIZES, pages_of};
use crate::metrics::{Histogram, Pairs, Slack, Touched};

/// Requests of which a mechanism of the scheduler affected at least one transaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TouchedStats {
    /// Reads of which a page was dispatched before that of an older request which waited at the same unit and could have begun (model 0.7).
    pub read_overtaking: u64,
    /// Writes of which a page was.
    pub write_overtaking: u64,
    /// Reads that moved forward by at least one place when they joined a queue.
    pub read_jumped: u64,
    /// Writes that did.
    pub write_jumped: u64,
    /// Reads that were served while a program or an erase was paused.
    pub in_pause: u64,
}

/// The requests of a run, each compared with the same request under another scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Paired {
    /// The other scheduler.
    pub baseline: String,
    /// Reads and writes.
    pub all: PairStats,
    /// Reads; null if there are none.
    pub read: Option<PairStats>,
    /// Writes; null if there are none.
    pub write: Option<PairStats>,
    /// By size of the request, sizes without requests left out.
    pub by_size: Vec<PairsOfSize>,
}

/// Totals over requests, each compared with itself under the other scheduler. A request is faster or slower if its two response times
/// differ by more than 1 µs and by more than
/// 0.1 %.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairStats {
    /// Requests that are measured in both runs.
    pub requests: u64,
    /// Requests that are faster.
    pub faster: u64,
    /// Requests that are neither faster nor slower.
    pub equal: u64,
    /// Requests that are slower.
    pub slower: u64,
    /// Improvement of the mean response time, percent of the other scheduler's: positive is faster.
    pub improvement_percent: Option<f64>,
    /// Gain per request: the mean of `1 - own / other` over the requests, percent. It counts short and long requests alike, where
    /// `improvement_percent` follows the longest.
    pub gain_percent_per_request: Option<f64>,
    /// Improvement of the 95th percentile of these requests' response times, percent: exact, not from a histogram.
    pub p95_improvement_percent: Option<f64>,
    /// Mean of the differences, ns: positive is faster.
    pub gain_ns: f64,
    /// What lies in each of the four quarters of these requests, in order of arrival; of reads or writes in those of reads and writes together.
    /// Empty with fewer than four requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarters: Vec<Quarter>,
    /// In how little time, and in how few requests, most of the difference lies; null where the means are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concentration: Option<Concentration>,
}

/// The requests of a quarter of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quarter {
    /// Requests.
    pub requests: u64,
    /// Mean response time under the other scheduler, ns; 0 without requests.
    pub baseline_mean_ns: f64,
    /// Mean response time under this one, ns; 0 without requests.
    pub mean_ns: f64,
}

/// Where the net difference of the response times lies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Concentration {
    /// Sum of what requests gain that are faster by any amount, ns.
    pub gained_ns: f64,
    /// Sum of what requests lose that are slower by any amount, ns.
    pub lost_ns: f64,
    /// The time from the first to the last arrival of the run's requests that are compared is cut into 100 windows of equal length; of these, as
    /// few as hold nine tenths of the net difference. Of the first 16,384 requests the arrival counts; of later ones eight at a time count at
    /// the arrival of the first of them.
    pub windows: u32,
    /// When the first of these windows begins, ns since the start of the run.
    pub from_ns: u64,
    /// When the last of them ends, ns.
    pub to_ns: u64,
    /// Requests in these windows.
    pub window_requests: u64,
    /// The fewest single requests whose changes together hold nine tenths of the net difference, to within 1 %: from a histogram.
    pub requests: u64,
}

/// Pairs of requests of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairsOfSize {
    /// Fewest pages.
    pub pages: u32,
    /// Whether larger requests are included, as they are in the last size.
    pub and_more: bool,
    /// Requests.
    pub requests: u64,
    /// Requests that are faster.
    pub faster: u64,
    /// Requests that are slower.
    pub slower: u64,
    /// Mean response time under the baseline, ns.
    pub baseline_mean_ns: f64,
    /// Mean response time under this one, ns.
    pub mean_ns: f64,
    /// Improvement of the mean, percent.
    pub improvement_percent: Option<f64>,
    /// Gain per request, percent.
    pub gain_percent_per_request: Option<f64>,
}

/// Actual slack: how much earlier a transaction ended than the last of its request's transactions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlackStats {
    /// Of the transactions of reads; null if there are none.
    pub read: Option<SlackDistribution>,
    /// Of the transactions of writes; null if there are none.
    pub write: Option<SlackDistribution>,
    /// By size of the request, sizes without transactions left out.
    pub by_size: Vec<SlackOfSize>,
}

/// A distribution of slack. Percentiles are those of a histogram, as with response times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlackDistribution {
    /// Transactions.
    pub transactions: u64,
    /// Mean, ns.
    pub mean_ns: f64,
    /// Population standard deviation, ns.
    pub stdev_ns: f64,
    /// 25th percentile, ns.
    pub p25_ns: u64,
    /// Median, ns.
    pub p50_ns: u64,
    /// 75th percentile, ns.
    pub p75_ns: u64,
    /// 95th percentile, ns.
    pub p95_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
    /// Largest, ns.
    pub max_ns: u64,
    /// The whole distribution; its `requests` count transactions.
    pub cdf: Cdf,
}

/// Slack of the transactions of requests of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlackOfSize {
    /// Fewest pages.
    pub pages: u32,
    /// Whether larger requests are included, as they are in the last size.
    pub and_more: bool,
    /// Transactions.
    pub transactions: u64,
    /// Mean, ns.
    pub mean_ns: f64,
}

impl From<Touched> for TouchedStats {
    fn from(touched: Touched) -> TouchedStats {
        let [read_overtaking, write_overtaking] = touched.overtaking;
        let [read_jumped, write_jumped] = touched.jumped;
        TouchedStats { read_overtaking, write_overtaking, read_jumped, write_jumped, in_pause: touched.in_pause }
    }
}

impl Paired {
    /// The figures of `pairs`: this run against the run `name`.
    pub(super) fn of(pairs: &Pairs, name: &str) -> Option<Paired> {
        let [read, write] = [Op::Read, Op::Write].map(|op| &pairs.direction[op.index()]);
        Some(Paired {
            baseline: name.to_string(),
            all: PairStats::of(&pairs.all)?,
            read: PairStats::of(read),
            write: PairStats::of(write),
            by_size: (0..SIZES).filter_map(|class| PairsOfSize::of(pairs, class)).collect(),
        })
    }
}

impl PairStats {
    /// The figures of pairs.
    pub(super) fn of(totals: &PairTotals) -> Option<PairStats> {
        let gain_ns = totals.gain_ns()?;
        let p95 = totals.p95_ns.map(|[from, own]| (from as f64, own as f64));
        let counters = &totals.counters;
        Some(PairStats {
            requests: counters.requests,
            faster: counters.faster,
            equal: counters.equal(),
            slower: counters.slower,
            improvement_percent: counters.improvement_percent(),
            gain_percent_per_request: counters.gain_percent_per_request(),
            p95_improvement_percent: p95.and_then(|(a, b)| (a > 0.0).then(|| 100.0 * (a - b) / a)),
            gain_ns,
            quarters: Quarter::of(totals),
            concentration: totals.concentrated.map(Concentration::from),
        })
    }
}

impl Quarter {
    /// The quarters of pairs; none with fewer than four.
    fn of(pairs: &PairTotals) -> Vec<Quarter> {
        let mean = |sum: u128, requests: u64| if requests == 0 { 0.0 } else { sum as f64 / requests as f64 };
        let quarters = pairs.quarters.iter().map(|sums| Quarter {
            requests: sums.requests,
            baseline_mean_ns: mean(sums.baseline_ns, sums.requests),
            mean_ns: mean(sums.own_ns, sums.requests),
        });
        if pairs.counters.requests < 4 { Vec::new() } else { quarters.collect() }
    }
}

impl From<Concentrated> for Concentration {
    fn from(found: Concentrated) -> Concentration {
        Concentration {
            gained_ns: found.gained_ns as f64,
            lost_ns: found.lost_ns as f64,
            windows: found.windows,
            from_ns: found.span_ns[0],
            to_ns: found.span_ns[1],
            window_requests: found.window_requests,
            requests: found.requests,
        }
    }
}

impl PairsOfSize {
    fn of(pairs: &Pairs, class: usize) -> Option<PairsOfSize> {
        let (counters, (pages, most)) = (&pairs.size[class], pages_of(class));
        (counters.requests > 0).then(|| PairsOfSize {
            pages,
            and_more: most.is_none(),
            requests: counters.requests,
            faster: counters.faster,
            slower: counters.slower,
            baseline_mean_ns: counters.baseline_ns as f64 / counters.requests as f64,
            mean_ns: counters.own_ns as f64 / counters.requests as f64,
            improvement_percent: counters.improvement_percent(),
            gain_percent_per_request: counters.gain_percent_per_request(),
        })
    }
}

impl SlackStats {
    /// The figures of the measured slack.
    pub(super) fn of(slack: &Slack) -> SlackStats {
        let of_size = |class| {
            let ((transactions, mean), (pages, most)) = (slack.of_size(class), pages_of(class));
            Some(SlackOfSize { pages, and_more: most.is_none(), transactions, mean_ns: mean? })
        };
        SlackStats {
            read: SlackDistribution::of(slack.of(Op::Read)),
            write: SlackDistribution::of(slack.of(Op::Write)),
            by_size: (0..SIZES).filter_map(of_size).collect(),
        }
    }
}

impl SlackDistribution {
    fn of(histogram: &Histogram) -> Option<SlackDistribution> {
        let at = |millionths| histogram.percentile(millionths);
        Some(SlackDistribution {
            transactions: histogram.count(),
            mean_ns: histogram.mean()?,
            stdev_ns: histogram.stdev()?,
            p25_ns: at(250_000)?,
            p50_ns: at(500_000)?,
            p75_ns: at(750_000)?,
            p95_ns: at(950_000)?,
            p99_ns: at(990_000)?,
            max_ns: histogram.max()?,
            cdf: Cdf::of(histogram),
        })
    }
}
