//! What rules report.

/// Something a rule objects to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Finding {
    /// Path from the top of the repository.
    pub path: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Whether it fails the check, or only warns.
    pub weight: Weight,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// How much a finding weighs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Weight {
    /// Fails the check.
    Error,
    /// Warns, no more.
    Warning,
}

impl Finding {
    /// One that fails the check.
    pub(super) fn error(path: &str, line: usize, message: String) -> Finding {
        Finding { path: path.into(), line, weight: Weight::Error, message }
    }

    /// One that only warns.
    pub(super) fn warning(path: &str, line: usize, message: String) -> Finding {
        Finding { path: path.into(), line, weight: Weight::Warning, message }
    }
}
