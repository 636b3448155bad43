//! What recommendations come to: measures all workloads, prints the table.

use std::path::PathBuf;

use clap::value_parser;
use flashlane_bench::{kept, machine, recommending};

use crate::whole_command::program;

/// What is measured, and what becomes of the table.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the shipped scenarios
    #[arg(long, value_name = "DIR", default_value = "scenarios")]
    scenarios: PathBuf,
    /// A folder of traces; those that are not there are left out
    #[arg(long, value_name = "DIR")]
    traces: Option<PathBuf>,
    /// Threads
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u32).range(1..=1_000))]
    jobs: u32,
    /// Writes the table to its file in this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
}

/// Measures all workloads.
///
/// # Errors
/// A run that fails.
pub fn act(Arguments { scenarios, traces, jobs, write }: Arguments) -> Result<(), String> {
    if cfg!(debug_assertions) {
        eprintln!("This is a build with checks: times say nothing about the program that users run.");
    }
    let table = recommending::table(&program()?, &scenarios, traces.as_deref(), jobs)?;
    let text = format!("On {}, with `--jobs {jobs}`.\n\n{table}", machine::describe());
    print!("{text}");
    write.map_or(Ok(()), |folder| kept::write(&folder, kept::RECOMMENDING, &text))
}
