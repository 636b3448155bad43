//! The keys of a synthetic flow, as a scenario spells them.
//!
//! Plain values; [`SyntheticSpec::validate`] says what is wrong with them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A synthetic flow. Every key has a default except the rate of an open-loop flow and the end of the flow.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticSpec {
    /// Share of reads among reads and writes, 0 to 1. Default 1. Not with `read_gap_us` and `write_gap_us`, which set it.
    pub read_ratio: Option<f64>,
    /// Bytes of a request, reads and writes alike. Default `{ constant = 4096 }`.
    pub size: Size,
    /// Bytes of a write, where they differ from reads. Default: as `size`.
    pub write_size: Option<Size>,
    /// Drawn sizes (uniform, lognormal) are multiples of this many bytes. Default 512.
    pub size_step_bytes: Option<u64>,

    /// Share of requests that are trims, 0 to 1. Default 0. Not with `read_gap_us` and `write_gap_us`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_ratio: Option<f64>,
    /// Bytes of a trim. Default: as writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_size: Option<Size>,
    /// Share of writes with FUA (force unit access), 0 to 1. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fua_ratio: Option<f64>,
    /// After this many writes the next request is a flush, 1 to 10^9. Default: no flushes. Not with `read_gap_us` and `write_gap_us`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_every_writes: Option<u64>,
    /// Once this many milliseconds have passed since the flow's start or its last flush, the next request is a flush. Default: no flushes.
    /// Not with `read_gap_us` and `write_gap_us`, nor with `rate_mb_per_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_every_ms: Option<f64>,

    /// Where requests start. Default `random`.
    pub access: Access,
    /// Starts that are drawn are multiples of this many bytes of the drive. Default: the drive's page.
    pub align_bytes: Option<u64>,
    /// Probability, 0 to 1, that a request starts where the previous one ended instead. Default 0.
    pub sequential_probability: Option<f64>,
    /// `access = "zipf"`: exponent, 0 (uniform) to 10. Default 0.9.
    pub zipf_theta: Option<f64>,
    /// `access = "hot-cold"`: share of requests that start in the hot part, 0 to 1. Default 0.8.
    pub hot_access: Option<f64>,
    /// `access = "hot-cold"`: share of the working set that is hot, 0 to 1, both excluded. Default 0.2.
    pub hot_space: Option<f64>,
    /// `access = "zipf"` or `"hot-cold"`: whether popular addresses are spread over the working set by a fixed shuffle
    /// (true) or lie together at its start (false). Default true for zipf, false for hot-cold.
    pub scatter: Option<bool>,
    /// `access = "uneven"`: number of lanes, 1 to 65,536: a start whose number is the k-th multiple of `align_bytes` is in lane k
    /// modulo this. Default 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lanes: Option<u32>,
    /// `access = "uneven"`: Zipf exponent of the choice of a lane, 0 (all alike) to 10. Default 0.45.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane_theta: Option<f64>,
    /// `access = "files"`: number of files, 1 to 65,536. Default 12.
    pub files: Option<u32>,
    /// `access = "files"`: bytes of the smallest possible file. Default 524,288 (512 KiB).
    pub file_min_bytes: Option<u64>,
    /// `access = "files"`: bytes of the largest possible file; sizes are log-uniform. Default 1,073,741,824 (1 GiB).
    pub file_max_bytes: Option<u64>,
    /// `access = "files"`: Zipf exponent of the choice of a file, 0 (uniform) to 10. Default 0.
    pub file_theta: Option<f64>,
    /// `access = "files"`: whether each file is read and written on from where it was left (true) or at random
    /// starts (false). Default false.
    pub file_sequential: Option<bool>,
    /// `access = "files"`: seed of the sizes of the files, for the same files under different draws. Default: the flow's seed.
    pub file_seed: Option<u64>,
    /// Large requests that start elsewhere than `access` says. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub large_starts: Option<LargeStarts>,
    /// Writes that go to the address and size of an earlier write. Default: none.
    pub rewrite: Option<Rewrite>,

    /// Bytes of the address range that are used. Default: all. Not with `working_set_fraction`.
    pub working_set_bytes: Option<u64>,
    /// Share of the address range that is used, above 0 to 1. Not with `working_set_bytes`.
    pub working_set_fraction: Option<f64>,
    /// First used byte, counted from the start of the flow's address range. Default 0.
    pub working_set_offset_bytes: Option<u64>,

    /// When requests arrive. Default `poisson`.
    pub arrivals: Arrivals,
    /// Mean requests of all kinds per second, 10^-7 to 10^9. One of the rates is needed unless the loop is closed.
    pub rate_iops: Option<f64>,
    /// Mean megabytes (10^6 bytes) per second, reads and writes together. An alternative to `rate_iops`.
    pub rate_mb_per_s: Option<f64>,
    /// Mean microseconds between requests. An alternative to `rate_iops`.
    pub mean_gap_us: Option<f64>,
    /// Mean microseconds between reads, which then arrive on their own, apart from writes. Needs `write_gap_us`.
    pub read_gap_us: Option<f64>,
    /// Mean microseconds between writes, which then arrive on their own, apart from reads. Needs `read_gap_us`.
    pub write_gap_us: Option<f64>,
    /// `arrivals = "bursty"`: rate inside a burst over the mean rate, at least 1. Default 8.
    pub burst_factor: Option<f64>,
    /// `arrivals = "bursty"`: share of the time spent in bursts, above 0 and below 1, at most 1 / `burst_factor`.
    /// Default 0.1.
    pub burst_duty: Option<f64>,
    /// `arrivals = "bursty"` or `"batch"`: mean requests of a burst, at least 1. Default 64 for bursty, 8 for batch.
    pub burst_requests: Option<f64>,
    /// `arrivals = "closed-loop"`: requests in flight, 1 to 65,536. Default 1.
    pub depth: Option<u32>,
    /// `arrivals = "closed-loop"`: microseconds from a completion to the request that follows it. Default 0.
    pub think_us: Option<f64>,
    /// Microseconds after the start of the run at which the flow begins. Default 0.
    pub start_us: Option<f64>,

    /// Number of requests after which the flow ends. This or `duration_s` is needed; with both, what comes first.
    pub requests: Option<u64>,
    /// Seconds, from the flow's start, in which requests are created. This or `requests` is needed.
    pub duration_s: Option<f64>,
    /// Seed of the flow's draws. Default: made of the run's seed and the flow's place in the scenario.
    pub seed: Option<u64>,
}

