//! The `[block]` keys: the operating system's block layer above the drive.
//!
//! Owns the keys and their defaults. What they mean is the block layer's.

use std::collections::BTreeMap;

use flashlane_block::{Class, Config, Deadline, ElevatorConfig, ElevatorWord, FlowConfig, Kyber, Limit, Merging};
use flashlane_core::Duration;
use flashlane_core::choice::Choice;
use flashlane_ssd::config::Protocol;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::KeyError;
use super::words::Word;

/// The operating system's block layer, before the device: limits of flows, tags, an elevator, and how many requests the driver has in the
/// drive. Named after Linux 6.18. Without this table requests go to the drive as they come. Not with `[host]`.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Block {
    /// What orders requests that wait for the drive: nothing (`none`, default), `mq-deadline` or `kyber`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elevator: Option<Word<ElevatorWord>>,
    /// Elevators to compare: every scheduler runs below each of them, with the keys of that one. Where a flow has a limit, below the first also without
    /// limits. In place of `elevator`. `run` and
    /// `explain` take the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elevators: Option<Vec<Word<ElevatorWord>>>,
    /// Most requests that the driver has in the drive, those of all flows together, 1 to 65535. Default: `device.front.depth`, with `nvme` at most 1023;
    /// 32 with `sata` where that is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Most requests in the elevator and the drive together: tags. A thread waits for one with one request, its others behind it; batches of
    /// an eighth of the tags, at most 8, wake threads in turn.
    /// Requests that a class or a batch holds back have tags too.
    /// Default: `depth` under `none`, else twice `depth`, at most 256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nr_requests: Option<u32>,
    /// Whether what a flow asks side by side becomes one request for the drive: at one instant, or while it waits in an elevator. Reads and writes of
    /// consecutive bytes without FUA. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merges: Option<bool>,
    /// Most bytes of a merged request, 512 to 1073741824. Default 1310720; a larger one passes whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_request_bytes: Option<u32>,
    /// Most segments of a merged request, 1 to 65535: pages of 4 KiB of the host's memory. Default 128.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_segments: Option<u32>,
    /// The block layer's times are divided by this, 1 (default) to 1000: its slices of 100 ms, jiffies of 4 ms, expiries and `kyber`'s times.
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
    /// `kyber`: how long reads may take, ns. Default 2000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_lat_nsec: Option<u32>,
    /// `kyber`: how long writes may take, ns. Default 10000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_lat_nsec: Option<u32>,
    /// Flows by name: their class and limits.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub flow: BTreeMap<String, BlockFlow>,
}

/// What a flow may ask of the drive. A limit lets through in each slice of 100 ms what it allows in that time, at once.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlockFlow {
    /// Threads that send its requests, in turn, 1 (default) to 1024: each waits for a tag with one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// `mq-deadline`: its I/O class, `real-time`, `best-effort` (default) or `idle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Word<Class>>,
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

/// A block layer of a comparison.
#[derive(Clone, Debug)]
pub struct BlockLayer {
    /// What it is called beside others, where the scenario lists elevators.
    pub name: Option<String>,
    /// Its keys, those of other elevators left out.
    pub keys: Block,
    /// What they mean.
    pub config: Config,
}

impl BlockLayer {
    /// What a scheduler of this name is called below it.
    pub fn below(&self, scheduler: &str) -> String {
        self.name.as_ref().map_or_else(|| scheduler.to_owned(), |name| format!("{scheduler}+{name}"))
    }

    /// The scheduler that it stands above in a run of this name.
    pub fn above<'n>(&self, run: &'n str) -> &'n str {
        let own = self.name.as_ref().and_then(|name| run.strip_suffix(name.as_str())?.strip_suffix('+'));
        own.unwrap_or(run)
    }
}

/// What a block layer without the limits of its flows is called behind its elevator.
pub const UNLIMITED: &str = "-unlimited";

