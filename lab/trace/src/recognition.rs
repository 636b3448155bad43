//! The format of a trace, why it was chosen, and what else is to be said of how it is read.

use super::{Format, TimeUnit};

/// A format and why it was chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recognition {
    /// The format.
    pub format: Format,
    /// Why, for the user.
    pub reason: String,
    /// What else was chosen or is left out, a sentence each.
    pub notes: Vec<String>,
    /// The unit of its times, where the file shows another than the format's own.
    pub(super) unit: Option<TimeUnit>,
}

impl Recognition {
    /// A format as it is.
    pub(super) fn new(format: Format, reason: impl Into<String>) -> Recognition {
        Recognition { format, reason: reason.into(), notes: Vec::new(), unit: None }
    }
}

/// The reason, and the notes.
impl std::fmt::Display for Recognition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)?;
        self.notes.iter().try_for_each(|note| write!(f, "; {note}"))
    }
}
