//! What is wrong with the files of a fit.

use std::fmt;

use flashlane_outputs::shown;
use flashlane_sim::RunError;

/// A fit that cannot be made.
#[derive(Debug)]
pub enum FitError {
    /// Bad input: the place, and what is wrong there.
    Input(String),
    /// A run of the model failed.
    Run(RunError),
}

impl FitError {
    /// An error of the file `place`.
    pub fn at(place: &str, message: impl fmt::Display) -> FitError {
        FitError::Input(format!("{}: {message}", shown::escaped(place)))
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitError::Input(message) => f.write_str(message),
            FitError::Run(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for FitError {}

impl From<RunError> for FitError {
    fn from(error: RunError) -> FitError {
        FitError::Run(error)
    }
}
