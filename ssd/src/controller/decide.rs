//! What a unit does next: the pick, collect and preempt decisions put to use.

use alloc::format;

use flashlane_core::board::{Batch, Service, Unit};
use flashlane_core::decide::{Moments, Scope, Turn};
use flashlane_core::transaction::{FlashOp, tag};
use flashlane_core::{Duration, Owner, PlaneId, TxnId, UnitId};

use super::{Device, Fault};

impl Device {
    /// Gives `unit` what it should do at this instant, if anything.
    #[inline(always)]
    pub(super) fn decide(&mut self, unit: UnitId) {
        let Unit { service, gc, .. } = self.board.units[unit.index()];
        match service {
            Service::Idle if gc.any() && self.known.gc_goes_at_once && self.dispatch_gc(unit) => {}
            Service::Idle => self.choose(unit),
            Service::Paused => self.choose_in_pause(unit),
            Service::Busy if self.moments != Moments::Never => self.consider_pause(unit),
            Service::Busy => {}
        }
    }

    /// Begins the only transaction to decide about, a read of an idle unit, unless a unit turns out to have something to
    /// decide as well.
    #[inline(always)]
    pub(super) fn begin_newcomer(&mut self) {
        if !self.agenda.is_empty() {
            self.queue_newcomer();
            return;
        }
        let id = core::mem::replace(&mut self.newcomer, TxnId::NONE);
        self.dispatch_newcomer(id);
    }

    /// An idle unit: garbage collection or user transactions.
    #[inline(never)]
    fn choose(&mut self, unit: UnitId) {
        let Unit { waiting: [reads, programs], gc, .. } = self.board.units[unit.index()];
        let (user_waiting, gc_waits) = (reads + programs, gc.any());
        if user_waiting == 0 && !gc_waits || self.flash.must_wait_for_bus(unit, self.board.now) {
            return;
        }
        if self.board.units[unit.index()].batch.open && self.continue_batch(unit) {
            return;
        }
        if self.known.lone_transactions_go && !gc_waits && user_waiting == 1 && self.begin_lone(unit) {
            return;
        }
        if gc_waits && self.is_turn_of_gc(unit) && self.dispatch_gc(unit) {
            return;
        }
        self.group.clear();
        self.scheduler.pick.pick(&self.board, unit, Scope::Any, &mut self.group);
        let lead = self.group.lead();
        if lead.is_none() {
            self.dispatch_gc(unit);
            return;
        }
        if !self.static_place && self.reroute_moved_reads() {
            self.agenda.mark(unit);
            return;
        }
        let txn = self.board.txn(lead);
        if txn.op == FlashOp::Program {
            if self.board.facts.writes_pay && self.pay(unit, lead) {
                return;
            }
            let plane = self.board.txn(lead).plane;
            if !self.board.plane(plane).room {
                self.make_room(unit, plane);
                return;
            }
        }
        self.dispatch(unit);
    }

    /// Whether garbage collection goes before user transactions at a free unit that has both.
    #[inline(always)]
    fn is_turn_of_gc(&mut self, unit: UnitId) -> bool {
        self.known.gc_first || self.scheduler.collect.turn(&self.board, unit) == Turn::Gc
    }

    /// Does the garbage collection that goes before the picked write, if it has not paid yet. Whether any began.
    fn pay(&mut self, unit: UnitId, write: TxnId) -> bool {
        let state = &self.board.units[unit.index()];
        if state.batch.write == write || !state.gc.any() {
            return false;
        }
        let debt = self.scheduler.collect.debt(&self.board, write);
        self.tally.forced_batches += u64::from(debt.forced);
        self.board.units[unit.index()].batch = Batch { open: debt.due, pairs: debt.pairs, write };
        let picked = self.group.clone();
        if debt.due && self.continue_batch(unit) {
            return true;
        }
        self.group = picked;
        false
    }

    /// The next step of the garbage collection before a write: moves under way first, then an empty victim's erase, then
    /// the next move. False, and the batch closed, when nothing is left of it.
    fn continue_batch(&mut self, unit: UnitId) -> bool {
        let pairs = self.board.units[unit.index()].batch.pairs;
        if self.finish_moves(unit) {
            return true;
        }
        if pairs > 0 && self.begin_read(unit) {
            self.board.units[unit.index()].batch.pairs -= 1;
            return true;
        }
        // Stale moves may have left a victim empty.
        if self.begin_erase(unit) {
            return true;
        }
        let batch = &mut self.board.units[unit.index()].batch;
        (batch.open, batch.pairs) = (false, 0);
        false
    }

    /// Begins the only transaction that waits for the unit, if it may go: any pick decision would.
    #[inline(always)]
    fn begin_lone(&mut self, unit: UnitId) -> bool {
        let read = self.board.first(unit, FlashOp::Read);
        let id = if read.is_some() { read } else { self.board.first(unit, FlashOp::Program) };
        let txn = self.board.txn(id);
        let may_go = txn.op == FlashOp::Read || (txn.unobstructed() && self.board.plane(txn.plane).room);
        if may_go {
            self.dispatch_lone(unit, id);
        }
        may_go
    }

