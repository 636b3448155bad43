//! A write of a page of which an older write has not ended: it waits for that one, or that one is cancelled (SOS, model 4.1.2).
//!
//! The table of the youngest writes finds the older one at constant cost, wherever it waits.

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{Stage, Transaction};
use flashlane_core::{Duration, Lpn, Owner, TxnId};

use super::Device;
use crate::host::RequestSlot;

/// Where a new write joins its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QueuePlacement {
    /// At the position of the order decision.
    AsOrdered,
    /// In front of this waiting write, or at the tail: at the place of the write it has replaced (D-SOS-08).
    InFrontOf(TxnId),
}

impl Device {
    /// Notes `program` as the youngest write of its page. An older write that still waits is cancelled, or goes first.
    #[inline(always)]
    pub(super) fn supersede(&mut self, program: TxnId, lpn: Lpn) -> QueuePlacement {
        let old = self.writes.insert(lpn, program);
        if old.is_none() {
            return QueuePlacement::AsOrdered;
        }
        self.supersede_write(old, program)
    }

    fn supersede_write(&mut self, old: TxnId, program: TxnId) -> QueuePlacement {
        let stage = self.state.board.txn(old).stage;
        if stage == Stage::InService {
            return QueuePlacement::AsOrdered;
        }
        if stage == Stage::Waiting && self.policy.drops(&self.state.board, old) {
            return self.drop_write(old, program);
        }
        self.state.board.txn_mut(program).blocked_by = old;
        self.state.board.txn_mut(old).unblocks = program;
        QueuePlacement::AsOrdered
    }

    /// Takes the waiting write `old` out of its queue. It is done with `successor`, or at once (D-SOS-06).
    #[cold]
    fn drop_write(&mut self, old: TxnId, successor: TxnId) -> QueuePlacement {
        let Transaction { blocked_by: older, serial, next, priority, .. } = *self.state.board.txn(old);
        let inherits = self.policy.inherits_place() && self.state.board.txn(successor).priority == priority;
        if inherits {
            self.inherit(old, successor);
        }
        self.withdraw(old);
        let board = &mut self.state.board;
        if older.is_some() {
            board.txn_mut(older).unblocks = successor;
            board.txn_mut(old).blocked_by = TxnId::NONE;
        }
        board.txn_mut(old).stage = Stage::Held;
        board.txn_mut(successor).blocked_by = older;
        self.counters.cancelled += 1;
        let paused = Duration::ZERO;
        self.state.log(|| Event::Ended { txn: serial, end: End::Cancelled, paused });
        let is_buffers = self.state.board.txn(old).owner == Owner::Buffer;
        if is_buffers || self.policy.dropped_end_at_once() {
            self.end_dropped(old);
        } else {
            self.state.board.txn_mut(successor).on_completion = old;
        }
        if inherits { QueuePlacement::InFrontOf(next) } else { QueuePlacement::AsOrdered }
    }

    /// Gives `successor` the unit and the age of the waiting write `old`.
    fn inherit(&mut self, old: TxnId, successor: TxnId) {
        let board = &mut self.state.board;
        let Transaction { plane, unit, slot, queue, .. } = *board.txn(old);
        let age = board.txn(old).age();
        let new = board.txn_mut(successor);
        (new.plane, new.unit, new.slot, new.queue) = (plane, unit, slot, queue);
        new.age_bonus = new.serial - age;
    }

    /// Completes a cancelled write's page at once. The buffer's writes were acknowledged long ago.
    fn end_dropped(&mut self, id: TxnId) {
        let Transaction { request, tag, on_completion, .. } = *self.state.board.txn(id);
        debug_assert!(on_completion.is_none(), "all dropped before it ended at once");
        if request != RequestSlot::MAX {
            // Its request may be the one that is being split into pages.
            self.estimates.created.retain(|&created| created != id);
            self.host.page_done(request, tag, &mut self.state);
        }
        self.state.release(id);
    }

    /// Completes the cancelled writes that `id` begins a list of: the write that took their place has ended.
    #[cold]
    pub(super) fn end_superseded(&mut self, mut id: TxnId) {
        while id.is_some() {
            let Transaction { on_completion, request, tag, .. } = *self.state.board.txn(id);
            self.host.page_done(request, tag, &mut self.state);
            self.state.release(id);
            id = on_completion;
        }
    }
}
