//! When the pairs of two runs differ: by quarter of the requests and by window of time, each flow's reads and writes for themselves.

use flashlane_core::Op;

use super::gain_places::{Concentrated, GainPlaces, Windows};
use super::responses::{Both, Response};

/// Pairs of a quarter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuarterSums {
    /// Number of pairs.
    pub requests: u64,
    /// Sum of the response times in the run compared with, ns.
    pub baseline_ns: u128,
    /// Sum of the response times in the run's own list, ns.
    pub own_ns: u128,
}

/// Pairs by flow and direction.
#[derive(Clone, Debug)]
pub(super) struct PairCells {
    by_flow: Vec<OfFlow>,
    /// By quarter of all pairs, of either direction.
    quarters: [[QuarterSums; 4]; 2],
    windows: Windows,
    progress: Progress,
}

/// Pairs of a flow.
#[derive(Clone, Debug, Default)]
struct OfFlow {
    by_direction: [Cell; 2],
    progress: Progress,
}

/// Pairs in all, and those so far.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    total: usize,
    number: usize,
}

impl Progress {
    /// The quarter of the next pair.
    #[inline]
    fn quarter(&mut self) -> usize {
        let quarter = 4 * self.number / self.total;
        self.number += 1;
        quarter
    }
}

/// Pairs of one flow and direction, or of several together.
#[derive(Clone, Debug, Default)]
struct Cell {
    /// By quarter of the flow's pairs.
    quarters: [QuarterSums; 4],
    places: GainPlaces,
}

/// When the pairs of a part differ.
pub(super) type When = ([QuarterSums; 4], Option<Concentrated>);

impl QuarterSums {
    #[inline]
    fn add(&mut self, requests: u64, baseline_ns: u128, own_ns: u128) {
        self.requests += requests;
        self.baseline_ns += baseline_ns;
        self.own_ns += own_ns;
    }
}

impl PairCells {
    /// For these pairs.
    pub fn new(both: &Both) -> PairCells {
        let of = |total: usize| Progress { total, number: 0 };
        let flows = both.by_flow.iter().map(|&total| OfFlow { progress: of(total), ..OfFlow::default() });
        PairCells {
            by_flow: flows.collect(),
            quarters: Default::default(),
            windows: Windows::new(both.arrivals),
            progress: of(both.count()),
        }
    }

    /// Adds the next pair, in order of issue.
    #[inline]
    pub fn add(&mut self, baseline: &Response, own: &Response) {
        let (from, to) = (u128::from(baseline.ns), u128::from(own.ns));
        let direction = baseline.op.index();
        self.quarters[direction][self.progress.quarter()].add(1, from, to);
        let flow = &mut self.by_flow[baseline.flow];
        let cell = &mut flow.by_direction[direction];
        cell.quarters[flow.progress.quarter()].add(1, from, to);
        cell.places.add(self.windows.of(baseline.arrival), baseline.ns as i64 - own.ns as i64);
    }

    /// Of all pairs.
    pub fn all(&self) -> When {
        self.of(self.by_flow.iter().flat_map(|flow| &flow.by_direction), &self.quarters)
    }

    /// Of reads or writes.
    pub fn direction(&self, op: Op) -> When {
        let op = op.index();
        self.of(self.by_flow.iter().map(|flow| &flow.by_direction[op]), &self.quarters[op..=op])
    }

    /// Of a flow.
    pub fn flow(&self, flow: usize) -> When {
        let cells = &self.by_flow[flow].by_direction;
        self.of(cells.iter(), &cells.each_ref().map(|cell| cell.quarters))
    }

    fn of<'a>(&self, cells: impl Iterator<Item = &'a Cell>, quarters: &[[QuarterSums; 4]]) -> When {
        let (mut places, mut sums) = (GainPlaces::default(), [QuarterSums::default(); 4]);
        cells.for_each(|cell| places.merge(&cell.places));
        for own in quarters {
            for (sum, own) in sums.iter_mut().zip(own) {
                sum.add(own.requests, own.baseline_ns, own.own_ns);
            }
        }
        (sums, places.concentrated(&self.windows))
    }
}
