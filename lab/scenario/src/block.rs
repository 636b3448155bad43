//! The `[block]` keys: the operating system's block layer above the drive.
//!
//! Owns the keys and their defaults. What they mean is the block layer's.

use std::collections::BTreeMap;

use flashlane_block::{Class, Config, Deadline, ElevatorConfig, FlowConfig, Limit};
use flashlane_core::Duration;
use flashlane_ssd::config::Protocol;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::KeyError;

/// The operating system's block layer, before the device: limits of flows, tags, an elevator, and how many requests the driver has in the
/// drive. Named after Linux 6.18. Without this table requests go to the drive as they come.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Block {
    /// What orders requests that wait for the drive: nothing (`none`, default), or `mq-deadline`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elevator: Option<ElevatorWord>,
    /// Most requests that the driver has in the drive, 1 to 65535. Default: `device.front.depth`, where that is unlimited 1023 with `nvme`, 32 with `sata`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Most requests in the elevator and the drive together; a flow waits for a tag with one request, its others behind it, and flows take turns.
    /// Default: `depth` under `none`, else twice `depth`, at most 256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nr_requests: Option<u32>,
    /// The block layer's times are divided by this, 1 (default) to 1000: its slices of 100 ms, jiffies of 4 ms and expiries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_scale: Option<u32>,
    /// `mq-deadline`: when a read that waits has expired, ms. Default 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_expire: Option<u32>,
    /// `mq-deadline`: when a write that waits has expired, ms. Default 5000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_expire: Option<u32>,
    /// `mq-deadline`: requests of a direction in a row, by rising address. Default 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fifo_batch: Option<u32>,
    /// `mq-deadline`: how many batches of reads may go before writes that wait. Default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes_starved: Option<u32>,
    /// `mq-deadline`: when a request that a higher class holds back goes all the same, ms. Default 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prio_aging_expire: Option<u32>,
    /// Flows by name: their class and limits.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub flow: BTreeMap<String, BlockFlow>,
}

/// What a flow may ask of the drive. A limit lets through in each slice of 100 ms what it allows in that time, at once.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlockFlow {
    /// `mq-deadline`: its I/O class, `real-time`, `best-effort` (default) or `idle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<ClassWord>,
    /// Most reads a second. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_iops: Option<u64>,
    /// Most writes, trims and write zeroes a second. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_iops: Option<u64>,
    /// Most bytes read a second. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_bps: Option<u64>,
    /// Most bytes written a second; a trim counts as 512. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_bps: Option<u64>,
}

/// An elevator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum ElevatorWord {
    /// Nothing is ordered.
    None,
    /// Classes, reads before writes, batches of rising addresses.
    MqDeadline,
}

/// An I/O class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum ClassWord {
    /// Before all others.
    RealTime,
    /// The usual one.
    BestEffort,
    /// After all others.
    Idle,
}

const SLICE_US: u64 = 100_000;
const JIFFY_US: u64 = 4_000;
/// The deepest queue of a driver.
const DEEPEST: u32 = 65_535;
/// The depth of a driver where the device has no limit: that of Linux for NVMe, and SATA's.
const NVME_DEPTH: u32 = 1_023;
const SATA_DEPTH: u32 = 32;

impl Block {
    /// The block layer's configuration, before a device of this protocol, for flows of these names.
    pub(super) fn config(&self, protocol: Protocol, names: &[&str]) -> Result<Config, KeyError> {
        let range = |key: &str, value: u32, low: u32, high: u32| match (low..=high).contains(&value) {
            true => Ok(value),
            false => Err(KeyError::new(format!("block.{key}"), value, format!("must be {low} to {high}"))),
        };
        let scale = range("time_scale", self.time_scale.unwrap_or(1), 1, 1_000)?;
        let us = |us: u64| Duration::from_ns(us * 1_000 / u64::from(scale));
        let elevator = self.elevator(us, range)?;
        let (most, usual) = match protocol {
            Protocol::Nvme { depth } => (depth, NVME_DEPTH),
            Protocol::Sata { depth } => (depth, SATA_DEPTH),
        };
        let depth = self.depth.unwrap_or(if most == u32::MAX { usual } else { most.min(DEEPEST) });
        if depth > most {
            let legal = format!("must be at most device.front.depth, {most}: the drive takes no more");
            return Err(KeyError::new("block.depth", depth, legal));
        }
        let depth = range("depth", depth, 1, DEEPEST)?;
        let tags = match self.nr_requests {
            None => Config::default_tags(&elevator, depth),
            Some(tags) => range("nr_requests", tags, 1, 2 * DEEPEST)?,
        };
        let flows = self.flows(&elevator, names)?;
        Ok(Config { elevator, depth, tags, slice: us(SLICE_US), flows })
    }

