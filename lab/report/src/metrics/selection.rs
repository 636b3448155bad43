//! The exact value of a rank among values that can be gone through several times, in little memory.
//!
//! The first time the values are counted in the buckets of a histogram, which says in which of them the rank is
//! ([`Search::among`]). Each later time looks only at the values in that range ([`Search::see`]) and makes it narrower
//! ([`Search::narrow`]): few are held and sorted, many are counted by parts of the range.

use super::histogram::{highest_of, index_of, lowest_of, rank};

/// Values that a search holds at most.
const MAX_HELD: u64 = 1 << 16;
/// Parts into which it divides a range that has more.
const PARTS: u64 = 1 << 12;

/// Values by bucket of a histogram.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts(Vec<u64>);

impl Counts {
    /// Counts a value.
    #[inline]
    pub fn count(&mut self, value: u64) {
        let index = index_of(value);
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        self.0[index] += 1;
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Counts) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own += other;
        }
    }
}

/// A search for the value of a rank.
#[derive(Clone, Debug)]
pub(super) struct Search {
    /// The value is one of these.
    lowest: u64,
    highest: u64,
    /// Its rank among the values from the lowest on, from 1.
    rank: u64,
    seen: Seen,
}

/// The values of the range, as they are gone through.
#[derive(Clone, Debug)]
enum Seen {
    Held(Vec<u64>),
    /// How many are in each part of the range, and how wide a part is.
    Counted(Vec<u64>, u64),
}

impl Search {
    /// A search for the value of nearest rank for `millionths` among the counted; `None` if there are none.
    pub fn among(counts: &Counts, millionths: u32) -> Option<Search> {
        let rank = rank(counts.0.iter().sum(), millionths)?;
        let buckets = counts.0.iter().enumerate();
        Some(Search::within(buckets.map(|(i, &count)| (lowest_of(i), highest_of(i), count)), rank))
    }

    /// The same of ranges that follow one another, each with the number of values in it.
    fn within(ranges: impl Iterator<Item = (u64, u64, u64)>, rank: u64) -> Search {
        let mut below = 0;
        for (lowest, highest, count) in ranges {
            if below + count >= rank {
                let step = (highest - lowest) / PARTS + 1;
                let parts = || ((highest - lowest) / step + 1) as usize;
                let seen =
                    if count <= MAX_HELD { Seen::Held(Vec::new()) } else { Seen::Counted(vec![0; parts()], step) };
                return Search { lowest, highest, rank: rank - below, seen };
            }
            below += count;
        }
        unreachable!("a rank is at most the number of values")
    }

    /// The value, once it is known.
    pub fn found(&self) -> Option<u64> {
        (self.lowest == self.highest).then_some(self.lowest)
    }

    /// Goes past a value.
    #[inline]
    pub fn see(&mut self, value: u64) {
        if self.lowest <= value && value <= self.highest {
            match &mut self.seen {
                Seen::Held(values) => values.push(value),
                Seen::Counted(counts, step) => counts[((value - self.lowest) / *step) as usize] += 1,
            }
        }
    }

    /// All values have been gone through since the last time.
    pub fn narrow(&mut self) {
        if self.found().is_some() {
            return;
        }
        match &mut self.seen {
            Seen::Held(values) => {
                let (_, value, _) = values.select_nth_unstable(self.rank as usize - 1);
                (self.lowest, self.highest) = (*value, *value);
                self.seen = Seen::Held(Vec::new());
            }
            Seen::Counted(counts, step) => {
                let (lowest, highest, step) = (self.lowest, self.highest, *step);
                let part = |(i, &count): (usize, &u64)| {
                    let from = lowest + i as u64 * step;
                    (from, highest.min(from + step - 1), count)
                };
                *self = Search::within(counts.iter().enumerate().map(part), self.rank);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng;
    use rand_pcg::Pcg64Mcg;

    /// The value at 95 %, and how often the values were gone through after the first time.
    fn p95(values: &[u64]) -> (Option<u64>, usize) {
        let mut counts = Counts::default();
        values.iter().for_each(|&value| counts.count(value));
        let Some(mut search) = Search::among(&counts, 950_000) else { return (None, 0) };
        let mut times = 0;
        while search.found().is_none() {
            values.iter().for_each(|&value| search.see(value));
            search.narrow();
            times += 1;
        }
        (search.found(), times)
    }

    fn sorted(values: &[u64]) -> Option<u64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        sorted.get((values.len() * 95).div_ceil(100).max(1) - 1).copied()
    }

    #[test]
    fn the_value_is_that_of_the_sorted_values() {
        let mut rng = Pcg64Mcg::new(5);
        for round in 0..300 {
            let (count, bits) = (rng.next_u32() % 2_000, 1 + round % 58);
            let values: Vec<u64> = (0..count).map(|_| rng.next_u64() >> (64 - bits)).collect();
            assert_eq!(p95(&values).0, sorted(&values), "{count} values of {bits} bits");
        }
        assert_eq!([p95(&[]), p95(&[0]), p95(&[7; 9])], [(None, 0), (Some(0), 0), (Some(7), 0)]);
    }

    /// Too many values near the rank to hold them all.
    #[test]
    fn many_values_close_to_one_another_are_counted() {
        let mut rng = Pcg64Mcg::new(6);
        let near = |rng: &mut Pcg64Mcg| (1 << 40) + u64::from(rng.next_u32());
        let values: Vec<u64> = (0..200_000).map(|_| near(&mut rng)).collect();
        assert_eq!(p95(&values), (sorted(&values), 2), "counted, then held");
        let alike = [vec![1 << 40; 150_000], vec![(1 << 40) + 1; 150_000]].concat();
        assert_eq!(p95(&alike), (Some((1 << 40) + 1), 3), "counted twice, until a part has one value");
    }
}
