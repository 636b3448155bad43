//! Which decision brings a large difference between two schedulers. The types only; the runs are made in `flashlane-sim`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attribution::Difference;
use super::replications::{RequestKind, SeedMeasure};

/// The share of a difference that a decision must bring, and take with it: four fifths, of the logarithm of the factor.
pub const MOST_OF_IT: f64 = 0.8;

/// The largest gain or the largest loss of the comparison, if it is above twofold, and the decision that brings it: made alone from `baseline`
/// on it brings at least four fifths of it, and without it four fifths are gone. Shares are of the logarithm of the factor, so that a gain
/// and the loss the other way round are judged alike: four fifths of 32 times are 16 times. Of means, or of 99th percentiles where no mean is
/// that far off. There is none where the comparison was not repeated with other seeds, and controls are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Deciding {
    /// Whether the scheduler gains or loses.
    pub way: Way,
    /// The scheduler.
    pub scheduler: String,
    /// The scheduler it is compared with.
    pub baseline: String,
    /// Whose requests: the flow's name; null for all flows together.
    pub flow: Option<String>,
    /// Their kind.
    pub kind: RequestKind,
    /// What is compared: the mean or the 99th percentile.
    pub measure: SeedMeasure,
    /// It under the baseline, ns.
    pub baseline_ns: f64,
    /// It under the scheduler, ns.
    pub scheduler_ns: f64,
    /// The decisions and parameters in which the two differ.
    pub differences: Vec<Difference>,
    /// The decision that brings it; null if none does by itself, or none was tried.
    pub decision: Option<String>,
    /// What was tried, in the order of `differences`; the others were not needed any more.
    pub tried: Vec<TriedDecision>,
    /// Why nothing was tried; null if something was, or there is a single difference.
    pub untried: Option<Untried>,
}

/// Whether a scheduler is faster or slower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Faster.
    Gain,
    /// Slower.
    Loss,
}

/// A decision by itself. Shares of the logarithm of the factor, 1 for all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriedDecision {
    /// The question or the parameter.
    pub what: String,
    /// The measure under the baseline with this decision of the scheduler's, ns; null if that cannot run on the device.
    pub alone_ns: Option<f64>,
    /// The share that it brings.
    pub brings: Option<f64>,
    /// The measure under the scheduler with this decision of the baseline's, ns; null if it brings too little alone, and was not run.
    pub without_ns: Option<f64>,
    /// The share that is gone then.
    pub takes: Option<f64>,
}

/// Why no decision was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Untried {
    /// Requests times runs would be more than 1,000,000.
    TooManyRequests,
    /// The two do not differ in decisions or parameters that can be made one at a time.
    NoDifference,
}
