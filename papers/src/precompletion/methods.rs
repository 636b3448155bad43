//! Every way of waiting beside I/O threads and beside CPU threads (PRE-E3 to E6).

use super::setup::{FLASH_NS, burners, document, hosts, io_threads, latency, lost_percent, methods, thread};
use crate::{Measurements, Runner};
use flashlane_scenario::{BackgroundKeys, Host};
use flashlane_sim::RunError;

/// Logical CPUs: one; four cores; the number at which a whole CPU is a fifth; four cores with two threads each, as the paper's.
const CPUS: [u32; 4] = [1, 4, 5, 8];

/// What runs beside: a name, the threads on each CPU, and on how many CPUs it is tried.
fn backgrounds() -> Vec<(String, Vec<BackgroundKeys>, &'static [u32])> {
    let mut backgrounds = vec![
        // I/O threads that leave no CPU time, and ones that mostly wait for their device.
        ("io".to_owned(), vec![io_threads(4, 0)], &CPUS[..]),
        ("io_light".to_owned(), vec![io_threads(2, 50_000)], &[1, 8][..]),
    ];
    for k in [1, 2, 4, 8] {
        let cpus = if k == 4 { &CPUS[..] } else { &[1, 8][..] };
        backgrounds.push((format!("cpu{k}"), vec![burners(k)], cpus));
    }
    backgrounds
}

/// Runs PRE-E3 to E6.
pub fn all(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let requests = runner.amount(20_000, 4_000);
    let mut runs = Vec::new();
    for (beside, background, cpus) in backgrounds() {
        for &cpus in cpus {
            for (method, keys) in methods() {
                for seed in runner.seeds() {
                    let keys = Host { cpus: Some(cpus), background: background.clone(), ..keys.clone() };
                    let key = (beside.clone(), cpus.to_string(), method.clone());
                    runs.push((key, document("E3", seed, keys, thread(requests))));
                }
            }
        }
    }
    let mut figures = Measurements::default();
    for ((beside, cpus, method), made) in hosts(runner, runs)? {
        let all = latency(made.all.as_ref())?;
        let at = |figure| [beside.as_str(), cpus.as_str(), method.as_str(), figure];
        figures.push(&at("less_nand_us"), (all.user_mean_ns - FLASH_NS) / 1e3);
        figures.push(&at("exposed_us"), all.exposed_mean_ns / 1e3);
        figures.push(&at("spun_us"), all.spun_mean_ns / 1e3);
        figures.push_some(&at("background_lost_percent"), lost_percent(&made));
    }
    best_windows(&mut figures);
    Ok(figures)
}

/// The smallest window whose latency is within 0.5 us of the least over all windows (model 3.2).
fn best_windows(figures: &mut Measurements) {
    for (beside, _, cpus) in backgrounds() {
        for cpus in cpus {
            let cpus = cpus.to_string();
            let of = |us: u64| figures.mean(&[&beside, &cpus, &format!("pre{us}"), "less_nand_us"]);
            let latencies: Vec<(u64, f64)> =
                super::setup::WINDOWS.iter().filter_map(|&us| Some((us, of(us)?))).collect();
            let least = latencies.iter().map(|&(_, us)| us).fold(f64::INFINITY, f64::min);
            if let Some(&(best, _)) = latencies.iter().find(|&&(_, us)| us <= least + 0.5) {
                figures.push(&["best_window_us", &beside, &cpus], best as f64);
            }
        }
    }
}
