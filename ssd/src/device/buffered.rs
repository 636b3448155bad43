//! Writes that complete in the page buffer, and the programs that write its dirty pages to the flash.

use flashlane_core::transaction::FlashOp;
use flashlane_core::{FlowId, Owner, TxnId};

use super::Device;
use crate::buffer::Stored;
use crate::host::RequestSlot;

impl Device {
    /// Writes as many pages of a request into the buffer as it has space for; the rest waits. `is_first_waiting` if the request
    /// is the first of those that wait for space.
    pub(super) fn write_to_buffer(&mut self, slot: RequestSlot, is_first_waiting: bool) {
        let request = self.state.board.requests[slot as usize];
        let (flow, pages) = (request.flow, request.pages);
        let buffer = self.buffer.as_mut().expect("only called with a buffer");
        let mut cursor = request.buffered;
        let must_queue = !is_first_waiting && buffer.has_waiting(flow);
        while cursor < pages && !must_queue {
            let lpn = self.host.requests.page(slot, &request, cursor);
            if buffer.write(lpn, flow) == Stored::Full {
                break;
            }
            self.host.page_from_memory(slot, lpn, &mut self.state);
            cursor += 1;
        }
        self.state.board.requests[slot as usize].buffered = cursor;
        match (is_first_waiting, cursor == pages) {
            (false, false) => buffer.wait(flow, slot, pages - cursor),
            (true, _) => buffer.still_waits_for(flow, pages - cursor),
            (false, true) => {}
        }
        self.host.serve_if_done(slot, &mut self.state);
        self.flush(flow);
    }

    /// Makes a program for every page that the buffer must write out now.
    fn flush(&mut self, flow: FlowId) {
        while let Some(lpn) = self.buffer.as_mut().and_then(|b| b.next_flush(flow)) {
            let plane = self.policy.place(&self.state.board, lpn, self.ftl.home(lpn));
            let bytes = self.transfer.of(self.transfer.page_bytes);
            let (no_request, op) = (RequestSlot::MAX, FlashOp::Program);
            let program = self.new_transaction(no_request, flow, Owner::Buffer, op, lpn, plane, bytes);
            self.supersede(program, lpn);
            self.enqueue(program);
        }
    }

    /// A dirty page was written to the flash: writes that wait for space use its slot.
    pub(super) fn page_flushed(&mut self, id: TxnId) {
        let (lpn, flow) = (self.state.board.txn(id).lpn, self.state.board.txn(id).flow);
        let buffer = self.buffer.as_mut().expect("only a buffer flushes");
        buffer.flushed(lpn);
        while let Some(slot) = self.buffer.as_ref().and_then(|b| b.first_waiting(flow)) {
            self.write_to_buffer(slot, true);
            if self.buffer.as_ref().and_then(|b| b.first_waiting(flow)) == Some(slot) {
                break;
            }
        }
        self.flush(flow);
    }
}
