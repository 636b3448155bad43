//! Waiting writes that move to units with nothing to do (SOS, model 4.1.2). They have no physical page yet, so a move costs none
//! (D-SOS-03).

use alloc::collections::VecDeque;

use flashlane_core::board::Service;
use flashlane_core::decide::Placement;
use flashlane_core::transaction::{FlashOp, held};
use flashlane_core::{Board, PlaneId, Time, TxnId, UnitId};

use super::transactions::{Transactions, hold, may_queue};
use crate::frontend::Frontend;
use crate::policy::Policy;
use crate::shared::State;

/// A write on its way to another unit's queue, where a move takes time.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    at: Time,
    write: TxnId,
    to: PlaneId,
}

/// Writes that move.
#[derive(Default, Debug)]
pub(super) struct Migrations {
    /// Those on their way, in the order in which they arrive.
    in_flight: VecDeque<InFlight>,
    /// How many have moved.
    pub(super) moved: u64,
}

/// What moves are made with.
pub(super) struct Parts<'a> {
    pub(super) policy: &'a mut Policy,
    pub(super) transactions: &'a mut Transactions,
    pub(super) frontend: &'a mut Frontend,
    pub(super) state: &'a mut State,
}

impl Migrations {
    /// Asks for every unit that has nothing to do which writes move to it, and moves them.
    pub(super) fn rebalance(&mut self, mut with: Parts<'_>) {
        let limits = with.policy.known.migration;
        if limits.takes.ns() > 0 {
            self.arrive(&mut with);
        }
        let Some(first) = self.first_to_move(&with.state.board) else { return };
        for unit in (first.0..with.state.board.units.len() as u16).map(UnitId) {
            if !self.has_nothing_to_do(unit, &with.state.board) {
                continue;
            }
            for _ in 0..limits.at_once {
                let Some(migration) = with.policy.steal_write(&with.state.board, unit) else { break };
                self.migrate(migration, &mut with);
            }
        }
    }

    /// Whether any write is on its way to another unit.
    pub(super) fn any(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// The first unit that has nothing to do, if a write waits anywhere.
    fn first_to_move(&self, board: &Board) -> Option<UnitId> {
        let mut units = (0..board.units.len() as u16).map(UnitId);
        let writes_wait = board.units.iter().any(|unit| unit.waiting(FlashOp::Program) > 0);
        if writes_wait { units.find(|&unit| self.has_nothing_to_do(unit, board)) } else { None }
    }

    /// Whether a unit does nothing, nothing waits for it, and nothing is on its way to it.
    fn has_nothing_to_do(&self, unit: UnitId, board: &Board) -> bool {
        let of_unit = &board.units[unit.index()];
        of_unit.service == Service::Idle
            && of_unit.user_waiting() == 0
            && !of_unit.gc.any()
            && !self.in_flight.iter().any(|migration| board.home_of(migration.to).0 == unit)
    }

    /// Takes a waiting write out of its queue and sends it to that of the unit of `to`.
    fn migrate(&mut self, Placement { write, to }: Placement, with: &mut Parts<'_>) {
        let Parts { policy, transactions, frontend, state } = with;
        self.moved += 1;
        transactions.withdraw(write, policy, state);
        let takes = policy.known.migration.takes;
        if takes.ns() == 0 {
            transactions.join_at(write, to, policy, state);
            return;
        }
        hold(write, held::MOVING, &mut state.board);
        let at = state.now() + takes;
        self.in_flight.push_back(InFlight { at, write, to });
        frontend.wake_at(self.in_flight[0].at);
    }

    /// Puts the writes that have arrived into their new queues.
    fn arrive(&mut self, Parts { policy, transactions, frontend, state }: &mut Parts<'_>) {
        while let Some(&InFlight { at, write, to }) = self.in_flight.front() {
            if at > state.now() {
                frontend.wake_at(at);
                return;
            }
            self.in_flight.pop_front();
            if may_queue(write, held::MOVING, state) {
                transactions.join_at(write, to, policy, state);
            }
        }
    }
}
