//! How accurate estimated response times were: estimates against actual times, in all, by direction, and by part of the
//! wait (Slacker §5.2, figure 7; SLK-E5).
//!
//! Sums of whole numbers, so that figures do not depend on the order in which requests end. Must never know which
//! estimator made the estimates.

use flashlane_core::Op;

/// Parts of an estimate, in the order of Slacker eq. 2.
pub const PARTS: [&str; 4] = ["queue", "gc", "interference", "residual"];

/// A transaction's estimated and actual times, ns.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Response time, estimated and actual.
    pub response: [u64; 2],
    /// Slack.
    pub slack: [u64; 2],
    /// The parts of the wait, estimated and actual. The actual queue part is the rest after the other parts are
    /// subtracted; it is negative where a transaction shared its service with others.
    pub parts: [[i64; 4]; 2],
}

/// Sums over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Number of samples.
    pub count: u64,
    /// Sum of response times, estimated and actual.
    pub response: [u128; 2],
    /// Sum of slack, estimated and actual.
    pub slack: [u128; 2],
    /// Sum of each part, estimated and actual.
    pub parts: [[i128; 4]; 2],
    /// Sum over transactions of the error relative to the actual response time, in millionths.
    relative: u128,
}

impl Sums {
    fn add(&mut self, sample: &Sample) {
        self.count += 1;
        let [estimated, actual] = sample.response;
        self.relative += u128::from(estimated.abs_diff(actual)) * 1_000_000 / u128::from(actual.max(1));
        for side in 0..2 {
            self.response[side] += u128::from(sample.response[side]);
            self.slack[side] += u128::from(sample.slack[side]);
            for part in 0..PARTS.len() {
                self.parts[side][part] += i128::from(sample.parts[side][part]);
            }
        }
    }

    /// Error of the summed response times, percent of the actual sum; `None` where the actual sum is zero.
    pub fn error_percent(&self) -> Option<f64> {
        let [estimated, actual] = self.response;
        (actual > 0).then(|| estimated.abs_diff(actual) as f64 * 100.0 / actual as f64)
    }

    /// Mean over transactions of the error relative to the actual response time, percent (MAPE).
    pub fn mean_error_percent(&self) -> Option<f64> {
        (self.count > 0).then(|| self.relative as f64 / 10_000.0 / self.count as f64)
    }
}

/// Estimates of the transactions of measured requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimation {
    of: [Sums; 2],
}

impl Estimation {
    /// Counts a transaction of a request of this direction.
    pub fn record(&mut self, op: Op, sample: &Sample) {
        self.of[op.index()].add(sample);
    }

    /// The sums of one direction.
    pub fn of(&self, op: Op) -> &Sums {
        &self.of[op.index()]
    }

    /// The sums of both directions.
    pub fn all(&self) -> Sums {
        let [mut sum, other] = self.of;
        sum.count += other.count;
        sum.relative += other.relative;
        for side in 0..2 {
            sum.response[side] += other.response[side];
            sum.slack[side] += other.slack[side];
            for part in 0..PARTS.len() {
                sum.parts[side][part] += other.parts[side][part];
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_sum_and_of_each() {
        let mut estimation = Estimation::default();
        let sample = |estimated, actual| Sample {
            response: [estimated, actual],
            slack: [3, 5],
            parts: [[estimated as i64, 0, 0, 0], [actual as i64 - 7, 7, 0, 0]],
        };
        estimation.record(Op::Read, &sample(110, 100));
        estimation.record(Op::Read, &sample(190, 200));
        estimation.record(Op::Write, &sample(900, 1000));
        let reads = estimation.of(Op::Read);
        assert_eq!((reads.error_percent(), reads.mean_error_percent()), (Some(0.0), Some(7.5)));
        assert_eq!(estimation.of(Op::Write).error_percent(), Some(10.0));
        let all = estimation.all();
        assert_eq!((all.count, all.slack, all.parts[1]), (3, [9, 15], [1279, 21, 0, 0]));
        assert_eq!(all.error_percent(), Some(100.0 * 100.0 / 1300.0));
        // 10, 5 and 10 percent.
        assert_eq!(all.mean_error_percent(), Some(25.0 / 3.0));
        assert_eq!(Sums::default().error_percent(), None);
    }
}
