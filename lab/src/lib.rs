//! Bench: scenarios, workloads, runs, metrics, results, reports.

pub mod workload;
