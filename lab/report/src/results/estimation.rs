//! The part of `summary.json` on the accuracy of the scheduler's estimates of response times.

use flashlane_core::Op;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rows::TransactionRow;
use crate::metrics::{Estimation, Sample, Sums};

/// Estimated against actual response times, over all transactions of measured requests that the flash served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimationStats {
    /// Reads and writes.
    pub all: EstimateStats,
    /// Reads; null if there are none.
    pub read: Option<EstimateStats>,
    /// Writes; null if there are none.
    pub write: Option<EstimateStats>,
}

/// Estimates of some transactions. A response time here runs from a transaction's queue to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EstimateStats {
    /// Transactions.
    pub transactions: u64,
    /// Mean estimated response time, ns.
    pub estimated_ns: f64,
    /// Mean actual response time, ns.
    pub actual_ns: f64,
    /// How far the sum of the estimates is off the actual sum, percent of that: the paper's estimation error.
    pub error_percent: Option<f64>,
    /// Mean over transactions of how far each is off, percent of its actual response time.
    pub mape_percent: Option<f64>,
    /// Mean estimated slack, ns.
    pub estimated_slack_ns: f64,
    /// Mean actual slack, ns: up to the end of the request's last transaction.
    pub actual_slack_ns: f64,
    /// The wait part by part.
    pub parts: PartsStats,
}

/// The parts of a wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartsStats {
    /// Transactions served first; the actual value is the response time less the other parts and the typical service of its own.
    pub queue: PartStats,
    /// Garbage collection that came between.
    pub gc: PartStats,
    /// Waiting for a busy bus; the actual value is the wait of its own command.
    pub interference: PartStats,
    /// The rest of the operation in service on arrival, and of garbage collection under way.
    pub residual: PartStats,
}

/// One part of the wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartStats {
    /// Mean estimate, ns.
    pub estimated_ns: f64,
    /// Mean actual value, ns.
    pub actual_ns: f64,
    /// Estimated less actual, percent of the actual response time: the signed share of the part in the error.
    pub error_percent: Option<f64>,
}

impl EstimationStats {
    pub(super) fn of(estimation: &Estimation) -> EstimationStats {
        let some = |op| Some(estimation.of(op)).filter(|sums| sums.count > 0).map(EstimateStats::of);
        EstimationStats { all: EstimateStats::of(&estimation.all()), read: some(Op::Read), write: some(Op::Write) }
    }
}

impl EstimateStats {
    fn of(sums: &Sums) -> EstimateStats {
        let count = sums.count.max(1) as f64;
        let mean = |sum: u128| sum as f64 / count;
        let part = |index: usize| {
            let [estimated, actual] = sums.parts.map(|parts| parts[index]);
            let response = sums.response[1];
            PartStats {
                estimated_ns: estimated as f64 / count,
                actual_ns: actual as f64 / count,
                error_percent: (response > 0).then(|| (estimated - actual) as f64 * 100.0 / response as f64),
            }
        };
        EstimateStats {
            transactions: sums.count,
            estimated_ns: mean(sums.response[0]),
            actual_ns: mean(sums.response[1]),
            error_percent: sums.error_percent(),
            mape_percent: sums.mean_error_percent(),
            estimated_slack_ns: mean(sums.slack[0]),
            actual_slack_ns: mean(sums.slack[1]),
            parts: PartsStats { queue: part(0), gc: part(1), interference: part(2), residual: part(3) },
        }
    }
}

impl TransactionRow {
    /// The transaction's estimated and actual times; `None` without an estimate, or if the flash did not serve it.
    pub fn sample(&self) -> Option<Sample> {
        let (estimate, slack) = self.estimate.filter(|_| !self.cancelled)?;
        let signed = |ns: u64| ns as i64;
        let parts = [estimate.queue, estimate.gc, estimate.interference, estimate.residual];
        let seen = [self.waited.gc_ns, self.waited.bus_ns, self.waited.residual_ns].map(signed);
        let queue = signed(self.response_ns()) - signed(estimate.service.ns()) - seen.iter().sum::<i64>();
        Some(Sample {
            response: [self.estimated_ns()?, self.response_ns()],
            slack: [slack, self.actual_slack_ns.unwrap_or(0)],
            parts: [parts.map(|part| signed(part.ns())), [queue, seen[0], seen[1], seen[2]]],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two reads whose actual response times are 100 and 300 ns; each part has sums of its own.
    #[test]
    fn every_part_stands_under_its_name() {
        let mut estimation = Estimation::default();
        let sample = |response, parts| Sample { response, slack: [8, 2], parts };
        estimation.record(Op::Read, &sample([120, 100], [[10, 20, 30, 40], [50, 60, 70, 80]]));
        estimation.record(Op::Read, &sample([200, 300], [[1, 2, 3, 4], [5, 6, 7, 8]]));
        let stats = EstimationStats::of(&estimation);
        let reads = stats.read.expect("reads");
        let part = |estimated: f64, actual: f64| {
            let error_percent = Some((estimated - actual) * 100.0 / 400.0);
            PartStats { estimated_ns: estimated / 2.0, actual_ns: actual / 2.0, error_percent }
        };
        let (queue, gc, interference, residual) =
            (part(11.0, 55.0), part(22.0, 66.0), part(33.0, 77.0), part(44.0, 88.0));
        assert_eq!(reads.parts, PartsStats { queue, gc, interference, residual });
        assert_eq!((reads.transactions, reads.estimated_ns, reads.actual_ns), (2, 160.0, 200.0));
        assert_eq!((reads.estimated_slack_ns, reads.actual_slack_ns, reads.error_percent), (8.0, 2.0, Some(20.0)));
        assert_eq!((stats.all, stats.write), (reads, None));
    }
}
