//! A row of instants and the least of them.
//!
//! A tournament: each inner node of a binary tree holds the lesser of the two below it, so that changing an instant costs
//! a comparison a level and no branch that depends on the instants.

/// "Never", in a row.
pub(super) const NEVER: u64 = i64::MAX as u64;

/// Instants in ns of at most [`Row::MAX`] things.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// How many may be other than never.
    length: usize,
    /// Leaves: a power of two.
    leaves: usize,
    /// The root is node 1, the children of node `n` are `2 n` and `2 n + 1`, and leaf `i` is node `leaves + i`.
    nodes: [u64; 2 * Row::MAX],
}

impl Row {
    /// Units of a channel and channels of a device, at most.
    pub(super) const MAX: usize = 64;

    /// `length` instants, all never.
    pub(super) fn new(length: usize) -> Row {
        assert!(length <= Row::MAX, "configuration check allows no more than 64");
        Row { length, leaves: length.next_power_of_two().max(FEW), nodes: [NEVER; 2 * Row::MAX] }
    }

    /// The least instant.
    #[inline(always)]
    pub(super) fn least(&self) -> u64 {
        self.nodes[1]
    }

    /// The `i`-th instant.
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> u64 {
        self.nodes[(self.leaves + i) % (2 * Row::MAX)]
    }

    /// Changes the `i`-th instant.
    #[inline(always)]
    pub(super) fn set(&mut self, i: usize, at: u64) {
        debug_assert!(i < self.length && at <= NEVER);
        let mut node = (self.leaves + i) % (2 * Row::MAX);
        let mut least = at;
        self.nodes[node] = least;
        // Every tree has two levels above its leaves.
        (node, least) = self.climb(node, least);
        (node, least) = self.climb(node, least);
        while node > 1 {
            (node, least) = self.climb(node, least);
        }
    }

    /// From a node with the value `least` to the one above it, and its value.
    #[inline(always)]
    fn climb(&mut self, node: usize, least: u64) -> (usize, u64) {
        let least = least.min(self.nodes[node ^ 1]);
        self.nodes[node / 2] = least;
        (node / 2, least)
    }

    /// Which instants have come by `now`, a bit each.
    #[inline(always)]
    pub(super) fn due(&self, now: u64) -> u64 {
        let come = |i: usize| u64::from(self.nodes[FEW + i] <= now) << i;
        if self.leaves == FEW { come(0) | come(1) | come(2) | come(3) } else { self.due_of_many(now) }
    }

    #[inline(never)]
    fn due_of_many(&self, now: u64) -> u64 {
        let leaves = &self.nodes[self.leaves..][..self.length];
        leaves.iter().enumerate().fold(0, |due, (i, &at)| due | u64::from(at <= now) << i)
    }
}

/// Leaves of the shortest rows: the usual number of units on a channel.
const FEW: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Against a plain scan, for rows of many lengths.
    #[test]
    fn least_and_due_equal_a_plain_scan() {
        let mut x: u64 = 7;
        for length in [1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 64] {
            let mut row = Row::new(length);
            let mut plain = vec![NEVER; length];
            for _ in 0..5_000 {
                x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let i = (x >> 40) as usize % length;
                let at = if x >> 62 == 0 { NEVER } else { (x >> 50) % 64 };
                row.set(i, at);
                plain[i] = at;
                assert_eq!(row.least(), *plain.iter().min().unwrap());
                let due = plain.iter().enumerate().map(|(i, &at)| u64::from(at <= 32) << i).sum::<u64>();
                assert_eq!(row.due(32), due);
            }
        }
    }
}
