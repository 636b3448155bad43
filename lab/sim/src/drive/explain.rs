//! Single requests of a scenario's first scheduler: which were slow, and what they went through.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use flashlane_core::event::{Event, Stamped};
use rustc_hash::FxHashMap;

use super::compare::run_observed;
use super::prepare::prepare;
use crate::error::RunError;
use crate::plan::decisions;
use crate::run::observers::ObserverOptions;
use flashlane_report::results::Decisions;
use flashlane_report::results::explain::{Explainer, RequestHistory};
use flashlane_scenario::Scenario;
use flashlane_sched::catalogue::Recipe;

/// Which scheduler decides when: the scenario's first one, then those to which its record changes.
pub struct Deciders(Vec<(u64, String, Decisions)>);

impl Deciders {
    /// Those of a run of this scenario.
    ///
    /// # Errors
    /// Anything wrong with the scenario that shows without a run.
    pub fn of(scenario: &Scenario) -> Result<Deciders, RunError> {
        let prepared = prepare(scenario)?;
        let (name, recipe) = &prepared.schedulers[0];
        let all = [(0, name.as_str(), recipe)].into_iter().chain(prepared.changes.schedulers());
        let named = |(ns, name, recipe): (u64, &str, &Recipe)| {
            (ns, name.to_owned(), decisions::shown(&prepared.catalogue, recipe))
        };
        Ok(Deciders(all.map(named).collect()))
    }

    /// The scheduler of a request that came at this instant, and its decisions. The drive drains for a change: it decides all of the
    /// request.
    pub fn at(&self, arrival_ns: u64) -> (&str, &Decisions) {
        let (_, name, decisions) = self.0.iter().rfind(|(ns, ..)| *ns <= arrival_ns).unwrap_or(&self.0[0]);
        (name, decisions)
    }
}

/// The numbers of the `count` slowest requests, the slowest first; of equals the first.
///
/// # Errors
/// As [`run_observed`].
pub fn slowest(scenario: &Scenario, count: usize) -> Result<Vec<u64>, RunError> {
    let mut arrivals: FxHashMap<u64, u64> = FxHashMap::default();
    let mut slowest: Vec<(u64, Reverse<u64>)> = Vec::new();
    let keep = |slowest: &mut Vec<(u64, Reverse<u64>)>| {
        slowest.sort_unstable_by(|a, b| b.cmp(a));
        slowest.truncate(count);
    };
    let mut watch = |stamped: &Stamped| {
        if let Event::Submitted { request, arrival, .. } = stamped.event {
            arrivals.insert(request.0, arrival.ns());
        } else if let Event::Completed { request } = stamped.event
            && let Some(arrival) = arrivals.remove(&request.0)
        {
            slowest.push((stamped.at.ns() - arrival, Reverse(request.0)));
            if slowest.len() > 1_000 + 2 * count {
                keep(&mut slowest);
            }
        }
    };
    run_observed(scenario, ObserverOptions { events: Some(&mut watch), ..ObserverOptions::default() })?;
    keep(&mut slowest);
    Ok(slowest.into_iter().map(|(_, request)| request.0).collect())
}

/// What requests went through.
#[derive(Debug)]
pub struct Histories {
    /// In the order of their numbers; those that do not exist are left out.
    pub found: Vec<RequestHistory>,
    /// How many requests flows asked for.
    pub requests: u64,
    /// Of those that were merged into another, with which they went to the drive, that one: its history is there in place of theirs.
    pub merged: BTreeMap<u64, u64>,
}

impl Histories {
    /// The history of a request, or of the one that it was merged into.
    pub fn of(&self, request: u64) -> Option<&RequestHistory> {
        let number = *self.merged.get(&request).unwrap_or(&request);
        self.found.iter().find(|history| history.request == number)
    }
}

/// What `requests` went through.
///
/// # Errors
/// As [`run_observed`].
pub fn histories(scenario: &Scenario, requests: &[u64]) -> Result<Histories, RunError> {
    let mut explainer = Explainer::new(scenario.device_config()?.geometry, requests);
    let mut watch = |stamped: &Stamped| explainer.observe(stamped);
    let observers = ObserverOptions { events: Some(&mut watch), merged: true, ..ObserverOptions::default() };
    let outcome = run_observed(scenario, observers)?;
    let made: BTreeMap<u64, u64> = outcome.merged.into_iter().filter(|(own, _)| requests.contains(own)).collect();
    let mut all = Histories {
        found: explainer.finish(),
        requests: outcome.flows.iter().map(|flow| flow.issued()).sum(),
        merged: BTreeMap::new(),
    };
    if !made.is_empty() {
        // Which request that will be is known only after the run.
        let others: Vec<u64> = made.values().filter(|other| !requests.contains(other)).copied().collect();
        all.found.extend(histories(scenario, &others)?.found);
        all.found.sort_by_key(|history| history.request);
        all.merged = made;
    }
    Ok(all)
}
