//! The transactions of each request that have not ended, in lists. Kept for answers that declare it
//! ([`Keeps::request_pages`](crate::decide::Keeps::request_pages)); empty for others.

use alloc::vec::Vec;

use super::Board;
use crate::id::TxnId;

/// A list for each request, youngest transaction first.
#[derive(Clone, Default, Debug)]
pub(super) struct RequestPages {
    /// By slot of the request.
    first: Vec<TxnId>,
    /// By transaction: the next of its request, and the one before.
    links: Vec<[TxnId; 2]>,
}

impl RequestPages {
    fn entry<T: Copy>(table: &mut Vec<T>, index: usize, empty: T) -> &mut T {
        if index >= table.len() {
            table.resize(index + 1, empty);
        }
        &mut table[index]
    }

    fn next(&self, id: TxnId) -> TxnId {
        self.links[id.index()][0]
    }

    fn add(&mut self, request: usize, id: TxnId) {
        let first = RequestPages::entry(&mut self.first, request, TxnId::NONE);
        let next = core::mem::replace(first, id);
        *RequestPages::entry(&mut self.links, id.index(), [TxnId::NONE; 2]) = [next, TxnId::NONE];
        if next.is_some() {
            self.links[next.index()][1] = id;
        }
    }

    fn remove(&mut self, request: usize, id: TxnId) {
        let [next, previous] = self.links[id.index()];
        if previous.is_some() {
            self.links[previous.index()][0] = next;
        } else {
            self.first[request] = next;
        }
        if next.is_some() {
            self.links[next.index()][1] = previous;
        }
    }
}

impl Board {
    /// The transactions of the request in slot `request` ([`crate::Transaction::request`]) that have not ended, the youngest first. Each says
    /// at which unit it is; a write without a plane yet is in the queue [`Board::unplaced`], and one that is held waits for another (the read of
    /// its page, or the write that took its place). None unless [`request_pages`](crate::decide::Keeps::request_pages) is declared. Pages that
    /// wait for the page buffer's space or for the map have no transaction.
    pub fn transactions_of(&self, request: u32) -> impl Iterator<Item = TxnId> + '_ {
        let pages = &self.request_pages;
        let first = pages.first.get(request as usize).copied().filter(|id| id.is_some());
        core::iter::successors(first, |&id| Some(pages.next(id)).filter(|id| id.is_some()))
    }

    /// A transaction of a request was created. For the device.
    #[cold]
    pub fn joins_request(&mut self, id: TxnId) {
        let request = self.txn(id).request as usize;
        self.request_pages.add(request, id);
    }

    /// A transaction of a request has ended. For the device.
    #[cold]
    pub fn leaves_request(&mut self, id: TxnId) {
        let request = self.txn(id).request as usize;
        self.request_pages.remove(request, id);
    }
}
