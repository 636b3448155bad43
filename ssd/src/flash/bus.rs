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
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// When the transfer under way ends, ns; [`NEVER`] when the bus is free.
    end: u64,
    /// Who has it: unit on the channel.
    holder: u8,
    /// Units that may not decide before the bus is free.
    pub(super) deferred: u64,
    /// Instants of the units that have nothing to do with the bus.
    pub(super) own: Row,
    /// Since when, or from when on, units want the bus.
    wants: Row,
}

impl Channel {
    /// A channel of `units` idle units.
    pub(super) fn idle(units: usize) -> Channel {
        Channel { end: NEVER, holder: 0, deferred: 0, own: Row::new(units), wants: Row::new(units) }
    }

    /// Whether a transfer is under way.
    #[inline(always)]
    pub(super) fn taken(&self) -> bool {
        self.end != NEVER
    }

    /// From `at` on, unit `way` wants the bus.
    #[inline(always)]
    pub(super) fn want(&mut self, way: u8, at: Time) {
        self.wants.set(usize::from(way), at.ns());
    }

    /// Whether the bus is free and wanted.
    #[inline(always)]
    pub(super) fn may_grant(&self, now: u64) -> bool {
        self.wants.least() <= now && !self.taken()
    }

    /// The next instant anything happens. While the bus is taken, nothing happens to units that want it.
    #[inline(always)]
    fn next(&self) -> u64 {
        let on_bus = if self.taken() { self.end } else { self.wants.least() };
        on_bus.min(self.own.least())
    }
}

impl Flash {
    /// Lives everything that happens at this instant on the channel whose turn is next.
    #[inline(always)]
    pub fn step(&mut self, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let now = board.now.ns();
        let channel = self.next_channel();
        while self.channels[channel].end == now {
            self.transfer_ended(channel, board, agenda, log);
        }
        if self.channels[channel].own.least() <= now {
            self.units_due(channel, board, agenda, log);
        }
        if self.channels[channel].may_grant(now) {
            self.grant(channel, board, agenda, log);
        }
        if self.channels[channel].deferred != 0 && !self.channels[channel].taken() {
            self.release_deferred(channel, agenda);
        }
        self.refresh(channel);
    }

    /// Lives the instants of a channel's units that have nothing to do with the bus.
    fn units_due(&mut self, channel: usize, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let mut due = self.channels[channel].own.due(board.now.ns());
        while due != 0 {
            let i = due.trailing_zeros() as usize;
            due &= due - 1;
            self.unit_due(channel * self.units_per_channel + i, board, agenda, log);
        }
    }

    /// Puts the channel's next instant in step with its bus and its units.
    #[inline(always)]
    pub(super) fn refresh(&mut self, channel: usize) {
        let next = self.channels[channel].next();
        self.next.set(channel, if next == NEVER { NEVER } else { next << CHANNEL_BITS | channel as u64 });
    }

    /// From `at` on, `unit` wants the bus.
    #[inline(always)]
    pub(super) fn want_bus(&mut self, unit: usize, at: Time) {
        let FlashUnit { channel, way, .. } = self.units[unit];
        self.channels[usize::from(channel)].want(way, at);
    }

    /// Gives the free bus to the transfer that has waited longest, and on while transfers take no time.
    pub(super) fn grant(&mut self, channel: usize, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let now = board.now.ns();
        while self.channels[channel].may_grant(now) {
            let wants = &mut self.channels[channel].wants;
            let since = wants.least();
            // Those that have waited longest are exactly the ones at the row's least instant.
            let longest = wants.due(since);
            let mut winner = longest.trailing_zeros() as usize;
            if !longest.is_power_of_two() {
                winner = self.first(channel, longest);
            }
            self.take(channel, winner, since < now, board, log);
            if self.channels[channel].end == now {
                self.end_at_once(channel, board, agenda, log);
            }
        }
    }

