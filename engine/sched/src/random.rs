//! Random numbers for tests: the same on every machine.

/// A linear congruential generator; its seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// A number from 0 to `most`.
    pub(crate) fn upto(&mut self, most: u64) -> u64 {
        self.below(most + 1)
    }
}
