//! Requests inside the device, from submission to completion.

use alloc::boxed::Box;
use alloc::vec::Vec;

use flashlane_core::{Completion, Lpn};
use prefetch_index::prefetch_index;

use super::RequestSlot;
use super::door::{Name, Shape};

/// A request inside the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostRequest {
    /// What the host will be told: all of it but the time of completion, and what touched it so far.
    pub(crate) answer: Completion,
    /// Bytes of the first page before the request begins.
    pub(super) skip: u32,
    /// Pages not yet served.
    pub(crate) remaining: u32,
    /// Next page to put into the buffer.
    pub(crate) cursor: u32,
    /// Whether its pages are a list of their own instead of consecutive.
    pub(super) scattered: bool,
}

impl HostRequest {
    /// A request that was just submitted.
    #[inline(always)]
    pub(super) fn new(name: &Name, shape: &Shape, scattered: bool) -> HostRequest {
        use flashlane_core::Time;
        let (Name { id, flow, op, arrival }, Shape { first: lpn, pages, skip, bytes }) = (*name, *shape);
        let answer = Completion { id, flow, op, arrival, done: Time::NEVER, lpn, pages, bytes, touched: 0 };
        HostRequest { answer, skip, remaining: pages, cursor: 0, scattered }
    }

    /// Bytes of the `i`-th page that the request touches.
    #[inline]
    pub(crate) fn bytes_of(&self, i: u32, page_bytes: u32) -> u32 {
        if self.scattered {
            return page_bytes;
        }
        let page = u64::from(page_bytes);
        let start = if i == 0 { u64::from(self.skip) } else { 0 };
        let end = (u64::from(self.skip) + self.answer.bytes - u64::from(i) * page).min(page);
        (end - start) as u32
    }
}

/// All requests inside the device.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    slots: Vec<HostRequest>,
    /// The pages of scattered requests, by slot.
    lists: Vec<Box<[Lpn]>>,
    free: Vec<RequestSlot>,
}

impl Requests {
    /// Gives a request a slot.
    #[inline]
    pub(super) fn insert(&mut self, request: HostRequest) -> RequestSlot {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = request;
            return slot;
        }
        self.slots.push(request);
        self.slots.len() as RequestSlot - 1
    }

    /// Notes the pages of a scattered request.
    pub(super) fn scatter(&mut self, slot: RequestSlot, pages: &[Lpn]) {
        let index = slot as usize;
        if self.lists.len() <= index {
            self.lists.resize_with(index + 1, Box::default);
        }
        self.lists[index] = pages.into();
    }

    /// The `i`-th page of the request in `slot`.
    #[inline(always)]
    pub(crate) fn page(&self, slot: RequestSlot, i: u32) -> Lpn {
        self.page_of(slot, self.get(slot), i)
    }

    /// The `i`-th page of `request`, which is in `slot`.
    #[inline(always)]
    pub(crate) fn page_of(&self, slot: RequestSlot, request: &HostRequest, i: u32) -> Lpn {
        if request.scattered { self.lists[slot as usize][i as usize] } else { Lpn(request.answer.lpn.0 + i) }
    }

    /// Gives the slot of a served request back; returns what the host is told.
    #[inline(always)]
    pub(super) fn remove(&mut self, slot: RequestSlot) -> Completion {
        let HostRequest { answer, scattered, remaining, .. } = *self.get(slot);
        debug_assert!(remaining == 0);
        if scattered {
            self.lists[slot as usize] = Box::default();
        }
        self.free.push(slot);
        answer
    }

    /// Prefetches a request that will be needed soon.
    #[inline]
    pub(crate) fn prefetch(&self, slot: RequestSlot) {
        prefetch_index(&self.slots, slot as usize);
    }

    #[inline]
    pub(crate) fn get(&self, slot: RequestSlot) -> &HostRequest {
        &self.slots[slot as usize]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: RequestSlot) -> &mut HostRequest {
        &mut self.slots[slot as usize]
    }
}
