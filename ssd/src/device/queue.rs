//! Transactions are made, join their unit's queue where the order decision wants them, and leave it undone.

use flashlane_core::board::{Batch, Service};
use flashlane_core::decide::Departure;
use flashlane_core::event::Event;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, FlowId, Lpn, Owner, PlaneId, Transaction, TxnId};

use super::Device;
use crate::host::RequestSlot;

impl Device {
    /// Makes a transaction that is not garbage collection's and stands in no queue yet, for the request in `request`
    /// (`RequestSlot::MAX` for none).
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub(super) fn new_transaction(
        &mut self,
        request: RequestSlot,
        flow: FlowId,
        owner: Owner,
        op: FlashOp,
        lpn: Lpn,
        plane: PlaneId,
        bytes: u32,
    ) -> TxnId {
        let id = self.state.allocate();
        let serial = self.state.take_serials(1);
        if self.policy.wants().estimates && request != RequestSlot::MAX {
            self.estimates.made.push(id);
        }
        let board = &mut self.state.board;
        let (unit, slot) = board.home_of(plane);
        let level = board.flows[flow.index()].level.min(board.facts.levels - 1);
        let queue = board.queue_for(unit, op, level);
        let transfer = board.facts.transfer(bytes);
        *board.txn_mut(id) = Transaction {
            serial,
            enqueued: board.now,
            request,
            lpn,
            bytes,
            transfer,
            plane,
            unit,
            flow,
            slot,
            queue,
            op,
            owner,
            level,
            stage: Stage::Waiting,
            ..Transaction::EMPTY
        };
        id
    }

    /// A transaction that was held back joins its queue.
    #[cold]
    pub(super) fn enqueue_held(&mut self, id: TxnId) {
        let now = self.state.now();
        let txn = self.state.board.txn_mut(id);
        (txn.enqueued, txn.stage) = (now, Stage::Waiting);
        self.enqueue(id);
    }

    /// Puts a transaction into its unit's queue, where the order decision wants it. Its unit decides, if it has to.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, id: TxnId) {
        if self.state.log.on {
            self.report_queued(id);
        }
        let Transaction { unit, queue, op, .. } = *self.state.board.txn(id);
        if self.policy.draws() && op == FlashOp::Program {
            self.enqueue_unplaced(id);
            return;
        }
        let before = if self.policy.is_order_tail() { TxnId::NONE } else { self.position(id) };
        self.state.board.link(id, queue, before);
        let unit_state = &self.state.board.units[unit.index()];
        // A busy unit has nothing to decide, unless what it does may be paused for a read.
        let may_pause = self.policy.pauses() & (op == FlashOp::Read) & unit_state.command.in_array;
        self.state.agenda.mark_if(unit, (unit_state.service != Service::Busy) | may_pause);
    }

    /// Puts a write into the queue of those that no unit has yet.
    fn enqueue_unplaced(&mut self, id: TxnId) {
        let board = &mut self.state.board;
        let unplaced = board.unplaced();
        board.txn_mut(id).queue = unplaced;
        board.link(id, unplaced, TxnId::NONE);
        self.state.agenda.open = true;
    }

    /// Gives the writes that no unit has yet, oldest first, to the units that the place decision says take them now
    /// (Slacker §7.6, D-SLK-22). A write whose page has an older one waiting lets others go first.
    pub(super) fn draw(&mut self) {
        loop {
            let board = &mut self.state.board;
            let next = board.walk(board.unplaced()).find(|&id| board.eligible(id));
            let Some(id) = next else { return };
            let Some(plane) = self.policy.draw(board, id) else { return };
            board.unlink(id);
            self.join_at(id, plane);
        }
    }

    /// A user transaction that stands in no queue joins that of another plane's unit.
    fn join_at(&mut self, id: TxnId, plane: PlaneId) {
        let board = &mut self.state.board;
        let Transaction { serial, op, level, .. } = *board.txn(id);
        let (unit, slot) = board.home_of(plane);
        let queue = board.queue_for(unit, op, level);
        let txn = board.txn_mut(id);
        (txn.plane, txn.unit, txn.slot, txn.queue) = (plane, unit, slot, queue);
        let before = if self.policy.wants().arrivals_from_units { self.position(id) } else { TxnId::NONE };
        self.state.board.link(id, queue, before);
        self.state.log(|| Event::Moved { txn: serial, plane });
        self.state.mark(unit);
    }

    /// Sends reads of the chosen group whose page has meanwhile been written on another plane there. Whether any was.
    pub(super) fn reroute_moved_reads(&mut self) -> bool {
        let mut moved = false;
        for i in 0..self.policy.group.members().len() {
            let id = self.policy.group.members()[i];
            let txn = self.state.board.txn(id);
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

    /// Takes a user transaction out of its queue undone.
    pub(super) fn withdraw(&mut self, id: TxnId) {
        let Transaction { unit, queue, .. } = *self.state.board.txn(id);
        // The order decision never saw a write that no unit has yet.
        if self.policy.tells_departures() && queue != self.state.board.unplaced() {
            self.tell_of_departure(id, Departure::Withdrawn);
        }
        let batch = &mut self.state.board.units[unit.index()].batch;
        if batch.write == id {
            *batch = Batch { write: TxnId::NONE, ..*batch };
        }
        self.state.board.unlink(id);
        if self.policy.pauses_at_boundaries() {
            // With a write less, a program may be paused that could not be before.
            self.state.mark(unit);
        }
    }

    /// Tells the order decision that a user transaction leaves its queue, and takes what it owes from its slack.
    #[inline(always)]
    pub(super) fn tell_of_departure(&mut self, id: TxnId, departure: Departure) {
        let owed = self.policy.departs(&self.state.board, id, departure);
        if owed > Duration::ZERO {
            self.state.board.txn_mut(id).slack -= owed;
        }
    }

    /// Asks where a user transaction stands in its queue, and takes the charge from those it passes.
    #[inline(always)]
    fn position(&mut self, id: TxnId) -> TxnId {
        let Transaction { unit, queue, .. } = *self.state.board.txn(id);
        let position = self.policy.position(&self.state.board, id, queue);
        if position.charge > Duration::ZERO {
            let mut passed = position.before;
            while passed.is_some() {
                let txn = self.state.board.txn_mut(passed);
                txn.slack -= position.charge;
                passed = txn.next;
            }
        }
        if position.charge_programs > Duration::ZERO {
            self.charge_programs(unit, position.charge_programs);
        }
        let txn = self.state.board.txn_mut(id);
        txn.tag |= position.tag;
        txn.alone = position.alone;
        position.before
    }

    #[cold]
    fn report_queued(&mut self, id: TxnId) {
        let Transaction { serial, request, flow, op, owner, lpn, plane, bytes, .. } = *self.state.board.txn(id);
        let request = self.state.board.requests.get(request as usize).map(|request| request.id);
        self.state.log(|| Event::Queued { txn: serial, request, flow, op, owner, lpn, plane, bytes });
    }
}
