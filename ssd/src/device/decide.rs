//! Applies the policy's action for a unit.

use alloc::format;

use flashlane_core::board::Service;
use flashlane_core::decide::Scope;
use flashlane_core::transaction::{FlashOp, tag};
use flashlane_core::{Duration, PlaneId, TxnId, UnitId};

use super::{Device, Fault};
use crate::ftl::BlockCensus;
use crate::policy::Action;

impl Device {
    /// Asks the policy what `unit` does at this instant, and applies it.
    #[inline(always)]
    pub(super) fn decide(&mut self, unit: UnitId) {
        if self.flash.waits_for_bus() && self.must_wait_for_bus(unit) {
            return;
        }
        // Asked again when an action began nothing, or leaves the unit with another decision at this instant.
        while self.apply(unit) {}
    }

    /// Whether an idle unit that has something to do must wait for its bus first ([`crate::config::Dispatch::BusIdle`]).
    #[cold]
    fn must_wait_for_bus(&mut self, unit: UnitId) -> bool {
        let state = &self.state.board.units[unit.index()];
        let has_work = state.user_waiting() > 0 || state.gc.any();
        state.service == Service::Idle && has_work && self.flash.must_wait_for_bus(unit, self.state.now())
    }

    /// Applies the policy's action. Returns whether it must be asked again at once.
    #[inline(always)]
    fn apply(&mut self, unit: UnitId) -> bool {
        match self.policy.next(&self.state.board, unit) {
            Action::Stay => false,
            // If none began, all waiting moves were stale, or the collection before a write is finished.
            Action::Collect => !self.collect(unit),
            Action::StartOne(id) => {
                self.dispatch_one(unit, id, true);
                false
            }
            Action::Start => {
                self.start(unit);
                false
            }
            Action::StartInPause(charge) => {
                self.start_in_pause(unit, charge);
                false
            }
            Action::Pause(charge) => {
                self.charge_command(self.state.board.units[unit.index()].command.lead, charge);
                self.flash.pause(unit, &mut self.state);
                // If pausing takes no time, the unit is free at once.
                true
            }
            Action::AskAtBoundary => {
                self.flash.arm_boundary(unit, &self.state.board);
                false
            }
            Action::Resume => {
                self.resume(unit);
                false
            }
        }
    }

    /// Begins the unit's next command of garbage collection. Returns whether there was one.
    #[inline(always)]
    fn collect(&mut self, unit: UnitId) -> bool {
        let id = self.gc.next_transaction(unit, &mut self.state, &mut self.ftl);
        if id.is_some() {
            self.begin_gc(unit, id);
        }
        id.is_some()
    }

    /// Begins the picked transactions. First, a write may trigger garbage collection, and its plane must have a free page.
    #[inline(always)]
    fn start(&mut self, unit: UnitId) {
        let lead = self.policy.group.lead();
        let txn = self.state.board.txn(lead);
        if txn.op == FlashOp::Program {
            let plane = txn.plane;
            if self.state.board.facts.write_triggered_gc && self.collect_for_write(unit, lead) {
                return;
            }
            if !self.state.board.plane(plane).has_free_page {
                self.free_a_page(unit, plane);
                return;
            }
        }
        self.dispatch(unit);
    }

    /// Begins the garbage collection that goes before the picked write, unless the write has triggered it already. Returns whether any began.
    fn collect_for_write(&mut self, unit: UnitId, write: TxnId) -> bool {
        let state = &self.state.board.units[unit.index()];
        if state.foreground_gc.write == write || !state.gc.any() {
            return false;
        }
        let quota = self.policy.quota(&self.state.board, write);
        self.gc.open_foreground_gc(unit, write, quota, &mut self.state);
        quota.due && self.collect(unit)
    }

    /// Called when the picked program's plane has no free page: collects first, and serves reads if nothing can be collected.
    fn free_a_page(&mut self, unit: UnitId, plane: PlaneId) {
        self.counters.free_page_stalls += 1;
        self.gc.start(plane, &mut self.state, &mut self.ftl);
        if self.state.board.plane(plane).has_free_page {
            self.state.mark(unit);
            return;
        }
        if self.collect(unit) {
            return;
        }
        self.policy.pick(&self.state.board, unit, Scope::Reads);
        if self.policy.group.lead().is_none() {
            self.out_of_space(plane);
        } else {
            self.dispatch(unit);
        }
    }

    /// Stops the device: a write waits for a page of `plane`, and nothing can free one.
    #[cold]
    fn out_of_space(&mut self, plane: PlaneId) {
        let BlockCensus { free, reclaimable, full } = self.ftl.census(plane);
        let place = self.state.board.facts.geometry.place_of(plane);
        self.fault = Some(Fault {
            at: self.state.now(),
            message: format!(
                "drive out of space: plane {} (channel {}, chip {}, die {}, plane {}) has a write waiting but {} free \
                 block(s), {} sealed block(s) with an invalid page and {} sealed block(s) all valid, so garbage \
                 collection cannot free a page; lower the user capacity or raise over-provisioning",
                plane.0, place.channel, place.chip, place.die, place.plane, free, reclaimable, full
            ),
        });
    }

    /// Begins the picked reads while another command is paused; `charge` is taken from the slack of its transactions.
    fn start_in_pause(&mut self, unit: UnitId, charge: Duration) {
        self.charge_command(self.state.board.units[unit.index()].paused.lead, charge);
        for &member in self.policy.group.members() {
            self.state.board.txns[member.index()].tag |= tag::IN_PAUSE;
        }
        self.dispatch(unit);
    }

    /// Resumes the paused command. If a read waits, the command may be paused again at an iteration boundary.
    fn resume(&mut self, unit: UnitId) {
        self.flash.resume(unit, &mut self.state);
        let board = &self.state.board;
        let read = board.first(unit, FlashOp::Read);
        if read.is_some() && self.policy.asks_at_boundary(board, unit, read) {
            self.flash.arm_boundary(unit, board);
        }
    }

    /// Takes `charge` from the slack of a command's transactions.
    fn charge_command(&mut self, lead: TxnId, charge: Duration) {
        let mut member = lead;
        while member.is_some() {
            let txn = self.state.board.txn_mut(member);
            txn.slack -= charge;
            member = txn.next;
        }
    }
}
