//! Why an output could not be made.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A file or folder that could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputError {
    /// The file or folder, as the user named it.
    pub path: PathBuf,
    /// What went wrong, and what would be legal.
    pub message: String,
    /// Whether the user's input or the machine is the cause.
    pub cause: Cause,
}

/// The cause of an output that could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The user named a place that is refused.
    Refused,
    /// The machine: a full disk, a folder that may not be written.
    Machine,
}

impl std::fmt::Display for OutputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

impl std::error::Error for OutputError {}

impl OutputError {
    /// An error about a place that is refused.
    pub(crate) fn refused(path: &Path, message: impl Into<String>) -> OutputError {
        OutputError { path: path.to_path_buf(), message: message.into(), cause: Cause::Refused }
    }

    /// An error caused by the machine.
    pub fn fault(path: &Path, message: impl Into<String>) -> OutputError {
        OutputError { path: path.to_path_buf(), message: message.into(), cause: Cause::Machine }
    }

    /// An error of the operating system. A name that cannot exist is the user's fault, everything else the machine's.
    pub(crate) fn io(path: &Path, error: &io::Error) -> OutputError {
        let message = format!("cannot be written: {error}");
        match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::AlreadyExists
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename => OutputError::refused(path, message),
            _ => OutputError::fault(path, message),
        }
    }
}
