//! From a fetched command to transactions: buffer, map and place, cancel.

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, FlowId, Lpn, Op, Owner, PlaneId, TxnId};

use super::Device;
use super::queue::Made;
use super::slots::{Asker, Slot};
use super::submit::Name;
use crate::front::SlotId;

impl Device {
    /// Takes in a command that has waited.
    pub(super) fn take_in_waiting(&mut self, slot: SlotId) {
        let entry = *self.slots.get(slot);
        self.take_in(slot, entry);
    }

    /// Splits a command into pages and sees to each.
    #[inline(always)]
    pub(super) fn take_in(&mut self, slot: SlotId, entry: Slot) {
        self.made.clear();
        match entry.answer.op {
            Op::Write if self.buffer.as_ref().is_some_and(|b| b.write_back) => self.write_to_buffer(slot, false),
            Op::Read => {
                let mut from_memory = false;
                for i in 0..entry.answer.pages {
                    from_memory |= self.read_page(slot, &entry, i);
                }
                if self.wants.estimates {
                    self.estimate_request(entry.answer.id);
                }
                if from_memory {
                    self.serve_if_done(slot);
                }
            }
            Op::Write => {
                for i in 0..entry.answer.pages {
                    let lpn = self.slots.page_of(slot, &entry, i);
                    if let Some(buffer) = &mut self.buffer {
                        // A read cache only: keep what it holds current.
                        buffer.read(lpn);
                    }
                    self.write_page(slot, &entry, lpn, i);
                }
                if self.wants.estimates {
                    self.estimate_request(entry.answer.id);
                }
            }
        }
    }

    /// A request whose every page was served from memory ends when the memory has answered.
    #[cold]
    pub(super) fn serve_if_done(&mut self, slot: SlotId) {
        if self.slots.get(slot).remaining == 0 {
            self.soon.push_back((self.board.now + self.memory, slot));
            self.refresh_other();
        }
    }

    #[cold]
    pub(super) fn page_from_memory(&mut self, slot: SlotId, lpn: Lpn) {
        let entry = self.slots.get_mut(slot);
        entry.remaining -= 1;
        let request = entry.answer.id;
        self.tally.pages_from_memory += 1;
        self.log.push(self.board.now, || Event::PageFromMemory { request, lpn });
    }

    /// Sees to a request to read `bytes` of a page. Where its unit has nothing else to do it need not queue.
    #[inline(always)]
    pub(super) fn read_alone(&mut self, name: &Name, lpn: Lpn, bytes: u32) {
        if self.is_in_memory(lpn) {
            self.read_alone_from_memory(name, lpn, bytes);
            return;
        }
        let asker = Asker::Alone(name.id, name.arrival, bytes);
        let made = self.read_from_flash(asker, name.flow, lpn, bytes);
        if !self.comes_new(made) {
            self.enqueue_last(made);
        }
    }

    #[cold]
    fn read_alone_from_memory(&mut self, name: &Name, lpn: Lpn, bytes: u32) {
        let slot = self.slots.insert(Slot::new(name, lpn, 1, 0, bytes.into()));
        self.page_from_memory(slot, lpn);
        self.serve_if_done(slot);
    }

    /// Sees to a page that is read. Whether memory has it.
    #[inline(always)]
    fn read_page(&mut self, slot: SlotId, entry: &Slot, i: u32) -> bool {
        let lpn = self.slots.page_of(slot, entry, i);
        let from_memory = self.is_in_memory(lpn);
        if from_memory {
            self.page_from_memory(slot, lpn);
        } else {
            let bytes = entry.bytes_of(i, self.board.facts.geometry.page_bytes);
            let made = self.read_from_flash(Asker::In(slot), entry.answer.flow, lpn, bytes);
            let alone = entry.answer.pages == 1 && self.known.newcomers;
            if !(alone && self.comes_new(made)) {
                self.enqueue(made);
            }
        }
        from_memory
    }

