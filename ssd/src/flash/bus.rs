//! Channel buses: one transfer at a time, first come first served among ready transfers, data-out before data-in when
//! both become ready at the same instant, then by command age (model 0.4).

use flashlane_core::board::{Command, Service};
use flashlane_core::event::Event;
use flashlane_core::min_tree::NEVER;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{ChannelId, Duration, Time};

use super::{ChannelStep, Phase, UnitStep};

impl ChannelStep<'_> {
    /// Processes everything that happens on the bus at this instant, and the expired timers of units if `units`. Returns the
    /// channel's next instant.
    #[inline(always)]
    pub(super) fn process(&mut self, units: bool) -> u64 {
        let now = self.now.ns();
        if self.channel.planned == now {
            if self.first_is_elided() {
                let way = self.channel.bus_requests.first();
                self.unit_step(way).planned_transfer_ended();
            } else {
                self.grant();
            }
        }
        self.end_transfers();
        if units {
            self.timers_expired();
        }
        self.assign_bus();
        if self.channel.deferred != 0 && !self.channel.in_use(now) {
            self.channel.release_deferred(self.agenda);
        }
        self.channel.next()
    }

    /// Processes the units whose timers have expired.
    #[inline(always)]
    pub(super) fn timers_expired(&mut self) {
        let now = self.now.ns();
        let mut due =
            self.channel.timers.all().take_while(|&(_, at)| at <= now).fold(0, |due, (way, _)| due | 1u64 << way);
        while due != 0 {
            let way = due.trailing_zeros() as usize;
            due &= due - 1;
            self.unit_step(way).timer_expired();
        }
    }

    /// Processes the beginning of transfers that have begun without an event.
    pub(super) fn start_elided_transfers(&mut self) {
        let now = self.now.ns();
        while !self.channel.taken() && self.channel.bus_requests.first_instant().max(self.channel.released) <= now {
            self.grant();
            self.end_transfers();
        }
        self.assign_bus();
    }

    /// Ends the current transfer if it is over at this instant, and those after it that take no time.
    #[inline(always)]
    pub(super) fn end_transfers(&mut self) {
        while self.channel.end == self.now.ns() {
            self.transfer_ended();
        }
    }

    /// Plans the next transfer of a free bus, that of the first request. The channel's next event is the end of that transfer, or
    /// its beginning if that can be observed or is the transfer of a command. Transfers that begin or end at this instant are
    /// processed.
    #[inline(always)]
    pub(super) fn assign_bus(&mut self) {
        let now = self.now.ns();
        while !self.channel.taken() {
            self.channel.planned = NEVER;
            let since = self.channel.bus_requests.first_instant();
            if since == NEVER {
                return;
            }
            let way = self.channel.bus_requests.first();
            debug_assert!(self.goes_first(way));
            let elided = self.first_is_elided();
            let length = if elided { self.units[self.first + way].bus_time } else { 0 };
            self.channel.planned = self.channel.instant_of(since, length);
            if self.channel.planned > now {
                return;
            }
            if elided {
                self.unit_step(way).planned_transfer_ended();
            } else {
                self.grant();
            }
            self.end_transfers();
        }
    }

    /// Whether the beginning of the next transfer cannot be observed. This holds for pages of reads only; the beginning of a
    /// command's transfer is always processed.
    #[inline(always)]
    fn first_is_elided(&self) -> bool {
        !self.channel.bus_requests.first_is_late() & !self.common.elision_disabled
    }

    /// For assertions: whether the unit `way` goes before all others that have requested the bus since the same instant: data-out
    /// before data-in, then by command age.
    fn goes_first(&self, way: usize) -> bool {
        let among =
            self.channel.bus_requests.all().filter(|&(_, since)| since == self.channel.bus_requests.first_instant());
        let key = |&(way, _): &(usize, u64)| {
            let unit = &self.units[self.first + way];
            (unit.phase == Phase::Command, unit.serial)
        };
        among.min_by_key(key).is_some_and(|(first, _)| first == way)
    }

    /// Begins the transfer of the first request, at the later of the request and the instant when the bus became free. The
    /// callers end a transfer that takes no time.
    #[inline(always)]
    fn grant(&mut self) {
        let since = self.channel.bus_requests.first_instant();
        let way = self.channel.bus_requests.first();
        debug_assert!(self.goes_first(way));
        self.channel.bus_requests.pop_first();
        let mut step = self.unit_step(way);
        let start = since.max(step.channel.released);
        let Command { op, members, .. } = step.board_view.command;
        if step.unit.phase == Phase::Command {
            step.send(op, members, since, start);
        } else {
            step.unit.phase = Phase::DataOut;
            step.occupy_for(members, since, start);
        }
    }

    /// Ends the current transfer.
    #[inline(always)]
    fn transfer_ended(&mut self) {
        self.channel.end = NEVER;
        let mut step = self.unit_step(usize::from(self.channel.holder));
        if step.unit.phase == Phase::Command {
            step.channel.released = step.now.ns();
            let Command { op, members, .. } = step.board_view.command;
            step.start_array(op, members, step.now);
        } else {
            step.page_out();
        }
    }
}

