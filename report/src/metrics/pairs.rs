//! Pairs: the same request under two schedulers (model 0.5: identical arrivals, common random numbers).
//!
//! Owns the comparison of the response times of two runs ([`ResponseTimes`]) request by request. Promises integers throughout, so that pairs do not depend on the order in
//! which runs end. Must never know which schedulers produced them.

use super::interval::standard_error;
use super::pair_p95::PairCounts;
use super::randomization::sign_flip_p;
use super::responses::{ResponseError, ResponseTimes};
use super::sizes::SIZES;

/// Number of batches whose means give the confidence interval. Requests that are close in time wait in the same queues,
/// so single requests are far from independent; the means of long batches nearly are.
pub const BATCHES: usize = 32;
/// Student's t for 95 % on both sides and 31 degrees of freedom.
const T_95: f64 = 2.0395;

/// How many requests were faster, equal and slower, and by how much: of all pairs, or of one direction or size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounters {
    /// Number of pairs.
    pub requests: u64,
    /// Pairs that are faster by more than the tolerance.
    pub faster: u64,
    /// Pairs that are slower by more than the tolerance.
    pub slower: u64,
    /// Sum of the response times in the run compared with, ns.
    pub baseline_ns: u128,
    /// Sum of the response times in the run's own list, ns.
    pub own_ns: u128,
    /// Pairs whose response time in the run compared with is above zero: those that have a relative gain.
    related: u64,
    /// Sum of their relative gains `1 - own / baseline`, in units of 2^-32, each rounded.
    shares: i128,
}

/// The unit of [`PairCounters::shares`] as a fraction: 2^-32.
const SHARE_UNIT: f64 = 1.0 / (1u64 << 32) as f64;

/// A [`PairCounters`] with the batches its confidence interval comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchedPairCounters {
    /// The counters over all batches.
    pub counters: PairCounters,
    batches: Vec<Batch>,
    /// The 95th percentile of the response times, exact: in the run compared with, and in the run's own list, ns.
    pub p95_ns: Option<[u64; 2]>,
}

/// One of the parts of equal numbers of requests that a run is cut into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Batch {
    pairs: u64,
    /// Sum of the gains, ns.
    gain_ns: i128,
    /// Pairs that are faster less pairs that are slower.
    faster: i64,
}

/// What the batches say about chance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Chance {
    /// Batches whose gain is not 0.
    pub differ: u32,
    /// Batches in which more pairs are faster than slower.
    pub mostly_faster: u32,
    /// Batches in which more pairs are slower than faster.
    pub mostly_slower: u32,
    /// The two-sided p-value of the mean gain by flipping the signs of batches ([`sign_flip_p`]).
    pub p: Option<f64>,
}

/// Two runs compared request by request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Reads and writes.
    pub all: BatchedPairCounters,
    /// Reads, then writes.
    pub direction: [BatchedPairCounters; 2],
    /// By size class.
    pub size: [PairCounters; SIZES],
    /// By flow; shorter where the last flows have no pair.
    pub flow: Vec<BatchedPairCounters>,
}

/// The difference from `baseline` above which a response time counts as different: more than 1 us and more than 0.1 %
/// (model 1.2).
fn tolerance(baseline: u64) -> u64 {
    (baseline / 1_000).max(1_000)
}

/// One request's response times, compared.
#[derive(Clone, Copy)]
struct Pair {
    baseline: u64,
    own: u64,
    is_faster: bool,
    is_slower: bool,
    /// Relative gain in units of 2^-32, rounded.
    share: Option<i64>,
}

impl Pair {
    #[inline]
    fn of(baseline: u64, own: u64) -> Pair {
        let tolerance = tolerance(baseline);
        // One rounded division of exactly represented numbers: the same on every machine.
        let share = || (((baseline as f64 - own as f64) / baseline as f64) / SHARE_UNIT).round_ties_even() as i64;
        Pair {
            baseline,
            own,
            is_faster: own + tolerance < baseline,
            is_slower: baseline + tolerance < own,
            share: (baseline > 0).then(share),
        }
    }
}

