//! Writes that end in the page buffer, and the programs that empty it.

use flashlane_core::transaction::FlashOp;
use flashlane_core::{FlowId, Owner, TxnId};

use super::Device;
use super::slots::Asker;
use crate::buffer::Stored;
use crate::front::SlotId;

impl Device {
    /// Writes as many pages of a request into the buffer as it has space for; the rest waits.
    pub(super) fn write_to_buffer(&mut self, slot: SlotId, is_first_waiting: bool) {
        let flow = self.slots.get(slot).answer.flow;
        let buffer = self.buffer.as_mut().expect("only called with a buffer");
        let mut cursor = self.slots.get(slot).cursor;
        let pages = self.slots.get(slot).answer.pages;
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
            let bytes = self.page_on_bus();
            let txn = self.new_txn(Asker::Nobody, flow, Owner::Buffer, FlashOp::Program, lpn, plane, bytes);
            self.supersede(txn.id, lpn);
            self.enqueue(txn);
        }
    }

    /// A dirty page reached the flash: writes that waited for its space go on.
    pub(super) fn page_flushed(&mut self, id: TxnId) {
        let (lpn, flow) = (self.board.txn(id).lpn, self.board.txn(id).flow);
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
