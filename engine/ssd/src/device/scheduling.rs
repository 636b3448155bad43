//! Scheduling: commands enter the device as the admit decision says, the policy's action for a unit is applied, and a command begins: its
//! members leave their queue, programs get their physical pages, and the flash takes over.

use alloc::format;
use core::mem;

use flashlane_core::board::{ActiveRequest, Service};
use flashlane_core::decide::{Departure, Scope};
use flashlane_core::event::Event;
use flashlane_core::geometry::Geometry;
use flashlane_core::transaction::{FlashOp, Stage, tag};
use flashlane_core::{Board, Duration, Op, PlaneId, Ppa, Time, Transaction, TxnId, UnitId};
use prefetch_index::prefetch_index;

use super::slack::charge_from;
use super::transactions::notify_departure;
use super::{Device, Fault};
use crate::flash::Start;
use crate::frontend::{RequestSlot, WaitingCommands};
use crate::ftl::{BlockCensus, Stream};
use crate::gc::{MovedPage, Need};
use crate::policy::{Action, Admission};

// Admission.

impl Device {
    /// A read or a write enters that the admit decision is not asked about.
    #[inline(always)]
    pub(super) fn enter_at_once(&mut self, slot: RequestSlot, request: &ActiveRequest) {
        self.state.log(|| Event::Admitted { request: request.id });
        self.split_data(slot, request);
    }

    /// The same for one that has crossed the link.
    #[inline(never)]
    pub(super) fn enter_from_link(&mut self, slot: RequestSlot) {
        let request = self.state.board.requests[slot as usize];
        if !(self.transactions.plain & self.policy.known.lone_read_starts && self.read_alone(slot, &request)) {
            self.enter_at_once(slot, &request);
        }
    }

    /// Begins a read of one page at once, without a queue, if its unit has nothing else and nothing else happens at this instant: the decisions
    /// would begin it. Returns whether it did.
    #[inline(always)]
    fn read_alone(&mut self, slot: RequestSlot, request: &ActiveRequest) -> bool {
        if request.op != Op::Read || request.pages != 1 {
            return false;
        }
        let lpn = self.frontend.requests.page(slot, request, 0);
        let unit = self.state.board.home_of(self.ftl.map.plane_of(lpn)).0;
        if !self.is_alone(unit) || self.page_order.youngest_write(lpn).is_some() {
            return false;
        }
        self.transactions.overtaking.enters(request);
        let lead = self.make_read::<true>(slot, request, lpn, 0, None);
        let txn = self.state.board.txn_mut(lead);
        txn.stage = Stage::InService;
        let Transaction { owner, transfer, .. } = *txn;
        let start = Start { lead, members: 1, op: FlashOp::Read, owner, first: transfer, transfers: transfer, row: 0 };
        self.begin_on_flash(unit, start);
        true
    }

    /// Whether `unit` has nothing to do, its bus is free if that matters, and nothing else happens at this instant that anyone follows.
    #[inline(always)]
    fn is_alone(&self, unit: UnitId) -> bool {
        let (state, now) = (&self.state.board.units[unit.index()], self.state.now());
        state.service == Service::Idle
            && state.user_waiting() == 0
            && !(state.gc.any() | state.foreground_gc.is_open() | self.state.log.on | self.state.agenda.open)
            && self.flash.soonest.min(self.frontend.next) > now
            && !(self.flash.waits_for_bus && self.flash.bus_in_use(unit, now))
    }

