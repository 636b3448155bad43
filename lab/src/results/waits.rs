//! What a transaction waited for, from a device's events: the operation it found in service, collection, the bus.
//!
//! Owns what units and commands are in the middle of, as far as the parts of a wait need it (Slacker eq. 2; what the
//! estimates are compared with). Must never know estimates.

use flashlane_core::UnitId;
use rustc_hash::FxHashMap;

/// The parts of a wait that can be seen, ns. What is left of it is the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Until its unit next began something for a user, unless it was idle when the transaction came: the rest of the
    /// operation in service and of garbage collection under way.
    pub residual_ns: u64,
    /// Garbage collection of its unit after that.
    pub gc_ns: u64,
    /// Its own command's waiting for a taken bus.
    pub bus_ns: u64,
}

/// Where a waiting transaction stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    /// What its unit had begun has ended: after so long, when the unit had spent so much on collection.
    begun: Option<(u64, u64)>,
}

/// A command in service or paused.
#[derive(Clone, Copy, Debug)]
struct Command {
    unit: usize,
    members: u32,
    gc_since: Option<u64>,
    /// From when on it wants, or wanted, the bus.
    ready: u64,
    waited: u64,
}

#[derive(Clone, Debug, Default)]
struct Unit {
    commands: u32,
    /// Transactions of garbage collection queued or in service.
    gc_open: u32,
    /// Time spent on those that have ended.
    gc_ns: u64,
    /// Transactions that wait for what the unit had begun when they came.
    pending: Vec<u64>,
}

/// Units and commands.
#[derive(Debug, Default)]
pub(super) struct Waits {
    units: Vec<Unit>,
    commands: FxHashMap<u64, Command>,
}

impl Waits {
    fn unit(&mut self, unit: UnitId) -> &mut Unit {
        if unit.index() >= self.units.len() {
            self.units.resize(unit.index() + 1, Unit::default());
        }
        &mut self.units[unit.index()]
    }

    /// A transaction joined a queue of `unit`.
    pub(super) fn queued(&mut self, serial: u64, unit: UnitId, gc: bool) -> Waiting {
        let state = self.unit(unit);
        if gc {
            state.gc_open += 1;
            return Waiting::default();
        }
        let idle = state.commands == 0 && state.gc_open == 0;
        if !idle {
            state.pending.push(serial);
        }
        Waiting { begun: idle.then_some((0, state.gc_ns)) }
    }

    /// A transaction joined a command. Those who waited for what the unit had begun when they came, if it now begins
    /// something for a user.
    pub(super) fn dispatched(&mut self, (command, unit): (u64, UnitId), gc: bool, now: u64) -> Vec<u64> {
        let fresh = Command { unit: unit.index(), members: 0, gc_since: gc.then_some(now), ready: now, waited: 0 };
        let entry = self.commands.entry(command).or_insert(fresh);
        entry.members += 1;
        let first = entry.members == 1;
        let state = self.unit(unit);
        let idle = state.commands == 0;
        state.commands += u32::from(first);
        if first && idle && !gc { std::mem::take(&mut state.pending) } else { Vec::new() }
    }

    /// What the unit had begun when a transaction came, at `queued`, has ended.
    pub(super) fn resolve(&self, waiting: &mut Waiting, unit: UnitId, queued: u64, now: u64) {
        let gc_ns = self.units.get(unit.index()).map_or(0, |state| state.gc_ns);
        waiting.begun.get_or_insert((now - queued, gc_ns));
    }

    /// What a transaction waited for that its command now ends the waiting of.
    pub(super) fn waited(&self, waiting: Waiting, unit: UnitId, queued: u64, now: u64) -> Waited {
        let gc_ns = self.units.get(unit.index()).map_or(0, |state| state.gc_ns);
        let (residual_ns, before) = waiting.begun.unwrap_or((now - queued, gc_ns));
        Waited { residual_ns, gc_ns: gc_ns.saturating_sub(before), bus_ns: 0 }
    }

    /// A command got the bus until then.
    pub(super) fn took_bus(&mut self, command: u64, now: u64, until: u64) {
        if let Some(command) = self.commands.get_mut(&command) {
            command.waited += now.saturating_sub(command.ready);
            command.ready = until;
        }
    }

    /// A command's array works until then.
    pub(super) fn array(&mut self, command: u64, until: u64) {
        if let Some(command) = self.commands.get_mut(&command) {
            command.ready = until;
        }
    }

    /// A member of a command ended: how long the command waited for the bus.
    pub(super) fn ended(&mut self, command: u64, now: u64) -> u64 {
        let Some(entry) = self.commands.get_mut(&command) else { return 0 };
        entry.members -= 1;
        let Command { unit, members, gc_since, waited, .. } = *entry;
        if members == 0 {
            self.commands.remove(&command);
            let state = &mut self.units[unit];
            state.commands -= 1;
            state.gc_ns += gc_since.map_or(0, |since| now - since);
        }
        waited
    }

    /// A transaction of garbage collection ended or was dropped.
    pub(super) fn collected(&mut self, unit: UnitId) {
        self.unit(unit).gc_open -= 1;
    }
}
