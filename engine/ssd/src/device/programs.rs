//! Programs of pages of the buffer and of translation pages, from the decision that a page is written out to the queue of its plane: by itself
//! or in a wordline, perhaps once its entry of the map is in memory. And writes that wait for an entry.

use alloc::format;
use alloc::vec::Vec;

use flashlane_core::transaction::{FlashOp, Stage, held, tag};
use flashlane_core::{FlowId, Lpn, Owner, PlaneId, Transaction, TxnId};

use super::effects::{Why, WriteOut};
use super::transactions::{QueuePlacement, create, may_queue};
use super::wordlines::{GatheredPage, Wordlines};
use super::{Device, Fault};
use crate::frontend::RequestSlot;
use crate::ftl::{MappingCache, Rewrite};

// Pages of the buffer.

impl Device {
    /// Writes a page of the buffer out.
    pub(super) fn write_out(&mut self, WriteOut { lpn, flow, why, awaited_by }: WriteOut) {
        let is_awaited = awaited_by != RequestSlot::MAX;
        match why {
            Why::EachWrite => self.program_page(lpn, flow),
            Why::Renewed => {
                let plane = self.place(lpn);
                self.program_at(plane, lpn, flow);
                return self.program_renewed(lpn, is_awaited.then_some(awaited_by));
            }
            Why::InPart => self.looks_for_rest(lpn, flow),
            Why::Awaited => {}
        }
        if is_awaited {
            self.waits_for_page(awaited_by, lpn);
        }
        if is_awaited || why == Why::Awaited {
            self.write_out_if_dirty(lpn, flow);
            self.await_wordline(lpn);
        }
    }

    /// Writes a page out if it is dirty and no program of it is under way.
    pub(super) fn write_out_if_dirty(&mut self, lpn: Lpn, flow: FlowId) {
        let part = self.buffer.as_mut().and_then(|buffer| buffer.begin_flush(lpn, flow));
        if let Some(flow) = part {
            self.program_page(lpn, flow);
        }
    }

    /// Creates a program for every page that `flow`'s part of the buffer must write out now.
    pub(super) fn flush_part(&mut self, flow: FlowId) {
        while let Some(lpn) = self.buffer.as_mut().and_then(|b| b.next_flush(flow)) {
            self.program_page(lpn, flow);
        }
    }

    /// Creates a program of a page in the buffer; with one-shot programs, if the page goes to the SLC cache by itself. Else it is gathered.
    fn program_page(&mut self, lpn: Lpn, flow: FlowId) {
        let plane = self.place_in_row(lpn);
        if self.wordlines.is_none() {
            self.program_at(plane, lpn, flow);
        } else if !self.ftl.has_rows() && self.cache_has_row(plane) {
            self.program_to_cache(lpn, flow, plane);
        } else {
            self.gather_page(lpn, flow, plane);
        }
    }

    /// Gathers a page. Rows go to the SLC cache as far as that has any; what is full otherwise becomes a program of native cells.
    fn gather_page(&mut self, lpn: Lpn, flow: FlowId, plane: PlaneId) {
        let is_full = self.gather(lpn, flow, plane);
        if self.ftl.has_rows() && self.ftl.has_slc {
            let slots = self.wordlines.as_ref().map_or(1, Wordlines::slots);
            self.rows_to_cache(plane, slots);
        }
        if is_full && self.wordlines.as_ref().is_some_and(|wordlines| wordlines.is_full(plane)) {
            self.close_wordline(plane);
        }
    }

    /// Creates a program of a page in the buffer, in `plane`.
    fn program_at(&mut self, plane: PlaneId, lpn: Lpn, flow: FlowId) {
        let bytes = self.transactions.page_on_bus();
        let (no_request, op) = (RequestSlot::MAX, FlashOp::Program);
        let program = create(no_request, flow, Owner::Buffer, op, lpn, plane, bytes, &mut self.state);
        if self.wordlines.is_some() {
            self.reserve_cache_row(program);
        }
        if let Some(durability) = &mut self.durability {
            durability.program_created(lpn);
        }
        let place = self.supersede(program, lpn);
        if self.translation.is_some() && place.is_none() && self.hold_for_entry(program) {
            return;
        }
        let place = place.unwrap_or(QueuePlacement::AsOrdered);
        self.transactions.overtaking.joins_late();
        self.transactions.enqueue_at(program, place, &mut self.policy, &mut self.state);
    }
}

