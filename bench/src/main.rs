//! The measuring program: `cargo run --release -p flashlane-bench -- --help`, or `make bench`.

mod engine_command;
mod scaling_command;
mod whole_command;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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

#[derive(Subcommand)]
enum Command {
    /// What whole processes of flashlane cost, from a trace file to the table; build flashlane --release first (without --release both are
    /// of a build with checks, whose counts have a table of their own)
    Whole(whole_command::Arguments),
    /// What a transaction costs in long runs, with many flows, on large drives, in deep queues; build flashlane --release first
    Scaling(scaling_command::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Some(Command::Scaling(arguments)) => scaling_command::act(arguments).map(|()| true),
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
