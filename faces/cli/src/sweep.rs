//! `flashlane sweep`: the runs of a sweep, made where they are missing, and the table of their results.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use flashlane_outputs::shown::{self, counted};
use flashlane_outputs::{OutputError, Results, State, Store};
use flashlane_sim::RunError;
use flashlane_sweep::{Made, MakeOptions, Plan, Progress, Shard, Sweep};

use crate::args::SweepArgs;
use crate::arguments;
use crate::fail::Failure;
use crate::memory;
use crate::plan::seeds_are_unused;
use crate::progress;
use crate::run::rayon_threads;
use crate::signals;
use crate::text::print;

/// Missing runs that are listed.
const LISTED: usize = 10;

/// Runs `flashlane sweep`.
pub fn act(args: &SweepArgs) -> Result<(), Failure> {
    if let Some(jobs) = args.jobs {
        rayon_threads(jobs)?;
    }
    let out = args.out.clone().unwrap_or_else(|| default_store(&args.file));
    if let Some(name) = &args.summary {
        return summary(name, &out);
    }
    let sweep = Sweep::load(&args.file)?;
    let plan = sweep.plan()?;
    if let Some(first) = plan.runs.first() {
        seeds_are_unused(&sweep.scenario(&first.at)?, "sweep");
    }
    if args.status {
        return status(&sweep, &plan, &out);
    }
    if let Some(needs) = &plan.memory {
        memory::check_needs(needs)?;
    }
    signals::install_handlers()?;
    let store = Store::open(&out, &flashlane_sim::maker())?;
    let progress = Progress::default();
    let shard = args.shard.unwrap_or(Shard::WHOLE);
    let options = MakeOptions { shard, audit: args.audit, command: arguments::command_line(), progress: &progress };
    let made = progress::of_sweep(&progress, || flashlane_sweep::make(&sweep, &plan, &store, &options))?;
    if let Some((number, error)) = made.failed.first() {
        return Err(failed(&sweep, &plan, &made, *number, error));
    }
    let ours = made.there + made.made;
    let mut text = format!("{}, {} made now and {} there before\n", counted(ours, "run"), made.made, made.there);
    text.push_str(&made_again(&progress));
    plan.not_measured(&sweep)?.iter().for_each(|sentence| text.push_str(&format!("{sentence}\n")));
    if plan.excluded > 0 {
        let _ = writeln!(text, "{} excluded", counted(plan.excluded, "combination"));
    }
    let missing = plan.runs.iter().filter(|run| !store.has(&run.name)).count();
    if missing > 0 {
        let _ = writeln!(
            text,
            "{missing} of all {} are missing; results.parquet is written once all are there",
            plan.runs.len()
        );
        let _ = writeln!(text, "store: {}", shown::path(&out));
        return print(&text);
    }
    text.push_str(&write_results(args, &sweep, &plan, &store)?);
    print(&text)
}

/// The message about damaged runs: which, and that they were made again.
pub(crate) fn made_again(progress: &Progress) -> String {
    let damaged = progress.damaged();
    let Some(first) = damaged.first() else { return String::new() };
    match damaged.len() - 1 {
        0 => format!("1 run was damaged and was made again: {first}\n"),
        more => format!("{} runs were damaged and were made again: {first} and {more} more\n", more + 1),
    }
}

/// The folder of the runs where none is named.
fn default_store(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or(file.as_os_str());
    PathBuf::from(stem)
}

/// Writes the table of all results, and the page.
fn write_results(args: &SweepArgs, sweep: &Sweep, plan: &Plan, store: &Store) -> Result<String, Failure> {
    let table = plan.table(sweep, store)?;
    let mut text = String::new();
    let mut name = |file: &str| {
        let _ = writeln!(text, "results: {}", shown::path(&store.path().join(file)));
    };
    let fault =
        |file: &str, error: String| OutputError::fault(&store.path().join(file), format!("cannot be written: {error}"));
    let parquet = table.write_parquet(Vec::new()).map_err(|error| fault("results.parquet", error.to_string()))?;
    store.begin("results.parquet")?.write_whole(&parquet)?;
    name("results.parquet");
    if args.csv {
        let mut bytes = Vec::new();
        table.write_csv(&mut bytes).map_err(|error| fault("results.csv", error.to_string()))?;
        store.begin("results.csv")?.write_whole(&bytes)?;
        name("results.csv");
    }
    if args.report {
        let page = flashlane_sweep::html(sweep, plan, &table, &arguments::command_line());
        store.begin("report.html")?.write_whole(page.as_bytes())?;
        name("report.html");
    }
    Ok(text)
}

/// Prints the summary of a run.
fn summary(name: &str, out: &Path) -> Result<(), Failure> {
    match Results::of(out, &flashlane_sim::maker())? {
        Some(results) => print(&String::from_utf8_lossy(&results.read(name, flashlane_sweep::SUMMARY)?)),
        None => Err(Failure::Input(format!("{}: is no store of runs", shown::path(out)))),
    }
}

/// Prints which runs are there and which are missing.
fn status(sweep: &Sweep, plan: &Plan, out: &Path) -> Result<(), Failure> {
    let results = Results::of(out, &flashlane_sim::maker())?;
    let state = |name: &str| results.as_ref().map_or(State::Absent, |results| results.state(name));
    let states = plan.runs.iter().map(|run| (run, state(&run.name)));
    let missing: Vec<_> = states.filter(|(_, state)| *state != State::Whole).collect();
    let mut text = format!("{}: {}", shown::path(out), counted(plan.runs.len(), "run"));
    let _ = writeln!(text, ", {} there, {} missing", plan.runs.len() - missing.len(), missing.len());
    for (run, state) in missing.iter().take(LISTED) {
        let word = if *state == State::Damaged { "damaged" } else { "missing" };
        let _ = writeln!(text, "{word}  {}  {}", run.name, shown::escaped(&sweep.describe(&run.at)));
    }
    if missing.len() > LISTED {
        let _ = writeln!(text, "and {} more", missing.len() - LISTED);
    }
    print(&text)
}

/// The error of runs that failed: the first, and how many there are.
fn failed(sweep: &Sweep, plan: &Plan, made: &Made, number: usize, error: &RunError) -> Failure {
    let values = sweep.describe(&plan.runs[number].at);
    let others = match made.failed.len() - 1 {
        0 => String::new(),
        others => format!("; {others} more failed"),
    };
    let kept = match made.made + made.there {
        1 => "the other run is kept".to_owned(),
        other => format!("the other {other} runs are kept"),
    };
    let message = format!("{error} (in the run with {values}){others}; {kept}");
    match error {
        RunError::Fault(_) => Failure::Fault(message),
        _ => Failure::Input(message),
    }
}