/// The keys that only one elevator has, and their defaults.
const KEYS_OF_ELEVATORS: [(ElevatorWord, &str, u32); 7] = [
    (ElevatorWord::MqDeadline, "read_expire", 500),
    (ElevatorWord::MqDeadline, "write_expire", 5_000),
    (ElevatorWord::MqDeadline, "fifo_batch", 16),
    (ElevatorWord::MqDeadline, "writes_starved", 2),
    (ElevatorWord::MqDeadline, "prio_aging_expire", 10_000),
    (ElevatorWord::Kyber, "read_lat_nsec", 2_000_000),
    (ElevatorWord::Kyber, "write_lat_nsec", 10_000_000),
];
const KEYS_OF_FLOWS: [&str; 6] = ["threads", "class", "read_iops", "write_iops", "read_bps", "write_bps"];
/// The largest merged request and its most parts, as Linux has them for loop devices.
const MERGED_BYTES: u32 = 1_280 << 10;
const MERGED_SEGMENTS: u32 = 128;
const SLICE_NS: u64 = 100_000_000;
const JIFFY_NS: u64 = 4_000_000;
/// `kyber`: how long trims may take, when latencies are looked at, and how long few are collected.
const TRIM_TARGET_NS: u64 = 5_000_000_000;
const LOOK_NS: u64 = 100_000_000;
const PATIENCE_NS: u64 = 1_000_000_000;
/// The deepest queue of a driver.
const DEEPEST: u32 = 65_535;
/// The depth of a driver where the device has no limit: that of Linux for NVMe, and SATA's.
const NVME_DEPTH: u32 = 1_023;
const SATA_DEPTH: u32 = 32;

