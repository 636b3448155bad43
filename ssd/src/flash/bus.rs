//! Channel buses: one transfer at a time, first come first served among ready transfers, data-out before data-in when
//! both become ready at the same instant, then by command age (SPEC 0.4).

use flashlane_core::board::Service;
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, ChannelId, Duration, Time, UnitId};

use super::{Flash, Outcome, Phase};
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
        let wants = self.channels[channel].wants;
        for i in 0..self.units_per_channel {
            if self.at[first + i] == now && wants >> i & 1 == 0 {
                self.unit_due(first + i, board, log);
            }
        }
        self.grant(channel, board, log);
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
            let at = if hidden >> i & 1 == 1 { u64::MAX } else { at };
            next = next.min(at);
        }
        self.next[channel] = next;
    }

    /// From `at` on, `unit` wants the bus.
    #[inline]
    pub(super) fn want_bus(&mut self, unit: usize, at: Time) {
        let channel = self.channel_of[unit] as usize;
        self.at[unit] = at.ns();
        self.channels[channel].wants |= 1 << (unit - channel * self.units_per_channel);
    }

    /// Gives a free bus to the transfer that has waited longest.
    pub(super) fn grant(&mut self, channel: usize, board: &mut Board, log: &mut Log) {
        let now = board.now.ns();
        while !self.channels[channel].taken() {
            let first = channel * self.units_per_channel;
            let mut wants = self.channels[channel].wants;
            let mut best = (u64::MAX, false, u64::MAX);
            let mut winner = usize::MAX;
            while wants != 0 {
                let i = wants.trailing_zeros() as usize;
                wants &= wants - 1;
                let at = self.at[first + i];
                if at <= now {
                    let inward = self.phase[first + i] == Phase::Command;
                    let key = (at, inward, self.serial[first + i][0]);
                    if key < best {
                        best = key;
                        winner = i;
                    }
                }
            }
            if winner == usize::MAX {
                return;
            }
            self.take(channel, winner, best.0 < now, board, log);
        }
    }

    /// Puts unit `i` of `channel` on the bus.
    fn take(&mut self, channel: usize, i: usize, stalled: bool, board: &mut Board, log: &mut Log) {
        let unit = channel * self.units_per_channel + i;
        self.channels[channel].wants &= !(1 << i);
        self.at[unit] = u64::MAX;
        let command = &board.units[unit].command;
        let (op, lead, members) = (command.op, command.lead, command.members as u64);
        let (length, data) = if self.phase[unit] == Phase::Command {
            (self.command_time(board, unit), op == FlashOp::Program)
        } else {
            self.phase[unit] = Phase::DataOut;
            self.current[unit] = lead;
            (self.setup + board.facts.transfer(board.txn(lead).bytes), true)
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
            let (channel, command) = (ChannelId(channel as u16), self.serial[unit][0]);
            log.push(board.now, Event::BusTaken { channel, unit: UnitId(unit as u16), command, until: end });
        }
    }

    /// Bus time of a command phase: the command, and a program's data.
    fn command_time(&self, board: &Board, unit: usize) -> Duration {
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

    /// The transfer on `channel` is over.
    fn transfer_ended(&mut self, channel: usize, board: &mut Board, log: &mut Log) {
        let i = self.channels[channel].holder as usize;
        let unit = channel * self.units_per_channel + i;
        self.channels[channel].end = u64::MAX;
        if self.phase[unit] == Phase::Command {
            self.start_array(unit, board, log);
            return;
        }
        let done = self.current[unit];
        let next = board.txn(done).next;
        self.outcomes.push(Outcome::Ended(done));
        if next.is_some() {
            // A command keeps the bus until all its pages are out.
            self.current[unit] = next;
            let length = self.setup + board.facts.transfer(board.txn(next).bytes);
            self.occupy(channel, i, length, board, log);
        } else {
            self.free(unit, board);
        }
    }

    /// The unit's command is done.
    pub(super) fn free(&mut self, unit: usize, board: &mut Board) {
        self.phase[unit] = Phase::Idle;
        self.at[unit] = u64::MAX;
        let state = &mut board.units[unit];
        if state.paused.lead.is_some() {
            state.service = Service::Paused;
        } else {
            state.service = Service::Idle;
            state.counters.busy += board.now - self.busy_from[unit];
        }
        self.outcomes.push(Outcome::Freed(UnitId(unit as u16)));
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
