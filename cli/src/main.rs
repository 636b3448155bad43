//! `flashlane`: what a scheduling policy does to a workload on an SSD.
//!
//! Reads the command line, calls the laboratory, prints. Exit codes: 0 done, 2 bad input, 1 a fault of flashlane or of
//! the machine. Errors go to standard error, as one line that begins with `error:`.

mod apart;
mod args;
mod arguments;
mod cost;
mod devices;
mod explain;
mod fail;
mod init;
mod memory;
mod oslab;
mod outputs;
mod paper;
mod plan;
mod progress;
mod run;
mod schedulers;
mod signals;
mod spool;
mod sweep;
mod text;
mod timeline;
mod traces;

use std::process::ExitCode;

use clap::CommandFactory;

use args::{Cli, Command};
use fail::Failure;

/// Asks for huge pages (`.cargo/config.toml`), since the page map is accessed at random.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match arguments::read() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let code = match act(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            text::complain(&failure);
            ExitCode::from(failure.code())
        }
    };
    spool::remove();
    code
}

fn act(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Command::Run { workload, scheduler, output } => run::run(&workload, scheduler, &output),
        Command::Compare { workload, schedulers, baseline, output } => {
            run::compare(&workload, schedulers, baseline, &output)
        }
        Command::Attribute { workload, from, to, seeds, output } => {
            run::attribute(&workload, [&from, &to], seeds, &output)
        }
        Command::Explain { workload, scheduler, request, worst, beside } => {
            let which = match (request, worst) {
                (Some(request), _) => explain::Which::One(request),
                (None, count) => explain::Which::Worst(count.unwrap_or(1).into()),
            };
            explain::act(&workload, scheduler.as_deref(), &which, beside.as_deref())
        }
        Command::Sweep(args) => sweep::act(&args),
        Command::Paper(args) => paper::act(&args),
        Command::Oslab(args) => oslab::act(&args),
        Command::Trace(command) => traces::act(command),
        Command::Schedulers { cost: true, .. } => cost::show(),
        Command::Schedulers { name, cost: false } => schedulers::show(name.as_deref()),
        Command::Check(args) => plan::check(&args),
        Command::Devices { name } => devices::show(name.as_deref()),
        Command::Init { file } => init::write(&file),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "flashlane", &mut script);
            text::print_as_it_is(&String::from_utf8_lossy(&script))
        }
    }
}
