//! The 95th percentiles of the response times of pairs, exact: of all, of reads and of writes, and by flow.
//!
//! Counts while the pairs are gone through the first time, and goes through them again, mostly once, for the values themselves.

use super::responses::{Response, ResponseError, ResponseTimes};
use super::selection::{Counts, Search};

/// The percentile, in millionths.
const P95: u32 = 950_000;

/// Response times of one flow and direction: in the run compared with, and in the run's own list.
type Cell = [Counts; 2];

/// The response times of pairs by bucket.
#[derive(Debug, Default)]
pub(super) struct PairCounts {
    /// By flow: reads, then writes.
    by_flow: Vec<[Cell; 2]>,
}

/// The percentiles of both lists, ns; none where there is no pair.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PairP95 {
    pub all: Option<[u64; 2]>,
    /// Reads, then writes.
    pub direction: [Option<[u64; 2]>; 2],
    pub flow: Vec<Option<[u64; 2]>>,
}

/// The searches that are needed: what there is only one of is all there is.
struct Searches {
    sides: Vec<[Search; 2]>,
    /// Which of them is that of the direction, and of the flow: the first is that of all.
    direction: [Option<usize>; 2],
    flow: Vec<Option<usize>>,
}

impl PairCounts {
    /// Counts a pair.
    #[inline]
    pub fn count(&mut self, baseline: &Response, own: &Response) {
        if self.by_flow.len() <= baseline.flow {
            self.by_flow.resize(baseline.flow + 1, Default::default());
        }
        let [of_baseline, of_own] = &mut self.by_flow[baseline.flow][baseline.op.index()];
        of_baseline.count(baseline.ns);
        of_own.count(own.ns);
    }

    /// The percentiles of these pairs, which are those of `baseline` and `own`.
    ///
    /// # Errors
    /// If the temporary file of one of them cannot be read.
    pub fn p95(&self, baseline: &ResponseTimes, own: &ResponseTimes) -> Result<PairP95, ResponseError> {
        let mut searches = self.searches();
        while searches.sides.iter().flatten().any(|side| side.found().is_none()) {
            ResponseTimes::for_both(baseline, own, |baseline, own| searches.see(&baseline, &own))?;
            searches.sides.iter_mut().flatten().for_each(Search::narrow);
        }
        let found = |place: Option<usize>| {
            let [baseline, own] = searches.sides.get(place?)?;
            Some([baseline.found()?, own.found()?])
        };
        Ok(PairP95 {
            all: found(Some(0)),
            direction: searches.direction.map(found),
            flow: searches.flow.iter().map(|&place| found(place)).collect(),
        })
    }

    fn searches(&self) -> Searches {
        let of = |cells: &mut dyn Iterator<Item = &Cell>| {
            let mut sum = Cell::default();
            for cell in cells {
                sum.iter_mut().zip(cell).for_each(|(sum, side)| sum.merge(side));
            }
            let [baseline, own] = sum.map(|side| Search::among(&side, P95));
            Some([baseline?, own?])
        };
        let mut sides: Vec<[Search; 2]> = of(&mut self.by_flow.iter().flatten()).into_iter().collect();
        let mut placed = |searches: Vec<Option<[Search; 2]>>| -> Vec<Option<usize>> {
            let only = searches.iter().flatten().count() == 1;
            let mut place = |search| {
                sides.push(search);
                sides.len() - 1
            };
            searches.into_iter().map(|one| one.map(|search| if only { 0 } else { place(search) })).collect()
        };
        let direction = placed([0, 1].map(|op| of(&mut self.by_flow.iter().map(|cells| &cells[op]))).into());
        let flow = placed(self.by_flow.iter().map(|cells| of(&mut cells.iter())).collect());
        Searches { sides, direction: [direction[0], direction[1]], flow }
    }
}

impl Searches {
    #[inline]
    fn see(&mut self, baseline: &Response, own: &Response) {
        let mut see = |place: usize| {
            let [of_baseline, of_own] = &mut self.sides[place];
            of_baseline.see(baseline.ns);
            of_own.see(own.ns);
        };
        see(0);
        let narrower = [self.direction[baseline.op.index()], self.flow[baseline.flow]];
        narrower.into_iter().flatten().filter(|&place| place > 0).for_each(see);
    }
}
