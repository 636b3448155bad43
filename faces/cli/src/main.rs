//! `flashlane`: what a scheduling policy does to a workload on an SSD. The library beside it does the work.

use std::process::ExitCode;

fn main() -> ExitCode {
    flashlane_cli::main_with(|_| Ok(()))
}
