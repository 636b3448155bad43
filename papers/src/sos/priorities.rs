//! User priorities, which the slides name as future work: what a flow of a higher priority gains, and what the other and all pay (SOS-E6, ours).

use super::workloads::{DONE_IN, TIMES, device, document, gap_us};
use crate::{Measurements, Runner};
use flashlane_report::results::SchedulerResult;
use flashlane_scenario::workload::clone::SosBenchmark;
use flashlane_scenario::{Document, Mix, SchedulerChoice};
use flashlane_sim::RunError;

/// Each system without priorities, and with them.
const SYSTEMS: [(&str, &str); 2] = [("hos", "hos_by_priority"), ("sos", "sos_by_priority")];
/// Shares of the time for which the benchmark's requests, of both flows together, keep the chips busy.
const LOADS: [(&str, f64); 2] = [("tenth_busy", 0.1), ("four_tenths_busy", 0.4)];
const FLOWS: [&str; 2] = ["preferred", "other"];

/// Runs SOS-E6. Clones only: of a trace there would be the same requests twice.
pub fn all(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    let mut documents = Vec::new();
    for benchmark in SosBenchmark::all() {
        if runner.trace(&benchmark.name)?.is_some() {
            continue;
        }
        for seed in runner.seeds() {
            for (setting, load) in LOADS {
                let document = two_flows(runner, &benchmark, seed, load)?;
                documents.push(((setting, benchmark.name.clone()), document));
            }
        }
    }
    for ((setting, name), made) in runner.compare(documents)? {
        add(&mut figures, setting, &name, &made.schedulers);
    }
    Ok(figures)
}

/// Two clones of `benchmark`, one of a higher priority, each with half of the requests and of the rate.
fn two_flows(runner: &Runner<'_>, benchmark: &SosBenchmark, seed: u64, load: f64) -> Result<Document, RunError> {
    let mut document = document(runner, benchmark, seed, device(TIMES[0], DONE_IN[0]), &[])?;
    let whole = document.flow.pop().expect("a flow");
    let by_priority = |&(base, name): &(&str, &str)| {
        let with = Mix { name: Some(name.into()), base: Some(base.into()), ..Mix::default() };
        let with = Mix { parameters: [("fcfs_by_priority".to_owned(), 1)].into(), ..with };
        [SchedulerChoice::Named(base.into()), SchedulerChoice::Mix(Box::new(with))]
    };
    document.schedulers = Some(SYSTEMS.iter().flat_map(by_priority).collect());
    document.flow = FLOWS
        .iter()
        .map(|&name| {
            let mut flow = whole.clone();
            let clone = flow.clone.as_mut().expect("a clone");
            clone.mean_gap_us = Some(2.0 * gap_us(benchmark, load));
            clone.requests = clone.requests.map(|requests| requests / 2);
            flow.priority = u8::from(name == FLOWS[0]);
            flow.name = Some(name.to_owned());
            flow
        })
        .collect();
    Ok(document)
}

/// Adds the figures of a benchmark's two flows: response times, and how much less they are than without priorities.
fn add(figures: &mut Measurements, setting: &str, name: &str, runs: &[SchedulerResult]) {
    for (pair, (system, _)) in runs.chunks(2).zip(SYSTEMS) {
        let [without, with] = pair else { panic!("a system without priorities and with them") };
        let means = |run: &SchedulerResult| {
            let flows = run.flows.iter().map(|flow| (flow.name.clone(), flow.figures.all.clone()));
            flows.chain([("both".to_owned(), run.total.all.clone())]).collect::<Vec<_>>()
        };
        for ((flow, without), (_, with)) in means(without).into_iter().zip(means(with)) {
            let (Some(without), Some(with)) = (without, with) else { continue };
            let mut push = |what: &str, value: f64| figures.push(&[what, setting, system, &flow, name], value);
            push("mean_ms", without.mean_ns / 1e6);
            push("mean_ms_by_priority", with.mean_ns / 1e6);
            push("gain_by_priority", 100.0 * (1.0 - with.mean_ns / without.mean_ns));
        }
    }
}
