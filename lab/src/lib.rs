//! The laboratory: scenarios, workloads, runs, metrics, results, reports.

mod maker;
pub mod metrics;
pub mod processor;
pub mod results;
pub mod run;
pub mod scenario;
pub mod sweep;
pub mod workload;