    fn elevator(
        &self,
        us: impl Fn(u64) -> Duration,
        range: impl Fn(&str, u32, u32, u32) -> Result<u32, KeyError>,
    ) -> Result<ElevatorConfig, KeyError> {
        let keys = [
            ("read_expire", self.read_expire, 500),
            ("write_expire", self.write_expire, 5_000),
            ("fifo_batch", self.fifo_batch, 16),
            ("writes_starved", self.writes_starved, 2),
            ("prio_aging_expire", self.prio_aging_expire, 10_000),
        ];
        if self.elevator.is_none_or(|word| word == ElevatorWord::None) {
            let given = keys.into_iter().find_map(|(key, value, _)| Some((key, value?)));
            return given.map_or(Ok(ElevatorConfig::None), |(key, value)| {
                let why = "has no effect; legal with elevator = \"mq-deadline\"";
                Err(KeyError::new(format!("block.{key}"), value, why))
            });
        }
        let [read, write, batch, starved, aging] =
            keys.map(|(key, value, default)| range(key, value.unwrap_or(default), 0, 3_600_000));
        let ms = |ms: u32| us(u64::from(ms) * 1_000);
        let fifo_batch = range("fifo_batch", batch?, 1, 3_600_000)?;
        Ok(ElevatorConfig::MqDeadline(Deadline {
            read_expire: ms(read?),
            write_expire: ms(write?),
            fifo_batch,
            writes_starved: starved?,
            prio_aging_expire: ms(aging?),
            jiffy: us(JIFFY_US),
        }))
    }

    fn flows(&self, elevator: &ElevatorConfig, names: &[&str]) -> Result<Vec<FlowConfig>, KeyError> {
        if let Some(unknown) = self.flow.keys().find(|name| !names.contains(&name.as_str())) {
            let legal = format!("no flow has this name; flows: {}", names.join(", "));
            return Err(KeyError::new(format!("block.flow.{unknown}"), "", legal));
        }
        names
            .iter()
            .map(|name| self.flow.get(*name).map_or(Ok(FlowConfig::default()), |flow| flow.config(name, elevator)))
            .collect()
    }
}

impl BlockFlow {
    fn config(&self, name: &str, elevator: &ElevatorConfig) -> Result<FlowConfig, KeyError> {
        let limit = |key: &str, value: Option<u64>| match value {
            Some(0) => {
                let legal = "must be at least 1; without a limit leave the key out";
                Err(KeyError::new(format!("block.flow.{name}.{key}"), 0, legal))
            }
            value => Ok(value),
        };
        if self.class.is_some() && *elevator == ElevatorConfig::None {
            let legal = "has no effect; legal with block.elevator = \"mq-deadline\"";
            return Err(KeyError::new(format!("block.flow.{name}.class"), "", legal));
        }
        let class = match self.class {
            Some(ClassWord::RealTime) => Class::RealTime,
            None | Some(ClassWord::BestEffort) => Class::BestEffort,
            Some(ClassWord::Idle) => Class::Idle,
        };
        let reads = Limit { iops: limit("read_iops", self.read_iops)?, bps: limit("read_bps", self.read_bps)? };
        let writes = Limit { iops: limit("write_iops", self.write_iops)?, bps: limit("write_bps", self.write_bps)? };
        Ok(FlowConfig { class, limits: [reads, writes] })
    }
}
