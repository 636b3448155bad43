//! A channel: the requests for its bus, the timers of its units, and its next instant.

use flashlane_core::min_tree::NEVER;
use flashlane_core::{Time, UnitId};

use super::instants::Instants;
use crate::agenda::Agenda;

/// A channel: its bus, and the timers of its units.
///
/// The transfer of a read's page begins without an event of its own: the next holder is known when the bus becomes free, and only
/// the end of the transfer can be observed, so the channel's next event is that end. The transfer is called recorded once its
/// beginning has been processed: at its end, or when a decision reads the channel ([`super::Flash::publish_channel`]).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Channel {
    /// When the transfer under way ends, ns; [`NEVER`] when none has been recorded.
    pub(super) end: u64,
    /// When the bus last became free, ns; or when it will become free, for a transfer without an event at its end.
    pub(super) released: u64,
    /// While no recorded transfer is under way: the end of the next transfer, or its beginning if that is an event. [`NEVER`]
    /// without requests, and while a recorded transfer is under way.
    pub(super) planned: u64,
    /// Units that may not decide before the bus is free, one bit for each.
    pub(super) deferred: u64,
    /// The unit of the recorded transfer, by its number on the channel.
    pub(super) holder: u8,
    /// The channel's first unit.
    pub(super) first: u16,
    /// Requests for the bus, each with the instant (past or future) from which on the unit requests it, in the order in which
    /// they are served. At one instant, requests for pages of reads go before those for commands, which are marked late. (Among
    /// equals the order is that of insertion, which is by command age: commands begin in the order of their age.)
    pub(super) bus_requests: Instants,
    /// Timers of units, those of the same instant in the order of the units.
    pub(super) timers: Instants,
}

impl Channel {
    /// A channel of idle units from `first` on.
    pub(super) fn idle(first: u32) -> Channel {
        Channel {
            end: NEVER,
            released: 0,
            planned: NEVER,
            deferred: 0,
            holder: 0,
            first: first as u16,
            timers: Instants::empty(),
            bus_requests: Instants::empty(),
        }
    }

    /// Whether a recorded transfer is under way.
    #[inline(always)]
    pub(super) fn taken(&self) -> bool {
        self.end != NEVER
    }

    /// Whether a transfer is under way that has not been recorded.
    #[inline(always)]
    pub(super) fn has_elided_transfer(&self, now: u64) -> bool {
        !self.taken() && self.bus_requests.first_instant() <= now
    }

    /// Whether a transfer is under way, recorded or not.
    #[inline(always)]
    pub(super) fn in_use(&self, now: u64) -> bool {
        self.taken() || self.has_elided_transfer(now) || now < self.released
    }

    /// Adds the request of a read's page for the bus from `at` on, for `length` (0 if the beginning of transfers is an event). On
    /// a tie the page added first goes first: its command is older.
    #[inline(always)]
    pub(super) fn request_later(&mut self, way: usize, at: Time, length: u64) {
        let at = at.ns();
        let is_first = self.bus_requests.insert_by_arrival(way, at, false);
        if !self.taken() & is_first {
            self.planned = self.instant_of(at, length);
        }
    }

    /// When a transfer of `length` ends that was requested since `since` and is the next one, while no recorded transfer is under
    /// way.
    #[inline(always)]
    pub(super) fn instant_of(&self, since: u64, length: u64) -> u64 {
        since.max(self.released) + length
    }

    /// Marks the units that had to wait for the bus before they decide.
    pub(super) fn release_deferred(&mut self, agenda: &mut Agenda) {
        let mut deferred = core::mem::take(&mut self.deferred);
        while deferred != 0 {
            let way = deferred.trailing_zeros() as u16;
            deferred &= deferred - 1;
            agenda.mark(UnitId(self.first + way));
        }
    }

    /// The channel's next instant. Units that wait for a taken bus have none.
    #[inline(always)]
    pub(super) fn next(&self) -> u64 {
        self.bus_next().min(self.timers.first_instant())
    }

    /// The next instant of the bus.
    #[inline(always)]
    pub(super) fn bus_next(&self) -> u64 {
        // At least one of the two is NEVER.
        self.end.min(self.planned)
    }
}
