//! `flashlane explain`: what one request went through, in words.

use flashlane_outputs::shown::escaped;
use flashlane_report::results::explain;
use flashlane_scenario::{Scenario, SchedulerChoice};
use flashlane_sim::{Deciders, histories, prepare, slowest};

use crate::args::Workload;
use crate::fail::Failure;
use crate::memory;
use crate::plan;
use crate::run::chosen;
use crate::text::print;

/// Which requests are explained.
pub enum Which {
    /// The one with this number.
    One(u64),
    /// The N slowest.
    Worst(usize),
}

/// Explains requests under `scheduler`, and why they took another time under `beside`.
pub fn act(workload: &Workload, scheduler: Option<&str>, which: &Which, beside: Option<&str>) -> Result<(), Failure> {
    let scenario = plan::scenario(workload)?;
    plan::seeds_are_unused(&scenario, "explain");
    let first = match scheduler {
        Some(name) => name.to_owned(),
        None => scenario.schedulers()?[0].name(),
    };
    let names: Vec<&str> = std::iter::once(first.as_str()).chain(beside).collect();
    let mut choices = match scheduler.or(beside) {
        Some(_) => chosen(workload, &scenario, "--scheduler and --beside", &names)?,
        None => vec![scenario.schedulers()?.swap_remove(0)],
    };
    let other = beside.and_then(|_| choices.pop());
    let choice = choices.swap_remove(0);
    let one = under(&scenario, choice);
    let prepared = prepare(&one)?;
    memory::check(&prepared)?;
    let notes: String = plan::remarks(&scenario) + &plan::not_measured(&scenario)?;
    let notes = notes + &prepared.notes().iter().map(|note| format!("record: {}\n", escaped(note))).collect::<String>();
    drop(prepared);
    let requests = match which {
        Which::One(request) => vec![*request],
        Which::Worst(count) => slowest(&one, *count)?,
    };
    let config = one.device_config()?;
    let flows: Vec<String> = one.flows(&config)?.into_iter().map(|flow| flow.name).collect();
    let own = histories(&one, &requests)?;
    if own.found.is_empty() {
        let Which::One(request) = which else { return Err(Failure::Input("no request completed".into())) };
        let (of, last) = (own.requests, own.requests.saturating_sub(1));
        let message = format!("there is no such request; there are {of}, counted from 0 to {last}");
        return Err(Failure::Input(format!("--request {request}: {message}")));
    }
    let other = other.map(|choice| under(&scenario, choice));
    let others = other.as_ref().map(|other| histories(other, &requests)).transpose()?;
    let deciders = Deciders::of(&one)?;
    let mut text = if notes.is_empty() { notes } else { notes + "\n" };
    for request in &requests {
        let Some(history) = own.of(*request) else { continue };
        if let Some(other) = own.merged.get(request) {
            text.push_str(&format!("Request {request} was merged into request {other}, and completed with it (rows have its own arrival and waits):\n"));
        }
        let (name, decisions) = deciders.at(history.arrival_ns);
        text.push_str(&explain::history(history, name, decisions, &flows));
        if let (Some(other), Some(same)) = (&other, others.as_ref().and_then(|others| others.of(*request))) {
            text.push_str(&explain::difference((history, name), (same, &scheduler_name(other)?), &flows));
        }
        text.push('\n');
    }
    print(&text)
}

/// The scenario with one scheduler.
fn under(scenario: &Scenario, choice: SchedulerChoice) -> Scenario {
    let mut own = scenario.clone();
    own.set("scheduler", "--scheduler", |document| {
        document.scheduler = Some(choice);
        document.schedulers = None;
        document.run.baseline = None;
        document.run.alone = Some(false);
    });
    own
}

fn scheduler_name(scenario: &Scenario) -> Result<String, Failure> {
    Ok(scenario.schedulers()?.swap_remove(0).name())
}
