//! What is reported while a device runs: events, and the ends of requests' transactions. Off by default, drained by the caller.

use alloc::vec::Vec;

use flashlane_core::Time;
use flashlane_core::event::{Event, PageEnd, Stamped};

/// Events since the last drain.
#[derive(Debug, Default)]
pub struct Log {
    /// Whether events are kept.
    pub on: bool,
    /// Whether only those of transactions are ([`Event::is_of_transaction`]).
    pub transactions_only: bool,
    /// The events, oldest first.
    pub events: Vec<Stamped>,
    /// Whether ends are kept.
    pub ends_on: bool,
    /// The ends, oldest first.
    pub ends: Vec<PageEnd>,
}

impl Log {
    /// Keeps an event if the log is on.
    #[inline(always)]
    pub fn push(&mut self, at: Time, event: impl FnOnce() -> Event) {
        if self.on {
            self.keep(at, event());
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, at: Time, event: Event) {
        if !self.transactions_only || event.is_of_transaction() {
            self.events.push(Stamped { at, event });
        }
    }
}
