//! Channel buses: one transfer at a time, first come first served among ready transfers, data-out before data-in when
//! both become ready at the same instant, then by command age (SPEC 0.4).

use flashlane_core::board::Service;
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, ChannelId, Duration, Time, UnitId};

use super::{CHANNEL_BITS, Flash, Outcome, Phase};
use crate::log::Log;

/// A channel's bus.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bus {
    /// When the transfer under way ends, ns; `u64::MAX` when the bus is free.
    end: u64,
    /// Who has it: unit on the channel.
    holder: u16,
    /// Units whose `at` is the instant they began to want the bus, a bit each.
    wants: u64,
    /// Units that may not decide before the bus is free.
    pub(super) deferred: u64,
}

impl Bus {
    pub(super) const IDLE: Bus = Bus { end: u64::MAX, holder: 0, wants: 0, deferred: 0 };

    /// Whether a transfer is under way.
    #[inline]
    pub(super) fn taken(&self) -> bool {
        self.end != u64::MAX
    }
}

impl Flash {
    /// Lives everything that happens on `channel` at this instant.
    pub fn step(&mut self, channel: usize, board: &mut Board, log: &mut Log) {
        let now = board.now.ns();
        if self.channels[channel].end == now {
            self.transfer_ended(channel, board, log);
        }
        let first = channel * self.units_per_channel;
        let mut past = 0u64;
        for (i, &at) in self.at[first..first + self.units_per_channel].iter().enumerate() {
            past |= u64::from(at <= now) << i;
        }
        let mut due = past & !self.channels[channel].wants;
        while due != 0 {
            let i = due.trailing_zeros() as usize;
            due &= due - 1;
            self.unit_due(first + i, board, log);
        }
        let ready = past & self.channels[channel].wants;
        if ready != 0 && !self.channels[channel].taken() {
            self.grant_one_of(channel, ready, board, log);
        }
        if self.channels[channel].deferred != 0 && !self.channels[channel].taken() {
            self.release_deferred(channel);
        }
        self.refresh(channel);
    }

    /// Recomputes the channel's next instant.
    #[inline]
    pub(super) fn refresh(&mut self, channel: usize) {
        let bus = &self.channels[channel];
        let hidden = if bus.taken() { bus.wants } else { 0 };
        let first = channel * self.units_per_channel;
        let mut next = bus.end;
        for (i, &at) in self.at[first..first + self.units_per_channel].iter().enumerate() {
            next = next.min(at | 0u64.wrapping_sub(hidden >> i & 1));
        }
        self.set_next(channel, next);
    }

    /// A unit of `channel` has a new instant, and no other of the channel's instants went away.
    #[inline]
    pub(super) fn sooner(&mut self, channel: usize, unit: usize) {
        let bus = &self.channels[channel];
        let i = unit - channel * self.units_per_channel;
        let hidden = bus.taken() && bus.wants >> i & 1 == 1;
        let at = if hidden { bus.end } else { self.at[unit].min(bus.end) };
        if at < self.next[channel] >> CHANNEL_BITS {
            let packed = at << CHANNEL_BITS | channel as u64;
            self.next[channel] = packed;
            self.soonest = self.soonest.min(packed);
        }
    }

    /// From `at` on, `unit` wants the bus.
    #[inline]
    pub(super) fn want_bus(&mut self, unit: usize, at: Time) {
        let channel = usize::from(self.units[unit].channel);
        self.at[unit] = at.ns();
        self.channels[channel].wants |= 1 << (unit - channel * self.units_per_channel);
    }

    /// Gives a free bus to the transfer that has waited longest, if one is ready.
    pub(super) fn grant(&mut self, channel: usize, board: &mut Board, log: &mut Log) {
        let now = board.now.ns();
        let first = channel * self.units_per_channel;
        let wants = self.channels[channel].wants;
        let ready = (0..self.units_per_channel)
            .filter(|&i| wants >> i & 1 == 1 && self.at[first + i] <= now)
            .fold(0u64, |ready, i| ready | 1 << i);
        if ready != 0 && !self.channels[channel].taken() {
            self.grant_one_of(channel, ready, board, log);
        }
    }

