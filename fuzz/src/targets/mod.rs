//! The registry of targets. A new reader is one file here and one row of [`ALL`]; the fuzzer, the smoke test and the
//! help all go through it.

use crate::Target;

mod allocation_order;
mod config;
mod scenario;
mod sweep;
mod traces;

/// Every target.
pub const ALL: &[Target] = &[allocation_order::TARGET, config::TARGET, scenario::TARGET, sweep::TARGET, traces::TARGET];
