//! Channel buses: one transfer at a time, first come first served among ready transfers, data-out before data-in when
//! both become ready at the same instant, then by command age (SPEC 0.4).

use flashlane_core::board::{Command, Service};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{ChannelId, Duration, Time};

use super::row::NEVER;
use super::{Lane, Phase, Seat};

impl Lane<'_> {
    /// Processes everything that happens at this instant, to `units` too if some are due; returns the channel's next instant.
    #[inline(always)]
    pub(super) fn process(&mut self, units: bool) -> u64 {
        let now = self.now.ns();
        if self.channel.planned == now {
            if self.first_is_unseen() {
                let way = self.channel.wants.first();
                self.seat(way).planned_ended();
            } else {
                self.grant();
            }
        }
        self.end_transfers();
        if units {
            self.units_due();
        }
        self.hand_over();
        if self.channel.deferred != 0 && !self.channel.in_use(now) {
            self.channel.release_deferred(self.agenda);
        }
        self.channel.next()
    }

    /// Processes the instants of the units that have nothing to do with the bus.
    #[inline(always)]
    pub(super) fn units_due(&mut self) {
        let now = self.now.ns();
        let mut due =
            self.channel.own.all().take_while(|&(_, at)| at <= now).fold(0, |due, (way, _)| due | 1u64 << way);
        while due != 0 {
            let way = due.trailing_zeros() as usize;
            due &= due - 1;
            self.seat(way).due();
        }
    }

    /// Takes note of a transfer that has begun.
    pub(super) fn take_note(&mut self) {
        let now = self.now.ns();
        while !self.channel.taken() && self.channel.wants.least().max(self.channel.released) <= now {
            self.grant();
            self.end_transfers();
        }
        self.hand_over();
    }

    /// Ends the transfer that has been taken note of if it is over, and those after it that take no time.
    #[inline(always)]
    pub(super) fn end_transfers(&mut self) {
        while self.channel.end == self.now.ns() {
            self.transfer_ended();
        }
    }

    /// A bus nobody is known to have: what comes next is the end of the transfer of who wants it first, or its beginning if that
    /// may be watched or is more than its end can tell. What is to come now happens.
    #[inline(always)]
    pub(super) fn hand_over(&mut self) {
        let now = self.now.ns();
        while !self.channel.taken() {
            self.channel.planned = NEVER;
            let since = self.channel.wants.least();
            if since == NEVER {
                return;
            }
            let way = self.channel.wants.first();
            debug_assert!(self.goes_first(way));
            let unseen = self.first_is_unseen();
            let length = if unseen { self.units[self.first + way].bus_time } else { 0 };
            self.channel.planned = self.channel.instant_of(since, length);
            if self.channel.planned > now {
                return;
            }
            if unseen {
                self.seat(way).planned_ended();
            } else {
                self.grant();
            }
            self.end_transfers();
        }
    }

    /// Whether nobody sees the beginning of the first transfer in line: a page's.
    #[inline(always)]
    fn first_is_unseen(&self) -> bool {
        !self.channel.wants.first_is_late() & !self.common.watched
    }

    /// Whether `way`, the first in line, goes before all that want the bus since the same instant: data-out before data-in, then
    /// by command age.
    fn goes_first(&self, way: usize) -> bool {
        let among = self.channel.wants.all().filter(|&(_, since)| since == self.channel.wants.least());
        let key = |&(way, _): &(usize, u64)| {
            let unit = &self.units[self.first + way];
            (unit.phase == Phase::Command, unit.serial)
        };
        among.min_by_key(key).is_some_and(|(first, _)| first == way)
    }

    /// The transfer that has waited longest has the bus, from when it came to want it or the bus came free. (One that
    /// takes no time has ended already: the callers see to it.)
    #[inline(always)]
    fn grant(&mut self) {
        let since = self.channel.wants.least();
        let way = self.channel.wants.first();
        debug_assert!(self.goes_first(way));
        self.channel.wants.leave();
        let mut seat = self.seat(way);
        let start = since.max(seat.channel.released);
        let Command { op, members, .. } = seat.shown.command;
        if seat.unit.phase == Phase::Command {
            seat.send(op, members, since, start);
        } else {
            seat.unit.phase = Phase::DataOut;
            seat.give(members, since, start);
        }
    }

    /// The transfer is over.
    #[inline(always)]
    fn transfer_ended(&mut self) {
        self.channel.end = NEVER;
        let mut seat = self.seat(usize::from(self.channel.holder));
        if seat.unit.phase == Phase::Command {
            seat.channel.released = seat.now.ns();
            let Command { op, members, .. } = seat.shown.command;
            seat.start_array(op, members, seat.now);
        } else {
            seat.page_out();
        }
    }
}

