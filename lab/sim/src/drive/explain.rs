//! Single requests of a scenario's first scheduler: which were slow, and what they went through.

use std::cmp::Reverse;

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

/// What `requests` went through, in the order of their numbers, and how many requests there are; those that do not exist are left out.
///
/// # Errors
/// As [`run_observed`].
pub fn histories(scenario: &Scenario, requests: &[u64]) -> Result<(Vec<RequestHistory>, u64), RunError> {
    let mut explainer = Explainer::new(scenario.device_config()?.geometry, requests);
    let mut all = 0;
    let mut watch = |stamped: &Stamped| {
        if let Event::Submitted { request, .. } = stamped.event {
            all = all.max(request.0 + 1);
        }
        explainer.observe(stamped);
    };
    run_observed(scenario, ObserverOptions { events: Some(&mut watch), ..ObserverOptions::default() })?;
    Ok((explainer.finish(), all))
}
