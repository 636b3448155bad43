//! Bench: scenarios, workloads, runs, metrics, results, reports.

pub mod audit;
pub mod metrics;
pub mod outputs;
pub mod papers;
pub mod results;
pub mod run;
pub mod scenario;
pub mod theory;
pub mod workload;

pub use flashlane_sched::catalogue;
