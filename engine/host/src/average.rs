//! Means of the three most recent observations (model 3.1.3), and how far predictions were off.

use flashlane_core::Duration;

/// The mean of the last three observations of one component.
#[derive(Clone, Copy, Debug, Default)]
pub struct Average3 {
    last: [u64; 3],
    mean: u64,
    seen: u32,
    next: u8,
}

impl Average3 {
    /// Takes an observation.
    #[inline]
    pub fn observe(&mut self, value: Duration) {
        self.last[usize::from(self.next)] = value.ns();
        self.next = if self.next == 2 { 0 } else { self.next + 1 };
        self.seen = (self.seen + 1).min(3);
        self.mean = (self.last.iter().sum::<u64>() * 2 + 3) / 6;
    }

    /// Their mean, rounded half up; `None` with fewer than three (D-PRE-04).
    #[inline]
    pub fn mean(&self) -> Option<Duration> {
        (self.seen == 3).then_some(Duration::from_ns(self.mean))
    }
}

/// An average for each size of a transfer. Sizes share an entry where their number of 512-byte sectors is equal modulo the
/// entries; a size that finds its entry taken by another takes it over.
#[derive(Clone, Debug, Default)]
pub(crate) struct BySize {
    entries: [(u32, Average3); 16],
}

impl BySize {
    /// Takes an observation for transfers of `bytes`.
    #[inline]
    pub fn observe(&mut self, bytes: u32, value: Duration) {
        let entry = &mut self.entries[(bytes / 512 % 16) as usize];
        if entry.0 != bytes {
            *entry = (bytes, Average3::default());
        }
        entry.1.observe(value);
    }

    /// The mean for transfers of `bytes`.
    #[inline]
    pub fn mean(&self, bytes: u32) -> Option<Duration> {
        let entry = &self.entries[(bytes / 512 % 16) as usize];
        if entry.0 == bytes { entry.1.mean() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// A-PRE-01: six observations in microseconds; errors 0, -3, +3.3333, whose root mean square is 2.5892.
    #[test]
    fn three_observations_predict_the_fourth() {
        let mut average = Average3::default();
        let mut errors = Vec::new();
        let mut predictions = Vec::new();
        for us in [352, 351, 353, 352, 355, 350] {
            predictions.push(average.mean().map(Duration::ns));
            errors.extend(average.mean().map(|mean| mean.ns() as i64 - us * 1_000));
            average.observe(Duration::from_us(us as u64));
        }
        assert_eq!(predictions, [None, None, None, Some(352_000), Some(352_000), Some(353_333)]);
        assert_eq!(errors, [0, -3_000, 3_333]);
        let square = errors.iter().map(|e| e * e).sum::<i64>() as u64 / 3;
        assert_eq!(square.isqrt(), 2_589);
    }

    #[test]
    fn means_are_rounded_to_the_nearest_nanosecond() {
        let mean = |values: [u64; 3]| {
            let mut average = Average3::default();
            values.into_iter().for_each(|ns| average.observe(Duration::from_ns(ns)));
            average.mean().map(Duration::ns)
        };
        assert_eq!([[1, 1, 1], [1, 1, 2], [1, 2, 2]].map(mean), [Some(1), Some(1), Some(2)]);
    }

    #[test]
    fn sizes_are_averaged_apart() {
        let mut by_size = BySize::default();
        for _ in 0..3 {
            by_size.observe(4_096, Duration::from_ns(10));
            by_size.observe(8_192, Duration::from_ns(20));
            by_size.observe(4_608, Duration::from_ns(30));
        }
        assert_eq!(by_size.mean(4_608), Some(Duration::from_ns(30)));
        assert_eq!(by_size.mean(16_384), None);
        let known = [4_096, 8_192, 12_288].map(|bytes| by_size.mean(bytes).map(Duration::ns));
        assert_eq!(known, [Some(10), Some(20), None], "12,288 shares the entry of 4,096 and has not been seen");
        by_size.observe(12_288, Duration::from_ns(5));
        assert_eq!(by_size.mean(4_096), None, "it has lost its entry");
    }
}
