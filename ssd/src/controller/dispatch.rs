//! Beginning a command: the members leave their queue, programs get their physical pages, the flash starts.

use flashlane_core::decide::Departure;
use flashlane_core::event::Event;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, Lpn, Owner, PlaneId, Ppa, Transaction, TxnId, UnitId};

use prefetch_index::prefetch_index;

use super::Device;
use crate::flash::array::Start;
use crate::ftl::Stream;

/// A transaction that has left its queue is in service; returns it.
#[inline(always)]
fn serve(txn: &mut Transaction) -> Transaction {
    debug_assert!(txn.stage == Stage::Waiting);
    debug_assert!(txn.after.is_none(), "dispatched before an older write of its page");
    txn.stage = Stage::InService;
    *txn
}

impl Device {
    /// Begins the command in `self.group` at `unit`.
    pub(super) fn dispatch(&mut self, unit: UnitId) {
        match *self.group.members() {
            [one] => self.dispatch_one(unit, one),
            _ => self.dispatch_several(unit),
        }
    }

    /// Begins a command of one transaction.
    pub(super) fn dispatch_one(&mut self, unit: UnitId, id: TxnId) {
        if self.hears_departures {
            self.tell_of_departure(id, Departure::Dispatched);
        }
        let next = self.board.txn(id).next;
        let txn = serve(self.board.unlink(id));
        self.expect_dispatch(next);
        self.begin_alone(unit, id, &txn);
    }

    /// Has the memory fetch what the dispatches of `next`, if that is a transaction, and of those behind it are going to need,
    /// each for the step after: for each plane the one behind the foremost, the second one's map entry, and the first one's page
    /// that its entry leads to.
    #[inline(always)]
    fn expect_dispatch(&self, next: TxnId) {
        if next.is_none() {
            return;
        }
        let Transaction { next: second, lpn, op, queue, .. } = *self.board.txn(next);
        for line in self.board.by_slot(queue) {
            prefetch_index(&self.board.txns, self.board.second(line).index());
        }
        if op == FlashOp::Program {
            self.ftl.expect_copy(lpn);
        }
        if second.is_some() {
            let Transaction { lpn, op, .. } = *self.board.txn(second);
            if op == FlashOp::Program {
                self.ftl.expect(lpn);
            }
        }
    }

    /// The same for the only transaction that waits for the unit.
    #[inline(always)]
    pub(super) fn dispatch_lone(&mut self, unit: UnitId, id: TxnId) {
        if self.hears_departures {
            self.tell_of_departure(id, Departure::Dispatched);
        }
        let txn = serve(self.board.unlink_lone(id));
        self.begin_alone(unit, id, &txn);
    }

    /// The same for one that never stood in a queue.
    #[inline(always)]
    pub(super) fn dispatch_newcomer(&mut self, id: TxnId) {
        let Transaction { unit, owner, transfer, lpn, .. } = serve(self.board.txn_mut(id));
        self.address(id, lpn);
        let op = FlashOp::Read;
        self.begin(unit, Start { lead: id, members: 1, op, owner, first: transfer, transfers: transfer });
    }

    /// Notes where the page of a read lies now, if that matters to anything.
    #[inline(always)]
    pub(super) fn address(&mut self, id: TxnId, lpn: Lpn) {
        if self.address_reads {
            self.board.txn_mut(id).ppa = self.ftl.lookup(lpn).0;
        }
    }

    /// Begins a command of one transaction that has left its queue.
    #[inline(always)]
    fn begin_alone(&mut self, unit: UnitId, id: TxnId, txn: &Transaction) {
        debug_assert!(txn.unit == unit);
        let Transaction { op, owner, transfer, lpn, request, .. } = *txn;
        self.slots.expect(request);
        if op == FlashOp::Read {
            self.address(id, lpn);
        }
        if op == FlashOp::Program {
            let paid = &mut self.board.units[unit.index()].batch.write;
            if *paid == id {
                *paid = TxnId::NONE;
            }
            self.bind(id);
            self.collect_emptied();
        }
        self.begin(unit, Start { lead: id, members: 1, op, owner, first: transfer, transfers: transfer });
    }

    /// Begins a command, its members bound to their pages.
    #[inline(always)]
    fn begin(&mut self, unit: UnitId, start: Start) {
        if self.log.on {
            self.report(unit, start.lead);
        }
        self.flash.begin(unit, start, &mut self.board, &mut self.agenda, &mut self.log);
    }

    /// Begins a command of garbage collection.
    #[inline(always)]
    pub(super) fn begin_gc(&mut self, unit: UnitId, id: TxnId, op: FlashOp, transfer: Duration) {
        self.begin(unit, Start { lead: id, members: 1, op, owner: Owner::Gc, first: transfer, transfers: transfer });
    }

    /// A program for `stream` has its page.
    #[inline(always)]
    pub(super) fn mapped(&mut self, lpn: Lpn, plane: PlaneId, ppa: Ppa, stream: Stream) {
        self.log.push(self.board.now, || Event::Mapped { lpn, plane, ppa: ppa.0 });
        if !self.ftl.show_page(&mut self.board, plane, stream) {
            self.plane_turned(plane);
        }
    }

    /// A plane has opened or filled a block, or found no victim lately.
    #[cold]
    fn plane_turned(&mut self, plane: PlaneId) {
        self.ftl.show(&mut self.board, plane);
        if self.ftl.wants_collection(plane) {
            self.start_collection(plane);
        }
    }

