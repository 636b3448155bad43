//! The checks at each step of a transaction, from its queue to its end, and at the erase of a block.

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_core::{Duration, Lpn, PlaneId, RequestId, UnitId};

use super::Auditor;
use super::pages::Place;
use super::rule::Rule;
use super::transactions::Txn;

impl Auditor {
    pub(super) fn queued(&mut self, event: &Event) {
        let Event::Queued { txn: serial, request, flow, op, owner, lpn, plane, bytes } = *event else { return };
        let erase = op == FlashOp::Erase;
        let page = self.units.page_on_bus();
        let log = &mut self.log;
        if !self.txns.enter(serial, log) {
            return;
        }
        let fits = erase || (1..=page).contains(&(bytes as u64));
        log.check(fits, Rule::Address, || format!("transaction {serial} moves {bytes} bytes; 1 to {page} fit."));
        let shape = match (owner, op) {
            // The read before a partial write serves no page, so it may come without its request.
            (Owner::User, FlashOp::Read) => request.is_some() || self.modifies,
            (Owner::User, FlashOp::Program) => request.is_some(),
            (Owner::User | Owner::Buffer | Owner::Mapping, FlashOp::Erase) => false,
            (Owner::Gc | Owner::Fold | Owner::Buffer | Owner::Mapping, _) => request.is_none(),
        };
        let shape = shape
            && match &self.entries {
                Some(entries) => entries.are_for(owner, lpn),
                None => owner != Owner::Mapping,
            };
        log.check(shape, Rule::TxnShape, || {
            let with = if request.is_some() { "with" } else { "without" };
            format!("{} {serial} of {} for page {} came {with} a request.", op.name(), owner.name(), lpn.0)
        });
        if !self.has_page(plane, Some(0)) || !(erase || self.has_logical(lpn)) {
            return;
        }
        if let Some(request) = request {
            self.requests.queued(request, flow, op, self.modifies, &mut self.log);
        }
        if fits {
            self.moves_bytes(serial, (request, lpn), (op, owner), bytes);
        }
        if let Some(entries) = &mut self.entries {
            let is_read = request.is_some_and(|request| self.requests.is_read(request));
            entries.queued(serial, (owner, op, lpn), is_read, &mut self.log);
        }
        let place = if erase { Place::NOWHERE } else { self.pages.find(lpn) };
        let mut source = None;
        match (owner, op) {
            (Owner::Gc | Owner::Fold, _) => source = self.victims.queued(op, lpn, place, &self.pages),
            (_, FlashOp::Program) => {
                self.writes.queued(lpn, serial);
                self.versions.queued(lpn, serial, request.is_some() || owner == Owner::Mapping);
                if let Some(request) = request {
                    self.versions.add_version(request, lpn, serial + 1);
                }
            }
            (_, FlashOp::Read) => self.read_queued(serial, (owner, request), lpn, plane),
            (_, FlashOp::Erase) => {}
        }
        let (dispatched, slack) = (None, Duration::ZERO);
        let txn = Txn { request, op, owner, lpn, plane, bytes, dispatched, slack, source };
        if let Some(slc) = &mut self.slc {
            slc.queued(serial, &txn, (&mut self.choice, &self.pages));
        }
        self.waiting.queued(serial, &txn);
        self.ages.queued(serial, &txn);
        if let Some(padding) = self.padding.as_mut().filter(|_| op == FlashOp::Program) {
            padding.queued(serial, &txn, self.log.now);
        }
        if let Some(rests) = &mut self.rests {
            rests.queued(serial, &txn, &mut self.log);
        }
        self.txns.insert(serial, txn);
    }

    /// A read of a host, of the buffer or of the mapping cache joined its queue.
    fn read_queued(&mut self, serial: u64, (owner, request): (Owner, Option<RequestId>), lpn: Lpn, plane: PlaneId) {
        self.reads.queued(lpn, serial, plane);
        if owner != Owner::Mapping && !request.is_some_and(|request| self.requests.is_read(request)) {
            return;
        }
        if let Some(write) = self.writes.waits(lpn, &self.txns) {
            self.log.report(Rule::ReadHazard, || {
                format!("read {serial} of page {} was queued and write {write} waits.", lpn.0)
            });
        }
        let waits = self.unstored.contains(lpn);
        self.log.check(!waits, Rule::ReadHazard, || {
            format!("read {serial} of page {} was queued and a write of it waits for space in the buffer.", lpn.0)
        });
        let needless = self.reads_without_copy(lpn);
        self.log.check(!needless, Rule::UnmappedRead, || format!("read {serial} of page {} was queued.", lpn.0));
        self.versions.read_queued(lpn, serial);
    }

