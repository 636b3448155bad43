//! Slowdowns: a transaction's time in the device over the time it would have taken alone (FLIN §5.2, model 2.1.4).
//!
//! Slowdowns are fractions of whole nanoseconds and are compared exactly, by cross-multiplication, because thresholds are
//! fractions too: 3/5 is not below 0.6. Only averages of slowdowns are rounded ([`Mean`]).

use flashlane_core::Duration;

/// A slowdown: time in company over time alone, ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slowdown {
    shared: u64,
    isolated: u64,
}

impl Slowdown {
    /// The slowdown of a transaction that takes `shared` in company and would take `isolated` alone (at least 1 ns).
    #[inline(always)]
    pub(crate) const fn new(shared: u64, isolated: u64) -> Slowdown {
        Slowdown { shared, isolated }
    }

    #[inline(always)]
    const fn is_less(self, other: Slowdown) -> bool {
        (self.shared as u128 * other.isolated as u128) < (other.shared as u128 * self.isolated as u128)
    }
}

/// The alone time of a transaction as slowdowns count it, ns: at least 1.
#[inline]
pub(crate) fn isolated_ns(time: Duration) -> u64 {
    time.ns().max(1)
}

/// The smallest and the largest of some slowdowns. Their ratio is the fairness among them (eq. 2, D-FLN-23).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extremes {
    min: Slowdown,
    max: Slowdown,
}

impl Extremes {
    /// The extremes of no slowdowns.
    pub(crate) const NONE: Extremes = Extremes { min: Slowdown::new(1, 0), max: Slowdown::new(0, 1) };

    /// The extremes with one more slowdown.
    #[inline(always)]
    pub(crate) fn with(self, one: Slowdown) -> Extremes {
        self.and(Extremes { min: one, max: one })
    }

    /// The extremes of both sets together.
    #[inline(always)]
    pub(crate) fn and(self, other: Extremes) -> Extremes {
        Extremes {
            min: if other.min.is_less(self.min) { other.min } else { self.min },
            max: if self.max.is_less(other.max) { other.max } else { self.max },
        }
    }

    /// The extremes with one more slowdown between `least` and `most` (a smaller and a larger one), that which leaves them fairest.
    #[inline(always)]
    pub(crate) fn nearest(self, least: Slowdown, most: Slowdown) -> Extremes {
        if most.is_less(self.min) {
            self.with(most)
        } else if self.max.is_less(least) {
            self.with(least)
        } else {
            self
        }
    }

    /// Fairness as numerator and denominator.
    #[inline(always)]
    const fn fraction(self) -> (u128, u128) {
        let Extremes { min, max } = self;
        (min.shared as u128 * max.isolated as u128, min.isolated as u128 * max.shared as u128)
    }

    /// Whether this set is strictly fairer than `other`.
    #[inline(always)]
    pub(crate) fn is_fairer_than(self, other: Extremes) -> bool {
        let ((a, b), (c, d)) = (self.fraction(), other.fraction());
        if (a | b | c | d) >> 64 == 0 { a * d > c * b } else { product(a, d) > product(c, b) }
    }

    /// Fairness in ten thousandths, for tests.
    #[cfg(test)]
    pub(crate) const fn fairness(self) -> u64 {
        let (over, under) = self.fraction();
        ((over * 10_000 + under / 2) / under) as u64
    }
}

/// The product of two numbers in 256 bits: high half, low half.
#[cold]
fn product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let [(a1, a0), (b1, b0)] = [a, b].map(|n| (n >> 64, n & LOW));
    // No sum overflows: a product of two 64-bit numbers leaves space for two more such numbers.
    let middle = a1 * b0 + ((a0 * b0) >> 64);
    let carried = (middle & LOW) + a0 * b1;
    (a1 * b1 + (middle >> 64) + (carried >> 64), (carried << 64) | ((a0 * b0) & LOW))
}

/// The average of the slowdowns of a flow's departed transactions. Each is rounded to 2^-32, and comparisons allow for the
/// rounding: what may be equal counts as equal.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Mean {
    count: u64,
    /// In 2^-32.
    sum: u128,
}

impl Mean {
    /// With one more slowdown.
    pub(crate) fn add(&mut self, Slowdown { shared, isolated }: Slowdown) {
        self.count += 1;
        self.sum += (u128::from(shared) << 32).saturating_add(u128::from(isolated / 2)) / u128::from(isolated);
    }

    /// Halves the weight of what was counted, `times` times (D-FLN-09).
    pub(crate) fn halve(&mut self, times: u64) {
        let times = times.min(63);
        self.count >>= times;
        self.sum = if self.count > 0 { self.sum >> times } else { 0 };
    }

