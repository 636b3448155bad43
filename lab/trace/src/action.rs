//! The events of a block trace that are read as requests.

use flashlane_core::choices;

choices! {
    /// Which appearance of a request in a block trace is read.
    pub enum Action {
        /// As the file system or program sent it (Q).
        Queue = "queue",
        /// As the driver got it after merging and scheduling by the kernel (D).
        Issue = "issue",
        /// As it completed (C), at the time of its completion.
        Complete = "complete",
    }
}

impl Action {
    /// Its letter in blkparse's text.
    pub(super) const fn letter(self) -> char {
        match self {
            Action::Queue => 'Q',
            Action::Issue => 'D',
            Action::Complete => 'C',
        }
    }

    /// The action with this letter.
    pub(super) fn of_letter(letter: u8) -> Option<Action> {
        match letter {
            b'Q' => Some(Action::Queue),
            b'D' => Some(Action::Issue),
            b'C' => Some(Action::Complete),
            _ => None,
        }
    }

    /// Its letter, and what it means.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Action::Queue => "Q (queued)",
            Action::Issue => "D (issued)",
            Action::Complete => "C (completed)",
        }
    }
}
