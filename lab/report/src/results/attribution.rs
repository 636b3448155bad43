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
    /// Half the width of the 95 % confidence interval of the change over the seeds, ns; null with one seed.
    pub change_ci95_ns: Option<f64>,
    /// Seeds in which the change goes the other way than its mean over the seeds.
    pub other_way: u64,
    /// Why no part has a share of the change; null where there is a change to share out.
    pub no_shares: Option<NoShares>,
    /// One entry per difference. Their contributions add up to `to_ns - from_ns`.
    pub parts: Vec<Part>,
}

/// Why a change is not shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoShares {
    /// The means differ by no more than 1 % of the smaller.
    Alike,
    /// The confidence interval of the change over the seeds holds zero.
    SeedsDisagree,
}

/// The part of one difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Its Shapley value, ns: the mean of what it changes over all orders in which the differences can be made. Negative is faster.
    pub contribution_ns: f64,
    /// Half the width of the 95 % confidence interval over the seeds, ns; null with one seed.
    pub ci95_ns: Option<f64>,
    /// Its contribution over the change of the mean, 1 for all of it; null where there is no change to share out, or where its own confidence
    /// interval holds zero.
    pub share: Option<f64>,
    /// Seeds in which its contribution goes the other way than its mean over the seeds.
    pub other_way: u64,
    /// What it changes if it is made first, ns.
    pub first_ns: f64,
    /// What it changes if it is made last, ns.
    pub last_ns: f64,
}

/// Means that differ by no more than this share of the smaller are alike.
const ALIKE: f64 = 0.01;

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
        let (from_ns, to_ns) = (mean(&|value| value[0]), mean(&|value| value[full]));
        let changes = over_seeds(&|value| value[full] - value[0]);
        let (change, change_ci95_ns) = mean_and_ci95(&changes);
        let no_shares = if (to_ns - from_ns).abs() <= ALIKE * from_ns.min(to_ns) {
            Some(NoShares::Alike)
        } else {
            holds_zero(change, change_ci95_ns).then_some(NoShares::SeedsDisagree)
        };
        let contributions: Vec<Vec<f64>> = values.iter().map(|value| shapley(count, value)).collect();
        let part = |player: usize| {
            let own: Vec<f64> = contributions.iter().map(|of_seed| of_seed[player]).collect();
            let (contribution_ns, ci95_ns) = mean_and_ci95(&own);
            let has_share = no_shares.is_none() && !holds_zero(contribution_ns, ci95_ns);
            Part {
                contribution_ns,
                ci95_ns,
                share: has_share.then(|| contribution_ns / (to_ns - from_ns)),
                other_way: other_way(&own, contribution_ns),
                first_ns: mean(&|value| value[1 << player] - value[0]),
                last_ns: mean(&|value| value[full] - value[full & !(1 << player)]),
            }
        };
        Measure {
            name: name.to_owned(),
            from_ns,
            to_ns,
            change_ci95_ns,
            other_way: other_way(&changes, change),
            no_shares,
            parts: (0..count).map(part).collect(),
        }
    }
}

/// Whether the interval around a mean over seeds holds zero: it is not told apart from nothing. What is zero in all seeds is nothing for certain.
fn holds_zero(mean: f64, ci95: Option<f64>) -> bool {
    ci95.is_some_and(|half| half > 0.0 && mean.abs() <= half)
}

/// How many of the values have the other sign than their mean.
fn other_way(values: &[f64], mean: f64) -> u64 {
    values.iter().filter(|value| **value * mean < 0.0).count() as u64
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

    /// Two changes that add up, in each of the seeds.
    fn measure(from: f64, seeds: &[[f64; 2]]) -> Measure {
        let values = |&[a, b]: &[f64; 2]| vec![from, from + a, from + b, from + a + b];
        Measure::of("reads", 2, &seeds.iter().map(values).collect::<Vec<_>>())
    }

    fn shares(measure: &Measure) -> Vec<Option<i64>> {
        measure.parts.iter().map(|part| part.share.map(|share| (100.0 * share).round() as i64)).collect()
    }

    /// 176 % and -76 % of a change of 0.5 % are shares of nothing; of 2 % they are shares.
    #[test]
    fn a_change_within_one_percent_has_no_shares() {
        let small = measure(1_000.0, &[[8.8, -3.8]]);
        assert_eq!((small.no_shares, shares(&small)), (Some(NoShares::Alike), vec![None, None]));
        let large = measure(1_000.0, &[[35.2, -15.2]]);
        assert_eq!((large.no_shares, shares(&large)), (None, vec![Some(176), Some(-76)]));
    }

    /// 105 % of a change that three of five seeds turn round are a share of nothing.
    #[test]
    fn a_change_whose_interval_holds_zero_has_no_shares() {
        let seeds = [[-900.0, 0.0], [-800.0, 10.0], [4_000.0, 0.0], [-700.0, 10.0], [5_000.0, 0.0]];
        let unsure = measure(10_000.0, &seeds);
        assert_eq!((unsure.no_shares, shares(&unsure)), (Some(NoShares::SeedsDisagree), vec![None, None]));
        assert_eq!((unsure.other_way, unsure.parts[0].other_way, unsure.parts[1].other_way), (3, 3, 0));
    }

    /// A part of a sure change may be unsure itself; one that is nothing in all seeds is none of it.
    #[test]
    fn a_part_whose_interval_holds_zero_has_no_share() {
        let seeds = [[-4_000.0, 30.0], [-4_100.0, -40.0], [-3_900.0, 20.0]];
        let sure = measure(10_000.0, &seeds);
        assert_eq!((sure.no_shares, shares(&sure)), (None, vec![Some(100), None]));
        assert_eq!((sure.other_way, sure.parts[1].other_way), (0, 1));
        assert!(sure.change_ci95_ns.is_some_and(|half| half > 0.0));
        assert_eq!(shares(&measure(10_000.0, &[[-4_000.0, 0.0], [-4_100.0, 0.0]])), [Some(100), Some(0)]);
    }
}
