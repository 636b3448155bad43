//! Writes that complete in the page buffer, and those that wait for its space.

use flashlane_core::board::ActiveRequest;
use flashlane_core::transaction::{Stage, tag};
use flashlane_core::{FlowId, Lpn, Op, Transaction, TxnId};

use super::Device;
use super::effects::{Effect, Why, WriteOut};
use crate::buffer::{Buffer, Stored};
use crate::frontend::RequestSlot;

/// What became of a page of a write.
enum Put {
    /// The buffer has no space for it, or it is not its turn yet.
    NoSpace,
    /// It is in the buffer.
    Stored,
    /// It is in the buffer, and is written out at once.
    WritesOut(WriteOut),
}

impl Device {
    /// Writes as many pages of a request into the buffer as it has space for; the rest waits. `waited` if the request is the first of those
    /// that wait for space. A page that takes a program with it goes first with that.
    pub(super) fn fill_buffer(&mut self, slot: RequestSlot, waited: bool) {
        let request = self.state.board.requests[slot as usize];
        let (flow, pages) = (request.flow, request.pages);
        let mut cursor = request.buffered;
        let must_queue = !waited && self.buffer.as_ref().is_some_and(|b| b.has_waiting(flow));
        while cursor < pages && !must_queue {
            let lpn = self.frontend.requests.page(slot, &request, cursor);
            if waited && self.buffer.as_mut().is_some_and(|buffer| buffer.passes_over(slot, cursor)) {
                cursor += 1;
                continue;
            }
            let put = self.store(slot, cursor, lpn, flow);
            if matches!(put, Put::NoSpace) {
                break;
            }
            if waited && let Some(buffer) = &mut self.buffer {
                buffer.no_longer_waits(lpn);
            }
            cursor += 1;
            if let Put::WritesOut(page) = put {
                self.state.board.requests[slot as usize].buffered = cursor;
                self.effects.push(Effect::FillBuffer { slot, waited });
                self.effects.push(Effect::WriteOut(page));
                return;
            }
        }
        self.state.board.requests[slot as usize].buffered = cursor;
        self.filled(slot, &request, cursor, waited);
    }

    /// A request has put its pages before the number `cursor` into the buffer; the others wait for space.
    fn filled(&mut self, slot: RequestSlot, request: &ActiveRequest, cursor: u32, waited: bool) {
        let (flow, pages) = (request.flow, request.pages);
        let buffer = self.buffer.as_mut().expect("only called with a buffer");
        match (waited, cursor == pages) {
            (false, false) => {
                let (requests, stored) = (&self.frontend.requests, (cursor > 0).then_some(self.state.board.now));
                buffer.wait(flow, slot, stored, (cursor..pages).map(|i| requests.page(slot, request, i)));
            }
            (true, _) => {
                let wanted = pages - cursor - buffer.trimmed_from(slot, cursor);
                buffer.still_waits_for(flow, wanted, self.state.board.now);
                if buffer.first_waiting(flow).is_some_and(|first| first != slot) {
                    self.effects.push(Effect::SpaceFreed(flow));
                }
            }
            (false, true) => {}
        }
        self.state.board.waiting_for_buffer = buffer.waiting_writes();
        if buffer.must_flush(flow) {
            self.effects.push(Effect::FlushPart(flow));
        }
        let is_paced = buffer.is_paced();
        self.frontend.serve_if_done(slot, &mut self.state);
        if is_paced {
            self.set_timer();
        }
    }

    /// Writes a request's page of this number into the buffer, if it has space. A program of the page that still waits may be dropped for a
    /// younger one.
    #[inline(always)]
    fn store(&mut self, slot: RequestSlot, number: u32, lpn: Lpn, flow: FlowId) -> Put {
        if self.buffer.as_ref().is_some_and(|buffer| !buffer.may_enter(flow, self.state.board.now)) {
            return Put::NoSpace;
        }
        let old = self.page_order.youngest_write(lpn);
        let waits = old.is_some() && self.state.board.txn(old).stage == Stage::Waiting;
        // What was gathered is programmed so.
        let replaces = waits && !self.is_gathered(old) && self.policy.drops(&self.state.board, old);
        let owner = if replaces { self.state.board.txn(old).flow } else { flow };
        let fua = self.state.board.requests[slot as usize].fua;
        let awaited_by = if fua { slot } else { RequestSlot::MAX };
        let buffer = self.buffer.as_mut().expect("only called with a buffer");
        if buffer.merges {
            let is_held = self.rests.is_some() && buffer.contains(lpn);
            if replaces {
                // The page stays in the part of the buffer that it is in.
                buffer.renew(lpn);
            } else if buffer.write(lpn, flow) == Stored::Full {
                return Put::NoSpace;
            }
            self.page_stored(slot, lpn, flow, old);
            let in_part = self.rests.is_some() && self.changes_rest(slot, number, lpn, is_held);
            let why = match (replaces, in_part) {
                (true, _) => Why::Renewed,
                (_, true) => Why::InPart,
                _ => Why::Awaited,
            };
            let page = WriteOut { lpn, flow: owner, why, awaited_by };
            return if replaces || fua || in_part { Put::WritesOut(page) } else { Put::Stored };
        }
        let keeps_page = replaces && buffer.share_part(owner, flow);
        if !keeps_page && buffer.take(flow) == Stored::Full {
            return Put::NoSpace;
        }
        if replaces && !keeps_page {
            buffer.give_back_early(owner);
        }
        self.page_stored(slot, lpn, flow, old);
        Put::WritesOut(WriteOut { lpn, flow, why: Why::EachWrite, awaited_by })
    }

