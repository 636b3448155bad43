//! `summary.json`: every figure of a run or a comparison, as data.
//!
//! Owns the shape, and that of `made-by.json` beside it. Promises that the table, the report and fio's JSON need nothing else, and that nothing in it depends
//! on when or where the run was made. `docs/summary.md` is generated from these types and their comments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_stats::{FlowStats, ResponseStats};
use super::slowdowns::{OverloadStats, SlowdownOverTime};

use super::attribution::Attribution;
use super::block::BlockStats;
use super::ceiling::{Ceiling, CeilingGap};
use super::deciding::Deciding;
use super::decisions::Decisions;
use super::estimation::EstimationStats;
use super::host::HostStats;
use super::paired::{PairStats, Paired, SlackStats, TouchedStats};
use super::replications::Replications;
use super::waiting_writes::WaitingWrites;

/// Version of the shape; grows when a key changes its meaning or goes.
pub const SUMMARY_VERSION: u32 = 4;

/// All figures of a run (one scheduler) or a comparison (several).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of this format.
    pub version: u32,
    /// What made it.
    pub made_by: MadeBy,
    /// The flows, in the order every list of flows below follows.
    pub flows: Vec<FlowInfo>,
    /// Name of the scheduler that changes and pairs are relative to: the first, unless another was named.
    pub baseline: String,
    /// One entry per scheduler that ran, in the order given.
    pub schedulers: Vec<SchedulerResult>,
    /// Schedulers asked for that did not run.
    pub skipped: Vec<Skipped>,
    /// The same under other seeds; missing where only one scheduler ran, under one seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replications: Option<Replications>,
    /// Which decision brings the largest gain and the largest loss above twofold; missing where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deciding: Vec<Deciding>,
    /// What each decision contributes to the difference between two schedulers; only there if `flashlane attribute` made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribution: Option<Attribution>,
    /// What no scheduler can beat (docs/results/ceiling.md); missing unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
}

/// Program, scenario and device behind the figures. The command is in `made-by.json`, so that `summary.json` does not depend on how a
/// scenario was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MadeBy {
    /// Version of Flashlane.
    pub flashlane: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Hash of the scenario with every default written out: equal hashes mean equal results.
    pub scenario_hash: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Requests that arrived before this time were served and not counted, ms.
    pub warm_up_ms: u64,
    /// The first N requests of each flow were warm-up too.
    pub warm_up_requests: u64,
    /// The device: its preset, and each key that differs from it, as `preset with key from -> to, ...`.
    pub device: String,
    /// The state in which the drive starts, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub drive_state: String,
    /// Keys that the scenario gives to no effect, because it also switches them off: a sentence for each reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_effect: Vec<String>,
    /// What the runs do, of `reads`, `writes` and `reads beside writes`, that was not measured when the device was fitted (docs/fit.md).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_measured: Vec<String>,
}

impl MadeBy {
    /// The preset of the device, and the keys that differ from it.
    pub fn preset_and_changes(&self) -> (&str, Option<&str>) {
        self.device.split_once(" with ").map_or((&self.device, None), |(preset, changes)| (preset, Some(changes)))
    }
}

/// `made-by.json`: the command that makes the results beside it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MadeByCommand {
    /// The command, quoted for a shell.
    pub command: String,
}

impl MadeByCommand {
    /// The name of the file.
    pub const FILE: &str = "made-by.json";

    /// The bytes of the file.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("text always has a JSON form");
        text.push('\n');
        text
    }
}

/// A flow: one tenant of the device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowInfo {
    /// Its name.
    pub name: String,
    /// Where its requests come from: a file name, or the synthetic workload in a few words.
    pub workload: String,
    /// Priority level, 0 lowest.
    pub priority: u8,
    /// Requests it keeps outstanding if it is a closed loop; null for an open loop.
    pub depth: Option<u32>,
    /// Whether each request continues at the address where the last one ended; false for random addresses and for traces.
    pub sequential: bool,
    /// Writes before each flush, where it alternates writes and flushes: nine of ten flushes come after a write, and never more than 16 writes before
    /// one. Then a commit is both together. Missing if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes_per_flush: Option<f64>,
    /// Its trace as it was recorded, before any speed-up; missing without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
}

/// The part of a trace that was read, as it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recorded {
    /// The format it was read as.
    pub format: String,
    /// The unit in which its times were read.
    pub time_unit: String,
    /// Requests read: of a run that ends early at least 4,096, if there are so many.
    pub requests: u64,
    /// Bytes they ask for.
    pub bytes: u64,
    /// From the first to the last, ns.
    pub span_ns: f64,
    /// How many volumes (disks, ASUs, devices) they are of; missing for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volumes: Option<u64>,
}

