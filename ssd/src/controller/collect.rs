//! Garbage collection as transactions: a read and a program for every valid page of the victim, then its erase.

use flashlane_core::decide::Style;
use flashlane_core::event::{End, Event};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, FlowId, Lpn, Owner, PlaneId, Ppa, Transaction, TxnId};

use super::Device;
use crate::front::SlotId;

impl Device {
    /// Begins to collect `plane` if it does not already and some block would yield a page.
    pub(super) fn start_collection(&mut self, plane: PlaneId) {
        if let Style::Free = self.style {
            while self.ftl.wants_collection(plane) && self.collect_for_free(plane) {}
            self.ftl.show(&mut self.board, plane);
            return;
        }
        let Some(job) = self.ftl.start_job(plane, &self.board, &mut self.log) else { return };
        self.ftl.show(&mut self.board, plane);
        let mut pages = core::mem::take(&mut self.scratch);
        self.ftl.valid_pages(plane, job.block, &mut pages);
        let bytes = self.board.facts.geometry.page_bytes + self.metadata_bytes;
        for &ppa in &pages {
            let lpn = self.ftl.owner(plane, ppa).expect("a valid page has an owner");
            let read = self.new_txn(SlotId::MAX, FlowId(0), Owner::Gc, FlashOp::Read, lpn, plane, bytes);
            self.board.txn_mut(read.id).ppa = ppa.0;
            self.enqueue_made(read);
        }
        if pages.is_empty() {
            self.queue_erase(plane, job.block);
        }
        self.scratch = pages;
    }

    /// Empties and erases a victim at this instant, at no cost. Whether one was found.
    fn collect_for_free(&mut self, plane: PlaneId) -> bool {
        let Some(job) = self.ftl.start_job(plane, &self.board, &mut self.log) else { return false };
        let mut pages = core::mem::take(&mut self.scratch);
        self.ftl.valid_pages(plane, job.block, &mut pages);
        for &old in &pages {
            let lpn = self.ftl.owner(plane, old).expect("a valid page has an owner");
            let ppa = self.ftl.move_page(lpn, plane, old);
            self.log.push(self.board.now, Event::Mapped { lpn, plane, ppa: ppa.0 });
        }
        self.scratch = pages;
        self.ftl.erased(plane, job.block);
        self.note_erase();
        self.log.push(self.board.now, Event::Erased { plane, block: job.block });
        true
    }

    /// Whether a waiting move's page has been overwritten since the move was queued.
    pub(super) fn is_stale(&self, id: TxnId) -> bool {
        let txn = self.board.txn(id);
        txn.op != FlashOp::Erase && !self.ftl.is_valid(txn.plane, Ppa(txn.ppa))
    }

    /// Drops a move whose page is no longer valid.
    pub(super) fn drop_move(&mut self, id: TxnId) {
        self.leave_queue(id);
        let txn = self.board.txn(id);
        let (plane, serial) = (txn.plane, txn.serial);
        self.tally.stale_moves += 1;
        self.log.push(self.board.now, Event::Ended { txn: serial, end: End::Stale, paused: Duration::ZERO });
        self.release(id);
        self.move_ended(plane);
    }

    /// A garbage-collection transaction's flash work is done.
    pub(super) fn gc_ended(&mut self, id: TxnId) {
        let Transaction { op, lpn, plane, bytes, ppa, .. } = *self.board.txn(id);
        match op {
            FlashOp::Read => {
                let program = self.new_txn(SlotId::MAX, FlowId(0), Owner::Gc, FlashOp::Program, lpn, plane, bytes);
                // Until it is bound, the program carries the address it moves from.
                self.board.txn_mut(program.id).ppa = ppa;
                self.enqueue_made(program);
            }
            FlashOp::Program => self.move_ended(plane),
            FlashOp::Erase => {
                let block = ppa / self.board.facts.geometry.pages_per_block;
                self.ftl.erased(plane, block);
                self.note_erase();
                self.log.push(self.board.now, Event::Erased { plane, block });
                if self.ftl.wants_collection(plane) {
                    self.start_collection(plane);
                }
                self.ftl.show(&mut self.board, plane);
            }
        }
    }

    /// A block was erased: what flows wrote is counted from here (FLIN eq. 10).
    fn note_erase(&mut self) {
        if self.owners {
            self.board.flows.iter_mut().for_each(|flow| flow.programmed_at_erase = flow.programmed);
        }
    }

    fn move_ended(&mut self, plane: PlaneId) {
        if let Some(block) = self.ftl.move_ended(plane) {
            self.queue_erase(plane, block);
        }
    }

    fn queue_erase(&mut self, plane: PlaneId, block: u32) {
        let erase = self.new_txn(SlotId::MAX, FlowId(0), Owner::Gc, FlashOp::Erase, Lpn(0), plane, 0);
        let ppa = block * self.board.facts.geometry.pages_per_block;
        self.board.txn_mut(erase.id).ppa = ppa;
        self.enqueue_made(erase);
    }
}
