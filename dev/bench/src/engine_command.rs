//! The figures of the engine: measures the cases, prints the table.

use std::path::{Path, PathBuf};

use clap::{Args, value_parser};
use flashlane_bench::case::Case;
use flashlane_bench::cases;
use flashlane_bench::measure::{Effort, measure};
use flashlane_bench::{callgrind, kept, machine, table};

use crate::Cases;

/// What is measured, and how.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    cases: Cases,
    /// Requests of a timed run, instead of the case's own number
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=1_000_000_000))]
    requests: Option<u64>,
    /// A tenth of the requests, one timed run
    #[arg(long, conflicts_with = "runs")]
    quick: bool,
    /// Writes the table to its file in this folder; it says which cases it has
    #[arg(long, value_name = "DIR", conflicts_with_all = ["quick", "requests"])]
    write: Option<PathBuf>,
    /// In a child process: one run of this case with this many requests
    #[arg(long, hide = true, num_args = 2)]
    run_case: Vec<String>,
}

/// Measures the engine.
///
/// # Errors
/// A case that fails.
pub fn act(arguments: Arguments) -> Result<(), String> {
    match arguments.run_case.as_slice() {
        [name, requests] => run_case(name, requests),
        _ => execute(arguments),
    }
}

/// In a child process: makes one run of one case.
fn run_case(name: &str, requests: &str) -> Result<(), String> {
    let case = cases::all().into_iter().find(|case| case.name() == name).ok_or(format!("no case {name:?}"))?;
    let requests = requests.parse().map_err(|_| format!("{requests:?} is not a whole number of requests"))?;
    println!("{}", (case.run)(requests)?);
    Ok(())
}

fn execute(arguments: Arguments) -> Result<(), String> {
    let is_wanted = |case: &Case| arguments.cases.include(&case.name());
    let cases: Vec<Case> = cases::all().into_iter().filter(is_wanted).collect();
    if arguments.cases.list {
        cases.iter().for_each(|case| println!("{}", case.name()));
        return Ok(());
    }
    if cases.is_empty() {
        return Err(format!("no case has any of the words {:?} in its name; see --list", arguments.cases.words));
    }
    if cfg!(debug_assertions) {
        eprintln!("This is a build with checks: times and counts say nothing about the program that users run.");
    }
    let count = !arguments.cases.no_count && callgrind::present();
    if !arguments.cases.no_count && !count {
        eprintln!("VALGRIND IS ABSENT: instructions are not counted.");
    }
    let (runs, per_mille) = if arguments.quick { (1, 100) } else { (arguments.cases.runs, 1000) };
    let text =
        measured(&cases, &arguments.cases.words, Effort { runs, per_mille, requests: arguments.requests, count })?;
    print!("{text}");
    arguments.write.as_deref().map_or(Ok(()), |folder: &Path| kept::write(folder, kept::ENGINE, &text))
}

fn measured(cases: &[Case], words: &[String], effort: Effort) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let mut rows = Vec::new();
    for (number, case) in (1..).zip(cases) {
        let figures = measure(&program, case, effort)?;
        // Printed at once: the table comes only when all cases are measured.
        eprintln!("{number} of {}: {}: {figures}", cases.len(), case.name());
        rows.push((case.labels.clone(), figures));
    }
    let which = match words {
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
