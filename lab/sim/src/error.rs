//! Why a run could not be made or finished.

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