    /// Fetches the command that the admit decision names, if the device has space. Returns whether there was one; if not, the decision may be
    /// asked again later.
    pub(super) fn admit_next(&mut self) -> bool {
        let mut again = Time::NEVER;
        if self.frontend.queues.could_admit() {
            if self.frontend.queues.has_unqueued()
                && let Some(slot) = self.frontend.fetch_unqueued(&mut self.state)
            {
                self.serve_without_data(slot);
                return true;
            }
            let Device { frontend, ftl, state, policy, buffer, .. } = self;
            let capacity = frontend.queue_capacity;
            let (board, bound_at_dispatch) = (&state.board, policy.known.binds_at_dispatch);
            let full = |slot: RequestSlot, request: &ActiveRequest| {
                capacity != [u32::MAX; 2]
                    && request.op.is_data()
                    && (0..request.pages).any(|i| {
                        let unit = board.home_of(ftl.map.plane_of(frontend.requests.page(slot, request, i))).0;
                        let op = if request.op == Op::Read { FlashOp::Read } else { FlashOp::Program };
                        if bound_at_dispatch && op == FlashOp::Program {
                            // The one queue of writes without a plane has the capacity of all units' write queues together.
                            let waiting = u64::from(board.queues[board.unplaced().index()].len);
                            return waiting >= u64::from(capacity[1]) * board.units.len() as u64;
                        }
                        board.waiting(unit, op) >= capacity[request.op.index()]
                    })
            };
            let missing = |slot: RequestSlot, request: &ActiveRequest| match &*buffer {
                _ if !request.op.is_data() => 0,
                Some(buffer) if request.op == Op::Read || buffer.write_back => {
                    let misses = |i: &u32| !buffer.contains(frontend.requests.page(slot, request, *i));
                    (0..request.pages).filter(misses).count() as u32
                }
                _ => request.pages,
            };
            match policy.admit(board, &WaitingCommands { frontend, board, full, missing }) {
                Admission::Enter(fetch) => {
                    let slot = self.frontend.fetch(fetch, &mut self.state);
                    let request = self.state.board.requests[slot as usize];
                    if request.op.is_data() {
                        self.split_data(slot, &request);
                    } else {
                        self.serve_without_data(slot);
                    }
                    return true;
                }
                Admission::AskAgain(at) => again = at,
            }
        }
        self.frontend.ask_again_at(again);
        false
    }
}

// The action of a unit.

impl Device {
    /// Asks the policy what `unit` does at this instant, and applies it.
    #[inline(always)]
    pub(super) fn decide(&mut self, unit: UnitId) {
        if self.flash.waits_for_bus && self.must_wait_for_bus(unit) {
            return;
        }
        // Asked again when an action began nothing, or leaves the unit with another decision at this instant.
        while self.apply(unit) {}
    }

    /// Whether an idle unit that has something to do must wait for its bus first ([`crate::config::Dispatch::BusIdle`]).
    #[inline]
    fn must_wait_for_bus(&mut self, unit: UnitId) -> bool {
        let state = &self.state.board.units[unit.index()];
        let has_work = state.user_waiting() > 0 || state.gc.any();
        state.service == Service::Idle && has_work && self.flash.must_wait_for_bus(unit, self.state.now())
    }

    /// Applies the policy's action. Returns whether it must be asked again at once.
    #[inline(always)]
    fn apply(&mut self, unit: UnitId) -> bool {
        if self.policy.known.needs.reranks && self.state.board.units[unit.index()].user_waiting() > 1 {
            self.slack.rerank(unit, &mut self.policy, &mut self.transactions.overtaking, &mut self.state.board);
        }
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
                let lead = self.state.board.units[unit.index()].command.lead;
                charge_from(&mut self.state.board, lead, TxnId::NONE, charge);
                self.flash.pause(unit, &mut self.state);
                // If pausing takes no time, the unit is free at once.
                true
            }
            Action::AskAgainAt(at) => {
                self.flash.arm_decision(unit, at, &self.state.board);
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
        if state.foreground_gc.write() == write || !state.gc.any() {
            return false;
        }
        let quota = self.policy.quota(&self.state.board, write);
        self.gc.open_foreground_gc(unit, write, quota, &mut self.state);
        quota.due && self.collect(unit)
    }

    /// Called when the picked program's plane has no free page: collects first, and serves reads if nothing can be collected.
    fn free_a_page(&mut self, unit: UnitId, plane: PlaneId) {
        self.gc.free_page_stalls += 1;
        self.gc.start(plane, Need::Page, &mut self.state, &mut self.ftl);
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
        let lead = self.state.board.units[unit.index()].paused.lead;
        charge_from(&mut self.state.board, lead, TxnId::NONE, charge);
        for &member in self.policy.group.members() {
            self.state.board.txns[member.index()].tag |= tag::IN_PAUSE;
        }
        self.dispatch(unit);
    }

    /// Resumes the paused command. If a read waits, the command may be paused again later.
    fn resume(&mut self, unit: UnitId) {
        self.flash.resume(unit, &mut self.state);
        let board = &self.state.board;
        let read = board.first(unit, FlashOp::Read);
        if read.is_some()
            && let Some(at) = self.policy.asks_again_at(board, unit, read)
        {
            self.flash.arm_decision(unit, at, board);
        }
    }
}

// Dispatch.

