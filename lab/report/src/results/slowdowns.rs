//! Slowdown over time, and whether a flow was overloaded.
//!
//! Must never know how response times were measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::{FlowMetrics, Overload, slowdown};

/// Slowdown of a flow in windows of time: mean response time of what completed in the window over that of what completed
/// in the same window of the alone run. Windows in which either run completed nothing are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowdownOverTime {
    /// Width of a window.
    pub width_ns: u64,
    /// Start of each window.
    pub at_ns: Vec<u64>,
    /// Slowdown in it.
    pub slowdown: Vec<f64>,
}

impl SlowdownOverTime {
    pub(super) fn of(shared: &FlowMetrics, alone: &FlowMetrics) -> SlowdownOverTime {
        let lines = [shared, alone].map(FlowMetrics::over_time_all);
        let width_ns = lines[0].width_ns().max(lines[1].width_ns());
        let [shared, alone] = lines.map(|line| line.windows(width_ns));
        let mut series = SlowdownOverTime { width_ns, ..SlowdownOverTime::default() };
        for window in &shared {
            let same = alone.binary_search_by_key(&window.at_ns, |other| other.at_ns);
            if let Some(s) = same.ok().and_then(|i| slowdown(window.mean_ns, alone[i].mean_ns)) {
                series.at_ns.push(window.at_ns);
                series.slowdown.push(s);
            }
        }
        series
    }
}

/// The longest backlog of a flow whose requests came faster than they were served. Of the flow's own time: waits of more than 0.1 s for
/// its next request are left out of the rate at which they came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverloadStats {
    /// Requests of the flow that arrived and completed while the backlog stood, warm-up included.
    pub requests: u64,
    /// From the first of their arrivals to the last, waits above 0.1 s left out, ns.
    pub offered_ns: u64,
    /// Requests that arrived per second in that time; null if all came at one instant.
    pub offered_iops: Option<f64>,
    /// How long the backlog stood, ns: from the first of their arrivals to the last of their completions.
    pub backlog_ns: u64,
    /// Requests that completed per second while it stood; less than `offered_iops`.
    pub served_iops: f64,
}

impl From<Overload> for OverloadStats {
    fn from(overload: Overload) -> OverloadStats {
        OverloadStats {
            requests: overload.requests,
            offered_ns: overload.offered.ns(),
            offered_iops: overload.offered_iops(),
            backlog_ns: overload.stood.ns(),
            served_iops: overload.served_iops(),
        }
    }
}
