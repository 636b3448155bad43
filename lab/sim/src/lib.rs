//! Runs: a scenario's flows on a device under a scheduler, alone runs, and comparisons of several schedulers.
//!
//! Owns what a run is made of (`plan`), the loop that feeds a device and those who watch it (`run`), and the comparisons and their
//! preparation (`drive`). Promises that every request a source produced is completed or reported as rejected, and that a
//! comparison's figures do not depend on how many threads computed them. Must never know how figures are shown.

mod drive;
mod error;
mod maker;
mod plan;
pub mod processor;
mod progress;
mod run;

pub use drive::arrivals::{Place, Requests, places, requests};
pub use drive::attribute::{MAX_DIFFERENCES, attribute};
pub use drive::available::{AvailableMemory, amount, fits};
pub use drive::ceiling::ceiling;
pub use drive::compare::{Comparison, Options, RowOutput, compare, compare_prepared, run_observed};
pub use drive::device::{Drive, Schedulers, drive};
pub use drive::explain::{Deciders, Histories, histories, slowest};
pub use drive::memory::{Memory, memory};
pub use drive::prepare::{Prepared, is_control, prepare};
pub use drive::repeat::compare_repeated;
pub use error::RunError;
pub use maker::maker;
pub use plan::used::{save_use, used_file};
pub use progress::Progress;
pub use run::feed::Feed;
pub use run::host_outcome::HostOutcome;
pub use run::observers::ObserverOptions;
pub use run::request_rows::RequestRows;
pub use run::simulation::{Limits, Outcome, Simulation};

/// How many runs are made in parallel.
pub fn threads() -> usize {
    rayon::current_num_threads()
}

/// Limits parallel runs to `jobs`. To be called once, before any run; without it one run per processor is made at a
/// time.
///
/// # Errors
/// If threads cannot be started, or runs have been made already.
pub fn use_threads(jobs: u16) -> Result<(), String> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(usize::from(jobs))
        .build_global()
        .map_err(|error| format!("cannot use {jobs} threads: {error}"))
}
