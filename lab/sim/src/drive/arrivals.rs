//! When requests arrive, known without a run: for callers that divide a workload.

use flashlane_core::Time;

use super::prepare::Prepared;
use crate::error::RunError;
use crate::run::flow_state::{BEYOND, FlowState};
use crate::run::next_times::NextTimes;

/// Requests of a scenario, all flows together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Requests {
    /// Those that a run issues.
    pub issued: u64,
    /// Those of them that count, which come after the warm-up.
    pub counted: u64,
}

/// The place of a request in a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Requests issued before it.
    pub before: u64,
    /// When it arrives.
    pub at: Time,
}

/// How many requests `prepared` has; `None` where that depends on the scheduler, because a flow is a closed loop.
///
/// # Errors
/// Bad input found on the way.
pub fn requests(prepared: &Prepared) -> Result<Option<Requests>, RunError> {
    let mut found = Requests::default();
    let is_open = walk(prepared, |_, counts| {
        found.issued += 1;
        found.counted += u64::from(counts);
        true
    })?;
    Ok(is_open.then_some(found))
}

/// The counted requests of `prepared` with these numbers, which ascend and count from 0; fewer where it has fewer. None where a flow is a
/// closed loop.
///
/// # Errors
/// Bad input found on the way.
pub fn places(prepared: &Prepared, wanted: &[u64]) -> Result<Vec<Place>, RunError> {
    let (mut before, mut counted, mut found) = (0, 0, Vec::new());
    walk(prepared, |at, counts| {
        if counts {
            while wanted.get(found.len()) == Some(&counted) {
                found.push(Place { before, at });
            }
            counted += 1;
        }
        before += 1;
        found.len() < wanted.len()
    })?;
    Ok(found)
}

/// Tells `each` the arrival of every request in their order, and whether it counts, until it wants no more. False, with nothing told, if a
/// flow is a closed loop.
fn walk(prepared: &Prepared, mut each: impl FnMut(Time, bool) -> bool) -> Result<bool, RunError> {
    let feeds = (0..prepared.flows.len()).map(|flow| prepared.feed(flow)).collect::<Result<Vec<_>, _>>()?;
    if feeds.iter().any(crate::run::feed::Feed::is_closed_loop) {
        return Ok(false);
    }
    let limits = prepared.limits;
    let end = limits.end.min(BEYOND);
    let mut flows: Vec<FlowState> = feeds.into_iter().map(|feed| FlowState::new(Some(feed), 0)).collect();
    let mut warm_up = vec![limits.warm_up_requests; flows.len()];
    let mut times = NextTimes::new(flows.len());
    for (flow, state) in flows.iter_mut().enumerate() {
        times.set(flow, state.draw(end)?);
    }
    for _ in 0..limits.requests {
        let Some((at, flow)) = times.earliest() else { break };
        let counts = at >= limits.warm_up && warm_up[flow] == 0;
        warm_up[flow] = warm_up[flow].saturating_sub(1);
        if !each(at, counts) {
            break;
        }
        times.set(flow, flows[flow].draw(end)?);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::prepare::prepare;
    use crate::{Options, compare_prepared};
    use flashlane_scenario::Scenario;

    const FLOWS: &str = "schedulers = [\"fcfs\"]\ndevice = \"unit-cycle\"\n\
        [[flow]]\nsynthetic = { read_ratio = 0.5, size = { constant = 2048 }, rate_iops = 100_000, requests = 200 }\n\
        [[flow]]\nsynthetic = { read_ratio = 0, size = { constant = 2048 }, rate_iops = 30_000, requests = 100 }\n";

    fn prepared(run: &str, flows: &str) -> Prepared {
        let scenario = Scenario::parse("arrivals.toml", format!("{flows}[run]\nalone = false\n{run}")).expect("legal");
        prepare(&scenario).expect("legal")
    }

    /// The same numbers as a run finds, whatever leaves requests out.
    #[test]
    fn requests_are_counted_as_a_run_counts_them() {
        for run in ["", "requests = 150", "warm_up_ms = 1", "warm_up_requests = 20", "duration_ms = 2\nwarm_up_ms = 1"]
        {
            let prepared = prepared(run, FLOWS);
            let options = Options { audit: false, rows: None, activity: false, progress: None };
            let made = compare_prepared(&prepared_scenario(run), &prepared, &options).expect("runs").summary;
            let total = &made.schedulers[0].total;
            let counted = total.all.as_ref().map_or(0, |all| all.requests);
            let found = requests(&prepared).expect("sound").expect("open");
            assert_eq!(found, Requests { issued: total.issued, counted }, "{run}");
            assert!(counted > 0 && (run.is_empty() || counted < 300), "{run}: {counted}");
        }
    }

    fn prepared_scenario(run: &str) -> Scenario {
        Scenario::parse("arrivals.toml", format!("{FLOWS}[run]\nalone = false\n{run}")).expect("legal")
    }

    #[test]
    fn a_run_that_ends_before_a_place_has_the_requests_before_it() {
        let whole = prepared("warm_up_requests = 20", FLOWS);
        let found = places(&whole, &[0, 100, 259, 260]).expect("sound");
        assert_eq!(found.len(), 3, "260 requests count");
        for (place, counted) in found.iter().zip([0, 100, 259]) {
            let part = prepared(&format!("warm_up_requests = 20\nrequests = {}", place.before), FLOWS);
            assert_eq!(requests(&part).expect("sound"), Some(Requests { issued: place.before, counted }));
        }
        assert!(found.windows(2).all(|pair| pair[0].at < pair[1].at));
    }

    #[test]
    fn a_closed_loop_is_not_known_before_the_run() {
        let flow = "[[flow]]\nsynthetic = { arrivals = \"closed-loop\", requests = 20 }\n";
        let closed = prepared("", &format!("{FLOWS}{flow}"));
        assert_eq!(requests(&closed).expect("sound"), None);
        assert!(places(&closed, &[0]).expect("sound").is_empty());
    }
}
