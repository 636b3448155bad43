//! Streams of events of whole runs, damaged in one place: for tests of the auditor, and for the example that prints its verdicts.

use std::path::Path;

use flashlane_audit::{Auditor, Policy, Preconditioned, Start, Verdict};
use flashlane_core::event::{Event, Stamped};
use flashlane_core::{Duration, Time};
use flashlane_scenario::Scenario;
use flashlane_sched::catalogue::Recipe;
use flashlane_sim::{Deciders, ObserverOptions, run_observed};
use flashlane_ssd::Config;

/// Requests of a scenario that are run.
const REQUESTS: u64 = 120;

/// The events of a run, and what the auditor must know of it.
pub struct Stream {
    /// The scenario's name.
    pub name: String,
    /// The events.
    pub events: Vec<Stamped>,
    config: Config,
    policy: Policy,
}

impl Stream {
    /// Of the first scheduler of a scenario.
    pub fn of(file: &Path) -> Result<Stream, String> {
        let mut scenario = Scenario::load(file).map_err(|why| why.to_string())?;
        scenario.set("run", "this program", |document| {
            document.run.requests = Some(REQUESTS.min(document.run.requests.unwrap_or(u64::MAX)));
            document.run.warm_up_requests = None;
            document.run.warm_up_ms = None;
        });
        let (config, policy) = device(&scenario)?;
        let mut events = Vec::new();
        let mut keep = |stamped: &Stamped| events.push(*stamped);
        let observers = ObserverOptions { events: Some(&mut keep), ..ObserverOptions::default() };
        run_observed(&scenario, observers).map_err(|why| why.to_string())?;
        Ok(Stream { name: scenario.name().to_owned(), events, config, policy })
    }

    /// The auditor's verdict of `events`.
    pub fn audit(&self, events: &[Stamped]) -> Result<Verdict, String> {
        let start = Preconditioned::of(&self.config).ok_or("the drive's first state has no formula")?;
        let mut auditor = Auditor::new(&self.config, self.policy, Start::Formula(Box::new(start)), 20);
        events.iter().for_each(|stamped| auditor.observe(stamped));
        Ok(auditor.finish())
    }
}

/// The device of a scenario, and what its first scheduler declares.
fn device(scenario: &Scenario) -> Result<(Config, Policy), String> {
    let mut config = scenario.device_config().map_err(|why| why.to_string())?;
    let plans = scenario.flows(&config).map_err(|why| why.to_string())?;
    for (flow, plan) in config.flows.iter_mut().zip(&plans) {
        let page = u64::from(config.geometry.page_bytes);
        (flow.first_page, flow.pages) = ((plan.range.offset / page) as u32, (plan.range.length / page) as u32);
    }
    let deciders = Deciders::of(scenario).map_err(|why| why.to_string())?;
    let made = deciders.at(0).1.clone();
    let answers = made.answers();
    let answers = answers.iter().map(|(question, answer)| (question, (*answer).to_owned()));
    let recipe =
        Recipe { answers: answers.collect(), params: made.parameters.into_iter().collect(), ..Recipe::default() };
    let scheduler = scenario.catalogue().build(&recipe).map_err(|why| why.to_string())?;
    Ok((config, Policy::of(&scheduler)))
}

/// Damages the events at `place`; says how.
pub fn damage(events: &mut Vec<Stamped>, place: usize, draw: u32) -> &'static str {
    let far = (place + 1 + draw as usize / 64 % 12).min(events.len() - 1);
    match draw % 8 {
        0 => {
            events.remove(place);
            "lost"
        }
        1 => {
            events.insert(far, Stamped { at: events[far].at, event: events[place].event });
            "repeated"
        }
        2 => {
            (events[place].event, events[far].event) = (events[far].event, events[place].event);
            "swapped"
        }
        3 => {
            let late = events.remove(place);
            events.insert(far, Stamped { at: events[far - 1].at, event: late.event });
            "late"
        }
        4 => {
            let early = events.remove(far);
            events.insert(place, Stamped { at: events[place].at, event: early.event });
            "early"
        }
        _ => {
            change(&mut events[place].event, draw / 8);
            "changed"
        }
    }
}

/// Changes one number of an event by one.
fn change(event: &mut Event, draw: u32) {
    let by = |number: u64| if draw.is_multiple_of(2) { number + 1 } else { number.saturating_sub(1) };
    let field = draw / 2;
    let time = |time: &mut Time| *time = Time::from_ns(by(time.ns()));
    let length = |length: &mut Duration| *length = Duration::from_ns(by(length.ns()));
    match event {
        Event::Submitted { arrival, pages, extent, .. } => match (field % 3, extent) {
            (0, _) => time(arrival),
            (1, Some((_, bytes))) => *bytes = by(*bytes),
            _ => *pages = by((*pages).into()) as u32,
        },
        Event::PageFromMemory { request, lpn }
        | Event::PageDropped { request, lpn }
        | Event::PageInSeries { request, lpn } => match field % 2 {
            0 => lpn.0 = by(lpn.0.into()) as u32,
            _ => request.0 = by(request.0),
        },
        Event::Admitted { request } | Event::Completed { request } => request.0 = by(request.0),
        Event::Evicted { lpn } | Event::EntryLookedUp { lpn, .. } | Event::EntryArrived { lpn } => {
            lpn.0 = by(lpn.0.into()) as u32
        }
        Event::Queued { txn, lpn, plane, bytes, .. } => match field % 4 {
            0 => *txn = by(*txn),
            1 => lpn.0 = by(lpn.0.into()) as u32,
            2 => plane.0 = by(plane.0.into()) as u16,
            _ => *bytes = by((*bytes).into()) as u32,
        },
        Event::Moved { plane, .. } => plane.0 = by(plane.0.into()) as u16,
        Event::Estimated { txn, slack, .. } | Event::Ended { txn, paused: slack, .. } => match field % 2 {
            0 => *txn = by(*txn),
            _ => length(slack),
        },
        Event::Dispatched { txn, command, ppa, slack, .. } => match field % 4 {
            0 => *txn = by(*txn),
            1 => *command = by(*command),
            2 => *ppa = by((*ppa).into()) as u32,
            _ => length(slack),
        },
        Event::BusTaken { command, until, .. } | Event::ArrayStarted { command, until, .. } => match field % 2 {
            0 => *command = by(*command),
            _ => time(until),
        },
        Event::ArrayEnded { command, .. } => *command = by(*command),
        Event::Paused { command, remaining, .. } => match field % 2 {
            0 => *command = by(*command),
            _ => length(remaining),
        },
        Event::VictimChosen { plane, block, valid } => match field % 3 {
            0 => plane.0 = by(plane.0.into()) as u16,
            1 => *block = by((*block).into()) as u32,
            _ => *valid = by((*valid).into()) as u32,
        },
        Event::Mapped { lpn, plane, ppa } => match field % 3 {
            0 => lpn.0 = by(lpn.0.into()) as u32,
            1 => plane.0 = by(plane.0.into()) as u16,
            _ => *ppa = by((*ppa).into()) as u32,
        },
        Event::Padded { plane, ppa } => match field % 2 {
            0 => plane.0 = by(plane.0.into()) as u16,
            _ => *ppa = by((*ppa).into()) as u32,
        },
        Event::Unmapped { request, lpn, pages } => match field % 3 {
            0 => request.0 = by(request.0),
            1 => lpn.0 = by(lpn.0.into()) as u32,
            _ => *pages = by((*pages).into()) as u32,
        },
        Event::SlcOpened { block, .. } | Event::Erased { block, .. } => *block = by((*block).into()) as u32,
    }
}