    /// Whether the buffer has the page, or a write of it waits.
    #[inline(always)]
    fn is_in_memory(&mut self, lpn: Lpn) -> bool {
        self.buffer.as_mut().is_some_and(|b| b.read(lpn)) || self.pending.get(lpn).is_some()
    }

    /// The transaction that reads `bytes` of a page.
    #[inline(always)]
    fn read_from_flash(&mut self, asker: Asker, flow: FlowId, lpn: Lpn, bytes: u32) -> Made {
        let on_bus = self.on_bus(bytes);
        let plane = self.ftl.plane_of(lpn);
        let txn = self.new_txn(asker, flow, Owner::User, FlashOp::Read, lpn, plane, on_bus);
        self.address(txn.id, lpn);
        txn
    }

    #[inline(always)]
    fn write_page(&mut self, slot: SlotId, entry: &Slot, lpn: Lpn, i: u32) {
        let flow = entry.answer.flow;
        let page_bytes = self.board.facts.geometry.page_bytes;
        let bytes = entry.bytes_of(i, page_bytes);
        let partial = bytes < page_bytes && self.read_modify_write;
        let on_bus = self.on_bus(if partial { page_bytes } else { bytes });
        let reads_first = partial && self.pending.get(lpn).is_none();
        let plane = self.place(lpn);
        let program = self.new_txn(Asker::In(slot), flow, Owner::User, FlashOp::Program, lpn, plane, on_bus);
        self.supersede(program.id, lpn);
        if reads_first {
            let from = self.ftl.plane_of(lpn);
            let read = self.new_txn(Asker::Nobody, flow, Owner::User, FlashOp::Read, lpn, from, on_bus);
            self.board.txn_mut(program.id).stage = Stage::Held;
            self.board.txn_mut(read.id).then = program.id;
            self.tally.partial_reads += 1;
            self.enqueue(read);
        } else {
            self.enqueue(program);
        }
    }

    /// The plane a page is going to be written in.
    pub(super) fn place(&mut self, lpn: Lpn) -> PlaneId {
        let home = self.ftl.home(lpn);
        if self.static_place || self.draws { home } else { self.scheduler.place.plane(&self.board, lpn, home) }
    }

    /// Notes `program` as the youngest write of its page, behind or instead of an older one.
    pub(super) fn supersede(&mut self, program: TxnId, lpn: Lpn) {
        let old = self.pending.insert(lpn, program);
        if old.is_none() {
            return;
        }
        let stage = self.board.txn(old).stage;
        if stage == Stage::InService {
            return;
        }
        if stage == Stage::Waiting && self.scheduler.cancel.drops(&self.board, old) {
            self.drop_write(old, program);
            return;
        }
        self.board.txn_mut(program).after = old;
        self.board.txn_mut(old).before = program;
    }

    /// Takes the waiting write `old` out of its queue; it completes with `successor` (D-SOS-06).
    #[cold]
    fn drop_write(&mut self, old: TxnId, successor: TxnId) {
        self.withdraw(old);
        let gone = self.board.txn_mut(old);
        gone.stage = Stage::Held;
        let (older, serial) = (gone.after, gone.serial);
        gone.after = TxnId::NONE;
        if older.is_some() {
            self.board.txn_mut(older).before = successor;
        }
        let new = self.board.txn_mut(successor);
        new.after = older;
        new.then = old;
        self.tally.cancelled += 1;
        let paused = Duration::ZERO;
        self.log.push(self.board.now, || Event::Ended { txn: serial, end: End::Cancelled, paused });
    }

    /// Bytes that cross the bus for a whole page.
    pub(super) fn page_on_bus(&self) -> u32 {
        self.board.facts.geometry.page_bytes + self.metadata_bytes
    }

    /// Bytes that cross the bus for `bytes` of a page.
    pub(super) fn on_bus(&self, bytes: u32) -> u32 {
        if bytes == self.board.facts.geometry.page_bytes { bytes + self.metadata_bytes } else { bytes }
    }
}
