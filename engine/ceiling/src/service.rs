//! The least times of a device: what a page takes when everything that can vary is in its favour.

use flashlane_core::board::Facts;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Duration, Op};
use flashlane_ssd::Config;
use flashlane_ssd::config::{Charge, Latency, Service};

/// The least times of a device.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    /// Array time of a page, by [`FlashOp::index`], ns.
    pub(crate) array: [u64; 2],
    /// Command phase on the bus.
    pub(crate) command: [u64; 2],
    /// Before each data-out phase.
    setup: u64,
    /// One way across the link, without data.
    pub(crate) link_latency: u64,
    link_bytes_per_s: u64,
    /// A request none of whose pages needs the flash.
    pub(crate) memory: u64,
    facts: Facts,
    page_bytes: u32,
    page_on_bus: u32,
    /// Pages that a command may have of one die, and of one unit.
    pub(crate) joins: [u64; 2],
}

impl Times {
    pub(crate) fn of(config: &Config) -> Times {
        let g = &config.geometry;
        let of_die = if config.nand.multi_plane { g.planes_per_die.into() } else { 1 };
        let dies = u64::from(g.planes_per_unit() / g.planes_per_die);
        // Any page may be in SLC mode.
        let slc = config.slc.as_ref().map_or([u64::MAX; 2], |slc| [slc.read.ns(), slc.program.ns()]);
        let slots = u64::from(g.slots);
        // A one-shot program writes several pages: each takes a share of it.
        let shared = u64::from(config.nand.one_shot_pages);
        Times {
            array: [least(config.nand.read).min(slc[0]), (least(config.nand.program) / shared).min(slc[1])],
            command: [config.bus.command[0].ns(), config.bus.command[1].ns() / shared],
            setup: config.bus.data_out_setup.ns(),
            link_latency: config.front.link_latency.ns(),
            link_bytes_per_s: config.front.link_bytes_per_s,
            memory: config.memory.ns(),
            facts: config.facts(),
            page_bytes: g.page_bytes,
            page_on_bus: config.page_on_bus(),
            joins: [of_die, if config.nand.multi_die { of_die * dies } else { of_die }].map(|planes| planes * slots),
        }
    }

    /// Command phase and array time.
    pub(crate) fn fixed(&self, op: Op) -> u64 {
        self.command[op.index()] + self.array[op.index()]
    }

    /// Bus time of the data of `bytes` bytes of a page.
    pub(crate) fn transfer(&self, op: Op, bytes: u32) -> u64 {
        let on_bus = if bytes == self.page_bytes { self.page_on_bus } else { bytes };
        self.facts.transfer(on_bus).ns() + if op == Op::Read { self.setup } else { 0 }
    }

    /// How long `bytes` bytes occupy the link.
    pub(crate) fn crossing(&self, bytes: u64) -> u64 {
        match self.link_bytes_per_s {
            0 => 0,
            rate => (u128::from(bytes) * 1_000_000_000).div_ceil(rate.into()) as u64,
        }
    }
}

/// The least array time that can be drawn: twelve uniform numbers less six are at least -6.
fn least(latency: Latency) -> u64 {
    let time = match latency {
        Latency::Constant(time) => time,
        Latency::ByPage(times) => times.iter().min().unwrap_or(Duration::ZERO),
        Latency::Gaussian { mean, sd } => mean.saturating_sub(Duration::from_ns(sd.ns().saturating_mul(6))),
    };
    time.ns().max(1)
}

/// Serial service: the device is one machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serial {
    cluster: u64,
    page: [u64; 2],
    /// Whether a write pays for nothing but what it evicts.
    evictions_only: bool,
}

impl Serial {
    pub(crate) fn of(config: &Config) -> Option<Serial> {
        let Service::Serial { cluster, charge } = config.front.service else { return None };
        let facts = config.facts();
        let page = [FlashOp::Read, FlashOp::Program].map(|op| facts.typical(op).ns());
        let write_back = config.buffer.as_ref().is_some_and(|buffer| buffer.write_back);
        Some(Serial { cluster: cluster.into(), page, evictions_only: write_back && charge == Charge::FreeAware })
    }

    /// The time of a command that misses `pages` pages for certain.
    pub(crate) fn time(&self, op: Op, pages: u64) -> u64 {
        if op == Op::Write && self.evictions_only { 0 } else { self.page[op.index()] * pages.div_ceil(self.cluster) }
    }
}
