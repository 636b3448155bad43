//! From a fetched command to transactions in their queues: admit, buffer, map and place, cancel, order.

use flashlane_core::board::Service;
use flashlane_core::decide::Moments;
use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, FlowId, Lpn, Op, Owner, PlaneId, QueueId, Transaction, TxnId};

use super::Device;
use super::slots::Slot;
use crate::buffer::Stored;
use crate::front::SlotId;

impl Device {
    /// Fetches commands as long as the admit decision finds one and the device has space.
    pub(super) fn admit(&mut self) {
        while self.front.could_admit() {
            let (front, slots, ftl, board) = (&self.front, &self.slots, &self.ftl, &self.board);
            let (capacity, draws) = (self.queue_capacity, self.draws);
            let full = |line: FlowId| -> bool {
                capacity != [u32::MAX; 2]
                    && front.head(line).is_some_and(|id| {
                        let slot = slots.get(id);
                        (0..slot.pages).any(|i| {
                            let unit = board.home_of(ftl.plane_of(slots.page(id, i))).0;
                            let op = if slot.op == Op::Read { FlashOp::Read } else { FlashOp::Program };
                            if draws && op == FlashOp::Program {
                                // One line for the device has the space of all units' lines.
                                let waiting = u64::from(board.queues[board.unplaced().index()].len);
                                return waiting >= u64::from(capacity[1]) * board.units.len() as u64;
                            }
                            board.waiting(unit, op) >= capacity[slot.op.index()]
                        })
                    })
            };
            let Some(line) = self.scheduler.admit.next(board, &full) else { break };
            let slot = self.front.fetch(line, &mut self.board);
            if self.log.on {
                self.log.push(self.board.now, Event::Admitted { request: self.slots.get(slot).id });
            }
            self.take_in(slot);
        }
    }

    /// Splits a command into pages and sees to each.
    pub(super) fn take_in(&mut self, slot: SlotId) {
        match self.slots.get(slot).op {
            Op::Write if self.buffer.as_ref().is_some_and(|b| b.write_back) => self.write_to_buffer(slot, false),
            Op::Read => {
                for i in 0..self.slots.get(slot).pages {
                    self.read_page(slot, i);
                }
                if self.wants.estimates {
                    self.estimate_request(slot);
                }
                self.serve_if_done(slot);
            }
            Op::Write => {
                for i in 0..self.slots.get(slot).pages {
                    let lpn = self.slots.page(slot, i);
                    if let Some(buffer) = &mut self.buffer {
                        // A read cache only: keep what it holds current.
                        buffer.read(lpn);
                    }
                    self.write_page(slot, i);
                }
                if self.wants.estimates {
                    self.estimate_request(slot);
                }
            }
        }
    }

    /// A request whose every page was served from memory ends when the memory has answered.
    #[inline(always)]
    fn serve_if_done(&mut self, slot: SlotId) {
        if self.slots.get(slot).remaining == 0 {
            self.soon.push_back((self.board.now + self.memory, slot));
            self.refresh_other();
        }
    }

    fn page_from_memory(&mut self, slot: SlotId, lpn: Lpn) {
        let entry = self.slots.get_mut(slot);
        entry.remaining -= 1;
        let request = entry.id;
        self.tally.pages_from_memory += 1;
        self.log.push(self.board.now, Event::PageFromMemory { request, lpn });
    }

    fn read_page(&mut self, slot: SlotId, i: u32) {
        let entry = self.slots.get(slot);
        let lpn = self.slots.page(slot, i);
        let buffered = self.buffer.as_mut().is_some_and(|b| b.read(lpn));
        if buffered || self.pending.get(lpn).is_some() {
            self.page_from_memory(slot, lpn);
            return;
        }
        let bytes = self.on_bus(entry.bytes_of(i, self.board.facts.geometry.page_bytes));
        let flow = entry.flow;
        let plane = self.ftl.plane_of(lpn);
        let txn = self.new_txn(slot, flow, Owner::User, FlashOp::Read, lpn, plane, bytes);
        if self.address_reads {
            self.board.txn_mut(txn).ppa = self.ftl.lookup(lpn).0;
        }
        self.enqueue(txn);
    }

