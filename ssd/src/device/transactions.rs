//! Transactions of the host and the buffer: created from a command's pages, put into their unit's queue at the position of the order
//! decision, withdrawn from it, and ended; the last one of a request completes it.

use flashlane_core::board::{ActiveRequest, ForegroundGc, Service};
use flashlane_core::decide::Departure;
use flashlane_core::event::{End, Event, PageEnd};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, FlowId, Lpn, Op, Owner, PlaneId, QueueId, Transaction, TxnId};

use super::Device;
use super::page_order::QueuePlacement;
use crate::frontend::RequestSlot;

impl Device {
    /// Splits a command into pages: each is served from memory or becomes a transaction.
    #[inline(always)]
    pub(super) fn split_request(&mut self, slot: RequestSlot, request: &ActiveRequest) {
        self.estimates.created.clear();
        self.overtaking.enters(request);
        if let Some(serial) = self.serial {
            self.serve_in_series(slot, request, serial);
            return;
        }
        match request.op {
            Op::Write if self.buffer.as_ref().is_some_and(|b| b.write_back) => {
                self.write_to_buffer(slot, false);
                self.fill_partitions_with_space();
            }
            Op::Read => {
                let mut from_memory = false;
                for i in 0..request.pages {
                    from_memory |= self.read_page(slot, request, i);
                }
                if self.policy.known.needs.estimates {
                    self.estimate_request(request.id);
                }
                if from_memory {
                    self.frontend.serve_if_done(slot, &mut self.state);
                }
            }
            Op::Write => {
                for i in 0..request.pages {
                    let lpn = self.frontend.requests.page(slot, request, i);
                    if let Some(buffer) = &mut self.buffer {
                        // The buffer is a read cache here: a write updates the page if it is cached.
                        buffer.read(lpn);
                    }
                    self.write_page(slot, request, lpn, i);
                }
                if self.policy.known.needs.estimates {
                    self.estimate_request(request.id);
                }
            }
        }
    }

    /// Serves one page of a read. Returns whether memory serves it: the buffer has it, or a write of it has not ended or waits for
    /// space in the buffer.
    #[inline(always)]
    fn read_page(&mut self, slot: RequestSlot, request: &ActiveRequest, i: u32) -> bool {
        let lpn = self.frontend.requests.page(slot, request, i);
        if self.buffer.as_mut().is_some_and(|b| b.read(lpn) || b.awaits(lpn)) || self.writes.get(lpn).is_some() {
            self.frontend.page_from_memory(slot, lpn, &mut self.state);
            return true;
        }
        let bytes = self.transfer.of(request.bytes_of(i, self.transfer.page_bytes));
        let plane = self.ftl.map.plane_of(lpn);
        let read = self.new_transaction(slot, request.flow, Owner::User, FlashOp::Read, lpn, plane, bytes);
        self.note_read(lpn, read);
        self.look_up(read, lpn);
        self.enqueue(read);
        false
    }

    /// Serves one page of a write.
    #[inline(always)]
    fn write_page(&mut self, slot: RequestSlot, request: &ActiveRequest, lpn: Lpn, i: u32) {
        let flow = request.flow;
        let page_bytes = self.transfer.page_bytes;
        let bytes = request.bytes_of(i, page_bytes);
        let partial = bytes < page_bytes && self.transfer.read_modify_write;
        let on_bus = self.transfer.of(if partial { page_bytes } else { bytes });
        let reads_first = partial && self.writes.get(lpn).is_none();
        let plane = self.policy.place(&self.state.board, lpn, self.ftl.map.home(lpn).0);
        let program = self.new_transaction(slot, flow, Owner::User, FlashOp::Program, lpn, plane, on_bus);
        let place = self.supersede(program, lpn);
        if reads_first {
            let from = self.ftl.map.plane_of(lpn);
            let read = self.new_transaction(RequestSlot::MAX, flow, Owner::User, FlashOp::Read, lpn, from, on_bus);
            self.state.board.txn_mut(program).stage = Stage::Held;
            self.state.board.txn_mut(read).on_completion = program;
            self.counters.partial_reads += 1;
            self.note_read(lpn, read);
            self.overtaking.joins_late();
            self.enqueue(read);
        } else {
            self.enqueue_at(program, place);
        }
    }