/// How many bytes a request has: exactly one of the forms.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Size {
    /// Always this many bytes: `{ constant = 4096 }`.
    Constant(u64),
    /// Each multiple of `size_step_bytes` from `min_bytes` to `max_bytes`, all alike.
    Uniform(Uniform),
    /// Lognormal, rounded up to `size_step_bytes`.
    Lognormal(Lognormal),
    /// Pairs of bytes and weight: `{ mix = [[4096, 3], [65536, 1]] }` has three small requests to a large one.
    Mix(Vec<(u64, f64)>),
}

impl Default for Size {
    fn default() -> Size {
        Size::Constant(4096)
    }
}

/// Limits of uniform sizes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Smallest size in bytes.
    pub min_bytes: u64,
    /// Largest size in bytes.
    pub max_bytes: u64,
}

/// Moments and limits of lognormal sizes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lognormal {
    /// Mean in bytes, before rounding up and clipping.
    pub mean_bytes: f64,
    /// Standard deviation in bytes, before rounding up and clipping.
    pub sd_bytes: f64,
    /// Smaller draws become this. Default 512.
    #[serde(default = "Lognormal::default_min")]
    pub min_bytes: u64,
    /// Larger draws become this. Default 4,194,304 (4 MiB).
    #[serde(default = "Lognormal::default_max")]
    pub max_bytes: u64,
}

impl Lognormal {
    pub(in crate::workload) fn default_min() -> u64 {
        512
    }

    pub(in crate::workload) fn default_max() -> u64 {
        4 << 20
    }
}

/// Where requests start in the working set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Where the previous request ended; from the first byte again at the end.
    Streaming,
    /// Anywhere, all starts alike.
    #[default]
    Random,
    /// The k-th most popular start with a probability proportional to k^-`zipf_theta`.
    Zipf,
    /// `hot_access` of the requests in `hot_space` of the working set.
    HotCold,
    /// In files of log-uniform sizes that lie one after the other (model 5.2, as IOmeter would).
    Files,
    /// In `lanes` residues of the start, the k-th most popular with a probability proportional to k^-`lane_theta`; in a lane anywhere.
    /// With as many lanes as the stripe has chips, some chips get more than others.
    Uneven,
}

/// When requests arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At equal distances.
    Constant,
    /// Independently of one another: exponential gaps.
    #[default]
    Poisson,
    /// Poisson with a rate that alternates between a burst and a quiet state of exponential length (two-state MMPP).
    Bursty,
    /// Bursts that arrive as Poisson, the requests of a burst all at once; their number is geometric.
    Batch,
    /// `depth` requests in flight: the next one comes `think_us` after a completion.
    ClosedLoop,
}

/// Where large requests start: at `offset_bytes` or any multiple of `align_bytes` beyond, all alike.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LargeStarts {
    /// Smallest size of a request that is large, bytes.
    pub from_bytes: u64,
    /// Distance of possible starts, bytes.
    pub align_bytes: u64,
    /// The first possible start, bytes from the beginning of the working set.
    pub offset_bytes: u64,
}

/// Writes that go where an earlier write went.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    /// Share of writes that rewrite, 0 to 1.
    pub ratio: f64,
    /// Mean number of the flow's reads and writes from a write to the one that rewrites it (geometric), 1 to 100,000.
    pub distance_requests: f64,
}
