//! The figures of whole processes: reads the arguments, measures the cases, prints the table or the check's verdict.

use std::fs;
use std::path::PathBuf;

use flashlane_bench::whole::cost::{self, Stored};
use flashlane_bench::whole::measure::{Effort, measure};
use flashlane_bench::whole::{self, WholeCase};
use flashlane_bench::{callgrind, machine, page};

use crate::number;

/// Whether this is the build that tests have: its counts have a table of their own, are few, and times say nothing.
const WITH_CHECKS: bool = cfg!(debug_assertions);
/// Where the figures of this build stand on a page.
const MARKS: (&str, &str) = if WITH_CHECKS {
    (page::BEGIN_CHECKED_BUILD, page::END_CHECKED_BUILD)
} else {
    (page::BEGIN_WHOLE, page::END_WHOLE)
};

/// The parsed arguments.
struct Arguments {
    words: Vec<String>,
    list: bool,
    effort: Effort,
    write: Option<PathBuf>,
    check: Option<PathBuf>,
}

/// Measures whole processes as `args` say. Returns whether no count is above what it may be.
///
/// # Errors
/// A wrong argument, or a case that fails.
pub fn act(args: &[String]) -> Result<bool, String> {
    let mut arguments = arguments(args)?;
    let is_wanted = |case: &WholeCase| {
        (arguments.words.is_empty() || arguments.words.iter().any(|word| case.name.contains(word)))
            && (arguments.check.is_none() || if WITH_CHECKS { case.daily } else { case.checked })
            && (arguments.write.is_none() || !WITH_CHECKS || case.daily)
    };
    let cases: Vec<WholeCase> = whole::all().into_iter().filter(is_wanted).collect();
    if arguments.list {
        cases.iter().for_each(|case| println!("{}", case.name));
        return Ok(true);
    }
    if cases.is_empty() {
        return Err(format!("no case has any of the words {:?} in its name; see whole --list", arguments.words));
    }
    if arguments.write.is_some() && !(arguments.words.is_empty() && arguments.effort.runs > 0 && arguments.effort.count)
    {
        return Err("--write needs all cases, counted and timed; leave out words, --quick and --no-count".into());
    }
    if WITH_CHECKS {
        eprintln!("This is a build with checks: its counts have a table of their own, and times say nothing.");
        arguments.effort.runs = 0;
    }
    if arguments.effort.count && !callgrind::present() {
        if arguments.check.is_some() {
            println!("SKIPPED: valgrind is absent, instructions of whole processes are not counted");
            return Ok(true);
        }
        eprintln!("VALGRIND IS ABSENT: instructions are not counted.");
        arguments.effort.count = false;
    }
    match &arguments.check {
        Some(path) => check(&cases, path),
        None => table(&cases, &arguments).map(|()| true),
    }
}

fn arguments(args: &[String]) -> Result<Arguments, String> {
    let effort = Effort { runs: 3, count: true };
    let mut arguments = Arguments { words: Vec::new(), list: false, effort, write: None, check: None };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--list" => arguments.list = true,
            "--no-count" => arguments.effort.count = false,
            "--quick" => arguments.effort.runs = 0,
            "--runs" => arguments.effort.runs = number(arg, value()?, 1_000)? as u32,
            "--write" => arguments.write = Some(value()?.into()),
            "--check" => arguments.check = Some(value()?.into()),
            option if option.starts_with('-') => return Err(format!("whole: unknown option {option:?}; see --help")),
            word => arguments.words.push(word.into()),
        }
    }
    if arguments.check.is_some() && (arguments.write.is_some() || !arguments.effort.count) {
        return Err("--check counts and writes nothing; leave out --write and --no-count".into());
    }
    Ok(arguments)
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

fn table(cases: &[WholeCase], arguments: &Arguments) -> Result<(), String> {
    let program = program()?;
    let mut rows = Vec::new();
    for case in cases {
        eprintln!("measuring {}", case.name);
        rows.push((case.name.clone(), measure(&program, case, arguments.effort)?));
    }
    let (machine, runs) = (machine::describe(), arguments.effort.runs);
    let times = if WITH_CHECKS { "a build with checks".to_owned() } else { format!("median of {runs} runs") };
    let text = format!("On {machine}; {times}.\n\n{}", cost::render(&rows));
    print!("{text}");
    arguments.write.as_deref().map_or(Ok(()), |path| page::update(path, MARKS, &text))
}

fn check(cases: &[WholeCase], path: &std::path::Path) -> Result<bool, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let stored = Stored::read(&text, MARKS).map_err(|e| format!("{}: {e}", path.display()))?;
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
