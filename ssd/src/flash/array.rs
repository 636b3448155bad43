//! Array phases: beginning a command, its end, and pausing and resuming programs and erases.

use flashlane_core::board::{Command, Service};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, Owner, Time, TxnId, UnitId};

use super::row::NEVER;
use super::{Flash, Phase};
use crate::agenda::Agenda;
use crate::config::Latency;
use crate::log::Log;

/// A command to begin.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// First member; the rest are linked by [`flashlane_core::Transaction::next`].
    pub lead: TxnId,
    /// Members.
    pub members: u8,
    /// What they do.
    pub op: FlashOp,
    /// For whom.
    pub owner: Owner,
    /// Bus time of the lead's page.
    pub first: Duration,
    /// Bus time of all their pages.
    pub transfers: Duration,
}

impl Flash {
    /// The serial the next command will get.
    pub fn next_serial(&self) -> u64 {
        self.commands
    }

    /// Begins a command. The unit must not be busy.
    #[inline(always)]
    pub fn begin(&mut self, unit: UnitId, start: Start, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let u = unit.index();
        let Start { lead, members, op, owner, first, transfers } = start;
        let now = board.now;
        let on_bus = board.facts.command[op.index()];
        let ends = now + on_bus + board.facts.array[op.index()] + transfers;
        let flash = &mut self.units[u];
        let state = &mut board.units[u];
        debug_assert!(state.service != Service::Busy && flash.phase == Phase::Idle);
        if state.paused.lead.is_none() {
            flash.busy_from = now;
        }
        state.service = Service::Busy;
        let command = &mut state.command;
        command.lead = lead;
        command.members = members;
        command.op = op;
        command.owner = owner;
        command.started = now;
        command.ends = ends;
        command.in_array = false;
        command.paused = Duration::ZERO;
        flash.current = lead;
        flash.members = members;
        flash.op = op;
        flash.serial = self.commands;
        self.commands += 1;
        let channel = usize::from(flash.channel);
        flash.data_out = (self.setup + first).ns();
        if op == FlashOp::Program || on_bus > Duration::ZERO {
            flash.phase = Phase::Command;
            flash.bus_time = if op == FlashOp::Program { on_bus + transfers } else { on_bus }.ns();
            let way = flash.way;
            self.channels[channel].want_now(way, now);
            self.hand_over(channel, board, agenda, log);
        } else {
            self.start_array(u, board, log);
        }
        self.refresh(channel);
    }

    /// The command phase is over: the array works.
    #[inline(always)]
    pub(super) fn start_array(&mut self, u: usize, board: &mut Board, log: &mut Log) {
        let op = board.units[u].command.op;
        let length = match self.latency[op.index()] {
            Latency::Constant(typical) => typical,
            Latency::Gaussian { mean, sd } => self.gaussian(mean, sd),
            Latency::FastSlow { fast, slow } => slowest_page(board, u, fast, slow),
        };
        let flash = &mut self.units[u];
        let channel = &mut self.channels[usize::from(flash.channel)];
        let command = &mut board.units[u].command;
        let ends = board.now + length + self.plane_gap * (u64::from(command.members) - 1);
        if op == FlashOp::Read {
            flash.phase = Phase::ReadArray;
            flash.bus_time = flash.data_out;
            channel.want_later(flash.way, ends, if self.watched { 0 } else { flash.bus_time });
        } else {
            flash.phase = Phase::Array;
            channel.own.set(usize::from(flash.way), ends.ns());
            command.ends = ends;
            command.array_from = board.now;
            command.in_array = true;
        }
        let (unit, command) = (UnitId(u as u16), flash.serial);
        log.push(board.now, Event::ArrayStarted { unit, command, until: ends });
    }

