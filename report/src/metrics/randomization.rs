//! Tests of whether a difference could be chance: by the signs of the parts of a run.
//!
//! The interval of a mean difference (Student's t) assumes that the means of parts are nearly normal; where one burst makes most of a
//! difference, it is so wide that it contains 0 although every part that differs gained. Flipping signs assumes only that without an
//! effect, the gain of each part is as likely to be a loss of the same size.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// With fewer parts that differ no signs are rare enough: five equal ones have p = 0.06.
pub const FEWEST_PARTS: usize = 6;
/// Up to this many parts every combination of signs is tried, of more parts [`DRAWS`] are drawn.
const ALL_SIGNS: usize = 14;
const DRAWS: u32 = 1 << 14;
/// Draws are the same for everybody.
const SEED: u64 = 0x5167_0f11;
/// Parts whose signed sums are tabulated together.
const GROUP: usize = 8;

/// The share of all ways to choose the signs of `gains` whose sum is at least as far from 0 as theirs: the two-sided p-value of the
/// sum under the assumption that each gain could as well have been a loss. Gains of 0 have no sign and no part in it; `None` with
/// fewer than [`FEWEST_PARTS`] others.
///
/// # Panics
/// With more than 32 gains.
pub fn sign_flip_p(gains: &[i128]) -> Option<f64> {
    assert!(gains.len() <= 32, "a sign is a bit of 32");
    let gains: Vec<i128> = gains.iter().copied().filter(|&gain| gain != 0).collect();
    if gains.len() < FEWEST_PARTS {
        return None;
    }
    let observed = gains.iter().sum::<i128>().abs();
    let groups: Vec<Vec<i128>> = gains.chunks(GROUP).map(signed_sums).collect();
    let is_as_far = |signs: u32| {
        let sum: i128 =
            groups.iter().enumerate().map(|(i, sums)| sums[(signs >> (GROUP * i)) as usize % sums.len()]).sum();
        sum.abs() >= observed
    };
    if gains.len() <= ALL_SIGNS {
        let all = 1u32 << gains.len();
        return Some((0..all).filter(|&signs| is_as_far(signs)).count() as f64 / f64::from(all));
    }
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    let as_far = (0..DRAWS).filter(|_| is_as_far(random.next_u32())).count();
    // The signs that were observed are one of the draws.
    Some((as_far + 1) as f64 / f64::from(DRAWS + 1))
}

/// The sum of `gains` under each choice of signs; a bit that is set makes a gain a loss.
fn signed_sums(gains: &[i128]) -> Vec<i128> {
    let sign = |signs: usize, i: usize| if signs >> i & 1 == 1 { -1 } else { 1 };
    (0..1 << gains.len()).map(|signs| gains.iter().enumerate().map(|(i, gain)| sign(signs, i) * gain).sum()).collect()
}

/// The two-sided p-value of `a` of one sign and `b` of the other, if both are equally likely (the sign test).
pub fn sign_p(a: u32, b: u32) -> f64 {
    let n = a + b;
    // Pascal's triangle from one end: C(n, i) / 2^n.
    let mut term = 0.5f64.powi(n as i32);
    let mut tail = 0.0;
    for i in 0..=a.min(b) {
        tail += term;
        term *= f64::from(n - i) / f64::from(i + 1);
    }
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_parts_are_counted_by_hand() {
        assert_eq!(sign_flip_p(&[1, 1, 1, 1, 1]), None);
        assert_eq!(sign_flip_p(&[0, 3, 0, 3, 3, 3, 3, 3]), Some(2.0 / 64.0), "all the same sign, or all the other");
        // Sums of at least 4 in absolute value: no loss or one, no gain or one.
        assert_eq!(sign_flip_p(&[1, 1, -1, 1, 1, 1]), Some(14.0 / 64.0));
        assert_eq!(sign_flip_p(&[1, -1, 1, -1, 1, -1]), Some(1.0));
        let large = [i128::from(u64::MAX); 6];
        assert_eq!(sign_flip_p(&large), Some(2.0 / 64.0), "no overflow");
    }

    #[test]
    fn drawn_signs_come_close_to_all_of_them() {
        let gains: Vec<i128> = (1..=32).map(|i| if i % 3 == 0 { -i * i } else { i * i + 17 }).collect();
        let exact = |gains: &[i128]| {
            // The distribution of the sum, by adding one gain at a time.
            let most: i128 = gains.iter().map(|gain| gain.abs()).sum();
            let mut ways = vec![0.0f64; (2 * most + 1) as usize];
            ways[most as usize] = 1.0;
            for gain in gains {
                let mut next = vec![0.0; ways.len()];
                for (i, way) in ways.iter().enumerate().filter(|(_, way)| **way > 0.0) {
                    next[(i as i128 + gain) as usize] += way / 2.0;
                    next[(i as i128 - gain) as usize] += way / 2.0;
                }
                ways = next;
            }
            let observed = gains.iter().sum::<i128>().abs();
            ways.iter()
                .enumerate()
                .filter(|(i, _)| (*i as i128 - most).abs() >= observed)
                .map(|(_, way)| way)
                .sum::<f64>()
        };
        for n in [15, 20, 32] {
            let (found, expected) = (sign_flip_p(&gains[..n]).unwrap(), exact(&gains[..n]));
            assert!((found - expected).abs() < 0.012, "{n}: {found} {expected}");
        }
        let exactly = sign_flip_p(&gains[..14]).unwrap();
        assert!((exactly - exact(&gains[..14])).abs() < 1e-12);
    }

    /// With many parts of one sign no draw is as far; the signs that were observed are, so the value is never 0.
    #[test]
    fn a_p_value_is_never_zero() {
        assert_eq!(sign_flip_p(&[1_000; 32]), Some(1.0 / f64::from(DRAWS + 1)));
    }

    #[test]
    fn the_sign_test_is_the_binomial_distribution_s() {
        assert_eq!([sign_p(0, 0), sign_p(5, 0), sign_p(0, 6), sign_p(3, 3)], [1.0, 2.0 / 32.0, 2.0 / 64.0, 1.0]);
        assert!((sign_p(10, 2) - 2.0 * (1.0 + 12.0 + 66.0) / 4096.0).abs() < 1e-12);
        assert!((sign_p(22, 10) - 0.050_1).abs() < 1e-3, "{}", sign_p(22, 10));
    }
}
