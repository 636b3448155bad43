//! Clones: synthetic flows with the published figures of a trace that was itself never published (model 9.0).
//!
//! Owns the three tables ([`Table`]) and the keys of a clone ([`CloneSpec`]). A clone is a synthetic workload whose
//! keys come from a table: [`CloneSpec::to_synthetic`] shows which. Must never know the device or the scheduler.

pub mod pages;
mod spec;
mod table;

#[cfg(test)]
mod tests;

pub use spec::{CloneSpec, Rates, Shape};
pub use table::{FlinTrace, Group, Interference, SlackerBursts, SlackerTrace, SosBenchmark, Table};
