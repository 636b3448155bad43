//! Writes that complete in the page buffer, and the programs that write its dirty pages to the flash.

use flashlane_core::transaction::{FlashOp, Stage, tag};
use flashlane_core::{FlowId, Lpn, Owner, PlaneId, Transaction, TxnId};

use super::Device;
use super::transactions::{QueuePlacement, create};
use crate::buffer::{Buffer, Stored};
use crate::frontend::RequestSlot;

impl Device {
    /// Writes as many pages of a request into the buffer as it has space for; the rest waits. `is_first_waiting` if the request
    /// is the first of those that wait for space.
    pub(super) fn write_to_buffer(&mut self, slot: RequestSlot, is_first_waiting: bool) {
        let request = self.state.board.requests[slot as usize];
        let (flow, pages) = (request.flow, request.pages);
        let mut cursor = request.buffered;
        let must_queue = !is_first_waiting && self.buffer.as_ref().is_some_and(|b| b.has_waiting(flow));
        while cursor < pages && !must_queue {
            let lpn = self.frontend.requests.page(slot, &request, cursor);
            if is_first_waiting && self.buffer.as_mut().is_some_and(|buffer| buffer.passes_over(slot, cursor)) {
                cursor += 1;
                continue;
            }
            if !self.store(slot, lpn, flow) {
                break;
            }
            if is_first_waiting && let Some(buffer) = &mut self.buffer {
                buffer.no_longer_waits(lpn);
            }
            cursor += 1;
        }
        let buffer = self.buffer.as_mut().expect("only called with a buffer");
        self.state.board.requests[slot as usize].buffered = cursor;
        match (is_first_waiting, cursor == pages) {
            (false, false) => {
                let (requests, stored) = (&self.frontend.requests, (cursor > 0).then_some(self.state.board.now));
                buffer.wait(flow, slot, stored, (cursor..pages).map(|i| requests.page(slot, &request, i)));
            }
            (true, _) => {
                let wanted = pages - cursor - buffer.trimmed_from(slot, cursor);
                buffer.still_waits_for(flow, wanted, self.state.board.now);
            }
            (false, true) => {}
        }
        self.state.board.waiting_for_buffer = buffer.waiting_writes();
        self.frontend.serve_if_done(slot, &mut self.state);
        self.flush(flow);
    }

    /// Writes a page of a request into the buffer, if it has space. A program of the page that still waits may be dropped for a
    /// younger one.
    fn store(&mut self, slot: RequestSlot, lpn: Lpn, flow: FlowId) -> bool {
        let old = self.page_order.youngest_write(lpn);
        let waits = old.is_some() && self.state.board.txn(old).stage == Stage::Waiting;
        // A wordline in a queue is programmed as it was gathered.
        let replaces = waits && !self.is_in_wordline(old) && self.policy.drops(&self.state.board, old);
        let owner = if replaces { self.state.board.txn(old).flow } else { flow };
        let fua = self.state.board.requests[slot as usize].fua;
        let buffer = self.buffer.as_mut().expect("only called with a buffer");
        if buffer.merges {
            if !replaces {
                let stored = buffer.write(lpn, flow) == Stored::Yes;
                if stored {
                    self.page_stored(slot, lpn, old);
                    if fua {
                        self.await_program(slot, lpn, flow);
                    }
                }
                return stored;
            }
            buffer.renew(lpn);
            self.page_stored(slot, lpn, old);
            // The page stays in the part of the buffer that it is in, and its program goes where the other went.
            let plane = self.place(lpn);
            self.program_at(plane, lpn, owner);
            self.program_renewed(lpn, fua.then_some(slot));
            return true;
        }
        let keeps_page = replaces && buffer.share_part(owner, flow);
        if !keeps_page && buffer.take(flow) == Stored::Full {
            return false;
        }
        if replaces && !keeps_page {
            buffer.give_back_early(owner);
        }
        self.page_stored(slot, lpn, old);
        self.program_page(lpn, flow);
        if fua {
            self.await_program(slot, lpn, flow);
        }
        true
    }

    /// Creates a program for every page that the buffer must write out now.
    pub(super) fn flush(&mut self, flow: FlowId) {
        while let Some(lpn) = self.buffer.as_mut().and_then(|b| b.next_flush(flow)) {
            self.program_page(lpn, flow);
        }
    }

    /// Creates a program of a page in the buffer.
    pub(super) fn program_page(&mut self, lpn: Lpn, flow: FlowId) {
        if self.wordlines.is_some() {
            return self.gather(lpn, flow);
        }
        let plane = self.place(lpn);
        self.program_at(plane, lpn, flow);
    }

    /// The same in `plane`.
    pub(super) fn program_at(&mut self, plane: PlaneId, lpn: Lpn, flow: FlowId) {
        let bytes = self.transactions.page_on_bus();
        let (no_request, op) = (RequestSlot::MAX, FlashOp::Program);
        let program = create(no_request, flow, Owner::Buffer, op, lpn, plane, bytes, &mut self.state);
        if self.wordlines.is_some() {
            self.reserve_cache_page(program);
        }
        if let Some(durability) = &mut self.durability {
            durability.program_created(lpn);
        }
        let place = self.supersede(program, lpn);
        if self.translation.is_some() && place.is_none() && self.program_awaits_entry(program, false) {
            return;
        }
        let place = place.unwrap_or(QueuePlacement::AsOrdered);
        self.transactions.overtaking.joins_late();
        self.transactions.enqueue_at(program, place, &mut self.policy, &mut self.state);
    }

    /// A dirty page was written to the flash: writes that wait for space use its slot.
    pub(super) fn page_flushed(&mut self, id: TxnId) {
        let Transaction { lpn, flow, tag, serial, .. } = *self.state.board.txn(id);
        let buffer = self.buffer.as_mut().expect("only a buffer flushes");
        if buffer.merges && tag & tag::TRIMMED == 0 {
            buffer.flushed(lpn);
        } else {
            buffer.give_back(flow);
        }
        if tag & tag::TRIMMED == 0
            && let Some(durability) = &mut self.durability
        {
            durability.program_gone(lpn);
            if !durability.is_idle() {
                self.page_is_durable(lpn, flow, serial);
            }
        }
        // It has ended: what is stored from now on does not wait for it.
        self.state.board.txn_mut(id).tag |= tag::TRIMMED;
        self.store_waiting_writes(flow);
        self.flush(flow);
        self.fill_partitions_with_space();
        self.write_back_entries();
    }

    /// Writes that wait for space in `flow`'s part of the buffer use what there is.
    pub(super) fn store_waiting_writes(&mut self, flow: FlowId) {
        while let Some(slot) = self.buffer.as_ref().and_then(|b| b.first_waiting(flow)) {
            self.write_to_buffer(slot, true);
            if self.buffer.as_ref().and_then(|b| b.first_waiting(flow)) == Some(slot) {
                break;
            }
        }
    }

    /// The same in the parts in which cancelled programs have given pages back.
    pub(super) fn fill_partitions_with_space(&mut self) {
        while let Some(flow) = self.buffer.as_mut().and_then(Buffer::next_with_space) {
            self.store_waiting_writes(flow);
        }
    }
}