    /// Whether there is none.
    pub(crate) const fn is_none(self) -> bool {
        self.count == 0
    }

    /// Whether it is smaller than `thousandths` / 1000 of `other`, beyond all rounding.
    pub(crate) fn is_below(self, other: Mean, thousandths: u64) -> bool {
        let (own, others) = (u128::from(self.count), u128::from(other.count));
        let rounding = (own * others).saturating_mul(u128::from(1000 + thousandths).div_ceil(2));
        let scaled = |sum: u128, count: u128, by: u64| sum.saturating_mul(count).saturating_mul(u128::from(by));
        scaled(self.sum, others, 1000).saturating_add(rounding) < scaled(other.sum, own, thousandths)
    }

    #[cfg(test)]
    pub(crate) const fn of(count: u64, sum: u64) -> Mean {
        Mean { count, sum: (sum as u128) << 32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn of(shared: u64, isolated: u64) -> Slowdown {
        Slowdown::new(shared, isolated)
    }

    /// Fractions that floor to the same 65,536th are told apart, and equal ones are equal.
    #[test]
    fn slowdowns_are_exact() {
        assert!(
            of(1, 3).is_less(of(333_333_334, 1_000_000_000))
                && !of(333_333_333, 1_000_000_000).is_less(of(333_333_333, 1_000_000_000))
        );
        assert!(!of(3, 5).is_less(of(6, 10)) && !of(6, 10).is_less(of(3, 5)));
        let all = Extremes::NONE.with(of(6, 5)).with(of(5, 3)).with(of(2, 1));
        assert_eq!((all.min, all.max, all.fairness()), (of(6, 5), of(2, 1), 6_000));
    }

    /// Of fractions with times of years, whose products need more than 128 bits, too.
    #[test]
    fn fairness_is_exact() {
        let pair = |a, b| Extremes::NONE.with(a).with(b);
        let year = 365 * 24 * 3600 * 1_000_000_000u64;
        for scale in [1, 1_000, year / 7] {
            let (less, same, more) = (
                pair(of(3 * scale, 7), of(5 * scale + 1, 7)),
                pair(of(6 * scale, 14), of(5 * scale, 7)),
                pair(of(3 * scale + 1, 7), of(5 * scale, 7)),
            );
            let even = pair(of(3 * scale, 7), of(5 * scale, 7));
            assert!(even.is_fairer_than(less) && !less.is_fairer_than(even), "{scale}");
            assert!(!even.is_fairer_than(same) && !same.is_fairer_than(even), "{scale}");
            assert!(more.is_fairer_than(even) && !even.is_fairer_than(more), "{scale}");
        }
    }

    #[test]
    fn products_of_256_bits() {
        let most = u128::MAX;
        assert_eq!(product(most, most), (most - 1, 1));
        assert_eq!(product(most, 2), (1, most - 1));
        assert_eq!(product(1 << 64, 1 << 64), (1, 0));
        assert_eq!(product((1 << 64) + 3, (1 << 64) + 5), (1, (8 << 64) + 15));
        assert_eq!(
            product(u128::from(u64::MAX), u128::from(u64::MAX)),
            (0, u128::from(u64::MAX) * u128::from(u64::MAX))
        );
    }

    /// 3/5 is not below 0.6, whatever fractions it is made of; a thousandth less is.
    #[test]
    fn means_allow_for_their_rounding() {
        let mean = |of: &[(u64, u64)]| {
            let mut mean = Mean::default();
            of.iter().for_each(|&(shared, isolated)| mean.add(Slowdown::new(shared, isolated)));
            mean
        };
        let two = mean(&[(2, 1)]);
        for equal in [&[(6u64, 5u64)][..], &[(1, 3), (31, 15)], &[(1, 7), (2, 3), (293, 105)]] {
            assert!(!mean(equal).is_below(two, 600), "{equal:?}");
        }
        assert!(
            mean(&[(1_199_999, 1_000_000)]).is_below(two, 600) && !mean(&[(1_200_001, 1_000_000)]).is_below(two, 600)
        );
        assert!(!two.is_below(two, 1000) && mean(&[(1, 3); 3]).is_below(mean(&[(1, 3), (1, 3), (334, 1000)]), 1000));
        let mut halved = mean(&[(3, 1), (5, 1), (3, 1), (5, 1)]);
        halved.halve(1);
        assert_eq!(halved, Mean::of(2, 8));
        halved.halve(2);
        assert!(halved.is_none() && halved == Mean::default());
    }
}
