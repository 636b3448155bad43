//! Which requests Slacker slows down, by how much, and why (SLK-E19): with estimated and with true slack, on the bus of the setting, on
//! one for which chips do not wait, and with one channel per chip.
//!
//! §4.3 says that only mis-estimates slow a request down. True slack has no mis-estimates; with one channel per chip,
//! chips no longer delay each other, and transfers take as long as before.

use flashlane_core::RequestId;
use flashlane_core::event::{Event, Stamped};
use flashlane_scenario::workload::clone::SlackerTrace;
use flashlane_scenario::{Document, Scenario, Word};
use flashlane_sim::{ObserverOptions, RunError, run_observed};
use flashlane_ssd::config::Dispatch;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::workloads::{BASELINE, WorkloadRun, documents, run_all};
use crate::{Measurements, Runner};

/// Percent of its own time that a request must lose to count as slower.
const TOLERANCES: [f64; 3] = [0.1, 1.0, 5.0];
/// Smaller differences do not count, ns (model 1.2).
const MIN_NS: u64 = 1_000;

/// A channel for each of the 16 chips. Pages are striped over the same chips in the same order.
pub(super) fn own_channels(document: &mut Document) {
    let geometry = &mut document.device.geometry;
    (geometry.channels, geometry.chips_per_channel) = (Some(16), Some(1));
}

/// Chips begin what they can, and then wait for the bus.
fn eager(document: &mut Document) {
    document.device.bus.dispatch = Some(Word(Dispatch::Eager));
}

