//! The comparison repeated with other seeds: other states of the drive and, of flows that are drawn, other requests.
//!
//! The types only; the runs are made in `flashlane-sim`, and what they say of a difference is `over_seeds`'. A seed changes no request of a trace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_stats::{FlowStats, ResponseStats};

/// What the same schedulers did under several seeds. The first seed is the scenario's own: its runs are the ones that every other
/// figure of the summary is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replications {
    /// The seeds, the scenario's own first.
    pub seeds: Vec<u64>,
    /// Why there are as many.
    pub because: SeedsBecause,
    /// Requests of all schedulers under the first seed, together: above 1,000,000 one seed is the default.
    pub requests: u64,
    /// The flows whose requests another seed changes, by name; those of the others stay the same.
    pub drawn: Vec<String>,
    /// A row for each seed and scheduler: all schedulers under the first seed, then under the second, ...
    pub runs: Vec<SeedRun>,
}

/// Why there are as many seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeedsBecause {
    /// The user said how many.
    Asked,
    /// Requests times schedulers are few enough for five by default.
    Few,
    /// Requests times schedulers are too many for more than one by default.
    Many,
    /// The drive is overwritten before each run, which takes long, so there is one by default.
    Replayed,
    /// The state of the drive comes from a file or a record, so there is one by default.
    State,
}

/// One scheduler under one seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeedRun {
    /// The seed.
    pub seed: u64,
    /// The scheduler's name.
    pub scheduler: String,
    /// Pages programmed over pages programmed for the host; null if the host's writes reached no flash.
    pub write_amplification: Option<f64>,
    /// Blocks erased.
    pub erases: u64,
    /// The figures of all flows together and of each flow, by kind; kinds without a completed request are left out.
    pub figures: Vec<SeedFigures>,
}

/// Response times and rate of one kind of request of one tenant in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeedFigures {
    /// The flow's name; null for all flows together.
    pub flow: Option<String>,
    /// The kind of request.
    pub kind: RequestKind,
    /// Requests that completed and are counted.
    pub requests: u64,
    /// Mean response time, ns.
    pub mean_ns: f64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
    /// Requests completed per second, as `iops` of the same figures in the summary; null without a window.
    pub iops: Option<f64>,
    /// Requests completed per second of the flow's own time, as `own_iops`; null if none passed.
    pub own_iops: Option<f64>,
}

/// A kind of request, as figures are told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequestKind {
    /// Reads and writes together.
    All,
    /// Reads.
    Read,
    /// Writes, those with FUA included.
    Write,
    /// Writes with FUA alone.
    FuaWrite,
    /// Trims.
    Trim,
    /// Write zeroes.
    WriteZeroes,
    /// Flushes.
    Flush,
    /// The writes before a flush and the flush, of a flow that alternates them (`writes_per_flush`). It has no figures of its own: its mean is made
    /// from theirs, and its rate is that of the flushes.
    Commit,
}

/// A figure that is compared over seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeedMeasure {
    /// Mean response time; less is better.
    Mean,
    /// 99th percentile of the response times; less is better.
    P99,
    /// Requests completed per second of the flow's own time; more is better.
    Rate,
    /// Requests completed per second in the window of the run; more is better.
    Served,
    /// Write amplification; less is better.
    WriteAmplification,
    /// Erases; fewer are better.
    Erases,
}

impl SeedRun {
    /// The figures of this kind, of a flow or of all; `None` if none of them completed.
    pub fn figures(&self, flow: Option<&str>, kind: RequestKind) -> Option<&SeedFigures> {
        self.figures.iter().find(|figures| figures.flow.as_deref() == flow && figures.kind == kind)
    }
}

impl RequestKind {
    /// The kinds that have figures of their own.
    pub const COUNTED: [RequestKind; 7] = [
        RequestKind::All,
        RequestKind::Read,
        RequestKind::Write,
        RequestKind::FuaWrite,
        RequestKind::Trim,
        RequestKind::WriteZeroes,
        RequestKind::Flush,
    ];

    /// The figures of this kind; `None` if none of them completed, and of commits.
    pub fn of(self, figures: &FlowStats) -> Option<&ResponseStats> {
        let commands = figures.commands.as_deref();
        match self {
            RequestKind::All => figures.all.as_ref(),
            RequestKind::Read => figures.read.as_ref(),
            RequestKind::Write => figures.write.as_ref(),
            RequestKind::FuaWrite => figures.fua_write.as_deref(),
            RequestKind::Trim => commands?.trim.as_ref(),
            RequestKind::WriteZeroes => commands?.write_zeroes.as_ref(),
            RequestKind::Flush => commands?.flush.as_ref(),
            RequestKind::Commit => None,
        }
    }
}
