//! Requests inside the device.

use alloc::boxed::Box;
use alloc::vec::Vec;

use flashlane_core::{Completion, Lpn, RequestId, Time, TxnId};
use prefetch_index::prefetch_index;

use super::submit::Name;
use crate::front::SlotId;

/// A request inside the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// What the host is going to hear: all of it but when, and what touched it so far.
    pub(super) answer: Completion,
    /// Bytes of the first page before the request begins.
    pub(super) skip: u32,
    /// Pages not yet served.
    pub(super) remaining: u32,
    /// Next page to put into the buffer.
    pub(super) cursor: u32,
    /// Whether its pages are a list of their own instead of consecutive.
    pub(super) scattered: bool,
}

impl Slot {
    /// A request of consecutive pages that has just come.
    #[inline(always)]
    pub(super) fn new(name: &Name, lpn: Lpn, pages: u32, skip: u32, bytes: u64) -> Slot {
        let Name { id, flow, op, arrival } = *name;
        let answer = Completion { id, flow, op, arrival, done: Time::NEVER, lpn, pages, bytes, touched: 0 };
        Slot { answer, skip, remaining: pages, cursor: 0, scattered: false }
    }

    /// Bytes of the `i`-th page that the request touches.
    #[inline]
    pub(super) fn bytes_of(&self, i: u32, page_bytes: u32) -> u32 {
        if self.scattered {
            return page_bytes;
        }
        let page = u64::from(page_bytes);
        let start = if i == 0 { u64::from(self.skip) } else { 0 };
        let end = (u64::from(self.skip) + self.answer.bytes - u64::from(i) * page).min(page);
        (end - start) as u32
    }
}

/// Set in the slot number of a request that has no slot, for its only transaction says all of it; the rest is the number of that
/// transaction, so that no two requests are taken for one.
const LONE: SlotId = 1 << 31;

/// Whose a transaction is.
#[derive(Clone, Copy)]
pub(super) enum Asker {
    /// The request's in this slot.
    In(SlotId),
    /// A request's that is this transaction and no more: its id, when it arrived, the bytes it asks for.
    Alone(RequestId, Time, u32),
    /// No request's.
    Nobody,
}

impl Asker {
    /// What the transaction `id` has for the slot number.
    #[inline(always)]
    pub(super) const fn slot(self, id: TxnId) -> SlotId {
        match self {
            Asker::In(slot) => slot,
            Asker::Alone(..) => LONE | id.0,
            Asker::Nobody => SlotId::MAX,
        }
    }
}

/// Whether a request, of which there is one, has no slot.
#[inline(always)]
pub(super) const fn is_lone(slot: SlotId) -> bool {
    slot >= LONE
}

/// All requests inside the device.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    /// The pages of scattered requests, by slot.
    lists: Vec<Box<[Lpn]>>,
    free: Vec<SlotId>,
}

impl Slots {
    #[inline]
    pub(super) fn insert(&mut self, slot: Slot) -> SlotId {
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = slot;
            return id;
        }
        self.slots.push(slot);
        self.slots.len() as SlotId - 1
    }

    /// The pages of a scattered request.
    pub(super) fn scatter(&mut self, id: SlotId, pages: &[Lpn]) {
        let index = id as usize;
        if self.lists.len() <= index {
            self.lists.resize_with(index + 1, Box::default);
        }
        self.lists[index] = pages.into();
    }

    /// The `i`-th page of a request.
    #[inline]
    pub(super) fn page(&self, id: SlotId, i: u32) -> Lpn {
        self.page_of(id, self.get(id), i)
    }

    /// The same where the request is at hand.
    #[inline(always)]
    pub(super) fn page_of(&self, id: SlotId, slot: &Slot, i: u32) -> Lpn {
        if slot.scattered { self.lists[id as usize][i as usize] } else { Lpn(slot.answer.lpn.0 + i) }
    }

    /// Gives the slot of a served request back; returns what the host is to hear.
    #[inline(always)]
    pub(super) fn remove(&mut self, id: SlotId) -> Completion {
        let Slot { answer, scattered, remaining, .. } = *self.get(id);
        debug_assert!(remaining == 0);
        if scattered {
            self.lists[id as usize] = Box::default();
        }
        self.free.push(id);
        answer
    }

    /// Has the memory fetch a request that is going to be needed.
    #[inline]
    pub(super) fn expect(&self, id: SlotId) {
        prefetch_index(&self.slots, id as usize);
    }

    #[inline]
    pub(super) fn get(&self, id: SlotId) -> &Slot {
        &self.slots[id as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: SlotId) -> &mut Slot {
        &mut self.slots[id as usize]
    }
}
