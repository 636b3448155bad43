//! The effect of intensity (FLN-E2 to E4): one flow of reads of growing rate, and a light one beside it.
//!
//! The printed rates, 16 to 1,024 MB/s, are at most two fifths of what the drive of table 1 can read. So figures are
//! also made at rates up to 1.05 times that bound, and with closed loops (model 2.2, capacity note).

use flashlane_core::event::{Event, Stamped};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::setup::{document, drive_in, pages_at, synthetic, systems};
use crate::{Counter, Measurements, Runner};
use flashlane_scenario::workload::synthetic::{Arrivals, SyntheticSpec};
use flashlane_scenario::{Document, DriveState, Flow, Scenario, SchedulerChoice};
use flashlane_sim::{Outcome, RunError};

/// The most that the drive reads in commands of one page, MB/s: 32 units with 99.601 us per page, less than its buses can
/// transfer.
pub const SATURATION_MB_PER_S: f64 = 2_632.0;

/// The axes of the figures: their names, and for each point its name and MB/s.
fn axes() -> [(&'static str, Vec<(String, f64)>); 2] {
    let printed = (4..=10).map(|power| f64::from(1 << power));
    let top = |halvings: i32| 105.0 / f64::from(1 << halvings);
    let normalised = (0..7).rev().map(top);
    [
        ("printed", printed.map(|rate| (rate.to_string(), rate)).collect()),
        ("normalised", normalised.map(|p| (format!("{p:.0}"), p / 100.0 * SATURATION_MB_PER_S)).collect()),
    ]
}

/// Depths of the interfering closed loop.
const DEPTHS: [u32; 6] = [1, 4, 16, 64, 256, 1_024];

fn ms(runner: &Runner<'_>) -> u64 {
    runner.amount(2_000, 200)
}

/// A scenario of reads only, of pages that exist, without garbage collection.
fn reads(name: String, runner: &Runner<'_>, seed: u64, schedulers: Vec<SchedulerChoice>, flows: Vec<Flow>) -> Document {
    let document = document(runner, name, (seed, ms(runner)), schedulers, flows);
    Document { device: drive_in(runner, DriveState::Filled), ..document }
}

/// Runs FLN-E2 and E3.
pub fn alone(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut runs = Vec::new();
    for (axis, points) in axes() {
        for (level, rate) in points {
            for seed in runner.seeds() {
                let flow = synthetic("reads", ms(runner), pages_at(rate, 1.0));
                let document = reads(format!("flin E2 {level}"), runner, seed, systems(runner, &["fcfs"]), vec![flow]);
                runs.push(((axis, level.clone()), document));
            }
        }
    }
    let mut figures = Measurements::default();
    for ((axis, level), seen) in runner.count::<Transactions, _>(runs)? {
        let each = |sum: u64| sum as f64 / seen.ended.max(1) as f64 / 1e3;
        let [waited, moved, all] = [seen.queued_ns, seen.bus_ns, seen.turnaround_ns].map(each);
        let executed = seen.array_ns as f64 / seen.commands.max(1) as f64 / 1e3;
        let wait = all - moved - executed;
        // Little's law: the sum of all waiting times over the duration, per unit.
        let length = waited * 1e3 * seen.ended as f64 / (seen.last_ns.max(1) as f64 * 32.0);
        figures.push(&["queue_length", axis, &level], length);
        for (part, us) in [("wait", wait), ("transfer", moved), ("execution", executed)] {
            figures.push(&["turnaround_us", axis, part, &level], us);
        }
        figures.push(&["wait_share_percent", axis, &level], 100.0 * wait / all);
    }
    Ok(figures)
}

/// Transactions in flight, where every transaction is a read of one page.
#[derive(Default)]
struct Transactions {
    joined: FxHashMap<u64, u64>,
    seen: Times,
}

/// Times of transactions.
#[derive(Default, Serialize, Deserialize)]
struct Times {
    ended: u64,
    commands: u64,
    queued_ns: u64,
    turnaround_ns: u64,
    bus_ns: u64,
    array_ns: u64,
    last_ns: u64,
}

impl Counter for Transactions {
    const NAME: &'static str = "times of transactions 1";
    type Counts = Times;

    fn of(_: &Scenario) -> Result<Transactions, RunError> {
        Ok(Transactions::default())
    }

    fn observe(&mut self, stamped: &Stamped) {
        let at = stamped.at.ns();
        let Transactions { joined, seen } = self;
        seen.last_ns = at;
        match stamped.event {
            Event::Queued { txn, .. } => drop(joined.insert(txn, at)),
            Event::Dispatched { txn, .. } => seen.queued_ns += at - joined[&txn],
            Event::BusTaken { until, .. } => seen.bus_ns += until.ns() - at,
            Event::ArrayStarted { until, .. } => {
                seen.commands += 1;
                seen.array_ns += until.ns() - at;
            }
            Event::Ended { txn, .. } => {
                seen.ended += 1;
                seen.turnaround_ns += at - joined.remove(&txn).expect("it was queued");
            }
            _ => {}
        }
    }

    fn figures(self, _: &Outcome) -> Times {
        self.seen
    }
}

/// Runs FLN-E4.
pub fn beside(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let base = || pages_at(16.0, 1.0);
    let mut pairs: Vec<(&str, String, [SyntheticSpec; 2])> = Vec::new();
    for (axis, points) in axes() {
        pairs.extend(points.into_iter().map(|(level, rate)| (axis, level, [base(), pages_at(rate, 1.0)])));
    }
    pairs.extend(DEPTHS.map(|depth| ("closed", depth.to_string(), [1, depth].map(|depth| closed(depth, 1.0)))));
    let scenario = |((axis, level, [base, other]), seed): ((_, String, [SyntheticSpec; 2]), u64)| {
        let flows = vec![synthetic("base", ms(runner), base), synthetic("interfering", ms(runner), other)];
        let name = format!("flin E4 {axis} {level}");
        ((axis, level), reads(name, runner, seed, systems(runner, &["fcfs", "sprinkler"]), flows))
    };
    let seeds = runner.seeds();
    let runs = pairs.into_iter().flat_map(|pair| seeds.iter().map(move |&seed| (pair.clone(), seed)));
    let mut figures = Measurements::default();
    for ((axis, level), made) in runner.compare(runs.map(scenario).collect())? {
        let table = format!("beside_{axis}");
        for run in &made.schedulers {
            for flow in &run.flows {
                figures.push_some(&[&table, &flow.name, &run.name, &level], flow.slowdown);
            }
            figures.push_some(&[&table, "fairness", &run.name, &level], run.fairness.as_ref().map(|f| f.fairness));
        }
    }
    Ok(figures)
}

/// A closed loop of `depth` requests of a page.
pub fn closed(depth: u32, read_ratio: f64) -> SyntheticSpec {
    SyntheticSpec {
        rate_mb_per_s: None,
        arrivals: Arrivals::ClosedLoop,
        depth: Some(depth),
        ..pages_at(1.0, read_ratio)
    }
}
