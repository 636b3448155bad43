//! The array phases of commands: their beginning and end, and pausing and resuming programs and erases.

use flashlane_core::board::{self, Command, Service};
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, Geometry, Owner, Time, Transaction, TxnId, UnitId};

use super::{Common, Flash, FlashUnit, Phase, UnitStep};
use crate::config::Latency;
use crate::shared::{Log, State};

/// A command to begin.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// First member; the rest are linked by [`flashlane_core::Transaction::next`].
    pub lead: TxnId,
    /// Number of members.
    pub members: u8,
    /// Their operation.
    pub op: FlashOp,
    /// On whose behalf they run.
    pub owner: Owner,
    /// Bus time of the lead's page.
    pub first: Duration,
    /// Bus time of all their pages.
    pub transfers: Duration,
    /// Pages of a row that garbage collection reads with one transaction; 0 for all else.
    pub row: u32,
}

impl UnitStep<'_> {
    /// Begins a command at the unit, which must not be busy. Returns false if the caller must assign the bus then.
    #[inline(always)]
    fn begin(&mut self, start: Start) -> bool {
        let Start { lead, members, op, owner, first, transfers, row } = start;
        let now = self.now;
        let on_bus = self.facts.command[op.index()];
        let (flash, state) = (&mut *self.unit, &mut *self.board_view);
        debug_assert!(state.service != Service::Busy && flash.phase == Phase::Idle);
        debug_assert!(flash.has_paused == state.paused.lead.is_some());
        if !flash.has_paused {
            flash.busy_from = now;
        }
        state.service = Service::Busy;
        self.counters.idle &= !(1 << self.way);
        state.count(members, op, owner);
        let command = &mut state.command;
        command.lead = lead;
        command.members = members;
        command.op = op;
        command.owner = owner;
        command.started = now;
        command.ends = now + on_bus + self.facts.array[op.index()] + transfers;
        command.in_array = false;
        command.paused = Duration::ZERO;
        command.pauses = 0;
        flash.current = lead;
        flash.serial = self.common.commands;
        self.common.commands += 1;
        flash.data_out = (self.common.setup + first).ns();
        flash.row = row;
        if row > 0 && self.common.rows_at_once && !self.log.on {
            flash.row_step = row;
            flash.data_out = (self.common.setup * u64::from(row) + transfers).ns();
        } else {
            flash.row_step = 1;
        }
        if op == FlashOp::Program || on_bus > Duration::ZERO {
            flash.phase = Phase::Command;
            flash.bus_time = if op == FlashOp::Program { on_bus + transfers } else { on_bus }.ns();
            // `op` and `members` are passed because reading the fields back as one word, just after writing them one by one,
            // would stall the processor (no store forwarding).
            self.request_bus_now(op, members)
        } else {
            self.start_array(op, members, now);
            true
        }
    }

    /// Begins the array phase of `op` on `members` pages, at the instant `from` when the command phase ends.
    #[inline(always)]
    pub(super) fn start_array(&mut self, op: FlashOp, members: u8, from: Time) {
        let length = match self.common.constant[op.index()] {
            Some(length) => length,
            None => {
                let command = Members { txns: self.txns, lead: self.board_view.command.lead };
                self.common.varying_time(op, command, &self.facts.geometry)
            }
        };
        let (flash, command) = (&mut *self.unit, &mut self.board_view.command);
        let ends = from + length + self.common.plane_gap * (u64::from(members) - 1);
        if op == FlashOp::Read {
            flash.phase = Phase::ReadArray;
            flash.bus_time = flash.data_out;
            self.request_bus_from(ends);
        } else {
            flash.phase = Phase::Array;
            command.ends = ends;
            command.array_from = from;
            command.in_array = true;
            self.channel.timers.insert_by_number(self.way, ends.ns());
            self.array_started();
        }
        if self.log.on {
            let (unit, command) = (self.id, self.unit.serial);
            self.log.push(self.now, || Event::ArrayStarted { unit, command, until: ends });
        }
    }

    /// An array phase that can be paused has begun: the unit must decide if a read already waits for it.
    #[inline(always)]
    fn array_started(&mut self) {
        if self.common.pauses && self.board_view.waiting(FlashOp::Read) > 0 {
            self.agenda.mark(self.id);
        }
    }

    /// The unit's timer has expired.
    #[inline(always)]
    pub(super) fn timer_expired(&mut self) {
        debug_assert!(self.channel.timers.first() == self.way);
        self.channel.timers.pop_first();
        match self.unit.phase {
            Phase::Array if self.now < self.board_view.command.ends => {
                // The instant has come for which a decision was armed: the program or erase may be paused for a read now.
                self.channel.timers.insert_by_number(self.way, self.board_view.command.ends.ns());
                self.agenda.mark(self.id);
            }
            Phase::Array => self.array_ended(),
            Phase::Suspending => {
                self.unit.phase = Phase::Idle;
                self.board_view.service = Service::Paused;
                self.agenda.mark(self.id);
            }
            Phase::Resuming => {
                let until = restart_array(self.unit, self.board_view, self.id, self.now, self.log);
                self.channel.timers.insert_by_number(self.way, until);
                self.array_started();
            }
            phase => unreachable!("due in phase {phase:?}"),
        }
    }

    /// Ends the array phase of a program or an erase, which is its end.
    #[inline(always)]
    fn array_ended(&mut self) {
        let (unit, command) = (self.id, self.unit.serial);
        self.log.push(self.now, || Event::ArrayEnded { unit, command });
        self.board_view.command.in_array = false;
        let mut member = self.board_view.command.lead;
        while member.is_some() {
            let next = self.txns[member.index()].next;
            self.ended.push(self.txns, member);
            member = next;
        }
        self.free();
    }
}