impl Block {
    /// The block layers that these keys name: each with its name, if they are a list of elevators.
    pub(super) fn layers(&self) -> Result<Vec<(Option<String>, Block)>, KeyError> {
        let Some(elevators) = &self.elevators else { return Ok(vec![(None, self.clone())]) };
        let names: Vec<&str> = elevators.iter().map(|elevator| elevator.0.word()).collect();
        let fail = |message: String| Err(KeyError::new("block.elevators", format!("{names:?}"), message));
        if self.elevator.is_some() {
            return fail("must not be there with block.elevator; give one of them".to_owned());
        }
        if names.is_empty() {
            return fail(format!("must have at least one of {}", ElevatorWord::WORDS.join(", ")));
        }
        if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            return fail(format!("has {twice} twice"));
        }
        let listed: Vec<ElevatorWord> = elevators.iter().map(|elevator| elevator.0).collect();
        let below = |elevator: ElevatorWord| {
            let keys = Block { elevator: Some(Word(elevator)), elevators: None, ..self.clone() };
            (Some(elevator.word().to_owned()), keys.without_keys_of_others(&listed, |_| false))
        };
        let mut layers: Vec<(Option<String>, Block)> = listed.iter().map(|&elevator| below(elevator)).collect();
        if self.flow.values().any(BlockFlow::has_limits) {
            let (name, keys) = &layers[0];
            let unlimited = name.as_ref().map(|name| format!("{name}{UNLIMITED}"));
            layers.push((unlimited, keys.without_limits()));
        }
        Ok(layers)
    }

    /// The same without the keys of these elevators, but for its own and those that are `kept`, by their paths.
    pub(super) fn without_keys_of_others(&self, others: &[ElevatorWord], kept: impl Fn(&str) -> bool) -> Block {
        let mut block = self.clone();
        let own = block.word();
        for (_, key, _, value) in block.elevator_keys().filter(|(of, ..)| *of != own && others.contains(of)) {
            *value = value.filter(|_| kept(&format!("block.{key}")));
        }
        if others.iter().any(|other| other.has_classes()) && !own.has_classes() {
            for (name, flow) in &mut block.flow {
                flow.class = flow.class.filter(|_| kept(&format!("block.flow.{name}.class")));
            }
        }
        block.timed_only(kept("block.time_scale"))
    }

    fn without_limits(&self) -> Block {
        let mut block = self.clone();
        for flow in block.flow.values_mut() {
            *flow = BlockFlow { threads: flow.threads, class: flow.class, ..BlockFlow::default() };
        }
        block.timed_only(false)
    }

    /// The same without a time scale, if it scales nothing and is not `kept`.
    fn timed_only(mut self, kept: bool) -> Block {
        let has_times = self.word() != ElevatorWord::None || self.flow.values().any(BlockFlow::has_limits);
        self.time_scale = self.time_scale.filter(|_| has_times || kept);
        self
    }

    /// The elevator.
    pub(super) fn word(&self) -> ElevatorWord {
        self.elevator.map_or(ElevatorWord::None, |word| word.0)
    }

    /// The keys that only elevators have, each with that elevator and its default.
    fn elevator_keys(&mut self) -> impl Iterator<Item = (ElevatorWord, &'static str, u32, &mut Option<u32>)> {
        let Block { read_expire, write_expire, fifo_batch, writes_starved, prio_aging_expire, .. } = self;
        let deadline = [read_expire, write_expire, fifo_batch, writes_starved, prio_aging_expire];
        let kyber = [&mut self.read_lat_nsec, &mut self.write_lat_nsec];
        let values = deadline.into_iter().chain(kyber);
        KEYS_OF_ELEVATORS.into_iter().zip(values).map(|((of, key, default), value)| (of, key, default, value))
    }

    /// The block layer's configuration, before a device of this protocol, for flows of these names.
    pub(super) fn config(&self, protocol: Protocol, names: &[&str]) -> Result<Config, KeyError> {
        let range = |key: &str, value: u32, low: u32, high: u32| match (low..=high).contains(&value) {
            true => Ok(value),
            false => Err(KeyError::new(format!("block.{key}"), value, format!("must be {low} to {high}"))),
        };
        let scale = range("time_scale", self.time_scale.unwrap_or(1), 1, 1_000)?;
        let ns = |ns: u64| Duration::from_ns(ns / u64::from(scale));
        let elevator = self.elevator(ns, range)?;
        let (most, usual) = match protocol {
            Protocol::Nvme { depth } => (depth, depth.min(NVME_DEPTH)),
            Protocol::Sata { depth } => (depth, if depth == u32::MAX { SATA_DEPTH } else { depth.min(DEEPEST) }),
        };
        let depth = self.depth.unwrap_or(usual);
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
        let is_timed = |flow: &FlowConfig| flow.limits != [Limit::default(); 2];
        if self.time_scale.is_some() && elevator == ElevatorConfig::None && !flows.iter().any(is_timed) {
            let why = "has no effect; legal with another elevator than none, or a limit";
            return Err(KeyError::new("block.time_scale", scale, why));
        }
        Ok(Config { elevator, depth, tags, merging: self.merging(range)?, slice: ns(SLICE_NS), flows })
    }

    /// The same with every default written out, and without keys of flows that say what is so without them: equal where block layers are.
    pub(super) fn complete(&self, protocol: Protocol, names: &[&str]) -> Result<Block, KeyError> {
        let config = self.config(protocol, names)?;
        let mut block = Block { depth: Some(config.depth), nr_requests: Some(config.tags), ..self.clone() };
        block.elevator.get_or_insert(Word(ElevatorWord::None));
        block.time_scale.get_or_insert(1);
        block.merges.get_or_insert(true);
        if let Some(Merging { max_bytes, max_segments }) = config.merging {
            (block.max_request_bytes, block.max_segments) = (u32::try_from(max_bytes).ok(), Some(max_segments));
        }
        for (_, _, default, value) in block.elevator_keys().filter(|(of, ..)| *of == config.elevator.word()) {
            value.get_or_insert(default);
        }
        for flow in block.flow.values_mut() {
            flow.threads = flow.threads.filter(|&threads| threads != 1);
            flow.class = flow.class.filter(|class| class.0 != Class::default());
        }
        block.flow.retain(|_, flow| *flow != BlockFlow::default());
        Ok(block)
    }

    fn merging(
        &self,
        range: impl Fn(&str, u32, u32, u32) -> Result<u32, KeyError>,
    ) -> Result<Option<Merging>, KeyError> {
        let keys = [("max_request_bytes", self.max_request_bytes), ("max_segments", self.max_segments)];
        if self.merges == Some(false) {
            let given = keys.into_iter().find_map(|(key, value)| Some((key, value?)));
            return given.map_or(Ok(None), |(key, value)| {
                Err(KeyError::new(format!("block.{key}"), value, "has no effect; legal with merges = true"))
            });
        }
        let max_bytes = range(keys[0].0, keys[0].1.unwrap_or(MERGED_BYTES), 512, 1 << 30)?;
        let max_segments = range(keys[1].0, keys[1].1.unwrap_or(MERGED_SEGMENTS), 1, 65_535)?;
        Ok(Some(Merging { max_bytes: max_bytes.into(), max_segments }))
    }

    fn elevator(
        &self,
        ns: impl Fn(u64) -> Duration,
        range: impl Fn(&str, u32, u32, u32) -> Result<u32, KeyError>,
    ) -> Result<ElevatorConfig, KeyError> {
        let (own, mut keys) = (self.word(), self.clone());
        let given = |(of, key, _, value): (ElevatorWord, _, _, &mut Option<u32>)| Some((of, key, (*value)?));
        let of_another = keys.elevator_keys().filter(|(of, ..)| *of != own).find_map(given);
        if let Some((of, key, value)) = of_another {
            let why = format!("has no effect; legal with elevator = {0:?}, or with {0:?} in elevators", of.word());
            return Err(KeyError::new(format!("block.{key}"), value, why));
        }
        let mut values = keys
            .elevator_keys()
            .filter(|(of, ..)| *of == own)
            .map(|(_, key, default, value)| (key, value.unwrap_or(default)));
        let mut next = |low: u32, high: u32| {
            let (key, value) = values.next().expect("the elevator has so many keys");
            range(key, value, low, high)
        };
        let ms = |ms: u32| ns(u64::from(ms) * 1_000_000);
        let most = 3_600_000;
        Ok(match own {
            ElevatorWord::None => ElevatorConfig::None,
            ElevatorWord::MqDeadline => ElevatorConfig::MqDeadline(Deadline {
                read_expire: ms(next(0, most)?),
                write_expire: ms(next(0, most)?),
                fifo_batch: next(1, most)?,
                writes_starved: next(0, most)?,
                prio_aging_expire: ms(next(0, most)?),
                jiffy: ns(JIFFY_NS),
            }),
            ElevatorWord::Kyber => {
                let [read, write] = [next(1_000, u32::MAX)?, next(1_000, u32::MAX)?].map(|lat| ns(lat.into()));
                ElevatorConfig::Kyber(Kyber {
                    targets: [read, write, ns(TRIM_TARGET_NS)],
                    look: ns(LOOK_NS),
                    jiffy: ns(JIFFY_NS),
                    patience: ns(PATIENCE_NS),
                })
            }
        })
    }

    fn flows(&self, elevator: &ElevatorConfig, names: &[&str]) -> Result<Vec<FlowConfig>, KeyError> {
        if let Some(unknown) = self.flow.keys().find(|name| !names.contains(&name.as_str())) {
            let message = format!("no flow has this name; flows: {}", names.join(", "));
            let table = format!("block.flow.{unknown}");
            let below = KEYS_OF_FLOWS.iter().map(|key| format!("{table}.{key}"));
            let keys = std::iter::once(table.clone()).chain(below).collect();
            return Err(KeyError { keys, value: String::new(), message });
        }
        names
            .iter()
            .map(|name| self.flow.get(*name).map_or(Ok(FlowConfig::default()), |flow| flow.config(name, elevator)))
            .collect()
    }
}

