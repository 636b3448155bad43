//! Changes of a device while it runs: another scheduler once it has drained, other priorities of flows.
//!
//! A drained device has nothing outstanding and nothing left to do: no command, no program of the buffer and no collection is under way or
//! waits. What its scheduler remembered is gone with the scheduler; everything else stays: pages, blocks, what the buffer holds, counters
//! and generators. So a changed device is one that was built with the new scheduler and is in the same state.

use flashlane_core::decide::Scheduler;
use flashlane_core::{FlowId, Time};

use super::Device;
use super::build::{begin_policy, facts_under};
use super::transactions::Transactions;
use crate::buffer::Buffer;
use crate::config::Config;
use crate::policy::Policy;

impl Device {
    /// Gives the commands of `flow` that enter the device from now on another priority, below the number of priorities of the drive.
    pub fn set_priority(&mut self, flow: FlowId, priority: u8) {
        self.state.board.flows[flow.index()].set_priority(priority);
    }

    /// Processes events up to and including `limit` like [`Device::advance`], but stops at the last of them. From the first call on nothing
    /// may be submitted until it returns true: then the device has drained, at [`Device::now`], or has stopped with a fault.
    pub fn drain(&mut self, limit: Time) -> bool {
        loop {
            // Collections go on while nothing else is to be done, so none waits at the end.
            let next = self.next_event();
            if next > limit || next == Time::NEVER {
                return next == Time::NEVER;
            }
            self.advance(next);
        }
    }

    /// Whether nothing is outstanding, under way or waiting. It may be going to fold blocks in idle time.
    pub(super) fn has_drained(&self) -> bool {
        let waits = self.state.board.units.iter().any(|unit| unit.gc.any());
        self.outstanding() == 0
            && !waits
            && (self.next_instant() == Time::NEVER || self.frontend.awaits_timer() && self.folds_after.is_some())
    }

    /// Later than `at` no fold begins because the device is idle, until its scheduler changes: it is to drain, or will be switched off.
    pub fn end_idle_time(&mut self, at: Time) {
        if self.folds_after.is_some() {
            self.gc.idle_ends = at;
            if self.gc.idle_at > at {
                self.gc.idle_at = Time::NEVER;
            }
            self.frontend.drop_timer_after(at);
            self.set_timer();
        }
    }

    /// Lets `scheduler` decide from now on. The device must have drained, and `config` must be what it was built from.
    pub fn change_scheduler(&mut self, config: &Config, scheduler: Scheduler) {
        debug_assert!(self.has_drained(), "changed before it has drained");
        self.state.board.set_facts(facts_under(config, &scheduler));
        self.state.board.units.iter_mut().for_each(|unit| unit.forget_last_write());
        self.policy = Policy::new(scheduler, config);
        self.gc.set_free(self.policy.known.collects_for_free);
        begin_policy(&mut self.policy, &mut self.ftl, &mut self.state.board, config);
        let known = &self.policy.known;
        self.flash.set_policy(!known.static_place, known.pauses, known.reads_expected_ends);
        if known.places_by_times {
            self.flash.disable_elision();
        }
        self.frontend.set_decision(&config.front, known.needs.decision);
        self.page_order.set_pages_move(!known.static_place);
        let old = &self.transactions;
        let (ended, partial_reads) = (old.ended, old.partial_reads);
        self.transactions = Transactions::new(config, &self.policy.known, &self.state.board, old.address_reads);
        (self.transactions.ended, self.transactions.partial_reads) = (ended, partial_reads);
        if self.gather_none(config) {
            let parts = self.buffer.as_ref().map_or(0, Buffer::parts);
            (0..parts).map(FlowId).for_each(|flow| self.flush_part(flow));
            self.write_back_entries();
        }
        self.gc.idle_ends = Time::NEVER;
        self.await_idle_time();
    }
}
