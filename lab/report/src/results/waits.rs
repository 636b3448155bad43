//! What a transaction waited for, computed from a device's events: the operation in service when it came, garbage
//! collection, the bus.
//!
//! Owns the state of units and commands as far as the parts of a wait need it (Slacker eq. 2; these are the actual
//! values that estimates are compared with). Must never know estimates.

use flashlane_core::UnitId;

/// The parts of a wait that events show, ns. The rest of the wait is the queue's part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Time until its unit next began a user command, zero if the unit was idle when the transaction came: the rest of
    /// the operation in service and of garbage collection in progress.
    pub residual_ns: u64,
    /// Garbage collection on its unit after that.
    pub gc_ns: u64,
    /// Time for which its own command waited for a busy bus.
    pub bus_ns: u64,
}

/// How far the wait of a queued transaction has been accounted for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    /// Set when the work that its unit had begun earlier has ended: the wait until then, and the unit's time of
    /// collection by then.
    begun: Option<(u64, u64)>,
}

/// What is known of a command's waits for the bus, and of collection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommandWaits {
    gc_since: Option<u64>,
    /// Since when it needs the bus, or needed it last.
    ready: u64,
    /// How long it waited for it.
    pub(super) waited: u64,
}

impl CommandWaits {
    /// Of a command that begins now.
    pub(super) fn begun(gc: bool, now: u64) -> CommandWaits {
        CommandWaits { gc_since: gc.then_some(now), ready: now, waited: 0 }
    }

    /// It got the bus, which it occupies until `until`.
    pub(super) fn took_bus(&mut self, now: u64, until: u64) {
        self.waited += now.saturating_sub(self.ready);
        self.ready = until;
    }

    /// Its array phase runs until `until`.
    pub(super) fn array(&mut self, until: u64) {
        self.ready = until;
    }
}

#[derive(Clone, Debug, Default)]
struct Unit {
    commands: u32,
    /// Transactions of garbage collection queued or in service.
    gc_open: u32,
    /// Time spent on collection commands that have ended.
    gc_ns: u64,
    /// Transactions that wait for the work that the unit had begun when they came.
    pending: Vec<u64>,
}

/// The state of all units.
#[derive(Debug, Default)]
pub(super) struct Waits {
    units: Vec<Unit>,
}

impl Waits {
    fn unit(&mut self, unit: UnitId) -> &mut Unit {
        if unit.index() >= self.units.len() {
            self.units.resize(unit.index() + 1, Unit::default());
        }
        &mut self.units[unit.index()]
    }

    /// Registers a transaction that joined a queue of `unit`.
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

    /// Registers a command. If the unit thereby begins its first user command after earlier work, returns the transactions that waited
    /// for that work.
    pub(super) fn begun(&mut self, unit: UnitId, gc: bool) -> Vec<u64> {
        let state = self.unit(unit);
        let idle = state.commands == 0;
        state.commands += 1;
        if idle && !gc { std::mem::take(&mut state.pending) } else { Vec::new() }
    }

    /// Records for a transaction queued at `queued` that the work which its unit had begun earlier has ended.
    pub(super) fn resolve(&self, waiting: &mut Waiting, unit: UnitId, queued: u64, now: u64) {
        let gc_ns = self.units.get(unit.index()).map_or(0, |state| state.gc_ns);
        waiting.begun.get_or_insert((now - queued, gc_ns));
    }

    /// The parts of the wait of a transaction whose command begins now.
    pub(super) fn waited(&self, waiting: Waiting, unit: UnitId, queued: u64, now: u64) -> Waited {
        let gc_ns = self.units.get(unit.index()).map_or(0, |state| state.gc_ns);
        let (residual_ns, before) = waiting.begun.unwrap_or((now - queued, gc_ns));
        Waited { residual_ns, gc_ns: gc_ns.saturating_sub(before), bus_ns: 0 }
    }

    /// A command of `unit` is over.
    pub(super) fn over(&mut self, unit: UnitId, command: CommandWaits, now: u64) {
        let state = self.unit(unit);
        state.commands -= 1;
        state.gc_ns += command.gc_since.map_or(0, |since| now - since);
    }

    /// A garbage collection transaction ended or was dropped.
    pub(super) fn collected(&mut self, unit: UnitId) {
        self.unit(unit).gc_open -= 1;
    }
}
