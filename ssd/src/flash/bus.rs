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
        Channel { end: NEVER, holder: 0, first: first as u16, deferred: 0, own: row.clone(), wants: row }
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

    /// The unit numbered `way` on the channel.
    #[inline(always)]
    fn unit(&self, way: usize) -> usize {
        usize::from(self.first) + way
    }

    /// Whether the bus is free and wanted.
    #[inline(always)]
    pub(super) fn may_grant(&self, now: u64) -> bool {
        self.wants.least() <= now && !self.taken()
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
        let on_bus = if self.taken() { self.end } else { self.wants.least() };
        on_bus.min(self.own.least())
    }
}

impl Flash {
    /// Lives everything that happens at this instant on the channel whose turn is next.
    #[inline(always)]
    pub fn step(&mut self, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let now = board.now.ns();
        let channel = (self.next.least() & ((1 << CHANNEL_BITS) - 1)) as usize;
        while self.channels[channel].end == now {
            self.transfer_ended(channel, board, agenda, log);
        }
        if self.channels[channel].own.least() <= now {
            self.units_due(channel, board, agenda, log);
        }
        if self.channels[channel].may_grant(now) {
            self.grant(channel, board, agenda, log);
        }
        let state = &mut self.channels[channel];
        if state.deferred != 0 && !state.taken() {
            state.release_deferred(agenda);
        }
        self.refresh(channel);
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

    /// Gives the free bus to the transfer that has waited longest, and on while transfers take no time.
    pub(super) fn grant(&mut self, channel: usize, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let now = board.now.ns();
        loop {
            let state = &mut self.channels[channel];
            let since = state.wants.least();
            // Those that have waited longest are exactly the ones at the row's least instant.
            let longest = state.wants.due(since);
            let mut way = longest.trailing_zeros() as usize;
            if !longest.is_power_of_two() {
                way = first_of(&self.units[state.unit(0)..], longest);
            }
            state.wants.set(way, NEVER);
            let u = state.unit(way);
            let unit = &mut self.units[u];
            let (length, pages) = match unit.phase {
                Phase::Command => command_phase(board, u),
                _ => {
                    unit.phase = Phase::DataOut;
                    (self.setup + board.facts.transfer(board.txn(unit.current).bytes), unit.members)
                }
            };
            let counters = &mut board.channels[channel];
            counters.transfers += u64::from(pages);
            counters.stalled += if since < now { u64::from(pages) } else { 0 };
            state.holder = way as u8;
            self.occupy(channel, length, board, log);
            if length > Duration::ZERO {
                return;
            }
            self.end_at_once(channel, board, agenda, log);
            if !self.channels[channel].may_grant(now) {
                return;
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

    /// The holder has the bus for `length`. A transfer that takes no time has ended already: the callers see to it.
    #[inline(always)]
    fn occupy(&mut self, channel: usize, length: Duration, board: &mut Board, log: &mut Log) {
        let state = &mut self.channels[channel];
        let until = board.now + length;
        state.end = until.ns();
        board.channels[channel].busy += length;
        if log.on && length > Duration::ZERO {
            let u = state.unit(usize::from(state.holder));
            let (channel, unit, command) = (ChannelId(channel as u16), UnitId(u as u16), self.units[u].serial);
            log.push(board.now, Event::BusTaken { channel, unit, command, until });
        }
    }

    /// The transfer on `channel` is over.
    #[inline(always)]
    fn transfer_ended(&mut self, channel: usize, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let state = &mut self.channels[channel];
        let u = state.unit(usize::from(state.holder));
        state.end = NEVER;
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
            self.occupy(channel, length, board, log);
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
fn first_of(units: &[FlashUnit], several: u64) -> usize {
    let key = |&(_, unit): &(usize, &FlashUnit)| (unit.phase == Phase::Command, unit.serial);
    let among = units.iter().enumerate().take(Row::MAX).filter(|(way, _)| several >> way & 1 == 1);
    among.min_by_key(key).expect("some unit wants the bus").0
}

/// Bus time of a command phase (the command, and a program's data), and the pages it moves.
fn command_phase(board: &Board, unit: usize) -> (Duration, u8) {
    let command = &board.units[unit].command;
    let mut length = board.facts.command[command.op.index()];
    if command.op != FlashOp::Program {
        return (length, 0);
    }
    let mut member = command.lead;
    while member.is_some() {
        let txn = board.txn(member);
        length += board.facts.transfer(txn.bytes);
        member = txn.next;
    }
    (length, command.members)
}
