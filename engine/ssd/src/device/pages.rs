//! A command's pages: each is served from memory or becomes a transaction.

use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::transaction::{FlashOp, held};
use flashlane_core::{FlowId, Lpn, Op, Owner, TxnId};

use super::Device;
use super::effects::ReadId;
use super::transactions::{QueuePlacement, create, hold};
use super::translation::{Waiter, Waits};
use crate::frontend::RequestSlot;

impl Device {
    /// Splits a read or a write into pages: each is served from memory or becomes a transaction.
    #[inline(always)]
    pub(super) fn split_data(&mut self, slot: RequestSlot, request: &ActiveRequest) {
        if self.transactions.plain {
            self.split::<true>(slot, request);
        } else {
            self.split_not_plain(slot);
        }
    }

    #[inline(never)]
    fn split_not_plain(&mut self, slot: RequestSlot) {
        let request = self.state.board.requests[slot as usize];
        self.split::<false>(slot, &request);
        if self.effects.is_empty() {
            // Otherwise they say when.
            self.write_back_entries();
        }
    }

    /// The same where pages take no more than their transactions (`PLAIN`, which is [`Transactions::plain`]), or whatever they take.
    #[inline(always)]
    fn split<const PLAIN: bool>(&mut self, slot: RequestSlot, request: &ActiveRequest) {
        if !PLAIN {
            self.begin_pages();
        }
        self.transactions.overtaking.enters(request);
        if !PLAIN && self.serial.is_some() {
            return self.serve_serially(slot, request);
        }
        if request.op == Op::Read {
            if PLAIN || !self.buffer.as_mut().is_some_and(|buffer| buffer.holds_read(request.flow, slot)) {
                self.read_pages::<PLAIN>(slot, request);
            }
        } else if !PLAIN && self.buffer.as_ref().is_some_and(|b| b.write_back) {
            self.rewrites_entries();
            self.gives_space_back();
            self.fill_buffer(slot, false);
        } else {
            for i in 0..request.pages {
                let lpn = self.frontend.requests.page(slot, request, i);
                if !PLAIN && let Some(buffer) = &mut self.buffer {
                    // The buffer is a read cache here: a write updates the page if it is cached.
                    buffer.read(lpn);
                }
                self.write_page::<PLAIN>(slot, request, lpn, i);
            }
            if !PLAIN {
                self.estimate_request(request);
            }
        }
    }

    /// Serves the pages of a read.
    #[inline(always)]
    fn read_pages<const PLAIN: bool>(&mut self, slot: RequestSlot, request: &ActiveRequest) {
        let mut from_memory = false;
        for i in 0..request.pages {
            from_memory |= self.read_page::<PLAIN>(slot, request, i);
        }
        if !PLAIN {
            self.estimate_request(request);
        }
        if from_memory {
            self.frontend.serve_if_done(slot, &mut self.state);
        }
    }

    /// Serves a read that has waited behind writes without space in the buffer.
    #[cold]
    pub(super) fn read_goes(&mut self, slot: RequestSlot) {
        let request = self.state.board.requests[slot as usize];
        self.begin_pages();
        self.transactions.overtaking.joins_late();
        self.read_pages::<false>(slot, &request);
    }

    /// Serves a trim, write zeroes or a flush, which enters the device.
    #[cold]
    pub(super) fn serve_without_data(&mut self, slot: RequestSlot) {
        let request = self.state.board.requests[slot as usize];
        self.begin_pages();
        self.transactions.overtaking.enters(&request);
        if request.op == Op::Flush {
            // From now on it may complete.
            self.state.board.requests[slot as usize].entered = true;
        }
        match request.op {
            _ if self.serial.is_some() => self.serve_serially(slot, &request),
            Op::Flush => self.serve_flush(slot, request.flow),
            _ => self.trim(slot, &request),
        }
    }