impl BlockFlow {
    /// Its keys in words: `class idle, write_bps 100000000`.
    pub fn described(&self) -> String {
        let keys = serde_json::to_value(self).expect("plain values have a JSON form");
        let word = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let keys = keys.as_object().into_iter().flatten().map(|(key, value)| format!("{key} {}", word(value)));
        keys.collect::<Vec<_>>().join(", ")
    }

    fn has_limits(&self) -> bool {
        [self.read_iops, self.write_iops, self.read_bps, self.write_bps].iter().any(Option::is_some)
    }

    fn config(&self, name: &str, elevator: &ElevatorConfig) -> Result<FlowConfig, KeyError> {
        let limit = |key: &str, value: Option<u64>| match value {
            Some(0) => {
                let legal = "must be at least 1; without a limit leave the key out";
                Err(KeyError::new(format!("block.flow.{name}.{key}"), 0, legal))
            }
            value => Ok(value),
        };
        if self.class.is_some() && !elevator.word().has_classes() {
            let legal = "has no effect; legal with block.elevator = \"mq-deadline\", or with that in block.elevators";
            let class = self.class.map_or("", |class| class.0.word());
            return Err(KeyError::new(format!("block.flow.{name}.class"), format!("{class:?}"), legal));
        }
        let class = self.class.map_or(Class::default(), |class| class.0);
        let threads = self.threads.unwrap_or(1);
        if !(1..=1_024).contains(&threads) {
            return Err(KeyError::new(format!("block.flow.{name}.threads"), threads, "must be 1 to 1024"));
        }
        let reads = Limit { iops: limit("read_iops", self.read_iops)?, bps: limit("read_bps", self.read_bps)? };
        let writes = Limit { iops: limit("write_iops", self.write_iops)?, bps: limit("write_bps", self.write_bps)? };
        Ok(FlowConfig { threads, class, limits: [reads, writes] })
    }
}
