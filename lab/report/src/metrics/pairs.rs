//! Pairs: the same request under two schedulers (model 0.5: identical arrivals, common random numbers).
//!
//! Owns the comparison of the response times of two runs ([`ResponseTimes`]) request by request. Promises integers throughout, so that pairs do not depend on the order in
//! which runs end. Must never know which schedulers produced them.

use flashlane_core::Op;

use super::gain_places::Concentrated;
use super::pair_cells::{PairCells, QuarterSums};
use super::pair_p95::PairCounts;
use super::responses::{ResponseError, ResponseTimes};
use super::sizes::SIZES;

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

/// [`PairCounters`] of a run or a part of it, and percentiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairTotals {
    /// The counters.
    pub counters: PairCounters,
    /// The 95th percentile of the response times, exact: in the run compared with, and in the run's own list, ns.
    pub p95_ns: Option<[u64; 2]>,
    /// The parts that lie in each quarter of all pairs.
    pub quarters: [QuarterSums; 4],
    /// Where the net difference lies; `None` if there is none.
    pub concentrated: Option<Concentrated>,
}

/// Two runs compared request by request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// Reads and writes.
    pub all: PairTotals,
    /// Reads, then writes.
    pub direction: [PairTotals; 2],
    /// By size class.
    pub size: [PairCounters; SIZES],
    /// By flow; shorter where the last flows have no pair.
    pub flow: Vec<PairTotals>,
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

impl PairTotals {
    /// Mean gain of a request, ns; `None` without pairs.
    pub fn gain_ns(&self) -> Option<f64> {
        let t = &self.counters;
        (t.requests > 0).then(|| (t.baseline_ns as f64 - t.own_ns as f64) / t.requests as f64)
    }
}

impl Pairs {
    /// Compares `own` with `baseline` request by request; a request counts if both lists have it.
    ///
    /// # Errors
    /// If the temporary file of one of them cannot be read.
    pub fn of(baseline: &ResponseTimes, own: &ResponseTimes) -> Result<Pairs, ResponseError> {
        let mut cells = PairCells::new(&ResponseTimes::count_both(baseline, own)?);
        let mut pairs = Pairs::default();
        let mut counts = PairCounts::default();
        ResponseTimes::for_both(baseline, own, |from, to| {
            let pair = Pair::of(from.ns, to.ns);
            pairs.all.counters.add(pair);
            pairs.direction[from.op.index()].counters.add(pair);
            pairs.size[from.class].add(pair);
            if pairs.flow.len() <= from.flow {
                pairs.flow.resize(from.flow + 1, PairTotals::default());
            }
            pairs.flow[from.flow].counters.add(pair);
            counts.count(&from, &to);
            cells.add(&from, &to);
        })?;
        (pairs.all.quarters, pairs.all.concentrated) = cells.all();
        for op in [Op::Read, Op::Write] {
            let part = &mut pairs.direction[op.index()];
            (part.quarters, part.concentrated) = cells.direction(op);
        }
        for (flow, part) in pairs.flow.iter_mut().enumerate() {
            (part.quarters, part.concentrated) = cells.flow(flow);
        }
        let p95 = counts.p95(baseline, own)?;
        pairs.all.p95_ns = p95.all;
        let of_parts = p95.direction.into_iter().chain(p95.flow);
        let parts = pairs.direction.iter_mut().chain(&mut pairs.flow);
        parts.zip(of_parts).for_each(|(part, p95)| part.p95_ns = p95);
        Ok(pairs)
    }
}

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

    /// 1,000 requests, 10 ns apart, of which the last 20 gain 99 us and all others lose 100 ns.
    #[test]
    fn quarters_and_places_are_those_of_the_pairs() {
        let late = |id: u64| id >= 980;
        let op = |id: u64| if id.is_multiple_of(2) { Op::Read } else { Op::Write };
        let base: Vec<_> = (0..1_000).map(|id| (id, op(id), 1, if late(id) { 100_000 } else { 10_000 })).collect();
        let own: Vec<_> = (0..1_000).map(|id| (id, op(id), 1, if late(id) { 1_000 } else { 10_100 })).collect();
        let pairs = paired(&base, &own);
        let sums = |part: &PairTotals| part.quarters.map(|sums| (sums.requests, sums.baseline_ns, sums.own_ns));
        let (early, last) = ((250, 2_500_000, 2_525_000), (250, 2_300_000 + 2_000_000, 2_323_000 + 20_000));
        assert_eq!(sums(&pairs.all), [early, early, early, last]);
        assert_eq!(sums(&pairs.direction[0])[0], (125, 1_250_000, 1_262_500));
        assert_eq!((sums(&pairs.flow[0]), pairs.flow[0].concentrated), (sums(&pairs.all), pairs.all.concentrated));
        let found = pairs.all.concentrated.expect("they differ");
        assert_eq!((found.gained_ns, found.lost_ns), (20 * 99_000, 980 * 100));
        // Nine tenths of 1,882,000 ns are those of 18 requests; the two last windows have 10 of them each.
        assert_eq!((found.requests, found.windows, found.window_requests), (18, 2, 20));
        assert_eq!(found.span_ns[1], 9_990);
    }

    /// Quarters of a flow are those of its own requests, wherever they lie in the run.
    #[test]
    fn quarters_of_a_flow_are_of_its_own_requests() {
        let responses = |ns: &dyn Fn(u64) -> u64| {
            let mut responses = ResponseTimes::default();
            for id in 0..1_000 {
                // The first 8 of 1,000 are the second flow's.
                let flow = flashlane_core::FlowId(u16::from(id < 8));
                let completion = flashlane_core::Completion { flow, ..completion(id, Op::Read, 1, ns(id)) };
                responses.record(&completion).expect("in memory");
            }
            responses
        };
        let pairs = Pairs::of(&responses(&|_| 9), &responses(&|id| id)).expect("in memory");
        assert_eq!(pairs.flow[1].quarters.map(|sums| (sums.requests, sums.own_ns)), [(2, 1), (2, 5), (2, 9), (2, 13)]);
        assert_eq!(pairs.flow[0].quarters.map(|sums| sums.requests), [248; 4]);
        assert_eq!(pairs.all.quarters.map(|sums| sums.requests), [250; 4]);
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
}
