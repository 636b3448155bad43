//! A comparison repeated with other seeds: other states of the drive and, of flows that are drawn, other requests.
//!
//! Promises that how often it is repeated follows from the scenario and its requests, never from the clock, and that everything but
//! `replications` and `deciding` is what a comparison that is not repeated gives.

use super::compare::{Comparison, Options, compare_counted, expected};
use super::deciding;
use super::further::{Further, MOST_REQUESTS};
use super::prepare::{Prepared, prepare};
use crate::error::RunError;
use flashlane_report::results::{Replications, SeedRun, SeedsBecause};
use flashlane_scenario::Scenario;
use flashlane_ssd::config::Precondition;

/// Seeds in all, unless the scenario says how many.
const SEEDS: u64 = 5;

/// How often a comparison is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    seeds: u64,
    because: SeedsBecause,
}

impl Plan {
    /// The plan for a scenario before it is known how many requests it has; `None` where one scheduler runs once.
    fn of(scenario: &Scenario, prepared: &Prepared) -> Result<Option<Plan>, RunError> {
        let several = prepared.schedulers.len() > 1;
        let replayed = matches!(prepared.config.precondition, Precondition::Replayed { .. });
        let (seeds, because) = match scenario.seeds()? {
            Some(1) | None if !several => return Ok(None),
            Some(seeds) => (seeds, SeedsBecause::Asked),
            None if scenario.state_file().is_some() || prepared.is_as_recorded() => (1, SeedsBecause::State),
            None if replayed => (1, SeedsBecause::Replayed),
            None => (SEEDS, SeedsBecause::Few),
        };
        Ok(Some(Plan { seeds, because }))
    }

    /// The most requests of the schedulers' runs, together, for which it stays.
    fn most(self) -> u64 {
        if self.because == SeedsBecause::Few { MOST_REQUESTS } else { u64::MAX }
    }

    /// The plan once these requests are known.
    fn settled(self, requests: u64) -> Plan {
        if requests > self.most() { Plan { seeds: 1, because: SeedsBecause::Many } } else { self }
    }
}

/// Compares as [`compare_prepared`](super::compare::compare_prepared) does, and makes the runs of all schedulers again under further seeds: as many as
/// the scenario says, or five in all where that takes little. Then looks for the decision behind the largest gain and the largest loss.
///
/// # Errors
/// As [`compare`](super::compare).
pub fn compare_repeated(
    scenario: &Scenario,
    prepared: &Prepared,
    options: &Options<'_>,
) -> Result<Comparison, RunError> {
    let expected = expected(prepared);
    let Some(plan) = Plan::of(scenario, prepared)? else {
        return compare_counted(scenario, prepared, options, &expected);
    };
    let expected = expected.repeated(plan.seeds - 1, plan.most());
    let mut made = compare_counted(scenario, prepared, options, &expected)?;
    let requests = made.summary.schedulers.iter().map(|run| run.total.issued).sum();
    let plan = plan.settled(requests);
    let mut runs: Vec<SeedRun> = made.summary.schedulers.iter().map(|run| SeedRun::of(scenario.seed(), run)).collect();
    if plan.seeds > 1 {
        let further = Further { prepared, options, expected: &expected, flows: &made.summary.flows };
        runs.extend(under_further_seeds(scenario, &further, plan.seeds, &mut made.audited)?);
        made.summary.deciding = deciding::find(scenario, &further, &made.summary)?;
    }
    let drawn = prepared.flows.iter().filter(|flow| flow.source.is_drawn()).map(|flow| flow.name.clone()).collect();
    let seeds = (0..plan.seeds).map(|by| scenario.seed().wrapping_add(by)).collect();
    made.summary.replications = Some(Replications { seeds, because: plan.because, requests, drawn, runs });
    Ok(made)
}

/// A row for each further seed and scheduler.
fn under_further_seeds(
    scenario: &Scenario,
    further: &Further<'_>,
    seeds: u64,
    audited: &mut Option<u64>,
) -> Result<Vec<SeedRun>, RunError> {
    let prepared = |by| Ok(prepare(&scenario.with_shifted_seed(by))?.for_figures_beside(further.prepared));
    let all = (1..seeds).map(prepared).collect::<Result<Vec<Prepared>, RunError>>()?;
    let schedulers = further.prepared.schedulers.len();
    let mut rows = Vec::new();
    for (i, made) in further.runs(&all)?.into_iter().enumerate() {
        let seed = all[i / schedulers].seed;
        let made = made.map_err(|error| under_seed(error, seed))?;
        *audited = audited.zip(made.audited).map(|(all, events)| all + events);
        rows.push(SeedRun::of(seed, &made.result));
    }
    Ok(rows)
}

/// An error that names the seed: the user may not have asked for it.
fn under_seed(error: RunError, seed: u64) -> RunError {
    let named = |message| format!("under seed {seed}: {message}; with `--seeds 1` only the scenario's own seed is run");
    match error {
        RunError::Device(message) => RunError::Device(named(message)),
        RunError::Input(message) => RunError::Input(named(message)),
        RunError::Fault(message) => RunError::Fault(format!("under seed {seed}: {message}")),
        other => other,
    }
}
