//! Workloads: where requests come from that stand in no trace file. Synthetic generators, clones of published traces, inline scenes.

pub mod clone;
pub mod iometer;
pub mod range;
pub mod scene;
pub mod synthetic;

pub use range::AddressRange;
