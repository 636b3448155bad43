//! Wordlines that wait for their program (model 0.15): which pages follow the one that is in a queue. Programs that go to the SLC cache instead: how many
//! of its rows are reserved for them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::mem;

use flashlane_core::event::Event;
use flashlane_core::{PlaneId, Transaction, TxnId};

use super::Device;
use crate::config::Config;
use crate::policy::Known;
use crate::shared::State;

/// How many rows of the SLC cache are reserved for programs that wait, by plane; one number where writes get their planes only at dispatch. None is
/// reserved unless pages are gathered. A row is reserved for the first of its pages.
#[derive(Debug, Default)]
pub(super) struct ReservedRows(Vec<u32>);

impl ReservedRows {
    /// None, on a device of `config`.
    pub(super) fn of_device(config: &Config, known: &Known) -> ReservedRows {
        let planes = if known.binds_at_dispatch { 1 } else { config.geometry.planes() };
        let any = config.gathers_wordlines() && config.slc.is_some();
        ReservedRows(if any { alloc::vec![0; planes as usize] } else { Vec::new() })
    }

    fn index(&self, plane: PlaneId) -> usize {
        if self.0.len() == 1 { 0 } else { plane.index() }
    }

    /// Those of a plane.
    pub(super) fn of(&self, plane: PlaneId) -> u32 {
        self.0[self.index(plane)]
    }

    /// One more is reserved.
    pub(super) fn reserve(&mut self, plane: PlaneId) {
        let index = self.index(plane);
        self.0[index] += 1;
    }

    /// One is no longer reserved.
    pub(super) fn release(&mut self, plane: PlaneId) {
        let index = self.index(plane);
        self.0[index] -= 1;
    }

    /// A program that one is reserved for goes to another plane.
    #[cold]
    pub(super) fn move_to(&mut self, from: PlaneId, to: PlaneId) {
        self.release(from);
        self.reserve(to);
    }
}

impl Device {
    /// Reserves a row of the SLC cache for a waiting program that is not one of a wordline.
    #[cold]
    pub(super) fn reserve_cache_row(&mut self, id: TxnId) {
        let txn = self.state.board.txn_mut(id);
        txn.reserves_slc = true;
        self.transactions.reserved_rows.reserve(txn.plane);
    }

    /// A program that a row of the SLC cache was reserved for begins, or is dropped.
    #[cold]
    pub(super) fn release_cache_row(&mut self, id: TxnId) {
        let txn = self.state.board.txn_mut(id);
        if mem::take(&mut txn.reserves_slc) {
            self.transactions.reserved_rows.release(txn.plane);
        }
    }

    /// Whether a waiting program is one of several pages: of a wordline, or of a row that has more than one.
    pub(super) fn is_gathered(&self, id: TxnId) -> bool {
        self.wordlines.is_some() && (self.ftl.has_rows() || !self.state.board.txn(id).reserves_slc)
    }

    /// Whether a program that begins goes to the SLC cache: it was made for that, and the cache of its plane still has a row.
    pub(super) fn goes_to_cache(&self, lead: TxnId) -> bool {
        let Transaction { plane, reserves_slc, .. } = *self.state.board.txn(lead);
        (reserves_slc || self.wordlines.is_none()) && self.ftl.has_slc && self.ftl.slc_pages_for_writes(plane) > 0
    }
}

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
