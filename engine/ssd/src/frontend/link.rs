//! The link between host and device: one direction of it, what is in transit, and how long bytes take to cross.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Duration, Time};

use super::requests::RequestSlot;
use crate::config;

/// A serial resource with a fixed latency, first in, first out.
#[derive(Debug)]
pub(crate) struct Link {
    free: Time,
    bytes_per_s: u64,
    latency: Duration,
    /// When each core of the controller is free that commands pass behind the link; empty where none takes time.
    cores: Vec<Time>,
    pub(super) in_transit: Due,
}

impl Link {
    /// The link of `config`, with `extra` added to its latency.
    pub(super) fn new(config: &config::Front, extra: Duration) -> Link {
        Link {
            free: Time::ZERO,
            bytes_per_s: config.link_bytes_per_s,
            latency: config.link_latency + extra,
            cores: Vec::new(),
            in_transit: Due::new(),
        }
    }

    /// The link of `config` towards the device, with `extra` added to its latency, and behind it the controller.
    pub(super) fn inward(config: &config::Front, extra: Duration) -> Link {
        let cores = if config.controller.takes_time() { config.controller.cores as usize } else { 0 };
        Link { cores: vec![Time::ZERO; cores], ..Link::new(config, extra) }
    }

    /// Whether crossing takes no time.
    #[inline]
    pub(crate) fn is_instant(&self) -> bool {
        self.bytes_per_s == 0 && self.latency == Duration::ZERO && self.cores.is_empty()
    }

    /// Sends `bytes` bytes for the request in `slot`.
    #[inline]
    pub(super) fn send(&mut self, now: Time, slot: RequestSlot, bytes: u64) {
        self.free = self.free.max(now) + Duration::from_ns(crossing_ns(bytes, self.bytes_per_s));
        self.in_transit.add(self.free + self.latency, slot);
    }

    /// Sends a command with `bytes` bytes for the request in `slot`, which a core takes `work` for: the one that is free first. One
    /// without work is behind those that have been sent before.
    #[inline]
    pub(super) fn send_command(&mut self, now: Time, slot: RequestSlot, bytes: u64, work: Duration) {
        if self.cores.is_empty() {
            return self.send(now, slot, bytes);
        }
        self.free = self.free.max(now) + Duration::from_ns(crossing_ns(bytes, self.bytes_per_s));
        let crossed = self.free + self.latency;
        let at = if work > Duration::ZERO {
            let core = self.cores.iter_mut().min().expect("there are cores");
            *core = crossed.max(*core) + work;
            *core
        } else {
            self.in_transit.requests.back().map_or(crossed, |&(last, _)| crossed.max(last))
        };
        self.in_transit.insert(at, slot);
    }
}

/// Requests, each with the instant at which something happens to it, in the order of the instants.
#[derive(Debug)]
pub(super) struct Due {
    /// The first instant; [`Time::NEVER`] without requests.
    pub(super) next: Time,
    pub(super) requests: VecDeque<(Time, RequestSlot)>,
}

impl Due {
    /// No requests.
    pub(super) fn new() -> Due {
        Due { next: Time::NEVER, requests: VecDeque::new() }
    }

    /// Adds a request, to which it happens at `at`: not before it does to those that are there.
    #[inline]
    pub(super) fn add(&mut self, at: Time, slot: RequestSlot) {
        debug_assert!(self.requests.back().is_none_or(|&(last, _)| last <= at));
        self.next = self.next.min(at);
        self.requests.push_back((at, slot));
    }

    /// Adds a request, to which it may happen before it does to others that are there; of equal instants it is the last.
    pub(super) fn insert(&mut self, at: Time, slot: RequestSlot) {
        self.next = self.next.min(at);
        let place = self.requests.iter().rposition(|&(other, _)| other <= at).map_or(0, |before| before + 1);
        self.requests.insert(place, (at, slot));
    }

    /// Takes the first request if its instant has come by `now`.
    #[inline]
    pub(super) fn take(&mut self, now: Time) -> Option<RequestSlot> {
        if self.next > now {
            return None;
        }
        let (_, slot) = self.requests.pop_front()?;
        self.next = self.requests.front().map_or(Time::NEVER, |&(at, _)| at);
        Some(slot)
    }
}

/// How long `bytes` bytes take at `rate` bytes per second, in ns, rounded up; no time at rate 0, which is no limit.
#[inline]
pub(crate) fn crossing_ns(bytes: u64, rate: u64) -> u64 {
    const NS: u64 = 1_000_000_000;
    match bytes.checked_mul(NS) {
        _ if rate == 0 => 0,
        // What no division of 128 bits is needed for: up to 18 GB.
        Some(product) => product.div_ceil(rate),
        None => (u128::from(bytes) * u128::from(NS)).div_ceil(u128::from(rate)) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_testing::Random;

    /// Compares with a division of 128 bits, on both sides of the products that 64 bits hold.
    #[test]
    fn crossing_takes_what_a_wide_division_says() {
        let mut random = Random(9);
        let mut narrow = 0;
        for _ in 0..50_000 {
            let mut sample = || {
                let x = random.bits();
                x.rotate_left(32) >> (x >> 58)
            };
            let (bytes, rate) = (sample() >> 20, sample() >> 24);
            let plain = match rate {
                0 => 0,
                _ => (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate)),
            };
            narrow += u32::from(bytes.checked_mul(1_000_000_000).is_some());
            assert_eq!(crossing_ns(bytes, rate), plain as u64, "{bytes} bytes at {rate}");
        }
        assert!((5_000..45_000).contains(&narrow), "{narrow} of 50,000 in 64 bits");
        assert_eq!(
            [(0, 7), (4096, 4_000_000_000), (1, 3)].map(|(n, rate)| crossing_ns(n, rate)),
            [0, 1024, 333_333_334]
        );
    }
}
