//! The measuring program: `cargo run --release -p flashlane-bench -- --help`, or `make bench`.

mod engine_command;
mod scaling_command;
mod whole_command;

use std::process::ExitCode;

/// The allocator of the command line program.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HELP: &str = "\
cargo run --release -p flashlane-bench -- [WORD ...] [OPTIONS]
  what the engine costs a transaction

  WORD           only cases whose name has one of these words
  --list         the cases
  --runs N       timed runs of each case (default 3)
  --requests N   requests of a timed run, instead of the case's own number
  --quick        a tenth of the requests, one timed run
  --no-count     do not count instructions (valgrind is slow)
  --write FILE   put the table into the measured part of this page; it says which cases it has

cargo run --release -p flashlane-bench -- whole [WORD ...] [OPTIONS]
  what whole processes of flashlane cost, from a trace file to the table; build flashlane --release first (without --release
  both are of a build with checks, whose counts have a table of their own)

  WORD, --list, --runs N, --no-count   as above
  --quick          no timed runs
  --write FILE     put the table into its part of this page
  --check FILE     count the instructions of the short cases; fail if one has over 5 % more than this page says

cargo run --release -p flashlane-bench -- scaling [--write FILE]
  what a transaction costs in long runs, with many flows, on large drives, in deep queues; build flashlane --release first
";

fn main() -> ExitCode {
    let text = |(i, arg): (usize, std::ffi::OsString)| {
        arg.into_string().map_err(|arg| format!("argument {i}, {arg:?}: is not UTF-8; legal is text"))
    };
    let args: Vec<String> = match std::env::args_os().enumerate().skip(1).map(text).collect() {
        Ok(args) => args,
        Err(message) => return refused(&message),
    };
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        words if words.iter().any(|word| matches!(*word, "--help" | "-h")) => {
            print!("{HELP}");
            Ok(true)
        }
        ["scaling", ..] => scaling_command::act(&args[1..]).map(|()| true),
        ["whole", ..] => whole_command::act(&args[1..]),
        _ => engine_command::act(&args).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => refused(&message),
    }
}

fn refused(message: &str) -> ExitCode {
    eprintln!("flashlane-bench: {message}");
    ExitCode::from(2)
}

/// The number after an option, within these bounds.
fn number(option: &str, text: &str, most: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| format!("{option} {text:?}: a whole number from 1 to {most}"))
}