impl PairCounters {
    #[inline]
    fn add(&mut self, pair: Pair) {
        self.requests += 1;
        self.faster += u64::from(pair.is_faster);
        self.slower += u64::from(pair.is_slower);
        self.baseline_ns += u128::from(pair.baseline);
        self.own_ns += u128::from(pair.own);
        if let Some(share) = pair.share {
            self.related += 1;
            self.shares += i128::from(share);
        }
    }

    /// Pairs that are neither faster nor slower.
    pub fn equal(&self) -> u64 {
        self.requests - self.faster - self.slower
    }

    /// Improvement of the mean in percent, `100 (baseline - own) / baseline` (model 0.5).
    pub fn improvement_percent(&self) -> Option<f64> {
        (self.baseline_ns > 0).then(|| 100.0 * (self.baseline_ns as f64 - self.own_ns as f64) / self.baseline_ns as f64)
    }

    /// Gain per request in percent: the mean over the pairs of `100 (baseline - own) / baseline` (model 0.5). Unlike the improvement of
    /// the mean it counts short and long requests alike. `None` if no response time compared with is above zero.
    pub fn gain_percent_per_request(&self) -> Option<f64> {
        (self.related > 0).then(|| 100.0 * (self.shares as f64 * SHARE_UNIT) / self.related as f64)
    }
}

impl BatchedPairCounters {
    #[inline]
    fn add(&mut self, batch: usize, pair: Pair) {
        self.counters.add(pair);
        if self.batches.len() <= batch {
            self.batches.resize(batch + 1, Batch::default());
        }
        let batch = &mut self.batches[batch];
        batch.pairs += 1;
        batch.gain_ns += i128::from(pair.baseline) - i128::from(pair.own);
        batch.faster += i64::from(pair.is_faster) - i64::from(pair.is_slower);
    }

    /// Mean gain of a request, ns, and half the width of its 95 % confidence interval from the means of [`BATCHES`]
    /// batches; no interval when a batch has no pair.
    pub fn gain_ns(&self) -> Option<(f64, Option<f64>)> {
        let t = &self.counters;
        if t.requests == 0 {
            return None;
        }
        let mean = (t.baseline_ns as f64 - t.own_ns as f64) / t.requests as f64;
        if self.batches.len() < BATCHES || self.batches.iter().any(|batch| batch.pairs == 0) {
            return Some((mean, None));
        }
        let means: Vec<f64> = self.batches.iter().map(|batch| batch.gain_ns as f64 / batch.pairs as f64).collect();
        let middle = means.iter().sum::<f64>() / means.len() as f64;
        Some((mean, Some(T_95 * standard_error(&means, middle))))
    }

    /// Whether the gain could be chance. With fewer pairs than batches there are no batches to speak of, and no p-value.
    pub fn chance(&self) -> Chance {
        let count = |is: fn(&Batch) -> bool| self.batches.iter().filter(|batch| is(batch)).count() as u32;
        let gains: Vec<i128> = self.batches.iter().map(|batch| batch.gain_ns).collect();
        Chance {
            differ: count(|batch| batch.gain_ns != 0),
            mostly_faster: count(|batch| batch.faster > 0),
            mostly_slower: count(|batch| batch.faster < 0),
            p: (self.counters.requests >= BATCHES as u64).then(|| sign_flip_p(&gains)).flatten(),
        }
    }
}

impl Pairs {
    /// Compares `own` with `baseline` request by request; a request counts if both lists have it.
    ///
    /// # Errors
    /// If the temporary file of one of them cannot be read.
    pub fn of(baseline: &ResponseTimes, own: &ResponseTimes) -> Result<Pairs, ResponseError> {
        let total = ResponseTimes::count_both(baseline, own)?;
        // Pair `number` belongs to batch `number * BATCHES / total`.
        let (mut pairs, mut number, mut batch) = (Pairs::default(), 0, 0);
        let mut counts = PairCounts::default();
        ResponseTimes::for_both(baseline, own, |from, to| {
            while (batch + 1) * total <= number * BATCHES {
                batch += 1;
            }
            number += 1;
            let pair = Pair::of(from.ns, to.ns);
            pairs.all.add(batch, pair);
            pairs.direction[from.op.index()].add(batch, pair);
            pairs.size[from.class].add(pair);
            if pairs.flow.len() <= from.flow {
                pairs.flow.resize(from.flow + 1, BatchedPairCounters::default());
            }
            pairs.flow[from.flow].add(batch, pair);
            counts.count(&from, &to);
        })?;
        let p95 = counts.p95(baseline, own)?;
        pairs.all.p95_ns = p95.all;
        let of_parts = p95.direction.into_iter().chain(p95.flow);
        let parts = pairs.direction.iter_mut().chain(&mut pairs.flow);
        parts.zip(of_parts).for_each(|(part, p95)| part.p95_ns = p95);
        Ok(pairs)
    }
}

