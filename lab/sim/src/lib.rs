//! Runs: a scenario's flows on a device under a scheduler, alone runs, and comparisons of several schedulers.
//!
//! Owns the loop that feeds a device (`simulation`), the preparation of a comparison (`prepare`) and the comparison itself
//! (`compare`). Promises that every request a source produced is completed or reported as rejected, and that a
//! comparison's figures do not depend on how many threads computed them. Must never know how figures are shown.

mod actual_slack;
mod arrivals;
mod attribute;
mod available;
mod ceiling;
mod changes;
mod compare;
mod counted;
mod deciding;
mod decisions;
mod drive;
mod entries;
mod explain;
mod feed;
mod flow_state;
mod further;
mod host_outcome;
mod hosted;
mod maker;
mod memory;
mod next_times;
mod observers;
mod oracle;
mod pairing;
mod prepare;
pub mod processor;
mod progress;
mod recipes;
mod repeat;
mod request_rows;
mod simulation;
mod standstill;
mod state_file;
mod states;
mod traces;
mod transactions;
mod used;

pub use arrivals::{Place, Requests, places, requests};
pub use attribute::{MAX_DIFFERENCES, attribute};
pub use available::{AvailableMemory, amount, fits};
pub use ceiling::ceiling;
pub use compare::{Comparison, Options, RowOutput, compare, compare_prepared, run_observed};
pub use drive::{Drive, Schedulers, drive};
pub use explain::{Deciders, histories, slowest};
pub use feed::Feed;
pub use host_outcome::HostOutcome;
pub use maker::maker;
pub use memory::{Memory, memory};
pub use observers::ObserverOptions;
pub use prepare::{Prepared, is_control, prepare};
pub use progress::Progress;
pub use repeat::compare_repeated;
pub use request_rows::RequestRows;
pub use simulation::{Limits, Outcome, Simulation};
pub use used::{save_use, used_file};

use std::fmt;

use flashlane_core::arrival::WorkloadError;
use flashlane_outputs::OutputError;
use flashlane_report::metrics::responses::ResponseError;
use flashlane_scenario::ScenarioError;

/// Why a run could not be made or finished.
#[derive(Debug)]
pub enum RunError {
    /// The user's input is wrong: a scenario, a trace, a name.
    Input(String),
    /// The modelled device stopped with a fault.
    Device(String),
    /// Results could not be written.
    Results(OutputError),
    /// A defect of Flashlane itself: requests lost, or an audit that found violations.
    Fault(String),
    /// The caller stopped it ([`Progress::stop`]).
    Stopped,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Input(message) | RunError::Device(message) | RunError::Fault(message) => f.write_str(message),
            RunError::Results(error) => write!(f, "{error}"),
            RunError::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for RunError {}

impl From<ScenarioError> for RunError {
    fn from(error: ScenarioError) -> RunError {
        RunError::Input(error.to_string())
    }
}

impl From<WorkloadError> for RunError {
    fn from(error: WorkloadError) -> RunError {
        RunError::Input(error.to_string())
    }
}

impl From<ResponseError> for RunError {
    fn from(error: ResponseError) -> RunError {
        RunError::Input(error.to_string())
    }
}

impl From<OutputError> for RunError {
    fn from(error: OutputError) -> RunError {
        RunError::Results(error)
    }
}

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
