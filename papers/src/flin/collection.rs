//! The effect of garbage collection on fairness (FLN-E7): two flows of random writes, three ways to collect.

use super::setup::{document, mix, named, overwritten, pages_at, synthetic};
use crate::{Figures, Runner};
use flashlane_lab::run::RunError;
use flashlane_lab::scenario::{Document, Mix, SchedulerChoice};

/// Name and answer: no collection (infinite capacity), the default, semi-preemptive.
const WAYS: [(&str, &str); 3] = [("none", "free"), ("default", "non-preemptive"), ("semi", "semi-preemptive")];
/// Write rates of the interfering flow, MB/s. The base flow has the third of them.
const RATES: [u32; 6] = [2, 4, 8, 16, 32, 64];
/// Write rate of the base flow.
const BASE: u32 = 8;

/// Read-first scheduling with each way to collect.
fn schedulers() -> Vec<SchedulerChoice> {
    let with = |(name, collect): (&str, &str)| {
        mix(Mix {
            name: Some(name.into()),
            base: Some("read-first".into()),
            collect: Some(collect.into()),
            ..Mix::default()
        })
    };
    WAYS.map(with).into()
}

/// Runs FLN-E7.
pub fn demands(runner: &Runner<'_>) -> Result<Figures, RunError> {
    let ms = runner.amount(10_000, 1_000);
    let flow = |name: &str, rate: u32| synthetic(name, ms, pages_at(f64::from(rate), 0.0));
    let alone = runner.each(RATES.to_vec(), |rate| {
        let document = document(format!("flin E7a {rate}"), 1, ms, named(&["read-first"]), vec![flow("writes", rate)]);
        Ok((rate, runner.compare(Document { device: overwritten(runner), ..document })?))
    })?;
    let beside = runner.each(RATES.to_vec(), |rate| {
        let flows = vec![flow("base", BASE), flow("interfering", rate)];
        let document = document(format!("flin E7 {rate}"), 1, ms, schedulers(), flows);
        Ok((rate, runner.compare(Document { device: overwritten(runner), ..document })?))
    })?;
    let mut figures = Figures::default();
    for (rate, summary) in alone {
        let device = &summary.schedulers[0].device;
        // Whole pages, one at a time: FLIN's own estimate of what garbage collection takes (eq. 9).
        let collecting = device.gc.moves as f64 * (99.601 + 1_324.601) + device.gc.erases as f64 * 3_800.0;
        let writing = device.user_programs as f64 * 1_324.601;
        let share = 100.0 * collecting / (collecting + writing).max(1.0);
        figures.push(&["demands", "collecting_percent", &rate.to_string()], share);
    }
    for (rate, summary) in beside {
        let rate = rate.to_string();
        for run in &summary.schedulers {
            for flow in &run.flows {
                figures.push_some(&["demands", &flow.name, &run.name, &rate], flow.slowdown);
            }
            figures.push_some(&["demands", "fairness", &run.name, &rate], run.fairness.as_ref().map(|f| f.fairness));
        }
    }
    Ok(figures)
}
