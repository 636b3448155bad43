//! The registry of targets. A new reader is one file here and one row of [`ALL`]; the fuzzer, the smoke test and the
//! help all go through it.

use crate::Target;

mod allocation_order;
mod columns;
mod conditions;
mod config;
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
    scenario::TARGET,
    state_files::TARGET,
    stores::TARGET,
    sweep::TARGET,
    traces::TARGET,
];

/// An error message without the values it quotes and without digits, so that a new kind of error counts as new and a new value does
/// not.
fn kind(message: &str) -> String {
    let plain = message.split('`').step_by(2).flat_map(str::chars);
    plain.filter(|c| c.is_ascii_alphabetic() || *c == ' ').take(60).collect()
}
