//! The submission queues: with NVMe one for each flow, with SATA one for all flows (model 0.7).
//!
//! Owns which commands wait and how many the device has fetched. Must never know what a command means for the flash.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Board, FlowId};

use super::RequestSlot;
use crate::config::{self, Protocol};

/// The submission queues.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Queues {
    waiting: u32,
    in_flight: u32,
    limit: u32,
    depth: u32,
    shared: bool,
    queues: Vec<VecDeque<RequestSlot>>,
}

impl Queues {
    /// The empty queues of `config`.
    pub(super) fn new(config: &config::Front, flows: usize) -> Queues {
        let (shared, depth) = match config.protocol {
            Protocol::Nvme { depth } => (false, depth),
            Protocol::Sata { depth } => (true, depth),
        };
        Queues {
            queues: vec![VecDeque::new(); if shared { 1 } else { flows }],
            shared,
            depth,
            limit: if shared { config.in_flight.min(depth) } else { config.in_flight },
            in_flight: 0,
            waiting: 0,
        }
    }

    /// The queue in which a flow's commands wait: its own, or with SATA the shared one, which is shown as flow 0's.
    fn queue_of(&self, flow: FlowId) -> usize {
        if self.shared { 0 } else { flow.index() }
    }

    /// Adds a command to its queue.
    #[cold]
    pub(super) fn push(&mut self, flow: FlowId, slot: RequestSlot, board: &mut Board) {
        let queue = self.queue_of(flow);
        self.queues[queue].push_back(slot);
        self.waiting += 1;
        self.publish(queue, board);
    }

    /// Whether a command waits and the device has space for one more.
    #[inline]
    pub(super) fn could_admit(&self) -> bool {
        self.waiting > 0 && self.in_flight < self.limit
    }

    /// Commands that wait, or were fetched and have not completed.
    pub(super) fn outstanding(&self) -> usize {
        self.waiting as usize + self.in_flight as usize
    }

    /// If no other command waits and the device has space, counts a command of `flow` as one that enters the device without
    /// waiting in its queue. Returns whether it enters.
    #[inline]
    pub(super) fn enters_at_once(&mut self, flow: FlowId, board: &mut Board) -> bool {
        let queue = &mut board.flows[self.queue_of(flow)];
        let enters = self.waiting == 0 && self.in_flight < self.limit && queue.in_flight < self.depth;
        if enters {
            self.in_flight += 1;
            queue.in_flight += 1;
        }
        enters
    }

    /// The commands of a flow's queue, oldest first, in two parts: as many as the queue depth lets the device see.
    #[inline]
    pub(super) fn window(&self, queue: FlowId, board: &Board) -> [&[RequestSlot]; 2] {
        let Some(queued) = self.queues.get(queue.index()) else { return [&[]; 2] };
        let (first, second) = queued.as_slices();
        let seen = board.flows[queue.index()].waiting as usize;
        let of_first = seen.min(first.len());
        [&first[..of_first], &second[..seen - of_first]]
    }

    /// Takes a command of a flow's queue into the device, `position` places behind its head.
    pub(super) fn fetch(&mut self, queue: FlowId, position: u32, board: &mut Board) -> RequestSlot {
        let queued = &mut self.queues[queue.index()];
        let taken = if position == 0 { queued.pop_front() } else { queued.remove(position as usize) };
        let slot = taken.expect("an admitted command waits");
        self.waiting -= 1;
        self.in_flight += 1;
        board.flows[queue.index()].in_flight += 1;
        self.publish(queue.index(), board);
        slot
    }

    /// Counts a fetched command of `flow` that has completed.
    #[inline]
    pub(super) fn completed(&mut self, flow: FlowId, board: &mut Board) {
        let queue = self.queue_of(flow);
        self.in_flight -= 1;
        board.flows[queue].in_flight -= 1;
        if self.waiting > 0 {
            self.publish(queue, board);
        }
    }

    /// Updates what the board shows of a queue: as many waiting commands as the queue depth lets the device see.
    #[cold]
    fn publish(&self, queue: usize, board: &mut Board) {
        let space = self.depth - board.flows[queue].in_flight.min(self.depth);
        board.flows[queue].waiting = space.min(self.queues[queue].len() as u32);
    }
}
