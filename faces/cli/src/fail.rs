//! The ways a command can fail, and their exit codes.

use std::fmt;

use flashlane_core::arrival::WorkloadError;
use flashlane_outputs::{Cause, OutputError};
use flashlane_scenario::ScenarioError;
use flashlane_sim::RunError;
use flashlane_trace::ConvertError;

/// A failed command.
#[derive(Debug)]
pub enum Failure {
    /// The user's input is wrong: exit code 2.
    Input(String),
    /// A fault of the machine or of flashlane: exit code 1.
    Fault(String),
}

impl Failure {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Input(_) => 2,
            Failure::Fault(_) => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(message) | Failure::Fault(message) => f.write_str(message),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            // A device runs out of space because of its configuration, which is the user's.
            RunError::Input(message) | RunError::Device(message) => Failure::Input(message),
            RunError::Results(error) => error.into(),
            RunError::Fault(message) => Failure::Fault(message),
            RunError::Stopped => Failure::Fault(error.to_string()),
        }
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Failure {
        match error.cause {
            Cause::Refused => Failure::Input(error.to_string()),
            Cause::Machine => Failure::Fault(error.to_string()),
        }
    }
}

impl From<ConvertError> for Failure {
    fn from(error: ConvertError) -> Failure {
        match error {
            ConvertError::Input(error) => error.into(),
            ConvertError::Output(error) => error.into(),
        }
    }
}

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Failure {
        Failure::Input(error.to_string())
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Failure {
        Failure::Input(error.to_string())
    }
}
