//! How a workload is divided: the parts that a scheduler is chosen on, and what is held out to judge it.
//!
//! Where a flow has requests of its own (a trace, requests written out), its first half chooses, and the second half judges, on the drive
//! as the first half left it. Where all flows are synthetic, the scenario's seed chooses and others judge. Rounds before the last
//! run less of the choosing part, with more schedulers.

use flashlane_report::results::format::count;
use flashlane_report::results::{SchedulerResult, Summary};
use flashlane_scenario::{Document, Scenario};
use flashlane_sim::{Place, Requests, RunError, places, prepare, requests};

/// The fewest requests to choose by.
pub(super) const LEAST: u64 = 2_000;
/// The fewest requests of a part.
const LEAST_OF_PART: u64 = 500;
/// The shortest time that is divided, ms.
const LEAST_MS: u64 = 64;
/// Which share of the choosing part each round runs, in sixteenths.
const SHARES: [u64; 3] = [1, 4, 16];
/// How many other seeds judge.
const SEEDS: u64 = 3;

/// Where a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Where the scenario ends.
    Whole,
    /// After this many requests.
    Requests(u64),
    /// At this time, ms.
    Millis(u64),
}

/// What judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The scenario with this seed, and flows' own seeds shifted as much.
    Shifted(u64),
    /// What comes after this many requests of the one flow.
    AfterRequests(u64),
    /// What comes from this time on, ms.
    From(u64),
}

/// A workload, divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// Requests that count, of the whole.
    pub requests: u64,
    /// Where the runs of each round end, ever later.
    pub rounds: Vec<Cut>,
    /// What judges.
    pub held: Vec<Held>,
    /// What chooses, in words.
    pub chosen_on: String,
    /// What judges, in words.
    pub judged_on: String,
}

/// A workload, or why it cannot be divided.
#[derive(Debug)]
pub(super) enum Division {
    /// It can.
    Parts(Parts),
    /// It has too few requests: their number, and why that is too few.
    TooFew(u64, String),
}

/// How many requests a scenario has.
enum Load {
    /// The same for every scheduler.
    Open(Requests),
    /// It depends on the scheduler; under one of them it was this, and the last came at this time, ns.
    Closed(Requests, u64),
}

/// Divides the workload of `scenario`. `run` makes its run under the default scheduler, where only that shows how many requests come.
///
/// # Errors
/// Bad input found on the way, or what `run` says.
pub(super) fn divide(
    scenario: &Scenario,
    run: impl FnOnce() -> Result<Summary, RunError>,
) -> Result<Division, RunError> {
    let load = match requests(&prepare(scenario)?)? {
        Some(all) => Load::Open(all),
        None => closed(&run()?.schedulers[0]),
    };
    let counted = match load {
        Load::Open(all) | Load::Closed(all, _) => all.counted,
    };
    if counted < LEAST {
        let why = format!("a choice needs at least {}", count(LEAST));
        return Ok(Division::TooFew(counted, why));
    }
    let is_drawn = is_drawn(scenario)?;
    let whole = if is_drawn { counted } else { counted / 2 };
    let shares = SHARES.map(|share| (whole * share / 16).max(LEAST_OF_PART.min(whole)));
    let mut ends: Vec<u64> = shares.to_vec();
    ends.dedup();
    let Some(mut rounds) = cuts(scenario, &load, counted, &ends)? else {
        let why = format!("they all come within {LEAST_MS} ms, and closed loops are divided by time");
        return Ok(Division::TooFew(counted, why));
    };
    if is_drawn {
        *rounds.last_mut().expect("some") = Cut::Whole;
        let seed = scenario.seed();
        return Ok(Division::Parts(Parts {
            requests: counted,
            rounds,
            held: (1..=SEEDS).map(Held::Shifted).collect(),
            chosen_on: format!("seed {seed}"),
            judged_on: format!("seeds {} to {}", seed.wrapping_add(1), seed.wrapping_add(SEEDS)),
        }));
    }
    let held = match *rounds.last().expect("some") {
        Cut::Millis(ms) => Held::From(ms),
        Cut::Requests(before) if scenario.document().flow.len() == 1 => Held::AfterRequests(before),
        Cut::Requests(_) | Cut::Whole => {
            // Of several flows the warm-up is a time, in whole milliseconds: up to one of them judges nobody.
            let first = places(&prepare(scenario)?, &[whole])?;
            Held::From(first.first().map_or(0, |place| place.at.ns().div_ceil(1_000_000)))
        }
    };
    Ok(Division::Parts(Parts {
        requests: counted,
        rounds,
        held: vec![held],
        chosen_on: "the first half".into(),
        judged_on: "the second half, on the drive as the first half left it".into(),
    }))
}

