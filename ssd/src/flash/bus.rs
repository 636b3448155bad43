//! Channel buses: one transfer at a time, first come first served among ready transfers, data-out before data-in when
//! both become ready at the same instant, then by command age (SPEC 0.4).

use flashlane_core::board::Service;
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, ChannelId, Duration, Time, UnitId};

use super::row::{NEVER, Row};
use super::{CHANNEL_BITS, Flash, FlashUnit, Phase};
use crate::agenda::Agenda;
use crate::log::Log;

/// A channel: its bus, and what its units wait for.
///
/// A transfer that finds the bus free begins without an event of its own: all that anyone could see of it is its end,
/// so that is what the channel waits for. It is taken note of when something else comes to want the bus meanwhile, or at
/// its end.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// When the transfer under way ends, ns; [`NEVER`] when none has been taken note of.
    end: u64,
    /// When the bus last came free, ns.
    released: u64,
    /// While no transfer has been taken note of: the next instant the earliest want leads to; [`NEVER`] without any.
    planned: u64,
    /// Who has it: unit on the channel.
    holder: u8,
    /// The channel's first unit.
    first: u16,
    /// Units that may not decide before the bus is free.
    pub(super) deferred: u64,
    /// Instants of the units that have nothing to do with the bus.
    pub(super) own: Row,
    /// Since when, or from when on, units want the bus.
    wants: Row,
}

impl Channel {
    /// A channel of `units` idle units from `first` on.
    pub(super) fn idle(first: u32, units: u32) -> Channel {
        let row = Row::new(units as usize);
        let (end, planned) = (NEVER, NEVER);
        Channel { end, released: 0, planned, holder: 0, first: first as u16, deferred: 0, own: row.clone(), wants: row }
    }

    /// Whether a transfer is known to be under way.
    #[inline(always)]
    fn taken(&self) -> bool {
        self.end != NEVER
    }

    /// Whether a transfer is under way, taken note of or not.
    #[inline(always)]
    pub(super) fn in_use(&self, now: u64) -> bool {
        self.taken() || self.wants.least() <= now
    }

    /// A command wants the bus at once.
    #[inline(always)]
    pub(super) fn want_now(&mut self, way: u8, now: Time) {
        self.wants.set(usize::from(way), now.ns());
    }

    /// A read's page is ready from `at` on: if nothing comes before it, the bus has it out `length` later. (On a tie
    /// the page that was already planned goes first: its command is older.)
    #[inline(always)]
    pub(super) fn want_later(&mut self, way: u8, at: Time, length: u64) {
        let (at, earliest) = (at.ns(), self.wants.least());
        self.wants.set(usize::from(way), at);
        if !self.taken() && at < earliest {
            self.planned = at + length;
        }
    }

    /// The unit numbered `way` on the channel.
    #[inline(always)]
    fn unit(&self, way: usize) -> usize {
        usize::from(self.first) + way
    }

    /// Lets the units that waited for the bus to decide do so.
    fn release_deferred(&mut self, agenda: &mut Agenda) {
        let mut deferred = core::mem::take(&mut self.deferred);
        while deferred != 0 {
            let way = deferred.trailing_zeros() as usize;
            deferred &= deferred - 1;
            agenda.mark(UnitId(self.unit(way) as u16));
        }
    }

    /// The next instant anything happens. While the bus is taken, nothing happens to units that want it.
    #[inline(always)]
    fn next(&self) -> u64 {
        let on_bus = if self.taken() { self.end } else { self.planned };
        on_bus.min(self.own.least())
    }
}

impl Flash {
    /// Lives everything that happens at this instant on the channel whose turn is next.
    #[inline(always)]
    pub fn step(&mut self, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let now = board.now.ns();
        let channel = (self.next.least() & ((1 << CHANNEL_BITS) - 1)) as usize;
        let state = &self.channels[channel];
        if !state.taken() && state.planned == now {
            self.grant(channel, board, log);
        }
        while self.channels[channel].end == now {
            self.transfer_ended(channel, board, agenda, log);
        }
        if self.channels[channel].own.least() <= now {
            self.units_due(channel, board, agenda, log);
        }
        self.hand_over(channel, board, agenda, log);
        let state = &mut self.channels[channel];
        if state.deferred != 0 && !state.taken() {
            state.release_deferred(agenda);
        }
        self.refresh(channel);
    }