/// Name of a variant, the schedulers that run on it, and how its device differs from that of the setting.
type Variant = (&'static str, &'static [&'static str], fn(&mut Document));

const VARIANTS: [Variant; 3] = [
    ("as_set", &[BASELINE, "slacker", "oracle-slack"], |_| ()),
    ("eager", &[BASELINE, "slacker"], eager),
    ("own_channels", &[BASELINE, "slacker", "oracle-slack"], own_channels),
];

/// Runs SLK-E19.
pub fn slowed(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    for (variant, systems, change) in VARIANTS {
        for WorkloadRun { workload, figures: made } in run_all(runner, SlackerTrace::all(), systems, change)? {
            for run in &made.schedulers[1..] {
                let Some(paired) = &run.paired else { continue };
                let path = |what: &'static str| ["slowed", variant, what, &run.name, &workload.name];
                let percent = |count: u64| 100.0 * count as f64 / paired.all.requests as f64;
                figures.push(&path("slower_percent"), percent(paired.all.slower));
                figures.push(&path("faster_percent"), percent(paired.all.faster));
                figures.push_some(&path("improvement"), paired.all.improvement_percent);
                figures.push_some(&path("gain_per_request"), paired.all.gain_percent_per_request);
            }
        }
    }
    for (variant, _, change) in &VARIANTS[..2] {
        losses(runner, variant, *change, &mut figures)?;
    }
    Ok(figures)
}

/// How many requests are slower under Slacker by more than each of the tolerances.
fn losses(
    runner: &Runner<'_>,
    variant: &str,
    change: fn(&mut Document),
    figures: &mut Measurements,
) -> Result<(), RunError> {
    let runs = documents(runner, SlackerTrace::all(), &[BASELINE, "slacker"], change)?;
    for (workload, losses) in runner.kept(Losses::NAME, runs, Losses::of)? {
        for (tolerance, count) in TOLERANCES.iter().zip(losses.slower) {
            let path = ["slower_beyond_percent", &tolerance.to_string(), variant, &workload.name];
            figures.push(&path, 100.0 * count as f64 / losses.requests.max(1) as f64);
        }
    }
    Ok(())
}

/// How much requests lose under the second scheduler of a scenario, beside the first.
#[derive(Default, PartialEq, Debug, Serialize, Deserialize)]
struct Losses {
    requests: u64,
    /// Requests that are slower by more than each of [`TOLERANCES`].
    slower: [u64; TOLERANCES.len()],
}

impl Losses {
    const NAME: &'static str = "losses 1";

    fn of(scenario: &Scenario) -> Result<Losses, RunError> {
        let document = scenario.document();
        let schedulers = document.schedulers.clone().unwrap_or_default();
        let mut times = Vec::new();
        for scheduler in schedulers.iter().take(2) {
            let document = Document { schedulers: Some([scheduler.clone()].into()), ..document.clone() };
            times.push(response_times(&Scenario::from_document("E19", document))?);
        }
        let warm_up = document.run.warm_up_requests.unwrap_or(0) as usize;
        Ok(Losses::between(&times[0][warm_up..], &times[1][warm_up..]))
    }

    /// Compares response times in ns, request by request.
    fn between(before: &[u64], after: &[u64]) -> Losses {
        let mut losses = Losses::default();
        for (&before, &after) in before.iter().zip(after) {
            losses.requests += 1;
            for (count, percent) in losses.slower.iter_mut().zip(TOLERANCES) {
                let tolerance = ((before as f64 * percent / 100.0) as u64).max(MIN_NS);
                *count += u64::from(after > before + tolerance);
            }
        }
        losses
    }
}

/// The response times of all requests in the order of their arrivals, ns.
fn response_times(scenario: &Scenario) -> Result<Vec<u64>, RunError> {
    let mut times = Vec::new();
    let mut under_way: FxHashMap<RequestId, (usize, u64)> = FxHashMap::default();
    let mut observe = |stamped: &Stamped| {
        if let Event::Submitted { request, arrival, .. } = stamped.event {
            under_way.insert(request, (times.len(), arrival.ns()));
            times.push(0);
        } else if let Event::Completed { request } = stamped.event
            && let Some((number, arrival)) = under_way.remove(&request)
        {
            times[number] = stamped.at.ns() - arrival;
        }
    };
    run_observed(scenario, ObserverOptions { events: Some(&mut observe), ..ObserverOptions::default() })?;
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::super::workloads::document;
    use super::*;
    use crate::{Place, Setting, Settings};

    #[test]
    fn losses_are_counted_by_what_a_request_loses_of_its_own_time() {
        let before = [1_000_000, 1_000_000, 1_000_000, 1_000_000, 100_000];
        let after = [1_001_001, 1_001_000, 1_050_001, 900_000, 100_900];
        // 0.1 % of a millisecond is a microsecond, and so is the least that counts for 100 us.
        assert_eq!(Losses::between(&before, &after), Losses { requests: 5, slower: [2, 1, 1] });
    }

    /// What a paired comparison counts beyond 0.1 % is what is counted here.
    #[test]
    fn the_smallest_tolerance_is_the_one_of_pairs() {
        let settings = Settings::quick(Setting::Chosen);
        let runner = Runner::new(&settings, Place::default());
        let workload = SlackerTrace::named("hm1").expect("a row");
        let document = document(&runner, &workload, 2_000, 1, &[BASELINE, "slacker"]).expect("no traces are read");
        let losses = runner.kept(Losses::NAME, vec![((), document.clone())], Losses::of).expect("it runs").remove(0).1;
        let made = runner.compare(vec![((), document)]).expect("it runs").remove(0).1;
        let pairs = &made.schedulers[1].paired.as_ref().expect("two schedulers").all;
        assert_eq!((losses.requests, losses.slower[0]), (pairs.requests, pairs.slower));
        assert!(pairs.slower > 0);
    }

    /// One difference at a time, and chips keep their number and their order.
    #[test]
    fn the_variants_change_the_bus_and_nothing_else() {
        let settings = Settings::quick(Setting::Chosen);
        let runner = Runner::new(&settings, Place::default());
        let workload = SlackerTrace::named("hm1").expect("a row");
        let plain = document(&runner, &workload, 1_000, 1, &[BASELINE]).expect("no traces are read");
        let config = |change: fn(&mut Document)| {
            let mut document = plain.clone();
            change(&mut document);
            Scenario::from_document("E19", document).device_config().expect("a device")
        };
        let (set, own, unwaited) = (config(|_| ()), config(own_channels), config(eager));
        assert_eq!(own.geometry.channels * own.geometry.chips_per_channel, 16);
        assert_eq!(set.geometry.channels * set.geometry.chips_per_channel, 16);
        assert_eq!(unwaited.geometry, set.geometry);
        assert_ne!(unwaited.bus.dispatch, set.bus.dispatch);
        assert_eq!(own.bus.dispatch, set.bus.dispatch);
        for other in [&own, &unwaited] {
            assert_eq!(format!("{:?}", other.nand), format!("{:?}", set.nand));
        }
    }
}
