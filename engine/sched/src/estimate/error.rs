//! The error term of Slacker §5.2, footnote 3: the mean difference between actual and estimated wait of what was served in
//! the last second.
//!
//! Owns the sums, in sixteen slices of the second. All chips and both directions share one term, so it moves estimates
//! and never slack: eq. 8 takes the difference of two of them.

use flashlane_core::Time;

const SLICES: usize = 16;
const SLICE_NS: u64 = 1_000_000_000 / SLICES as u64;

/// The mean error of the last second.
#[derive(Clone, Debug, Default)]
pub struct ErrorTerm {
    /// Of each slice: sum of the differences, ns, and how many.
    slices: [(i64, i64); SLICES],
    /// The slice of the youngest difference, counted from the start of the run.
    newest: u64,
}

impl ErrorTerm {
    /// Records the difference of a transaction that ends at `now`.
    pub fn learn(&mut self, now: Time, actual_ns: u64, estimated_ns: u64) {
        self.forget(now);
        let slice = &mut self.slices[(self.newest % SLICES as u64) as usize];
        *slice = (slice.0 + actual_ns as i64 - estimated_ns as i64, slice.1 + 1);
    }

    /// The mean difference at `now`, towards zero; 0 when nothing was served.
    pub fn mean(&mut self, now: Time) -> i64 {
        self.forget(now);
        let (sum, count) = self.slices.iter().fold((0, 0), |(sum, count), slice| (sum + slice.0, count + slice.1));
        if count == 0 { 0 } else { sum / count }
    }

    /// Empties the slices that are a second old by `now`.
    fn forget(&mut self, now: Time) {
        let current = now.ns() / SLICE_NS;
        let passed = (current - self.newest).min(SLICES as u64);
        for i in 0..passed {
            self.slices[((current - i) % SLICES as u64) as usize] = (0, 0);
        }
        self.newest = current;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_the_last_second() {
        let at = |ms: u64| Time::from_ns(ms * 1_000_000);
        let mut term = ErrorTerm::default();
        assert_eq!(term.mean(at(0)), 0);
        term.learn(at(10), 500, 300);
        term.learn(at(20), 100, 200);
        assert_eq!(term.mean(at(30)), 50);
        term.learn(at(900), 0, 250);
        assert_eq!(term.mean(at(990)), -50);
        // The first two lie in the first slice of sixteen: gone when the seventeenth begins.
        assert_eq!(term.mean(at(1_010)), -250);
        assert_eq!(term.mean(at(1_874)), -250);
        assert_eq!(term.mean(at(1_875)), 0);
        term.learn(at(50_000), 7, 0);
        assert_eq!(term.mean(at(50_000)), 7);
    }
}