    /// Checks the bytes that a transaction moves: those its request touches of the page, or the whole page.
    fn moves_bytes(
        &mut self,
        serial: u64,
        (request, lpn): (Option<RequestId>, Lpn),
        (op, owner): (FlashOp, Owner),
        bytes: u32,
    ) {
        let (page, spare) = (self.page_bytes, self.units.page_on_bus() - self.page_bytes);
        let bytes_of_page = match request {
            Some(request) => self.requests.touches(request, lpn.0.into(), page, self.modifies),
            None => Some(page),
        };
        let Some(bytes_of_page) = bytes_of_page else { return };
        let due = match op {
            FlashOp::Erase => 0,
            _ if bytes_of_page == page => page + spare,
            _ => bytes_of_page,
        };
        let of_entry = self.entries.as_ref().filter(|_| (op, owner) == (FlashOp::Read, Owner::Mapping));
        let fits = u64::from(bytes) == due || of_entry.is_some_and(|entries| u64::from(bytes) == entries.read_bytes);
        self.log.check(fits, Rule::TransferBytes, || {
            format!("{} {serial} of page {} moves {bytes} bytes instead of {due}.", op.name(), lpn.0)
        });
    }

    pub(super) fn dispatched(&mut self, serial: u64, command: u64, unit: UnitId, ppa: u32, slack: Duration) {
        let log = &mut self.log;
        let Some(txn) = self.txns.dispatch(serial, unit, command, log) else { return };
        let wrapped = slack.ns() > i64::MAX as u64;
        log.check(!wrapped, Rule::Slack, || format!("transaction {serial} has a slack of {} ns.", slack.ns() as i64));
        log.check(wrapped || slack <= txn.slack, Rule::SlackShrinks, || {
            format!("transaction {serial} has a slack of {slack}, estimated {}.", txn.slack)
        });
        let aligned = txn.op != FlashOp::Erase || ppa.is_multiple_of(self.pages_per_block);
        let within = ppa < self.blocks_per_plane * self.pages_per_block
            && (unit.index() as u32) < self.planes / self.units.planes_per_unit();
        if !log.check(aligned && within, Rule::Address, || {
            format!("{} {serial} works page {ppa} of a plane of unit {}.", txn.op.name(), unit.0)
        }) {
            txn.dispatched = None;
            return;
        }
        self.waiting.leaves(serial, txn);
        if let Some(slc) = &mut self.slc {
            slc.dispatched((serial, txn), ppa, (&mut self.choice, &self.pages), log);
        }
        // What was never written is read at any place, at native times.
        let is_slc = self.pages.is_slc(self.pages.block_of(txn.plane, ppa))
            && (txn.op != FlashOp::Read || self.reads.has_copy(serial, txn.lpn, &self.pages));
        self.units.join(serial, txn, (unit, command), (ppa, is_slc), log);
        match (txn.op, txn.owner) {
            (FlashOp::Read, owner) => {
                if owner.collects() {
                    self.victims.read(txn, ppa, &self.pages, log);
                }
                self.reads.dispatched(serial, txn, ppa, &self.pages, log);
                let older = !self.pages.lies_at(txn.lpn, txn.plane, ppa);
                self.versions.read_dispatched(txn.lpn, serial, older, log);
            }
            (FlashOp::Program, owner) => {
                if !owner.collects() {
                    self.writes.dispatched(txn.lpn, serial, log);
                    self.versions.dispatched(txn.lpn, serial);
                }
                self.pairs.program(txn, ppa, (&self.victims, &self.pages), log);
            }
            (FlashOp::Erase, _) => {
                self.victims.erase_begins(txn, ppa, &mut self.pages, log);
                self.reads.erased(self.pages.block_of(txn.plane, ppa), &self.pages, log);
            }
        }
        self.begins(serial, (unit, command), ppa);
    }

