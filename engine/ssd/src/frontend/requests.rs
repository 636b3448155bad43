//! The slots of the board's table of requests, and the pages of scattered requests, which are not consecutive.

use alloc::boxed::Box;
use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::{Board, Lpn};

/// A request's slot in the board's table of requests; `RequestSlot::MAX` for a transaction that belongs to no request.
pub(crate) type RequestSlot = u32;

/// What is kept besides the board's table of requests: free slots and page lists.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// The pages of scattered requests, by slot.
    lists: Vec<Box<[Lpn]>>,
    free: Vec<RequestSlot>,
}

impl Requests {
    /// Gives a submitted request a slot; `list` has its pages if they are not consecutive.
    #[inline(always)]
    pub(crate) fn insert(&mut self, request: ActiveRequest, list: Option<&[Lpn]>, board: &mut Board) -> RequestSlot {
        let slot = if let Some(slot) = self.free.pop() {
            board.requests[slot as usize] = request;
            slot
        } else {
            board.requests.push(request);
            board.requests.len() as RequestSlot - 1
        };
        if let Some(list) = list {
            self.scatter(slot, list);
        }
        slot
    }

    /// Stores the page list of a scattered request.
    fn scatter(&mut self, slot: RequestSlot, pages: &[Lpn]) {
        let index = slot as usize;
        if self.lists.len() <= index {
            self.lists.resize_with(index + 1, Box::default);
        }
        self.lists[index] = pages.into();
    }

    /// The `i`-th page of `request`, which is in `slot`.
    #[inline(always)]
    pub(crate) fn page(&self, slot: RequestSlot, request: &ActiveRequest, i: u32) -> Lpn {
        if request.scattered { self.lists[slot as usize][i as usize] } else { Lpn(request.lpn.0 + i) }
    }

    /// Whether two requests, by slot, touch a page in common.
    pub(super) fn overlap(&self, slots: [RequestSlot; 2], board: &Board) -> bool {
        let [one, other] = slots.map(|slot| (slot, &board.requests[slot as usize]));
        let last = |request: &ActiveRequest| u64::from(request.lpn.0) + u64::from(request.pages);
        let lies_in = |lpn: Lpn, (slot, request): (RequestSlot, &ActiveRequest)| match request.scattered {
            true => self.lists[slot as usize].contains(&lpn),
            false => (u64::from(request.lpn.0)..last(request)).contains(&u64::from(lpn.0)),
        };
        match (one.1.scattered, other.1.scattered) {
            (false, false) => u64::from(one.1.lpn.0) < last(other.1) && u64::from(other.1.lpn.0) < last(one.1),
            (true, _) => self.lists[one.0 as usize].iter().any(|&lpn| lies_in(lpn, other)),
            (false, true) => self.lists[other.0 as usize].iter().any(|&lpn| lies_in(lpn, one)),
        }
    }

    /// Frees the slot of a served request.
    #[inline(always)]
    pub(super) fn remove(&mut self, slot: RequestSlot, request: &ActiveRequest) {
        debug_assert!(request.remaining == 0);
        if request.scattered {
            self.lists[slot as usize] = Box::default();
        }
        self.free.push(slot);
    }
}
