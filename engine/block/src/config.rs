//! What a block layer is built from.

use alloc::vec::Vec;

use flashlane_core::choice::Choice;
use flashlane_core::{Duration, choices};

/// A block layer before one drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// What orders the requests that wait for the drive.
    pub elevator: ElevatorConfig,
    /// Most requests that the driver has in the drive.
    pub depth: u32,
    /// Most requests that have a tag: those in the elevator and in the drive together.
    pub tags: u32,
    /// How requests are merged, if they are.
    pub merging: Option<Merging>,
    /// The slice of the limits: what one allows may go at once.
    pub slice: Duration,
    /// Each flow.
    pub flows: Vec<FlowConfig>,
}

impl Config {
    /// The tags that an elevator has above a drive of this depth: the depth without one, else twice the depth or 256.
    pub fn default_tags(elevator: &ElevatorConfig, depth: u32) -> u32 {
        match elevator {
            ElevatorConfig::None => depth,
            ElevatorConfig::MqDeadline(_) | ElevatorConfig::Kyber(_) => 2 * depth.min(128),
        }
    }
}

choices! {
    /// The elevators.
    pub enum ElevatorWord {
        /// Nothing is ordered.
        None = "none",
        /// Classes, reads before writes, batches of rising addresses.
        MqDeadline = "mq-deadline",
        /// Reads, writes, trims and all else apart, each with a depth that follows how long it takes.
        Kyber = "kyber",
    }
}

impl ElevatorWord {
    /// Whether it takes I/O classes of flows into account.
    pub fn has_classes(self) -> bool {
        self == ElevatorWord::MqDeadline
    }
}

/// An elevator with its parameters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ElevatorConfig {
    /// Requests go as they come.
    None,
    /// By class, reads before writes, in batches of rising addresses, the expired first.
    MqDeadline(Deadline),
    /// Reads, writes, trims and all else apart, each with a depth that follows how long it takes.
    Kyber(Kyber),
}

impl ElevatorConfig {
    /// Which it is.
    pub const fn word(&self) -> ElevatorWord {
        match self {
            ElevatorConfig::None => ElevatorWord::None,
            ElevatorConfig::MqDeadline(_) => ElevatorWord::MqDeadline,
            ElevatorConfig::Kyber(_) => ElevatorWord::Kyber,
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.word().word()
    }
}

/// The parameters of `mq-deadline`, by their names in the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deadline {
    /// When a read that waits has expired.
    pub read_expire: Duration,
    /// When a write that waits has expired.
    pub write_expire: Duration,
    /// Requests of a direction that go in a row, of rising addresses.
    pub fifo_batch: u32,
    /// How often reads may go before writes that wait.
    pub writes_starved: u32,
    /// How long a request of a lower class waits at most while a higher one has requests.
    pub prio_aging_expire: Duration,
    /// The resolution of the expiries: instants count in whole jiffies.
    pub jiffy: Duration,
}

#[cfg(test)]
impl Deadline {
    /// Those of Linux, for tests.
    pub(crate) fn usual() -> Deadline {
        let ms = |ms: u64| Duration::from_us(ms * 1_000);
        Deadline {
            read_expire: ms(500),
            write_expire: ms(5_000),
            fifo_batch: 16,
            writes_starved: 2,
            prio_aging_expire: ms(10_000),
            jiffy: ms(4),
        }
    }
}

/// The parameters of `kyber`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kyber {
    /// How long reads, writes and trims may take.
    pub targets: [Duration; 3],
    /// So long after the first request that ends latencies are looked at, with the jiffy that follows.
    pub look: Duration,
    /// The resolution of the looks.
    pub jiffy: Duration,
    /// How long few latencies are collected before they count.
    pub patience: Duration,
}

/// How large a request may become by merging.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merging {
    /// Most bytes.
    pub max_bytes: u64,
    /// Most segments: pages of memory, 4 KiB each.
    pub max_segments: u32,
}

/// What a flow may ask of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowConfig {
    /// Threads that ask, at least 1: each waits for a tag with one request, and they are woken in turn.
    pub threads: u32,
    /// Its I/O class.
    pub class: Class,
    /// Limits of reads, and of all else.
    pub limits: [Limit; 2],
}

impl Default for FlowConfig {
    fn default() -> FlowConfig {
        FlowConfig { threads: 1, class: Class::default(), limits: [Limit::default(); 2] }
    }
}

choices! {
    /// The I/O classes, the highest first.
    #[derive(PartialOrd, Ord, Default)]
    pub enum Class {
        /// Before all others.
        RealTime = "real-time",
        /// The usual one.
        #[default]
        BestEffort = "best-effort",
        /// After all others.
        Idle = "idle",
    }
}

/// A limit in one direction; `None` is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Limit {
    /// Requests a second.
    pub iops: Option<u64>,
    /// Bytes a second.
    pub bps: Option<u64>,
}
