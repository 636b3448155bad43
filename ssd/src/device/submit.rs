//! Submission of a request: it is checked, and sent to its submission queue or straight into the device.

use flashlane_core::board::ActiveRequest;
use flashlane_core::event::Event;
use flashlane_core::{Extent, Request, Time};

use super::Device;
use crate::host::{Refusal, Shape};

impl Device {
    /// Submits a request at `now`, which must not be before the instant the device has reached, nor after [`Time::LAST`].
    ///
    /// # Errors
    /// A request that the device could not serve; the device is unchanged then.
    #[inline]
    pub fn submit(&mut self, now: Time, request: &Request<'_>) -> Result<(), Refusal> {
        let Request { id, flow, op, arrival, extent } = *request;
        let shape = self.host.check(flow, &extent)?;
        if now > self.now() {
            self.advance(now);
        }
        debug_assert!(arrival <= now && now == self.now(), "submitted into the past");
        debug_assert!(now <= Time::LAST, "submitted after the last instant");
        let Shape { first: lpn, pages, skip, bytes } = shape;
        let (list, bytes_touched) = match extent {
            Extent::Bytes { offset, length } => (None, Some((offset, length))),
            Extent::Pages(list) => (Some(list), None),
        };
        self.state.log(|| Event::Submitted { request: id, flow, op, arrival, pages, extent: bytes_touched });
        let request = ActiveRequest {
            id,
            arrival,
            bytes,
            flow,
            op,
            lpn,
            pages,
            remaining: pages,
            skip,
            buffered: 0,
            scattered: list.is_some(),
            tags: 0,
        };
        let slot = self.host.register(request, list, &mut self.state.board);
        if self.policy.skips_when_single() && self.host.enters_at_once(flow, &mut self.state.board) {
            self.state.log(|| Event::Admitted { request: id });
            self.split_request(slot, &request);
            return Ok(());
        }
        self.host.send(slot, &mut self.state);
        if self.policy.ranks_all_waiting() {
            // What else arrives at this instant is to be compared with it.
            self.state.agenda.open = true;
        } else if self.host.is_link_instant() {
            self.admit();
        }
        Ok(())
    }

    /// Prefetches memory for a request that begins at byte `offset` and will be submitted soon. Changes nothing but speed.
    #[inline]
    pub fn prefetch(&self, offset: u64) {
        self.writes.prefetch(self.host.page_at(offset));
    }
}
