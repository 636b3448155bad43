//! Endings: a transaction's, a request's.

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Completion, Op, Owner, Transaction, TxnId};

use super::Device;
use super::slots::is_lone;
use crate::front::SlotId;

impl Device {
    /// A transaction's flash work is done.
    #[inline(always)]
    pub(super) fn ended(&mut self, id: TxnId) {
        self.tally.transactions += 1;
        if self.log.on {
            self.report_end(id);
        }
        if self.board.txn(id).owner == Owner::Gc {
            self.gc_ended(id);
            return;
        }
        let Transaction { owner, op, request, lpn, flow, then, tag, .. } = *self.board.txn(id);
        if self.wants.ends && owner == Owner::User {
            self.scheduler.order.ended(&self.board, id);
        }
        let mut serves_host = false;
        match (owner, op) {
            (_, FlashOp::Read) if then.is_some() => self.enqueue_held(then),
            (_, FlashOp::Read) => {
                if let Some(buffer) = &mut self.buffer {
                    buffer.fill(lpn, flow);
                }
                if is_lone(request) {
                    self.lone_served(id);
                } else {
                    serves_host = true;
                }
            }
            (Owner::User, _) => {
                self.pending.remove(lpn, id);
                serves_host = true;
            }
            _ => {
                self.pending.remove(lpn, id);
                self.page_flushed(id);
            }
        }
        if serves_host {
            self.page_done(request, tag);
        }
        if then.is_some() && op == FlashOp::Program {
            self.end_superseded(then);
        }
        self.release(id);
    }

    #[cold]
    fn report_end(&mut self, id: TxnId) {
        let Transaction { serial, unit, .. } = *self.board.txn(id);
        let paused = self.board.units[unit.index()].command.paused;
        self.log.push(self.board.now, || Event::Ended { txn: serial, end: End::Flash, paused });
    }

    /// Cancelled writes complete with the write that took their place.
    #[cold]
    fn end_superseded(&mut self, mut id: TxnId) {
        while id.is_some() {
            let txn = self.board.txn(id);
            let (then, request, tag) = (txn.then, txn.request, txn.tag);
            if request == SlotId::MAX {
                self.page_flushed(id);
            } else {
                self.page_done(request, tag);
            }
            self.release(id);
            id = then;
        }
    }

    /// A page of a request is done, by a transaction of this tag; the last completes the request.
    #[inline(always)]
    fn page_done(&mut self, slot: SlotId, tag: u8) {
        let entry = self.slots.get_mut(slot);
        entry.answer.touched |= tag;
        entry.remaining -= 1;
        if entry.remaining == 0 {
            self.served(slot);
        }
    }

    /// The device has done its part: the answer crosses the link.
    #[inline(always)]
    pub(super) fn served(&mut self, slot: SlotId) {
        if self.front.outward.is_instant() {
            self.deliver(slot);
            return;
        }
        let answer = &self.slots.get(slot).answer;
        let bytes = if answer.op == Op::Read { answer.bytes } else { 0 };
        self.front.outward.send(self.board.now, slot, bytes);
        self.refresh_other();
    }

    /// The host sees the request done.
    #[inline(always)]
    pub(super) fn deliver(&mut self, slot: SlotId) {
        let done = self.board.now;
        let answer = Completion { done, ..self.slots.remove(slot) };
        self.answer(answer);
    }

    /// The request that is the read `id` is served, and the host sees it.
    #[inline(always)]
    fn lone_served(&mut self, id: TxnId) {
        debug_assert!(self.front.outward.is_instant(), "came over a link that takes no time");
        let Transaction { asked_id, asked_at, asked_bytes, flow, lpn, tag, .. } = *self.board.txn(id);
        self.answer(Completion {
            id: asked_id,
            flow,
            op: Op::Read,
            arrival: asked_at,
            done: self.board.now,
            lpn,
            pages: 1,
            bytes: asked_bytes.into(),
            touched: tag,
        });
    }

    /// The host hears of a request that is done.
    #[inline(always)]
    fn answer(&mut self, answer: Completion) {
        debug_assert!(answer.done >= answer.arrival);
        self.completions.push(answer);
        self.log.push(answer.done, || Event::Completed { request: answer.id });
        self.front.completed(answer.flow, &mut self.board);
        if self.front.could_admit() {
            self.agenda.open = true;
        }
    }

    /// Gives a transaction's slot back.
    #[inline]
    pub(super) fn release(&mut self, id: TxnId) {
        let free = self.free_txn;
        let txn = self.board.txn_mut(id);
        debug_assert_ne!(txn.stage, Stage::Free);
        txn.stage = Stage::Free;
        txn.next = free;
        self.free_txn = id;
    }
}
