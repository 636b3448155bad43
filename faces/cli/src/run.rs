//! `flashlane run` and `flashlane compare`: from a scenario to figures, files and a page.

use std::fmt::Write as _;
use std::path::PathBuf;

use flashlane_core::choice::Choice;
use flashlane_outputs::shown::{self, counted};
use flashlane_report::results::{self, attribution_text, brief, export, fio};
use flashlane_scenario::{ElevatorWord, Scenario, SchedulerChoice, Word};
use flashlane_sim::{Comparison, Options, Progress, RowOutput};

use crate::args::{Format, Output, Workload};
use crate::arguments;
use crate::fail::Failure;
use crate::keys;
use crate::memory;
use crate::outputs::Outputs;
use crate::plan;
use crate::progress;
use crate::text::{print, print_json};

/// Runs `flashlane run`: one scheduler.
pub fn run(workload: &Workload, scheduler: Option<String>, seeds: Option<u64>, output: &Output) -> Result<(), Failure> {
    let mut scenario = plan::scenario(workload)?;
    match scheduler {
        Some(name) => {
            let choice = chosen(workload, &scenario, "--scheduler", &[&name])?;
            choose(&mut scenario, "--scheduler", choice);
        }
        None => scenario.keep_first_scheduler()?,
    }
    scenario.keep_first_block()?;
    repeat(workload, &mut scenario, seeds)?;
    make(workload, &scenario, output, None)
}

/// Runs `flashlane compare`: several schedulers, below each of `elevators` if there are any.
pub fn compare(
    workload: &Workload,
    schedulers: Vec<String>,
    elevators: &[ElevatorWord],
    (baseline, seeds): (Option<String>, Option<u64>),
    output: &Output,
) -> Result<(), Failure> {
    let mut scenario = plan::scenario(workload)?;
    if !schedulers.is_empty() {
        let names: Vec<&str> = schedulers.iter().map(String::as_str).collect();
        let choices = chosen(workload, &scenario, "--schedulers", &names)?;
        choose(&mut scenario, "--schedulers", choices);
    }
    if !elevators.is_empty() {
        let names: Vec<&str> = elevators.iter().map(|elevator| elevator.word()).collect();
        keys::agrees(workload, "block.elevator", "--block", &names.join(", "))?;
        keys::agrees(workload, "block.elevators", "--block", &format!("{names:?}"))?;
        scenario.set("block.elevators", "--block", |document| {
            let block = document.block.get_or_insert_default();
            block.elevator = None;
            block.elevators = Some(elevators.iter().copied().map(Word).collect());
        });
    }
    if let Some(name) = &baseline {
        keys::agrees(workload, "run.baseline", "--baseline", name)?;
        scenario.set("run.baseline", "--baseline", |document| document.run.baseline = baseline);
    }
    repeat(workload, &mut scenario, seeds)?;
    make(workload, &scenario, output, None)
}

/// Runs `flashlane attribute`: the two schedulers, and every mix between them.
pub fn attribute(workload: &Workload, ends: [&str; 2], seeds: u64, output: &Output) -> Result<(), Failure> {
    let mut scenario = plan::scenario(workload)?;
    let choices = chosen(workload, &scenario, "--from and --to", &ends)?;
    if ends[0] == ends[1] {
        return Err(Failure::Input(format!("--to {}: must be another scheduler than --from", ends[1])));
    }
    keys::agrees(workload, "run.baseline", "--from", ends[0])?;
    choose(&mut scenario, "--from and --to", choices);
    scenario.keep_first_block()?;
    plan::seeds_are_unused(&scenario, "attribute");
    scenario.set("run.baseline", "--from", |document| document.run.baseline = None);
    make(workload, &scenario, output, Some(seeds))
}

/// Has the scenario try so many seeds, if the user says how many.
fn repeat(workload: &Workload, scenario: &mut Scenario, seeds: Option<u64>) -> Result<(), Failure> {
    if let Some(count) = seeds {
        keys::agrees(workload, "run.seeds", "--seeds", &count.to_string())?;
        scenario.set("run.seeds", "--seeds", |document| document.run.seeds = seeds);
    }
    Ok(())
}

/// The scheduler called `name`: one of the scenario's own, or one of the catalogue.
fn named(scenario: &Scenario, name: &str) -> Result<SchedulerChoice, Failure> {
    let own = scenario.schedulers()?.into_iter().find(|choice| choice.name() == name);
    Ok(own.unwrap_or_else(|| SchedulerChoice::Named(name.to_owned())))
}