/// Whether every flow is drawn, so that another seed gives other requests.
fn is_drawn(scenario: &Scenario) -> Result<bool, RunError> {
    let flows = scenario.flows(&scenario.device_config()?)?;
    Ok(flows.iter().all(|flow| flow.source.is_drawn()))
}

/// The load that a run found.
fn closed(run: &SchedulerResult) -> Load {
    let counted = run.total.all.as_ref().map_or(0, |all| all.requests);
    Load::Closed(Requests { issued: run.total.issued, counted }, run.total.last_arrival_ns)
}

/// Where runs end that have the first `ends` of `counted` requests that count; `None` if the time is too short to divide.
fn cuts(scenario: &Scenario, load: &Load, counted: u64, ends: &[u64]) -> Result<Option<Vec<Cut>>, RunError> {
    let document = scenario.document();
    match load {
        Load::Open(_) => {
            let found: Vec<Place> = places(&prepare(scenario)?, ends)?;
            let cut = |i: usize| found.get(i).map_or(Cut::Whole, |place: &Place| Cut::Requests(place.before));
            Ok(Some((0..ends.len()).map(cut).collect()))
        }
        Load::Closed(all, _) if document.flow.len() == 1 => {
            let warm_up = all.issued.saturating_sub(all.counted);
            Ok(Some(ends.iter().map(|end| Cut::Requests(warm_up + end)).collect()))
        }
        Load::Closed(_, last_ns) => {
            // What a closed loop sends depends on the scheduler, the time does not.
            let warm_up = document.run.warm_up_ms.unwrap_or(0);
            let length = (last_ns / 1_000_000).saturating_sub(warm_up);
            if length < LEAST_MS {
                return Ok(None);
            }
            let ms = |end: &u64| (length as u128 * u128::from(*end) / u128::from(counted)) as u64;
            Ok(Some(ends.iter().map(|end| Cut::Millis(warm_up + ms(end).max(1))).collect()))
        }
    }
}

/// The scenario that ends at `cut`.
pub(super) fn until(scenario: &Scenario, cut: Cut) -> Scenario {
    let mut scenario = scenario.clone();
    let change = |document: &mut Document| match cut {
        Cut::Whole => {}
        Cut::Requests(end) => document.run.requests = Some(end),
        Cut::Millis(end) => document.run.duration_ms = Some(end),
    };
    scenario.set("run", "recommend", change);
    scenario
}

