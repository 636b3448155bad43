//! Array phases: beginning a command, its end, and pausing and resuming programs and erases.

use flashlane_core::board::{Command, Service};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, Time, TxnId, UnitId};

use super::{Flash, Outcome, Phase};
use crate::log::Log;

impl Flash {
    /// The serial the next command will get.
    pub fn next_serial(&self) -> u64 {
        self.commands
    }

    /// Begins the command whose members hang off `lead` by `next`. The unit must not be busy.
    pub fn begin(&mut self, unit: UnitId, lead: TxnId, members: u8, board: &mut Board, log: &mut Log) {
        let u = unit.index();
        debug_assert!(board.units[u].service != Service::Busy && self.phase[u] == Phase::Idle);
        self.note_busy(u, board);
        let (op, owner) = (board.txn(lead).op, board.txn(lead).owner);
        let now = board.now;
        let mut ends = now + board.facts.command[op.index()] + board.facts.array[op.index()];
        if op != FlashOp::Erase {
            let mut member = lead;
            while member.is_some() {
                let txn = board.txn(member);
                ends += board.facts.transfer(txn.bytes);
                member = txn.next;
            }
        }
        let state = &mut board.units[u];
        state.service = Service::Busy;
        state.command = Command { lead, members, op, owner, started: now, ends, ..Command::NONE };
        self.serial[u][0] = self.commands;
        self.commands += 1;
        let needs_bus = op == FlashOp::Program || board.facts.command[op.index()] > Duration::ZERO;
        self.phase[u] = Phase::Command;
        let channel = self.channel_of[u] as usize;
        if needs_bus {
            self.want_bus(u, now);
            self.grant(channel, board, log);
        } else {
            self.start_array(u, board, log);
        }
        self.refresh(channel);
    }

    /// The command phase is over: the array works.
    pub(super) fn start_array(&mut self, unit: usize, board: &mut Board, log: &mut Log) {
        let command = board.units[unit].command;
        let page = board.txn(command.lead).ppa % board.facts.geometry.pages_per_block;
        let length = self.array_time(command.op, page, command.members);
        let ends = board.now + length;
        if command.op == FlashOp::Read {
            self.phase[unit] = Phase::ReadArray;
            self.want_bus(unit, ends);
        } else {
            self.phase[unit] = Phase::Array;
            self.at[unit] = ends.ns();
            let command = &mut board.units[unit].command;
            command.ends = ends;
            command.array_from = board.now;
            command.in_array = true;
        }
        let (id, command) = (UnitId(unit as u16), self.serial[unit][0]);
        log.push(board.now, Event::ArrayStarted { unit: id, command, until: ends });
    }

    /// An instant of `unit` that has nothing to do with the bus.
    pub(super) fn unit_due(&mut self, unit: usize, board: &mut Board, log: &mut Log) {
        let id = UnitId(unit as u16);
        match self.phase[unit] {
            Phase::Array if board.now < board.units[unit].command.ends => {
                self.at[unit] = board.units[unit].command.ends.ns();
                self.outcomes.push(Outcome::Boundary(id));
            }
            Phase::Array => {
                log.push(board.now, Event::ArrayEnded { unit: id, command: self.serial[unit][0] });
                board.units[unit].command.in_array = false;
                let mut member = board.units[unit].command.lead;
                while member.is_some() {
                    self.outcomes.push(Outcome::Ended(member));
                    member = board.txn(member).next;
                }
                self.free(unit, board);
            }
            Phase::Suspending => {
                self.phase[unit] = Phase::Idle;
                self.at[unit] = u64::MAX;
                board.units[unit].service = Service::Paused;
                self.outcomes.push(Outcome::Freed(id));
            }
            Phase::Resuming => self.continue_array(unit, board, log),
            phase => unreachable!("unit {unit} due in phase {phase:?}"),
        }
    }

    /// Asks to be told at the next iteration boundary of the running program, counted from now (exclusive).
    pub fn arm_boundary(&mut self, unit: UnitId, board: &Board) {
        let u = unit.index();
        let command = &board.units[u].command;
        let iteration = board.facts.iteration.ns();
        let done = (board.now - command.array_from).ns() / iteration;
        let boundary = command.array_from.ns() + (done + 1) * iteration;
        if boundary < command.ends.ns() {
            self.at[u] = boundary;
            self.refresh(self.channel_of[u] as usize);
        }
    }

    /// Interrupts the running array phase. The unit can be given reads once the overhead has passed.
    pub fn pause(&mut self, unit: UnitId, board: &mut Board, log: &mut Log) {
        let u = unit.index();
        let now = board.now;
        let state = &mut board.units[u];
        debug_assert!(self.phase[u] == Phase::Array && state.paused.lead.is_none() && now < state.command.ends);
        let remaining = state.command.ends - now;
        state.paused = Command { remaining, paused_at: now, in_array: false, ..state.command };
        state.counters.pauses += 1;
        self.serial[u][1] = self.serial[u][0];
        log.push(now, Event::Paused { unit, command: self.serial[u][0], remaining });
        if board.facts.suspend == Duration::ZERO {
            self.phase[u] = Phase::Idle;
            self.at[u] = u64::MAX;
            board.units[u].service = Service::Paused;
        } else {
            self.phase[u] = Phase::Suspending;
            self.at[u] = (now + board.facts.suspend).ns();
        }
        self.refresh(self.channel_of[u] as usize);
    }

    /// Takes the paused command up again.
    pub fn resume(&mut self, unit: UnitId, board: &mut Board, log: &mut Log) {
        let u = unit.index();
        let overhead = board.facts.resume;
        let state = &mut board.units[u];
        debug_assert!(state.service == Service::Paused && state.paused.lead.is_some());
        state.service = Service::Busy;
        let total = state.paused.paused + ((board.now + overhead) - state.paused.paused_at);
        state.command = Command { paused: total, started: state.paused.started + (total - state.paused.paused), ..state.paused };
        state.command.ends = board.now + overhead + state.paused.remaining;
        state.paused = Command::NONE;
        self.serial[u][0] = self.serial[u][1];
        if overhead == Duration::ZERO {
            self.continue_array(u, board, log);
        } else {
            self.phase[u] = Phase::Resuming;
            self.at[u] = (board.now + overhead).ns();
        }
        self.refresh(self.channel_of[u] as usize);
    }

    /// The resume overhead is over: the array works on.
    fn continue_array(&mut self, unit: usize, board: &mut Board, log: &mut Log) {
        let command = &mut board.units[unit].command;
        command.array_from = board.now;
        command.in_array = true;
        let ends: Time = command.ends;
        self.phase[unit] = Phase::Array;
        self.at[unit] = ends.ns();
        let event = Event::ArrayStarted { unit: UnitId(unit as u16), command: self.serial[unit][0], until: ends };
        log.push(board.now, event);
    }
}
