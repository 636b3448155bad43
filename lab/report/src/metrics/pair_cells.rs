//! When the pairs of two runs differ: by quarter of the run and by window of time, each flow's reads and writes for themselves.

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
    by_flow: Vec<[Cell; 2]>,
    windows: Windows,
    /// Pairs in all, and those so far.
    total: usize,
    number: usize,
}

/// Pairs of one flow and direction, or of several together.
#[derive(Clone, Debug, Default)]
struct Cell {
    quarters: [QuarterSums; 4],
    places: GainPlaces,
}

/// When the pairs of a part differ.
pub(super) type When = ([QuarterSums; 4], Option<Concentrated>);

impl PairCells {
    /// For these pairs.
    pub fn new(both: &Both) -> PairCells {
        PairCells { by_flow: Vec::new(), windows: Windows::new(both.arrivals), total: both.count, number: 0 }
    }

    /// Adds the next pair, in order of issue.
    #[inline]
    pub fn add(&mut self, baseline: &Response, own: &Response) {
        if self.by_flow.len() <= baseline.flow {
            self.by_flow.resize(baseline.flow + 1, Default::default());
        }
        let (quarter, window) = (4 * self.number / self.total, self.windows.of(baseline.arrival));
        self.number += 1;
        let cell = &mut self.by_flow[baseline.flow][baseline.op.index()];
        let sums = &mut cell.quarters[quarter];
        sums.requests += 1;
        sums.baseline_ns += u128::from(baseline.ns);
        sums.own_ns += u128::from(own.ns);
        cell.places.add(window, baseline.ns as i64 - own.ns as i64);
    }

    /// Of all pairs.
    pub fn all(&self) -> When {
        self.of(self.by_flow.iter().flatten())
    }

    /// Of reads or writes.
    pub fn direction(&self, op: Op) -> When {
        self.of(self.by_flow.iter().map(|cells| &cells[op.index()]))
    }

    /// Of a flow.
    pub fn flow(&self, flow: usize) -> When {
        self.of(self.by_flow[flow].iter())
    }

    fn of<'a>(&self, cells: impl Iterator<Item = &'a Cell>) -> When {
        let mut sum = Cell::default();
        for cell in cells {
            for (sum, own) in sum.quarters.iter_mut().zip(&cell.quarters) {
                sum.requests += own.requests;
                sum.baseline_ns += own.baseline_ns;
                sum.own_ns += own.own_ns;
            }
            sum.places.merge(&cell.places);
        }
        (sum.quarters, sum.places.concentrated(&self.windows))
    }
}
