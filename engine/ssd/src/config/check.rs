//! Which configurations can be built.

use alloc::format;
use alloc::string::String;

use flashlane_core::Duration;

use super::{
    Config, Controller, Latency, MAX_FLOWS, PageTimes, Precondition, Protocol, ReadRetry, RetryState, Rounding,
    Service, SuspendAt, Victim,
};

/// A second, ns: the greatest legal time of the controller for a command or a page of it, of which many may add up.
const SECOND: u64 = 1_000_000_000;

/// An hour, ns: the greatest legal value of most times.
pub(super) const HOUR: u64 = 3_600_000_000_000;

/// A configuration that cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The key at fault, as a path: `geometry.channels`.
    pub key: &'static str,
    /// Its value.
    pub value: String,
    /// What would be legal.
    pub legal: String,
}

impl core::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} = {}: {}", self.key, self.value, self.legal)
    }
}

impl core::error::Error for ConfigError {}

impl Config {
    /// Checks that the device can be built.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_geometry()?;
        self.check_times()?;
        self.check_retry()?;
        self.check_mapping()?;
        self.check_slc()?;
        self.check_one_shot()?;
        self.check_ftl()?;
        self.check_front()
    }

    fn check_geometry(&self) -> Result<(), ConfigError> {
        let g = &self.geometry;
        for (key, value, max) in [
            ("geometry.channels", g.channels, 64),
            ("geometry.chips_per_channel", g.chips_per_channel, 64),
            ("geometry.dies_per_chip", g.dies_per_chip, 16),
            ("geometry.planes_per_die", g.planes_per_die, 16),
            ("geometry.blocks_per_plane", g.blocks_per_plane, 1 << 20),
            ("geometry.slots", g.slots, 1 << 10),
            ("geometry.row_planes", g.row_planes, 16),
            ("geometry.pages_per_block", g.pages_per_block / g.slots.max(1), 1 << 15),
            ("pages of the map in a block", g.pages_per_block, u16::MAX.into()),
        ] {
            range(key, value as u64, 1, max)?;
        }
        range("geometry.planes_per_die", u64::from(g.planes_per_die) * u64::from(g.row_planes), 1, 16)?;
        range("geometry.page_bytes", g.page_bytes as u64, 512, 1 << 20)?;
        if !g.page_bytes.is_multiple_of(512) {
            return Err(error("geometry.page_bytes", g.page_bytes, "a multiple of 512"));
        }
        range("geometry.metadata_bytes", g.metadata_bytes as u64, 0, g.page_bytes as u64)?;
        if !g.pages_per_block.is_multiple_of(g.slots) {
            return Err(error("geometry.pages_per_block", g.pages_per_block, "must be a multiple of geometry.slots"));
        }
        let spans = g.row_planes > 1;
        if !g.slots.is_multiple_of(g.row_planes) || spans && !(self.nand.multi_plane && self.bus.plane_gap.ns() == 0) {
            let legal = "the planes of a row have equal parts of its slots and work at once, with nand.multi_plane and without bus.plane_gap";
            return Err(error("geometry.row_planes", g.row_planes, legal));
        }
        range("units on a channel (chips, or chips times dies)", g.units_per_channel() as u64, 1, 64)?;
        range("planes of a unit", (g.planes_per_unit() * g.row_planes) as u64, 1, 64)?;
        range("planes of the device", g.planes() as u64, 1, 1 << 15)?;
        range("pages of a plane", g.blocks_per_plane as u64 * g.pages_per_block as u64, 1, 1 << 30)?;
        range("raw pages", g.raw_bytes() / g.page_bytes as u64, 1, u32::MAX as u64 - 2)
    }

    fn check_times(&self) -> Result<(), ConfigError> {
        for (key, latency) in [
            ("nand.read_ns", self.nand.read),
            ("nand.program_ns", self.nand.program),
            ("nand.erase_ns", self.nand.erase),
        ] {
            match latency {
                Latency::Constant(time) => range(key, time.ns(), 1, HOUR)?,
                Latency::Gaussian { mean, sd } => {
                    range(key, mean.ns(), 1, HOUR)?;
                    range(key, sd.ns(), 0, HOUR)?;
                }
                Latency::ByPage(times) => {
                    for time in times.iter() {
                        range(key, time.ns(), 1, HOUR)?;
                    }
                }
            }
        }
        range("nand.iterations", self.nand.iterations as u64, 1, self.nand.program.typical().ns())?;
        if self.nand.suspend_at == SuspendAt::Segment {
            range("nand.erase_iterations", self.nand.erase_iterations.into(), 1, self.nand.erase.typical().ns())?;
        }
        range("nand.suspend_ns", self.nand.suspend.ns(), 0, HOUR)?;
        range("nand.resume_ns", self.nand.resume.ns(), 0, HOUR)?;
        range("nand.suspend_min_ns", self.nand.suspend_min.ns(), 0, HOUR)?;
        for (key, time) in [
            ("bus.read_command_ns", self.bus.command[0]),
            ("bus.program_command_ns", self.bus.command[1]),
            ("bus.erase_command_ns", self.bus.command[2]),
            ("bus.data_out_setup_ns", self.bus.data_out_setup),
            ("bus.plane_gap_ns", self.bus.plane_gap),
            ("front.link_latency_ns", self.front.link_latency),
            ("buffer.access_ns", self.memory),
            ("buffer.pace_ns", self.buffer.as_ref().map_or(Duration::ZERO, |buffer| buffer.pace)),
            ("ftl.trim_ns", self.unmap.command),
            ("ftl.trim_page_ns", self.unmap.page),
        ] {
            range(key, time.ns(), 0, HOUR)?;
        }
        let Controller { command, page, .. } = self.front.controller;
        for (key, time) in [
            ("front.read_command_ns", command[0]),
            ("front.write_command_ns", command[1]),
            ("front.read_page_ns", page[0]),
            ("front.write_page_ns", page[1]),
        ] {
            range(key, time.ns(), 0, SECOND)?;
        }
        range("bus.mega_transfers", self.bus.mega_transfers as u64, 1, u32::MAX as u64)?;
        range("bus.width_bytes", self.bus.width_bytes as u64, 1, 64)?;
        if self.bus.rounding == Rounding::MqSim && self.bus.mega_transfers != u32::MAX {
            range("bus.mega_transfers (with mqsim rounding)", self.bus.mega_transfers as u64, 1, 2000)?;
        }
        Ok(())
    }

    fn check_retry(&self) -> Result<(), ConfigError> {
        let Some(retry) = &self.retry else { return Ok(()) };
        range("retry.step_ns", retry.step.ns(), 1, HOUR)?;
        range("retry.states", retry.states.len() as u64, 1, ReadRetry::MOST_STATES as u64)?;
        for state in &retry.states {
            range("retry.states", state.below.len() as u64, 1, RetryState::MOST_STEPS as u64 + 1)?;
        }
        self.check_flash(
            "retry (with serial service)",
            "has no flash whose reads could be tried again; leave [device.retry] out",
        )
    }

    fn check_mapping(&self) -> Result<(), ConfigError> {
        let Some(mapping) = &self.mapping else { return Ok(()) };
        let page = u64::from(self.geometry.page_bytes);
        range("mapping.entries", mapping.entries.into(), 1, 1 << 30)?;
        range("mapping.host_entries", mapping.host_entries.into(), 0, 1 << 30)?;
        range("mapping.entry_bytes", mapping.entry_bytes.into(), 1, page)?;
        let fit = page / u64::from(mapping.entry_bytes);
        range("mapping.entries_per_page", mapping.entries_per_page.into(), 1, fit)?;
        range("mapping.read_bytes", mapping.read_bytes.into(), 512, page)?;
        if !mapping.read_bytes.is_multiple_of(512) {
            return Err(error("mapping.read_bytes", mapping.read_bytes, "must be a multiple of 512"));
        }
        self.check_flash(
            "mapping (with serial service)",
            "has no flash on which the map could lie; leave [device.mapping] out",
        )?;
        let all = u64::from(self.ftl.logical_pages) + u64::from(self.translation_pages());
        range("logical and translation pages", all, 1, u32::MAX as u64 - 2)
    }

    fn check_slc(&self) -> Result<(), ConfigError> {
        let Some(slc) = &self.slc else { return Ok(()) };
        let g = &self.geometry;
        range("slc.bits", slc.bits as u64, 2, PageTimes::MOST_BITS as u64)?;
        let rows = g.pages_per_block / g.slots;
        if !rows.is_multiple_of(slc.bits) {
            let legal = format!("must be a divisor of geometry.pages_per_block, which is {rows}");
            return Err(error("slc.bits", slc.bits, &legal));
        }
        range("slc.static_blocks", slc.static_blocks as u64, u64::from(!slc.dynamic), g.blocks_per_plane as u64 - 1)?;
        if slc.dynamic && slc.dynamic_limit == 0 {
            return Err(error("slc.dynamic_limit", 0, "must be at least 1; dynamic = false is for none"));
        }
        for (key, time) in [("slc.read_ns", slc.read), ("slc.program_ns", slc.program), ("slc.erase_ns", slc.erase)] {
            range(key, time.ns(), 1, HOUR)?;
        }
        if let Some(idle) = slc.idle {
            range("slc.idle", idle.ns(), 0, 24 * HOUR)?;
        }
        self.check_flash(
            "slc (with serial service)",
            "has no flash whose blocks could be in SLC mode; leave [device.slc] out",
        )
    }

    /// Checks that the device has a flash, which serial service does without.
    pub(super) fn check_flash(&self, key: &'static str, legal: &str) -> Result<(), ConfigError> {
        match self.front.service {
            Service::Serial { .. } => {
                Err(ConfigError { key, value: String::from("serial"), legal: String::from(legal) })
            }
            Service::Parallel => Ok(()),
        }
    }

    fn check_ftl(&self) -> Result<(), ConfigError> {
        let g = &self.geometry;
        let per_plane = u64::from(g.pages_of_fullest_plane(self.stored_pages()));
        range("ftl.logical_pages", self.ftl.logical_pages as u64, 1, u32::MAX as u64 - 2)?;
        range("gc.start_blocks", self.gc.start_blocks as u64, 2, g.blocks_per_plane as u64)?;
        range("gc.hard_blocks", self.gc.hard_blocks as u64, 1, self.gc.start_blocks as u64 - 1)?;
        if let Victim::DChoices(d) = self.gc.victim {
            range("gc.victim (d-choices)", d as u64, 1, g.blocks_per_plane as u64)?;
        }
        // A block that is open in SLC mode cannot be collected.
        let dynamic = u64::from(self.slc.as_ref().is_some_and(|slc| slc.dynamic));
        let data_blocks = per_plane.div_ceil(self.pages_that_fill_a_block().into());
        let needed = data_blocks + self.gc.start_blocks as u64 + 2 + dynamic;
        if needed > self.native_blocks() as u64 {
            return Err(ConfigError {
                key: "ftl.logical_pages",
                value: format!("{}", self.ftl.logical_pages),
                legal: format!(
                    "too many: a plane of {} blocks{} must hold {} blocks of data{}, {} free blocks (gc.start_blocks) and {} \
                     open blocks; lower the user capacity, raise over-provisioning or lower the threshold",
                    g.blocks_per_plane,
                    self.beside_static_blocks(),
                    data_blocks,
                    if self.mapping.is_some() { " and translation pages" } else { "" },
                    self.gc.start_blocks,
                    2 + dynamic
                ),
            });
        }
        if let Precondition::Filled { per_mille } = self.precondition {
            range("precondition.fill (thousandths)", per_mille as u64, 0, 1000)?;
        }
        if let Precondition::Replayed { percent } = self.precondition {
            range("precondition.overwrite_percent", percent as u64, 0, 10_000)?;
        }
        Ok(())
    }

    /// What the static blocks of the SLC cache leave, for a message.
    fn beside_static_blocks(&self) -> String {
        match self.slc.as_ref().map_or(0, |slc| slc.static_blocks) {
            0 => String::new(),
            blocks => format!(", {blocks} of which are always in SLC mode (slc.static_blocks),"),
        }
    }

    fn check_front(&self) -> Result<(), ConfigError> {
        range("flows", self.flows.len() as u64, 1, MAX_FLOWS as u64)?;
        range("front.priority_levels", self.priorities as u64, 1, 8)?;
        for flow in &self.flows {
            range("flow priority", flow.priority as u64, 0, 7)?;
        }
        let depth = match self.front.protocol {
            Protocol::Nvme { depth } | Protocol::Sata { depth } => depth,
        };
        range("front.depth", depth as u64, 1, u32::MAX as u64)?;
        range("front.cores", self.front.controller.cores.into(), 1, Controller::MOST_CORES.into())?;
        range("front.in_flight", self.front.in_flight as u64, 1, u32::MAX as u64)?;
        range("front.read_queue_capacity", self.front.queue_capacity[0] as u64, 1, u32::MAX as u64)?;
        range("front.write_queue_capacity", self.front.queue_capacity[1] as u64, 1, u32::MAX as u64)?;
        if let Service::Serial { cluster, .. } = self.front.service {
            let chips = self.geometry.channels * self.geometry.chips_per_channel;
            range("front.cluster", cluster as u64, 1, chips as u64)?;
            if self.front.in_flight != 1 {
                let value = match self.front.in_flight {
                    u32::MAX => String::from("unlimited"),
                    limit => format!("{limit}"),
                };
                let legal = String::from("must be 1 with serial service");
                return Err(ConfigError { key: "front.in_flight (with serial service)", value, legal });
            }
        }
        if let Some(buffer) = &self.buffer {
            let least = if buffer.per_flow { self.flows.len() as u64 } else { 1 };
            range("buffer.pages", buffer.pages as u64, least, u32::MAX as u64 / 2)?;
            if !buffer.merge_writes {
                let is_parallel = self.front.service == Service::Parallel;
                let plain = is_parallel && buffer.write_back && !buffer.read_allocate && buffer.flush_above == 0;
                let legal = "true, or false with write_back = true, read_allocate = false, flush_above = 0 and parallel service";
                if !plain {
                    return Err(ConfigError {
                        key: "buffer.merge_writes",
                        value: String::from("false"),
                        legal: String::from(legal),
                    });
                }
            }
        }
        Ok(())
    }
}

/// Checks that a value is from `min` to `max`.
pub(super) fn range(key: &'static str, value: u64, min: u64, max: u64) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(ConfigError { key, value: format!("{value}"), legal: format!("must be {min} to {max}") })
}

/// The error of this value, with what would be legal.
pub(super) fn error(key: &'static str, value: u32, legal: &str) -> ConfigError {
    ConfigError { key, value: format!("{value}"), legal: String::from(legal) }
}
