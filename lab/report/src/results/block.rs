//! The part of `summary.json` on the operating system's block layer: what the requests of each flow waited for, and how long.

use flashlane_block::{Config, ElevatorConfig, FlowConfig, FlowWaits, Limit, Stage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The least share of requests that wait in the elevator for their order to matter.
const ORDERED: f64 = 0.01;

/// What requests waited for in the block layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockStats {
    /// The scheduler below it: the name of the run, without what a comparison of elevators adds to it.
    pub scheduler: String,
    /// Its elevator.
    pub elevator: String,
    /// Most requests that its driver has in the drive.
    pub depth: u32,
    /// Its tags: most requests in the elevator and the drive together.
    pub nr_requests: u32,
    /// Each flow, in the order of the scenario.
    pub flows: Vec<BlockFlowStats>,
}

/// What the requests of a flow waited for, warm-up included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockFlowStats {
    /// Its name.
    pub name: String,
    /// Whether it has a limit.
    pub is_limited: bool,
    /// Requests that went to the drive, as the flow asked for them.
    pub requests: u64,
    /// Those of them that were merged into the request of another.
    pub merged: u64,
    /// Those that waited for the flow's limit.
    pub limit: WaitStats,
    /// Those that waited for a tag.
    pub tag: WaitStats,
    /// Those that waited in the elevator.
    pub elevator: WaitStats,
    /// Those that had left the elevator and waited for room in the drive.
    pub driver: WaitStats,
}

/// Requests that waited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitStats {
    /// How many.
    pub requests: u64,
    /// How long each waited on average, ns; 0 if none did.
    pub mean_ns: f64,
}

impl BlockStats {
    /// Those of flows of these names, by their waits, between the block layer of `config` and `scheduler`.
    pub fn new<'a>(
        config: &Config,
        scheduler: &str,
        names: impl Iterator<Item = &'a str>,
        waits: &[FlowWaits],
    ) -> BlockStats {
        let flow = |((name, waits), limits): ((&str, &FlowWaits), &FlowConfig)| {
            let at = |stage: Stage| {
                let waited = waits.stages[stage as usize];
                let mean_ns = if waited.requests == 0 { 0.0 } else { waited.total_ns as f64 / waited.requests as f64 };
                WaitStats { requests: waited.requests, mean_ns }
            };
            BlockFlowStats {
                name: name.to_owned(),
                is_limited: limits.limits != [Limit::default(); 2],
                requests: waits.requests,
                merged: waits.merged,
                limit: at(Stage::Limit),
                tag: at(Stage::Tag),
                elevator: at(Stage::Elevator),
                driver: at(Stage::Driver),
            }
        };
        let (elevator, depth, nr_requests) = (config.elevator.name().to_owned(), config.depth, config.tags);
        let flows = names.zip(waits).zip(&config.flows).map(flow).collect();
        BlockStats { scheduler: scheduler.to_owned(), elevator, depth, nr_requests, flows }
    }

    /// Whether it has an elevator that orders.
    pub(super) fn orders(&self) -> bool {
        self.elevator != ElevatorConfig::None.name()
    }

    /// Whether a flow has a limit.
    pub(super) fn has_limits(&self) -> bool {
        self.flows.iter().any(|flow| flow.is_limited)
    }

    /// Whether there is an elevator, in which so few requests waited that their order could not matter.
    pub fn had_nothing_to_order(&self) -> bool {
        let sum = |of: fn(&BlockFlowStats) -> u64| self.flows.iter().map(of).sum::<u64>();
        self.orders() && sum(|flow| flow.elevator.requests) as f64 <= ORDERED * sum(|flow| flow.requests) as f64
    }
}

impl BlockFlowStats {
    /// The stages, by name.
    pub fn stages(&self) -> [(&'static str, WaitStats); 4] {
        [("limit", self.limit), ("tag", self.tag), ("elevator", self.elevator), ("driver", self.driver)]
    }
}
