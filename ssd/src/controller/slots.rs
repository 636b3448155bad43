//! Requests inside the device.

use alloc::boxed::Box;
use alloc::vec::Vec;

use flashlane_core::{FlowId, Lpn, Op, RequestId, Time};

use crate::front::SlotId;

/// A request inside the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) id: RequestId,
    pub(super) arrival: Time,
    /// Bytes asked for.
    pub(super) bytes: u64,
    /// Bytes of the first page before the request begins.
    pub(super) skip: u32,
    pub(super) first: Lpn,
    pub(super) pages: u32,
    /// Pages not yet served.
    pub(super) remaining: u32,
    /// Next page to put into the buffer.
    pub(super) cursor: u32,
    pub(super) flow: FlowId,
    pub(super) op: Op,
    /// Tags of its transactions that have ended.
    pub(super) touched: u8,
    /// Whether its pages are a list of their own instead of consecutive.
    pub(super) scattered: bool,
}

impl Slot {
    /// Bytes of the `i`-th page that the request touches.
    #[inline]
    pub(super) fn bytes_of(&self, i: u32, page_bytes: u32) -> u32 {
        if self.scattered {
            return page_bytes;
        }
        let page = u64::from(page_bytes);
        let start = if i == 0 { u64::from(self.skip) } else { 0 };
        let end = (u64::from(self.skip) + self.bytes - u64::from(i) * page).min(page);
        (end - start) as u32
    }
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
        if slot.scattered { self.lists[id as usize][i as usize] } else { Lpn(slot.first.0 + i) }
    }

    #[inline]
    pub(super) fn remove(&mut self, id: SlotId) {
        if self.get(id).scattered {
            self.lists[id as usize] = Box::default();
        }
        self.free.push(id);
    }

    #[inline]
    pub(super) fn get(&self, id: SlotId) -> &Slot {
        &self.slots[id as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: SlotId) -> &mut Slot {
        &mut self.slots[id as usize]
    }

    /// Requests inside the device.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
