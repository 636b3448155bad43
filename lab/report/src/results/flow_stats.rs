//! FlowStats of requests: of one flow, or of all flows of a run together.
//!
//! The types only; [`super::stats`] computes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counts, rates and response times of one flow, or of all together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowStats {
    /// Requests the workload produced. Always completed + rejected.
    pub issued: u64,
    /// Requests that completed.
    pub completed: u64,
    /// Requests refused before they reached the device, an address beyond the drive for instance.
    pub rejected: u64,
    /// Of those that completed, the requests that arrived during warm-up and are in no figure; missing if there are none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub warm_up: u64,
    /// When the first request arrived, ns since the start of the run; null if none did.
    pub first_arrival_ns: Option<u64>,
    /// When the last request arrived, ns.
    pub last_arrival_ns: u64,
    /// When the last request completed, ns.
    pub last_completion_ns: u64,
    /// From the first arrival to the last completion, ns.
    pub makespan_ns: u64,
    /// Length of the window over which rates are taken, ns: from the first counted arrival of the run to the last, of all flows
    /// together; 0 if that is one instant.
    pub window_ns: u64,
    /// Reads and writes together; null if none completed.
    pub all: Option<ResponseStats>,
    /// Reads; null if none completed.
    pub read: Option<ResponseStats>,
    /// Writes; null if none completed.
    pub write: Option<ResponseStats>,
    /// Writes with FUA, which are among the writes too, without rates of their own; missing if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fua_write: Option<Box<ResponseStats>>,
    /// Trims, write zeroes and flushes; missing if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commands: Option<Box<CommandStats>>,
    /// Response time over time.
    pub over_time: OverTime,
}

/// Requests that move no data, and how many there were of each kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandStats {
    /// Requests of each kind that there was.
    pub received: Vec<KindRequests>,
    /// Trims; null if none completed.
    pub trim: Option<ResponseStats>,
    /// Write zeroes; null if none completed.
    pub write_zeroes: Option<ResponseStats>,
    /// Flushes; null if none completed.
    pub flush: Option<ResponseStats>,
}

/// Requests of one kind. Always issued = completed + rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KindRequests {
    /// `read`, `write`, `trim`, `write-zeroes` or `flush`.
    pub kind: String,
    /// Requests the workload produced.
    pub issued: u64,
    /// Requests that completed.
    pub completed: u64,
    /// Requests refused before they reached the device.
    pub rejected: u64,
    /// Of those that completed, the requests that arrived during warm-up and are in no figure; missing if there are none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub warm_up: u64,
}

/// No request.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(requests: &u64) -> bool {
    *requests == 0
}

/// Rates and response times of the completed requests of a kind, or of reads and writes together.
///
/// A response time runs from the instant the host creates the request to the instant it sees it done. Percentiles are
/// nearest-rank from a histogram of 64 buckets per octave: at most 0.79 % off, exact below 128 ns, never outside
/// `min_ns` and `max_ns`. Everything else is exact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseStats {
    /// Requests that completed.
    pub requests: u64,
    /// Bytes they asked for.
    pub bytes: u64,
    /// Load offered: requests that arrived in the window (`window_ns`), per second; null without a window. Where it exceeds
    /// `iops`, the device did not keep up.
    pub offered_iops: Option<f64>,
    /// Requests that completed in the window, per second, those of the warm-up only up to what arrived; null without a window.
    pub iops: Option<f64>,
    /// Requests that completed per second of the flow's own time, from its first counted arrival to its last completion; null without any.
    #[serde(default)]
    pub own_iops: Option<f64>,
    /// Megabytes (10^6 bytes) of those per second; null without a window.
    pub mb_per_s: Option<f64>,
    /// Mean, ns.
    pub mean_ns: f64,
    /// Population standard deviation, ns.
    pub stdev_ns: f64,
    /// Smallest, ns.
    pub min_ns: u64,
    /// Median, ns.
    pub p50_ns: u64,
    /// 95th percentile, ns.
    pub p95_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
    /// 99.9th percentile, ns.
    pub p99_9_ns: u64,
    /// Largest, ns.
    pub max_ns: u64,
    /// The whole distribution.
    pub cdf: Cdf,
}

/// A cumulative distribution, one point per non-empty bucket of the histogram: `requests[i]` of the requests took
/// `at_most_ns[i]` or less. Differences of neighbours are the histogram itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cdf {
    /// Upper end of the bucket, ns; in the last, the largest response time.
    pub at_most_ns: Vec<u64>,
    /// Requests up to there.
    pub requests: Vec<u64>,
}

/// Response time over time: windows of equal width, at most 200, by time of completion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverTime {
    /// Width of a window, ns.
    pub width_ns: u64,
    /// Reads and writes together.
    pub all: Series,
    /// Reads.
    pub read: Series,
    /// Writes.
    pub write: Series,
}

/// Columns of equal length, one entry per window in which something completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// When the window begins, ns since the start of the run.
    pub at_ns: Vec<u64>,
    /// Requests that completed in it.
    pub requests: Vec<u64>,
    /// Bytes they asked for.
    pub bytes: Vec<u64>,
    /// Their mean response time, ns, rounded.
    pub mean_ns: Vec<u64>,
    /// The 99th percentile of their response times, ns.
    pub p99_ns: Vec<u64>,
}
