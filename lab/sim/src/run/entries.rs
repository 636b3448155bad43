//! When requests enter their submission queue, for response times that count from there.
//!
//! Owns how many requests of each submission queue are outstanding, and which wait in the host because the queue is full.
//! Completions may be passed later than requests that arrived after them; the instants are the same.

use std::collections::VecDeque;

use flashlane_core::{Completion, FlowId, Request, RequestId, Time};
use flashlane_ssd::config::Protocol;
use rustc_hash::FxHashMap;

/// Entries into the submission queues of a run.
#[derive(Debug)]
pub(crate) struct Entries {
    depth: u64,
    /// One queue for all flows.
    shared: bool,
    queues: Vec<Queue>,
    /// Requests outstanding that entered later than they arrived.
    late: FxHashMap<RequestId, Time>,
}

/// A submission queue.
#[derive(Clone, Default, Debug)]
struct Queue {
    issued: u64,
    completed: u64,
    /// Requests that wait in the host as far as is known, with their arrivals.
    outside: VecDeque<(RequestId, Time)>,
}

impl Entries {
    /// The empty queues of `protocol`.
    pub(crate) fn new(protocol: &Protocol, flows: usize) -> Entries {
        let (shared, depth) = match *protocol {
            Protocol::Nvme { depth } => (false, depth),
            Protocol::Sata { depth } => (true, depth),
        };
        let queues = vec![Queue::default(); if shared { 1 } else { flows }];
        Entries { depth: u64::from(depth), shared, queues, late: FxHashMap::default() }
    }

    fn queue(&mut self, flow: FlowId) -> &mut Queue {
        &mut self.queues[if self.shared { 0 } else { flow.index() }]
    }

    /// Counts a request that the host creates.
    pub(crate) fn issue(&mut self, request: &Request<'_>) {
        let depth = self.depth;
        let queue = self.queue(request.flow);
        queue.issued += 1;
        if queue.issued > queue.completed + depth {
            queue.outside.push_back((request.id, request.arrival));
        }
    }

    /// Counts a completion, after which one more request enters, and lets its own response time count from its entry.
    pub(crate) fn complete(&mut self, completion: &mut Completion) {
        let queue = self.queue(completion.flow);
        queue.completed += 1;
        if let Some((next, arrival)) = queue.outside.pop_front()
            && arrival < completion.done
        {
            self.late.insert(next, completion.done);
        }
        if let Some(entered) = self.late.remove(&completion.id) {
            completion.arrival = entered;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::{Extent, Op};

    fn request(id: u64, flow: u16, at: u64) -> Request<'static> {
        let extent = Extent::Bytes { offset: 0, length: 1 };
        Request { id: RequestId(id), flow: FlowId(flow), op: Op::Read, fua: false, arrival: Time::from_ns(at), extent }
    }

    /// A completion of a request at `done`; returns from when its response time counts.
    fn complete(entries: &mut Entries, id: u64, flow: u16, arrival: u64, done: u64) -> u64 {
        let [arrival, done] = [arrival, done].map(Time::from_ns);
        let (id, flow, op) = (RequestId(id), FlowId(flow), Op::Read);
        let lpn = flashlane_core::Lpn(0);
        let mut completion = Completion { id, flow, op, arrival, done, lpn, pages: 1, bytes: 1, tags: 0 };
        entries.complete(&mut completion);
        completion.arrival.ns()
    }

    /// Two at a time: the third enters when one of the first two is done, the fourth when another is; the other flow has a
    /// queue of its own, unless all share one.
    #[test]
    fn requests_enter_when_one_before_them_is_done() {
        let mut entries = Entries::new(&Protocol::Nvme { depth: 2 }, 2);
        (0..4).for_each(|id| entries.issue(&request(id, 0, 10 * id)));
        entries.issue(&request(4, 1, 35));
        assert_eq!(complete(&mut entries, 1, 0, 10, 50), 10);
        assert_eq!(complete(&mut entries, 2, 0, 20, 60), 50);
        assert_eq!(complete(&mut entries, 4, 1, 35, 70), 35);
        assert_eq!(complete(&mut entries, 0, 0, 0, 80), 0);
        assert_eq!(complete(&mut entries, 3, 0, 30, 90), 60);
        let mut shared = Entries::new(&Protocol::Sata { depth: 1 }, 2);
        (0..2).for_each(|id| shared.issue(&request(id, id as u16, 0)));
        assert_eq!([complete(&mut shared, 0, 0, 0, 5), complete(&mut shared, 1, 1, 0, 7)], [0, 5]);
    }

    /// Completions that are passed only after later arrivals give the same instants: nobody enters before he arrives.
    #[test]
    fn late_news_of_completions_changes_nothing() {
        let mut entries = Entries::new(&Protocol::Nvme { depth: 1 }, 1);
        for (id, at) in [(0, 0), (1, 5), (2, 100)] {
            entries.issue(&request(id, 0, at));
        }
        assert_eq!(complete(&mut entries, 0, 0, 0, 20), 0);
        assert_eq!(complete(&mut entries, 1, 0, 5, 40), 20);
        assert_eq!(complete(&mut entries, 2, 0, 100, 120), 100, "one was done at 40, before it arrived");
        assert!(entries.late.is_empty());
    }
}
