//! How a command fails, and the exit code that says so.

use std::fmt;

use flashlane_lab::scenario::ScenarioError;

/// A command that could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// What the user gave is wrong: exit code 2.
    Input(String),
    /// The machine or flashlane is: exit code 1.
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

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Failure {
        Failure::Input(error.to_string())
    }
}
