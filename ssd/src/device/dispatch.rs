//! Dispatch of a command: its members leave their queue, programs get their physical pages, and the flash begins it.

use flashlane_core::decide::Departure;
use flashlane_core::event::Event;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, Owner, Transaction, TxnId, UnitId};
use prefetch_index::prefetch_index;

use super::Device;
use crate::flash::array::Start;
use crate::ftl::Stream;

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
        if self.policy.notifies_departures() {
            self.notify_departure(id, Departure::Dispatched);
        }
        let Transaction { op, owner, transfer, lpn, next, prev, .. } = *self.state.board.txn(id);
        self.leave_queue(unit, id);
        if !is_single {
            self.note_overtaking(unit, id, op, prev.is_none());
        }
        self.prefetch_dispatches(next);
        match op {
            FlashOp::Read => self.look_up(id, lpn),
            _ => {
                let paid = &mut self.state.board.units[unit.index()].foreground_gc.write;
                if *paid == id {
                    *paid = TxnId::NONE;
                }
                self.bind(id);
                self.gc.collect_emptied(&mut self.state, &mut self.ftl);
            }
        }
        self.begin(unit, Start { lead: id, members: 1, op, owner, first: transfer, transfers: transfer });
    }

    /// Begins a command of several transactions.
    #[inline(never)]
    fn dispatch_several(&mut self, unit: UnitId) {
        let lead = self.policy.group.lead();
        let Transaction { op, owner, prev, queue, .. } = *self.state.board.txn(lead);
        let refused = if op == FlashOp::Read && self.address_reads { self.look_up_group() } else { 0 };
        if self.policy.notifies_departures() {
            self.notify_departures(refused);
        }
        let paid = self.state.board.units[unit.index()].foreground_gc.write;
        if op == FlashOp::Program && paid.is_some() && self.policy.group.members().contains(&paid) {
            self.state.board.units[unit.index()].foreground_gc.write = TxnId::NONE;
        }
        let mut last = TxnId::NONE;
        let mut members = 0u8;
        let mut were_first = prev.is_none() & self.overtaking.in_order();
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
        self.note_overtaking(unit, lead, op, were_first);
        self.prefetch_dispatches(self.state.board.first(unit, op));
        if op == FlashOp::Program {
            let mut member = lead;
            while member.is_some() {
                let next = self.state.board.txn(member).next;
                self.bind(member);
                member = next;
            }
            self.gc.collect_emptied(&mut self.state, &mut self.ftl);
        }
        self.begin(unit, Start { lead, members, op, owner, first, transfers });
    }

    /// Begins a command of garbage collection.
    #[inline(always)]
    pub(super) fn begin_gc(&mut self, unit: UnitId, id: TxnId) {
        let Transaction { op, transfer, .. } = *self.state.board.txn(id);
        self.begin(unit, Start { lead: id, members: 1, op, owner: Owner::Gc, first: transfer, transfers: transfer });
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
        self.state.board.units[unit.index()].count(start.members, start.op, start.owner);
        self.flash.begin(unit, start, &mut self.state);
    }

    /// Takes a transaction out of its queue into service.
    #[inline(always)]
    fn leave_queue(&mut self, unit: UnitId, id: TxnId) {
        let txn = self.leave(id);
        debug_assert!(txn.unit == unit && txn.stage == Stage::Waiting);
        debug_assert!(txn.blocked_by.is_none(), "dispatched before an older write of its page");
        txn.stage = Stage::InService;
    }

    /// Notifies the order decision that the picked transactions leave their queues, except those whose bit is set in `refused`.
    #[inline(never)]
    fn notify_departures(&mut self, refused: u64) {
        for i in 0..self.policy.group.members().len() {
            if refused >> i & 1 == 0 {
                self.notify_departure(self.policy.group.members()[i], Departure::Dispatched);
            }
        }
    }

    /// Looks up where the pages of the picked reads are now: garbage collection may have moved them since the reads were queued.
    /// Returns the reads that may not share a command with those before them, one bit for each in the group's order.
    #[cold]
    fn look_up_group(&mut self) -> u64 {
        let mut refused = 0u64;
        let board = &self.state.board;
        let (planes, pages) = (board.facts.geometry.planes_per_die as u8, board.facts.geometry.pages_per_block);
        let same_page = board.facts.same_page[FlashOp::Read.index()];
        for i in 0..self.policy.group.members().len() {
            let id = self.policy.group.members()[i];
            self.look_up(id, self.state.board.txn(id).lpn);
            let board = &self.state.board;
            let Transaction { slot, ppa, .. } = *board.txn(id);
            let clashes = |(j, other): (usize, &TxnId)| {
                let other = board.txn(*other);
                refused >> j & 1 == 0 && other.slot / planes == slot / planes && other.ppa % pages != ppa % pages
            };
            if same_page && self.policy.group.members()[..i].iter().enumerate().any(clashes) {
                refused |= 1 << i;
            }
        }
        refused
    }

    /// Gives a program its physical page, maps its logical page there, and releases the next waiting write of the same page.
    #[inline(always)]
    fn bind(&mut self, id: TxnId) {
        let Transaction { lpn, plane, flow, unblocks, .. } = *self.state.board.txn(id);
        // The entry is removed when the program ends.
        self.writes.prefetch(lpn);
        let left = if self.policy.is_place_static() { plane } else { self.ftl.plane_of(lpn) };
        if left != plane {
            self.keep_copies(lpn);
        }
        let ppa = self.ftl.write(lpn, plane).expect("the free page was checked");
        let board = &mut self.state.board;
        board.txn_mut(id).ppa = ppa.0;
        self.ftl.claim(lpn, flow, board);
        board.flows[flow.index()].programmed += 1;
        if unblocks.is_some() {
            board.txn_mut(id).unblocks = TxnId::NONE;
            board.txn_mut(unblocks).blocked_by = TxnId::NONE;
            let waiter = board.txn(unblocks).unit;
            self.state.mark(waiter);
        }
        self.state.log(|| Event::Mapped { lpn, plane, ppa: ppa.0 });
        self.gc.page_written(plane, Stream::User, &mut self.state, &mut self.ftl);
        if left != plane {
            self.gc.page_left(left, &self.ftl);
        }
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
                self.ftl.prefetch(lpn);
            }
        }
    }

    /// Logs the members of a command about to begin.
    fn report_dispatched(&mut self, unit: UnitId, lead: TxnId) {
        let command = self.flash.next_serial();
        let mut member = lead;
        while member.is_some() {
            let txn = self.state.board.txn(member);
            let is_recorded = self.address_reads || txn.op != FlashOp::Read || txn.owner == Owner::Gc;
            let ppa = if is_recorded { txn.ppa } else { self.ftl.lookup(txn.lpn).0 };
            let (txn, slack, next) = (txn.serial, txn.slack, txn.next);
            self.state.log(|| Event::Dispatched { txn, command, unit, ppa, slack });
            member = next;
        }
    }
}
