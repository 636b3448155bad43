//! One direction of the link between host and device.

use alloc::collections::VecDeque;

use flashlane_core::{Duration, Time};

use super::RequestSlot;
use crate::config;

/// A serial resource with a fixed latency, first in, first out.
#[derive(Debug)]
pub(super) struct Link {
    free: Time,
    bytes_per_s: u64,
    latency: Duration,
    in_transit: VecDeque<(Time, RequestSlot)>,
}

impl Link {
    /// The link of `config`, with `extra` added to its latency.
    pub(super) fn new(config: &config::Front, extra: Duration) -> Link {
        Link {
            free: Time::ZERO,
            bytes_per_s: config.link_bytes_per_s,
            latency: config.link_latency + extra,
            in_transit: VecDeque::new(),
        }
    }

    /// Whether crossing takes no time.
    #[inline]
    pub(super) fn is_instant(&self) -> bool {
        self.bytes_per_s == 0 && self.latency == Duration::ZERO
    }

    /// Sends `bytes` bytes for the request in `slot`.
    #[cold]
    pub(super) fn send(&mut self, now: Time, slot: RequestSlot, bytes: u64) {
        let length = match self.bytes_per_s {
            0 => 0,
            rate => (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate)) as u64,
        };
        self.free = self.free.max(now) + Duration::from_ns(length);
        self.in_transit.push_back((self.free + self.latency, slot));
    }

    /// When the next request arrives; [`Time::NEVER`] if none is in transit.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.in_transit.front().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Takes the first request that has arrived by `now`, if any.
    pub(super) fn arrived(&mut self, now: Time) -> Option<RequestSlot> {
        if self.next() > now {
            return None;
        }
        self.in_transit.pop_front().map(|(_, slot)| slot)
    }

    /// How many requests are in transit.
    pub(super) fn len(&self) -> usize {
        self.in_transit.len()
    }
}
