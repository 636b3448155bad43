//! The set of numbers seen so far, in little memory if they come nearly in order.

use std::collections::BTreeMap;

/// A set of numbers stored as runs of consecutive ones: it needs one entry per gap, in whatever order numbers come.
#[derive(Default, Debug)]
pub(super) struct NumberSet {
    /// Start of a run to its end (inclusive), but for the run that grew last. Runs are never adjacent.
    runs: BTreeMap<u64, u64>,
    /// The run that grew last, if any, and where the one after it starts.
    last: Option<(u64, u64)>,
    after: Option<u64>,
}

impl NumberSet {
    /// Adds `n`. Returns whether it was new.
    #[inline]
    pub(super) fn add(&mut self, n: u64) -> bool {
        // Runs are never adjacent, so the number just past one is new.
        if let Some((_, end)) = &mut self.last
            && n.checked_sub(1) == Some(*end)
            && n.checked_add(1) != self.after
        {
            *end = n;
            return true;
        }
        self.add_slowly(n)
    }

    fn add_slowly(&mut self, n: u64) -> bool {
        if self.contains(n) {
            return false;
        }
        self.runs.extend(self.last.take());
        let before = self.runs.range(..n).next_back().map(|(&s, &e)| (s, e)).filter(|&(_, e)| e + 1 == n);
        let joined = n.checked_add(1).and_then(|next| self.runs.remove(&next));
        let start = before.map_or(n, |(s, _)| s);
        self.runs.remove(&start);
        self.last = Some((start, joined.unwrap_or(n)));
        self.after = self.runs.range(start..).next().map(|(&s, _)| s);
        true
    }

    /// Whether `n` was added.
    pub(super) fn contains(&self, n: u64) -> bool {
        let last = self.last.is_some_and(|(start, end)| (start..=end).contains(&n));
        last || self.runs.range(..=n).next_back().is_some_and(|(_, &end)| n <= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_testing::Random;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_plain_set() {
        let (mut seen, mut plain) = (NumberSet::default(), BTreeSet::new());
        let mut random = Random(12345);
        for _ in 0..20_000 {
            let x = random.bits();
            // Mostly the next number, sometimes an arbitrary one near it: runs grow, split and join.
            let n = match x >> 61 {
                0 => (x >> 32) % 4000,
                1 => u64::MAX - (x >> 32) % 50,
                _ => plain.len() as u64 % 4000,
            };
            assert_eq!(seen.add(n), plain.insert(n), "{n}");
        }
        for n in (0..4100).chain(u64::MAX - 60..=u64::MAX) {
            assert_eq!(seen.contains(n), plain.contains(&n), "{n}");
        }
    }

    #[test]
    fn dense_numbers_cost_one_run() {
        let mut seen = NumberSet::default();
        assert!((0..10_000).all(|n| seen.add(n)));
        assert_eq!((seen.runs.len(), seen.last), (0, Some((0, 9_999))));
    }
}
