//! The top level of a scenario file.
//!
//! Owns the list of its tables and the limits of a run.

use flashlane_core::decide::Question;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::block::Block;
use super::device::Device;
use super::flow::Flow;
use super::host::Host;
use super::limits;
use super::scheduler::SchedulerChoice;

/// A scenario: a device, the flows that share it, and the schedulers to compare on it.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Document {
    /// What results call it. Default: the file's name without `.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Seed of everything random. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The device: the name of a preset (`device = "flin-isca18"`) or the path of a device file, or a table with `preset` and whatever differs
    /// from it.
    #[serde(deserialize_with = "Device::name_or_table")]
    #[schemars(schema_with = "Device::name_or_table_schema")]
    pub device: Device,
    /// The host before the device. Default: none, so that a request is over when its completion arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// The operating system's block layer before the device. Default: none, so that requests go to the device as they come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<Block>,
    /// The one scheduler to run: a name or a table of answers. Give this or `schedulers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerChoice>,
    /// The schedulers to compare; figures are relative to the first. Default `fcfs`, `read-first`,
    /// `read-first-suspend`, `flin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedulers: Option<Vec<SchedulerChoice>>,
    /// Limits of a run.
    pub run: Run,
    /// The flows, at least one.
    #[serde(deserialize_with = "limits::flows")]
    #[schemars(with = "Vec<Flow>")]
    pub flow: Vec<Flow>,
}

/// Limits of a run, and what is measured. Without limits a run ends when every source has ended.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// No request arrives at or after this time, ms. Requests already sent are finished. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// No more requests than this, all flows together. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Requests that arrive before this time, ms, are served but not counted in response times. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up_ms: Option<u64>,
    /// The first N requests of each flow are warm-up too. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up_requests: Option<u64>,
    /// Whether response times run from arrival or from entry into the submission queue (model 0.5). Default `arrival`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_from: Option<ResponseFrom>,
    /// With several flows: run each one alone too, for slowdown and fairness. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<bool>,
    /// The scheduler of the alone runs. Default: the one under test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone_scheduler: Option<String>,
    /// The collect answer of every scheduler that leaves this question open, because its source has garbage collection as what a drive
    /// does, if at all (`flashlane schedulers NAME` shows which). Default `semi-preemptive`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collect: Option<String>,
    /// Answers set for all schedulers, even where a scheduler fixes another.
    #[serde(skip_serializing_if = "Hold::is_nothing")]
    pub hold: Hold,
    /// The scheduler the others are compared with. Default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// How many seeds `run` and `compare` try, the scenario's own and those that follow it: other states of the drive, and of flows that are drawn
    /// other requests (docs/reading-results.md). 1 to 1000. It is not part of the scenario's hash. Default: 5 where several schedulers are compared and
    /// requests times schedulers are at most 1,000,000, else 1; 1 too where the drive is replayed, or begins in a stored state.
    #[serde(default, deserialize_with = "limits::seeds", skip_serializing_if = "Option::is_none")]
    pub seeds: Option<u64>,
    /// Whether the actual slack of every transaction is measured; slower. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slack: Option<bool>,
    /// Whether Slacker's estimator runs in shadow mode beside every scheduler, changing nothing, and its estimates are compared with the
    /// actual times; slower. Default false. A single scheduler's parameter `shadow = 1` does the same for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadow_estimator: Option<bool>,
}

/// From when response times count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum ResponseFrom {
    /// When the host creates the request; waiting in the host for a full submission queue counts (model 0.5).
    Arrival,
    /// When the request enters its submission queue, that is when fewer than `front.depth` older requests of the queue are
    /// outstanding. Without a depth it is the same.
    Entry,
}

/// Answers set for all schedulers of a comparison, those of alone runs included.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Hold {
    /// Whether the running program or erase may be paused. Default: each scheduler's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preempt: Option<String>,
    /// When garbage collection may run. Default: each scheduler's own, or `run.collect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collect: Option<String>,
}

impl Hold {
    /// Whether nothing is held.
    pub fn is_nothing(&self) -> bool {
        *self == Hold::default()
    }

    /// The questions it answers, with the answers.
    pub fn answers(&self) -> Vec<(Question, &str)> {
        let answers = [(Question::Preempt, &self.preempt), (Question::Collect, &self.collect)];
        answers.into_iter().filter_map(|(question, answer)| Some((question, answer.as_deref()?))).collect()
    }
}