impl Device {
    /// Begins the command that the policy picked for `unit`.
    pub(super) fn dispatch(&mut self, unit: UnitId) {
        match *self.policy.group.members() {
            [one] => self.dispatch_one(unit, one, false),
            _ => self.dispatch_several(unit),
        }
    }

    /// Begins a command of one transaction, which may be the only one of the host that waits for the unit.
    #[inline(always)]
    pub(super) fn dispatch_one(&mut self, unit: UnitId, id: TxnId, is_single: bool) {
        if self.policy.notifies_departures {
            notify_departure(id, Departure::Dispatched, &mut self.policy, &mut self.state.board);
        }
        let Transaction { op, owner, transfer, lpn, next, prev, .. } = *self.state.board.txn(id);
        let mut transfers = transfer;
        self.leave_queue(unit, id);
        if !is_single {
            self.transactions.overtaking.note(&mut self.state.board, unit, id, op, prev.is_none());
        }
        self.prefetch_dispatches(next);
        match op {
            FlashOp::Read if self.transactions.address_reads => {
                self.look_up(id, lpn);
                if !is_single {
                    transfers += self.take_along(unit, id);
                }
            }
            FlashOp::Read => {}
            _ => {
                self.state.board.units[unit.index()].foreground_gc.forget(id);
                if self.ftl.wordline > 1 {
                    self.bind_wordline(id);
                } else {
                    self.bind(id);
                }
                self.gc.collect_emptied(&mut self.state, &mut self.ftl);
            }
        }
        self.begin(unit, Start { lead: id, members: 1, op, owner, first: transfer, transfers, row: 0 });
    }

    /// Begins a command of several transactions.
    #[inline(never)]
    fn dispatch_several(&mut self, unit: UnitId) {
        let lead = self.policy.group.lead();
        let Transaction { op, owner, prev, queue, .. } = *self.state.board.txn(lead);
        let refused = match op {
            FlashOp::Read if self.transactions.address_reads => self.look_up_group(),
            FlashOp::Program if self.wordlines.is_some() && self.ftl.has_slc => self.refuse_other_cells(),
            _ => 0,
        };
        if self.policy.notifies_departures {
            self.notify_departures(refused);
        }
        let paid = self.state.board.units[unit.index()].foreground_gc.write();
        if op == FlashOp::Program && paid.is_some() {
            let place = self.policy.group.members().iter().position(|&id| id == paid);
            if place.is_some_and(|place| refused >> place & 1 == 0) {
                self.state.board.units[unit.index()].foreground_gc.forget(paid);
            }
        }
        let mut last = TxnId::NONE;
        let mut members = 0u8;
        let mut were_first = prev.is_none() & self.transactions.overtaking.in_order();
        let (mut first, mut transfers) = (Duration::ZERO, Duration::ZERO);
        for i in 0..self.policy.group.members().len() {
            if refused >> i & 1 == 1 {
                continue;
            }
            let id = self.policy.group.members()[i];
            let slot = self.state.board.txn(id).slot;
            were_first &= self.state.board.by_slot(queue)[slot as usize].first == id;
            self.leave_queue(unit, id);
            transfers += self.state.board.txn(id).transfer;
            if last.is_some() {
                self.state.board.txn_mut(last).next = id;
            } else {
                first = transfers;
            }
            last = id;
            members += 1;
        }
        self.transactions.overtaking.note(&mut self.state.board, unit, lead, op, were_first);
        self.prefetch_dispatches(self.state.board.first(unit, op));
        if op == FlashOp::Read && self.transactions.address_reads {
            transfers += self.take_along(unit, lead);
        }
        if op == FlashOp::Program {
            let mut member = lead;
            while member.is_some() {
                let next = self.state.board.txn(member).next;
                if self.ftl.wordline > 1 {
                    let last = self.bind_wordline(member);
                    self.state.board.txn_mut(last).next = next;
                } else {
                    self.bind(member);
                }
                member = next;
            }
            self.gc.collect_emptied(&mut self.state, &mut self.ftl);
        }
        self.begin(unit, Start { lead, members, op, owner, first, transfers, row: 0 });
    }

    /// Begins a command of garbage collection.
    #[inline(always)]
    pub(super) fn begin_gc(&mut self, unit: UnitId, id: TxnId) {
        let Transaction { op, owner, transfer, .. } = *self.state.board.txn(id);
        // A program of several pages has the transfers of all.
        let row = if op == FlashOp::Read { self.gc.pages_of_command(unit).len() as u32 } else { 0 };
        let transfers = transfer * u64::from(row.max(1));
        self.begin(unit, Start { lead: id, members: 1, op, owner, first: transfer, transfers, row });
    }

