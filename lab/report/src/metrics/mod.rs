//! Metrics: the figures of a run, one flow at a time.
//!
//! Owns the histogram of response times, the counts of a flow, its response time over time and the fairness figures
//! of model 2.1.1. Promises a few nanoseconds a completed request, memory that does not grow with the number of
//! requests, and figures that are the same on every machine. Must never know where requests come from: no workload is
//! named here.

mod activity;
mod backlog;
mod estimation;
mod fairness;
mod flow;
pub(crate) mod gain_places;
mod histogram;
mod host;
mod interval;
mod pair_cells;
mod pair_p95;
pub mod pairs;
pub mod responses;
mod selection;
pub mod sizes;
mod slack;
mod timeline;
mod window;

pub use activity::{Activity, MAX_WINDOWS as MAX_ACTIVITY_WINDOWS, Measure, RowKind, STEPS, step_from};
pub use backlog::Overload;
pub use estimation::{Estimation, PARTS, Sample, Sums};
pub use fairness::{Fairness, slowdown};
pub use flow::{FlowMetrics, KindCounts, Touched};
pub use histogram::{Bucket, Histogram};
pub use host::{Direction as HostDirection, HostMetrics};
pub use interval::mean_and_ci95;
pub use pairs::Pairs;
pub use responses::ResponseTimes;
pub use slack::Slack;
pub use timeline::{Timeline, Window};
pub use window::{BOTH, Load, LoadWindow, Rates};

/// Kinds of requests.
pub(crate) const KINDS: usize = flashlane_core::Op::ALL.len();
