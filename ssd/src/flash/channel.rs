//! A channel: who requests its bus since when, and what it waits for next.

use flashlane_core::{Time, UnitId};

use super::instants::Instants;
use super::min_tree::NEVER;
use crate::agenda::Agenda;

/// A channel: its bus, and what its units wait for.
///
/// A page's transfer begins without an event of its own, whether it finds the bus free or waits for it: the next holder is known when
/// the bus becomes free, and only the end of the transfer can be observed, so that is what the channel waits for. The transfer is
/// noted then, or when a decision looks at the channel ([`super::Flash::show_channel`]).
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Channel {
    /// When the transfer under way ends, ns; [`NEVER`] when none has been noted.
    pub(super) end: u64,
    /// When the bus last became free, ns, or will become free of a transfer that has no event at its end.
    pub(super) released: u64,
    /// While no transfer has been noted: the next instant the earliest request leads to. [`NEVER`] without requests, and
    /// while a transfer has been noted.
    pub(super) planned: u64,
    /// Units that may not decide before the bus is free, a bit each.
    pub(super) deferred: u64,
    /// Who has it: unit on the channel.
    pub(super) holder: u8,
    /// The channel's first unit.
    pub(super) first: u16,
    /// Since when, or from when on, units request the bus, in the order in which they get it: at one instant those for a
    /// page before those for a command, which are marked late. (Commands begin in the order of their age, and request the bus
    /// in that order, for themselves or at the end of array phases that began at one instant.)
    pub(super) bus_requests: Instants,
    /// Timers of units, those of one instant in the order of the units.
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

    /// Whether a noted transfer is under way.
    #[inline(always)]
    pub(super) fn taken(&self) -> bool {
        self.end != NEVER
    }

    /// Whether a transfer is under way that has not been noted.
    #[inline(always)]
    pub(super) fn has_unseen_transfer(&self, now: u64) -> bool {
        !self.taken() && self.bus_requests.first_instant() <= now
    }

    /// Whether a transfer is under way, noted or not.
    #[inline(always)]
    pub(super) fn in_use(&self, now: u64) -> bool {
        self.taken() || self.has_unseen_transfer(now) || now < self.released
    }

    /// A read's page requests the bus from `at` on for `length` (0 where the beginning of transfers is noted). On a tie the page
    /// that was already planned goes first: its command is older.
    #[inline(always)]
    pub(super) fn request_later(&mut self, way: usize, at: Time, length: u64) {
        let at = at.ns();
        let is_first = self.bus_requests.insert_by_arrival(way, at, false);
        if !self.taken() & is_first {
            self.planned = self.instant_of(at, length);
        }
    }

    /// The end of the transfer of a bus that is first requested at `since` for `length` while no noted transfer holds it.
    #[inline(always)]
    pub(super) fn instant_of(&self, since: u64, length: u64) -> u64 {
        since.max(self.released) + length
    }

    /// Lets the units that waited for the bus to decide do so.
    pub(super) fn release_deferred(&mut self, agenda: &mut Agenda) {
        let mut deferred = core::mem::take(&mut self.deferred);
        while deferred != 0 {
            let way = deferred.trailing_zeros() as u16;
            deferred &= deferred - 1;
            agenda.mark(UnitId(self.first + way));
        }
    }

    /// The next instant anything happens. While the bus is taken, nothing happens to units that request it.
    #[inline(always)]
    pub(super) fn next(&self) -> u64 {
        self.bus_next().min(self.timers.first_instant())
    }

    /// The next instant anything happens on the bus.
    #[inline(always)]
    pub(super) fn bus_next(&self) -> u64 {
        // One of the two is never.
        self.end.min(self.planned)
    }
}