    /// A flush enters the device.
    #[cold]
    fn serve_flush(&mut self, slot: RequestSlot, flow: FlowId) {
        self.rewrites_entries();
        let pages = self.durability.as_ref().map_or(Vec::new(), |durability| durability.pages_of(slot));
        if pages.is_empty() {
            self.frontend.serve_if_done(slot, &mut self.state);
        } else {
            pages.into_iter().for_each(|lpn| self.write_out_if_dirty(lpn, flow));
            self.await_wordlines();
        }
    }

    /// Transactions of a request follow, for which estimates may be asked.
    #[inline(always)]
    fn begin_pages(&mut self) {
        if self.policy.known.needs.estimates {
            self.slack.begin_request();
        }
    }

    /// Asks for estimates of the request just split into pages, if the order decision gives any.
    #[inline(always)]
    fn estimate_request(&mut self, request: &ActiveRequest) {
        if self.policy.known.needs.estimates {
            let Device { slack, policy, flash, transactions, state, .. } = self;
            slack.estimate_request(request.id, policy, flash, &mut transactions.overtaking, state);
        }
    }

    /// Serves one page of a read. Returns whether memory serves it: the buffer has it, or a write of it has not ended or waits for
    /// space in the buffer.
    #[inline(always)]
    fn read_page<const PLAIN: bool>(&mut self, slot: RequestSlot, request: &ActiveRequest, i: u32) -> bool {
        let lpn = self.frontend.requests.page(slot, request, i);
        if PLAIN && self.page_order.youngest_write(lpn).is_none() {
            self.read_flash::<true>(slot, request, lpn, i, None);
            return false;
        }
        if self.serve_from_memory(slot, lpn) {
            return true;
        }
        if self.transactions.looks_up_reads {
            return self.read_by_map(slot, lpn, i);
        }
        self.read_flash::<false>(slot, request, lpn, i, None);
        false
    }

    /// The same where the entry of the page may have to wait, or the map tells that there is no data.
    #[inline(never)]
    fn read_by_map(&mut self, slot: RequestSlot, lpn: Lpn, i: u32) -> bool {
        let request = self.state.board.requests[slot as usize];
        if self.translation.is_some() && self.look_up_for_read(slot, lpn, request.flow, i) {
            return false;
        }
        self.read_looked_up(slot, &request, lpn, i, None)
    }

    /// Serves a page of a read whose entry of the map is known; if that was waited for, with the age that it has. Returns whether memory serves
    /// it: there is no data, and the map tells.
    #[inline(always)]
    fn read_looked_up(
        &mut self,
        slot: RequestSlot,
        request: &ActiveRequest,
        lpn: Lpn,
        i: u32,
        age: Option<u64>,
    ) -> bool {
        let is_blank = !self.has_data(lpn);
        if is_blank {
            self.frontend.page_from_memory(slot, lpn, &mut self.state);
        } else {
            self.read_flash::<false>(slot, request, lpn, i, age);
        }
        is_blank
    }

    /// What waited for entries goes on, now that they are here: pages of a read that follow one another together.
    #[inline(never)]
    pub(super) fn entries_arrived(&mut self, id: ReadId) {
        let Some(translation) = &mut self.translation else { return };
        let all = translation.take_waiters(id);
        let slot_of = |waiter: &Waiter| match waiter.waits {
            Waits::Read { slot, .. } => Some(slot),
            Waits::Program(_) | Waits::Rest => None,
        };
        for waiters in all.chunk_by(|a, b| slot_of(a).is_some() && slot_of(a) == slot_of(b)) {
            waiters.iter().for_each(|waiter| self.entry_arrived(waiter.lpn, waiter.flow));
            match waiters[0].waits {
                Waits::Read { slot, .. } => self.read_pages_late(slot, waiters),
                Waits::Program(id) => self.entry_of_program_arrived(id),
                Waits::Rest => self.read_rest_of_page(waiters[0].lpn),
            }
        }
        if let Some(translation) = &mut self.translation {
            translation.give_back(id, all);
        }
    }