// Wordlines.

impl Device {
    /// A page of the buffer goes to the SLC cache by itself.
    fn program_to_cache(&mut self, lpn: Lpn, flow: FlowId, plane: PlaneId) {
        self.buffer.iter_mut().for_each(|buffer| buffer.program_is_made(lpn));
        self.program_at(plane, lpn, flow);
    }

    /// Programs the wordlines that are not full and wait no longer. As far as the SLC cache has rows by now, it takes theirs one by one.
    #[cold]
    pub(super) fn close_wordlines(&mut self) {
        let now = self.state.now();
        let due = self.wordlines.as_mut().map(|wordlines| wordlines.take_due(now)).unwrap_or_default();
        for plane in due {
            self.rows_to_cache(plane, 1);
            self.close_wordline(plane);
        }
        self.set_wordline_deadline();
        if self.wordlines.as_ref().is_some_and(|wordlines| wordlines.gathers_map) {
            // Lookups may have driven out entries of the pages that these programs write.
            self.write_back_entries();
        }
    }

    /// Makes programs for the SLC cache of the pages that are gathered for `plane`, a row each, as far as it has rows and `least` pages are left.
    fn rows_to_cache(&mut self, plane: PlaneId, least: usize) {
        while self.goes_to_cache_next(plane)
            && let Some(row) = self.wordlines.as_mut().and_then(|wordlines| wordlines.take_row(plane, least))
        {
            match row[..] {
                [(lpn, flow, _)] if !self.ftl.has_rows() => {
                    let plane = if self.policy.known.binds_at_dispatch { self.place(lpn) } else { plane };
                    self.program_to_cache(lpn, flow, plane);
                }
                _ => self.make_program(row, plane, true),
            }
        }
    }

    /// Makes the program of the pages that are gathered for `plane`, if there are any, in native cells.
    fn close_wordline(&mut self, plane: PlaneId) {
        if let Some(wordlines) = &mut self.wordlines {
            let pages = wordlines.take_all(plane);
            self.make_program(pages, plane, false);
        }
    }

    /// Makes a program of these pages, in `plane` or where the place decision says at dispatch: `to_cache` if it is a row for the SLC cache. It joins its
    /// queue once the entries of all its pages are in memory.
    fn make_program(&mut self, pages: Vec<GatheredPage>, plane: PlaneId, to_cache: bool) {
        let (bytes, no_request, op) = (self.transactions.page_on_bus(), RequestSlot::MAX, FlashOp::Program);
        let mut made = Vec::with_capacity(pages.len());
        for (lpn, flow, _) in pages {
            let is_of_map = self.wordlines.as_mut().is_some_and(|wordlines| wordlines.take_of_map(lpn));
            let owner = if is_of_map { Owner::Mapping } else { Owner::Buffer };
            if let Some(buffer) = self.buffer.as_mut().filter(|_| !is_of_map) {
                buffer.program_is_made(lpn);
            }
            let id = create(no_request, flow, owner, op, lpn, plane, bytes, &mut self.state);
            let dropped = self.supersede(id, lpn);
            debug_assert!(dropped.is_none(), "a page is gathered once its program has ended");
            if !is_of_map && self.translation.is_some() {
                self.hold_for_entry(id);
            }
            made.push(id);
        }
        if let Some(&first) = made.first().filter(|_| to_cache) {
            self.reserve_cache_row(first);
        }
        self.give_off(made);
    }
}

// Translation pages.

impl Device {
    /// Writes translation pages anew whose dirty entries have made room. To be called when what made them do so is over: a completion and what
    /// it released, an arrival, or the decisions of the units.
    #[inline]
    pub(super) fn write_back_entries(&mut self) {
        if self.ftl.cache.as_ref().is_some_and(MappingCache::has_rewrites) {
            self.rewrite_translation_pages();
        }
    }

