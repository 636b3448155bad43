//! Transactions are created, join their unit's queue at the position of the order decision, and are withdrawn from it.

use flashlane_core::board::{ForegroundGc, Service};
use flashlane_core::decide::Departure;
use flashlane_core::event::Event;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, FlowId, Lpn, Owner, PlaneId, QueueId, Transaction, TxnId};

use super::Device;
use super::supersede::QueuePlacement;
use crate::host::RequestSlot;

impl Device {
    /// Creates a transaction of the host or the buffer, which is in no queue yet, for the request in slot `request`
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
        if self.policy.needs().estimates && request != RequestSlot::MAX {
            self.estimates.created.push(id);
        }
        let board = &mut self.state.board;
        let (unit, slot) = board.home_of(plane);
        let priority = match board.facts.priorities {
            1 => 0,
            priorities => board.flows[flow.index()].priority.min(priorities - 1),
        };
        let queue = board.queue_for(unit, op, priority);
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
            priority,
            stage: Stage::Waiting,
            ..Transaction::EMPTY
        };
        id
    }

    /// Puts a transaction that was held back into its queue.
    #[cold]
    pub(super) fn enqueue_held(&mut self, id: TxnId) {
        let now = self.state.now();
        let txn = self.state.board.txn_mut(id);
        (txn.enqueued, txn.stage) = (now, Stage::Waiting);
        self.overtaking.joins_late();
        self.enqueue(id);
    }

    /// Puts a write into its queue where `placement` says.
    #[inline(always)]
    pub(super) fn enqueue_at(&mut self, id: TxnId, placement: QueuePlacement) {
        match placement {
            QueuePlacement::AsOrdered => self.enqueue(id),
            QueuePlacement::InFrontOf(next) => self.enqueue_inherited(id, next),
        }
    }

    /// Puts a write into the queue of the write it has replaced, in front of `before` or at the tail.
    #[cold]
    fn enqueue_inherited(&mut self, id: TxnId, before: TxnId) {
        if self.state.log.on {
            self.report_queued(id);
        }
        let Transaction { serial, unit, queue, plane, .. } = *self.state.board.txn(id);
        self.join(id, queue, before);
        if self.policy.binds_at_dispatch() && queue != self.state.board.unplaced() {
            self.state.log(|| Event::Moved { txn: serial, plane });
        }
        self.state.mark(unit);
    }

    /// Puts a transaction into its unit's queue at the position of the order decision, and marks the unit if it must decide.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, id: TxnId) {
        if self.state.log.on {
            self.report_queued(id);
        }
        let Transaction { unit, queue, op, .. } = *self.state.board.txn(id);
        if self.policy.binds_at_dispatch() && op == FlashOp::Program {
            self.enqueue_unplaced(id);
            return;
        }
        // A unit that has nothing to do may take a write that joins the queue of a busy one.
        self.state.agenda.open |= self.policy.migrates_writes() & (op == FlashOp::Program);
        let before = if self.policy.is_order_tail() { TxnId::NONE } else { self.position(id) };
        self.state.board.link(id, queue, before);
        self.overtaking.joined(&self.state.board, id, before);
        let unit_state = &self.state.board.units[unit.index()];
        // A busy unit has nothing to decide, unless its program or erase may be paused for a read.
        let may_pause = self.policy.pauses() & (op == FlashOp::Read) & unit_state.command.in_array;
        self.state.agenda.mark_if(unit, (unit_state.service != Service::Busy) | may_pause);
    }

    /// Puts a write into the queue of writes that have no plane yet.
    fn enqueue_unplaced(&mut self, id: TxnId) {
        let board = &mut self.state.board;
        let unplaced = board.unplaced();
        board.txn_mut(id).queue = unplaced;
        self.join(id, unplaced, TxnId::NONE);
        self.state.agenda.open = true;
    }

    /// Assigns the writes that have no plane yet, oldest first, to the planes that the place decision returns (Slacker §7.6,
    /// D-SLK-22), until it returns none. A write that must wait for an older one of its page is passed over.
    pub(super) fn place_unplaced(&mut self) {
        loop {
            let board = &mut self.state.board;
            let next = board.walk(board.unplaced()).find(|&id| board.eligible(id));
            let Some(id) = next else { return };
            let Some(plane) = self.policy.place_at_dispatch(board, id) else { return };
            self.leave(id);
            self.join_at(id, plane);
        }
    }

    /// Assigns a write that is in no queue to `plane`, and puts it into the queue of that plane's unit.
    pub(super) fn join_at(&mut self, id: TxnId, plane: PlaneId) {
        let board = &mut self.state.board;
        let Transaction { serial, op, priority, .. } = *board.txn(id);
        let (unit, slot) = board.home_of(plane);
        let queue = board.queue_for(unit, op, priority);
        let txn = board.txn_mut(id);
        (txn.plane, txn.unit, txn.slot, txn.queue) = (plane, unit, slot, queue);
        let before = if self.policy.needs().arrivals_from_units { self.position(id) } else { TxnId::NONE };
        self.join(id, queue, before);
        self.state.log(|| Event::Moved { txn: serial, plane });
        self.state.mark(unit);
    }

    /// Puts a transaction that may be older than those that wait there into `queue`, in front of `before` or at the tail.
    #[inline(always)]
    pub(super) fn join(&mut self, id: TxnId, queue: QueueId, before: TxnId) {
        self.overtaking.joins_late();
        self.state.board.link(id, queue, before);
        self.overtaking.joined(&self.state.board, id, before);
    }

    /// Takes a transaction out of its queue and returns it.
    #[inline(always)]
    pub(super) fn leave(&mut self, id: TxnId) -> &mut Transaction {
        self.state.board.unlink(id);
        self.overtaking.left(&self.state.board, id);
        self.state.board.txn_mut(id)
    }

    /// Takes a user transaction out of its queue without executing it.
    pub(super) fn withdraw(&mut self, id: TxnId) {
        let Transaction { unit, queue, .. } = *self.state.board.txn(id);
        // The order decision is not asked about a write that has no plane yet.
        if self.policy.notifies_departures() && queue != self.state.board.unplaced() {
            self.notify_departure(id, Departure::Withdrawn);
        }
        let foreground_gc = &mut self.state.board.units[unit.index()].foreground_gc;
        if foreground_gc.write == id {
            *foreground_gc = ForegroundGc { write: TxnId::NONE, ..*foreground_gc };
        }
        self.leave(id);
        if self.policy.pauses_at_boundaries() {
            // The answer of the preempt decision may depend on the number of waiting writes.
            self.state.mark(unit);
        }
    }

    /// Notifies the order decision that a user transaction leaves its queue, and subtracts what it returns from the slack.
    #[inline(always)]
    pub(super) fn notify_departure(&mut self, id: TxnId, departure: Departure) {
        let owed = self.policy.departs(&self.state.board, id, departure);
        if owed > Duration::ZERO {
            self.state.board.txn_mut(id).slack -= owed;
        }
    }

    /// Asks for the position of a user transaction in its queue, and takes the charges from the slack of others. Returns the
    /// transaction to join in front of; [`TxnId::NONE`] for the tail.
    #[inline(always)]
    fn position(&mut self, id: TxnId) -> TxnId {
        let Transaction { unit, queue, .. } = *self.state.board.txn(id);
        let position = self.policy.position(&self.state.board, id, queue);
        if position.charge > Duration::ZERO {
            let mut passed = position.in_front_of;
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
        txn.isolated_latency = position.isolated_latency;
        position.in_front_of
    }

    #[cold]
    fn report_queued(&mut self, id: TxnId) {
        let Transaction { serial, request, flow, op, owner, lpn, plane, bytes, .. } = *self.state.board.txn(id);
        let request = self.state.board.requests.get(request as usize).map(|request| request.id);
        self.state.log(|| Event::Queued { txn: serial, request, flow, op, owner, lpn, plane, bytes });
    }
}
