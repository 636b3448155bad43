//! Bench: scenarios, workloads, runs, metrics, results, reports.

pub mod metrics;
pub mod results;
pub mod workload;