    /// Gives the free bus to the one of `ready` that has waited longest, and on while transfers take no time.
    fn grant_one_of(&mut self, channel: usize, mut ready: u64, board: &mut Board, log: &mut Log) {
        let now = board.now.ns();
        let first = channel * self.units_per_channel;
        while ready != 0 && !self.channels[channel].taken() {
            let mut winner = ready.trailing_zeros() as usize;
            if !ready.is_power_of_two() {
                let key = |i: usize| {
                    let unit = first + i;
                    let u = &self.units[unit];
                    (self.at[unit], u.phase == Phase::Command, u.serial)
                };
                let mut rest = ready & (ready - 1);
                while rest != 0 {
                    let i = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    if key(i) < key(winner) {
                        winner = i;
                    }
                }
            }
            ready &= !(1 << winner);
            let stalled = self.at[first + winner] < now;
            self.take(channel, winner, stalled, board, log);
        }
    }

    /// Puts unit `i` of `channel` on the bus.
    fn take(&mut self, channel: usize, i: usize, stalled: bool, board: &mut Board, log: &mut Log) {
        let u = channel * self.units_per_channel + i;
        self.channels[channel].wants &= !(1 << i);
        self.at[u] = u64::MAX;
        let command = &board.units[u].command;
        let members = u64::from(command.members);
        let unit = &mut self.units[u];
        let (length, data) = if unit.phase == Phase::Command {
            (command_time(board, u), command.op == FlashOp::Program)
        } else {
            unit.phase = Phase::DataOut;
            unit.current = command.lead;
            (self.setup + board.facts.transfer(board.txn(command.lead).bytes), true)
        };
        if data {
            let counters = &mut board.channels[channel];
            counters.transfers += members;
            counters.stalled += if stalled { members } else { 0 };
        }
        self.occupy(channel, i, length, board, log);
    }

    /// Takes the bus for `length`; nothing at all happens in no time.
    fn occupy(&mut self, channel: usize, i: usize, length: Duration, board: &mut Board, log: &mut Log) {
        let end = board.now + length;
        self.channels[channel].end = end.ns();
        self.channels[channel].holder = i as u16;
        if length == Duration::ZERO {
            self.transfer_ended(channel, board, log);
            return;
        }
        board.channels[channel].busy += length;
        if log.on {
            let unit = channel * self.units_per_channel + i;
            let (channel, command) = (ChannelId(channel as u16), self.units[unit].serial);
            log.push(board.now, Event::BusTaken { channel, unit: UnitId(unit as u16), command, until: end });
        }
    }

    /// The transfer on `channel` is over.
    fn transfer_ended(&mut self, channel: usize, board: &mut Board, log: &mut Log) {
        let bus = &mut self.channels[channel];
        let i = usize::from(bus.holder);
        bus.end = u64::MAX;
        let u = channel * self.units_per_channel + i;
        let unit = &mut self.units[u];
        if unit.phase == Phase::Command {
            self.start_array(u, board, log);
            return;
        }
        let done = unit.current;
        let next = board.txn(done).next;
        self.outcomes.push(Outcome::Ended(done));
        if next.is_some() {
            // A command keeps the bus until all its pages are out.
            unit.current = next;
            let length = self.setup + board.facts.transfer(board.txn(next).bytes);
            self.occupy(channel, i, length, board, log);
        } else {
            self.free(u, board);
        }
    }

    /// The unit's command is done.
    pub(super) fn free(&mut self, u: usize, board: &mut Board) {
        let unit = &mut self.units[u];
        unit.phase = Phase::Idle;
        self.at[u] = u64::MAX;
        let state = &mut board.units[u];
        if state.paused.lead.is_some() {
            state.service = Service::Paused;
        } else {
            state.service = Service::Idle;
            state.counters.busy += board.now - unit.busy_from;
        }
        self.outcomes.push(Outcome::Freed(UnitId(u as u16)));
    }

    /// Lets the units that waited for the bus to decide do so, starting after the one that had it last.
    fn release_deferred(&mut self, channel: usize) {
        let bus = &mut self.channels[channel];
        let mut deferred = core::mem::take(&mut bus.deferred);
        while deferred != 0 {
            let i = deferred.trailing_zeros() as usize;
            deferred &= deferred - 1;
            self.outcomes.push(Outcome::BusFree(UnitId((channel * self.units_per_channel + i) as u16)));
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