#[cfg(test)]
#[path = "pairs_level.rs"]
mod level;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::responses::completion;
    use crate::metrics::sizes::pages_of;
    use flashlane_core::Op;

    /// The pairs of two runs.
    fn paired(base: &[(u64, Op, u32, u64)], own: &[(u64, Op, u32, u64)]) -> Pairs {
        Pairs::of(&responses(base), &responses(own)).expect("in memory")
    }

    fn responses(list: &[(u64, Op, u32, u64)]) -> ResponseTimes {
        let mut responses = ResponseTimes::default();
        for &(id, op, pages, ns) in list.iter().rev() {
            responses.record(&completion(id, op, pages, ns)).expect("in memory");
        }
        responses
    }

    #[test]
    fn the_tolerance_is_a_microsecond_or_a_thousandth() {
        let ends = [(5_000, 4_000), (5_000, 3_999), (5_000, 6_000), (5_000, 6_001), (9_000_000, 8_991_000)];
        let (mut base, mut own) = (Vec::new(), Vec::new());
        for (i, (a, b)) in ends.into_iter().chain([(9_000_000, 8_990_999)]).enumerate() {
            base.push((i as u64, Op::Read, 1, a));
            own.push((i as u64, Op::Read, 1, b));
        }
        let counters = paired(&base, &own).all.counters;
        assert_eq!((counters.requests, counters.faster, counters.equal(), counters.slower), (6, 2, 3, 1));
    }

    #[test]
    fn directions_and_sizes_are_kept_apart_and_requests_of_one_run_only_left_out() {
        let base =
            [(0, Op::Read, 1, 10_000), (2, Op::Write, 16, 40_000), (3, Op::Write, 500, 60_000), (4, Op::Read, 2, 1)];
        let own =
            [(0, Op::Read, 1, 5_000), (1, Op::Read, 9, 9), (2, Op::Write, 16, 60_000), (3, Op::Write, 500, 60_000)];
        let pairs = paired(&base, &own);
        assert_eq!((pairs.all.counters.requests, pairs.all.counters.faster, pairs.all.counters.slower), (3, 1, 1));
        assert_eq!(pairs.direction[0].counters.improvement_percent(), Some(50.0));
        assert_eq!(pairs.direction[1].counters.improvement_percent(), Some(-20.0));
        assert_eq!(pairs.size.map(|t| t.requests).iter().sum::<u64>(), 3);
        assert_eq!([0, 15, 16].map(|class| pairs.size[class].requests), [1, 1, 1]);
        // Of the mean (110 - 125) / 110; of the requests 50, -50 and 0 percent.
        assert_eq!(pairs.all.counters.improvement_percent(), Some(-1_500.0 / 110.0));
        assert_eq!(pairs.all.counters.gain_percent_per_request(), Some(0.0));
        assert_eq!(
            [0, 15, 16].map(|class| pairs.size[class].gain_percent_per_request()),
            [Some(50.0), Some(-50.0), Some(0.0)]
        );
        assert_eq!((pages_of(15), pages_of(16)), ((16, Some(16)), (17, None)));
        assert_eq!(
            (PairCounters::default().improvement_percent(), PairCounters::default().gain_percent_per_request()),
            (None, None)
        );
    }

    #[test]
    fn the_gain_per_request_counts_short_and_long_requests_alike() {
        let base = [(0, Op::Read, 1, 1_000), (1, Op::Read, 1, 1_000_000), (2, Op::Read, 1, 0), (3, Op::Read, 1, 3_000)];
        let own = [(0, Op::Read, 1, 250), (1, Op::Read, 1, 1_500_000), (2, Op::Read, 1, 7), (3, Op::Read, 1, 4_000)];
        let counters = paired(&base, &own).all.counters;
        // 75, -50 and -33.3 percent; what took no time has no relative gain.
        let gain = counters.gain_percent_per_request().unwrap();
        assert!((gain - (75.0 - 50.0 - 100.0 / 3.0) / 3.0).abs() < 1e-7, "{gain}");
        let slow = paired(&[(0, Op::Read, 1, 1)], &[(0, Op::Read, 1, 1 << 57)]).all.counters;
        assert!(slow.gain_percent_per_request().is_some_and(|gain| gain < -1e10), "no overflow");
    }

    /// Nineteen of twenty requests take at most so long, to the nanosecond: in both runs, by direction and by flow.
    #[test]
    fn the_95th_percentiles_are_exact() {
        let responses = |of: &dyn Fn(u64) -> u64| {
            let mut responses = ResponseTimes::default();
            for id in 0..4_000 {
                let op = if id % 4 == 0 { Op::Write } else { Op::Read };
                let flow = flashlane_core::FlowId((id % 2) as u16);
                responses.record(&flashlane_core::Completion { flow, ..completion(id, op, 1, of(id)) }).expect("held");
            }
            responses
        };
        let (base, own) = (|id| 1_000_000 + 7 * id, |id| 1_000_000_000 + 3 * (3_999 - id));
        let pairs = Pairs::of(&responses(&base), &responses(&own)).expect("in memory");
        let expected = |among: &dyn Fn(u64) -> bool| {
            Some([&base as &dyn Fn(u64) -> u64, &own].map(|of| {
                let mut times: Vec<u64> = (0..4_000).filter(|&id| among(id)).map(of).collect();
                times.sort_unstable();
                times[(times.len() * 95).div_ceil(100) - 1]
            }))
        };
        assert_eq!(pairs.all.p95_ns, expected(&|_| true));
        assert_eq!(pairs.direction[0].p95_ns, expected(&|id| id % 4 > 0));
        assert_eq!(pairs.direction[1].p95_ns, expected(&|id| id % 4 == 0));
        assert_eq!(
            [0, 1].map(|flow| pairs.flow[flow as usize].p95_ns),
            [0, 1].map(|flow| expected(&|id| id % 2 == flow))
        );
    }

    /// A batch is the least of which chance can be judged.
    #[test]
    fn as_many_pairs_as_batches_have_a_p_value() {
        let of = |n: u64, ns: u64| -> Vec<_> { (0..n).map(|i| (i, Op::Read, 1, ns)).collect() };
        let p = |n: u64| paired(&of(n, 100_000), &of(n, 90_000)).all.chance().p;
        let n = BATCHES as u64;
        assert!(p(n).is_some_and(|p| p < 0.001) && p(n - 1).is_none());
    }

    #[test]
    fn the_interval_is_that_of_the_batch_means() {
        let n = 64 * BATCHES as u64;
        let base: Vec<_> = (0..n).map(|i| (i, Op::Read, 1, 100_000)).collect();
        let same: Vec<_> = (0..n).map(|i| (i, Op::Read, 1, 90_000)).collect();
        let gain = paired(&base, &same).all.gain_ns();
        assert_eq!(gain, Some((10_000.0, Some(0.0))), "no spread, no width");
        // Every other batch gains 20 us, the rest nothing: a standard deviation of 10 us times sqrt(32 / 31).
        let halves: Vec<_> = (0..n).map(|i| (i, Op::Read, 1, if i / 64 % 2 == 0 { 80_000 } else { 100_000 })).collect();
        let (mean, width) = paired(&base, &halves).all.gain_ns().unwrap();
        let expected = 2.0395 * 10_000.0 * (32.0f64 / 31.0).sqrt() / 32.0f64.sqrt();
        assert_eq!(mean, 10_000.0);
        assert!((width.unwrap() - expected).abs() < 1e-6, "{width:?} {expected}");
        let few = paired(&base[..5], &same[..5]).all.gain_ns();
        assert_eq!(few, Some((10_000.0, None)));
    }
}