/// A scheduler that was asked for and did not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// Its name.
    pub scheduler: String,
    /// Why.
    pub reason: String,
}

/// What one scheduler did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchedulerResult {
    /// Its name.
    pub name: String,
    /// Whether it is a control: something no drive can have, or that leaves out what it is compared with for; a control never wins.
    pub control: bool,
    /// Its decisions.
    pub decisions: Decisions,
    /// All flows together.
    pub total: FlowStats,
    /// Each flow.
    pub flows: Vec<FlowResult>,
    /// The device.
    pub device: DeviceStats,
    /// Fairness between the flows; null without alone runs, or when a flow completed nothing.
    pub fairness: Option<FairnessStats>,
    /// Change against the scheduler `baseline`, percent; null for that one.
    pub change_percent: Option<Change>,
    /// Requests that its mechanisms affected.
    pub touched: TouchedStats,
    /// Request by request against the scheduler `baseline`; null for that one, and where arrivals depend on completions.
    pub paired: Option<Paired>,
    /// Actual slack of its transactions; null unless asked for.
    pub slack: Option<SlackStats>,
    /// How accurate estimates of response times were; null unless asked for (`run.shadow_estimator`).
    pub estimation: Option<EstimationStats>,
    /// What the host added; missing unless the scenario has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<HostStats>,
    /// What requests waited for in the operating system's block layer; missing unless the scenario has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<BlockStats>,
    /// How far it is from what no scheduler can beat; missing unless asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<CeilingGap>,
}

impl SchedulerResult {
    /// Its name as tables show it: controls are marked.
    pub(super) fn label(&self) -> String {
        if self.control { format!("{} (control)", self.name) } else { self.name.clone() }
    }
}

/// Results of one flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowResult {
    /// Its name.
    pub name: String,
    /// Its figures in this run.
    pub figures: FlowStats,
    /// Request by request against the scheduler `baseline`, with several flows; missing for that one, and where arrivals depend on
    /// completions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paired: Option<PairStats>,
    /// Its response times when it has the device to itself under the same scheduler; null without an alone run.
    pub alone: Option<ResponseStats>,
    /// Mean response time over mean response time alone (S); null without an alone run.
    pub slowdown: Option<f64>,
    /// The same over time; null without an alone run.
    pub slowdown_over_time: Option<SlowdownOverTime>,
    /// Requests came faster than they were served: where the flow pauses for more than 0.1 s or ends, the backlog took more than a
    /// twentieth of the time since its last such pause to work off. Response times and slowdown then grow with that time. Never of a
    /// closed loop, nor of fewer than 1,000 requests without a pause.
    pub overloaded: bool,
    /// The longest backlog of those; missing if it is not overloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overload: Option<OverloadStats>,
}

/// What the device did from the first counted arrival of the run to the last counted completion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceStats {
    /// That time, of which the utilisations are shares, ns; 0 if no request was counted.
    pub observed_ns: u64,
    /// Mean utilisation of the chips (of the dies, where the die is the scheduling unit): share of the time with a
    /// command in service, 0 to 1.
    pub chip_utilisation: f64,
    /// Utilisation of each.
    pub chip_utilisation_each: Vec<f64>,
    /// Mean utilisation of the channels: share of the time the bus was taken, 0 to 1.
    pub channel_utilisation: f64,
    /// Utilisation of each.
    pub channel_utilisation_each: Vec<f64>,
    /// Pages programmed for any reason over pages programmed for the host; null if the host's writes reached no flash.
    pub write_amplification: Option<f64>,
    /// Pages read from flash for the host.
    pub user_reads: u64,
    /// Pages programmed for the host (evictions of the page buffer included).
    pub user_programs: u64,
    /// Pages read from flash to complete a write of part of a page.
    pub partial_write_reads: u64,
    /// Pages served by the page buffer or from a waiting write, without a flash operation.
    pub pages_from_memory: u64,
    /// Writes superseded by a younger write of the same page before they reached the flash.
    pub cancelled_writes: u64,
    /// What moving and cancelling waiting writes did; only there if the scheduler does either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_writes: Option<WaitingWrites>,
    /// Commands that used several planes or dies at once.
    pub advanced_commands: u64,
    /// Times a program or an erase was paused.
    pub pauses: u64,
    /// Write amplification by cause; only there if the device programs pages for more than the host and garbage collection, and the host's
    /// writes reached flash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_amplification_by: Option<AmplificationByCause>,
    /// What the SLC cache did; only there if the device has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcStats>,
    /// Reads of the flash that were tried again; only there if the device has retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_retries: Option<ReadRetries>,
    /// The mapping cache; only there if the device has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping: Option<MappingStats>,
    /// Garbage collection.
    pub gc: GcStats,
}

