//! Request sizes.
//!
//! Promises sizes within the limits that [`SizeSampler::max`] gives, and the exact mean of what it draws, rounding and
//! clipping included. Knows nothing of addresses.

use super::draw::RandomStream;
use super::spec::{Lognormal, Size};

/// A size distribution, ready to draw from. Built from a validated [`Size`] only.
#[derive(Clone, Debug)]
pub(super) enum SizeSampler {
    Constant(u64),
    Uniform {
        first_step: u64,
        steps: u64,
        step: u64,
    },
    Lognormal {
        mu: f64,
        sigma: f64,
        min: u64,
        max: u64,
        step: u64,
    },
    /// Sizes, and the sums of the weights up to and including each.
    Mix {
        bytes: Vec<u64>,
        sums: Vec<f64>,
        total: f64,
    },
}

impl SizeSampler {
    pub(super) fn new(size: &Size, step: u64) -> SizeSampler {
        match size {
            Size::Constant(bytes) => SizeSampler::Constant(*bytes),
            Size::Uniform(u) => {
                let first_step = u.min_bytes.div_ceil(step);
                SizeSampler::Uniform { first_step, steps: u.max_bytes / step - first_step + 1, step }
            }
            Size::Lognormal(l) => SizeSampler::lognormal(l, step),
            Size::Mix(entries) => {
                let kept = || entries.iter().filter(|entry| entry.1 > 0.0);
                let mut total = 0.0;
                let sums = kept().map(|entry| {
                    total += entry.1;
                    total
                });
                SizeSampler::Mix { sums: sums.collect(), bytes: kept().map(|entry| entry.0).collect(), total }
            }
        }
    }

    /// The parameters of ln X from the moments of X.
    fn lognormal(l: &Lognormal, step: u64) -> SizeSampler {
        let (min, max) = (l.min_bytes.div_ceil(step) * step, l.max_bytes / step * step);
        let ratio = l.sd_bytes / l.mean_bytes;
        let variance = libm::log1p(ratio * ratio);
        if variance == 0.0 {
            // exp(ln mean) may exceed the mean by a rounding error and so round up a step too far.
            return SizeSampler::Constant(round_up(l.mean_bytes, step).clamp(min, max));
        }
        let mu = libm::log(l.mean_bytes) - variance / 2.0;
        SizeSampler::Lognormal { mu, sigma: libm::sqrt(variance), min, max, step }
    }

    #[inline]
    pub(super) fn sample(&self, random: &mut RandomStream) -> u64 {
        match self {
            SizeSampler::Constant(bytes) => *bytes,
            SizeSampler::Uniform { first_step, steps, step } => (first_step + random.below(*steps)) * step,
            SizeSampler::Lognormal { mu, sigma, min, max, step } => {
                round_up(libm::exp(mu + sigma * random.normal()), *step).clamp(*min, *max)
            }
            SizeSampler::Mix { bytes, sums, total } => {
                let x = random.unit() * total;
                // The last size is the fallback for when rounding carries x up to the total.
                bytes[sums.partition_point(|&sum| sum <= x).min(bytes.len() - 1)]
            }
        }
    }

    /// The largest size that can be drawn.
    pub(super) fn max(&self) -> u64 {
        match self {
            SizeSampler::Constant(bytes) => *bytes,
            SizeSampler::Uniform { first_step, steps, step } => (first_step + steps - 1) * step,
            SizeSampler::Lognormal { max, .. } => *max,
            SizeSampler::Mix { bytes, .. } => bytes.iter().copied().max().unwrap_or(0),
        }
    }

    /// The mean of what is drawn.
    pub(super) fn mean(&self) -> f64 {
        match self {
            SizeSampler::Constant(bytes) => *bytes as f64,
            SizeSampler::Uniform { first_step, steps, step } => {
                (*first_step as f64 + (*steps - 1) as f64 / 2.0) * *step as f64
            }
            SizeSampler::Lognormal { mu, sigma, min, max, step } => {
                // min + step for each multiple of step, from min to below max, that the draw exceeds.
                let exceeds =
                    |y: u64| 0.5 * libm::erfc((libm::log(y as f64) - mu) / (sigma * std::f64::consts::SQRT_2));
                let steps = (max - min) / step;
                *min as f64 + *step as f64 * (0..steps).map(|j| exceeds(min + j * step)).sum::<f64>()
            }
            SizeSampler::Mix { bytes, sums, total } => {
                let weights = sums.iter().scan(0.0, |before, &sum| Some(sum - std::mem::replace(before, sum)));
                bytes.iter().zip(weights).map(|(&bytes, weight)| bytes as f64 * weight).sum::<f64>() / total
            }
        }
    }
}

fn round_up(bytes: f64, step: u64) -> u64 {
    // A float beyond 64 bits becomes the largest integer, which the caller clips.
    (libm::ceil(bytes / step as f64) as u64).saturating_mul(step)
}