    /// Begins a command of several transactions.
    #[inline(never)]
    fn dispatch_several(&mut self, unit: UnitId) {
        let lead = self.group.lead();
        let Transaction { op, owner, .. } = *self.board.txn(lead);
        let refused = if op == FlashOp::Read && self.address_reads { self.look_up() } else { 0 };
        if self.hears_departures {
            self.tell_of_departures(refused);
        }
        let paid = self.board.units[unit.index()].batch.write;
        if op == FlashOp::Program && paid.is_some() && self.group.members().contains(&paid) {
            self.board.units[unit.index()].batch.write = TxnId::NONE;
        }
        let mut last = TxnId::NONE;
        let mut members = 0u8;
        let mut transfers = Duration::ZERO;
        let mut first = Duration::ZERO;
        for (i, &id) in self.group.members().iter().enumerate() {
            if refused >> i & 1 == 1 {
                continue;
            }
            let txn = serve(self.board.unlink(id));
            debug_assert!(txn.unit == unit);
            self.slots.expect(txn.request);
            transfers += txn.transfer;
            if last.is_some() {
                self.board.txn_mut(last).next = id;
            } else {
                first = transfers;
            }
            last = id;
            members += 1;
        }
        self.expect_dispatch(self.board.first(unit, op));
        if op == FlashOp::Program {
            let mut member = lead;
            while member.is_some() {
                member = self.bind(member);
            }
            self.collect_emptied();
        }
        self.begin(unit, Start { lead, members, op, owner, first, transfers });
    }

    /// Tells the order decision of the chosen group's members, but for the refused, a bit each.
    #[inline(never)]
    fn tell_of_departures(&mut self, refused: u64) {
        for i in 0..self.group.members().len() {
            if refused >> i & 1 == 0 {
                self.tell_of_departure(self.group.members()[i], Departure::Dispatched);
            }
        }
    }

    /// Looks up where the pages of the chosen reads lie now. Returns those, a bit each in the group's order, that may
    /// not share a command with the ones before them after all: garbage collection may have moved any since they were
    /// queued.
    #[cold]
    fn look_up(&mut self) -> u64 {
        let mut refused = 0u64;
        let facts = &self.board.facts;
        let (planes, pages) = (facts.geometry.planes_per_die as u8, facts.geometry.pages_per_block);
        let same_page = facts.same_page[0];
        for (i, &id) in self.group.members().iter().enumerate() {
            let Transaction { lpn, slot, .. } = *self.board.txn(id);
            let ppa = self.ftl.lookup(lpn).0;
            self.board.txn_mut(id).ppa = ppa;
            let clashes = |(j, other): (usize, &TxnId)| {
                let other = self.board.txn(*other);
                refused >> j & 1 == 0 && other.slot / planes == slot / planes && other.ppa % pages != ppa % pages
            };
            if same_page && self.group.members()[..i].iter().enumerate().any(clashes) {
                refused |= 1 << i;
            }
        }
        refused
    }

    /// Sends reads of the chosen group whose page has meanwhile been written on another plane there. Whether any was.
    pub(super) fn reroute_moved_reads(&mut self) -> bool {
        let mut moved = false;
        for i in 0..self.group.members().len() {
            let id = self.group.members()[i];
            let txn = self.board.txn(id);
            let plane = self.ftl.plane_of(txn.lpn);
            if txn.op != FlashOp::Read || plane == txn.plane {
                continue;
            }
            self.withdraw(id);
            self.join_at(id, plane);
            moved = true;
        }
        moved
    }

    /// Planes that lost a copy to another may have had nothing to collect until now. They begin when all members of the
    /// command have their pages: collecting for free moves pages, and other members' planes may be among them.
    fn collect_emptied(&mut self) {
        while let Some(plane) = self.emptied.pop() {
            self.start_collection(plane);
        }
    }

    /// Gives a program its physical page, maps it, and lets the next write of the same page go. Returns the command's
    /// next member.
    fn bind(&mut self, id: TxnId) -> TxnId {
        let Transaction { lpn, plane, flow, before, next, .. } = *self.board.txn(id);
        // Its end will need it.
        self.pending.expect(lpn);
        let left = if self.static_place { plane } else { self.ftl.plane_of(lpn) };
        let ppa = self.ftl.write(lpn, plane).expect("room was checked");
        self.board.txn_mut(id).ppa = ppa.0;
        if self.owners {
            self.ftl.claim(lpn, flow, &mut self.board);
        }
        self.board.flows[flow.index()].programmed += 1;
        if before.is_some() {
            self.board.txn_mut(id).before = TxnId::NONE;
            self.board.txn_mut(before).after = TxnId::NONE;
            let waiter = self.board.txn(before).unit;
            self.agenda.mark(waiter);
        }
        self.mapped(lpn, plane, ppa, Stream::User);
        if left != plane && self.ftl.wants_collection(left) {
            self.emptied.push(left);
        }
        next
    }

    /// Reports the members of a command about to begin.
    fn report(&mut self, unit: UnitId, lead: TxnId) {
        let command = self.flash.next_serial();
        let mut member = lead;
        while member.is_some() {
            let txn = self.board.txn(member);
            let ppa =
                if txn.op == FlashOp::Read && txn.owner != Owner::Gc { self.ftl.lookup(txn.lpn).0 } else { txn.ppa };
            let (txn, slack, next) = (txn.serial, txn.slack, txn.next);
            self.log.push(self.board.now, || Event::Dispatched { txn, command, unit, ppa, slack });
            member = next;
        }
    }
}
