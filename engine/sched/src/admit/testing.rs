//! Submission queues to test admission with.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::board::ActiveRequest;
use flashlane_core::decide::Commands;
use flashlane_core::{FlowId, Lpn, Op, RequestId, Time};

/// The submission queues of all flows.
pub(super) struct Queues {
    /// Whether a queue that the command needs has no room.
    pub(super) full: Box<dyn Fn(u32) -> bool>,
    /// By flow, the commands that wait.
    pub(super) waiting: Vec<Vec<u32>>,
    /// By command, the pages it touches, and which of them the buffer does not hold.
    pub(super) pages: Vec<(core::ops::Range<u32>, u32)>,
}

impl Queues {
    /// One command for each of eight flows, numbered like its flow. Every queue has room.
    pub(super) fn open() -> Queues {
        Queues::full(|_| false)
    }

    /// The queues of flows for which `full` holds have no room.
    pub(super) fn full(full: impl Fn(FlowId) -> bool + 'static) -> Queues {
        let full = Box::new(move |command: u32| full(FlowId(command as u16)));
        Queues { full, waiting: (0..8).map(|flow| vec![flow]).collect(), pages: vec![] }
    }
}

impl Commands for Queues {
    fn waiting(&self, flow: FlowId) -> [&[u32]; 2] {
        let queue = self.waiting.get(flow.index()).map_or(&[][..], Vec::as_slice);
        let (first, second) = queue.split_at(queue.len() / 2);
        [first, second]
    }

    fn full(&self, command: u32) -> bool {
        (self.full)(command)
    }

    fn missing(&self, command: u32) -> u32 {
        self.pages[command as usize].1
    }

    fn overlap(&self, one: u32, other: u32) -> bool {
        let [one, other] = [one, other].map(|command| &self.pages[command as usize].0);
        one.start < other.end && other.start < one.end
    }
}

/// A command of `pages` pages of flow 0.
pub(super) const fn command(op: Op, pages: u32, arrival: u64) -> ActiveRequest {
    ActiveRequest {
        id: RequestId(0),
        arrival: Time::from_ns(arrival),
        bytes: 0,
        flow: FlowId(0),
        op,
        lpn: Lpn(0),
        pages,
        remaining: pages,
        skip: 0,
        buffered: 0,
        entered: false,
        fua: false,
        scattered: false,
        tags: 0,
    }
}
