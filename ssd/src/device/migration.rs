//! Waiting writes that move to units with nothing to do (SOS, model 4.1.2). They have no physical page yet, so a move costs none
//! (D-SOS-03).

use alloc::collections::VecDeque;

use flashlane_core::board::Service;
use flashlane_core::decide::Migration;
use flashlane_core::transaction::Stage;
use flashlane_core::{PlaneId, Time, TxnId, UnitId};

use super::Device;

/// A write on its way to another unit's queue, where a move takes time.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlightMigration {
    at: Time,
    write: TxnId,
    to: PlaneId,
}

/// The writes on their way, in the order in which they arrive.
pub(super) type InFlightMigrations = VecDeque<InFlightMigration>;

impl Device {
    /// Asks for every unit that has nothing to do which writes move to it, and moves them.
    pub(super) fn rebalance(&mut self) {
        if self.policy.known.migration.takes.ns() > 0 {
            self.arrive();
        }
        let Some(first) = self.first_to_move() else { return };
        for unit in (first.0..self.state.board.units.len() as u16).map(UnitId) {
            if !self.has_nothing_to_do(unit) {
                continue;
            }
            for _ in 0..self.policy.known.migration.at_once {
                let Some(migration) = self.policy.steal_write(&self.state.board, unit) else { break };
                self.migrate(migration);
            }
        }
    }

    /// The first unit that has nothing to do, if a write waits anywhere.
    fn first_to_move(&self) -> Option<UnitId> {
        let mut units = (0..self.state.board.units.len() as u16).map(UnitId);
        let writes_wait = self.state.board.units.iter().any(|unit| unit.waiting[1] > 0);
        if writes_wait { units.find(|&unit| self.has_nothing_to_do(unit)) } else { None }
    }

    /// Whether a unit does nothing, nothing waits for it, and nothing is on its way to it.
    fn has_nothing_to_do(&self, unit: UnitId) -> bool {
        let state = &self.state.board.units[unit.index()];
        state.service == Service::Idle
            && state.user_waiting() == 0
            && !state.gc.any()
            && !self.migrations.iter().any(|migration| self.state.board.home_of(migration.to).0 == unit)
    }

    /// Takes a waiting write out of its queue and sends it to that of the unit of `to`.
    fn migrate(&mut self, Migration { write, to }: Migration) {
        self.counters.moved += 1;
        self.withdraw(write);
        let takes = self.policy.known.migration.takes;
        if takes.ns() == 0 {
            self.join_at(write, to);
            return;
        }
        self.state.board.txn_mut(write).stage = Stage::Held;
        let at = self.state.now() + takes;
        self.migrations.push_back(InFlightMigration { at, write, to });
        self.frontend.wake_at(self.migrations[0].at);
    }

    /// Puts the writes that have arrived into their new queues.
    fn arrive(&mut self) {
        while let Some(&InFlightMigration { at, write, to }) = self.migrations.front() {
            if at > self.state.now() {
                self.frontend.wake_at(at);
                return;
            }
            self.migrations.pop_front();
            self.state.board.txn_mut(write).stage = Stage::Waiting;
            self.join_at(write, to);
        }
    }
}
