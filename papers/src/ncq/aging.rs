//! Aging (NCQ-E4): mean and longest waits, and how often commands are overtaken, by alpha; and under FCFS.

use flashlane_core::event::{Event, Stamped};
use serde::{Deserialize, Serialize};

use super::setup::{ROWS, document, scheduler, workload};
use crate::{Counter, Measurements, Runner};
use flashlane_scenario::{Scenario, SchedulerChoice};
use flashlane_sim::{Outcome, RunError};

/// Alphas, percent.
const ALPHAS: [u64; 7] = [0, 25, 50, 75, 90, 95, 100];

fn systems() -> Vec<SchedulerChoice> {
    ALPHAS.iter().map(|&alpha| scheduler((&alpha.to_string(), "ncq-tsb"), alpha)).collect()
}

/// How often commands were overtaken: by younger ones that entered the device before them.
#[derive(Default)]
struct Overtakings {
    /// The commands that wait, oldest first, and how often each was overtaken.
    waiting: Vec<(u64, u64)>,
    seen: Overtaken,
}

/// What overtakings come to.
#[derive(Default, Serialize, Deserialize)]
struct Overtaken {
    sum: u64,
    most: u64,
    commands: u64,
}

impl Counter for Overtakings {
    const NAME: &'static str = "overtakings 1";
    type Counts = Overtaken;

    fn of(_: &Scenario) -> Result<Overtakings, RunError> {
        Ok(Overtakings::default())
    }

    fn observe(&mut self, stamped: &Stamped) {
        if let Event::Submitted { request, .. } = stamped.event {
            self.waiting.push((request.0, 0));
        } else if let Event::Admitted { request } = stamped.event {
            let at = self.waiting.binary_search_by_key(&request.0, |&(id, _)| id).expect("it was submitted");
            let (_, times) = self.waiting.remove(at);
            self.waiting[..at].iter_mut().for_each(|(_, times)| *times += 1);
            let Overtaken { sum, most, commands } = &mut self.seen;
            (*sum, *most, *commands) = (*sum + times, times.max(*most), *commands + 1);
        }
    }

    fn figures(self, _: &Outcome) -> Overtaken {
        self.seen
    }
}

/// Runs NCQ-E4.
pub fn alphas(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let row = workload("A");
    let mut figures = Measurements::default();
    let runs = runner.seeds().into_iter().map(|seed| ((), document(runner, &row, seed, systems()))).collect();
    let made = runner.compare(runs)?;
    let mut falls = 0;
    for ((), made) in &made {
        let longest: Vec<f64> =
            made.schedulers.iter().map(|run| run.total.all.as_ref().map_or(0.0, |all| all.max_ns as f64)).collect();
        falls += longest.windows(2).filter(|pair| pair[1] < pair[0]).count();
        for run in &made.schedulers {
            let Some(all) = &run.total.all else { continue };
            let figure = [("mean_ms", all.mean_ns), ("p99_ms", all.p99_ns as f64), ("longest_ms", all.max_ns as f64)];
            figure.into_iter().for_each(|(name, ns)| figures.push(&["alpha", name, &run.name], ns / 1e6));
        }
    }
    let steps = made.len() * (ALPHAS.len() - 1);
    figures.note(format!(
        "the longest response time falls from one alpha to the next in {falls} of {steps} steps of single seeds"
    ));
    let fcfs = |seed| ((), document(runner, &row, seed, vec![scheduler(ROWS[0], 0)]));
    for ((), made) in runner.compare(runner.seeds().into_iter().map(fcfs).collect())? {
        figures.push_some(&["fcfs", "mean_ms"], made.schedulers[0].total.all.as_ref().map(|all| all.mean_ns / 1e6));
    }
    let alone =
        |scheduler: SchedulerChoice| (scheduler.name(), document(runner, &row, runner.seeds()[0], vec![scheduler]));
    let runs = systems().into_iter().map(alone).collect();
    for (name, Overtaken { sum, most, commands }) in runner.count::<Overtakings, _>(runs)? {
        figures.push(&["alpha", "overtaken_mean", &name], sum as f64 / commands as f64);
        figures.push(&["alpha", "overtaken_most", &name], most as f64);
    }
    Ok(figures)
}