/// Continues the array phase after a pause. Returns its end.
#[inline(always)]
fn restart_array(flash: &mut FlashUnit, state: &mut board::Unit, unit: UnitId, now: Time, log: &mut Log) -> u64 {
    let command = &mut state.command;
    command.array_from = now;
    command.in_array = true;
    flash.phase = Phase::Array;
    log.push(now, || Event::ArrayStarted { unit, command: flash.serial, until: command.ends });
    command.ends.ns()
}

// Array times that vary.

/// The transactions of a command.
#[derive(Clone, Copy)]
struct Members<'a> {
    txns: &'a [Transaction],
    lead: TxnId,
}

impl<'a> Members<'a> {
    fn iter(self) -> impl Iterator<Item = &'a Transaction> {
        let get = move |id: TxnId| id.is_some().then(|| &self.txns[id.index()]);
        core::iter::successors(get(self.lead), move |txn| get(txn.next))
    }
}

impl Common {
    /// Array time of an operation whose time varies: that of its slowest page.
    ///
    /// Takes what it reads one by one: a reference to the whole [`UnitStep`] would keep that in memory instead of in registers.
    #[inline(never)]
    fn varying_time(&mut self, op: FlashOp, command: Members<'_>, geometry: &Geometry) -> Duration {
        let (drawn, by_page) = match self.latency[op.index()] {
            Latency::Constant(typical) => (typical, None),
            Latency::Gaussian { mean, sd } => (self.gaussian(mean, sd), None),
            Latency::ByPage(times) => (Duration::ZERO, Some(times)),
        };
        let slc = self.slc[op.index()];
        let first = |txn: &Transaction| match by_page {
            _ if txn.slc => slc,
            Some(times) => times.at(geometry.row_in_block(txn.ppa)),
            None => drawn,
        };
        match self.retry_step {
            Some(step) if op == FlashOp::Read => {
                let time = |txn| first(txn) + step * u64::from(txn.retries);
                command.iter().map(time).max().unwrap_or(drawn)
            }
            _ => command.iter().map(first).max().unwrap_or(drawn),
        }
    }
}

impl Flash {
    /// Begins a command. The unit must not be busy.
    #[inline(always)]
    pub fn begin(&mut self, unit: UnitId, start: Start, state: &mut State) {
        let mut step = self.unit_step(unit, state);
        let channel = usize::from(step.unit.channel);
        let next = if step.begin(start) { step.channel.next() } else { self.assign_bus(channel, state) };
        self.set_next(channel, next);
    }

    /// Sets the unit's timer to `at`, if its running program or erase does not end before. The unit must decide then.
    pub fn arm_decision(&mut self, unit: UnitId, at: Time, board: &Board) {
        if at < board.units[unit.index()].command.ends {
            self.set_timer(unit.index(), at.ns());
        }
    }

    /// Pauses the running program or erase. The unit can begin reads when the overhead has passed. If pausing takes no time, it
    /// must begin a read or resume at this instant.
    pub fn pause(&mut self, unit: UnitId, shared: &mut State) {
        let State { board, log, .. } = shared;
        let u = unit.index();
        let now = board.now;
        let state = &mut board.units[u];
        debug_assert!(self.units[u].phase == Phase::Array && state.paused.lead.is_none() && now < state.command.ends);
        let remaining = state.command.ends - now;
        let pauses = state.command.pauses + 1;
        state.paused = Command { remaining, paused_at: now, in_array: false, pauses, ..state.command };
        state.counters.pauses += 1;
        (self.units[u].has_paused, self.units[u].paused_serial) = (true, self.units[u].serial);
        log.push(now, || Event::Paused { unit, command: self.units[u].serial, remaining });
        if board.facts.suspend == Duration::ZERO {
            self.units[u].phase = Phase::Idle;
            // The channel's next instant is set by the command that begins or resumes at this instant.
            let (channel, way) = self.place_of(unit);
            self.channels[channel].timers.remove(way);
            board.units[u].service = Service::Paused;
        } else {
            self.units[u].phase = Phase::Suspending;
            self.set_timer(u, (now + board.facts.suspend).ns());
        }
    }

    /// Resumes the paused command.
    pub fn resume(&mut self, unit: UnitId, shared: &mut State) {
        let State { board, log, .. } = shared;
        let (now, overhead) = (board.now, board.facts.resume);
        let (flash, state) = (&mut self.units[unit.index()], &mut board.units[unit.index()]);
        debug_assert!(state.service == Service::Paused && state.paused.lead.is_some());
        let paused_for = (now + overhead) - state.paused.paused_at;
        state.service = Service::Busy;
        state.command = state.paused;
        state.paused.lead = TxnId::NONE;
        let command = &mut state.command;
        command.paused += paused_for;
        command.started += paused_for;
        command.ends = now + overhead + command.remaining;
        (flash.has_paused, flash.serial) = (false, flash.paused_serial);
        let until = if overhead == Duration::ZERO {
            restart_array(flash, state, unit, now, log)
        } else {
            flash.phase = Phase::Resuming;
            (now + overhead).ns()
        };
        self.set_timer(unit.index(), until);
    }

    /// The unit's channel, and its number there.
    #[inline(always)]
    fn place_of(&self, unit: UnitId) -> (usize, usize) {
        let unit = &self.units[unit.index()];
        (usize::from(unit.channel), usize::from(unit.way))
    }
}
