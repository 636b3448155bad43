//! What is compared on mixes of traces: the systems of section 7 and the four measures.

use super::mixes::TraceMix;
use crate::RunStats;
use flashlane_report::results::FairnessStats;

/// The systems of section 7, its two baselines first.
pub const SYSTEMS: [&str; 5] = ["sprinkler", "sprinkler+fairness", "flin", "flin-stage1", "flin-stage3"];

/// The result of a mix.
pub struct MixResult {
    /// The mix.
    pub mix: TraceMix,
    /// Its figures.
    pub figures: RunStats,
}

/// A measure of a mix under a system.
pub type Measure = fn(&FairnessStats) -> f64;

/// The measures of a class of mixes, by name.
pub const MEASURES: [(&str, Measure); 4] = [
    ("fairness", |f| f.fairness),
    ("max_slowdown", |f| f.max_slowdown),
    ("stdev", |f| f.stdev),
    ("weighted_speedup", |f| f.weighted_speedup),
];
