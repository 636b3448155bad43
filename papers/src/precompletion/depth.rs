//! Beyond the paper: full parallel devices (A2: deep queues with garbage collection) and fast flash (A4).

use super::setup::{burners, hosts, latency, thread, window};
use crate::{Measurements, Runner};
use flashlane_scenario::workload::synthetic::SyntheticSpec;
use flashlane_scenario::{
    CompletionWord, Device, Document, DriveState, Flow, Host, Latency, PredictorWord, SchedulerChoice, WindowKey, Word,
};
use flashlane_sim::RunError;

/// Requests outstanding.
pub const DEPTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The schedulers: one that never pauses, one that pauses programs by slack, one that does so by proportional waits.
const ROWS: [&str; 3] = ["fr-fcfs", "slacker", "flin"];

/// A full drive of 32 dies with an eighth of the blocks of FLIN's, in equilibrium.
fn drive() -> Device {
    let mut device = Device::preset("flin-isca18".into());
    device.geometry.blocks_per_plane = Some(128);
    device.ftl.user_gb = Some(15);
    // The noise of table 1, on a read of 75 us: without it there would be nothing to predict.
    device.nand.read_ns = Some(Latency::Gaussian { mean: 75_000, sd: 660 });
    device.precondition.state = Some(Word(DriveState::Steady));
    device
}

/// Runs A2: reads and writes of 4 KiB, seven reads to three writes.
pub fn queues(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let requests = runner.amount(60_000, 8_000);
    let mut runs = Vec::new();
    for row in ROWS {
        for depth in DEPTHS {
            for (predictor, word) in [("at_issue", PredictorWord::AtIssue), ("staged", PredictorWord::Staged)] {
                for seed in runner.seeds() {
                    let keys = Host { cpus: Some(8), predictor: Some(word), ..window(WindowKey::Ns(16_000)) };
                    let spec = SyntheticSpec { read_ratio: Some(0.7), depth: Some(depth), ..thread(requests) };
                    let document = Document { device: drive(), ..behind(keys, row, seed, spec) };
                    runs.push(((row, depth.to_string(), predictor), document));
                }
            }
        }
    }
    let mut figures = Measurements::default();
    for ((row, depth, predictor), made) in runner.compare(runs)? {
        let run = &made.schedulers[0];
        let at = |figure| ["depth", row, predictor, depth.as_str(), figure];
        figures.push(&at("gc_moves"), run.device.gc.moves as f64);
        figures.push(&at("pauses"), run.device.pauses as f64);
        let Some(host) = &run.host else { continue };
        let read = latency(host.read.as_ref())?;
        figures.push(&at("read_us"), read.user_mean_ns / 1e3);
        figures.push(&at("exposed_us"), read.exposed_mean_ns / 1e3);
        figures.push(&at("spun_us"), read.spun_mean_ns / 1e3);
        let Some(pre) = &host.precompletion else { continue };
        figures.push_some(&at("issue_rmse_us"), pre.at_issue.rmse_ns.map(|ns| ns / 1e3));
        figures.push_some(&at("message_rmse_us"), pre.at_message.rmse_ns.map(|ns| ns / 1e3));
        figures.push_some(&at("beyond_1us_percent"), pre.at_message.beyond_1us.map(|share| share * 100.0));
        let predicted = pre.at_message.predictions.max(1) as f64;
        figures.push(&at("too_late_percent"), 100.0 * pre.too_late as f64 / predicted);
        figures.push(&at("gave_up_percent"), 100.0 * pre.gave_up as f64 / predicted);
    }
    Ok(figures)
}

fn behind(keys: Host, row: &str, seed: u64, spec: SyntheticSpec) -> Document {
    Document {
        name: Some("precompletion beyond".into()),
        seed: Some(seed),
        host: Some(keys),
        scheduler: Some(SchedulerChoice::Named(row.into())),
        run: super::setup::run(),
        flow: vec![Flow { synthetic: Some(spec), ..Flow::default() }],
        ..Document::default()
    }
}

/// Runs A4: a drive whose reads take 20 us, so that the window is nearly the device's time, beside one burner and beside four.
pub fn fast_flash(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let of = |completion| Host { completion: Some(completion), ..Host::default() };
    let methods = [
        ("irq", of(CompletionWord::Irq)),
        ("pre8", window(WindowKey::Ns(8_000))),
        ("pre16", window(WindowKey::Ns(16_000))),
        ("adaptive", window(WindowKey::Adaptive)),
        ("poll_prio", of(CompletionWord::PollPrio)),
    ];
    let requests = runner.amount(20_000, 4_000);
    let mut device = drive();
    device.precondition.state = Some(Word(DriveState::Filled));
    device.nand.read_ns = Some(Latency::Gaussian { mean: 20_000, sd: 200 });
    let mut runs = Vec::new();
    for (name, keys) in methods {
        for (beside, threads) in [("one", 1), ("four", 4)] {
            for seed in runner.seeds() {
                let keys = Host { background: vec![burners(threads)], ..keys.clone() };
                let document = behind(keys, "fr-fcfs", seed, thread(requests));
                runs.push(((name, beside), Document { device: device.clone(), ..document }));
            }
        }
    }
    let mut figures = Measurements::default();
    for ((name, beside), made) in hosts(runner, runs)? {
        let all = latency(made.all.as_ref())?;
        figures.push(&["fast", beside, name, "user_us"], all.user_mean_ns / 1e3);
        figures.push(&["fast", beside, name, "exposed_us"], all.exposed_mean_ns / 1e3);
        figures.push(&["fast", beside, name, "spun_us"], all.spun_mean_ns / 1e3);
        figures.push_some(&["fast", beside, name, "background_lost_percent"], super::setup::lost_percent(&made));
    }
    Ok(figures)
}
