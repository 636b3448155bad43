//! The submission queues: with NVMe one for each flow, with SATA one for all flows (model 0.7).
//!
//! Owns which commands wait and how many the device has fetched.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Board, FlowId};

use super::requests::RequestSlot;
use crate::config::{self, Protocol};

/// The submission queues.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Queues {
    waiting: u32,
    in_flight: u32,
    limit: u32,
    depth: u32,
    shared: bool,
    /// With SATA, trims and flushes are not queued commands (model 0.7): how many wait or are in the device.
    unqueued: u32,
    /// Whether one of them is in the device.
    unqueued_is_inside: bool,
    /// The limit while none holds others back.
    full_limit: u32,
    queues: Vec<VecDeque<RequestSlot>>,
}

impl Queues {
    /// The empty queues of `config`.
    pub(super) fn new(config: &config::Front, flows: usize) -> Queues {
        let (shared, depth) = match config.protocol {
            Protocol::Nvme { depth } => (false, depth),
            Protocol::Sata { depth } => (true, depth),
        };
        let limit = if shared { config.in_flight.min(depth) } else { config.in_flight };
        Queues {
            queues: vec![VecDeque::new(); if shared { 1 } else { flows }],
            shared,
            depth,
            limit,
            full_limit: limit,
            unqueued: 0,
            unqueued_is_inside: false,
            in_flight: 0,
            waiting: 0,
        }
    }

    /// The queue in which a flow's commands wait: its own, or with SATA the shared one, which is shown as flow 0's.
    fn queue_of(&self, flow: FlowId) -> usize {
        if self.shared { 0 } else { flow.index() }
    }

    /// Adds a command to its queue.
    #[inline]
    pub(super) fn push(&mut self, flow: FlowId, slot: RequestSlot, board: &mut Board) {
        let queue = self.queue_of(flow);
        self.queues[queue].push_back(slot);
        self.waiting += 1;
        if self.shared && !board.requests[slot as usize].op.is_data() {
            self.unqueued += 1;
        }
        self.publish(queue, board);
    }

    /// Whether a command waits and the device has space for one more.
    #[inline]
    pub(crate) fn could_admit(&self) -> bool {
        self.waiting > 0 && self.in_flight < self.limit
    }

    /// Commands that wait, or were fetched and have not completed.
    pub(super) fn outstanding(&self) -> usize {
        self.waiting as usize + self.in_flight as usize
    }

    /// If no other command waits and the device has space, counts a command of `flow` as one that enters the device without
    /// waiting in its queue. Returns whether it enters.
    #[inline]
    pub(crate) fn enters_at_once(&mut self, flow: FlowId, board: &mut Board) -> bool {
        let queue = &mut board.flows[self.queue_of(flow)];
        let enters = self.waiting == 0 && self.in_flight < self.limit && queue.in_flight() < self.depth;
        if enters {
            self.in_flight += 1;
            queue.command_fetched();
        }
        enters
    }

    /// The commands of a flow's queue, oldest first, in two parts: as many as the queue depth lets the device see.
    #[inline]
    pub(super) fn window(&self, queue: FlowId, board: &Board) -> [&[RequestSlot]; 2] {
        let Some(queued) = self.queues.get(queue.index()) else { return [&[]; 2] };
        let (first, second) = queued.as_slices();
        let seen = board.flows[queue.index()].waiting() as usize;
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
        board.flows[queue.index()].command_fetched();
        self.publish(queue.index(), board);
        slot
    }

    /// Counts a fetched command of `flow` that has completed.
    #[inline(always)]
    pub(super) fn completed(&mut self, flow: FlowId, board: &mut Board) {
        let queue = self.queue_of(flow);
        self.in_flight -= 1;
        board.flows[queue].command_completed();
        if self.unqueued > 0 {
            self.unqueued_completed();
        }
        if self.waiting > 0 {
            self.publish(queue, board);
        }
    }

    /// If a trim or a flush of SATA is the only command in the device, it has completed.
    #[cold]
    fn unqueued_completed(&mut self) {
        if core::mem::take(&mut self.unqueued_is_inside) {
            self.unqueued -= 1;
            self.limit = self.full_limit;
        }
    }

    /// Whether a trim or a flush of SATA waits or is in the device.
    #[inline]
    pub(crate) fn has_unqueued(&self) -> bool {
        self.unqueued > 0
    }

    /// With SATA, takes a trim or a flush into the device if it has waited longest and the device is empty.
    pub(crate) fn fetch_unqueued(&mut self, board: &mut Board) -> Option<RequestSlot> {
        let first = *self.queues[0].front()?;
        if self.unqueued == 0 || self.in_flight > 0 || board.requests[first as usize].op.is_data() {
            return None;
        }
        self.unqueued_is_inside = true;
        Some(self.fetch(FlowId(0), 0, board))
    }

    /// What a trim or a flush of SATA leaves of the commands that the device may fetch: those before it. While it waits for the
    /// commands in the device, or is there, none.
    #[cold]
    fn hold_back(&mut self, board: &mut Board) {
        let is_unqueued = |&slot: &RequestSlot| !board.requests[slot as usize].op.is_data();
        let before = if self.unqueued_is_inside { Some(0) } else { self.queues[0].iter().position(is_unqueued) };
        let holds_all = self.unqueued_is_inside || before == Some(0) && self.in_flight > 0;
        self.limit = if holds_all { 0 } else { self.full_limit };
        let shown = board.flows[0].waiting();
        board.flows[0].set_waiting(before.map_or(shown, |before| shown.min(before as u32)));
    }

    /// Updates what the board shows of a queue: as many waiting commands as the queue depth lets the device see.
    #[inline]
    fn publish(&mut self, queue: usize, board: &mut Board) {
        let space = self.depth - board.flows[queue].in_flight().min(self.depth);
        board.flows[queue].set_waiting(space.min(self.queues[queue].len() as u32));
        if self.unqueued > 0 {
            self.hold_back(board);
        }
    }
}
