//! Ceilings beside a comparison: what no scheduler can beat, and how far each is from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_stats::ResponseStats;
use super::format::times;

/// What no scheduler can beat on the requests that are counted, all flows together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ceiling {
    /// With every page at its home, as most schedulers place it; null where there is no bound.
    pub static_placement: Option<CeilingBound>,
    /// With writes going to any plane; null where there is no bound.
    pub free_placement: Option<CeilingBound>,
    /// As `static_placement`, for schedulers that never drop a write; not smaller.
    pub static_every_write: Option<CeilingBound>,
    /// As `free_placement`, for schedulers that never drop a write; not smaller.
    pub free_every_write: Option<CeilingBound>,
    /// Why there is no bound; null where there is one.
    pub none: Option<String>,
    /// What of this scenario the bounds leave out, in sentences.
    pub notes: Vec<String>,
    /// For each scheduler, whether every page stays at its home; empty where there is no bound.
    pub at_home: Vec<bool>,
    /// For each scheduler, whether it never drops a write; empty where there is no bound.
    pub keeps_writes: Vec<bool>,
}

/// Bounds from below, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CeilingBound {
    /// On the mean response time, ns.
    pub mean_ns: u64,
    /// On the 99th percentile, ns: loose.
    pub p99_ns: u64,
    /// On the 99.9th percentile, ns: loose.
    pub p99_9_ns: u64,
    /// On the largest response time, ns.
    pub worst_ns: u64,
}

/// A scheduler's figures over what no scheduler can beat that drops writes as little as it does: 1 is as good as can be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CeilingGap {
    /// Mean response time over the bound with every page at its home; null where the scheduler places pages elsewhere, and where the bound
    /// is zero.
    pub mean_static: Option<f64>,
    /// Mean response time over the bound with free placement; null where that is zero.
    pub mean_free: Option<f64>,
    /// 99th percentile over its loose bound with every page at its home; null as `mean_static`.
    pub p99_static: Option<f64>,
    /// 99th percentile over its loose bound with free placement; null where that is zero.
    pub p99_free: Option<f64>,
    /// 99.9th percentile over its loose bound with every page at its home; null as `mean_static`.
    pub p99_9_static: Option<f64>,
    /// 99.9th percentile over its loose bound with free placement; null where that is zero.
    pub p99_9_free: Option<f64>,
    /// Largest response time over the bound with every page at its home; null as `mean_static`.
    pub worst_static: Option<f64>,
    /// Largest response time over the bound with free placement; null where that is zero.
    pub worst_free: Option<f64>,
    /// Whether the bounds are those for schedulers that never drop a write, and are larger for that.
    pub every_write: bool,
}

impl CeilingGap {
    pub(super) fn of(figures: &ResponseStats, ceiling: &Ceiling, at_home: bool, keeps_writes: bool) -> CeilingGap {
        let over = |value: f64, bound: Option<u64>| bound.filter(|&bound| bound > 0).map(|bound| value / bound as f64);
        let any = [ceiling.static_placement, ceiling.free_placement];
        let every = [ceiling.static_every_write, ceiling.free_every_write];
        let every_write = keeps_writes && every != any;
        let [own, free] = if every_write { every } else { any };
        let own = own.filter(|_| at_home);
        CeilingGap {
            mean_static: over(figures.mean_ns, own.map(|bound| bound.mean_ns)),
            mean_free: over(figures.mean_ns, free.map(|bound| bound.mean_ns)),
            p99_static: over(figures.p99_ns as f64, own.map(|bound| bound.p99_ns)),
            p99_free: over(figures.p99_ns as f64, free.map(|bound| bound.p99_ns)),
            p99_9_static: over(figures.p99_9_ns as f64, own.map(|bound| bound.p99_9_ns)),
            p99_9_free: over(figures.p99_9_ns as f64, free.map(|bound| bound.p99_9_ns)),
            worst_static: over(figures.max_ns as f64, own.map(|bound| bound.worst_ns)),
            worst_free: over(figures.max_ns as f64, free.map(|bound| bound.worst_ns)),
            every_write,
        }
    }

    /// The mean over the bound of the scheduler's own class: with its placement, and dropping writes as little as it does.
    pub(super) fn own(&self) -> Option<f64> {
        self.mean_static.or(self.mean_free)
    }

    /// The gap of the mean in words.
    pub(super) fn words(&self) -> String {
        let own =
            self.mean_static.map(|gap| format!("{} what any scheduler could reach with this placement", above(gap)));
        let free = self.mean_free.map(|gap| match &own {
            Some(_) => format!("{} what one could with free placement", above(gap)),
            None => format!("{} what any scheduler could reach with free placement", above(gap)),
        });
        let parts: Vec<String> = own.into_iter().chain(free).collect();
        match parts.is_empty() {
            true => "no bound above zero".into(),
            false if self.every_write => format!("{}, no write dropped", parts.join(", ")),
            false => parts.join(", "),
        }
    }
}

/// `23 % above`, `2.9 times`.
pub(super) fn above(gap: f64) -> String {
    match gap {
        gap if gap >= 1.995 => format!("{} times", times(gap)),
        gap if gap < 1.005 => "within 1 % of".into(),
        gap => format!("{:.0} % above", 100.0 * (gap - 1.0)),
    }
}
