//! The end of a transaction; the last one of a request completes it.

use flashlane_core::event::{End, Event, PageEnd};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Owner, Transaction, TxnId};

use super::Device;

impl Device {
    /// Ends a transaction that the flash has finished.
    #[inline(always)]
    pub(super) fn ended(&mut self, id: TxnId) {
        self.counters.transactions += 1;
        if self.state.log.on {
            self.report_end(id);
        }
        if self.state.log.ends_on {
            self.report_page_end(id);
        }
        let Transaction { owner, op, request, lpn, flow, on_completion, tag, .. } = *self.state.board.txn(id);
        if owner == Owner::Gc {
            self.gc.ended(id, &mut self.state, &mut self.ftl);
            return;
        }
        if owner == Owner::User {
            self.policy.ended(&self.state.board, id);
        }
        let read_older = op == FlashOp::Read && !self.policy.is_place_static() && self.read_ended(id);
        match (owner, op) {
            (_, FlashOp::Read) if on_completion.is_some() => self.enqueue_held(on_completion),
            (_, FlashOp::Read) => {
                // What it read may be older than what the host has written since.
                if let Some(buffer) = self.buffer.as_mut().filter(|_| !read_older) {
                    buffer.fill(lpn, flow);
                }
                self.host.page_done(request, tag, &mut self.state);
            }
            (Owner::User, _) => {
                self.writes.remove(lpn, id);
                self.host.page_done(request, tag, &mut self.state);
            }
            _ => {
                self.writes.remove(lpn, id);
                self.page_flushed(id);
            }
        }
        if on_completion.is_some() && op == FlashOp::Program {
            self.end_superseded(on_completion);
        }
        self.state.release(id);
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