/// The scenario whose figures are those of `held`.
pub(super) fn held_out(scenario: &Scenario, held: Held) -> Scenario {
    let mut scenario = scenario.clone();
    let change = |document: &mut Document| match held {
        Held::Shifted(_) => {}
        Held::AfterRequests(before) => document.run.warm_up_requests = Some(before),
        Held::From(ms) => document.run.warm_up_ms = Some(ms.max(document.run.warm_up_ms.unwrap_or(0))),
    };
    scenario.set("run", "recommend", change);
    if let Held::Shifted(by) = held { scenario.with_shifted_seed(by) } else { scenario }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_sim::{Options, compare};

    const DRAWN: &str = "synthetic = { read_ratio = 0.5, rate_iops = 50_000, requests = 4_000, seed = 7 }\n";

    fn scenario(run: &str, flows: &[&str]) -> Scenario {
        let flows: String = flows.iter().map(|flow| format!("[[flow]]\n{flow}")).collect();
        let text =
            format!("scheduler = \"fcfs\"\nseed = 3\ndevice = \"flin-isca18\"\n[run]\nalone = false\n{run}\n{flows}");
        Scenario::parse("s.toml", text).expect("a scenario")
    }

    fn whole(scenario: &Scenario) -> Summary {
        let options = Options { audit: false, rows: None, activity: false, progress: None };
        compare(scenario, &options).expect("runs").summary
    }

    fn parts(scenario: &Scenario) -> Parts {
        match divide(scenario, || Ok(whole(scenario))).expect("sound") {
            Division::Parts(parts) => parts,
            Division::TooFew(requests, why) => panic!("{requests}: {why}"),
        }
    }

    fn counted(scenario: &Scenario) -> u64 {
        whole(scenario).schedulers[0].total.all.as_ref().map_or(0, |all| all.requests)
    }

    #[test]
    fn drawn_flows_are_chosen_on_one_seed_and_judged_on_others() {
        let scenario = scenario("warm_up_requests = 100", &[DRAWN, DRAWN]);
        let parts = parts(&scenario);
        assert_eq!((parts.requests, parts.rounds.len()), (7800, 3));
        let counts: Vec<u64> = parts.rounds.iter().map(|cut| counted(&until(&scenario, *cut))).collect();
        assert_eq!(counts, [500, 1950, 7800]);
        assert_eq!(parts.judged_on, "seeds 4 to 6");
        let mean = |scenario: &Scenario| whole(scenario).schedulers[0].total.all.as_ref().expect("some").mean_ns;
        let mut means: Vec<f64> = parts.held.iter().map(|held| mean(&held_out(&scenario, *held))).collect();
        means.push(mean(&scenario));
        means.sort_by(f64::total_cmp);
        assert!(
            means.windows(2).all(|pair| pair[0] < pair[1]),
            "other requests each time, own seeds or not: {means:?}"
        );
    }

    fn written() -> String {
        let request =
            |i: u64| format!("[[flow.request]]\nat_ns = {}\nop = \"read\"\npages = [{}]\n", i * 10_000, i % 100);
        (0..LEAST + 1).map(request).collect()
    }

    #[test]
    fn listed_requests_and_traces_are_halved_without_overlap() {
        let own = written();
        let one = scenario("", &[&own]);
        let of_one = parts(&one);
        assert_eq!(
            (of_one.rounds.as_slice(), of_one.held.as_slice()),
            (&[Cut::Requests(500), Cut::Requests(1000)][..], &[Held::AfterRequests(1000)][..])
        );
        assert_eq!(counted(&held_out(&one, of_one.held[0])), 1001);
        let two = scenario("", &[&own, DRAWN]);
        let parts = parts(&two);
        let (chosen, judged) = (counted(&until(&two, parts.rounds[2])), counted(&held_out(&two, parts.held[0])));
        assert_eq!(chosen, parts.requests / 2);
        // A millisecond has 150 requests.
        assert!(chosen + judged <= parts.requests && chosen + judged > parts.requests - 150, "{chosen} {judged}");
    }

    #[test]
    fn closed_loops_are_divided_by_time_beside_other_flows() {
        let closed = "synthetic = { arrivals = \"closed-loop\", depth = 4, duration_s = 0.2 }\n";
        let two = scenario("warm_up_ms = 10", &[closed, DRAWN]);
        let of_two = parts(&two);
        let Cut::Millis(first) = of_two.rounds[0] else { panic!("{of_two:?}") };
        assert!((11..40).contains(&first) && of_two.rounds[2] == Cut::Whole, "{of_two:?}");
        let one = scenario("warm_up_requests = 10", &[closed]);
        let of_one = parts(&one);
        let first = Cut::Requests(10 + of_one.requests / 16);
        assert!(of_one.rounds[0] == first && of_one.rounds[2] == Cut::Whole, "{of_one:?}");
    }

    #[test]
    fn too_few_requests_are_not_divided() {
        let few = |scenario: &Scenario| match divide(scenario, || Ok(whole(scenario))).expect("sound") {
            Division::Parts(parts) => panic!("{parts:?}"),
            Division::TooFew(requests, why) => (requests, why),
        };
        let (requests, why) = few(&scenario("requests = 1999", &[DRAWN]));
        assert!(requests == 1999 && why.contains("at least 2,000"), "{why}");
        assert_eq!(parts(&scenario("requests = 2000", &[DRAWN])).requests, 2000);
        let closed = "synthetic = { arrivals = \"closed-loop\", depth = 64, duration_s = 0.03 }\n";
        let (requests, why) = few(&scenario("", &[closed, DRAWN.replace("50_000", "500_000").as_str()]));
        assert!(requests > LEAST && why.contains("within 64 ms"), "{why}");
    }
}