    /// Begins a command whose members have their physical pages.
    #[inline(always)]
    fn begin(&mut self, unit: UnitId, start: Start) {
        if self.state.log.on {
            self.report_dispatched(unit, start.lead);
        }
        // Each operation is inlined with a constant `op`, which saves table look-ups.
        match start.op {
            FlashOp::Read => self.begin_on_flash(unit, Start { op: FlashOp::Read, ..start }),
            FlashOp::Program => self.begin_on_flash(unit, Start { op: FlashOp::Program, ..start }),
            FlashOp::Erase => self.begin_on_flash(unit, Start { op: FlashOp::Erase, ..start }),
        }
    }

    #[inline(always)]
    fn begin_on_flash(&mut self, unit: UnitId, start: Start) {
        self.flash.begin(unit, start, &mut self.state);
    }

    /// Takes a transaction out of its queue into service.
    #[inline(always)]
    fn leave_queue(&mut self, unit: UnitId, id: TxnId) {
        self.transactions.overtaking.leave(&mut self.state.board, id);
        let txn = self.state.board.txn_mut(id);
        debug_assert!(txn.unit == unit && txn.stage == Stage::Waiting);
        debug_assert!(txn.blocked_by.is_none(), "dispatched before an older write of its page");
        txn.stage = Stage::InService;
    }

    /// Notifies the order decision that the picked transactions leave their queues, except those whose bit is set in `refused`.
    #[inline(never)]
    fn notify_departures(&mut self, refused: u64) {
        for i in 0..self.policy.group.members().len() {
            if refused >> i & 1 == 0 {
                let id = self.policy.group.members()[i];
                notify_departure(id, Departure::Dispatched, &mut self.policy, &mut self.state.board);
            }
        }
    }

    /// Looks up where the pages of the picked reads are now: garbage collection may have moved them since the reads were queued.
    /// Returns the reads that may not share a command with those before them, one bit for each in the group's order.
    #[cold]
    fn look_up_group(&mut self) -> u64 {
        let mut refused = 0u64;
        let board = &self.state.board;
        let geometry = board.facts.geometry;
        let planes = board.slots_of_die(FlashOp::Read);
        let same_page = board.facts.same_page[FlashOp::Read.index()];
        let checks = same_page || geometry.row_planes > 1;
        for i in 0..self.policy.group.members().len() {
            let id = self.policy.group.members()[i];
            self.look_up(id, self.state.board.txn(id).lpn);
            let board = &self.state.board;
            let txn = board.txn(id);
            let clashes = |(j, other): (usize, &TxnId)| {
                let other = board.txn(*other);
                let is_other_row = geometry.row_in_block(other.ppa) != geometry.row_in_block(txn.ppa);
                let breaks_rule = same_page && other.slot / planes == txn.slot / planes && is_other_row;
                refused >> j & 1 == 0 && (breaks_rule || flash_plane(&geometry, other) == flash_plane(&geometry, txn))
            };
            if checks && self.policy.group.members()[..i].iter().enumerate().any(clashes) {
                refused |= 1 << i;
            }
        }
        refused
    }

    /// Gives a program its physical page, and starts to collect its plane if needed.
    #[inline(always)]
    fn bind(&mut self, id: TxnId) {
        let plane = self.bind_page(id, false);
        self.gc.page_written(plane, Stream::User, &mut self.state, &mut self.ftl);
    }

    /// Prefetches what the next dispatches from the queue of `next` will read: the second transaction of each plane; if `next` is
    /// a program, the page that its map entry leads to; and for a program behind `next`, its map entry.
    #[inline(always)]
    fn prefetch_dispatches(&self, next: TxnId) {
        if next.is_none() {
            return;
        }
        let board = &self.state.board;
        let Transaction { next: second, lpn, op, queue, .. } = *board.txn(next);
        for list in board.by_slot(queue) {
            prefetch_index(&board.txns, board.second(list).index());
        }
        if op == FlashOp::Program {
            self.ftl.prefetch_copy(lpn);
        }
        if second.is_some() {
            let Transaction { lpn, op, .. } = *board.txn(second);
            if op == FlashOp::Program {
                self.ftl.map.prefetch(lpn);
            }
        }
    }

