//! The door: a request comes to the device, is checked, and enters or waits in its submission queue.

use flashlane_core::event::Event;
use flashlane_core::{Extent, FlowId, Lpn, Op, Request, RequestId, Time};

use super::Device;
use super::slots::Slot;

/// A request the device cannot take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It reaches past the last logical page.
    BeyondDrive {
        /// Pages the drive has.
        pages: u32,
    },
    /// It touches nothing.
    Empty,
    /// Its flow was not configured.
    UnknownFlow,
}

/// A request but for what it touches.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub(super) id: RequestId,
    pub(super) flow: FlowId,
    pub(super) op: Op,
    pub(super) arrival: Time,
}

/// What a request touches: its first page, how many, bytes of the first page before it begins, bytes in all.
struct Shape {
    first: Lpn,
    pages: u32,
    skip: u32,
    bytes: u64,
}

impl Device {
    /// Hands the device a request at `now`, which must not be before the last instant it lived, nor after [`Time::LAST`].
    ///
    /// # Errors
    /// Refuses what it could not serve; nothing has changed then.
    #[inline]
    pub fn submit(&mut self, now: Time, request: &Request<'_>) -> Result<(), Refusal> {
        let Request { id, flow, op, arrival, extent } = *request;
        match extent {
            Extent::Bytes { offset, length } => self.submit_bytes(now, id, (flow, op), arrival, (offset, length)),
            Extent::Pages(list) => self.submit_pages(now, Name { id, flow, op, arrival }, list),
        }
    }

    /// The same for consecutive bytes. (Pairs, so that all of it comes in registers.)
    fn submit_bytes(
        &mut self,
        now: Time,
        id: RequestId,
        (flow, op): (FlowId, Op),
        arrival: Time,
        (offset, length): (u64, u64),
    ) -> Result<(), Refusal> {
        if length == 0 {
            return Err(Refusal::Empty);
        }
        let page = u64::from(self.board.facts.geometry.page_bytes);
        let beyond = Refusal::BeyondDrive { pages: self.logical_pages };
        let end = offset.checked_add(length).ok_or(beyond)?;
        if end > u64::from(self.logical_pages) * page {
            return Err(beyond);
        }
        let (first, skip) = self.page_size.split(offset);
        let pages = self.page_size.quotient(skip + length + page - 1);
        let shape = Shape { first: Lpn(first as u32), pages: pages as u32, skip: skip as u32, bytes: length };
        self.enter(now, Name { id, flow, op, arrival }, &shape, None)
    }

    /// The same for pages that lie anywhere.
    #[cold]
    fn submit_pages(&mut self, now: Time, name: Name, list: &[Lpn]) -> Result<(), Refusal> {
        let Some(&first) = list.first() else { return Err(Refusal::Empty) };
        if list.iter().any(|lpn| lpn.0 >= self.logical_pages) {
            return Err(Refusal::BeyondDrive { pages: self.logical_pages });
        }
        let bytes = list.len() as u64 * u64::from(self.board.facts.geometry.page_bytes);
        let shape = Shape { first, pages: list.len() as u32, skip: 0, bytes };
        self.enter(now, name, &shape, Some(list))
    }

    /// A request of this shape, or of a list of pages, comes: it enters or waits.
    #[inline(always)]
    fn enter(&mut self, now: Time, name: Name, shape: &Shape, list: Option<&[Lpn]>) -> Result<(), Refusal> {
        let Name { id, flow, op, arrival } = name;
        let Shape { first, pages, skip, bytes } = *shape;
        if flow.index() >= self.flows {
            return Err(Refusal::UnknownFlow);
        }
        if now > self.board.now {
            self.advance(now);
        }
        debug_assert!(arrival <= now && now == self.board.now, "submitted into the past");
        debug_assert!(now <= Time::LAST, "submitted after the last instant");
        self.log.push(now, || {
            let begins = u64::from(first.0) * u64::from(self.board.facts.geometry.page_bytes) + u64::from(skip);
            let extent = list.is_none().then_some((begins, bytes));
            Event::Submitted { request: id, flow, op, arrival, pages, extent }
        });
        let passes = self.known.lone_commands_pass && self.front.is_open(flow, &self.board);
        if passes && op == Op::Read && pages == 1 && self.known.newcomers && list.is_none() {
            // It is its transaction, and needs no slot.
            self.front.pass(flow, &mut self.board);
            self.read_alone(&name, first, bytes as u32);
            return Ok(());
        }
        let mut entry = Slot::new(&name, first, pages, skip, bytes);
        entry.scattered = list.is_some();
        let slot = self.slots.insert(entry);
        if let Some(list) = list {
            self.slots.scatter(slot, list);
        }
        if passes {
            self.front.pass(flow, &mut self.board);
            self.log.push(now, || Event::Admitted { request: id });
            self.take_in(slot, entry);
        } else if !self.front.inward.is_instant() {
            let bytes = if op == Op::Write { bytes } else { 0 };
            self.front.inward.send(now, slot, bytes);
            self.refresh_other();
        } else {
            self.front.push(flow, slot, &mut self.board);
            self.admit();
        }
        Ok(())
    }

    /// Has the memory fetch what a request that begins at byte `offset` is going to need: a hint that it will be submitted
    /// soon, without which all is the same but slower.
    #[inline]
    pub fn expect(&self, offset: u64) {
        self.pending.expect(Lpn(self.page_size.quotient(offset) as u32));
    }
}