    /// Notes the physical page of a read in its transaction, if that is of interest and the read does not keep an older one.
    #[inline(always)]
    pub(super) fn look_up(&mut self, read: TxnId, lpn: Lpn) {
        if self.address_reads && !self.keeps_copy(read) {
            self.state.board.txn_mut(read).ppa = self.ftl.map.lookup(lpn).0;
        }
    }
}

// In the queues.

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
        if self.policy.known.needs.estimates && request != RequestSlot::MAX {
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
        if self.policy.known.binds_at_dispatch && queue != self.state.board.unplaced() {
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
        if self.policy.known.binds_at_dispatch && op == FlashOp::Program {
            self.enqueue_unplaced(id);
            return;
        }
        // A unit that has nothing to do may take a write that joins the queue of a busy one.
        self.state.agenda.open |= self.policy.known.migrates_writes & (op == FlashOp::Program);
        let before = if self.policy.known.tail_order { TxnId::NONE } else { self.position(id) };
        self.state.board.link(id, queue, before);
        self.overtaking.joined(&self.state.board, id, before);
        let unit_state = &self.state.board.units[unit.index()];
        // A busy unit has nothing to decide, unless its program or erase may be paused for a read.
        let may_pause = self.policy.known.pauses & (op == FlashOp::Read) & unit_state.command.in_array;
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
        let before = if self.policy.known.needs.arrivals_from_units { self.position(id) } else { TxnId::NONE };
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
        if self.policy.notifies_departures && queue != self.state.board.unplaced() {
            self.notify_departure(id, Departure::Withdrawn);
        }
        let foreground_gc = &mut self.state.board.units[unit.index()].foreground_gc;
        if foreground_gc.write == id {
            *foreground_gc = ForegroundGc { write: TxnId::NONE, ..*foreground_gc };
        }
        self.leave(id);
        if self.policy.known.pauses_at_boundaries {
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

// The end.

impl Device {
    /// Ends a transaction that the flash has finished.
    #[inline(always)]
    pub(super) fn ended(&mut self, id: TxnId) {
        self.counters.transactions += 1;
        if self.state.log.on {
            self.report_end(id);
        }
        if self.state.log.ends_on {
            self.report_page_end(id);
        }
        let Transaction { owner, op, request, lpn, flow, on_completion, tag, .. } = *self.state.board.txn(id);
        if owner == Owner::Gc {
            self.gc.ended(id, &mut self.state, &mut self.ftl);
            return;
        }
        if owner == Owner::User {
            self.policy.ended(&self.state.board, id);
        }
        let read_older = op == FlashOp::Read && !self.policy.known.static_place && self.read_ended(id);
        match (owner, op) {
            (_, FlashOp::Read) if on_completion.is_some() => self.enqueue_held(on_completion),
            (_, FlashOp::Read) => {
                // What it read may be older than what the host has written since.
                if let Some(buffer) = self.buffer.as_mut().filter(|_| !read_older) {
                    buffer.fill(lpn, flow);
                }
                self.frontend.page_done(request, tag, &mut self.state);
            }
            (Owner::User, _) => {
                self.writes.remove(lpn, id);
                self.frontend.page_done(request, tag, &mut self.state);
            }
            _ => {
                self.writes.remove(lpn, id);
                self.page_flushed(id);
            }
        }
        if on_completion.is_some() && op == FlashOp::Program {
            self.end_superseded(on_completion);
        }
        self.state.release(id);
    }

    #[cold]
    fn report_end(&mut self, id: TxnId) {
        let Transaction { serial, unit, .. } = *self.state.board.txn(id);
        let paused = self.state.board.units[unit.index()].command.paused;
        self.state.log(|| Event::Ended { txn: serial, end: End::Flash, paused });
    }

    #[cold]
    fn report_page_end(&mut self, id: TxnId) {
        let request = self.state.board.txn(id).request;
        if let Some(request) = self.state.board.requests.get(request as usize) {
            self.state.log.ends.push(PageEnd { request: request.id, at: self.state.now() });
        }
    }
}
