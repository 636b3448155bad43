//! The figures of the engine: reads the arguments, measures the cases, prints the table.

use std::path::{Path, PathBuf};

use flashlane_bench::case::Case;
use flashlane_bench::cases;
use flashlane_bench::measure::{CHILD, Effort, measure};
use flashlane_bench::{callgrind, machine, page, table};

use crate::number;

/// The parsed arguments.
struct Arguments {
    words: Vec<String>,
    list: bool,
    effort: Effort,
    write: Option<PathBuf>,
}

/// Measures the engine as `args` say.
///
/// # Errors
/// A wrong argument, or a case that fails.
pub fn act(args: &[String]) -> Result<(), String> {
    match args {
        [child, name, requests] if child == CHILD => run_case(name, requests),
        _ => arguments(args).and_then(execute),
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
            "--runs" => arguments.effort.runs = number(arg, value()?, 1_000)? as u32,
            "--requests" => arguments.effort.requests = Some(number(arg, value()?, 1_000_000_000)?),
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
    arguments.write.as_deref().map_or(Ok(()), |path: &Path| page::update(path, (page::BEGIN, page::END), &text))
}

fn measured(cases: &[Case], arguments: &Arguments) -> Result<String, String> {
    let effort = arguments.effort;
    let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let mut rows = Vec::new();
    for (number, case) in (1..).zip(cases) {
        let figures = measure(&program, case, effort)?;
        // Printed at once: the table comes only when all cases are measured.
        eprintln!("{number} of {}: {}: {figures}", cases.len(), case.name());
        rows.push((case.labels.clone(), figures));
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
