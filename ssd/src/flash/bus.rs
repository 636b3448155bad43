//! Channel buses: one transfer at a time, first come first served among ready transfers, data-out before data-in when
//! both become ready at the same instant, then by command age (SPEC 0.4).

use flashlane_core::board::{Command, Service};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{ChannelId, Duration, Time};

use super::row::NEVER;
use super::{Lane, Phase, Seat};

impl Lane<'_> {
    /// Lives everything that happens at this instant, to `units` too if some are due; returns the channel's next.
    #[inline(always)]
    pub(super) fn live(&mut self, units: bool) -> u64 {
        let now = self.now.ns();
        if self.channel.ends_unseen(now, self.common.watched) {
            let way = self.channel.wants.first();
            self.seat(way).planned_ended();
        } else if self.channel.planned == now {
            self.grant();
        }
        while self.channel.end == now {
            self.transfer_ended();
        }
        if units {
            self.units_due();
        }
        self.hand_over();
        if self.channel.deferred != 0 && !self.channel.taken() {
            self.channel.release_deferred(self.agenda);
        }
        self.channel.next()
    }

    /// Lives the instants of the units that have nothing to do with the bus.
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

    /// Takes note of a transfer that has begun, and ends those that take no time.
    pub(super) fn hand_over_at_once(&mut self) {
        while self.channel.end == self.now.ns() {
            self.transfer_ended();
        }
        self.hand_over();
    }

    /// A bus nobody is known to have goes to who wants it now, or is planned for who will.
    #[inline(always)]
    fn hand_over(&mut self) {
        let now = self.now.ns();
        while !self.channel.taken() {
            let since = self.channel.wants.least();
            if since > now || now < self.channel.released {
                self.plan(since);
                return;
            }
            self.grant();
            while self.channel.end == now {
                // A transfer that takes no time.
                self.transfer_ended();
            }
        }
    }

    /// The bus is free, or about to come free, and first wanted at `since`: its next instant is the end of that transfer, or
    /// its beginning if that may be watched.
    #[inline(always)]
    fn plan(&mut self, since: u64) {
        self.channel.planned = NEVER;
        if since != NEVER {
            let way = self.channel.wants.first();
            debug_assert!(self.goes_first(way));
            let length = self.seat(way).unseen_length();
            self.channel.planned = self.channel.instant_of(since, length);
        }
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
    /// The transfer that was planned, this unit's, is over, and its beginning has not been taken note of. It was a page's: only
    /// those are wanted ahead.
    #[inline(always)]
    pub(super) fn planned_ended(&mut self) {
        self.channel.planned = NEVER;
        self.channel.wants.leave();
        self.counters.transfers += u64::from(self.shown.command.members);
        self.counters.busy += Duration::from_ns(self.unit.bus_time);
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
            if self.channel.wants.least() < self.channel.released {
                self.channel.planned = self.channel.released;
            }
            self.start_array(op, members, Time::from_ns(start + length));
        }
    }

    /// The unit wants the bus for its command on so many pages at this instant. Whether that is all: if not, the bus is to be
    /// handed over at once.
    #[inline(always)]
    pub(super) fn want_now(&mut self, op: FlashOp, members: u8) -> bool {
        let now = self.now.ns();
        if self.channel.in_use(now) {
            self.channel.wants.put_behind(self.way, now, true);
            return false;
        }
        self.send(op, members, now, now);
        self.channel.end != now
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