    /// Serves pages of a read whose entries have been waited for.
    fn read_pages_late(&mut self, slot: RequestSlot, waiters: &[Waiter]) {
        let request = self.state.board.requests[slot as usize];
        self.begin_pages();
        self.transactions.overtaking.joins_late();
        let mut from_memory = false;
        for waiter in waiters {
            let Waits::Read { page, age, .. } = waiter.waits else { continue };
            from_memory |= self.serve_from_memory(slot, waiter.lpn)
                || self.read_looked_up(slot, &request, waiter.lpn, page, Some(age));
        }
        self.estimate_request(&request);
        if from_memory {
            self.frontend.serve_if_done(slot, &mut self.state);
        }
    }

    /// Serves a page of a read from memory if that has it. Returns whether it has.
    #[inline(always)]
    fn serve_from_memory(&mut self, slot: RequestSlot, lpn: Lpn) -> bool {
        let serves = self.buffer.as_mut().is_some_and(|b| b.read(lpn) || b.awaits(lpn))
            || self.page_order.youngest_write(lpn).is_some();
        if serves {
            self.frontend.page_from_memory(slot, lpn, &mut self.state);
        }
        serves
    }

    /// Creates the transaction of a page of a read, and puts it into its queue.
    #[inline(always)]
    fn read_flash<const PLAIN: bool>(
        &mut self,
        slot: RequestSlot,
        request: &ActiveRequest,
        lpn: Lpn,
        i: u32,
        age: Option<u64>,
    ) {
        let read = self.make_read::<PLAIN>(slot, request, lpn, i, age);
        self.transactions.enqueue(read, &mut self.policy, &mut self.state);
    }

    /// Creates the transaction of a page of a read, which may be older than its number says.
    #[inline(always)]
    pub(super) fn make_read<const PLAIN: bool>(
        &mut self,
        slot: RequestSlot,
        request: &ActiveRequest,
        lpn: Lpn,
        i: u32,
        age: Option<u64>,
    ) -> TxnId {
        let bytes = self.transactions.on_bus(request.bytes_of(i, self.transactions.page_bytes));
        let plane = self.ftl.map.plane_of(lpn);
        let read = create(slot, request.flow, Owner::User, FlashOp::Read, lpn, plane, bytes, &mut self.state);
        if !PLAIN {
            self.is_of_request(read);
            let txn = self.state.board.txn_mut(read);
            txn.age_bonus = age.map_or(0, |age| txn.serial - age);
        }
        self.page_order.add_read(lpn, read);
        if self.transactions.address_reads {
            self.address_read(read, lpn);
        }
        read
    }

    /// Serves one page of a write.
    #[inline(always)]
    fn write_page<const PLAIN: bool>(&mut self, slot: RequestSlot, request: &ActiveRequest, lpn: Lpn, i: u32) {
        let flow = request.flow;
        let page_bytes = self.transactions.page_bytes;
        let bytes = request.bytes_of(i, page_bytes);
        let partial = bytes < page_bytes && self.transactions.read_modify_write;
        let on_bus = self.transactions.on_bus(if partial { page_bytes } else { bytes });
        let reads_first = partial && self.page_order.youngest_write(lpn).is_none() && self.has_data(lpn);
        let plane = self.place(lpn);
        let program = create(slot, flow, Owner::User, FlashOp::Program, lpn, plane, on_bus, &mut self.state);
        if !PLAIN {
            self.is_of_request(program);
        }
        let place = self.supersede(program, lpn);
        if reads_first {
            hold(program, held::REST, &mut self.state.board);
        }
        if !PLAIN && self.translation.is_some() && place.is_none() && self.hold_for_entry(program) {
            return;
        }
        if reads_first {
            self.read_rest(program);
        } else {
            let place = place.unwrap_or(QueuePlacement::AsOrdered);
            self.transactions.enqueue_at(program, place, &mut self.policy, &mut self.state);
        }
    }

    /// Notes a transaction of the request that is being split into pages, if estimates are made of them or an answer looks at them.
    #[inline(always)]
    fn is_of_request(&mut self, id: TxnId) {
        if self.policy.known.needs.estimates {
            self.slack.add(id);
        }
        if self.policy.known.keeps.request_pages {
            self.state.board.joins_request(id);
        }
    }
}
