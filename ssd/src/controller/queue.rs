//! Transactions in the slab and in their queues: made, joining where the order decision wants them, leaving undone.

use flashlane_core::board::{Batch, Service};
use flashlane_core::decide::{Departure, Moments};
use flashlane_core::event::Event;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, FlowId, Lpn, Owner, PlaneId, QueueId, RequestId, Time, Transaction, TxnId, UnitId};

use super::Device;
use super::slots::Asker;
use crate::front::SlotId;

/// A transaction just made, and where it is to wait.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub(super) id: TxnId,
    pub(super) unit: UnitId,
    queue: QueueId,
    op: FlashOp,
    slot: u8,
}

impl Device {
    /// A free slot of the slab.
    #[inline(always)]
    pub(super) fn free_slot(&mut self) -> TxnId {
        let id = self.free_txn;
        if id.is_some() {
            self.free_txn = self.board.txn(id).next;
            return id;
        }
        self.board.txns.push(Transaction::EMPTY);
        TxnId(self.board.txns.len() as u32 - 1)
    }

    /// A transaction in the slab that is not garbage collection's, not yet in the queue where it is to wait.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub(super) fn new_txn(
        &mut self,
        asker: Asker,
        flow: FlowId,
        owner: Owner,
        op: FlashOp,
        lpn: Lpn,
        plane: PlaneId,
        bytes: u32,
    ) -> Made {
        let id = self.free_slot();
        let (unit, in_unit) = self.board.home_of(plane);
        let level = self.board.flows[flow.index()].level.min(self.board.facts.levels - 1);
        let queue = self.board.queue_for(unit, op, level);
        let transfer = self.board.facts.transfer(bytes);
        if self.wants.estimates && matches!(asker, Asker::In(_)) {
            self.made.push(id);
        }
        let (asked_id, asked_at, asked_bytes) = match asker {
            Asker::Alone(id, at, bytes) => (id, at, bytes),
            Asker::In(_) | Asker::Nobody => (RequestId(0), Time::ZERO, 0),
        };
        *self.board.txn_mut(id) = Transaction {
            serial: self.serials,
            enqueued: self.board.now,
            request: asker.slot(id),
            asked_id,
            asked_at,
            asked_bytes,
            lpn,
            bytes,
            transfer,
            plane,
            unit,
            flow,
            slot: in_unit,
            queue,
            op,
            owner,
            level,
            stage: Stage::Waiting,
            ..Transaction::EMPTY
        };
        self.serials += 1;
        Made { id, unit, queue, op, slot: in_unit }
    }

    /// The same as [`Device::enqueue`] for one that was held back.
    #[cold]
    pub(super) fn enqueue_held(&mut self, id: TxnId) {
        let now = self.board.now;
        let txn = self.board.txn_mut(id);
        (txn.enqueued, txn.stage) = (now, Stage::Waiting);
        let Transaction { unit, queue, op, slot, .. } = *txn;
        self.enqueue(Made { id, unit, queue, op, slot });
    }

    /// Puts a transaction just made into its unit's queue, where the order decision wants it.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, made: Made) {
        let Made { id, queue, op, .. } = made;
        if self.newcomer.is_some() {
            self.queue_newcomer();
        }
        if self.log.on {
            self.report_queued(id);
        }
        if self.draws && op == FlashOp::Program {
            self.enqueue_unplaced(id);
            return;
        }
        let before = if self.known.tail_order { TxnId::NONE } else { self.position(id, queue) };
        self.join(made, before);
    }

    /// The same for one that goes to the tail, whatever there is.
    #[inline(always)]
    pub(super) fn enqueue_last(&mut self, made: Made) {
        debug_assert!(self.known.tail_order && !self.log.on && !self.draws);
        if self.newcomer.is_some() {
            self.queue_newcomer();
        }
        self.join(made, TxnId::NONE);
    }

    /// A transaction stands in its queue now, before another or at the tail; its unit decides, if it has to.
    #[inline(always)]
    fn join(&mut self, made: Made, before: TxnId) {
        let Made { id, unit, queue, op, slot } = made;
        self.board.link_as(id, queue, slot, before);
        let state = &mut self.board.units[unit.index()];
        state.waiting[op.index()] += 1;
        // A busy unit has nothing to decide, unless what it does may be paused for a read.
        let may_pause = (self.moments != Moments::Never) & (op == FlashOp::Read) & state.command.in_array;
        self.agenda.mark_if(unit, (state.service != Service::Busy) | may_pause);
    }

    /// A read just made becomes the newcomer, if it is the only transaction to decide about at this instant so far and its
    /// unit idle. Whether it did.
    #[inline(always)]
    pub(super) fn comes_new(&mut self, read: Made) -> bool {
        let state = &mut self.board.units[read.unit.index()];
        // One question: the answer to each by itself would be a surprise to the processor.
        let waits = (state.user_waiting() != 0) | state.gc.any() | state.batch.open;
        let is_new = !(waits | (state.service != Service::Idle) | self.newcomer.is_some());
        if is_new {
            state.waiting[FlashOp::Read.index()] = 1;
            self.newcomer = read.id;
            self.agenda.open = true;
        }
        is_new
    }

    /// The newcomer is not alone after all: it takes its place in its queue.
    #[cold]
    pub(super) fn queue_newcomer(&mut self) {
        let id = core::mem::replace(&mut self.newcomer, TxnId::NONE);
        let Transaction { unit, queue, op, slot, .. } = *self.board.txn(id);
        self.board.units[unit.index()].waiting[op.index()] -= 1;
        self.enqueue(Made { id, unit, queue, op, slot });
    }

    /// A user transaction that stands in no queue joins that of another plane's unit.
    pub(super) fn join_at(&mut self, id: TxnId, plane: PlaneId) {
        let Transaction { serial, op, level, .. } = *self.board.txn(id);
        let (unit, slot) = self.board.home_of(plane);
        let queue = self.board.queue_for(unit, op, level);
        let txn = self.board.txn_mut(id);
        (txn.plane, txn.unit, txn.slot, txn.queue) = (plane, unit, slot, queue);
        let before = if self.wants.arrivals_from_units { self.position(id, queue) } else { TxnId::NONE };
        self.board.link(id, queue, before);
        self.board.units[unit.index()].waiting[op.index()] += 1;
        self.log.push(self.board.now, || Event::Moved { txn: serial, plane });
        self.agenda.mark(unit);
    }

    /// Takes a user transaction out of its queue undone.
    pub(super) fn withdraw(&mut self, id: TxnId) {
        // The order decision never saw a write that no unit has yet.
        if self.hears_departures && self.board.txn(id).queue != self.board.unplaced() {
            self.tell_of_departure(id, Departure::Withdrawn);
        }
        let unit = self.board.txn(id).unit;
        let batch = &mut self.board.units[unit.index()].batch;
        if batch.write == id {
            *batch = Batch { write: TxnId::NONE, ..*batch };
        }
        self.leave_queue(id);
        if self.moments == Moments::Boundary {
            // With a write less, a program may be paused that could not be before.
            self.agenda.mark(unit);
        }
    }

    /// Tells the order decision that a user transaction leaves its queue, and takes what it owes from its slack.
    #[inline(always)]
    pub(super) fn tell_of_departure(&mut self, id: TxnId, departure: Departure) {
        let owed = self.scheduler.order.departs(&self.board, id, departure);
        if owed > Duration::ZERO {
            self.board.txn_mut(id).slack -= owed;
        }
    }

    /// Asks where a user transaction stands, and takes the charge from those it passes.
    #[inline(always)]
    pub(super) fn position(&mut self, id: TxnId, queue: QueueId) -> TxnId {
        self.hears_departures |= self.board.queues[queue.index()].len >= self.wants.departures_from;
        let position = self.scheduler.order.position(&self.board, id, queue);
        if position.charge > Duration::ZERO {
            let mut passed = position.before;
            while passed.is_some() {
                let txn = self.board.txn_mut(passed);
                txn.slack -= position.charge;
                passed = txn.next;
            }
        }
        if position.charge_programs > Duration::ZERO {
            self.charge_programs(self.board.txn(id).unit, position.charge_programs);
        }
        let txn = self.board.txn_mut(id);
        txn.tag |= position.tag;
        txn.alone = position.alone;
        position.before
    }

    #[cold]
    fn report_queued(&mut self, id: TxnId) {
        let Transaction { serial, request, flow, op, owner, lpn, plane, bytes, .. } = *self.board.txn(id);
        let request = (request != SlotId::MAX).then(|| self.slots.get(request).answer.id);
        self.log.push(self.board.now, || Event::Queued { txn: serial, request, flow, op, owner, lpn, plane, bytes });
    }

    /// Takes a waiting transaction out of its queue.
    fn leave_queue(&mut self, id: TxnId) {
        let txn = self.board.txn(id);
        let (unit, op, unplaced) = (txn.unit, txn.op, txn.queue == self.board.unplaced());
        self.board.unlink(id);
        if !unplaced {
            self.board.units[unit.index()].waiting[op.index()] -= 1;
        }
    }
}
