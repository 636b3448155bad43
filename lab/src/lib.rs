//! Bench: scenarios, workloads, runs, metrics, results, reports.

pub mod scenario;
pub mod workload;
