//! Sweeps: one scenario with many values of its keys, each combination a run that is kept in a store.
//!
//! Owns the sweep file ([`Sweep`]), its runs ([`Plan`]), making those that are missing ([`make`]) and the table of all results
//! ([`table`](Plan::table)). Promises that a run is named by what determines it, that the table depends on the file alone and
//! not on how, where or in which order its runs were made, and that every error a run can have before it begins is found before
//! the first. Must never know how a run is shown in progress.
//!
//! ```text
//! file     `[sweep]` in a scenario
//! masked_toml  the scenario without it
//! axis     values of a key, and ranges
//! exclude  conditions on runs
//! factors  what a condition multiplies
//! plan     the runs, and their names
//! make     making what is missing
//! runner   whatever runs a store lacks, made in parallel: those of a sweep, those of experiments
//! rows     the table of results
//! bands    means and intervals over seeds
//! outcome  sentences and a table of what came out
//! labels   figures and keys in words, units
//! report   the page
//! recommend  which scheduler to take: runs chosen as they come, not listed in a file
//! ```

mod axis;
mod bands;
mod exclude;
mod factors;
mod file;
mod labels;
mod make;
mod masked_toml;
mod outcome;
mod plan;
mod recommend;
mod report;
mod rows;
mod runner;

pub use axis::{Axis, label};
pub use file::Sweep;
pub use make::{Made, MakeOptions, Shard, claim_and_make, make};
pub use plan::{Plan, PlannedRun, not_measured};
pub use recommend::{Limit, Limits, Recommend, nanoseconds};
pub use report::html;
pub use runner::{Progress, make_missing, name_of};

/// The file of figures of a run.
pub const SUMMARY: &str = "summary.json";
