//! What watching costs: measures all options, prints the table.

use std::path::PathBuf;

use clap::value_parser;
use flashlane_bench::{callgrind, machine, page, watching};

use crate::whole_command::program;

/// What is measured, and what becomes of the table.
#[derive(clap::Args)]
pub struct Arguments {
    /// Timed runs of each option
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(0..=1_000))]
    runs: u32,
    /// Threads of a timed run
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = value_parser!(u32).range(1..=1_000))]
    jobs: u32,
    /// Does not count instructions (valgrind is slow)
    #[arg(long)]
    no_count: bool,
    /// Puts the table into its part of this page
    #[arg(long, value_name = "FILE", conflicts_with = "no_count")]
    write: Option<PathBuf>,
}

/// Measures all options.
///
/// # Errors
/// A run that fails.
pub fn act(Arguments { runs, jobs, no_count, write }: Arguments) -> Result<(), String> {
    if cfg!(debug_assertions) {
        eprintln!("This is a build with checks: times say nothing about the program that users run.");
    }
    let count = !no_count && callgrind::present();
    if !no_count && !count {
        eprintln!("VALGRIND IS ABSENT: instructions are not counted.");
    }
    let table = watching::table(&program()?, count, runs, jobs)?;
    let text = format!(
        "On {}; instructions with `--jobs 1`, times with `--jobs {jobs}`, the lowest of {runs} runs.\n\n{table}",
        machine::describe()
    );
    print!("{text}");
    write.map_or(Ok(()), |path| page::update(&path, (page::BEGIN_WATCHING, page::END_WATCHING), &text))
}
