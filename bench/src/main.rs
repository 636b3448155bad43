//! The measuring program: `cargo run --release -p flashlane-bench -- --help`, or `make bench`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use flashlane_bench::case::Case;
use flashlane_bench::cases;
use flashlane_bench::measure::{CHILD, Effort, measure};
use flashlane_bench::{callgrind, machine, page, table};

/// The allocator of the command line program.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HELP: &str = "\
cargo run --release -p flashlane-bench -- [WORD ...] [OPTIONS]

  WORD           only cases whose name has one of these words
  --list         the cases
  --runs N       timed runs of each case (default 3)
  --requests N   requests of a timed run, instead of the case's own number
  --quick        a tenth of the requests, one timed run
  --no-count     do not count instructions (valgrind is slow)
  --write FILE   put the table into the measured part of this page; it says which cases it has
";

/// The parsed arguments.
struct Arguments {
    words: Vec<String>,
    list: bool,
    effort: Effort,
    write: Option<PathBuf>,
}

fn main() -> ExitCode {
    let text = |(i, arg): (usize, std::ffi::OsString)| {
        arg.into_string().map_err(|arg| format!("argument {i}, {arg:?}: is not UTF-8; legal is text"))
    };
    let args: Vec<String> = match std::env::args_os().enumerate().skip(1).map(text).collect() {
        Ok(args) => args,
        Err(message) => {
            eprintln!("flashlane-bench: {message}");
            return ExitCode::from(2);
        }
    };
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [CHILD, name, requests] => run_case(name, requests),
        words if words.iter().any(|word| matches!(*word, "--help" | "-h")) => {
            print!("{HELP}");
            Ok(())
        }
        _ => arguments(&args).and_then(execute),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("flashlane-bench: {message}");
            ExitCode::from(2)
        }
    }
}

/// In a child process: makes one run of one case.
fn run_case(name: &str, requests: &str) -> Result<(), String> {
    let case = cases::all().into_iter().find(|case| case.name() == name).ok_or(format!("no case {name:?}"))?;
    let requests = requests.parse().map_err(|_| format!("{requests:?} is not a whole number of requests"))?;
    println!("{}", (case.run)(requests)?);
    Ok(())
}

fn arguments(args: &[String]) -> Result<Arguments, String> {
    let effort = Effort { runs: 3, per_mille: 1000, requests: None, count: true };
    let mut arguments = Arguments { words: Vec::new(), list: false, effort, write: None };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--list" => arguments.list = true,
            "--no-count" => arguments.effort.count = false,
            "--quick" => (arguments.effort.runs, arguments.effort.per_mille) = (1, 100),
            "--write" => arguments.write = Some(value()?.into()),
            "--runs" => {
                let text = value()?;
                let runs = text.parse().ok().filter(|runs| (1..=1000).contains(runs));
                arguments.effort.runs = runs.ok_or(format!("--runs {text:?}: a number from 1 to 1000"))?;
            }
            "--requests" => {
                let text = value()?;
                let requests = text.parse().ok().filter(|requests| (1..=1_000_000_000).contains(requests));
                let legal = || format!("--requests {text:?}: a whole number from 1 to 1000000000");
                arguments.effort.requests = Some(requests.ok_or_else(legal)?);
            }
            option if option.starts_with('-') => return Err(format!("unknown option {option:?}; see --help")),
            word => arguments.words.push(word.into()),
        }
    }
    Ok(arguments)
}

fn execute(mut arguments: Arguments) -> Result<(), String> {
    let is_wanted =
        |case: &Case| arguments.words.is_empty() || arguments.words.iter().any(|word| case.name().contains(word));
    let cases: Vec<Case> = cases::all().into_iter().filter(is_wanted).collect();
    if arguments.list {
        cases.iter().for_each(|case| println!("{}", case.name()));
        return Ok(());
    }
    if cases.is_empty() {
        return Err(format!("no case has any of the words {:?} in its name; see --list", arguments.words));
    }
    if arguments.write.is_some() && !(arguments.effort.per_mille == 1000 && arguments.effort.requests.is_none()) {
        return Err("--write needs complete measurements; leave out --quick and --requests".into());
    }
    if cfg!(debug_assertions) {
        eprintln!("This is a build with checks: times and counts say nothing about the program that users run.");
    }
    if arguments.effort.count && !callgrind::present() {
        eprintln!("VALGRIND IS ABSENT: instructions are not counted.");
        arguments.effort.count = false;
    }
    let text = measured(&cases, &arguments)?;
    print!("{text}");
    arguments.write.as_deref().map_or(Ok(()), |path: &Path| page::update(path, &text))
}

fn measured(cases: &[Case], arguments: &Arguments) -> Result<String, String> {
    let effort = arguments.effort;
    let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let mut rows = Vec::new();
    for case in cases {
        eprintln!("measuring {}", case.name());
        rows.push((case.labels.clone(), measure(&program, case, effort)?));
    }
    let which = match arguments.words.as_slice() {
        [] => "All cases".into(),
        words => format!("The cases with {} in their name", words.join(" or ")),
    };
    let length = effort.requests.map_or(format!("at {} % of the requests", effort.per_mille / 10), |requests| {
        format!("of {requests} requests")
    });
    Ok(format!(
        "{which} on {}; median of {} runs {length}.\n\n{}",
        machine::describe(),
        effort.runs,
        table::render(&rows)
    ))
}
