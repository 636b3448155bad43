//! Zipf ranks in constant time, and the fixed shuffle that spreads popular ranks over the space.
//!
//! Promises P(rank k) proportional to (k + 1)^-theta for k in `0..n`, exactly, with no table; a shuffle that is a
//! bijection. Knows nothing of addresses.

use super::draw::{RandomStream, splitmix64};

/// Rejection-inversion after Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996. Accepts more than nine draws in ten for every theta.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    n: f64,
    theta: f64,
    /// The integral of the density up to the first and up to the last rank; draws are uniform between the two.
    low: f64,
    high: f64,
    /// Distance below which a draw is accepted without evaluating the density.
    shortcut: f64,
}

impl Zipf {
    /// `n` ranks, at least 1; `theta` at least 0, where 0 is uniform.
    pub(super) fn new(n: u64, theta: f64) -> Zipf {
        let n = n as f64;
        let mut zipf = Zipf { n, theta, low: 0.0, high: 0.0, shortcut: 0.0 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(n + 0.5);
        zipf.shortcut = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// A rank; 0 is the most popular.
    #[inline]
    pub(super) fn sample(&self, random: &mut RandomStream) -> u64 {
        loop {
            let u = self.high + random.unit() * (self.low - self.high);
            let x = self.inverse(u);
            // Clamped, since rounding may put the inverse beyond either end.
            let k = libm::floor(x + 0.5).clamp(1.0, self.n);
            if k - x <= self.shortcut || u >= self.integral(k + 0.5) - self.density(k) {
                return k as u64 - 1;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// The integral of the density from 1 to `x`: (x^(1-theta) - 1) / (1-theta), and ln x at theta = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        expm1_over((1.0 - self.theta) * log) * log
    }

    fn inverse(&self, y: f64) -> f64 {
        // Rounding may put the argument below -1, where the logarithm has no value.
        let t = (y * (1.0 - self.theta)).max(-1.0);
        libm::exp(log1p_over(t) * y)
    }
}

/// (e^x - 1) / x, without loss near zero.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::expm1(x) / x } else { 1.0 + x * 0.5 * (1.0 + x / 3.0) }
}

/// ln(1 + x) / x, without loss near zero.
fn log1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 { libm::log1p(x) / x } else { 1.0 - x * (0.5 - x / 3.0) }
}

/// A fixed, seeded permutation of `0..n`: where the popular ranks lie.
#[derive(Clone, Debug)]
pub(super) struct Permutation {
    n: u64,
    mask: u64,
    half: u32,
    key: u64,
}

impl Permutation {
    /// A permutation of `0..n`, `n` at least 1.
    pub(super) fn new(n: u64, seed: u64) -> Permutation {
        let bits = (64 - (n - 1).leading_zeros()).max(1);
        Permutation { n, mask: u64::MAX >> (64 - bits), half: bits.div_ceil(2), key: splitmix64(seed) }
    }

    /// Permutes the next power of two, again and again while the result is outside `0..n`: fewer than two steps on
    /// average. It ends, because following the permutation from inside `0..n` leads back there.
    #[inline]
    pub(super) fn apply(&self, x: u64) -> u64 {
        let mut x = x;
        loop {
            x = (x ^ self.key) & self.mask;
            x = x.wrapping_mul(0x9E37_79B9_7F4A_7C15) & self.mask;
            x ^= x >> self.half;
            x = x.wrapping_mul(0xD1B5_4A32_D192_ED03) & self.mask;
            x ^= x >> self.half;
            if x < self.n {
                return x;
            }
        }
    }
}
