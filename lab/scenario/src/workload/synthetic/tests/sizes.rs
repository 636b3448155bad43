//! Sizes: moments, rounding, clipping, and the mean that a rate in MB/s is based on.

use super::super::draw::{Aspect, RandomStream};
use super::super::size::SizeSampler;
use super::super::{Lognormal, Size, Uniform};
use super::{Drawn, draw, mean, moments, near};
use flashlane_core::Op;

const N: usize = 400_000;

fn drawn(size: &Size, step: u64) -> (SizeSampler, Vec<f64>) {
    let (size, mut random) = (SizeSampler::new(size, step), RandomStream::new(3, Aspect::Size));
    let values = (0..N).map(|_| size.sample(&mut random) as f64).collect();
    (size, values)
}

fn lognormal(mean_kb: f64, sd_kb: f64) -> Size {
    let (mean_bytes, sd_bytes) = (mean_kb * 1024.0, sd_kb * 1024.0);
    Size::Lognormal(Lognormal { mean_bytes, sd_bytes, min_bytes: 512, max_bytes: 4 << 20 })
}

#[test]
fn lognormal_has_the_moments_asked_for() {
    // In steps of a byte and out of reach of the clipping, the moments are those of the distribution (slacker prxy0).
    let (_, x) = drawn(&lognormal(38.6, 30.6), 1);
    let (m, variance) = moments(&x);
    near(m, 38.6 * 1024.0 + 0.5, 5.0 * 30.6 * 1024.0 / (N as f64).sqrt());
    // The kurtosis of a lognormal of cv 0.79 is 16; the standard deviation is then known to sqrt(15 / 4N) = 0.3 %.
    near(variance.sqrt() / (30.6 * 1024.0), 1.0, 0.015);
    // The logarithm is normal: its median is the mean over sqrt(1 + cv^2).
    let median = 38.6 * 1024.0 / (1.0 + (30.6f64 / 38.6).powi(2)).sqrt();
    let below = x.iter().filter(|&&x| x <= median).count() as f64 / N as f64;
    near(below, 0.5, 5.0 * 0.5 / (N as f64).sqrt());
}

#[test]
fn the_computed_mean_is_the_mean_of_the_draws() {
    let sizes = [
        (Size::Constant(5000), 512),
        (Size::Uniform(Uniform { min_bytes: 8192, max_bytes: 65536 }), 4096),
        (Size::Uniform(Uniform { min_bytes: 1000, max_bytes: 3000 }), 512),
        (Size::Mix(vec![(4096, 3.0), (65536, 1.0), (100, 0.0)]), 512),
        (lognormal(8.1, 6.5), 512),
        // Web3's reads: the standard deviation is three times the mean, so that both rounding and clipping show.
        (lognormal(82.9, 241.5), 512),
        (Size::Lognormal(Lognormal { mean_bytes: 9000.0, sd_bytes: 9000.0, min_bytes: 4096, max_bytes: 16384 }), 4096),
        (Size::Lognormal(Lognormal { mean_bytes: 4096.0, sd_bytes: 0.0, min_bytes: 512, max_bytes: 4 << 20 }), 512),
    ];
    for (size, step) in sizes {
        let (draw, x) = drawn(&size, step);
        let (m, variance) = moments(&x);
        near(m, draw.mean(), 5.0 * (variance / N as f64).sqrt() + 1e-9);
        let largest = x.iter().fold(0.0, |a: f64, &b| a.max(b));
        assert!(largest <= draw.max() as f64, "{size:?}");
    }
}

#[test]
fn drawn_sizes_are_steps_within_their_limits() {
    let (_, x) = drawn(&lognormal(82.9, 241.5), 512);
    assert!(x.iter().all(|&x| x % 512.0 == 0.0 && (512.0..=4194304.0).contains(&x)));
    assert!(x.contains(&512.0) && x.contains(&4194304.0), "both ends of the clipping are reached");
    let (_, x) = drawn(&Size::Uniform(Uniform { min_bytes: 8192, max_bytes: 65536 }), 4096);
    for pages in 2..=16 {
        let share = x.iter().filter(|&&x| x == 4096.0 * pages as f64).count() as f64 / N as f64;
        near(share, 1.0 / 15.0, 5.0 * (1.0 / 15.0 * 14.0 / 15.0 / N as f64).sqrt());
    }
    let (draw, x) =
        drawn(&Size::Lognormal(Lognormal { mean_bytes: 4096.0, sd_bytes: 0.0, min_bytes: 512, max_bytes: 8192 }), 512);
    assert!(matches!(draw, SizeSampler::Constant(4096)) && x[0] == 4096.0);
}

#[test]
fn a_mix_has_the_shares_of_its_weights() {
    let (_, x) = drawn(&Size::Mix(vec![(4096, 3.0), (512, 0.0), (65536, 1.0)]), 512);
    let share = |bytes: f64| x.iter().filter(|&&x| x == bytes).count() as f64 / N as f64;
    near(share(4096.0), 0.75, 5.0 * (0.75 * 0.25 / N as f64).sqrt());
    assert_eq!(share(512.0), 0.0);
    assert_eq!(share(4096.0) + share(65536.0), 1.0);
}

#[test]
fn the_iometer_mix_of_the_documentation_has_its_mean() {
    // Model 5.2: 4 KB x 2^k with a mean of 103.5 KB.
    let weights = (0..8).map(|k| (4096u64 << k, 0.9246906f64.powi(k))).collect();
    near(SizeSampler::new(&Size::Mix(weights), 512).mean() / 1024.0, 103.5, 0.001);
}

#[test]
fn writes_may_have_sizes_of_their_own() {
    let toml = "read_ratio = 0.5\nsize = { constant = 8192 }\nwrite_size = { constant = 512 }\nrate_iops = 1e3\nrequests = 1000";
    let sized = |d: &Drawn| d.length == if d.op == Op::Read { 8192 } else { 512 };
    let drawn = draw(toml);
    assert!(drawn.iter().all(sized));
    near(mean(drawn.iter().map(|d| (d.op == Op::Read) as u64 as f64)), 0.5, 5.0 * 0.5 / 1000f64.sqrt());
}