    /// What is checked of a transaction that begins beside what it does: its age, the program of a translation page, why a wordline is padded.
    fn begins(&mut self, serial: u64, at: (UnitId, u64), ppa: u32) {
        let Some(txn) = self.txns.get(serial) else { return };
        let waits_first = |lpn| self.writes.waits(lpn, &self.txns);
        // With two free blocks and nothing to collect a plane has a page for any write.
        let goes = |plane: PlaneId| {
            let is_emptied = self.victims.blocks().any(|block| self.pages.plane_of(block) == plane.index());
            !is_emptied && self.choice.free_blocks(plane, &self.pages).is_some_and(|free| free >= 2)
        };
        let paused = self.units.has_paused(at.0);
        self.ages.dispatched((serial, txn), at, waits_first, (goes, paused), &mut self.log);
        if let Some(entries) = &mut self.entries {
            entries.begins(txn);
        }
        if let Some(padding) = &mut self.padding {
            padding.begins(serial, txn.plane, ppa);
        }
    }

    pub(super) fn ended(&mut self, serial: u64, end: End, paused: Duration) {
        let log = &mut self.log;
        let Some(txn) = self.txns.end(serial, log) else { return };
        let (op, owner) = (txn.op.name(), txn.owner.name());
        let flash = end == End::Flash;
        match txn.dispatched {
            Some((unit, command)) => {
                log.check(flash, Rule::DropWaiting, || format!("{op} {serial} in command {command} was dropped."));
                self.units.member_ends(serial, (unit, command), flash.then_some(paused), log);
                self.waiting.became_free(unit);
            }
            None => {
                self.waiting.leaves(serial, &txn);
                self.ages.dropped(serial, &txn, end == End::Trimmed);
                if let Some(padding) = &mut self.padding {
                    padding.dropped(serial, end == End::Trimmed, log.now);
                }
                log.check(!flash, Rule::EndDispatched, || format!("{op} {serial} of {owner} was never dispatched."));
                let fits = match end {
                    End::Flash => true,
                    End::Cancelled => !txn.owner.collects() && txn.op == FlashOp::Program,
                    End::Stale => txn.owner.collects() && txn.op != FlashOp::Erase,
                    End::Trimmed => {
                        self.trims.dropped(txn.lpn, serial);
                        !txn.owner.collects() && txn.op == FlashOp::Program
                    }
                };
                log.check(fits, Rule::DropKind, || format!("{op} {serial} of {owner} ended as {end:?}."));
            }
        }
        if let Some(request) = txn.request {
            self.requests.ended(request, txn.op, self.log.now);
        }
        if let Some(slc) = &mut self.slc {
            slc.ended(serial, &txn, &self.log);
        }
        if let Some(rests) = &mut self.rests {
            rests.ended(serial, &txn);
        }
        if let Some(entries) = &mut self.entries {
            entries.ended(serial, &txn, end);
        }
        if txn.owner.collects() {
            self.victims.ended(&txn, end);
        } else if txn.op == FlashOp::Read {
            self.reads.ended(txn.lpn, serial, &self.pages);
        } else if txn.op == FlashOp::Program {
            let now = self.log.now;
            self.versions.ended(txn.lpn, serial, !flash);
            match end {
                End::Cancelled => self.writes.cancelled(&txn, serial, now, &mut self.requests),
                End::Flash | End::Stale | End::Trimmed => self.writes.ended(&txn, serial, now, &mut self.requests),
            }
        }
    }

    pub(super) fn erased(&mut self, plane: PlaneId, block: u32) {
        if !self.has_page(plane, block.checked_mul(self.pages_per_block)) {
            return;
        }
        let unit = UnitId((plane.0 as u32 / self.units.planes_per_unit()) as u16);
        self.choice.erased(plane);
        let index = self.pages.block(plane, block);
        if self.units.erase_runs(unit) {
            let (pages, log) = (&self.pages, &mut self.log);
            log.report(Rule::EraseDone, || format!("{} was reported erased too early.", pages.describe(index)));
        }
        if self.free_collection {
            self.reads.erased(index, &self.pages, &mut self.log);
        }
        self.victims.erased(index, self.free_collection, &mut self.pages, &mut self.log);
        if let Some(slc) = &mut self.slc {
            slc.erased(plane, block, &mut self.pages);
        }
    }
}
