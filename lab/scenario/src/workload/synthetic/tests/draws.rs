//! The samplers against their distributions.

use proptest::prelude::*;

use super::super::draw::{Aspect, Exponential, Geometric, RandomStream};
use super::super::zipf::{Permutation, Zipf};
use super::{mean, moments, near};

const N: usize = 1_000_000;

fn random() -> RandomStream {
    RandomStream::new(7, Aspect::Operation)
}

#[test]
fn uniform_draws_are_flat() {
    let mut random = random();
    let mut counts = [0u32; 10];
    (0..N).for_each(|_| counts[random.below(10) as usize] += 1);
    // Standard deviation of a count: sqrt(N * 0.1 * 0.9) = 300.
    counts.iter().for_each(|&count| near(count as f64, N as f64 / 10.0, 1500.0));
    let units: Vec<f64> = (0..N).map(|_| random.unit()).collect();
    assert!(units.iter().all(|u| (0.0..1.0).contains(u)));
    near(mean(units), 0.5, 5.0 * (1.0f64 / 12.0 / N as f64).sqrt());
}

#[test]
fn exponential_has_its_moments_and_its_shape_into_the_tail() {
    let (mut random, exponential) = (random(), Exponential::new());
    let x: Vec<f64> = (0..N).map(|_| exponential.sample(&mut random)).collect();
    let (m, variance) = moments(&x);
    near(m, 1.0, 0.005);
    // Fourth central moment 9: the variance has a standard error of sqrt(8 / N).
    near(variance, 1.0, 5.0 * (8.0 / N as f64).sqrt());
    // Cells an eighth wide up to 12, which is past the point (7.697) where the ziggurat's tail begins, and one cell for
    // the rest.
    let mut counts = [0.0; 97];
    x.iter().for_each(|x| counts[((x * 8.0) as usize).min(96)] += 1.0);
    let above = |cell: usize| (-(cell as f64) / 8.0).exp() * N as f64;
    let expected = |cell: usize| if cell < 96 { above(cell) - above(cell + 1) } else { above(cell) };
    let chi_square: f64 = (0..97).map(|cell| (counts[cell] - expected(cell)).powi(2) / expected(cell)).sum();
    near(chi_square, 96.0, 5.0 * (2.0 * 96.0f64).sqrt());
}

#[test]
fn normal_has_its_first_four_moments() {
    let mut random = random();
    let z: Vec<f64> = (0..N).map(|_| random.normal()).collect();
    let power = |k: i32| mean(z.iter().map(|z| z.powi(k)));
    let error = |variance: f64| 5.0 * (variance / N as f64).sqrt();
    near(power(1), 0.0, error(1.0));
    near(power(2), 1.0, error(2.0));
    near(power(3), 0.0, error(15.0));
    near(power(4), 3.0, error(96.0));
}

#[test]
fn geometric_has_its_mean_and_variance_and_starts_at_one() {
    for m in [1.0, 1.5, 8.0, 500.0] {
        let (mut random, geometric) = (random(), Geometric::new(m));
        let k: Vec<f64> = (0..N).map(|_| geometric.sample(&mut random) as f64).collect();
        assert!(k.iter().all(|&k| k >= 1.0));
        let variance = m * (m - 1.0);
        near(mean(k.iter().copied()), m, 5.0 * (variance / N as f64).sqrt());
        let ones = k.iter().filter(|&&k| k == 1.0).count() as f64 / N as f64;
        near(ones, 1.0 / m, 5.0 * (1.0 / m * (1.0 - 1.0 / m) / N as f64).sqrt());
    }
}

#[test]
fn zipf_ranks_have_their_frequencies() {
    for (n, theta) in [(1, 0.9), (2, 0.9), (1000, 0.0), (1000, 0.5), (1000, 0.9), (1000, 1.0), (1000, 1.3), (50, 4.0)] {
        let (mut random, zipf) = (random(), Zipf::new(n, theta));
        let mut counts = vec![0u32; n as usize];
        (0..N).for_each(|_| counts[zipf.sample(&mut random) as usize] += 1);
        let weights: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-theta)).collect();
        let total: f64 = weights.iter().sum();
        let (mut chi_square, mut cells, mut tail) = (0.0, 0.0, (0.0, 0.0));
        for (&count, weight) in counts.iter().zip(&weights) {
            let expected = N as f64 * weight / total;
            if expected < 20.0 {
                tail = (tail.0 + count as f64, tail.1 + expected);
                continue;
            }
            chi_square += (count as f64 - expected).powi(2) / expected;
            cells += 1.0;
        }
        if tail.1 > 0.0 {
            chi_square += (tail.0 - tail.1).powi(2) / tail.1;
            cells += 1.0;
        }
        // A chi-square of f degrees has mean f and variance 2 f.
        let f: f64 = cells - 1.0;
        assert!(chi_square <= f + 5.0 * (2.0 * f).sqrt(), "n {n}, theta {theta}: {chi_square} for {f} degrees");
    }
}

#[test]
fn zipf_over_a_large_drive_keeps_the_share_of_its_head() {
    let n = 1u64 << 32;
    let (mut random, zipf) = (random(), Zipf::new(n, 0.9));
    // Head by summation; tail by the midpoint rule, whose error here is below 1e-9 of the sum.
    let head: f64 = (1..=1000u64).map(|k| (k as f64).powf(-0.9)).sum();
    let tail = ((n as f64 + 0.5).powf(0.1) - 1000.5f64.powf(0.1)) / 0.1;
    let share = head / (head + tail);
    let found = (0..N).filter(|_| zipf.sample(&mut random) < 1000).count() as f64 / N as f64;
    near(found, share, 5.0 * (share * (1.0 - share) / N as f64).sqrt());
}

proptest! {
    #![proptest_config(flashlane_testing::drawn::drawn(256, env!("CARGO_MANIFEST_DIR"), "synthetic-draws"))]

    #[test]
    fn a_shuffle_is_a_permutation(n in 1u64..3000, seed: u64) {
        let shuffle = Permutation::new(n, seed);
        let mut seen = vec![false; n as usize];
        for x in 0..n {
            prop_assert!(!std::mem::replace(&mut seen[shuffle.apply(x) as usize], true));
        }
    }

    #[test]
    fn zipf_ranks_stay_below_n(n in 1u64..=1 << 40, theta in 0.0f64..=10.0, seed: u64) {
        let (mut random, zipf) = (RandomStream::new(seed, Aspect::Address), Zipf::new(n, theta));
        for _ in 0..200 {
            prop_assert!(zipf.sample(&mut random) < n);
        }
    }
}
