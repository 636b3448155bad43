//! Merging: bios of a flow that lie side by side become one request.
//!
//! What a flow asks at one instant gathers in its plug, one for all its threads. A plug ends with its instant, when it is full, when one of the flow's threads
//! waits for a tag, and before a flush. A bio joins the request that came last into the plug, or one that waits in an elevator. Only
//! reads and writes of consecutive bytes without FUA are merged, never of two flows or directions.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use flashlane_core::{FlowId, RequestId};

use crate::config::Merging;
use crate::request::Bio;
use crate::requests::{Request, Requests};

/// Requests in a full plug.
const MOST_IN_PLUG: usize = 32;
/// Bytes of its last request that make a plug full.
const LARGEST_IN_PLUG: u64 = 128 << 10;

/// The plugs, and what may grow in the elevator.
#[derive(Debug)]
pub(crate) struct Merger {
    limits: Merging,
    /// The plug of each flow.
    plugs: Vec<Vec<RequestId>>,
    /// The flows with a plug that is not empty, the oldest plug first.
    plugged: Vec<FlowId>,
    /// Requests in the elevator that may grow, by flow, direction and the address where they begin.
    begins: BTreeSet<Place>,
    /// The same by the address behind them.
    ends: BTreeSet<Place>,
}

/// A flow, a direction, an address, and the request there.
type Place = (FlowId, usize, u64, RequestId);

/// The request that a bio may join.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour {
    pub(crate) id: RequestId,
    /// Whether it waits in the elevator; else it is in the plug.
    pub(crate) is_in_elevator: bool,
}

impl Merger {
    pub(crate) fn new(limits: Merging, flows: usize) -> Merger {
        Merger {
            limits,
            plugs: (0..flows).map(|_| Vec::new()).collect(),
            plugged: Vec::new(),
            begins: BTreeSet::new(),
            ends: BTreeSet::new(),
        }
    }

    /// The request that this bio may join: in the plug, or behind or before one in the elevator, of several the oldest.
    pub(crate) fn neighbour(&self, requests: &Requests, bio: &Bio) -> Option<Neighbour> {
        if !bio.plain {
            return None;
        }
        let fits = |id: RequestId| {
            let request = requests.request(id)?;
            let lies_beside = request.end() == bio.offset || bio.end() == request.offset;
            let has_room = request.bytes.saturating_add(bio.bytes) <= self.limits.max_bytes
                && request.segments.saturating_add(bio.segments()) <= self.limits.max_segments;
            (request.plain && request.op == bio.op && lies_beside && has_room).then_some(id)
        };
        let in_plug = self.plugs[bio.flow.index()].last().copied().and_then(fits);
        if let Some(id) = in_plug {
            return Some(Neighbour { id, is_in_elevator: false });
        }
        let (flow, direction) = (bio.flow, bio.direction());
        let at = |address| (flow, direction, address, RequestId(0))..=(flow, direction, address, RequestId(u64::MAX));
        let behind = self.ends.range(at(bio.offset)).find_map(|place| fits(place.3));
        let id = behind.or_else(|| self.begins.range(at(bio.end())).find_map(|place| fits(place.3)))?;
        Some(Neighbour { id, is_in_elevator: true })
    }

    /// Whether the plug of `flow` ends before it takes another request.
    pub(crate) fn is_full(&self, requests: &Requests, flow: FlowId) -> bool {
        let plug = &self.plugs[flow.index()];
        let last = plug.last().and_then(|&id| requests.request(id));
        plug.len() >= MOST_IN_PLUG || last.is_some_and(|request| request.bytes >= LARGEST_IN_PLUG)
    }

    /// A request enters the plug of its flow.
    pub(crate) fn plug(&mut self, request: &Request) {
        let plug = &mut self.plugs[request.flow.index()];
        if plug.is_empty() {
            self.plugged.push(request.flow);
        }
        plug.push(request.id);
    }

    /// Ends the plug of `flow`: takes its requests out.
    pub(crate) fn unplug(&mut self, flow: FlowId) -> Vec<RequestId> {
        self.plugged.retain(|&plugged| plugged != flow);
        core::mem::take(&mut self.plugs[flow.index()])
    }

    /// The flow with the oldest plug.
    pub(crate) fn first_plugged(&self) -> Option<FlowId> {
        self.plugged.first().copied()
    }

    /// A request has entered the elevator, where it may grow.
    pub(crate) fn inserted(&mut self, request: &Request) {
        if request.plain {
            let Request { id, flow, offset, .. } = *request;
            self.begins.insert((flow, request.direction(), offset, id));
            self.ends.insert((flow, request.direction(), request.end(), id));
        }
    }

    /// A request has left the elevator, or is to grow there.
    pub(crate) fn removed(&mut self, request: &Request) {
        let Request { id, flow, offset, .. } = *request;
        self.begins.remove(&(flow, request.direction(), offset, id));
        self.ends.remove(&(flow, request.direction(), request.end(), id));
    }
}

#[cfg(test)]
#[path = "merging_tests.rs"]
mod tests;
