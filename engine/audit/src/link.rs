//! The path between host and device, computed from the configuration: when a request has crossed the link, and how many
//! commands the device may hold.

use flashlane_core::request::Op;
use flashlane_core::{Duration, FlowId, Time};
use flashlane_ssd::config::{Config, Protocol};

/// One direction of the link.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Direction {
    /// When the last data given to it has crossed.
    free: Time,
}

/// The link, the memory, and the limits on commands in the device.
#[derive(Debug)]
pub(super) struct Link {
    bytes_per_s: u64,
    latency: Duration,
    page_bytes: u64,
    /// What the controller takes for a command and for each page of it, reads and writes.
    command: [Duration; 2],
    page: [Duration; 2],
    /// When each of its cores is free.
    cores: Vec<Time>,
    /// Time the memory takes over a request it serves.
    pub(super) memory: Duration,
    /// Commands the device holds, and each queue.
    limit: u32,
    depth: u32,
    shared: bool,
    /// Whether a trim or a flush is in the device of which SATA allows no other command.
    unqueued_is_inside: bool,
    in_flight: Vec<u32>,
    pub(super) inward: Direction,
    pub(super) outward: Direction,
}

impl Link {
    /// The link of a device of `config`.
    pub(super) fn new(config: &Config) -> Link {
        let front = &config.front;
        let (shared, depth) = match front.protocol {
            Protocol::Nvme { depth } => (false, depth),
            Protocol::Sata { depth } => (true, depth),
        };
        Link {
            bytes_per_s: front.link_bytes_per_s,
            latency: front.link_latency,
            page_bytes: config.geometry.page_bytes.into(),
            command: front.controller.command,
            page: front.controller.page,
            cores: vec![Time::ZERO; front.controller.cores as usize],
            memory: config.memory,
            limit: front.in_flight,
            depth,
            shared,
            unqueued_is_inside: false,
            in_flight: vec![0; config.flows.len()],
            inward: Direction::default(),
            outward: Direction::default(),
        }
    }

    fn line(&self, flow: FlowId) -> usize {
        if self.shared { 0 } else { flow.index() }
    }

    /// A command is about to enter. Returns whether it may, as far as commands are concerned that SATA does not queue.
    pub(super) fn may_enter(&mut self, is_data: bool) -> bool {
        if !self.shared {
            return true;
        }
        let may = !self.unqueued_is_inside && (is_data || self.in_flight[0] == 0);
        self.unqueued_is_inside |= !is_data;
        may
    }

    /// A command of `flow` enters. Returns how many are in the device and in its queue, if those are too many.
    pub(super) fn enters(&mut self, flow: FlowId) -> Option<(u32, u32)> {
        let line = self.line(flow);
        *self.in_flight.get_mut(line)? += 1;
        let (all, own) = (self.in_flight.iter().sum(), self.in_flight[line]);
        (all > self.limit || own > self.depth).then_some((all, own))
    }

    /// A command that had entered completes.
    pub(super) fn leaves(&mut self, flow: FlowId) {
        let line = self.line(flow);
        if let Some(count) = self.in_flight.get_mut(line) {
            *count = count.saturating_sub(1);
        }
        self.unqueued_is_inside = false;
    }

    /// Bytes of a request of this many pages.
    pub(super) fn bytes(&self, pages: u32, extent: Option<(u64, u64)>) -> u64 {
        extent.map_or(u64::from(pages) * self.page_bytes, |(_, length)| length)
    }

    /// When the controller is done with a command of `op` and `pages` pages that has crossed at `at`: the core that is free first takes it.
    pub(super) fn processed(&mut self, op: Op, pages: u32, at: Time) -> Time {
        let of_kind = match op {
            Op::Read => 0,
            Op::Write => 1,
            _ => return at,
        };
        let work = self.command[of_kind].ns() + u64::from(pages) * self.page[of_kind].ns();
        if work == 0 {
            return at;
        }
        self.cores.sort_unstable();
        let done = at.max(self.cores[0]) + Duration::from_ns(work);
        self.cores[0] = done;
        done
    }

    /// When `bytes` that are ready at `at` have crossed, and the state of `direction` afterwards.
    pub(super) fn cross(&self, direction: Direction, at: Time, bytes: u64) -> (Time, Direction) {
        let length = match u128::from(self.bytes_per_s) {
            0 => 0,
            rate => (u128::from(bytes) * 1_000_000_000).div_ceil(rate) as u64,
        };
        let free = direction.free.max(at) + Duration::from_ns(length);
        (free + self.latency, Direction { free })
    }
}
