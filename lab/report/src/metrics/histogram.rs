//! A histogram of nanosecond values.
//!
//! Owns the buckets, which are fio's: values below 128 ns each have their own, and every octave above is cut into 64
//! buckets of equal width. Promises an exact count, sum, minimum and maximum, and percentiles at most 1/128 (0.79 %)
//! from the value of that rank. Must never know what the values stand for.

use std::ops::Range;

/// Buckets of an octave, as a power of two.
const OCTAVE_BITS: u32 = 6;

/// A histogram: 64 buckets an octave, exact below 128 ns.
///
/// A percentile is the middle of the bucket that holds the value of that rank, as fio reports it, but never outside
/// the smallest and largest value seen. A bucket is `2^-6` of its lower bound wide at most, so its middle is off by at
/// most `2^-7` of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    /// `u64::MAX` while the histogram is empty.
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: Vec::new(), count: 0, sum: 0, sum_of_squares: 0, min: u64::MAX, max: 0 }
    }
}

/// One non-empty bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Smallest value that falls into it.
    pub lowest: u64,
    /// Largest value that falls into it.
    pub highest: u64,
    /// Number of values in it.
    pub count: u64,
}

impl Bucket {
    /// The bucket `value` falls into, with no values in it.
    pub fn of(value: u64) -> Bucket {
        let index = index_of(value);
        Bucket { lowest: lowest_of(index), highest: highest_of(index), count: 0 }
    }

    /// The value reported for all values of the bucket: its middle, rounded up, as in fio.
    pub fn middle(&self) -> u64 {
        middle(self.lowest, self.highest)
    }
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Histogram {
        Histogram::default()
    }

    /// Counts a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let index = index_of(value);
        match self.counts.get_mut(index) {
            Some(count) => *count += 1,
            None => self.grow(index),
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        // Saturates only when the values add up to centuries.
        self.sum_of_squares = self.sum_of_squares.saturating_add(u128::from(value) * u128::from(value));
    }

    /// Grows the table only as far as the values reach: a histogram of microseconds takes a few kilobytes instead of
    /// thirty.
    #[cold]
    fn grow(&mut self, index: usize) {
        let octaves = index / 64 + 1;
        self.counts.resize(octaves * 64, 0);
        self.counts[index] += 1;
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        let used = other.used();
        for (mine, theirs) in self.counts[used.clone()].iter_mut().zip(&other.counts[used]) {
            *mine += theirs;
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
    }

    /// The values that came after `earlier`, a copy of this histogram at an earlier time. Its smallest and largest are exact to their
    /// buckets.
    pub fn since(&self, earlier: &Histogram) -> Histogram {
        let mut counts = self.counts.clone();
        counts.iter_mut().zip(&earlier.counts).for_each(|(mine, theirs)| *mine -= theirs);
        let used = |&(_, &count): &(usize, &u64)| count > 0;
        let min = counts.iter().enumerate().find(used).map_or(u64::MAX, |(index, _)| lowest_of(index).max(self.min));
        let max = counts.iter().enumerate().rfind(used).map_or(0, |(index, _)| highest_of(index).min(self.max));
        Histogram {
            count: self.count - earlier.count,
            sum: self.sum - earlier.sum,
            sum_of_squares: self.sum_of_squares - earlier.sum_of_squares,
            counts,
            min,
            max,
        }
    }

    /// Removes all values and keeps the allocated memory.
    pub(super) fn clear(&mut self) {
        let used = self.used();
        self.counts[used].fill(0);
        *self = Histogram { counts: std::mem::take(&mut self.counts), ..Histogram::default() };
    }

    /// The part of the table that holds values.
    fn used(&self) -> Range<usize> {
        if self.count == 0 { 0..0 } else { index_of(self.min)..index_of(self.max) + 1 }
    }

    /// Values counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the values, exact.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Smallest value, exact; `None` when empty.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Largest value, exact; `None` when empty.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Mean; `None` when empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Population standard deviation; `None` when empty.
    pub fn stdev(&self) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        // Squares around the integer part of the mean, in integers: no precision is lost when all values are close
        // together.
        let n = u128::from(self.count);
        let whole = self.sum / n;
        let rest = (self.sum % n) as f64 / n as f64;
        let about_whole = self.sum_of_squares.saturating_sub(whole.saturating_mul(self.sum + self.sum % n));
        Some((about_whole as f64 / n as f64 - rest * rest).max(0.0).sqrt())
    }

