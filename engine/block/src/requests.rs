//! The bios in the block layer and the requests that they have become.
//!
//! A request begins with one bio and may take up others; it has the number of the one that it began with. Its bios are a chain, in the order in which they
//! joined.

use flashlane_core::{FlowId, Op, RequestId, Sequence, Time};

use crate::request::{Bio, Stage, Way};

/// What the drive gets: a bio, or several that lie side by side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The number of the bio that it began with.
    pub id: RequestId,
    /// Its flow.
    pub flow: FlowId,
    /// What it asks.
    pub op: Op,
    /// Whether it may take up bios.
    pub plain: bool,
    /// The address of its first byte in the drive.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// Its bios.
    pub bios: u32,
    /// Their segments.
    pub(crate) segments: u32,
    /// When it had its tag.
    pub(crate) tagged: Time,
    /// When it went to the drive.
    pub(crate) issued: Time,
    /// The bio that joined last.
    last: RequestId,
}

impl Request {
    /// The request that `bio` is by itself.
    pub(crate) fn of(now: Time, bio: &Bio) -> Request {
        let &Bio { id, flow, op, plain, offset, bytes } = bio;
        let (bios, segments) = (1, bio.segments());
        Request { id, flow, op, plain, offset, bytes, bios, segments, tagged: now, issued: now, last: id }
    }

    /// The place of its direction in pairs: reads 0, all else 1.
    pub(crate) fn direction(&self) -> usize {
        usize::from(self.op != Op::Read)
    }

    /// The address behind it.
    pub(crate) fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }
}

/// A bio in the block layer.
#[derive(Clone, Copy, Debug)]
struct Entered {
    bio: Bio,
    way: Way,
    /// The one that joined its request after it.
    next: Option<RequestId>,
}

/// All of them.
#[derive(Default, Debug)]
pub(crate) struct Requests {
    bios: Sequence<Entered>,
    requests: Sequence<Request>,
}

impl Requests {
    /// A bio enters.
    pub(crate) fn enter(&mut self, now: Time, bio: Bio) {
        self.bios.insert(bio.id.0, Entered { bio, way: Way::from(now), next: None });
    }

    /// A bio by its number.
    pub(crate) fn bio(&self, id: RequestId) -> Option<Bio> {
        self.bios.get(id.0).map(|entered| entered.bio)
    }

    /// A bio becomes a request.
    pub(crate) fn begin(&mut self, now: Time, bio: &Bio) -> Request {
        let request = Request::of(now, bio);
        self.requests.insert(bio.id.0, request);
        request
    }

    /// A bio joins a request, before its first byte or behind its last. Returns the request as it is then.
    pub(crate) fn join(&mut self, bio: &Bio, into: RequestId) -> Option<Request> {
        let request = self.requests.get_mut(into.0)?;
        request.offset = request.offset.min(bio.offset);
        request.bytes += bio.bytes;
        request.bios += 1;
        request.segments += bio.segments();
        let last = core::mem::replace(&mut request.last, bio.id);
        let request = *request;
        if let Some(last) = self.bios.get_mut(last.0) {
            last.next = Some(bio.id);
        }
        Some(request)
    }

    /// A request by its number.
    pub(crate) fn request(&self, id: RequestId) -> Option<&Request> {
        self.requests.get(id.0)
    }

    /// A request goes to the drive. Returns it as it is then.
    pub(crate) fn issue(&mut self, now: Time, id: RequestId) -> Option<Request> {
        self.leave_all(id, Stage::Driver, now);
        let request = self.requests.get_mut(id.0)?;
        request.issued = now;
        Some(*request)
    }

    /// A bio leaves a stage.
    pub(crate) fn leave(&mut self, id: RequestId, stage: Stage, now: Time) {
        if let Some(entered) = self.bios.get_mut(id.0) {
            entered.way.leave(stage, now);
        }
    }

    /// All bios of a request leave a stage.
    pub(crate) fn leave_all(&mut self, id: RequestId, stage: Stage, now: Time) {
        let mut next = Some(id);
        while let Some(entered) = next.and_then(|id| self.bios.get_mut(id.0)) {
            entered.way.leave(stage, now);
            next = entered.next;
        }
    }

    /// The bios of a request with their ways, in the order in which they joined.
    pub(crate) fn bios(&self, id: RequestId) -> impl Iterator<Item = (&Bio, &Way)> {
        let first = self.bios.get(id.0);
        core::iter::successors(first, |entered| self.bios.get(entered.next?.0))
            .map(|entered| (&entered.bio, &entered.way))
    }

    /// A request has ended; it and its bios are forgotten.
    pub(crate) fn end(&mut self, id: RequestId) -> Option<Request> {
        let request = self.requests.remove(id.0)?;
        let mut next = Some(id);
        while let Some(entered) = next.and_then(|id| self.bios.remove(id.0)) {
            next = entered.next;
        }
        Some(request)
    }
}