    fn write_page(&mut self, slot: SlotId, i: u32) {
        let entry = self.slots.get(slot);
        let (lpn, flow) = (self.slots.page(slot, i), entry.flow);
        let page_bytes = self.board.facts.geometry.page_bytes;
        let bytes = entry.bytes_of(i, page_bytes);
        let partial = bytes < page_bytes && self.read_modify_write;
        let on_bus = self.on_bus(if partial { page_bytes } else { bytes });
        let reads_first = partial && self.pending.get(lpn).is_none();
        let plane = self.place(lpn);
        let program = self.new_txn(slot, flow, Owner::User, FlashOp::Program, lpn, plane, on_bus);
        self.supersede(program, lpn);
        if reads_first {
            let from = self.ftl.plane_of(lpn);
            let read = self.new_txn(SlotId::MAX, flow, Owner::User, FlashOp::Read, lpn, from, on_bus);
            self.board.txn_mut(read).then = program;
            self.tally.partial_reads += 1;
            self.enqueue(read);
        } else {
            self.enqueue(program);
        }
    }

    /// The plane a page is going to be written in.
    fn place(&mut self, lpn: Lpn) -> PlaneId {
        let home = self.ftl.home(lpn);
        if self.static_place || self.draws { home } else { self.scheduler.place.plane(&self.board, lpn, home) }
    }

    /// Notes `program` as the youngest write of its page, behind or instead of an older one.
    fn supersede(&mut self, program: TxnId, lpn: Lpn) {
        let old = self.pending.insert(lpn, program);
        if old.is_none() {
            return;
        }
        let stage = self.board.txn(old).stage;
        if stage == Stage::InService {
            return;
        }
        if stage == Stage::Waiting && self.scheduler.cancel.drops(&self.board, old) {
            self.drop_write(old, program);
            return;
        }
        self.board.txn_mut(program).after = old;
        self.board.txn_mut(old).before = program;
    }

    /// Takes the waiting write `old` out of its queue; it completes with `successor` (D-SOS-06).
    fn drop_write(&mut self, old: TxnId, successor: TxnId) {
        self.leave_queue(old);
        let gone = self.board.txn_mut(old);
        gone.stage = Stage::Held;
        let (older, serial) = (gone.after, gone.serial);
        gone.after = TxnId::NONE;
        if older.is_some() {
            self.board.txn_mut(older).before = successor;
        }
        let new = self.board.txn_mut(successor);
        new.after = older;
        new.then = old;
        self.tally.cancelled += 1;
        let paused = Duration::ZERO;
        self.log.push(self.board.now, Event::Ended { txn: serial, end: End::Cancelled, paused });
    }

    /// Writes as many pages of a request into the buffer as it has space for; the rest waits.
    pub(super) fn write_to_buffer(&mut self, slot: SlotId, is_first_waiting: bool) {
        let flow = self.slots.get(slot).flow;
        let buffer = self.buffer.as_mut().expect("only called with a buffer");
        let mut cursor = self.slots.get(slot).cursor;
        let pages = self.slots.get(slot).pages;
        let must_queue = !is_first_waiting && buffer.has_waiting(flow);
        while cursor < pages && !must_queue {
            let lpn = self.slots.page(slot, cursor);
            if self.buffer.as_mut().expect("has one").write(lpn, flow) == Stored::Full {
                break;
            }
            self.page_from_memory(slot, lpn);
            cursor += 1;
        }
        self.slots.get_mut(slot).cursor = cursor;
        let buffer = self.buffer.as_mut().expect("has one");
        match (is_first_waiting, cursor == pages) {
            (false, false) => buffer.wait(flow, slot, pages - cursor),
            (true, _) => buffer.still_waits_for(flow, pages - cursor),
            (false, true) => {}
        }
        self.serve_if_done(slot);
        self.flush(flow);
    }

    /// Starts writing out what the buffer wants out.
    pub(super) fn flush(&mut self, flow: FlowId) {
        while let Some(lpn) = self.buffer.as_mut().and_then(|b| b.next_flush(flow)) {
            let plane = self.place(lpn);
            let bytes = self.on_bus(self.board.facts.geometry.page_bytes);
            let txn = self.new_txn(SlotId::MAX, flow, Owner::Buffer, FlashOp::Program, lpn, plane, bytes);
            self.supersede(txn, lpn);
            self.enqueue(txn);
        }
    }

