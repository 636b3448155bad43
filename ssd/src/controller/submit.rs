//! The door: a request comes to the device, is checked, and enters or waits in its submission queue.

use flashlane_core::event::Event;
use flashlane_core::{Completion, Extent, Lpn, Op, Request, Time};

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
    pub fn submit(&mut self, now: Time, request: &Request<'_>) -> Result<(), Refusal> {
        if request.flow.index() >= self.flows {
            return Err(Refusal::UnknownFlow);
        }
        let Shape { first, pages, skip, bytes } = self.shape_of(request)?;
        if now > self.board.now {
            self.advance(now);
        }
        debug_assert!(request.arrival <= now && now == self.board.now, "submitted into the past");
        debug_assert!(now <= Time::LAST, "submitted after the last instant");
        let Request { id, flow, op, arrival, extent } = *request;
        self.log.push(now, || Event::Submitted { request: id, flow, op, arrival, pages });
        let scattered = matches!(extent, Extent::Pages(_));
        let answer = Completion { id, flow, op, arrival, done: Time::NEVER, lpn: first, pages, bytes, touched: 0 };
        let entry = Slot { answer, skip, remaining: pages, cursor: 0, scattered };
        let slot = self.slots.insert(entry);
        if let Extent::Pages(list) = extent {
            self.slots.scatter(slot, list);
        }
        if !self.front.inward.is_instant() {
            let bytes = if op == Op::Write { bytes } else { 0 };
            self.front.inward.send(now, slot, bytes);
            self.refresh_other();
        } else if self.known.lone_commands_pass && self.front.is_open(flow, &self.board) {
            self.front.pass(flow, &mut self.board);
            self.log.push(now, || Event::Admitted { request: id });
            self.take_in(slot, entry);
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

    /// What a request touches.
    fn shape_of(&self, request: &Request<'_>) -> Result<Shape, Refusal> {
        let page = u64::from(self.board.facts.geometry.page_bytes);
        let beyond = Refusal::BeyondDrive { pages: self.logical_pages };
        match request.extent {
            Extent::Bytes { length: 0, .. } | Extent::Pages([]) => Err(Refusal::Empty),
            Extent::Bytes { offset, length } => {
                let end = offset.checked_add(length).ok_or(beyond)?;
                if end > u64::from(self.logical_pages) * page {
                    return Err(beyond);
                }
                let (first, skip) = self.page_size.split(offset);
                let pages = self.page_size.quotient(skip + length + page - 1);
                Ok(Shape { first: Lpn(first as u32), pages: pages as u32, skip: skip as u32, bytes: length })
            }
            Extent::Pages(list) => {
                if list.iter().any(|lpn| lpn.0 >= self.logical_pages) {
                    return Err(beyond);
                }
                Ok(Shape { first: list[0], pages: list.len() as u32, skip: 0, bytes: list.len() as u64 * page })
            }
        }
    }
}