    /// Logs the members of a command about to begin.
    fn report_dispatched(&mut self, unit: UnitId, lead: TxnId) {
        let command = self.flash.next_serial();
        let Transaction { owner, slack, .. } = *self.state.board.txn(lead);
        if owner.collects() && !self.gc.pages_of_command(unit).is_empty() {
            for &MovedPage { serial: txn, ppa, .. } in self.gc.pages_of_command(unit) {
                self.state.log(|| Event::Dispatched { txn, command, unit, ppa: ppa.0, slack });
            }
            return;
        }
        let mut member = lead;
        while member.is_some() {
            let txn = self.state.board.txn(member);
            let is_recorded = self.transactions.address_reads
                || txn.op != FlashOp::Read
                || txn.owner.collects()
                || self.page_order.keeps_copy(member);
            let ppa = if is_recorded { txn.ppa } else { self.ftl.map.lookup(txn.lpn).0 };
            let (txn, slack, next) = (txn.serial, txn.slack, txn.next);
            self.state.log(|| Event::Dispatched { txn, command, unit, ppa, slack });
            member = next;
        }
    }
}

// Reads of a row (model 0.16): the array reads it once for all pages of it that a request asks for. Where it spans planes, those that read another row in the
// same command are left out.

impl Device {
    /// Lets waiting reads begin with the members of a command, `lead` and those that follow it: those of the same request whose pages lie in the
    /// member's row. Returns the bus time of their pages. They follow their member in the command, in the order of their request.
    fn take_along(&mut self, unit: UnitId, lead: TxnId) -> Duration {
        let mut transfers = Duration::ZERO;
        let mut member = if self.state.board.facts.geometry.slots > 1 { lead } else { TxnId::NONE };
        while member.is_some() {
            let next = self.state.board.txn(member).next;
            transfers += self.take_row_along(unit, lead, member, next);
            member = next;
        }
        transfers
    }

    /// The same for one member of the command of `lead`, which `next` follows.
    #[cold]
    fn take_row_along(&mut self, unit: UnitId, lead: TxnId, member: TxnId, next: TxnId) -> Duration {
        let mut row = mem::take(&mut self.transactions.row);
        let board = &self.state.board;
        let Transaction { request, plane, tag: member_tag, .. } = *board.txn(member);
        if board.request(member).is_some_and(|request| request.pages > 1) {
            let waits = |id: &TxnId| {
                let txn = board.txn(*id);
                txn.op == FlashOp::Read && txn.stage == Stage::Waiting && txn.plane == plane && board.eligible(*id)
            };
            row.extend(board.transactions_of(request).filter(waits));
        }
        let mut transfers = Duration::ZERO;
        let mut last = member;
        // The youngest is the first of the list.
        for id in row.drain(..).rev() {
            self.look_up(id, self.state.board.txn(id).lpn);
            let board = &self.state.board;
            let of = |id: TxnId| board.facts.geometry.row_of(Ppa(board.txn(id).ppa));
            if of(id) != of(member) || board.facts.geometry.row_planes > 1 && reads_other_row(board, lead, id) {
                continue;
            }
            if self.policy.notifies_departures {
                notify_departure(id, Departure::Dispatched, &mut self.policy, &mut self.state.board);
            }
            self.leave_queue(unit, id);
            self.state.board.txn_mut(last).next = id;
            let txn = self.state.board.txn_mut(id);
            (txn.tag, txn.next) = (txn.tag | member_tag & tag::IN_PAUSE, next);
            transfers += txn.transfer;
            last = id;
        }
        self.transactions.row = row;
        transfers
    }
}

/// The plane of the flash in which the page of a read lies.
fn flash_plane(geometry: &Geometry, read: &Transaction) -> (PlaneId, u32) {
    (read.plane, geometry.plane_in_row(read.ppa))
}

/// Whether a member of the command of `lead` reads another row of the plane of the flash that `id` would read.
fn reads_other_row(board: &Board, lead: TxnId, id: TxnId) -> bool {
    let geometry = &board.facts.geometry;
    let of = |txn: &Transaction| (flash_plane(geometry, txn), geometry.row_of(Ppa(txn.ppa)));
    let (plane, row) = of(board.txn(id));
    let following = |&id: &TxnId| Some(board.txn(id).next).filter(|next| next.is_some());
    let mut members = core::iter::successors(Some(lead), following).map(|id| of(board.txn(id)));
    members.any(|(its_plane, its_row)| its_plane == plane && its_row != row)
}
