//! Wordlines that wait for their program (model 0.15): which pages follow the one that is in a queue.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use flashlane_core::event::Event;
use flashlane_core::{Transaction, TxnId};

use crate::shared::State;

/// The further pages of each wordline that waits, by the transaction of its first page.
#[derive(Debug, Default)]
pub(super) struct Followers(BTreeMap<u32, Vec<TxnId>>);

impl Followers {
    /// These pages follow `lead`.
    pub(super) fn set(&mut self, lead: TxnId, followers: Vec<TxnId>) {
        if !followers.is_empty() {
            self.0.insert(lead.0, followers);
        }
    }

    /// The pages that follow `lead`, which begins or is gone.
    pub(super) fn take(&mut self, lead: TxnId) -> Vec<TxnId> {
        self.0.remove(&lead.0).unwrap_or_default()
    }

    /// Whether no wordline of more than a page waits.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The wordline of `lead` waits at another plane now: the pages that follow it are there too.
    #[cold]
    pub(super) fn go_along(&self, lead: TxnId, state: &mut State) {
        let Transaction { plane, unit, slot, .. } = *state.board.txn(lead);
        for &id in self.0.get(&lead.0).into_iter().flatten() {
            let Transaction { serial, op, priority, .. } = *state.board.txn(id);
            let queue = state.board.queue_for(unit, op, priority);
            let txn = state.board.txn_mut(id);
            (txn.plane, txn.unit, txn.slot, txn.queue) = (plane, unit, slot, queue);
            state.log(|| Event::Moved { txn: serial, plane });
        }
    }

    /// Takes a page that follows another out of its wordline; returns that other.
    pub(super) fn leave(&mut self, id: TxnId) -> Option<TxnId> {
        let (&lead, followers) = self.0.iter_mut().find(|(_, followers)| followers.contains(&id))?;
        followers.retain(|&follower| follower != id);
        if followers.is_empty() {
            self.0.remove(&lead);
        }
        Some(TxnId(lead))
    }
}
