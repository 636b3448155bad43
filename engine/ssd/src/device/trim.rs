//! Trims and write zeroes: whole pages lose their copies, at the instant the command enters the device.
//!
//! A trim is ordered like a write of its pages. Reads that were there before keep the copy. A program under way ends, and its page is
//! invalid at once. A write that waits (in a queue, for the read of the rest of its page, on its way to another unit, or for space in
//! the buffer) is dropped and counts as done.

use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::transaction::{FlashOp, Stage, held, tag};
use flashlane_core::{Duration, FlowId, Lpn, Owner, Transaction};

use super::Device;
use crate::buffer::Buffer;
use crate::frontend::RequestSlot;

impl Device {
    /// Serves a trim.
    #[cold]
    pub(super) fn trim(&mut self, slot: RequestSlot, request: &ActiveRequest) {
        self.page_order.follow_reads(&self.state.board);
        let page = |i| self.frontend.requests.page(slot, request, i);
        let list: Option<Vec<Lpn>> = request.scattered.then(|| (0..request.pages).map(page).collect());
        let range = request.lpn.0..request.lpn.0 + request.pages;
        let holds = |lpn: Lpn| list.as_ref().map_or(range.contains(&lpn.0), |list| list.contains(&lpn));
        self.drop_writes_that_wait_for_space(holds);
        let mut mapped = 0;
        for i in 0..request.pages {
            let lpn = self.frontend.requests.page(slot, request, i);
            mapped += u64::from(self.unmap_page(lpn, request.flow));
        }
        self.host_changes_pages();
        self.report_unmapped(slot, request);
        if self.durability.is_some() {
            for i in 0..request.pages {
                self.no_longer_dirty(self.frontend.requests.page(slot, request, i), None);
            }
        }
        self.gc.collect_emptied(&mut self.state, &mut self.ftl);
        let unmap = self.unmap;
        let time = unmap.command.ns().saturating_add(unmap.page.ns().saturating_mul(mapped));
        self.frontend.ends_after(slot, Duration::from_ns(time), &mut self.state);
        self.rewrites_entries();
        let parts = self.buffer.as_ref().filter(|buffer| buffer.write_back).map_or(0, Buffer::parts);
        (0..parts).rev().for_each(|part| self.uses_space(FlowId(part)));
    }

    /// Unmaps a page. Returns whether it had a copy.
    fn unmap_page(&mut self, lpn: Lpn, flow: FlowId) -> bool {
        let is_written = self.page_order.youngest_write(lpn).is_some();
        let program_dropped = self.drop_programs(lpn);
        if let Some(wordlines) = &mut self.wordlines {
            wordlines.forget(lpn);
        }
        self.rests.iter_mut().for_each(|rests| _ = rests.forget(lpn));
        if let Some(buffer) = self.buffer.as_mut().filter(|buffer| buffer.merges)
            && buffer.trim(lpn, program_dropped)
        {
            self.disown_program(lpn);
        }
        if is_written && self.durability.is_some() {
            self.disown_program(lpn);
        }
        if !self.ftl.has_copy(lpn) {
            return false;
        }
        self.page_order.keep_copies(lpn, &self.ftl, &mut self.gc, &mut self.state.board);
        let Some((plane, _)) = self.ftl.unmap(lpn, flow, &mut self.state.board) else { return false };
        if self.policy.known.keeps.valid_pages {
            self.state.board.planes[plane.index()].valid_pages -= 1;
        }
        self.gc.page_left(plane, &self.ftl);
        true
    }

    /// Drops the writes of a page that have not begun, in a queue or held, whatever for. Returns whether one was a program of the buffer.
    fn drop_programs(&mut self, lpn: Lpn) -> bool {
        let mut id = self.page_order.forget_writes(lpn);
        let mut of_buffer = false;
        while id.is_some() {
            let Transaction { blocked_by, stage, held: reasons, owner, reserves_slc, .. } = *self.state.board.txn(id);
            if stage != Stage::InService {
                of_buffer |= owner == Owner::Buffer;
                if !self.take_from_wordline(id) {
                    self.drop_program(id);
                    let first = if reasons & held::SIBLINGS != 0 {
                        self.wordline_lost_a_page(id)
                    } else {
                        self.wordline_lost_its_lead(id)
                    };
                    if let Some(first) = first.filter(|_| reserves_slc) {
                        self.reserve_cache_row(first);
                    }
                }
            }
            id = blocked_by;
        }
        of_buffer
    }

    /// The program of a page in the buffer that is in service is no longer that of what the buffer holds.
    fn disown_program(&mut self, lpn: Lpn) {
        let is_it = |txn: &Transaction| {
            let runs = txn.stage == Stage::InService && txn.op == FlashOp::Program;
            runs && txn.lpn == lpn && txn.owner == Owner::Buffer && txn.tag & tag::TRIMMED == 0
        };
        for program in self.state.board.txns.iter_mut().filter(|txn| is_it(txn)) {
            program.tag |= tag::TRIMMED;
            self.durability.iter_mut().for_each(|durability| durability.program_gone(lpn));
        }
    }

    /// The pages of waiting writes that are trimmed need no space in the buffer: they are done.
    fn drop_writes_that_wait_for_space(&mut self, is_trimmed: impl Fn(Lpn) -> bool) {
        let Some(buffer) = &self.buffer else { return };
        let waiting: Vec<RequestSlot> = buffer.all_waiting().collect();
        for slot in waiting {
            let request = self.state.board.requests[slot as usize];
            let mut dropped = Vec::new();
            for i in request.buffered..request.pages {
                let lpn = self.frontend.requests.page(slot, &request, i);
                let buffer = self.buffer.as_mut().expect("writes wait for its space");
                if is_trimmed(lpn) && buffer.trimmed.insert((slot, i)) {
                    self.frontend.page_dropped(slot, lpn, &mut self.state);
                    dropped.push(lpn);
                }
            }
            if dropped.is_empty() {
                continue;
            }
            let buffer = self.buffer.as_mut().expect("writes wait for its space");
            let stored = buffer.stop_waiting(request.flow, slot, &dropped);
            self.state.board.waiting_for_buffer = buffer.waiting_writes();
            self.frontend.dropped_if_done(slot, stored.filter(|_| !request.fua), &mut self.state);
        }
    }
}