/// The schedulers called `names`, as `flag` says, which no `--set` contradicts.
pub(crate) fn chosen(
    workload: &Workload,
    scenario: &Scenario,
    flag: &str,
    names: &[&str],
) -> Result<Vec<SchedulerChoice>, Failure> {
    keys::schedulers_agree(workload, scenario, flag, names)?;
    names.iter().map(|name| named(scenario, name)).collect()
}

/// Has the scenario run these schedulers, as `flag` says.
pub(crate) fn choose(scenario: &mut Scenario, flag: &'static str, choices: Vec<SchedulerChoice>) {
    scenario.set("schedulers", flag, |document| {
        document.scheduler = None;
        document.schedulers = Some(choices);
    });
}

/// Makes the comparison, and with `seeds` the attribution of the difference between its two schedulers; then all outputs that the
/// user asked for.
fn make(workload: &Workload, scenario: &Scenario, output: &Output, seeds: Option<u64>) -> Result<(), Failure> {
    if let Some(jobs) = output.jobs {
        rayon_threads(jobs)?;
    }
    let outputs = Outputs::prepare(workload, scenario, output)?;
    let mut prepared = flashlane_sim::prepare(scenario)?;
    if !outputs.any() && !matches!(output.format, Format::Json | Format::FioJson) {
        prepared = prepared.without_hash();
    }
    memory::check(&prepared)?;
    let progress = Progress::default();
    let options = Options {
        audit: output.audit,
        rows: outputs.dir().map(|dir| RowOutput {
            dir,
            format: if output.csv { results::Format::Csv } else { results::Format::Parquet },
            transactions: output.transactions,
        }),
        activity: output.report.is_some(),
        progress: Some(&progress),
    };
    let comparison = progress::shown(&progress, || {
        let attribute = |seeds| {
            let ends = scenario.schedulers()?;
            flashlane_sim::attribute(scenario, &ends[0], &ends[1], seeds)
        };
        let attribution = seeds.map(attribute).transpose()?;
        let ceiling = output.ceiling.then(|| flashlane_sim::ceiling(&prepared)).transpose()?;
        let mut made = match seeds {
            None => flashlane_sim::compare_repeated(scenario, &prepared, &options)?,
            Some(_) => flashlane_sim::compare_prepared(scenario, &prepared, &options)?,
        };
        made.summary.attribution = attribution;
        if let Some(ceiling) = ceiling {
            made.summary.compare_with_ceiling(ceiling);
        }
        Ok::<_, flashlane_sim::RunError>(made)
    })?;
    let summary = &comparison.summary;
    let timelines = outputs.timelines();
    let finished = outputs.finish(summary, &comparison.activity, scenario, command());
    // The figures are printed even if they cannot be written: the run may have taken hours.
    match output.format {
        Format::Json => print_json(&summary.to_json())?,
        Format::FioJson => print_json(&format!("{:#}\n", fio::document(summary)))?,
        Format::Markdown => print(&export::markdown(summary))?,
        Format::Csv => print(&export::csv(summary))?,
        Format::Table => {
            let written = finished.is_ok().then_some(&timelines[..]);
            print(&summary_text(plan::remarks(scenario), &comparison, output, written))?
        }
    }
    finished
}

/// `remarks` on the scenario and those on its flows, then the table with warnings, and by the outputs if they were written, of which these are the timelines.
fn summary_text(remarks: String, comparison: &Comparison, output: &Output, written: Option<&[PathBuf]>) -> String {
    let (mut text, summary) = (remarks, &comparison.summary);
    for (flow, remark) in &comparison.remarks {
        let _ = writeln!(text, "{}: {}", shown::escaped(flow), shown::escaped(remark));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    match &summary.attribution {
        Some(made) => text.push_str(&attribution_text::render(made)),
        None => text.push_str(&brief::render(summary, output.full)),
    }
    if let Some(events) = comparison.audited {
        let _ = writeln!(text, "audit: {} checked, no violation", counted(events, "event"));
    }
    let Some(timelines) = written else { return text };
    if let Some(out) = &output.out {
        let _ = writeln!(text, "results: {}", shown::path(out));
    }
    if let Some(report) = &output.report {
        let _ = writeln!(text, "report: {}", shown::path(report));
    }
    if !timelines.is_empty() {
        let names: Vec<_> = timelines.iter().map(|name| shown::path(name)).collect();
        let it = if names.len() > 1 { "them" } else { "it" };
        let _ = writeln!(text, "timeline: {} (ui.perfetto.dev opens {it})", names.join(", "));
    }
    text
}

/// The command line, to reproduce the results.
pub(crate) fn command() -> String {
    arguments::command_line()
}

pub(crate) fn rayon_threads(jobs: u16) -> Result<(), Failure> {
    flashlane_sim::use_threads(jobs).map_err(Failure::Fault)
}