    /// Writes translation pages anew whose dirty entries are no longer held. A program of the page that still waits will include them.
    #[cold]
    fn rewrite_translation_pages(&mut self) {
        while let Some(Rewrite { page, flow, is_whole }) =
            self.ftl.cache.as_mut().and_then(|cache| cache.next_rewrite())
        {
            let write = self.page_order.youngest_write(page);
            let is_gathered = self.wordlines.as_ref().is_some_and(|wordlines| wordlines.has_of_map(page));
            if is_gathered || write.is_some() && self.state.board.txn(write).stage != Stage::InService {
                continue;
            }
            let read = self.translation.as_mut().and_then(|translation| translation.read_of(page));
            if write.is_some() || is_whole {
                // Memory has the whole page.
                read.into_iter().for_each(|read| read.rewrite = None);
                self.program_translation_page(page, flow);
            } else if let Some(read) = read {
                read.rewrite.get_or_insert(flow);
            } else {
                self.read_to_rewrite(page, flow);
            }
        }
    }

    /// A translation page that was read is written anew; read again first, unless that was the `whole` page.
    pub(super) fn rewrite_page(&mut self, page: Lpn, flow: FlowId, whole: bool) {
        if whole {
            self.program_translation_page(page, flow);
        } else {
            self.read_to_rewrite(page, flow);
        }
    }

    /// Creates a program of a translation page, of which no other waits: by itself, or gathers it with pages of the buffer. Where a row is a page, one for
    /// which the SLC cache has none makes a program of what is gathered for its plane.
    fn program_translation_page(&mut self, page: Lpn, flow: FlowId) {
        if let Some(translation) = &mut self.translation {
            translation.in_a_row += 1;
            if translation.in_a_row > translation.too_many {
                self.stop_endless_collection();
            }
        }
        let plane = self.place_in_row(page);
        if let Some(wordlines) = self.wordlines.as_mut().filter(|wordlines| wordlines.gathers_map) {
            wordlines.add_of_map(page);
            return self.gather_page(page, flow, plane);
        }
        if self.wordlines.is_some() && !self.cache_has_row(plane) {
            self.wordlines.iter_mut().for_each(|wordlines| wordlines.add_of_map(page));
            self.gather(page, flow, plane);
            return self.close_wordline(plane);
        }
        let (no_request, op, bytes) = (RequestSlot::MAX, FlashOp::Program, self.transactions.page_on_bus());
        let program = create(no_request, flow, Owner::Mapping, op, page, plane, bytes, &mut self.state);
        if self.wordlines.is_some() {
            self.reserve_cache_row(program);
        }
        let dropped = self.supersede(program, page);
        debug_assert!(dropped.is_none(), "a waiting program of a translation page takes further entries along");
        self.transactions.overtaking.joins_late();
        self.transactions.enqueue(program, &mut self.policy, &mut self.state);
    }

    /// Stops the device: writing the entries that garbage collection changes takes more pages than it frees, so that it would never end.
    #[cold]
    fn stop_endless_collection(&mut self) {
        let pages = self.translation.as_ref().map_or(0, |translation| translation.too_many);
        let apart = if self.ftl.separates_moves() {
            ""
        } else {
            "give moved pages blocks of their own (gc.separate_frontier), "
        };
        self.fault.get_or_insert(Fault {
            at: self.state.now(),
            message: format!(
                "the map keeps the drive busy: {pages} translation pages, as many as the drive has pages, were written without a page of the \
                 host in between, because collection changes more entries of the map than fit into the pages it frees; hold more entries \
                 (mapping.entries, mapping.host_entries), {apart}lower the user capacity or raise over-provisioning"
            ),
        });
    }
}

// What a write waits for before it joins its queue.

impl Device {
    /// The entry that a program was held for has arrived: the rest of its page may be read, and its wordline may be complete.
    pub(super) fn entry_of_program_arrived(&mut self, id: TxnId) {
        let Transaction { held: reasons, tag, .. } = *self.state.board.txn(id);
        if reasons & held::REST != 0 && tag & tag::TRIMMED != 0 {
            may_queue(id, held::REST, &mut self.state);
        } else if reasons & held::REST != 0 {
            self.read_rest(id);
        }
        self.transactions.release(id, held::ENTRY, &mut self.policy, &mut self.state);
        if reasons & held::SIBLINGS != 0 {
            self.give_off_if_complete(id);
        }
    }
}