impl UnitStep<'_> {
    /// Ends this unit's planned transfer, whose beginning was not processed. It is that of a page: a command's always is
    /// processed.
    #[inline(always)]
    pub(super) fn planned_transfer_ended(&mut self) {
        let (since, length) = (self.channel.bus_requests.first_instant(), self.unit.bus_time);
        self.channel.planned = NEVER;
        self.channel.bus_requests.pop_first();
        self.count(self.board_view.command.members, since, since.max(self.channel.released), length);
        self.page_out();
    }

    /// How long the unit will hold the bus, if the beginning of its transfer is not processed; 0 if it is.
    #[inline(always)]
    fn elided_length(&self) -> u64 {
        if self.common.elision_disabled { 0 } else { self.unit.bus_time }
    }

    /// A page of the unit's read has been transferred: its transaction ends, and the next page of the command follows.
    #[inline(always)]
    fn page_out(&mut self) {
        self.channel.released = self.now.ns();
        let done = self.unit.current;
        let next = self.txns[done.index()].next;
        self.ended.push(self.txns, done);
        if next.is_some() {
            // A command keeps the bus until all its pages are transferred.
            self.unit.current = next;
            self.unit.phase = Phase::DataOut;
            self.channel.holder = self.way as u8;
            let length = self.common.setup + self.txns[next.index()].transfer;
            self.occupy(self.now, length);
        } else {
            self.free();
        }
    }

    /// Begins the command's transfer at `start`, requested since `since`; for a program it includes `members` pages. With
    /// `Common::programs_run_on` a program's array phase is started here too, so that both end in one event.
    #[inline(always)]
    fn send(&mut self, op: FlashOp, members: u8, since: u64, start: u64) {
        if op != FlashOp::Program {
            self.occupy_for(0, since, start);
        } else if !self.common.programs_run_on {
            self.occupy_for(members, since, start);
        } else {
            let length = self.unit.bus_time;
            self.count(members, since, start, length);
            self.channel.released = start + length;
            self.start_array(op, members, Time::from_ns(start + length));
        }
    }

    /// The unit requests the bus for its command on `members` pages at this instant. Returns false if the caller must assign the
    /// bus then.
    #[inline(always)]
    pub(super) fn request_bus_now(&mut self, op: FlashOp, members: u8) -> bool {
        let now = self.now.ns();
        if self.channel.in_use(now) {
            let is_first = self.channel.bus_requests.insert_by_arrival(self.way, now, true);
            return self.channel.taken() | !is_first;
        }
        self.send(op, members, now, now);
        (self.channel.end != now) & (self.channel.bus_requests.first_instant() >= self.channel.released)
    }

    /// The read's page will request the bus at `at`, when the array phase ends.
    #[inline(always)]
    pub(super) fn request_bus_from(&mut self, at: Time) {
        let length = self.elided_length();
        self.channel.request_later(self.way, at, length);
    }

    /// Begins the unit's transfer of `pages` pages at `start`, requested since `since`.
    #[inline(always)]
    fn occupy_for(&mut self, pages: u8, since: u64, start: u64) {
        let length = self.unit.bus_time;
        self.count(pages, since, start, 0);
        self.channel.holder = self.way as u8;
        self.channel.planned = NEVER;
        self.occupy(Time::from_ns(start), Duration::from_ns(length));
    }

    /// Counts a transfer of `pages` pages that begins at `start` and was requested since `since`, and `length` of bus time.
    #[inline(always)]
    fn count(&mut self, pages: u8, since: u64, start: u64, length: u64) {
        let pages = u64::from(pages);
        self.counters.transfers += pages;
        self.counters.stalled += if since < start { pages } else { 0 };
        self.counters.busy += Duration::from_ns(length);
    }

    /// Occupies the bus, which the unit holds, from `start` on for `length`.
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

    /// The unit's command has ended: the unit must decide, unless nothing waits for it and no read may move to it.
    #[inline(always)]
    pub(super) fn free(&mut self) {
        self.unit.phase = Phase::Idle;
        let state = &mut *self.board_view;
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
