//! The host interface: protocol, limits, link, and how commands in the device are served.

use flashlane_core::{Duration, Op, choices};

/// Host interface.
#[derive(Clone, Debug)]
pub struct Front {
    /// Protocol.
    pub protocol: Protocol,
    /// Commands the device holds at a time, all flows together; more wait in their queues.
    pub in_flight: u32,
    /// Transactions a unit's read queue and write queue hold; commands that need more wait in the host interface.
    pub queue_capacity: [u32; 2],
    /// Link to the host: bytes per second in each direction; 0 for no limit.
    pub link_bytes_per_s: u64,
    /// Link latency, each way.
    pub link_latency: Duration,
    /// What a read waits for that comes while writes wait for space in a write-back buffer.
    pub order: BufferOrder,
    /// What the controller takes for a command before it waits in its submission queue.
    pub controller: Controller,
    /// How commands in the device are served.
    pub service: Service,
}

/// What the controller takes for commands that have crossed the link. Other commands than reads and writes take it no time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Controller {
    /// Commands it works on at a time.
    pub cores: u32,
    /// Time of a read, and of a write.
    pub command: [Duration; 2],
    /// Further time of each logical page of a read, and of a write.
    pub page: [Duration; 2],
}

impl Controller {
    /// Most commands it can work on at a time.
    pub const MOST_CORES: u32 = 64;

    /// One that takes no time.
    pub const INSTANT: Controller = Controller { cores: 1, command: [Duration::ZERO; 2], page: [Duration::ZERO; 2] };

    /// Whether any command takes it time.
    pub fn takes_time(&self) -> bool {
        self.command.iter().chain(&self.page).any(|&time| time > Duration::ZERO)
    }

    /// What a command of `pages` pages takes it.
    pub fn time_of(&self, op: Op, pages: u32) -> Duration {
        match op {
            Op::Read | Op::Write => self.command[op.index()] + self.page[op.index()] * u64::from(pages),
            Op::Trim | Op::WriteZeroes | Op::Flush => Duration::ZERO,
        }
    }
}

/// How commands in the device are served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Service {
    /// By the flash: a command's pages become transactions of units that work at the same time.
    Parallel,
    /// One command after the other, each for the page times of what it misses in the buffer, without flash, map or garbage
    /// collection (model 5.1, D-NCQ-04).
    Serial {
        /// Pages served at a time.
        cluster: u32,
        /// What a write pays for.
        charge: Charge,
    },
}

choices! {
    /// What a read waits for that comes while writes wait for space in a write-back buffer.
    #[derive(Default)]
    pub enum BufferOrder {
        /// Nothing.
        #[default]
        ByKind = "by-kind",
        /// Until those writes have all their space.
        Shared = "shared",
    }
}

choices! {
    /// What a write pays for under serial service (D-NCQ-06).
    pub enum Charge {
        /// The dirty pages that it evicts from the buffer.
        FreeAware = "free-aware",
        /// Every page that the buffer does not hold.
        Literal = "literal",
    }
}

/// Host protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// A submission and completion queue for each flow, `depth` commands each; more wait in the host.
    Nvme {
        /// Commands a flow may have outstanding.
        depth: u32,
    },
    /// One queue of `depth` tags for all flows.
    Sata {
        /// Tags: 32 in the standard.
        depth: u32,
    },
}