/// What the SLC cache did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlcStats {
    /// Pages programmed in SLC mode, for the host or the mapping cache.
    pub programs: u64,
    /// Pages programmed for these directly in native cells.
    pub direct: u64,
    /// Blocks in SLC mode whose folding began.
    pub folds: u64,
    /// Pages that folding programmed in native cells.
    pub folded: u64,
    /// Valid pages in SLC mode at the end of the run, those of blocks that are being folded aside.
    pub valid_at_end: u64,
    /// Blocks of a plane that are always in SLC mode and that nothing folds once they are full; only there if there are such blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub never_folded: Option<u32>,
}

/// Reads of the flash that were tried again, those of garbage collection included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadRetries {
    /// Pages whose reads took at least one further step.
    pub pages: u64,
    /// Further steps.
    pub steps: u64,
}

/// Pages programmed for each cause over pages programmed for the host: together the write amplification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AmplificationByCause {
    /// The host's own pages: 1.
    pub user: f64,
    /// Moves of garbage collection, those of translation pages included.
    pub gc: f64,
    /// Translation pages written because entries of them had changed.
    pub mapping: f64,
    /// Pages folded from SLC mode to native cells.
    pub fold: f64,
    /// Pages of wordlines programmed without data; only there if the device has one-shot programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<f64>,
}

/// What the mapping cache did: entries of the page map that were looked up, and translation pages read and written for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MappingStats {
    /// Entries found in the controller's memory.
    pub hits: u64,
    /// Entries found in the host's memory.
    pub host_hits: u64,
    /// Entries found in neither.
    pub misses: u64,
    /// Share of the entries that were found in either, 0 to 1; null if none was looked up.
    pub hit_ratio: Option<f64>,
    /// Translation pages read from flash: for entries that were missing, or to be written anew. Those of garbage collection are not included.
    pub reads: u64,
    /// Translation pages programmed because entries of them had changed.
    pub writes: u64,
}

/// What garbage collection did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcStats {
    /// Blocks erased.
    pub erases: u64,
    /// Valid pages moved out of victims.
    pub moves: u64,
    /// Victims chosen.
    pub victims: u64,
    /// Mean number of valid pages in a victim when chosen; null without victims.
    pub victim_valid_mean: Option<f64>,
    /// Times a user transaction was ready and had to wait because its plane had no free page.
    pub stalls: u64,
    /// Times a write did more garbage collection than its flow's share because its plane was short of blocks (FLIN).
    pub forced: u64,
    /// Fewest erases of a block since the drive was new, at the end of the run.
    pub erase_count_min: u64,
    /// Mean erases of a block, likewise.
    pub erase_count_mean: f64,
    /// Most erases of a block, likewise.
    pub erase_count_max: u64,
}

/// Fairness between flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FairnessStats {
    /// Smallest slowdown over largest (F): 1 is perfectly fair.
    pub fairness: f64,
    /// Largest slowdown (S_max).
    pub max_slowdown: f64,
    /// Population standard deviation of the slowdowns (STDEV).
    pub stdev: f64,
    /// Sum of the inverse slowdowns (WS): the number of flows if none is slowed.
    pub weighted_speedup: f64,
}

/// Change of the figures of all flows together against the scheduler `baseline`, percent: negative is less. Null where either has no figure
/// or the baseline's is zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Reads and writes together.
    pub all: Option<ResponseChange>,
    /// Reads.
    pub read: Option<ResponseChange>,
    /// Writes.
    pub write: Option<ResponseChange>,
    /// Write amplification.
    pub write_amplification: Option<f64>,
    /// Fairness (F).
    pub fairness: Option<f64>,
    /// Weighted speedup (WS).
    pub weighted_speedup: Option<f64>,
}

/// Change of rates and response times, percent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseChange {
    /// Requests per second.
    pub iops: Option<f64>,
    /// Megabytes per second.
    pub mb_per_s: Option<f64>,
    /// Mean response time.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// 99.9th percentile.
    pub p99_9: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}
