//! A row of instants and the least of them.
//!
//! A tournament: each inner node of a binary tree holds the lesser of the two below it, so that changing an instant costs
//! a comparison a level and no branch that depends on the instants.

/// "Never", in a row.
pub(super) const NEVER: u64 = u64::MAX;

/// Things a row can hold, at most: units of a channel, channels of a device.
pub(super) const MOST: usize = 64;

/// Instants in ns of at most [`MOST`] things. Its tree has `LEVELS` levels above the leaves, or more: as many as the usual
/// number of things needs, so that those cost no loop.
#[derive(Clone, Debug)]
pub(super) struct Row<const LEVELS: u32> {
    /// How many may be other than never.
    length: usize,
    /// Leaves: a power of two.
    leaves: usize,
    /// The root is node 1, the children of node `n` are `2 n` and `2 n + 1`, and leaf `i` is node `leaves + i`.
    nodes: [u64; 2 * MOST],
}

impl<const LEVELS: u32> Row<LEVELS> {
    /// Leaves of the shortest rows.
    const FEW: usize = 1 << LEVELS;

    /// `length` instants, all never.
    pub(super) fn new(length: usize) -> Row<LEVELS> {
        assert!(length <= MOST, "configuration check allows no more than 64");
        Row { length, leaves: length.next_power_of_two().max(Self::FEW), nodes: [NEVER; 2 * MOST] }
    }

    /// The least instant.
    #[inline(always)]
    pub(super) fn least(&self) -> u64 {
        self.nodes[1]
    }

    /// Whose instant is the least: the first on a tie.
    #[inline(always)]
    pub(super) fn first(&self) -> usize {
        let least = self.least();
        let mut node = 1;
        for _ in 0..LEVELS {
            node = self.below(node, least);
        }
        while node < self.leaves {
            node = self.below(node, least);
        }
        node - self.leaves
    }

    /// The first of the two nodes below one with the value `least` that has it as well.
    #[inline(always)]
    fn below(&self, node: usize, least: u64) -> usize {
        let left = 2 * node % (2 * MOST);
        left + usize::from(self.nodes[left] != least)
    }

    /// The `i`-th instant.
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> u64 {
        self.nodes[(self.leaves + i) % (2 * MOST)]
    }

    /// Changes the `i`-th instant.
    #[inline(always)]
    pub(super) fn set(&mut self, i: usize, at: u64) {
        debug_assert!(i < self.length);
        let mut node = (self.leaves + i) % (2 * MOST);
        let mut least = at;
        self.nodes[node] = least;
        for _ in 0..LEVELS {
            (node, least) = self.climb(node, least);
        }
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
        if self.leaves > Self::FEW {
            return self.due_of_many(now);
        }
        (0..Self::FEW).fold(0, |due, i| due | u64::from(self.nodes[Self::FEW + i] <= now) << i)
    }

    #[inline(never)]
    fn due_of_many(&self, now: u64) -> u64 {
        let leaves = &self.nodes[self.leaves..][..self.length];
        leaves.iter().enumerate().fold(0, |due, (i, &at)| due | u64::from(at <= now) << i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Against a plain scan, for rows of many lengths.
    #[test]
    fn least_and_due_equal_a_plain_scan() {
        let mut x: u64 = 7;
        for length in [1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 64] {
            let mut row = Row::<2>::new(length);
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
                assert_eq!(row.first(), plain.iter().position(|&at| at == row.least()).unwrap());
            }
        }
    }
}
