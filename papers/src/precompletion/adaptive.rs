//! Beyond the paper (A1): a window that adapts to the delays it sees, beside the best fixed window of each background.

use super::setup::{WINDOWS, burners, document, hosts, io_threads, latency, lost_percent, thread, window};
use crate::{Measurements, Runner};
use flashlane_scenario::{BackgroundKeys, Host, WindowKey};
use flashlane_sim::RunError;

fn backgrounds() -> [(&'static str, Vec<BackgroundKeys>); 7] {
    let long_sections = BackgroundKeys { section_ns: Some(35_000), ..io_threads(2, 0) };
    [
        ("idle", Vec::new()),
        ("cpu1", vec![burners(1)]),
        ("cpu4", vec![burners(4)]),
        ("io", vec![io_threads(4, 0)]),
        ("io_light", vec![io_threads(2, 50_000)]),
        ("io_long", vec![long_sections]),
        ("mixed", vec![burners(2), io_threads(2, 200_000)]),
    ]
}

/// Runs A1. Everything is measured after the first 1,000 I/Os.
pub fn windows(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let requests = runner.amount(20_000, 5_000);
    let mut runs = Vec::new();
    for (beside, background) in backgrounds() {
        for key in WINDOWS.map(|us| WindowKey::Ns(us * 1_000)).into_iter().chain([WindowKey::Adaptive]) {
            for seed in runner.seeds() {
                let keys = Host { background: background.clone(), ..window(key) };
                runs.push(((beside, key, seed), document("A1", seed, keys, thread(requests))));
            }
        }
    }
    let made = hosts(runner, runs)?;
    let mut figures = Measurements::default();
    for seed in runner.seeds() {
        for (beside, _) in backgrounds() {
            let mut fixed = Vec::new();
            let mut adaptive = None;
            for ((_, key, _), made) in made.iter().filter(|((b, _, s), _)| (*b, *s) == (beside, seed)) {
                let all = latency(made.all.as_ref())?;
                let figure = (all.user_mean_ns, all.spun_mean_ns);
                match key {
                    WindowKey::Ns(ns) => fixed.push((*ns, figure)),
                    WindowKey::Adaptive => adaptive = Some((figure, made)),
                }
            }
            let least = fixed.iter().map(|(_, (latency, _))| *latency).fold(f64::INFINITY, f64::min);
            let best = fixed.iter().find(|(_, (latency, _))| *latency <= least + 500.0);
            let (Some(&(window, best)), Some((own, made))) = (best, adaptive) else { continue };
            figures.push(&["adaptive", beside, "over_best_us"], (own.0 - best.0) / 1e3);
            figures.push(&["adaptive", beside, "spun_us"], own.1 / 1e3);
            figures.push(&["adaptive", beside, "best_spun_us"], best.1 / 1e3);
            figures.push(&["adaptive", beside, "best_window_us"], window as f64 / 1e3);
            figures.push_some(&["adaptive", beside, "background_lost_percent"], lost_percent(made));
            if let Some(pre) = &made.precompletion {
                figures.push(&["adaptive", beside, "window_us"], pre.windows_ns[0] as f64 / 1e3);
            }
        }
    }
    Ok(figures)
}
