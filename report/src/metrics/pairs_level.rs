//! How often differences are found where there is none, and where there is one: made comparisons, by the interval alone (Student's t
//! over batches) and by flipping signs.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::*;

/// Requests of a comparison in which nothing is correlated: batches of a hundred; and of one in which the next twenty are.
const REQUESTS: u64 = 100 * BATCHES as u64;
const CORRELATED: u64 = 4 * REQUESTS;

/// How response times are drawn.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Uniform, from 50 to 150 us.
    Light,
    /// Lognormal with a median of 100 us and sigma 2: one in a thousand takes 50 ms.
    HeavyTailed,
    /// Those of a queue that is busy for 70 % of the time; a wait is correlated with the next twenty.
    Autocorrelated,
}

/// Draws the response times of a run, ns.
struct Run {
    kind: Kind,
    random: Pcg64Mcg,
    wait: f64,
}

impl Run {
    fn new(kind: Kind, seed: u64) -> Run {
        Run { kind, random: Pcg64Mcg::seed_from_u64(seed), wait: 0.0 }
    }

    /// Above 0, below 1.
    fn uniform(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn response_ns(&mut self) -> f64 {
        match self.kind {
            Kind::Light => 50_000.0 + 100_000.0 * self.uniform(),
            Kind::HeavyTailed => {
                let radius = (-2.0 * self.uniform().ln()).sqrt();
                let normal = radius * (std::f64::consts::TAU * self.uniform()).cos();
                100_000.0 * (2.0 * normal).exp()
            }
            Kind::Autocorrelated => {
                let [service, gap] = [70_000.0, 100_000.0].map(|mean| -mean * self.uniform().ln());
                let response = self.wait + service;
                self.wait = (response - gap).max(0.0);
                response
            }
        }
    }
}

/// Of `comparisons` of this many requests in which the own run takes `scale` times what the other does, the shares that the interval alone and that flipped
/// signs call a difference.
fn found(kind: Kind, requests: u64, comparisons: u64, scale: f64) -> [f64; 2] {
    let mut found = [0u32; 2];
    for comparison in 0..comparisons {
        let [mut base, mut own] = [1, 2].map(|run| Run::new(kind, 1_000 * comparison + run));
        let mut counters = BatchedPairCounters::default();
        for i in 0..requests {
            let pair = Pair::of(base.response_ns() as u64, (scale * own.response_ns()) as u64);
            counters.add((i * BATCHES as u64 / requests) as usize, pair);
        }
        let (gain, half) = counters.gain_ns().expect("pairs");
        found[0] += u32::from(gain.abs() > half.expect("pairs in each batch"));
        found[1] += u32::from(counters.chance().p.expect("batches that differ") <= 0.05);
    }
    found.map(|found| f64::from(found) / comparisons as f64)
}

/// Of 2,001 comparisons without an effect at most 6 % are called a difference; docs/verdict.md has the figures that this prints.
#[test]
fn without_an_effect_hardly_a_difference_is_found_and_with_one_as_many_as_before() {
    let kinds = [
        (Kind::Light, REQUESTS, [0.99, 0.98]),
        (Kind::HeavyTailed, REQUESTS, [0.7, 0.5]),
        (Kind::Autocorrelated, CORRELATED, [0.9, 0.8]),
    ];
    let mut all = 0.0;
    for (kind, requests, effects) in kinds {
        let none = found(kind, requests, 667, 1.0);
        println!("{kind:?}: no effect: t {:.3}, signs {:.3}", none[0], none[1]);
        all += none[1] / 3.0;
        for scale in effects {
            let some = found(kind, requests, 200, scale);
            println!("{kind:?}: times {scale}: t {:.3}, signs {:.3}", some[0], some[1]);
            assert!(some[1] >= some[0] - 0.02, "{kind:?} {scale}: {some:?}");
        }
        assert!(none[1] <= 0.06, "{kind:?}: {none:?}");
    }
    println!("all: no effect: signs {all:.4}");
    // Batches no longer than what is correlated are not independent: a limit of the test, and of the interval.
    let short = found(Kind::Autocorrelated, REQUESTS, 667, 1.0);
    println!("Autocorrelated, a quarter of the requests: no effect: t {:.3}, signs {:.3}", short[0], short[1]);
    assert!(all <= 0.06, "{all}");
}

/// One burst makes all of the difference: the interval contains 0, though every batch that differs by much gains.
#[test]
fn a_burst_in_which_everything_gains_is_a_difference() {
    let mut counters = BatchedPairCounters::default();
    for batch in 0..BATCHES {
        let gain = match batch {
            13..20 => 1_000_000 << (batch - 13),
            _ => 0,
        };
        (0..100).for_each(|_| counters.add(batch, Pair::of(100_000 + gain, 100_000)));
    }
    let (gain, half) = counters.gain_ns().expect("pairs");
    assert!(gain < half.expect("an interval"), "{gain} {half:?}");
    let chance = counters.chance();
    assert_eq!((chance.differ, chance.mostly_faster, chance.mostly_slower), (7, 7, 0));
    assert_eq!(chance.p, Some(2.0 / 128.0));
}
