//! Requests inside the device.

use alloc::boxed::Box;
use alloc::vec::Vec;

use flashlane_core::{FlowId, Lpn, Op, RequestId, Time, TxnId};

use crate::front::SlotId;

/// A request inside the device.
#[derive(Debug)]
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
    /// First of its transactions, linked by `sibling`.
    pub(super) txns: TxnId,
    /// The pages, when they are not consecutive.
    pub(super) list: Option<Box<[Lpn]>>,
}

impl Slot {
    /// The `i`-th page.
    #[inline]
    pub(super) fn page(&self, i: u32) -> Lpn {
        match &self.list {
            None => Lpn(self.first.0 + i),
            Some(list) => list[i as usize],
        }
    }

    /// Bytes of the `i`-th page that the request touches.
    #[inline]
    pub(super) fn bytes_of(&self, i: u32, page_bytes: u32) -> u32 {
        if self.list.is_some() {
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

    #[inline]
    pub(super) fn remove(&mut self, id: SlotId) {
        self.slots[id as usize].list = None;
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
