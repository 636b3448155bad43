//! The events of a block trace that are read as requests.

/// Which appearance of a request in a blktrace is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// `Q`: queued, as the file system or program sent it.
    Queue,
    /// `D`: issued, as the driver got it after merging and scheduling by the kernel.
    Issue,
}

impl Action {
    /// Its letter in blkparse's text.
    pub(super) const fn letter(self) -> u8 {
        match self {
            Action::Queue => b'Q',
            Action::Issue => b'D',
        }
    }
}
