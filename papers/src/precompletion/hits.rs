//! I/Os that the device's memory serves (PRE-E1): writes into its buffer, and beyond the paper reads from it.

use super::setup::{burners, document, hosts, io_threads, latency, thread};
use crate::{Measurements, Runner};
use flashlane_report::results::HostStats;
use flashlane_scenario::workload::synthetic::SyntheticSpec;
use flashlane_scenario::{BackgroundKeys, Device, Document, Host};
use flashlane_sim::RunError;

fn backgrounds() -> [(&'static str, Vec<BackgroundKeys>); 3] {
    [("idle", Vec::new()), ("cpu", vec![burners(4)]), ("io", vec![io_threads(4, 0)])]
}

/// Runs PRE-E1: small random writes with time enough between them that the buffer is hardly ever full, and into a buffer of
/// one page, which is full always.
pub fn writes(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let requests = runner.amount(20_000, 4_000);
    let of = |background: &[BackgroundKeys], misses: bool, seed: u64, classify: bool| {
        let keys = Host { buffer_hits: Some(classify), background: background.to_vec(), ..Host::default() };
        let spec = SyntheticSpec {
            read_ratio: Some(0.0),
            think_us: Some(if misses { 0.0 } else { 500.0 }),
            ..thread(requests)
        };
        let mut document = document("E1", seed, keys, spec);
        if misses {
            document.device.buffer.pages = Some(1);
        }
        document
    };
    let mut runs = Vec::new();
    for (beside, background) in backgrounds() {
        for misses in [false, true] {
            for seed in runner.seeds() {
                let which = if misses { "miss" } else { "hit" };
                runs.extend([false, true].map(|classify| ((beside, which), of(&background, misses, seed, classify))));
            }
        }
    }
    let mut figures = Measurements::default();
    for ((beside, which), yielding, spinning) in pairs(hosts(runner, runs)?) {
        let slept = latency(yielding.write.as_ref())?.user_mean_ns / 1e3;
        let spun = latency(spinning.write.as_ref())?.user_mean_ns / 1e3;
        figures.push(&["buffer", beside, which, "yield_us"], slept);
        figures.push(&["buffer", beside, which, "spin_us"], spun);
        figures.push(&["buffer", beside, which, "saving_us"], slept - spun);
        if let Some(hits) = &spinning.buffer_hits {
            let all = (hits.hit + hits.miss + hits.unseen).max(1) as f64;
            figures.push(&["buffer", beside, which, "predicted_percent"], 100.0 * hits.hit as f64 / all);
            figures.push(&["buffer", beside, which, "in_vain"], hits.miss as f64);
        }
    }
    Ok(figures)
}

/// Beyond the paper (A3): reads of sets of pages that the buffer holds whole, in part, or hardly.
pub fn reads(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let requests = runner.amount(40_000, 12_000);
    let of = |pages: u64, seed: u64, predict: bool| {
        let keys = Host { read_hits: Some(predict), ..Host::default() };
        let spec = SyntheticSpec { working_set_bytes: Some(pages * 8_192), ..thread(requests) };
        let mut document: Document = document("A3", seed, keys, spec);
        let mut device = Device::preset("cosmos-openssd".into());
        device.buffer.pages = Some(1_024);
        device.buffer.read_allocate = Some(true);
        document.device = device;
        // The buffer has to fill first.
        document.run.warm_up_requests = Some(requests / 2);
        document
    };
    let mut runs = Vec::new();
    for pages in [512u64, 1_024, 2_048, 16_384] {
        for seed in runner.seeds() {
            runs.extend([false, true].map(|predict| (pages.to_string(), of(pages, seed, predict))));
        }
    }
    let mut figures = Measurements::default();
    for (name, without, with) in pairs(hosts(runner, runs)?) {
        let hits = with.read_hits.as_ref().ok_or_else(|| RunError::Fault("reads were not classified".into()))?;
        let (without, with) = (latency(without.read.as_ref())?, latency(with.read.as_ref())?);
        let from_memory = (hits.hit + hits.unseen).max(1) as f64;
        let predicted = (hits.hit + hits.miss).max(1) as f64;
        figures.push(&["read_hits", &name, "saving_us"], (without.user_mean_ns - with.user_mean_ns) / 1e3);
        figures.push(&["read_hits", &name, "found_percent"], 100.0 * hits.hit as f64 / from_memory);
        figures.push(&["read_hits", &name, "right_percent"], 100.0 * hits.hit as f64 / predicted);
        figures.push(&["read_hits", &name, "spun_us"], with.spun_mean_ns / 1e3);
    }
    Ok(figures)
}

/// Neighbours together: the run without a prediction and the one with it.
fn pairs<K>(runs: Vec<(K, HostStats)>) -> Vec<(K, HostStats, HostStats)> {
    let mut runs = runs.into_iter();
    let pair = || {
        let ((key, without), (_, with)) = (runs.next()?, runs.next()?);
        Some((key, without, with))
    };
    std::iter::from_fn(pair).collect()
}
