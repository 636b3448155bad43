//! Slacker and its parts against the baseline on all workloads (SLK-E6 to E12 and E14, from one set of runs), by request
//! size (E13), and what a decision may cost (E18).

use super::workloads::{BASELINE, WorkloadRun, run_all};
use crate::{Measurements, Runner};
use flashlane_report::results::SchedulerResult;
use flashlane_scenario::workload::clone::{Group, SlackerTrace};
use flashlane_scenario::{Mix, SchedulerChoice};
use flashlane_sim::RunError;

/// The systems of section 7, the baseline first, and one of ours (model 1.1.9).
const SYSTEMS: [&str; 7] = [BASELINE, "wbyp", "rbyp", "wp", "rbyp+wp", "slacker", "need"];

/// Runs SLK-E6 to E12 and E14.
pub fn all(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    for made in run_all(runner, SlackerTrace::all(), &SYSTEMS, |_| ())? {
        let name = made.workload.name.as_str();
        for run in &made.figures.schedulers[1..] {
            add(&mut figures, run, name);
        }
    }
    contributions(&mut figures);
    Ok(figures)
}

/// Adds the figures of one run compared with the baseline's.
fn add(figures: &mut Measurements, run: &SchedulerResult, name: &str) {
    let Some(paired) = &run.paired else { return };
    let (all, system) = (&paired.all, run.name.as_str());
    let percent = |count: u64| 100.0 * count as f64 / all.requests as f64;
    figures.push_some(&["improvement", system, name], all.improvement_percent);
    figures.push_some(&["gain_per_request", system, name], all.gain_percent_per_request);
    figures.push_some(&["p95_improvement", system, name], all.p95_improvement_percent);
    for (what, count) in [("faster", all.faster), ("equal", all.equal), ("slower", all.slower)] {
        figures.push(&["pairs_percent", what, system, name], percent(count));
    }
    let touched = &run.touched;
    for (what, count) in [
        ("reads_jumped", touched.read_jumped),
        ("writes_jumped", touched.write_jumped),
        ("in_pauses", touched.in_pause),
    ] {
        figures.push(&["touched_percent", system, what, name], percent(count));
    }
}

/// The improvement by the system of a given name.
type Gains<'a> = dyn Fn(&str) -> f64 + 'a;

/// How the improvements of the parts compare on each workload, counted by group: of the mean, and a request.
fn contributions(figures: &mut Measurements) {
    for (measure, counted) in [("improvement", "systems"), ("gain_per_request", "systems_per_request")] {
        for group in [Group::WriteIntensive, Group::Balanced, Group::ReadIntensive] {
            let workloads: Vec<SlackerTrace> =
                SlackerTrace::all().into_iter().filter(|workload| workload.group == group).collect();
            let count = |holds: fn(&Gains<'_>) -> bool| {
                let of = |workload: &SlackerTrace| {
                    let gain = |system: &str| figures.mean(&[measure, system, &workload.name]).unwrap_or(f64::NAN);
                    holds(&gain)
                };
                workloads.iter().filter(|workload| of(workload)).count() as f64
            };
            let adds_up = count(|gain| gain("slacker") >= gain("wbyp").max(gain("rbyp+wp")) - 1.0);
            let writes = count(|gain| gain("wbyp") > gain("rbyp").max(gain("wp")));
            let reads = count(|gain| gain("rbyp") > gain("wp"));
            figures.push(&[counted, "at_least_its_parts", group.name()], adds_up);
            figures.push(&[counted, "wbyp_is_largest", group.name()], writes);
            figures.push(&[counted, "rbyp_over_wp", group.name()], reads);
        }
    }
}

/// Runs SLK-E13: prxy0 and prn0 under Slacker, by size of the request.
pub fn by_size(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let workloads = vec![SlackerTrace::named("prxy0")?, SlackerTrace::named("prn0")?];
    let mut figures = Measurements::default();
    for made in run_all(runner, workloads, &[BASELINE, "slacker"], |document| document.run.slack = Some(true))? {
        let WorkloadRun { workload, figures: made } = &made;
        let [base, slacker] = &made.schedulers[..] else { unreachable!("two schedulers") };
        let (Some(paired), Some(slack)) = (&slacker.paired, &base.slack) else { continue };
        for size in &paired.by_size {
            let pages = if size.and_more { format!("{} and more", size.pages) } else { size.pages.to_string() };
            let path = |what: &'static str| ["by_size", workload.name.as_str(), what];
            let mut push = |what, value: Option<f64>| {
                let [a, b, c] = path(what);
                figures.push_some(&[a, b, c, &pages], value);
            };
            push("pages", Some(f64::from(size.pages)));
            push("share_percent", Some(100.0 * size.requests as f64 / paired.all.requests as f64));
            push("improvement_percent", size.improvement_percent);
            push("gain_percent_per_request", size.gain_percent_per_request);
            let mean = slack.by_size.iter().find(|s| s.pages == size.pages).map(|s| s.mean_ns / 1e6);
            push("slack_ms", mean);
        }
    }
    Ok(figures)
}

/// Runs SLK-E18: Slacker with decisions that take time.
pub fn decision_cost(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let workloads = ["prxy0", "src2-0-p", "hm1"].map(SlackerTrace::named).into_iter().collect::<Result<Vec<_>, _>>()?;
    let costing = |ns: u64| {
        SchedulerChoice::Mix(Box::new(Mix {
            name: Some(format!("{ns}_ns")),
            base: Some("slacker".into()),
            parameters: [("decision_ns".to_string(), ns)].into(),
            ..Mix::default()
        }))
    };
    let mut figures = Measurements::default();
    let made = run_all(runner, workloads, &["slacker"], |document| {
        document.schedulers = Some([0, 1_000, 5_000].map(costing).into());
    })?;
    for WorkloadRun { workload, figures: made } in &made {
        for run in &made.schedulers[1..] {
            let improvement = run.paired.as_ref().and_then(|paired| paired.all.improvement_percent);
            figures.push_some(&["decision_cost", "change_percent", &run.name, &workload.name], improvement.map(|i| -i));
        }
    }
    Ok(figures)
}
