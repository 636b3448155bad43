//! A paper and its experiments.

use flashlane_sim::RunError;

use crate::measurements::Measurements;
use crate::runner::Runner;
use crate::setting::Variant;

/// A paper.
#[derive(Debug)]
pub struct Paper {
    /// Its short name.
    pub name: &'static str,
    /// Seeds of each workload unless the user says otherwise.
    pub seeds: u64,
    /// The text of its file of claims.
    pub(crate) claims: &'static str,
    /// Variants of its chosen setting.
    pub variants: &'static [Variant],
    /// Its experiments, in groups that share runs.
    pub groups: &'static [Group],
}

/// Experiments evaluated from one set of runs.
#[derive(Debug)]
pub struct Group {
    /// Their names: `E6`, `E7`.
    pub experiments: &'static [&'static str],
    /// A description in one line.
    pub about: &'static str,
    /// Runs it.
    pub run: fn(&Runner<'_>) -> Result<Measurements, RunError>,
}
