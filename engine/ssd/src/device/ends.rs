//! What follows from the end of a transaction.

use flashlane_core::event::{End, Event, PageEnd};
use flashlane_core::transaction::{FlashOp, held};
use flashlane_core::{Owner, Transaction, TxnId};

use super::Device;
use crate::frontend::RequestSlot;

impl Device {
    /// Ends a transaction that the flash has finished.
    #[inline(always)]
    pub(super) fn ended(&mut self, id: TxnId) {
        let Transaction { owner, op, request, lpn, flow, on_completion, tag, .. } = *self.state.board.txn(id);
        if owner.collects() {
            return self.collection_ended(id);
        }
        self.transactions.ended += 1;
        if self.state.log.on {
            self.report_end(id);
        }
        if self.state.log.ends_on {
            self.report_page_end(id);
        }
        if self.policy.known.notes_ends {
            self.note_end(id, owner);
        }
        let read_older =
            op == FlashOp::Read && self.page_order.read_ended(id, &mut self.gc, &mut self.ftl, &mut self.state);
        match (owner, op) {
            (Owner::Mapping, _) => self.translation_page_ended(id),
            (_, FlashOp::Read) if on_completion.is_some() => {
                self.transactions.release(on_completion, held::REST, &mut self.policy, &mut self.state);
            }
            (_, FlashOp::Read) if request == RequestSlot::MAX => self.rest_was_read(id, lpn),
            (_, FlashOp::Read) => {
                // What it read may be older than what the host has written since.
                if let Some(buffer) = self.buffer.as_mut().filter(|_| !read_older) {
                    buffer.fill(lpn, flow);
                }
                self.page_ended(id, request, tag);
            }
            (Owner::User, _) => {
                self.page_order.write_ended(lpn, id);
                self.page_ended(id, request, tag);
            }
            _ => {
                self.page_order.write_ended(lpn, id);
                self.page_flushed(id);
                self.page_is_durable(id);
            }
        }
        if on_completion.is_some() && op == FlashOp::Program {
            self.end_superseded(on_completion);
        }
        self.state.free(id);
    }

    /// Ends a transaction of garbage collection or folding, which may be of several pages.
    #[inline(always)]
    fn collection_ended(&mut self, id: TxnId) {
        let Transaction { unit, op, .. } = *self.state.board.txn(id);
        let pages = self.gc.pages_of_command(unit).len() as u32;
        if pages > 0 {
            let ended = if op == FlashOp::Read { self.flash.take_pages_out(unit) } else { pages };
            self.transactions.ended += u64::from(ended);
            return self.gc.pages_ended(id, ended, &mut self.state);
        }
        self.transactions.ended += 1;
        if self.state.log.on {
            self.report_end(id);
        }
        self.gc.ended(id, &mut self.state, &mut self.ftl);
    }

    /// A transaction that is not of garbage collection or folding has ended, which answers may be told, and after which blocks in SLC mode may be
    /// folded.
    #[inline(never)]
    fn note_end(&mut self, id: TxnId, owner: Owner) {
        if self.folds_after.is_some() {
            self.gc.idle_time_is_over();
            self.await_idle_time();
        }
        if owner == Owner::User && self.policy.known.ends {
            self.policy.ended(&self.state.board, id);
        }
    }

    #[cold]
    fn report_end(&mut self, id: TxnId) {
        let Transaction { serial, unit, .. } = *self.state.board.txn(id);
        let paused = self.state.board.units[unit.index()].command.paused;
        self.state.log(|| Event::Ended { txn: serial, end: End::Flash, paused });
    }

    #[cold]
    fn report_page_end(&mut self, id: TxnId) {
        let request = self.state.board.txn(id).request;
        if let Some(request) = self.state.board.requests.get(request as usize) {
            self.state.log.ends.push(PageEnd { request: request.id, at: self.state.now() });
        }
    }
}