    /// A page of a write was stored, of which the buffer had a version before if `is_held`. Returns whether it lacks its rest since, or lacks it
    /// no longer because it was written whole.
    #[cold]
    fn changes_rest(&mut self, slot: RequestSlot, number: u32, lpn: Lpn, is_held: bool) -> bool {
        let page_bytes = self.transactions.page_bytes;
        let request = &self.state.board.requests[slot as usize];
        let (flow, is_whole) = (request.flow, request.bytes_of(number, page_bytes) == page_bytes);
        let has_data = self.has_data(lpn);
        let (Some(rests), Some(buffer)) = (&mut self.rests, &mut self.buffer) else { return false };
        if is_whole {
            let Some(flow) = rests.forget(lpn) else { return false };
            buffer.is_dirty_again(lpn);
            if buffer.must_flush(flow) {
                self.effects.push(Effect::FlushPart(flow));
            }
            return true;
        }
        let lacks = !is_held && has_data;
        if lacks {
            rests.add(lpn, flow);
            buffer.lacks_rest(lpn);
        }
        lacks
    }

    /// A page of a write of `flow` is in the buffer; `youngest` is the youngest write of the page before that has not ended.
    fn page_stored(&mut self, slot: RequestSlot, lpn: Lpn, flow: FlowId, youngest: TxnId) {
        let now = self.state.board.now;
        self.buffer.iter_mut().for_each(|buffer| buffer.entered(flow, now));
        self.frontend.page_stored(slot, lpn, &mut self.state);
        if let Some(durability) = &mut self.durability {
            durability.stored(slot, lpn, youngest, &self.state.board);
        }
    }

    /// A dirty page was written to the flash: writes that wait for space use its slot.
    pub(super) fn page_flushed(&mut self, id: TxnId) {
        let Transaction { lpn, flow, tag, .. } = *self.state.board.txn(id);
        let buffer = self.buffer.as_mut().expect("only a buffer flushes");
        if buffer.merges && tag & tag::TRIMMED == 0 {
            buffer.flushed(lpn);
        } else {
            buffer.give_back(flow);
        }
        self.rewrites_entries();
        self.gives_space_back();
        self.uses_space(flow);
    }

    /// If writes wait for space in `flow`'s part of the buffer, or it has pages to write out, these are next.
    #[inline]
    pub(super) fn uses_space(&mut self, flow: FlowId) {
        if let Some(buffer) = &self.buffer {
            if buffer.has_waiting(flow) {
                self.effects.push(Effect::SpaceFreed(flow));
            } else if buffer.must_flush(flow) {
                self.effects.push(Effect::FlushPart(flow));
            }
        }
    }

    /// Parts to which cancelled programs have given pages back are used afterwards.
    pub(super) fn gives_space_back(&mut self) {
        if self.buffer.as_ref().is_some_and(|buffer| !buffer.merges) {
            self.effects.push(Effect::SpaceGivenBack);
        }
    }

    /// Writes that wait for space in `flow`'s part of the buffer use what there is, one after the other, and reads behind them go on.
    pub(super) fn space_freed(&mut self, flow: FlowId) {
        let Some(buffer) = &mut self.buffer else { return };
        let Some(slot) = buffer.first_waiting(flow) else { return };
        if self.state.board.requests[slot as usize].op == Op::Write {
            return self.fill_buffer(slot, true);
        }
        buffer.read_goes(flow);
        self.uses_space(flow);
        self.effects.push(Effect::ReadGoes(slot));
    }

    /// The same in the parts to which cancelled programs have given pages back.
    pub(super) fn space_given_back(&mut self) {
        if let Some(flow) = self.buffer.as_mut().and_then(Buffer::next_with_space) {
            self.effects.push(Effect::SpaceGivenBack);
            self.uses_space(flow);
        }
    }
}
