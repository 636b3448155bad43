//! The papers' comparisons on real traces: Slacker's and SOS's on each trace of a folder, FLIN's on pairs of them, by load.
//!
//! Requests are widened to whole pages, as in the simulators of the papers' authors, and sped up or slowed down until they keep the chips busy
//! for a given share of their span, were every page a command of its own. Has no claims: no paper printed these figures.

mod traces;

use std::path::Path;

use flashlane_report::results::SchedulerResult;
use flashlane_scenario::{Device, Document, Run, SchedulerChoice, Word};
use flashlane_sim::RunError;
use flashlane_ssd::config::Dispatch;

pub use self::traces::Files;
use self::traces::{RealTrace, files, flows_on};
use crate::flin::{measures, setup as flin};
use crate::slacker::workloads as slacker;
use crate::sos::workloads as sos;
use crate::{Group, Measurements, Paper, RunStats, Runner, Setting, Settings};

/// The comparisons, made like a paper.
pub const REAL: Paper = Paper {
    name: "real",
    seeds: 1,
    claims: include_str!("../../real/claims.toml"),
    variants: &[],
    groups: &[
        Group {
            experiments: &["R1"],
            about: "Slacker's systems on each trace, one page and eight a command",
            run: on_slacker,
        },
        Group { experiments: &["R2"], about: "SOS's systems on each trace", run: on_sos },
        Group { experiments: &["R3"], about: "FLIN's systems on pairs of traces", run: on_flin },
    ],
};

/// Shares of their span in which requests keep the chips busy.
const LOADS: [f64; 6] = [0.03, 0.1, 0.3, 0.6, 0.9, 1.2];
/// Requests of a trace: whole, and in a quick run.
const REQUESTS: (u64, u64) = (20_000, 1_000);
/// Slacker's systems, the baseline first, and `need` (model 1.1.9).
const SLACKER: [&str; 7] = [slacker::BASELINE, "wbyp", "rbyp", "wp", "rbyp+wp", "slacker", "need"];
/// SOS's systems, the baseline first.
const SOS: [&str; 4] = ["hos", "hos+qsl", "hos+whm", "sos"];
/// The loads of pairs, of which each trace makes a half.
const PAIR_LOADS: [f64; 3] = [0.3, 0.6, 0.9];

/// The files of the folder that is replayed.
///
/// # Errors
/// None is named, it cannot be read, or none of its files is a trace.
pub fn named(folder: Option<&Path>) -> Result<Files, RunError> {
    let none = || RunError::Input("--traces: paper real replays the traces of a folder; name one".into());
    let folder = folder.ok_or_else(none)?;
    let files = files(folder)?;
    if files.traces.is_empty() {
        return Err(RunError::Input(format!("--traces {}: no file in it is recognised as a trace", folder.display())));
    }
    Ok(files)
}

/// The traces of the folder.
fn traces(runner: &Runner<'_>) -> Result<Vec<RealTrace>, RunError> {
    RealTrace::all(&named(runner.settings.traces.as_deref())?, runner.amount(REQUESTS.0, REQUESTS.1))
}

/// Runs R1.
fn on_slacker(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let chosen = Settings { setting: Setting::Chosen, ..runner.settings.clone() };
    let one_page = slacker::device(&runner.under(&chosen));
    let mut eight_pages = Device::preset(slacker::TABLE_1.into());
    eight_pages.bus.dispatch = Some(Word(Dispatch::BusIdle));
    let mut figures = Measurements::default();
    for (planes, device) in [("one_page", one_page), ("eight_pages", eight_pages)] {
        let base =
            Document { device, run: Run { collect: Some(slacker::COLLECT.into()), ..Run::default() }, ..of(&SLACKER) };
        each(runner, &format!("slacker_{planes}"), &base, &mut figures)?;
    }
    Ok(figures)
}

/// Runs R2.
fn on_sos(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    let base = Document { device: sos::device(sos::TIMES[0], sos::DONE_IN[0]), ..of(&SOS) };
    each(runner, "sos", &base, &mut figures)?;
    Ok(figures)
}

fn of(schedulers: &[&str]) -> Document {
    let schedulers = schedulers.iter().map(|name| SchedulerChoice::Named((*name).into())).collect();
    Document { seed: Some(1), schedulers: Some(schedulers), ..Document::default() }
}

/// Runs every trace at every load in the scenario `base`.
fn each(runner: &Runner<'_>, what: &str, base: &Document, figures: &mut Measurements) -> Result<(), RunError> {
    let mut runs = Vec::new();
    for trace in traces(runner)? {
        for load in LOADS {
            let mut document = Document { name: Some(format!("{what} {} {load}", trace.name)), ..base.clone() };
            document.flow = flows_on(&document, &[&trace], load)?;
            runs.push(((trace.name.clone(), load.to_string()), document));
        }
    }
    for ((trace, load), made) in runner.compare(runs)? {
        add(figures, what, &trace, &load, &made);
    }
    Ok(())
}

fn add(figures: &mut Measurements, what: &str, trace: &str, load: &str, made: &RunStats) {
    let base = &made.schedulers[0];
    figures.push(&[&format!("{what}_busy_percent"), load, trace], 100.0 * base.device.chip_utilisation);
    figures.push_some(&[&format!("{what}_mean_ms"), load, trace], base.total.all.as_ref().map(|all| all.mean_ns / 1e6));
    for run in &made.schedulers[1..] {
        let Some(paired) = &run.paired else { continue };
        let all = &paired.all;
        let mut push =
            |name: &str, value| figures.push_some(&[&format!("{what}_{name}"), &run.name, load, trace], value);
        push("improvement", all.improvement_percent);
        push("gain_per_request", all.gain_percent_per_request);
        push("p95_improvement", all.p95_improvement_percent);
        push("slower_percent", Some(100.0 * all.slower as f64 / all.requests.max(1) as f64));
    }
}

/// Runs R3: each pair at loads of which each trace has half, under the systems of the chosen setting.
fn on_flin(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let chosen = Settings { setting: Setting::Chosen, traces: None, ..runner.settings.clone() };
    let of_flin = runner.under(&chosen);
    let traces = traces(runner)?;
    let mut runs = Vec::new();
    for (number, first) in traces.iter().enumerate() {
        for second in &traces[number + 1..] {
            for load in PAIR_LOADS {
                let name = format!("flin {} {} {load}", first.name, second.name);
                let systems = flin::systems(&of_flin, &measures::SYSTEMS);
                let mut document = flin::document(&of_flin, name, (1, 1_000), systems, Vec::new());
                document.run = Run::default();
                document.flow = flows_on(&document, &[first, second], load)?;
                runs.push(((format!("{}+{}", first.name, second.name), load.to_string()), document));
            }
        }
    }
    let mut figures = Measurements::default();
    for ((pair, load), made) in runner.compare(runs)? {
        let push = |figures: &mut Measurements, run: &SchedulerResult| {
            let Some(fairness) = &run.fairness else { return };
            for (what, value) in measures::MEASURES {
                figures.push(&[&format!("flin_{what}"), &run.name, &load, &pair], value(fairness));
            }
        };
        made.schedulers.iter().for_each(|run| push(&mut figures, run));
    }
    Ok(figures)
}
