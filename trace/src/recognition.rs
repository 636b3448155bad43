//! The format of a trace, and why it was chosen.

use super::Format;

/// A format and why it was chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recognition {
    /// The format.
    pub format: Format,
    /// Why, for the user.
    pub reason: String,
}
