//! Aging (NCQ-E4): mean and longest waits, and how often commands are overtaken, by alpha.

use flashlane_core::event::Event;

use super::setup::{document, scheduler, workload};
use crate::{Figures, Runner};
use flashlane_lab::run::{ObserverOptions, RunError};
use flashlane_lab::scenario::SchedulerChoice;

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
    sum: u64,
    most: u64,
    commands: u64,
}

impl Overtakings {
    fn hear(&mut self, event: &Event) {
        match *event {
            Event::Submitted { request, .. } => self.waiting.push((request.0, 0)),
            Event::Admitted { request } => {
                let at = self.waiting.binary_search_by_key(&request.0, |&(id, _)| id).expect("it was submitted");
                let (_, times) = self.waiting.remove(at);
                self.waiting[..at].iter_mut().for_each(|(_, times)| *times += 1);
                (self.sum, self.most, self.commands) = (self.sum + times, self.most.max(times), self.commands + 1);
            }
            _ => {}
        }
    }
}

/// Runs NCQ-E4.
pub fn alphas(runner: &Runner<'_>) -> Result<Figures, RunError> {
    let row = workload("A");
    let mut figures = Figures::default();
    let made = runner.each(runner.seeds(), |seed| runner.compare(document(runner, &row, seed, systems())))?;
    let mut falls = 0;
    for summary in &made {
        let longest: Vec<f64> =
            summary.schedulers.iter().map(|run| run.total.all.as_ref().map_or(0.0, |all| all.max_ns as f64)).collect();
        falls += longest.windows(2).filter(|pair| pair[1] < pair[0]).count();
        for run in &summary.schedulers {
            let Some(all) = &run.total.all else { continue };
            let figure = [("mean_ms", all.mean_ns), ("p99_ms", all.p99_ns as f64), ("longest_ms", all.max_ns as f64)];
            figure.into_iter().for_each(|(name, ns)| figures.push(&["alpha", name, &run.name], ns / 1e6));
        }
    }
    let steps = made.len() * (ALPHAS.len() - 1);
    figures.note(format!(
        "the longest response time falls from one alpha to the next in {falls} of {steps} steps of single seeds"
    ));
    let runs: Vec<SchedulerChoice> = systems();
    let counted = runner.each(runs, |scheduler| {
        let mut overtakings = Overtakings::default();
        let name = scheduler.name();
        let document = document(runner, &row, 1, vec![scheduler]);
        let mut hear = |stamped: &flashlane_core::event::Stamped| overtakings.hear(&stamped.event);
        runner.run_observed(document, ObserverOptions { events: Some(&mut hear), ..ObserverOptions::default() })?;
        Ok((name, overtakings))
    })?;
    for (name, Overtakings { sum, most, commands, .. }) in counted {
        figures.push(&["alpha", "overtaken_mean", &name], sum as f64 / commands as f64);
        figures.push(&["alpha", "overtaken_most", &name], most as f64);
    }
    Ok(figures)
}
