//! The effect of garbage collection on fairness (FLN-E7): two flows of random writes, three ways to collect.

use super::setup::{document, mix, overwritten, pages_at, synthetic, systems};
use crate::{Measurements, Runner};
use flashlane_report::results::DeviceStats;
use flashlane_scenario::{Document, Flow, Mix, SchedulerChoice};
use flashlane_sim::RunError;

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

/// Writes of pages at `rate` MB/s.
fn writes(name: &str, rate: u32, ms: u64) -> Flow {
    synthetic(name, ms, pages_at(f64::from(rate), 0.0))
}

/// A flow of `rate` MB/s without another (figure 7a).
fn by_itself(runner: &Runner<'_>, rate: u32, ms: u64) -> Document {
    let (schedulers, flows) = (systems(runner, &["read-first"]), vec![writes("writes", rate, ms)]);
    let document = document(runner, format!("flin E7a {rate}"), (runner.first_seed(), ms), schedulers, flows);
    Document { device: overwritten(runner), ..document }
}

/// Time of page moves and erases as a share of the run's time, mean of all units, percent. Moves go one page at a time (FLIN's own
/// estimate, eq. 9).
fn collecting_percent(device: &DeviceStats) -> f64 {
    let collecting_us = device.gc.moves as f64 * (99.601 + 1_324.601) + device.gc.erases as f64 * 3_800.0;
    let units = device.chip_utilisation_each.len() as f64;
    100.0 * collecting_us / (units * device.observed_ns as f64 / 1e3)
}

/// Runs FLN-E7.
pub fn demands(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let ms = runner.amount(10_000, 1_000);
    let beside = |rate| {
        let flows = vec![writes("base", BASE, ms), writes("interfering", rate, ms)];
        let document = document(runner, format!("flin E7 {rate}"), (runner.first_seed(), ms), schedulers(), flows);
        (rate, Document { device: overwritten(runner), ..document })
    };
    let mut figures = Measurements::default();
    for (rate, made) in runner.compare(RATES.map(|rate| (rate, by_itself(runner, rate, ms))).into())? {
        let share = collecting_percent(&made.schedulers[0].device);
        figures.push(&["demands", "collecting_percent", &rate.to_string()], share);
    }
    for (rate, made) in runner.compare(RATES.map(beside).into())? {
        let rate = rate.to_string();
        for run in &made.schedulers {
            for flow in &run.flows {
                figures.push_some(&["demands", &flow.name, &run.name, &rate], flow.slowdown);
            }
            figures.push_some(&["demands", "fairness", &run.name, &rate], run.fairness.as_ref().map(|f| f.fairness));
        }
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, Setting, Settings};

    /// Twice the writes take twice the time to collect for, while units are idle at times; the share of the flash time that is not
    /// spent on users, which is write amplification in another form, would stay where it is.
    #[test]
    fn collecting_time_grows_with_the_rate() {
        let settings = Settings::quick(Setting::Plain);
        let runner = Runner::new(&settings, Place::default());
        let share = |rate| {
            let made = runner.compare(vec![((), by_itself(&runner, rate, 1_500))]).expect("a run").remove(0).1;
            (collecting_percent(&made.schedulers[0].device), made.schedulers[0].device.write_amplification)
        };
        let ((few, wa_few), (many, wa_many)) = (share(4), share(8));
        let ratio = many / few;
        assert!((1.7..2.3).contains(&ratio), "{few} and {many} %");
        let (Some(wa_few), Some(wa_many)) = (wa_few, wa_many) else { panic!("nothing written") };
        assert!((0.8..1.2).contains(&(wa_many / wa_few)), "{wa_few} and {wa_many}");
        assert!(few > 1.0 && many < 100.0);
    }
}
