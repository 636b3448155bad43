//! Garbage collection as transactions: a read and a program for every valid page of the victim, then its erase.

use flashlane_core::board::Service;
use flashlane_core::decide::Style;
use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, FlowId, Lpn, Owner, PlaneId, Ppa, Transaction, TxnId, UnitId};

use super::Device;
use super::moves::Move;
use crate::ftl::Stream;

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
        let unit = self.board.home_of(plane).0;
        let pages = self.moves.list(plane);
        self.ftl.valid_pages(plane, job.block, pages);
        let count = pages.len() as u32;
        if self.log.on {
            self.report_moves(plane);
        }
        self.moves.wait(unit, plane, self.serials, self.board.now);
        self.serials += u64::from(count);
        self.board.units[unit.index()].gc.reads += count;
        if count == 0 {
            self.queue_erase(plane, job.block);
        } else {
            self.collection_waits(unit);
        }
    }

    /// Garbage collection has come to wait for the unit: it must decide, unless it is busy.
    #[inline(always)]
    fn collection_waits(&mut self, unit: UnitId) {
        if self.board.units[unit.index()].service != Service::Busy {
            self.agenda.mark(unit);
        }
    }

    /// Reports the moves in the plane's list, which now wait.
    #[cold]
    fn report_moves(&mut self, plane: PlaneId) {
        for i in 0..self.moves.list(plane).len() {
            let lpn = self.moves.list(plane)[i].1;
            self.report_waiting(self.serials + i as u64, FlashOp::Read, lpn, plane);
        }
    }

    /// Reports that a transaction of garbage collection waits.
    #[cold]
    fn report_waiting(&mut self, txn: u64, op: FlashOp, lpn: Lpn, plane: PlaneId) {
        let bytes = if op == FlashOp::Erase { 0 } else { self.page_on_bus() };
        let (request, flow, owner) = (None, FlowId(0), Owner::Gc);
        self.log.push(self.board.now, || Event::Queued { txn, request, flow, op, owner, lpn, plane, bytes });
    }

    /// Empties and erases a victim at this instant, at no cost. Whether one was found.
    fn collect_for_free(&mut self, plane: PlaneId) -> bool {
        let Some(job) = self.ftl.start_job(plane, &self.board, &mut self.log) else { return false };
        let pages = self.moves.list(plane);
        self.ftl.valid_pages(plane, job.block, pages);
        for &(old, lpn) in pages.iter() {
            let ppa = self.ftl.move_page(lpn, plane, old);
            self.log.push(self.board.now, || Event::Mapped { lpn, plane, ppa: ppa.0 });
        }
        self.ftl.erased(plane, job.block);
        self.note_erase();
        self.log.push(self.board.now, || Event::Erased { plane, block: job.block });
        true
    }

    /// Begins the unit's next garbage-collection command, if one is ready: programs before erases before reads, so that
    /// a victim is finished before the next is begun.
    #[inline(always)]
    pub(super) fn dispatch_gc(&mut self, unit: UnitId) -> bool {
        // Dropping the last stale move may have queued the erase.
        self.finish_moves(unit) || self.begin_read(unit) || self.begin_erase(unit)
    }

    /// Begins the program of a page that has been read, else the erase of an empty victim. Whether there was one.
    #[inline(always)]
    pub(super) fn finish_moves(&mut self, unit: UnitId) -> bool {
        (self.board.units[unit.index()].gc.programs > 0 && self.begin_program(unit)) || self.begin_erase(unit)
    }

    /// Begins the unit's next move. Whether there was one.
    #[inline(always)]
    pub(super) fn begin_read(&mut self, unit: UnitId) -> bool {
        self.board.units[unit.index()].gc.reads > 0 && self.begin_move(unit)
    }

    /// The same where moves wait, which may be stale.
    #[inline(never)]
    fn begin_move(&mut self, unit: UnitId) -> bool {
        while self.board.units[unit.index()].gc.reads > 0 {
            self.moves.coming(unit).iter().for_each(|&(_, lpn)| self.ftl.expect(lpn));
            let next = self.moves.next(unit);
            if self.ftl.is_valid(next.plane, next.from) {
                let (size, transfer) = (self.page_on_bus(), self.board.facts.transfer_page);
                let read = self.gc_transaction(next, unit, FlashOp::Read, (size, transfer), Stage::InService);
                self.begin_gc(unit, read, FlashOp::Read, transfer);
                return true;
            }
            self.board.units[unit.index()].gc.reads -= 1;
            self.drop_move(next.serial, next.plane);
        }
        false
    }

    /// Begins the program that waits for the unit, if its page is still valid.
    #[inline(never)]
    fn begin_program(&mut self, unit: UnitId) -> bool {
        let id = self.moves.take_program(unit);
        let txn = self.board.txn_mut(id);
        let (plane, from, lpn) = (txn.plane, Ppa(txn.ppa), txn.lpn);
        if !self.ftl.is_valid(plane, from) {
            let serial = txn.serial;
            self.board.units[unit.index()].gc.programs -= 1;
            self.release(id);
            self.drop_move(serial, plane);
            return false;
        }
        let ppa = self.ftl.move_page(lpn, plane, from);
        (txn.ppa, txn.stage) = (ppa.0, Stage::InService);
        if self.owners
            && let Some(flow) = self.ftl.owner_of(lpn)
        {
            self.board.flows[flow.index()].moved += 1;
        }
        self.mapped(lpn, plane, ppa, Stream::Gc);
        self.begin_gc(unit, id, FlashOp::Program, self.board.facts.transfer_page);
        true
    }

    /// Begins the erase that has waited longest for the unit. Whether there was one.
    #[inline(always)]
    pub(super) fn begin_erase(&mut self, unit: UnitId) -> bool {
        self.board.units[unit.index()].gc.erases > 0 && self.erase(unit)
    }

    #[cold]
    fn erase(&mut self, unit: UnitId) -> bool {
        let id = self.moves.take_erase(unit).expect("as many wait as the board shows");
        self.board.txn_mut(id).stage = Stage::InService;
        self.begin_gc(unit, id, FlashOp::Erase, Duration::ZERO);
        true
    }

    /// A transaction of garbage collection.
    #[inline(always)]
    fn gc_transaction(
        &mut self,
        moved: Move,
        unit: UnitId,
        op: FlashOp,
        (bytes, transfer): (u32, Duration),
        stage: Stage,
    ) -> TxnId {
        let Move { plane, from, lpn, serial, since } = moved;
        let id = self.free_slot();
        let slot = self.board.home_of(plane).1;
        *self.board.txn_mut(id) = Transaction {
            serial,
            enqueued: since,
            lpn,
            ppa: from.0,
            bytes,
            transfer,
            plane,
            unit,
            slot,
            op,
            owner: Owner::Gc,
            stage,
            ..Transaction::EMPTY
        };
        id
    }

    /// Drops a move whose page is no longer valid.
    #[cold]
    fn drop_move(&mut self, txn: u64, plane: PlaneId) {
        self.tally.stale_moves += 1;
        self.log.push(self.board.now, || Event::Ended { txn, end: End::Stale, paused: Duration::ZERO });
        self.move_ended(plane);
    }

    /// A garbage-collection transaction's flash work is done.
    pub(super) fn gc_ended(&mut self, id: TxnId) {
        let Transaction { op, plane, ppa, .. } = *self.board.txn(id);
        match op {
            FlashOp::Read => self.page_read(id),
            FlashOp::Program => {
                self.release(id);
                self.move_ended(plane);
            }
            FlashOp::Erase => {
                self.release(id);
                self.block_erased(plane, ppa / self.board.facts.geometry.pages_per_block);
            }
        }
    }

    /// The page of a move was read: its program waits, the same transaction under another serial. Until it is bound, it
    /// carries the address it moves from.
    #[inline(always)]
    fn page_read(&mut self, id: TxnId) {
        let (serial, now) = (self.serials, self.board.now);
        self.serials += 1;
        let txn = self.board.txn_mut(id);
        (txn.serial, txn.enqueued, txn.op, txn.stage) = (serial, now, FlashOp::Program, Stage::Waiting);
        txn.next = TxnId::NONE;
        let Transaction { unit, plane, lpn, .. } = *txn;
        if self.log.on {
            self.report_waiting(serial, FlashOp::Program, lpn, plane);
        }
        self.moves.read(unit, id);
        self.board.units[unit.index()].gc.programs += 1;
        self.collection_waits(unit);
    }

    #[cold]
    fn block_erased(&mut self, plane: PlaneId, block: u32) {
        self.ftl.erased(plane, block);
        self.note_erase();
        self.log.push(self.board.now, || Event::Erased { plane, block });
        if self.ftl.wants_collection(plane) {
            self.start_collection(plane);
        }
        self.ftl.show(&mut self.board, plane);
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

    #[cold]
    fn queue_erase(&mut self, plane: PlaneId, block: u32) {
        let unit = self.board.home_of(plane).0;
        let from = Ppa(block * self.board.facts.geometry.pages_per_block);
        let erase = Move { plane, from, lpn: Lpn(0), serial: self.serials, since: self.board.now };
        let id = self.gc_transaction(erase, unit, FlashOp::Erase, (0, Duration::ZERO), Stage::Waiting);
        if self.log.on {
            self.report_waiting(self.serials, FlashOp::Erase, Lpn(0), plane);
        }
        self.serials += 1;
        self.moves.emptied(unit, id);
        self.board.units[unit.index()].gc.erases += 1;
        self.collection_waits(unit);
    }
}