    /// Bytes that cross the bus for `bytes` of a page.
    fn on_bus(&self, bytes: u32) -> u32 {
        if bytes == self.board.facts.geometry.page_bytes { bytes + self.metadata_bytes } else { bytes }
    }

    /// A transaction in the slab, not yet in a queue.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub(super) fn new_txn(
        &mut self,
        slot: SlotId,
        flow: FlowId,
        owner: Owner,
        op: FlashOp,
        lpn: Lpn,
        plane: PlaneId,
        bytes: u32,
    ) -> TxnId {
        let id = if self.free_txn.is_some() {
            let id = self.free_txn;
            self.free_txn = self.board.txn(id).next;
            id
        } else {
            self.board.txns.push(Transaction::EMPTY);
            TxnId(self.board.txns.len() as u32 - 1)
        };
        let (unit, in_unit) = self.board.home_of(plane);
        let level =
            if owner == Owner::Gc { 0 } else { self.board.flows[flow.index()].level.min(self.board.facts.levels - 1) };
        let mut sibling = TxnId::NONE;
        if slot != SlotId::MAX {
            let request: &mut Slot = self.slots.get_mut(slot);
            sibling = request.txns;
            request.txns = id;
        }
        *self.board.txn_mut(id) = Transaction {
            serial: self.serials,
            enqueued: self.board.now,
            request: slot,
            lpn,
            bytes,
            sibling,
            plane,
            unit,
            flow,
            slot: in_unit,
            queue: self.board.queue_for(unit, owner, op, level),
            op,
            owner,
            level,
            stage: Stage::Held,
            ..Transaction::EMPTY
        };
        self.serials += 1;
        id
    }

    /// Puts a transaction into its unit's queue, where the order decision wants it.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, id: TxnId) {
        let now = self.board.now;
        let txn = self.board.txn_mut(id);
        txn.enqueued = now;
        txn.stage = Stage::Waiting;
        let (unit, owner, queue) = (txn.unit, txn.owner, txn.queue);
        if self.log.on {
            self.report_queued(id);
        }
        if self.draws && owner != Owner::Gc && self.board.txn(id).op == FlashOp::Program {
            self.enqueue_unplaced(id);
            return;
        }
        let before = if owner == Owner::Gc || self.tail_order { TxnId::NONE } else { self.position(id, queue) };
        self.board.link(id, queue, before);
        let state = &mut self.board.units[unit.index()];
        if owner == Owner::Gc {
            state.gc_waiting += 1;
        } else {
            state.user_waiting += 1;
        }
        // A busy unit has nothing to decide unless it may be paused.
        if state.service != Service::Busy || self.moments != Moments::Never {
            self.agenda.mark(unit);
        }
    }

    /// Asks where a user transaction stands, and takes the charge from those it passes.
    fn position(&mut self, id: TxnId, queue: QueueId) -> TxnId {
        let position = self.scheduler.order.position(&self.board, id, queue);
        let mut passed = position.before;
        while passed.is_some() && position.charge.ns() > 0 {
            let txn = self.board.txn_mut(passed);
            txn.slack -= position.charge;
            passed = txn.next;
        }
        if position.charge_programs > Duration::ZERO {
            self.charge_programs(self.board.txn(id).unit, position.charge_programs);
        }
        let txn = self.board.txn_mut(id);
        txn.tag |= position.tag;
        txn.alone = position.alone;
        position.before
    }

    fn report_queued(&mut self, id: TxnId) {
        let Transaction { serial, request, flow, op, owner, lpn, plane, bytes, .. } = *self.board.txn(id);
        let request = (request != SlotId::MAX).then(|| self.slots.get(request).id);
        self.log.push(self.board.now, Event::Queued { txn: serial, request, flow, op, owner, lpn, plane, bytes });
    }

    /// Takes a waiting transaction out of its queue.
    pub(super) fn leave_queue(&mut self, id: TxnId) {
        let txn = self.board.txn(id);
        let (unit, owner, unplaced) = (txn.unit, txn.owner, txn.queue == self.board.unplaced());
        self.board.unlink(id);
        if unplaced {
            return;
        }
        let unit = &mut self.board.units[unit.index()];
        if owner == Owner::Gc {
            unit.gc_waiting -= 1;
        } else {
            unit.user_waiting -= 1;
        }
    }
}
