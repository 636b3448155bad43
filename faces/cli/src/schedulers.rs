//! `flashlane schedulers`: the catalogue, as a list or one entry in full.

use std::fmt::Write as _;

use flashlane_scenario::nearest;
use flashlane_sched::catalogue::{Question, SHADOW, SchedulerEntry};

use crate::catalogue;
use crate::fail::Failure;
use crate::text::print;

/// Lists the entries and the answers that mixes are made of, or shows the entry called `name`.
pub fn show(name: Option<&str>) -> Result<(), Failure> {
    let Some(name) = name else { return print(&list()) };
    let entry = catalogue::get().scheduler(name).ok_or_else(|| {
        let names: Vec<&str> = catalogue::get().schedulers().iter().map(|entry| entry.name).collect();
        let near = nearest(name, names.iter().copied());
        let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
        Failure::Input(format!("scheduler {name:?}: no such scheduler; there are {}{near}", names.join(", ")))
    })?;
    print(&one(entry))
}

fn list() -> String {
    let entries = catalogue::get().schedulers();
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for entry in entries {
        let _ = writeln!(text, "{:width$}  {}", entry.name, entry.summary);
        let _ = writeln!(text, "{:width$}  {}, {}", "", entry.paper, entry.section);
    }
    for (alias, of) in catalogue::get().aliases() {
        let _ = writeln!(text, "{alias:width$}  {of} by another name");
    }
    text.push_str(
        "\nA scenario may mix answers: scheduler = { base = \"fr-fcfs\", preempt = \"pause-at-boundary\" }\n",
    );
    for question in Question::ALL {
        let _ = writeln!(text, "\n{question}");
        for answer in catalogue::get().answers(question) {
            let source = if answer.source.is_empty() { String::new() } else { format!(" ({})", answer.source) };
            let _ = writeln!(text, "  {:21}  {}{source}", answer.name, answer.summary);
        }
    }
    text.push_str("\nflashlane schedulers NAME shows one with its answers and parameters.\n");
    text
}

fn one(entry: &SchedulerEntry) -> String {
    let mut text = format!("{}: {}\n{}, {}\n\nanswers\n", entry.name, entry.summary, entry.paper, entry.section);
    for (question, name) in entry.answers.iter() {
        let summary = catalogue::get().answer(question, name).map_or("", |answer| answer.summary);
        let open =
            if entry.open.contains(&question) { "; left open: a scenario's run.collect says otherwise" } else { "" };
        let _ = writeln!(text, "  {question:8} {name:21}  {summary}{open}");
    }
    let mut params = catalogue::get().params(&entry.answers);
    text.push_str("\nparameters\n");
    params.push(SHADOW);
    for p in params {
        let default = entry.set.iter().find(|(name, _)| *name == p.name).map_or(p.default, |&(_, value)| value);
        let _ = writeln!(text, "  {:15} {default} {} ({} to {})  {}", p.name, p.unit, p.min, p.max, p.help);
    }
    text
}