    /// The chosen program has no page to go to: collect first, serve reads if even that is impossible.
    fn make_room(&mut self, unit: UnitId, plane: PlaneId) {
        self.tally.room_stalls += 1;
        self.start_collection(plane);
        if self.board.plane(plane).room {
            self.agenda.mark(unit);
            return;
        }
        if self.dispatch_gc(unit) {
            return;
        }
        self.group.clear();
        self.scheduler.pick.pick(&self.board, unit, Scope::Reads, &mut self.group);
        if self.group.lead().is_some() {
            if !self.static_place && self.reroute_moved_reads() {
                self.agenda.mark(unit);
            } else {
                self.dispatch(unit);
            }
            return;
        }
        let (free, reclaimable, full) = self.ftl.census(plane);
        let place = self.board.facts.geometry.place_of(plane);
        self.fault = Some(Fault {
            at: self.board.now,
            message: format!(
                "drive out of space: plane {} (channel {}, chip {}, die {}, plane {}) has a write waiting but {} free \
                 block(s), {} sealed block(s) with an invalid page and {} sealed block(s) all valid, so garbage \
                 collection cannot free a page; lower the user capacity or raise over-provisioning",
                plane.0, place.channel, place.chip, place.die, place.plane, free, reclaimable, full
            ),
        });
    }

    /// A free unit with a paused command: a waiting read first, or on with the paused one.
    #[inline(never)]
    fn choose_in_pause(&mut self, unit: UnitId) {
        let read = self.board.first(unit, FlashOp::Read);
        if read.is_some()
            && let Some(charge) = self.scheduler.preempt.serve(&self.board, unit, read)
        {
            let paused = self.board.units[unit.index()].paused.lead;
            if self.known.lone_transactions_go && self.board.waiting(unit, FlashOp::Read) == 1 {
                self.charge(paused, charge);
                self.board.txn_mut(read).tag |= tag::IN_PAUSE;
                self.dispatch_one(unit, read);
                return;
            }
            self.group.clear();
            self.scheduler.pick.pick(&self.board, unit, Scope::Reads, &mut self.group);
            if !self.static_place && self.reroute_moved_reads() {
                self.agenda.mark(unit);
                return;
            }
            if self.group.lead().is_some() {
                self.charge(paused, charge);
                for &member in self.group.members() {
                    self.board.txns[member.index()].tag |= tag::IN_PAUSE;
                }
                self.dispatch(unit);
                return;
            }
        }
        self.flash.resume(unit, &mut self.board, &mut self.log);
        if read.is_some() {
            self.watch_boundaries(unit, read);
        }
    }

    /// A busy unit, with a read that may be waiting behind a program or erase.
    #[inline(never)]
    fn consider_pause(&mut self, unit: UnitId) {
        let state = &self.board.units[unit.index()];
        let command = &state.command;
        if !command.in_array || state.paused.lead.is_some() || command.ends <= self.board.now {
            return;
        }
        if command.owner == Owner::Gc && (!self.suspensions_of_gc || state.batch.open) {
            return;
        }
        if self.moments == Moments::Boundary && command.op != FlashOp::Program {
            return;
        }
        let read = self.board.first(unit, FlashOp::Read);
        if read.is_none() {
            return;
        }
        let into = (self.board.now - command.array_from).ns();
        let at_boundary = into > 0 && into.is_multiple_of(self.board.facts.iteration.ns());
        if (self.moments == Moments::Any || at_boundary)
            && let Some(charge) = self.scheduler.preempt.pause(&self.board, unit, read)
        {
            let lead = command.lead;
            self.charge(lead, charge);
            self.flash.pause(unit, &mut self.board, &mut self.log);
            if self.board.units[unit.index()].service == Service::Paused {
                self.choose_in_pause(unit);
            }
            return;
        }
        self.watch_boundaries(unit, read);
    }

    /// Asks to be woken at the next iteration boundary of a program that may be paused for `read`.
    #[inline(always)]
    fn watch_boundaries(&mut self, unit: UnitId, read: TxnId) {
        let command = &self.board.units[unit.index()].command;
        let runs = self.moments == Moments::Boundary && command.in_array;
        if runs && !self.scheduler.preempt.is_vain(&self.board, unit, read) {
            self.flash.arm_boundary(unit, &self.board);
        }
    }

    /// Takes `charge` from the slack of a command's transactions.
    fn charge(&mut self, lead: TxnId, charge: Duration) {
        let mut member = lead;
        while member.is_some() {
            let txn = self.board.txn_mut(member);
            txn.slack -= charge;
            member = txn.next;
        }
    }
}
