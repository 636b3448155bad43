//! Polling beside I/O threads that wait for a device of their own (PRE-E3): how many there are, and how long their I/O takes.
//!
//! The paper says neither. 390 us is what an I/O of the reader takes.

use super::setup::{FLASH_NS, document, hosts, io_threads, latency, lost_percent, methods, thread};
use crate::{Measurements, Runner};
use flashlane_scenario::Host;
use flashlane_sim::RunError;

/// I/O threads on the reader's CPU.
const THREADS: [u32; 4] = [1, 2, 3, 4];

/// How long their device takes, us.
const DEVICES: [u64; 7] = [50, 55, 100, 340, 390, 440, 700];

/// The ways of waiting that are compared.
const METHODS: [&str; 5] = ["irq", "pre8", "pre16", "poll", "poll_prio"];

/// Runs them on one CPU.
pub fn io_threads_that_wait(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let requests = runner.amount(20_000, 4_000);
    let mut runs = Vec::new();
    for us in DEVICES {
        for threads in THREADS {
            for (method, keys) in methods().into_iter().filter(|(name, _)| METHODS.contains(&name.as_str())) {
                for seed in runner.seeds() {
                    let keys =
                        Host { cpus: Some(1), background: vec![io_threads(threads, us * 1_000)], ..keys.clone() };
                    let key = (us.to_string(), threads.to_string(), method.clone());
                    runs.push((key, document("E3 waiting", seed, keys, thread(requests))));
                }
            }
        }
    }
    let mut figures = Measurements::default();
    for ((us, threads, method), made) in hosts(runner, runs)? {
        let all = latency(made.all.as_ref())?;
        let at = |figure| ["io_waiting", us.as_str(), threads.as_str(), method.as_str(), figure];
        figures.push(&at("less_nand_us"), (all.user_mean_ns - FLASH_NS) / 1e3);
        figures.push_some(&at("background_lost_percent"), lost_percent(&made));
    }
    Ok(figures)
}
