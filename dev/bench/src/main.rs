//! The measuring program: `cargo run --release -p flashlane-bench -- --help`, or `make bench`.

mod engine_command;
mod real_command;
mod recommending_command;
mod scaling_command;
mod watching_command;
mod whole_command;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, value_parser};

/// The allocator of the command line program.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the engine costs a transaction
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    engine: engine_command::Arguments,
}

/// Which cases are measured, and how well.
#[derive(Args)]
struct Cases {
    /// Only cases whose name contains one of these words
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Lists the cases
    #[arg(long)]
    list: bool,
    /// Timed runs of each case
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = value_parser!(u32).range(1..=1_000))]
    runs: u32,
    /// Does not count instructions (valgrind is slow)
    #[arg(long)]
    no_count: bool,
}

impl Cases {
    /// Whether a case of this name is among them.
    fn include(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word))
    }
}

#[derive(Subcommand)]
enum Command {
    /// What whole processes of flashlane cost, from a trace file to the table; build flashlane --release first (without --release both are
    /// of a build with checks, whose counts have a table of their own)
    Whole(whole_command::Arguments),
    /// What a transaction costs in long runs, with many flows, on large drives, in deep queues; build flashlane --release first
    Scaling(scaling_command::Arguments),
    /// What watching a run costs beside a plain one (--audit, --report, rows, timelines); build flashlane --release first
    Watching(watching_command::Arguments),
    /// What flashlane recommend finds on the shipped scenarios and on traces, and how long it takes; build flashlane --release first
    Recommending(recommending_command::Arguments),
    /// How far modelled drives are from measurements of real ones; simulated times, so that the build does not matter
    Real(real_command::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Some(Command::Scaling(arguments)) => scaling_command::act(arguments).map(|()| true),
        Some(Command::Recommending(arguments)) => recommending_command::act(arguments).map(|()| true),
        Some(Command::Real(arguments)) => real_command::act(arguments),
        Some(Command::Watching(arguments)) => watching_command::act(arguments).map(|()| true),
        Some(Command::Whole(arguments)) => whole_command::act(arguments),
        None => engine_command::act(cli.engine).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("flashlane-bench: {message}");
            ExitCode::from(2)
        }
    }
}
