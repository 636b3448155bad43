//! A channel: who wants its bus since when, and what it waits for next.

use flashlane_core::{Time, UnitId};

use super::line::Line;
use super::row::NEVER;
use crate::agenda::Agenda;

/// A channel: its bus, and what its units wait for.
///
/// A page's transfer begins without an event of its own, whether it finds the bus free or waits for it: who has it next is known when
/// it comes free, and all that anyone could see of the transfer is its end, so that is what the channel waits for. It is taken note of
/// then, or when somebody looks.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Channel {
    /// When the transfer under way ends, ns; [`NEVER`] when none has been taken note of.
    pub(super) end: u64,
    /// When the bus last came free, ns, or will come free of a transfer that has no end of its own to wait for.
    pub(super) released: u64,
    /// While no transfer has been taken note of: the next instant the earliest want leads to; [`NEVER`] without any, and
    /// while one has.
    pub(super) planned: u64,
    /// Units that may not decide before the bus is free.
    pub(super) deferred: u64,
    /// Who has it: unit on the channel.
    pub(super) holder: u8,
    /// The channel's first unit.
    pub(super) first: u16,
    /// Since when, or from when on, units want the bus, those of one instant in the order in which they are going to have it:
    /// late are those that want it for a command. (Commands begin in the order of their age and come to want the bus, for
    /// themselves or at the end of arrays that began to work at one instant, in that order.)
    pub(super) wants: Line,
    /// Instants of the units that have nothing to do with the bus, those of one instant in order of their numbers.
    pub(super) own: Line,
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
            own: Line::empty(),
            wants: Line::empty(),
        }
    }

    /// Whether a transfer is known to be under way.
    #[inline(always)]
    pub(super) fn taken(&self) -> bool {
        self.end != NEVER
    }

    /// Whether a transfer is under way that has not been taken note of.
    #[inline(always)]
    pub(super) fn is_silent(&self, now: u64) -> bool {
        !self.taken() && self.wants.least() <= now
    }

    /// Whether a transfer is under way, taken note of or not.
    #[inline(always)]
    pub(super) fn in_use(&self, now: u64) -> bool {
        self.taken() || self.is_silent(now) || now < self.released
    }

    /// A read's page is ready from `at` on and then needs the bus for `length` (none where the beginning of a transfer may
    /// be watched). (On a tie the page that was already planned goes first: its command is older.)
    #[inline(always)]
    pub(super) fn want_later(&mut self, way: usize, at: Time, length: u64) {
        let at = at.ns();
        let is_first = self.wants.put_behind(way, at, false);
        if !self.taken() & is_first {
            self.planned = self.instant_of(at, length);
        }
    }

    /// What to wait for when the bus is first wanted at `since` for `length`, with nobody known to have it: the end of that
    /// transfer.
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

    /// The next instant anything happens. While the bus is taken, nothing happens to units that want it.
    #[inline(always)]
    pub(super) fn next(&self) -> u64 {
        self.bus_next().min(self.own.least())
    }

    /// The next instant anything happens on the bus.
    #[inline(always)]
    pub(super) fn bus_next(&self) -> u64 {
        // One of the two is never.
        self.end.min(self.planned)
    }
}
