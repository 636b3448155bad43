//! Workloads: where requests come from. Trace files, synthetic generators, clones of published traces, inline scenes.

pub mod clone;
pub mod iometer;
pub mod range;
pub mod scene;
pub mod synthetic;

pub use range::AddressRange;
