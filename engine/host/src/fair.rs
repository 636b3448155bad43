//! The arithmetic of fair sharing: weights of nice values, weighted time, slices (model 3.1.6).

use flashlane_core::Duration;

use crate::config::Fairness;

/// The weight of nice value 0.
const NORMAL: u64 = 1024;

/// The weight of a nice value: each step is a quarter.
pub(crate) fn weight(nice: i8) -> u64 {
    let (five, four) = (5u64.pow(u32::from(nice.unsigned_abs())), 4u64.pow(u32::from(nice.unsigned_abs())));
    let (times, over) = if nice < 0 { (five, four) } else { (four, five) };
    ((2 * u128::from(NORMAL) * u128::from(times) + u128::from(over)) / (2 * u128::from(over))) as u64
}

/// CPU time as a thread of this weight is charged for it: equal to itself at nice 0, less for heavier threads.
#[inline]
pub(crate) fn weighted(time: Duration, weight: u64) -> u64 {
    if weight == NORMAL { time.ns() } else { scaled(time.ns(), NORMAL, weight) }
}

/// How long a thread of `weight` runs before it gives way to one of the `threads` runnable ones, of `total` weight, itself
/// included: its share of the period, which is as long as the shortest slices of all together at least.
pub(crate) fn slice(fairness: &Fairness, threads: u64, weight: u64, total: u64) -> Duration {
    let period = fairness.period.ns().max(fairness.min_slice.ns().saturating_mul(threads));
    Duration::from_ns(scaled(period, weight, total)).max(fairness.min_slice)
}

/// `value * times / over`, rounded down.
#[inline]
fn scaled(value: u64, times: u64, over: u64) -> u64 {
    match value.checked_mul(times) {
        Some(product) => product / over,
        None => (u128::from(value) * u128::from(times) / u128::from(over)) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_share_the_period_by_weight() {
        let us = Duration::from_us;
        let fairness = Fairness { period: us(24_000), min_slice: us(3_000), wakeup_granularity: us(4_000) };
        assert_eq!(slice(&fairness, 4, 1024, 4096), us(6_000));
        assert_eq!(slice(&fairness, 10, 1024, 10_240), us(3_000), "more threads than the period has slices");
        assert_eq!(slice(&fairness, 10, 2048, 11_264).ns(), 5_454_545, "of the 30 ms that ten shortest slices take");
        assert_eq!(slice(&fairness, 2, 3072, 4096), us(18_000));
        assert_eq!(slice(&fairness, 2, 15, 1039), us(3_000), "none is shorter than the shortest");
    }

    #[test]
    fn a_nice_step_is_a_quarter() {
        assert_eq!([-20, -1, 0, 1, 19].map(weight), [88_818, 1_280, 1_024, 819, 15]);
        assert_eq!(weighted(Duration::from_us(10), 2_048), 5_000);
        assert_eq!(weighted(Duration::from_us(10), 1_024), 10_000);
    }
}
