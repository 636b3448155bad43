//! What a comparison comes to: what happened on these requests, what other states of the drive say of it, and where these requests disagree among
//! themselves; then warnings.
//!
//! Made from the summary alone, by the rules of docs/reading-results.md. First as data ([`Finding`]), from which alone come the words. Must never know
//! how results are shown, nor how runs are made.

mod cases;
#[cfg(test)]
mod drawn_tests;
mod effects;
mod finding;
mod findings;
mod host;
#[cfg(test)]
mod host_tests;
mod order;
#[cfg(test)]
mod screen_tests;
#[cfg(test)]
mod tests;
mod uneven;
mod units;
#[cfg(test)]
mod warning_tests;
mod warnings;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use effects::{ENOUGH_ERASES, is_too_few_to_tell};
pub use finding::{Change, Compared, Figure, Finding, FindingKind, SeedOpinion, SeedRange, SeedWord};
pub use warnings::{cache_stays_full, not_measured};

use super::summary::Summary;

/// The verdict on a comparison or a run: sentences without a full stop. Names in them are as the user gave them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// What it shows, in the order in which it is printed.
    pub findings: Vec<Finding>,
    /// Reasons for caution, the gravest first.
    pub warnings: Vec<Warning>,
    /// The schedulers whose write amplification is too few erases to tell: it rests on 1 to 29, and there is one seed.
    pub too_few_erases: Vec<String>,
}

/// A reason for caution about figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// The rule that found it.
    pub rule: Rule,
    /// What was found.
    pub text: String,
}

/// The rules that give warnings; docs/reading-results.md explains each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A trace's rate is impossible: its times may be in another unit.
    Units,
    /// The drive had next to nothing to do.
    Idle,
    /// Requests came faster than they were served.
    Overloaded,
    /// Requests were refused.
    Rejected,
    /// The drive is used as it was not when its device was fitted.
    NotMeasured,
    /// The scenario gives keys that it switches off.
    KeysWithoutEffect,
    /// The SLC cache was full and nothing empties it.
    CacheStaysFull,
    /// A busy drive in steady state collected hardly any block: it may have written into the free blocks it began with.
    HardlyCollected,
    /// Schedulers did exactly the same.
    Identical,
    /// A percentile rests on too few requests.
    TooShort,
    /// Slowdowns are against alone runs that differ.
    AloneRuns,
}

impl Verdict {
    /// The verdict on `summary`.
    pub fn of(summary: &Summary) -> Verdict {
        let cases = cases::of(summary);
        let findings = findings::of(summary, &cases);
        let few = summary.schedulers.iter().filter(|run| is_too_few_to_tell(summary, &run.device));
        let too_few_erases = few.map(|run| run.name.clone()).collect();
        Verdict { warnings: warnings::of(summary, &cases), findings, too_few_erases }
    }

    /// The sentences: those of the first screen and how many more there are, or with `full` all.
    pub fn lines(&self, full: bool) -> Vec<String> {
        let shown = self.findings.iter().filter(|finding| full || finding.is_on_first_screen);
        let left = self.findings.iter().filter(|finding| !full && !finding.is_on_first_screen).count();
        let more = (left > 0).then(|| format!("{left} more {} with --full", if left == 1 { "line" } else { "lines" }));
        shown.map(|finding| finding.text.clone()).chain(more).collect()
    }
}