impl Seat<'_> {
    /// The transfer that was planned, this unit's, is over, and its beginning has not been taken note of. It was a page's: it
    /// takes more than a transfer's end to tell what has become of a command.
    #[inline(always)]
    pub(super) fn planned_ended(&mut self) {
        let (since, length) = (self.channel.wants.least(), self.unit.bus_time);
        self.channel.planned = NEVER;
        self.channel.wants.leave();
        self.count(self.shown.command.members, since, since.max(self.channel.released), length);
        self.page_out();
    }

    /// How long the unit is going to have the bus without its beginning being of interest.
    #[inline(always)]
    fn unseen_length(&self) -> u64 {
        if self.common.watched { 0 } else { self.unit.bus_time }
    }

    /// A page of the unit's read is out.
    #[inline(always)]
    fn page_out(&mut self) {
        self.channel.released = self.now.ns();
        let done = self.unit.current;
        let next = self.txns[done.index()].next;
        self.ended.push(self.txns, done);
        if next.is_some() {
            // A command keeps the bus until all its pages are out.
            self.unit.current = next;
            self.unit.phase = Phase::DataOut;
            self.channel.holder = self.way as u8;
            let length = self.common.setup + self.txns[next.index()].transfer;
            self.occupy(self.now, length);
        } else {
            self.free();
        }
    }

    /// The unit has the bus from `start` on for its command, having wanted it since `since`; with a program so many pages
    /// go in. Where nobody can tell when a program's array phase begins, it begins together with the transfer: one thing to
    /// wait for, the end of both.
    #[inline(always)]
    fn send(&mut self, op: FlashOp, members: u8, since: u64, start: u64) {
        if op != FlashOp::Program {
            self.give(0, since, start);
        } else if !self.common.programs_run_on {
            self.give(members, since, start);
        } else {
            let length = self.unit.bus_time;
            self.count(members, since, start, length);
            self.channel.released = start + length;
            self.start_array(op, members, Time::from_ns(start + length));
        }
    }

    /// The unit wants the bus for its command on so many pages at this instant. Whether that is all: if not, the bus is to be
    /// handed over at once.
    #[inline(always)]
    pub(super) fn want_now(&mut self, op: FlashOp, members: u8) -> bool {
        let now = self.now.ns();
        if self.channel.in_use(now) {
            let is_first = self.channel.wants.put_behind(self.way, now, true);
            return self.channel.taken() | !is_first;
        }
        self.send(op, members, now, now);
        (self.channel.end != now) & (self.channel.wants.least() >= self.channel.released)
    }

    /// When a read's array phase ends, its page wants the bus.
    #[inline(always)]
    pub(super) fn want_from(&mut self, at: Time) {
        let length = self.unseen_length();
        self.channel.want_later(self.way, at, length);
    }

    /// The unit has the bus from `start` on for `pages`, having wanted it since `since`.
    #[inline(always)]
    fn give(&mut self, pages: u8, since: u64, start: u64) {
        let length = self.unit.bus_time;
        self.count(pages, since, start, 0);
        self.channel.holder = self.way as u8;
        self.channel.planned = NEVER;
        self.occupy(Time::from_ns(start), Duration::from_ns(length));
    }

    /// Counts a transfer of `pages` that begins at `start`, wanted since `since`, and `length` of bus time.
    #[inline(always)]
    fn count(&mut self, pages: u8, since: u64, start: u64, length: u64) {
        let pages = u64::from(pages);
        self.counters.transfers += pages;
        self.counters.stalled += if since < start { pages } else { 0 };
        self.counters.busy += Duration::from_ns(length);
    }

    /// The unit, which holds the bus, has it from `start` on for `length`.
    #[inline(always)]
    fn occupy(&mut self, start: Time, length: Duration) {
        let until = start + length;
        self.channel.end = until.ns();
        self.counters.busy += length;
        if self.log.on && length > Duration::ZERO {
            let (unit, command, channel) = (self.id, self.unit.serial, ChannelId(self.unit.channel));
            self.log.push(start, || Event::BusTaken { channel, unit, command, until });
        }
    }

    /// The unit's command is done; it must decide, unless nothing waits for it or may be sent to it this instant.
    #[inline(always)]
    pub(super) fn free(&mut self) {
        self.unit.phase = Phase::Idle;
        let state = &mut *self.shown;
        if self.unit.has_paused {
            state.service = Service::Paused;
            self.agenda.mark(self.id);
        } else {
            state.service = Service::Idle;
            state.counters.busy += self.now - self.unit.busy_from;
            let waits = (state.user_waiting() != 0) | state.gc.any();
            self.agenda.mark_if(self.id, waits | self.common.reads_move);
        }
    }
}