    /// The value of nearest rank for `millionths` (`500_000` is the median): the smallest value such that at least this
    /// share of all values is not above it, within the precision of the buckets. `None` when empty.
    pub fn percentile(&self, millionths: u32) -> Option<u64> {
        let rank = rank(self.count, millionths)?;
        let mut below = 0;
        let bucket = self.buckets().find(|bucket| {
            below += bucket.count;
            below >= rank
        })?;
        Some(bucket.middle().clamp(self.min, self.max))
    }

    /// The buckets that hold values, from the smallest value up.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.indexed().map(|(index, count)| Bucket { lowest: lowest_of(index), highest: highest_of(index), count })
    }

    /// The buckets that hold values, by index.
    pub(super) fn indexed(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.used()
            .zip(&self.counts[self.used()])
            .filter(|&(_, &count)| count > 0)
            .map(|(index, &count)| (index, count))
    }

    /// The cumulative distribution: `(value, n)` says that `n` of the values are `value` or less. One point a
    /// non-empty bucket; the last is the largest value and the count.
    pub fn cdf(&self) -> Vec<(u64, u64)> {
        let mut total = 0;
        self.buckets()
            .map(|bucket| {
                total += bucket.count;
                (bucket.highest.min(self.max), total)
            })
            .collect()
    }
}

/// 1-based nearest rank of `millionths` among `count` values.
pub(super) fn rank(count: u64, millionths: u32) -> Option<u64> {
    let rank = (u128::from(count) * u128::from(millionths)).div_ceil(1_000_000) as u64;
    (count > 0).then(|| rank.clamp(1, count))
}

/// The bucket of a value.
#[inline]
pub(super) fn index_of(value: u64) -> usize {
    // Values below 128, 0 included, have a bucket each.
    let shift = (value | 1 << OCTAVE_BITS).ilog2() - OCTAVE_BITS;
    ((shift as usize) << OCTAVE_BITS) + (value >> shift) as usize
}

fn shift_of(index: usize) -> u32 {
    ((index >> OCTAVE_BITS) as u32).saturating_sub(1)
}

pub(super) fn lowest_of(index: usize) -> u64 {
    let shift = shift_of(index);
    ((index - ((shift as usize) << OCTAVE_BITS)) as u64) << shift
}

pub(super) fn highest_of(index: usize) -> u64 {
    lowest_of(index) + ((1 << shift_of(index)) - 1)
}

/// The middle of the bucket at `index`.
pub(super) fn middle_of(index: usize) -> u64 {
    middle(lowest_of(index), highest_of(index))
}