    /// A bus nobody is known to have goes to who wants it now, or is planned for who will.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, channel: usize, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let now = board.now.ns();
        while !self.channels[channel].taken() {
            let state = &self.channels[channel];
            let since = state.wants.least();
            if since > now {
                self.plan(channel, since);
                return;
            }
            self.grant(channel, board, log);
            while self.channels[channel].end == now {
                // A transfer that takes no time.
                self.transfer_ended(channel, board, agenda, log);
            }
        }
    }

    /// The bus is free and first wanted at `since`: its next instant is the end of that transfer, or its beginning if
    /// that may be watched.
    #[inline(always)]
    fn plan(&mut self, channel: usize, since: u64) {
        let state = &self.channels[channel];
        let planned = if since == NEVER {
            NEVER
        } else if self.watched {
            since
        } else {
            since + self.units[state.unit(self.first_of(state, since))].bus_time
        };
        self.channels[channel].planned = planned;
    }

    /// Which unit on the channel goes first of those that want the bus since `since`: data-out before data-in, then by
    /// command age.
    #[inline(always)]
    fn first_of(&self, state: &Channel, since: u64) -> usize {
        // Those that have waited longest are exactly the ones at the row's least instant.
        let longest = state.wants.due(since);
        if longest.is_power_of_two() {
            longest.trailing_zeros() as usize
        } else {
            first_of_several(&self.units[state.unit(0)..], longest)
        }
    }

    /// Lives the instants of a channel's units that have nothing to do with the bus.
    fn units_due(&mut self, channel: usize, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let first = self.channels[channel].unit(0);
        let mut due = self.channels[channel].own.due(board.now.ns());
        while due != 0 {
            let way = due.trailing_zeros() as usize;
            due &= due - 1;
            self.unit_due(first + way, board, agenda, log);
        }
    }

    /// Puts the channel's next instant in step with its bus and its units.
    #[inline(always)]
    pub(super) fn refresh(&mut self, channel: usize) {
        let next = self.channels[channel].next();
        self.next.set(channel, if next == NEVER { NEVER } else { next << CHANNEL_BITS | channel as u64 });
        let soonest = self.next.least();
        self.soonest = if soonest == NEVER { Time::NEVER } else { Time::from_ns(soonest >> CHANNEL_BITS) };
    }

    /// The transfer that has waited longest has the bus, from when it came to want it or the bus came free. (One that
    /// takes no time has ended already: the callers see to it.)
    pub(super) fn grant(&mut self, channel: usize, board: &mut Board, log: &mut Log) {
        let state = &self.channels[channel];
        let since = state.wants.least();
        let way = self.first_of(state, since);
        let state = &mut self.channels[channel];
        let start = since.max(state.released);
        state.wants.set(way, NEVER);
        state.holder = way as u8;
        let unit = &mut self.units[state.unit(way)];
        let mut pages = u64::from(unit.members);
        match unit.phase {
            Phase::Command if unit.op != FlashOp::Program => pages = 0,
            Phase::Command => {}
            _ => unit.phase = Phase::DataOut,
        }
        let length = unit.bus_time;
        let counters = &mut board.channels[channel];
        counters.transfers += pages;
        counters.stalled += if since < start { pages } else { 0 };
        self.occupy(channel, Time::from_ns(start), length, board, log);
    }

    /// The holder has the bus from `start` on for `length`.
    #[inline(always)]
    fn occupy(&mut self, channel: usize, start: Time, length: u64, board: &mut Board, log: &mut Log) {
        let state = &mut self.channels[channel];
        let length = Duration::from_ns(length);
        let until = start + length;
        state.end = until.ns();
        board.channels[channel].busy += length;
        if log.on && length > Duration::ZERO {
            let u = state.unit(usize::from(state.holder));
            let (channel, unit, command) = (ChannelId(channel as u16), UnitId(u as u16), self.units[u].serial);
            log.push(start, Event::BusTaken { channel, unit, command, until });
        }
    }

    /// The transfer on `channel` is over.
    #[inline(always)]
    fn transfer_ended(&mut self, channel: usize, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let state = &mut self.channels[channel];
        let u = state.unit(usize::from(state.holder));
        state.end = NEVER;
        state.released = board.now.ns();
        let unit = &mut self.units[u];
        if unit.phase == Phase::Command {
            self.start_array(u, board, log);
            return;
        }
        self.ended.push(unit.current);
        let next = board.txn(unit.current).next;
        if next.is_some() {
            // A command keeps the bus until all its pages are out.
            unit.current = next;
            let length = self.setup + board.facts.transfer(board.txn(next).bytes);
            self.occupy(channel, board.now, length.ns(), board, log);
        } else {
            self.free(u, board, agenda);
        }
    }

    /// The unit's command is done; it must decide, unless nothing waits for it or may be sent to it this instant.
    #[inline(always)]
    pub(super) fn free(&mut self, u: usize, board: &mut Board, agenda: &mut Agenda) {
        let unit = &mut self.units[u];
        unit.phase = Phase::Idle;
        let state = &mut board.units[u];
        if state.paused.lead.is_some() {
            state.service = Service::Paused;
        } else {
            state.service = Service::Idle;
            state.counters.busy += board.now - unit.busy_from;
            if state.user_waiting + state.gc_waiting == 0 && !self.reads_move {
                return;
            }
        }
        agenda.mark(UnitId(u as u16));
    }
}

/// Which of `several` units, a bit each, goes first: data-out before data-in, then by command age.
#[cold]
fn first_of_several(units: &[FlashUnit], several: u64) -> usize {
    let key = |&(_, unit): &(usize, &FlashUnit)| (unit.phase == Phase::Command, unit.serial);
    let among = units.iter().enumerate().take(Row::MAX).filter(|(way, _)| several >> way & 1 == 1);
    among.min_by_key(key).expect("some unit wants the bus").0
}
