//! What each decision in which two schedulers differ contributes to the difference of their response times.
//!
//! Owns the Shapley value and its shape in summary.json. Must never know how the mixes between the two were run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::mean_and_ci95;

/// The difference between two schedulers, shared among the decisions and parameters in which they differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Attribution {
    /// The scheduler at the beginning.
    pub from: String,
    /// The scheduler at the end.
    pub to: String,
    /// Their differences, in the order of every list of parts below.
    pub differences: Vec<Difference>,
    /// Mixes run for each seed: one for each subset of the differences.
    pub mixes: u64,
    /// Seeds.
    pub seeds: u64,
    /// Mean response times that are explained: of all requests, of reads and of writes or of each flow.
    pub measures: Vec<Measure>,
}

/// A decision or a parameter in which two schedulers differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The question, or the parameter.
    pub what: String,
    /// Its answer or value at the beginning.
    pub from: String,
    /// Its answer or value at the end.
    pub to: String,
}

/// A mean response time and the parts of its change. Means over the seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measure {
    /// Whose: `all requests`, `reads`, `writes`, or the name of a flow.
    pub name: String,
    /// Mean response time under the scheduler at the beginning, ns.
    pub from_ns: f64,
    /// Under the one at the end, ns.
    pub to_ns: f64,
    /// One entry per difference. Their contributions add up to `to_ns - from_ns`.
    pub parts: Vec<Part>,
}

/// The part of one difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Its Shapley value, ns: the mean of what it changes over all orders in which the differences can be made. Negative is faster.
    pub contribution_ns: f64,
    /// Half the width of the 95 % confidence interval over the seeds, ns; null with one seed.
    pub ci95_ns: Option<f64>,
    /// What it changes if it is made first, ns.
    pub first_ns: f64,
    /// What it changes if it is made last, ns.
    pub last_ns: f64,
}

/// The Shapley value of each of `count` players; `value` has an entry for each subset, in which bit `i` stands for player `i`.
///
/// # Panics
/// Without an entry for each subset.
pub fn shapley(count: usize, value: &[f64]) -> Vec<f64> {
    assert_eq!(value.len(), 1 << count, "a value for each subset");
    // The share of all orders in which the players of a subset of this size come before a given other one.
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let weight = |size: usize| factorial(size) * factorial(count - size - 1) / factorial(count);
    let of = |player: usize| {
        let without = (0..value.len()).filter(|subset| subset & 1 << player == 0);
        without.map(|subset| weight(subset.count_ones() as usize) * (value[subset | 1 << player] - value[subset])).sum()
    };
    (0..count).map(of).collect()
}

impl Measure {
    /// The parts of a mean response time; `values` has for each seed a value for each subset.
    pub fn of(name: &str, count: usize, values: &[Vec<f64>]) -> Measure {
        let full = (1usize << count) - 1;
        let over_seeds = |of: &dyn Fn(&[f64]) -> f64| values.iter().map(|value| of(value)).collect::<Vec<f64>>();
        let mean = |of: &dyn Fn(&[f64]) -> f64| mean_and_ci95(&over_seeds(of)).0;
        let contributions: Vec<Vec<f64>> = values.iter().map(|value| shapley(count, value)).collect();
        let part = |player: usize| {
            let own: Vec<f64> = contributions.iter().map(|of_seed| of_seed[player]).collect();
            let (contribution_ns, ci95_ns) = mean_and_ci95(&own);
            Part {
                contribution_ns,
                ci95_ns,
                first_ns: mean(&|value| value[1 << player] - value[0]),
                last_ns: mean(&|value| value[full] - value[full & !(1 << player)]),
            }
        };
        Measure {
            name: name.to_owned(),
            from_ns: mean(&|value| value[0]),
            to_ns: mean(&|value| value[full]),
            parts: (0..count).map(part).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The glove game: one left and two right gloves; a pair is worth 1. The Shapley values are 2/3, 1/6, 1/6.
    #[test]
    fn the_glove_game() {
        let pair = |subset: usize| if subset & 1 != 0 && subset & 6 != 0 { 1.0 } else { 0.0 };
        let values: Vec<f64> = (0..8).map(pair).collect();
        let found = shapley(3, &values);
        for (value, expected) in found.iter().zip([2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0]) {
            assert!((value - expected).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn contributions_add_up_to_the_change() {
        let values: Vec<f64> = (0..32u64).map(|subset| (subset * 2_654_435_761 % 1_000) as f64).collect();
        let measure = Measure::of("all requests", 5, &[values.clone(), values.iter().map(|v| v * 1.5).collect()]);
        let sum: f64 = measure.parts.iter().map(|part| part.contribution_ns).sum();
        assert!((sum - (measure.to_ns - measure.from_ns)).abs() < 1e-9);
        assert_eq!(measure.from_ns, values[0] * 1.25);
    }
}
