//! Random numbers for tests: the same on every machine.

/// A linear congruential generator; its seed.
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    /// 64 bits, of which the upper ones are the better.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        (self.bits() >> 33) % limit
    }

    /// A number from 0 to `most`.
    pub fn upto(&mut self, most: u64) -> u64 {
        self.below(most + 1)
    }

    /// A share, 0 to 1.
    pub fn share(&mut self) -> f64 {
        (self.bits() >> 40) as f64 / f64::from(1u32 << 24)
    }
}
