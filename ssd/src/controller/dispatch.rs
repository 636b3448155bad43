//! Beginning a command: the members leave their queue, programs get their physical pages, the flash starts.

use flashlane_core::event::Event;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, Owner, Transaction, TxnId, UnitId};

use super::Device;
use crate::flash::array::Start;
use crate::ftl::pool::Stream;

impl Device {
    /// Begins the command in `self.group` at `unit`.
    pub(super) fn dispatch(&mut self, unit: UnitId) {
        let lead = self.group.lead();
        let Transaction { op, owner, .. } = *self.board.txn(lead);
        let by_address = op == FlashOp::Read && self.address_reads;
        let mut last = TxnId::NONE;
        let mut members = 0u8;
        let mut transfers = Duration::ZERO;
        for i in 0..self.group.members().len() {
            let id = self.group.members()[i];
            debug_assert!(self.board.txn(id).stage == Stage::Waiting && self.board.txn(id).unit == unit);
            debug_assert!(self.board.txn(id).after.is_none(), "dispatched before an older write of its page");
            if by_address && !self.still_matches(lead, last, id) {
                continue;
            }
            self.board.unlink(id);
            let txn = self.board.txn_mut(id);
            txn.stage = Stage::InService;
            let bytes = txn.bytes;
            transfers += self.board.facts.transfer(bytes);
            if last.is_some() {
                self.board.txn_mut(last).next = id;
            }
            last = id;
            members += 1;
        }
        self.count(unit, op, owner, members);
        if op == FlashOp::Program {
            let mut member = lead;
            while member.is_some() {
                self.bind(member);
                member = self.board.txn(member).next;
            }
        }
        if self.log.on {
            self.report(unit, lead);
        }
        let start = Start { lead, members, op, owner, transfers };
        self.flash.begin(unit, start, &mut self.board, &mut self.agenda, &mut self.log);
    }

    /// Looks up where a read's page lies now, and whether it may still share a command with the members chained from
    /// `lead` to `last`: garbage collection may have moved any of them since they were queued.
    fn still_matches(&mut self, lead: TxnId, last: TxnId, id: TxnId) -> bool {
        if self.board.txn(id).owner != Owner::Gc {
            let ppa = self.ftl.lookup(self.board.txn(id).lpn).0;
            self.board.txn_mut(id).ppa = ppa;
        }
        let facts = &self.board.facts;
        if !facts.same_page[0] || last.is_none() {
            return true;
        }
        let planes = facts.geometry.planes_per_die as u8;
        let pages = facts.geometry.pages_per_block;
        let b = self.board.txn(id);
        let mut member = lead;
        loop {
            let a = self.board.txn(member);
            if a.slot / planes == b.slot / planes && a.ppa % pages != b.ppa % pages {
                return false;
            }
            if member == last {
                return true;
            }
            member = a.next;
        }
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
            let (serial, op, owner, level) = (txn.serial, txn.op, txn.owner, txn.level);
            self.leave_queue(id);
            let (unit, slot) = self.board.home_of(plane);
            let queue = self.board.queue_for(unit, owner, op, level);
            let txn = self.board.txn_mut(id);
            (txn.plane, txn.unit, txn.slot, txn.queue) = (plane, unit, slot, queue);
            self.board.link(id, queue, TxnId::NONE);
            self.board.units[unit.index()].user_waiting += 1;
            self.log.push(self.board.now, Event::Moved { txn: serial, plane });
            self.agenda.mark(unit);
            moved = true;
        }
        moved
    }

    /// Gives a program its physical page, maps it, and lets the next write of the same page go.
    fn bind(&mut self, id: TxnId) {
        let Transaction { owner, lpn, plane, flow, before, .. } = *self.board.txn(id);
        let stream = if owner == Owner::Gc { Stream::Gc } else { Stream::User };
        let ppa = self.ftl.write(lpn, plane, stream).expect("room was checked, and one block is kept for moves");
        self.board.txn_mut(id).ppa = ppa.0;
        self.ftl.show(&mut self.board, plane);
        if stream == Stream::User {
            self.board.flows[flow.index()].programmed += 1;
            if before.is_some() {
                self.board.txn_mut(id).before = TxnId::NONE;
                self.board.txn_mut(before).after = TxnId::NONE;
                let waiter = self.board.txn(before).unit;
                self.agenda.mark(waiter);
            }
        }
        self.log.push(self.board.now, Event::Mapped { lpn, plane, ppa: ppa.0 });
        if self.ftl.wants_collection(plane) {
            self.start_collection(plane);
        }
    }

    /// Counts the command (D-SLK-02, D-SLK-14, D-SLK-25), and its members as waiting no more.
    #[inline(always)]
    fn count(&mut self, unit: UnitId, op: FlashOp, owner: Owner, members: u8) {
        let unit = &mut self.board.units[unit.index()];
        let counters = &mut unit.counters;
        if owner == Owner::Gc {
            unit.gc_waiting -= u32::from(members);
            counters.erases += u64::from(op == FlashOp::Erase);
            counters.moves += u64::from(op == FlashOp::Program);
            return;
        }
        unit.user_waiting -= u32::from(members);
        let direction = usize::from(op == FlashOp::Program);
        counters.user[direction] += u64::from(members);
        if members > 1 {
            counters.advanced[direction] += u64::from(members);
            counters.advanced_commands[direction] += 1;
        }
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
            self.log.push(self.board.now, Event::Dispatched { txn, command, unit, ppa, slack });
            member = next;
        }
    }
}
