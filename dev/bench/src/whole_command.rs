//! The figures of whole processes: measures the cases, prints the table or the check's verdict.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use flashlane_bench::whole::cost::{self, Stored};
use flashlane_bench::whole::measure::{Effort, measure, measure_pairs};
use flashlane_bench::whole::{self, WholeCase};
use flashlane_bench::{callgrind, kept, machine};

use crate::Cases;

/// Whether this is the build that tests have: its counts have a table of their own, are few, and times say nothing.
const WITH_CHECKS: bool = cfg!(debug_assertions);
/// The file of the figures of this build.
const TABLE: &str = if WITH_CHECKS { kept::CHECKS } else { kept::WHOLE };

/// What is measured, and how.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    cases: Cases,
    /// No timed runs
    #[arg(long, conflicts_with = "runs")]
    quick: bool,
    /// Writes the table to its file in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["words", "quick", "no_count"])]
    write: Option<PathBuf>,
    /// Counts the instructions of the short cases; fails if one has over 5 % more than the table in this folder says
    #[arg(long, value_name = "DIR", conflicts_with_all = ["write", "no_count"])]
    check: Option<PathBuf>,
    /// Another build of flashlane, run in turn with this one: how many times its CPU time is that of this one
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["quick", "write", "check", "no_count"])]
    beside: Option<PathBuf>,
}

/// Measures whole processes. Returns whether no count is above what it may be.
///
/// # Errors
/// A case that fails.
pub fn act(arguments: Arguments) -> Result<bool, String> {
    let is_wanted = |case: &WholeCase| {
        arguments.cases.include(&case.name)
            && (arguments.check.is_none() || if WITH_CHECKS { case.daily } else { case.checked })
            && (arguments.write.is_none() || !WITH_CHECKS || case.daily)
    };
    let cases: Vec<WholeCase> = whole::all().into_iter().filter(is_wanted).collect();
    if arguments.cases.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return Ok(true);
    }
    if cases.is_empty() {
        return Err(format!("no case has any of the words {:?} in its name; see whole --list", arguments.cases.words));
    }
    if WITH_CHECKS {
        eprintln!("This is a build with checks: its counts have a table of their own, and times say nothing.");
    }
    if let Some(other) = &arguments.beside {
        return beside(&cases, other, arguments.cases.runs).map(|()| true);
    }
    let mut effort = Effort {
        runs: if WITH_CHECKS || arguments.quick { 0 } else { arguments.cases.runs },
        count: !arguments.cases.no_count,
    };
    if effort.count && !callgrind::present() {
        if arguments.check.is_some() {
            println!("SKIPPED: valgrind is absent, instructions of whole processes are not counted");
            return Ok(true);
        }
        eprintln!("VALGRIND IS ABSENT: instructions are not counted.");
        effort.count = false;
    }
    match &arguments.check {
        Some(path) => check(&cases, path),
        None => table(&cases, effort, arguments.write.as_deref()).map(|()| true),
    }
}

/// The `flashlane` that lies beside this program.
pub fn program() -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
    let program = here.with_file_name(format!("flashlane{}", std::env::consts::EXE_SUFFIX));
    let missing = || {
        format!(
            "{}: is not there; cargo build -p flashlane-cli makes it, with --release if this is such a build",
            program.display()
        )
    };
    if program.is_file() { Ok(program) } else { Err(missing()) }
}

fn table(cases: &[WholeCase], effort: Effort, write: Option<&Path>) -> Result<(), String> {
    let program = program()?;
    let mut rows = Vec::new();
    for case in cases {
        eprintln!("measuring {}", case.name);
        rows.push((case.name.clone(), measure(&program, case, effort)?));
    }
    let (machine, runs) = (machine::describe(), effort.runs);
    let times = if WITH_CHECKS { "a build with checks".to_owned() } else { format!("median of {runs} runs") };
    let text = format!("On {machine}; {times}.\n\n{}", cost::render(&rows));
    print!("{text}");
    write.map_or(Ok(()), |folder| kept::write(folder, TABLE, &text))
}

fn beside(cases: &[WholeCase], other: &Path, runs: u32) -> Result<(), String> {
    let program = program()?;
    let mut rows = Vec::new();
    for case in cases {
        eprintln!("measuring {}", case.name);
        rows.push((case.name.clone(), measure_pairs(other, &program, case, runs)?));
    }
    println!("On {}; CPU s of {runs} pairs.\n\n{}", machine::describe(), cost::render_pairs(&rows));
    Ok(())
}

fn check(cases: &[WholeCase], folder: &Path) -> Result<bool, String> {
    let path = folder.join(TABLE);
    let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let stored = Stored::read(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    let compiler = machine::compiler();
    if !stored.about.contains(&compiler) {
        println!("SKIPPED: counts of whole processes are stored for another compiler than {compiler}");
        return Ok(true);
    }
    let program = program()?;
    let mut fine = true;
    for case in cases {
        let figures = measure(&program, case, Effort { runs: 0, count: true })?;
        let (text, is_fine) = stored.compare(&case.name, figures.instructions.unwrap_or_default());
        println!("{text}");
        fine &= is_fine;
    }
    if !fine {
        println!(
            "over {} % more instructions than {} says. If that is the price of something worth it: this program with \
             `whole --write` writes the figures anew, and the commit says why",
            cost::MAX_PERCENT,
            path.display()
        );
    }
    Ok(fine)
}
