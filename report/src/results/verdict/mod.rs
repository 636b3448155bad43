//! What a comparison comes to, in words: who wins and who pays, and warnings.
//!
//! Made from the summary alone, by the rules of docs/verdict.md. Must never know how results are shown, nor how runs are
//! made.

mod findings;
mod tenants;
#[cfg(test)]
mod tests;
mod units;
mod warnings;

pub use warnings::cache_stays_full;

use super::summary::Summary;

/// The verdict on a comparison or a run: sentences without a full stop. Names in them are as the user gave them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Who wins, for whom, by how much; then who pays.
    pub findings: Vec<String>,
    /// Reasons for caution, the gravest first.
    pub warnings: Vec<Warning>,
}

/// A reason for caution about figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The rule that found it.
    pub rule: Rule,
    /// What was found.
    pub text: String,
}

/// The rules that give warnings; docs/verdict.md explains each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A trace's rate is impossible: its times may be in another unit.
    Units,
    /// The drive had next to nothing to do.
    Idle,
    /// Requests came faster than they were served.
    Overloaded,
    /// Requests were refused.
    Rejected,
    /// The scenario gives keys that it switches off.
    KeysWithoutEffect,
    /// The SLC cache was full and nothing empties it.
    CacheStaysFull,
    /// Schedulers did exactly the same.
    Identical,
    /// A difference is smaller than its confidence interval.
    Noise,
    /// A difference comes from a few parts of the run, too few for a test.
    OneBurst,
    /// A percentile rests on too few requests.
    TooShort,
    /// Slowdowns are against alone runs that differ.
    AloneRuns,
}

impl Verdict {
    /// The verdict on `summary`.
    pub fn of(summary: &Summary) -> Verdict {
        let tenants = tenants::of(summary);
        Verdict { findings: findings::of(summary, &tenants), warnings: warnings::of(summary, &tenants) }
    }
}
