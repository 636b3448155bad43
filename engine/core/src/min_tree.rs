//! The minimum of a set of instants, any of which may change.
//!
//! A tournament tree: each inner node holds the lesser of its two children, so that changing an instant takes one comparison for
//! each level and no branch that depends on the instants.

/// No instant.
pub const NEVER: u64 = u64::MAX;

/// Largest number of leaves; also of units of a channel, of channels of a device and of CPUs of a host.
pub const MAX_INSTANTS: usize = 64;

/// Levels above the leaves that are climbed without a loop: as many as the usual number of channels needs.
const LEVELS: u32 = 3;

/// Up to [`MAX_INSTANTS`] instants in ns.
#[derive(Clone, Debug)]
pub struct MinTree {
    /// Number of instants.
    length: usize,
    /// Number of leaves: a power of two, at least `length`. Those beyond `length` are never.
    leaves: usize,
    /// The root is node 1, the children of node `n` are `2 n` and `2 n + 1`, and leaf `i` is node `leaves + i`.
    nodes: [u64; 2 * MAX_INSTANTS],
}

impl MinTree {
    /// Number of leaves of the smallest tree.
    const UNROLL: usize = 1 << LEVELS;

    /// `length` instants, all never.
    pub fn new(length: usize) -> MinTree {
        assert!(length <= MAX_INSTANTS, "configuration check allows no more than 64");
        MinTree { length, leaves: length.next_power_of_two().max(Self::UNROLL), nodes: [NEVER; 2 * MAX_INSTANTS] }
    }

    /// The least instant.
    #[inline(always)]
    pub fn min(&self) -> u64 {
        self.nodes[1]
    }

    /// The `i`-th instant.
    #[inline(always)]
    pub fn at(&self, i: usize) -> u64 {
        self.nodes[(self.leaves + i) % (2 * MAX_INSTANTS)]
    }

    /// Changes the `i`-th instant.
    #[inline(always)]
    pub fn set(&mut self, i: usize, at: u64) {
        debug_assert!(i < self.length);
        let mut node = (self.leaves + i) % (2 * MAX_INSTANTS);
        let mut least = at;
        self.nodes[node] = least;
        for _ in 0..LEVELS {
            (node, least) = self.climb(node, least);
        }
        while node > 1 {
            (node, least) = self.climb(node, least);
        }
    }

    /// Updates the parent of a node whose value is `least`. Returns the parent and its value.
    #[inline(always)]
    fn climb(&mut self, node: usize, least: u64) -> (usize, u64) {
        let least = least.min(self.nodes[node ^ 1]);
        self.nodes[node / 2] = least;
        (node / 2, least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use flashlane_testing::Random;

    /// Compares with a scan of all instants, for many lengths.
    #[test]
    fn the_minimum_is_that_of_a_scan() {
        let mut random = Random(7);
        for length in [1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 64] {
            let mut tree = MinTree::new(length);
            let mut plain = vec![NEVER; length];
            for _ in 0..5_000 {
                let x = random.bits();
                let i = (x >> 40) as usize % length;
                let at = if x >> 62 == 0 { NEVER } else { (x >> 50) % 64 };
                tree.set(i, at);
                plain[i] = at;
                assert_eq!(tree.min(), *plain.iter().min().unwrap());
                assert_eq!(tree.at(i), at);
            }
        }
    }
}
