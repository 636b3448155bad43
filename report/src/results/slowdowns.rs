//! Slowdown over time, and whether a flow was overloaded.
//!
//! Must never know how response times were measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_stats::FlowStats;
use crate::metrics::{FlowMetrics, slowdown};

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

/// The fewest requests from which overload can be judged.
const ENOUGH: u64 = 1000;

/// Whether requests arrived faster than they were served: working off the backlog at the last arrival took more than a
/// twentieth of the time of all arrivals. Response times and slowdowns then grow with the length of the run, and can be
/// compared only between runs of that length. A closed loop cannot be overloaded.
pub(super) fn is_overloaded(figures: &FlowStats, closed_loop: bool) -> bool {
    let arriving = figures.last_arrival_ns.saturating_sub(figures.first_arrival_ns.unwrap_or(0));
    let left = figures.last_completion_ns.saturating_sub(figures.last_arrival_ns);
    !closed_loop && figures.issued >= ENOUGH && left > arriving / 20
}