    /// An instant of `unit` that has nothing to do with the bus.
    pub(super) fn unit_due(&mut self, unit: usize, board: &mut Board, agenda: &mut Agenda, log: &mut Log) {
        let id = UnitId(unit as u16);
        match self.units[unit].phase {
            Phase::Array if board.now < board.units[unit].command.ends => {
                // A program's iteration ended and a read waits: it may be paused now.
                self.set_own(unit, board.units[unit].command.ends.ns());
                agenda.mark(id);
            }
            Phase::Array => {
                log.push(board.now, Event::ArrayEnded { unit: id, command: self.units[unit].serial });
                board.units[unit].command.in_array = false;
                let mut member = board.units[unit].command.lead;
                while member.is_some() {
                    self.ended.push(member);
                    member = board.txn(member).next;
                }
                self.set_own(unit, NEVER);
                self.free(unit, board, agenda);
            }
            Phase::Suspending => {
                self.units[unit].phase = Phase::Idle;
                self.set_own(unit, NEVER);
                board.units[unit].service = Service::Paused;
                agenda.mark(id);
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
            self.set_own(u, boundary);
            self.refresh(usize::from(self.units[u].channel));
        }
    }

    /// Interrupts the running array phase. The unit can be given reads once the overhead has passed.
    pub fn pause(&mut self, unit: UnitId, board: &mut Board, log: &mut Log) {
        let u = unit.index();
        let now = board.now;
        let state = &mut board.units[u];
        debug_assert!(self.units[u].phase == Phase::Array && state.paused.lead.is_none() && now < state.command.ends);
        let remaining = state.command.ends - now;
        state.paused = Command { remaining, paused_at: now, in_array: false, ..state.command };
        state.counters.pauses += 1;
        self.units[u].paused_serial = self.units[u].serial;
        log.push(now, Event::Paused { unit, command: self.units[u].serial, remaining });
        if board.facts.suspend == Duration::ZERO {
            self.units[u].phase = Phase::Idle;
            self.set_own(u, NEVER);
            board.units[u].service = Service::Paused;
        } else {
            self.units[u].phase = Phase::Suspending;
            self.set_own(u, (now + board.facts.suspend).ns());
        }
        self.refresh(usize::from(self.units[u].channel));
    }

    /// Takes the paused command up again.
    pub fn resume(&mut self, unit: UnitId, board: &mut Board, log: &mut Log) {
        let u = unit.index();
        let overhead = board.facts.resume;
        let state = &mut board.units[u];
        debug_assert!(state.service == Service::Paused && state.paused.lead.is_some());
        state.service = Service::Busy;
        let total = state.paused.paused + ((board.now + overhead) - state.paused.paused_at);
        state.command =
            Command { paused: total, started: state.paused.started + (total - state.paused.paused), ..state.paused };
        state.command.ends = board.now + overhead + state.paused.remaining;
        state.paused = Command::NONE;
        self.units[u].serial = self.units[u].paused_serial;
        if overhead == Duration::ZERO {
            self.continue_array(u, board, log);
        } else {
            self.units[u].phase = Phase::Resuming;
            self.set_own(u, (board.now + overhead).ns());
        }
        self.refresh(usize::from(self.units[u].channel));
    }

    /// The resume overhead is over: the array works on.
    fn continue_array(&mut self, unit: usize, board: &mut Board, log: &mut Log) {
        let command = &mut board.units[unit].command;
        command.array_from = board.now;
        command.in_array = true;
        let ends: Time = command.ends;
        self.units[unit].phase = Phase::Array;
        self.set_own(unit, ends.ns());
        let event = Event::ArrayStarted { unit: UnitId(unit as u16), command: self.units[unit].serial, until: ends };
        log.push(board.now, event);
    }
}

/// Array time of a command over fast (even) and slow (odd) pages: its slowest member's.
fn slowest_page(board: &Board, unit: usize, fast: Duration, slow: Duration) -> Duration {
    let mut member = board.units[unit].command.lead;
    let mut longest = Duration::ZERO;
    while member.is_some() {
        let txn = board.txn(member);
        let even = (txn.ppa % board.facts.geometry.pages_per_block).is_multiple_of(2);
        longest = longest.max(if even { fast } else { slow });
        member = txn.next;
    }
    longest
}
