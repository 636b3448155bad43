//! The registry of targets. A new reader is one file here and one row of [`ALL`]; the fuzzer, the smoke test and the
//! help all go through it.

use crate::Target;

mod allocation_order;
mod columns;
mod conditions;
mod config;
mod control;
mod device_files;
mod fit;
mod nbd;
mod records;
mod scenario;
mod state_files;
mod stores;
mod sweep;
mod traces;

/// Every target.
pub const ALL: &[Target] = &[
    allocation_order::TARGET,
    columns::TARGET,
    conditions::TARGET,
    config::TARGET,
    control::TARGET,
    device_files::TARGET,
    fit::TARGET,
    nbd::TARGET,
    records::TARGET,
    scenario::TARGET,
    state_files::TARGET,
    stores::TARGET,
    sweep::TARGET,
    traces::TARGET,
];
