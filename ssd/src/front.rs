//! Host interface: the submission queues commands wait in, and the link they cross.
//!
//! NVMe has a queue a flow, SATA one for all. Owns which commands wait and when they cross the link; it must never know
//! what a command means to the flash.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Board, Duration, FlowId, Time};

use crate::config::{self, Protocol};

/// A request's slot in the controller's table.
pub(crate) type SlotId = u32;

/// One direction of the link: a serial resource with a fixed latency, so that what enters first leaves first.
#[derive(Debug)]
pub(crate) struct Lane {
    free: Time,
    bytes_per_s: u64,
    latency: Duration,
    travelling: VecDeque<(Time, SlotId)>,
}

impl Lane {
    fn new(front: &config::Front, more: Duration) -> Lane {
        Lane {
            free: Time::ZERO,
            bytes_per_s: front.link_bytes_per_s,
            latency: front.link_latency + more,
            travelling: VecDeque::new(),
        }
    }

    /// Whether crossing takes no time.
    pub(crate) fn is_instant(&self) -> bool {
        self.bytes_per_s == 0 && self.latency == Duration::ZERO
    }

    /// Sends `bytes` for `slot`.
    #[cold]
    pub(crate) fn send(&mut self, now: Time, slot: SlotId, bytes: u64) {
        let length = match self.bytes_per_s {
            0 => 0,
            rate => (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate)) as u64,
        };
        self.free = self.free.max(now) + Duration::from_ns(length);
        self.travelling.push_back((self.free + self.latency, slot));
    }

    /// When the next one arrives.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.travelling.front().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// The one that has arrived by `now`.
    pub(crate) fn arrived(&mut self, now: Time) -> Option<SlotId> {
        if self.next() > now {
            return None;
        }
        self.travelling.pop_front().map(|(_, slot)| slot)
    }
}

/// The host interface.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Front {
    waiting: u32,
    in_flight: u32,
    limit: u32,
    depth: u32,
    shared: bool,
    lines: Vec<VecDeque<SlotId>>,
    /// Host to device.
    pub(crate) inward: Lane,
    /// Device to host.
    pub(crate) outward: Lane,
}

impl Front {
    /// `decision` is time a scheduler takes over every command before it can enter.
    pub(crate) fn new(config: &config::Front, flows: usize, decision: Duration) -> Front {
        let (shared, depth) = match config.protocol {
            Protocol::Nvme { depth } => (false, depth),
            Protocol::Sata { depth } => (true, depth),
        };
        Front {
            lines: vec![VecDeque::new(); if shared { 1 } else { flows }],
            shared,
            depth,
            limit: if shared { config.in_flight.min(depth) } else { config.in_flight },
            in_flight: 0,
            waiting: 0,
            inward: Lane::new(config, decision),
            outward: Lane::new(config, Duration::ZERO),
        }
    }

    /// The line a flow's commands wait in: its own, or (SATA) the one for all, which counts as flow 0's.
    fn line(&self, flow: FlowId) -> usize {
        if self.shared { 0 } else { flow.index() }
    }

    /// A command joins its line.
    #[cold]
    pub(crate) fn push(&mut self, flow: FlowId, slot: SlotId, board: &mut Board) {
        let line = self.line(flow);
        self.lines[line].push_back(slot);
        self.waiting += 1;
        self.show(line, board);
    }

    /// Whether anything waits that the device has space for.
    #[inline]
    pub(crate) fn could_admit(&self) -> bool {
        self.waiting > 0 && self.in_flight < self.limit
    }

    /// Commands that have come and whose completion the host has not seen.
    pub(crate) fn outstanding(&self) -> usize {
        self.inward.travelling.len() + self.waiting as usize + self.in_flight as usize
    }

    /// Whether a command of `flow` would find no other waiting, and space in the device.
    #[inline]
    pub(crate) fn is_open(&self, flow: FlowId, board: &Board) -> bool {
        self.waiting == 0 && self.in_flight < self.limit && board.flows[self.line(flow)].in_flight < self.depth
    }

    /// A command goes straight into the device.
    #[inline]
    pub(crate) fn pass(&mut self, flow: FlowId, board: &mut Board) {
        self.in_flight += 1;
        board.flows[self.line(flow)].in_flight += 1;
    }

    /// The next command of a line.
    pub(crate) fn head(&self, line: FlowId) -> Option<SlotId> {
        self.lines.get(line.index())?.front().copied()
    }

    /// The device fetches the head of a line.
    pub(crate) fn fetch(&mut self, line: FlowId, board: &mut Board) -> SlotId {
        let slot = self.lines[line.index()].pop_front().expect("admitted from an empty line");
        self.waiting -= 1;
        self.in_flight += 1;
        board.flows[line.index()].in_flight += 1;
        self.show(line.index(), board);
        slot
    }

    /// A fetched command of `flow` completed.
    #[inline]
    pub(crate) fn completed(&mut self, flow: FlowId, board: &mut Board) {
        let line = self.line(flow);
        self.in_flight -= 1;
        board.flows[line].in_flight -= 1;
        if self.waiting > 0 {
            self.show(line, board);
        }
    }

    /// Puts what the board shows of a line in step: commands that the depth lets the device see.
    #[cold]
    fn show(&self, line: usize, board: &mut Board) {
        let space = self.depth - board.flows[line].in_flight.min(self.depth);
        board.flows[line].waiting = space.min(self.lines[line].len() as u32);
    }
}