    /// Ends a transfer that takes no time.
    #[cold]
    fn end_at_once(&mut self, channel: usize, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        while self.channels[channel].end == board.now.ns() {
            self.transfer_ended(channel, board, agenda, log);
        }
    }

    /// The one of `several` units, a bit each, that goes first: data-out before data-in, then by command age.
    #[cold]
    fn first(&self, channel: usize, several: u64) -> usize {
        let key = |&i: &usize| {
            let unit = &self.units[channel * self.units_per_channel + i];
            (unit.phase == Phase::Command, unit.serial)
        };
        (0..self.units_per_channel).filter(|i| several >> i & 1 == 1).min_by_key(key).expect("some unit wants the bus")
    }

    /// Puts unit `i` of `channel` on the bus.
    #[inline(always)]
    fn take(&mut self, channel: usize, i: usize, stalled: bool, board: &mut Board, log: &mut Log) {
        let u = channel * self.units_per_channel + i;
        self.channels[channel].wants.set(i, NEVER);
        let unit = &mut self.units[u];
        let members = u64::from(unit.members);
        let (length, data) = if unit.phase == Phase::Command {
            (command_time(board, u), board.units[u].command.op == FlashOp::Program)
        } else {
            unit.phase = Phase::DataOut;
            (self.setup + board.facts.transfer(board.txn(unit.current).bytes), true)
        };
        if data {
            let counters = &mut board.channels[channel];
            counters.transfers += members;
            counters.stalled += if stalled { members } else { 0 };
        }
        self.occupy(channel, i, length, board, log);
    }

    /// Takes the bus for `length`. A transfer that takes no time has ended already: the callers see to it at once.
    #[inline(always)]
    fn occupy(&mut self, channel: usize, i: usize, length: Duration, board: &mut Board, log: &mut Log) {
        let end = board.now + length;
        let bus = &mut self.channels[channel];
        bus.end = end.ns();
        bus.holder = i as u8;
        board.channels[channel].busy += length;
        if log.on && length > Duration::ZERO {
            let unit = channel * self.units_per_channel + i;
            let command = self.units[unit].serial;
            let (channel, unit) = (ChannelId(channel as u16), UnitId(unit as u16));
            log.push(board.now, Event::BusTaken { channel, unit, command, until: end });
        }
    }

    /// The transfer on `channel` is over.
    #[inline(always)]
    fn transfer_ended(&mut self, channel: usize, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let bus = &mut self.channels[channel];
        let i = usize::from(bus.holder);
        let u = channel * self.units_per_channel + i;
        bus.end = NEVER;
        let unit = &mut self.units[u];
        if unit.phase == Phase::Command {
            self.start_array(u, board, log);
            return;
        }
        let done = unit.current;
        let next = board.txn(done).next;
        self.ended.push(done);
        if next.is_some() {
            // A command keeps the bus until all its pages are out.
            unit.current = next;
            let length = self.setup + board.facts.transfer(board.txn(next).bytes);
            self.occupy(channel, i, length, board, log);
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

    /// Lets the units that waited for the bus to decide do so.
    fn release_deferred(&mut self, channel: usize, agenda: &mut Agenda) {
        let bus = &mut self.channels[channel];
        let mut deferred = core::mem::take(&mut bus.deferred);
        while deferred != 0 {
            let i = deferred.trailing_zeros() as usize;
            deferred &= deferred - 1;
            agenda.mark(UnitId((channel * self.units_per_channel + i) as u16));
        }
    }
}

/// Bus time of a command phase: the command, and a program's data.
fn command_time(board: &Board, unit: usize) -> Duration {
    let command = &board.units[unit].command;
    let mut length = board.facts.command[command.op.index()];
    if command.op == FlashOp::Program {
        let mut member = command.lead;
        while member.is_some() {
            let txn = board.txn(member);
            length += board.facts.transfer(txn.bytes);
            member = txn.next;
        }
    }
    length
}
