//! Slowdowns in fixed point: a transaction's time in the device over the time it would have taken alone (FLIN §5.2,
//! model 2.1.4).
//!
//! Alone times do not change once a transaction waits, so their inverse is stored and a slowdown costs a multiplication.

use flashlane_core::Duration;

/// A slowdown in 65,536ths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Slowdown(pub(crate) u64);

/// The inverse of an alone time: 2^48 over its nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Alone(u64);

impl Alone {
    /// The inverse of this alone time.
    #[inline]
    pub(crate) fn of(time: Duration) -> Alone {
        Alone((1 << 48) / time.ns().max(1))
    }

    /// The slowdown of a transaction that takes `shared_ns` in company.
    #[inline(always)]
    pub(crate) const fn slowdown(self, shared_ns: u64) -> Slowdown {
        Slowdown(((shared_ns as u128 * self.0 as u128) >> 32) as u64)
    }
}

/// The smallest and the largest of some slowdowns. Their ratio is the fairness among them (eq. 2, D-FLN-23).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extremes {
    min: u64,
    max: u64,
}

impl Extremes {
    /// The extremes of no slowdowns.
    pub(crate) const NONE: Extremes = Extremes { min: u64::MAX, max: 0 };

    /// The extremes with one more slowdown.
    #[inline(always)]
    pub(crate) fn with(self, Slowdown(s): Slowdown) -> Extremes {
        Extremes { min: self.min.min(s), max: self.max.max(s) }
    }

    /// The extremes of both sets together.
    #[inline(always)]
    pub(crate) fn and(self, other: Extremes) -> Extremes {
        Extremes { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Whether this set is strictly fairer than `other`.
    #[inline(always)]
    pub(crate) const fn fairer_than(self, other: Extremes) -> bool {
        self.min as u128 * other.max as u128 > other.min as u128 * self.max as u128
    }

    /// Whether the fairness is strictly below so many thousandths.
    pub(crate) const fn below(self, thousandths: u64) -> bool {
        (self.min as u128 * 1000) < (self.max as u128 * thousandths as u128)
    }

    /// The largest slowdown.
    pub(crate) const fn worst(self) -> Slowdown {
        Slowdown(self.max)
    }

    /// Fairness in ten thousandths, for tests.
    #[cfg(test)]
    pub(crate) const fn fairness(self) -> u64 {
        (self.min * 10_000 + self.max / 2) / self.max
    }
}
