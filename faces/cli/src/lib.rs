//! The program `flashlane` as a library: the whole command line, over a catalogue of schedulers that the caller may extend.
//!
//! Reads the command line, calls the laboratory, prints. Exit codes: 0 done, 2 bad input, 1 a fault of flashlane or of
//! the machine. Errors go to standard error, as one line that begins with `error:`.
//!
//! A program with schedulers of its own adds them in [`main_with`] and has every command
//! (docs/add-a-scheduler.md).

mod apart;
mod args;
mod arguments;
mod catalogue;
mod cost;
mod devices;
mod explain;
mod fail;
mod fit;
mod init;
mod keys;
mod man;
mod memory;
mod outputs;
mod paper;
mod plan;
mod progress;
mod recommend;
mod run;
mod schedulers;
mod serve;
mod signals;
mod spool;
mod sweep;
mod text;
mod timeline;
mod traces;

use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;
use flashlane_sched::catalogue::{Catalogue, RecipeError, SHIPPED};
use flashlane_sim::processor;

use args::{Cli, Command};
use fail::Failure;

/// Asks for huge pages (`.cargo/config.toml`), since the page map is accessed at random.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Does what the command line asks for, with the shipped schedulers and those that `extend` adds to them. To be called once, from `main`.
///
/// `run`, `compare`, `attribute`, `explain`, `recommend`, `check` and `schedulers` know all of its schedulers; `sweep` and `paper` those that are shipped.
pub fn main_with(extend: impl FnOnce(&mut Catalogue) -> Result<(), RecipeError>) -> ExitCode {
    // First of all: what follows may already use instructions that this processor lacks.
    if !processor::is_able() {
        let _ = std::io::stderr().write_all(processor::REFUSAL.as_bytes());
        return ExitCode::FAILURE;
    }
    let mut catalogue = SHIPPED.clone();
    if let Err(why) = extend(&mut catalogue) {
        text::complain(&Failure::Fault(format!("the catalogue of schedulers: {why}")));
        return ExitCode::FAILURE;
    }
    catalogue::set(catalogue);
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
        Command::Run { workload, scheduler, seeds, output } => run::run(&workload, scheduler, seeds, &output),
        Command::Compare { workload, schedulers, block, baseline, seeds, output } => {
            run::compare(&workload, schedulers, &block, (baseline, seeds), &output)
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
        Command::Recommend(args) => recommend::act(&args),
        Command::Fit(args) => fit::act(&args),
        Command::Serve(args) => serve::act(&args),
        Command::Ctl(args) => serve::control(&args),
        Command::Paper(args) => paper::act(&args),
        Command::Trace(command) => traces::act(command),
        Command::Schedulers { cost: true, .. } => cost::show(),
        Command::Schedulers { name, cost: false } => schedulers::show(name.as_deref()),
        Command::Check(args) => plan::check(&args),
        Command::Devices { name } => devices::show(name.as_deref()),
        Command::Init { file } => init::write(&file),
        Command::Man { command } => man::show(&command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "flashlane", &mut script);
            text::print_as_it_is(&String::from_utf8_lossy(&script))
        }
    }
}
