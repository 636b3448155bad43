//! What the block layer does, event by event: for an auditor.

use flashlane_core::{RequestId, Time};

use crate::request::Bio;

/// An event and when it happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamped {
    /// The instant.
    pub at: Time,
    /// What happened.
    pub event: Event,
}

/// What happened. Within an instant events come in the order in which they happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A bio has entered.
    Entered(Bio),
    /// It has passed its flow's limits.
    Passed {
        /// Its number.
        bio: RequestId,
    },
    /// It has joined a request.
    Joined {
        /// Its number.
        bio: RequestId,
        /// That request's.
        request: RequestId,
    },
    /// It has a tag, and is a request of this number.
    Tagged {
        /// Its number.
        bio: RequestId,
    },
    /// A request has gone to the drive.
    Issued {
        /// Its number.
        request: RequestId,
        /// The address of its first byte.
        offset: u64,
        /// Its length.
        bytes: u64,
    },
    /// It has completed.
    Completed {
        /// Its number.
        request: RequestId,
    },
}