fn middle(lowest: u64, highest: u64) -> u64 {
    lowest + (highest - lowest).div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    #[test]
    fn buckets_tile_all_values_without_gap() {
        let mut next = 0u64;
        for index in 0..=index_of(u64::MAX) {
            assert_eq!(lowest_of(index), next, "{index}");
            assert_eq!(index_of(lowest_of(index)), index);
            assert_eq!(index_of(highest_of(index)), index);
            next = highest_of(index).wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends at the largest value there is");
        assert_eq!(index_of(u64::MAX), 3775);
    }

    #[test]
    fn an_octave_has_64_buckets_and_small_values_their_own() {
        assert_eq!(index_of(127), 127);
        assert_eq!(index_of(256) - index_of(128), 64);
        assert_eq!(index_of(1 << 40) - index_of(1 << 39), 64);
        assert_eq!(Bucket::of(97), Bucket { lowest: 97, highest: 97, count: 0 });
    }

    #[test]
    fn middles_are_the_values_fio_prints() {
        // Keys seen in the json+ bins of fio 3.33 with a latency that falls into each.
        for (value, printed) in [(27466, 27520), (1918, 1912), (237584, 238592), (13551, 13504), (2047, 2040)] {
            assert_eq!(Bucket::of(value).middle(), printed, "{value}");
        }
    }

    #[test]
    fn moments_are_exact() {
        let h = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!((h.count(), h.sum(), h.min(), h.max()), (8, 40, Some(2), Some(9)));
        assert_eq!((h.mean(), h.stdev()), (Some(5.0), Some(2.0)));
        let offset = 1 << 50;
        assert_eq!(of(&[2, 4, 4, 4, 5, 5, 7, 9].map(|v| v + offset)).stdev(), Some(2.0), "no cancellation");
        assert_eq!(of(&[1, 2]).stdev(), Some(0.5));
    }

    #[test]
    fn percentiles_are_nearest_rank_and_inside_the_values() {
        let h = of(&(1..=100).collect::<Vec<_>>());
        assert_eq!(
            [10_000, 500_000, 505_000, 990_000, 1_000_000].map(|p| h.percentile(p).unwrap()),
            [1, 50, 51, 99, 100]
        );
        assert_eq!(h.percentile(0), Some(1));
        let one = of(&[1_000_001]);
        assert_eq!([1, 500_000, 1_000_000].map(|p| one.percentile(p).unwrap()), [1_000_001; 3]);
        assert_eq!(Histogram::new().percentile(500_000), None);
    }

    #[test]
    fn percentiles_keep_the_promised_error() {
        let mut x = 88_172_645_463_325_252u64;
        let mut values: Vec<u64> = (0..20_000)
            .map(|_| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                x >> (x % 50)
            })
            .collect();
        let h = of(&values);
        values.sort_unstable();
        for p in [1, 1_000, 100_000, 500_000, 900_000, 990_000, 999_000, 999_900] {
            let exact = values[(values.len() * p as usize).div_ceil(1_000_000).max(1) - 1];
            let found = h.percentile(p).unwrap();
            assert!(found.abs_diff(exact) as f64 <= exact as f64 / 128.0 + 0.5, "{p}: {found} for {exact}");
        }
    }

    #[test]
    fn merging_equals_recording_all_in_one() {
        let (a, b) = ([5, 700, 900_000], [1, 123_456_789_012, 700]);
        let mut merged = of(&a);
        merged.merge(&of(&b));
        let all = of(&[&a[..], &b[..]].concat());
        assert_eq!(merged, all);
        let mut from_nothing = Histogram::new();
        from_nothing.merge(&of(&a));
        from_nothing.merge(&Histogram::new());
        assert_eq!(from_nothing, of(&a));
    }

    #[test]
    fn what_came_since_is_what_came_between() {
        let earlier = of(&[5, 700, 900_000]);
        let mut later = earlier.clone();
        let between = of(&[7, 123_456, 700]);
        later.merge(&between);
        let since = later.since(&earlier);
        assert_eq!((since.count(), since.sum(), since.stdev()), (3, between.sum(), between.stdev()));
        assert!(since.buckets().eq(between.buckets()));
        assert_eq!((since.min(), since.max().map(Bucket::of)), (Some(7), Some(Bucket::of(123_456))));
        assert_eq!((later.since(&later).count(), later.since(&later).max()), (0, None));
    }

    #[test]
    fn the_distribution_ends_at_the_largest_value_and_the_count() {
        let h = of(&[10, 10, 20, 1_000_000]);
        assert_eq!(h.cdf(), [(10, 2), (20, 3), (1_000_000, 4)]);
    }

    #[test]
    fn clearing_leaves_nothing_behind() {
        let mut h = of(&[3, 9_999, 1_234_567]);
        h.clear();
        assert_eq!((h.count(), h.buckets().count(), h.min()), (0, 0, None));
        h.record(50);
        assert_eq!(h.cdf(), [(50, 1)]);
    }

    #[test]
    fn the_largest_values_do_not_overflow() {
        let h = of(&[u64::MAX, u64::MAX, 0]);
        assert_eq!(
            (h.min(), h.max(), h.percentile(1_000_000)),
            (Some(0), Some(u64::MAX), Some(u64::MAX - (1 << 56) + 1))
        );
        assert!(h.stdev().unwrap().is_finite());
    }
}
