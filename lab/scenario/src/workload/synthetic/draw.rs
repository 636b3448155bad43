//! Random draws: one seeded stream, and the simple distributions drawn from it.
//!
//! Promises the same draws on every machine (see the parent module for how). Knows nothing of requests.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// What a stream of draws is for. Each aspect of a flow has a stream of its own.
#[derive(Clone, Copy)]
pub(super) enum Aspect {
    Operation = 1,
    Size = 2,
    Address = 3,
    Arrival = 4,
    WriteArrival = 5,
    Rewrite = 6,
    Layout = 7,
    Trim = 8,
    TrimAddress = 9,
    Force = 10,
}

/// Spreads the bits of a seed, so that neighbouring seeds give unrelated streams (the finaliser of SplitMix64).
pub(super) fn splitmix64(seed: u64) -> u64 {
    let x = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A stream of draws.
#[derive(Clone, Debug)]
pub(super) struct RandomStream {
    rng: Pcg64Mcg,
    /// The second of the two normal variates that the polar method yields at a time.
    spare: Option<f64>,
}

impl RandomStream {
    pub(super) fn new(seed: u64, aspect: Aspect) -> RandomStream {
        RandomStream { rng: Pcg64Mcg::seed_from_u64(splitmix64(seed ^ splitmix64(aspect as u64))), spare: None }
    }

    #[inline]
    pub(super) fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// Uniform in [0, 1): a multiple of 2^-53.
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        to_unit(self.bits())
    }

    /// Uniform in (0, 1]: safe to take the logarithm of.
    #[inline]
    pub(super) fn open_unit(&mut self) -> f64 {
        1.0 - self.unit()
    }

    /// Uniform among `0..n`, by the high half of a product. The bias is below n / 2^64, far too small to show in a run.
    #[inline]
    pub(super) fn below(&mut self, n: u64) -> u64 {
        ((self.bits() as u128 * n as u128) >> 64) as u64
    }

    /// True with probability `p`. Always takes one draw, so that the stream does not depend on `p`.
    #[inline]
    pub(super) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Standard normal, by Marsaglia's polar method.
    #[inline]
    pub(super) fn normal(&mut self) -> f64 {
        if let Some(z) = self.spare.take() {
            return z;
        }
        loop {
            let (u, v) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let scale = libm::sqrt(-2.0 * libm::log(s) / s);
                self.spare = Some(v * scale);
                return u * scale;
            }
        }
    }
}

/// The highest 53 bits as a number in [0, 1). Signed on the way, which the processor converts in one instruction.
#[inline]
fn to_unit(bits: u64) -> f64 {
    (bits >> 11) as i64 as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Layers of the ziggurat.
const LAYERS: usize = 256;
/// Where the tail begins, and the area of each of the 256 layers; the tail counts with the lowest. From Marsaglia and
/// Tsang, "The ziggurat method for generating random variables", J. Statistical Software 5(8), 2000.
const TAIL: f64 = 7.697_117_470_131_05;
const AREA: f64 = 0.003_949_659_822_581_557;

/// Exponential with mean 1, by the ziggurat method: 99 draws in 100 cost a table look-up instead of a logarithm, which
/// by itself would take longer than the rest of a request.
#[derive(Clone, Debug)]
pub(super) struct Exponential {
    /// Width of each layer from the lowest up, and the density e^-width there.
    layers: Box<[(f64, f64); LAYERS + 1]>,
}

impl Exponential {
    pub(super) fn new() -> Exponential {
        let mut layers = Box::new([(0.0, 1.0); LAYERS + 1]);
        // The lowest layer is as wide as a box of its area with the density at the tail as its height.
        let base = libm::exp(-TAIL);
        layers[0] = (AREA / base, base);
        layers[1] = (TAIL, base);
        for i in 2..LAYERS {
            let (width, density) = layers[i - 1];
            let density = density + AREA / width;
            layers[i] = (-libm::log(density), density);
        }
        Exponential { layers }
    }

    #[inline]
    pub(super) fn sample(&self, random: &mut RandomStream) -> f64 {
        let mut before = 0.0;
        loop {
            // The lowest 8 bits choose the layer, the highest 53 the place in it.
            let bits = random.bits();
            let layer = (bits % LAYERS as u64) as usize;
            let (width, density) = self.layers[layer];
            let (inner, above) = self.layers[layer + 1];
            let x = to_unit(bits) * width;
            if x < inner {
                return before + x;
            }
            if layer == 0 {
                // Beyond the beginning of the tail the draw starts anew: the exponential distribution has no memory.
                before += TAIL;
            } else if density + random.unit() * (above - density) < libm::exp(-x) {
                return before + x;
            }
        }
    }
}

/// Geometric on 1, 2, 3, ... with a given mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Geometric {
    /// ln(1 - 1/mean), negative; zero stands for "always 1".
    log_failure: f64,
}

impl Geometric {
    /// `mean` must be at least 1.
    pub(super) fn new(mean: f64) -> Geometric {
        Geometric { log_failure: if mean > 1.0 { libm::log1p(-1.0 / mean) } else { 0.0 } }
    }

    #[inline]
    pub(super) fn sample(&self, random: &mut RandomStream) -> u64 {
        let u = random.open_unit();
        if self.log_failure == 0.0 { 1 } else { 1 + (libm::log(u) / self.log_failure) as u64 }
    }
}
