//! From a fetched command to transactions: pages served by the buffer, and the planes of the others.

use flashlane_core::board::ActiveRequest;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Lpn, Op, Owner, TxnId};

use super::Device;
use crate::host::RequestSlot;

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
                if self.policy.needs().estimates {
                    self.estimate_request(request.id);
                }
                if from_memory {
                    self.host.serve_if_done(slot, &mut self.state);
                }
            }
            Op::Write => {
                for i in 0..request.pages {
                    let lpn = self.host.requests.page(slot, request, i);
                    if let Some(buffer) = &mut self.buffer {
                        // The buffer is a read cache here: a write updates the page if it is cached.
                        buffer.read(lpn);
                    }
                    self.write_page(slot, request, lpn, i);
                }
                if self.policy.needs().estimates {
                    self.estimate_request(request.id);
                }
            }
        }
    }

    /// Serves one page of a read. Returns whether memory serves it: the buffer has it, or a write of it has not ended or waits for
    /// space in the buffer.
    #[inline(always)]
    fn read_page(&mut self, slot: RequestSlot, request: &ActiveRequest, i: u32) -> bool {
        let lpn = self.host.requests.page(slot, request, i);
        if self.buffer.as_mut().is_some_and(|b| b.read(lpn) || b.awaits(lpn)) || self.writes.get(lpn).is_some() {
            self.host.page_from_memory(slot, lpn, &mut self.state);
            return true;
        }
        let bytes = self.transfer.of(request.bytes_of(i, self.transfer.page_bytes));
        let plane = self.ftl.plane_of(lpn);
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
        let plane = self.policy.place(&self.state.board, lpn, self.ftl.home(lpn));
        let program = self.new_transaction(slot, flow, Owner::User, FlashOp::Program, lpn, plane, on_bus);
        let place = self.supersede(program, lpn);
        if reads_first {
            let from = self.ftl.plane_of(lpn);
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
            self.state.board.txn_mut(read).ppa = self.ftl.lookup(lpn).0;
        }
    }
}
