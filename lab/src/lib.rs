//! Bench: scenarios, workloads, runs, metrics, results, reports.

pub mod audit;
pub mod theory;
pub mod workload;
