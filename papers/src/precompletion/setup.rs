//! The machine of the experiments: the Cosmos prototype behind a host, one thread that does I/O, and what runs beside it.

use flashlane_report::results::{HostStats, LatencyStats};
use flashlane_scenario::workload::synthetic::{Arrivals, SyntheticSpec};
use flashlane_scenario::{
    BackgroundKeys, CompletionWord, Device, Document, Flow, Host, PredictorWord, Run, SchedulerChoice, WindowKey,
    WorkWord,
};
use flashlane_sim::RunError;

use crate::{RunStats, Runner};

/// Flash array time of the prototype, ns (table 1): the paper's figures are latencies without it.
pub const FLASH_NS: f64 = 352_000.0;

/// I/Os that are not measured: the thread's share of its CPU settles, the predictor warms up.
pub const WARM_UP: u64 = 1_000;

/// The windows of the paper's set, us (model 3.1.5).
pub const WINDOWS: [u64; 8] = [2, 4, 8, 12, 16, 24, 32, 64];

/// Ways of waiting, by the names of the figures.
pub fn methods() -> Vec<(String, Host)> {
    let of = |completion| Host { completion: Some(completion), ..Host::default() };
    let mut methods = vec![("irq".to_owned(), of(CompletionWord::Irq))];
    methods.extend(WINDOWS.map(|us| (format!("pre{us}"), window(WindowKey::Ns(us * 1_000)))));
    methods.push(("poll".to_owned(), of(CompletionWord::Poll)));
    methods.push(("poll_prio".to_owned(), of(CompletionWord::PollPrio)));
    methods
}

/// Precompletion with this window, predicted as the paper does.
pub fn window(window: WindowKey) -> Host {
    Host {
        completion: Some(CompletionWord::Precompletion),
        window_ns: Some(window),
        predictor: Some(PredictorWord::AtIssue),
        ..Host::default()
    }
}

/// Threads that burn CPU time, on each CPU.
pub fn burners(threads: u32) -> BackgroundKeys {
    BackgroundKeys { work: WorkWord::Cpu, threads: Some(threads), nice: None, section_ns: None, device_ns: None }
}

/// Threads that do I/O in sections of 10 us, on each CPU, with `device_ns` between them.
pub fn io_threads(threads: u32, device_ns: u64) -> BackgroundKeys {
    BackgroundKeys { work: WorkWord::Io, device_ns: Some(device_ns), ..burners(threads) }
}

/// A thread that does one I/O after the other, 4 KB at random.
pub fn thread(requests: u64) -> SyntheticSpec {
    SyntheticSpec { arrivals: Arrivals::ClosedLoop, requests: Some(requests), ..SyntheticSpec::default() }
}

/// What is measured, and how garbage is collected where a scheduler leaves that open: without a break, as the figures of this paper's
/// page were made.
pub fn run() -> Run {
    Run { warm_up_requests: Some(WARM_UP), collect: Some("atomic".into()), ..Run::default() }
}

/// A scenario of the prototype behind `host`.
pub fn document(name: &str, seed: u64, host: Host, spec: SyntheticSpec) -> Document {
    Document {
        name: Some(format!("precompletion {name}")),
        seed: Some(seed),
        device: Device::preset("cosmos-openssd".into()),
        host: Some(host),
        scheduler: Some(SchedulerChoice::Named("fr-fcfs".into())),
        run: run(),
        flow: vec![Flow { synthetic: Some(spec), ..Flow::default() }],
        ..Document::default()
    }
}

/// What the host added in the first run of each document, beside what came with the document.
pub fn hosts<K>(runner: &Runner<'_>, runs: Vec<(K, Document)>) -> Result<Vec<(K, HostStats)>, RunError> {
    let first = |(key, mut made): (K, RunStats)| {
        let host = made.schedulers.swap_remove(0).host;
        host.map(|host| (key, host)).ok_or_else(|| RunError::Fault("a run behind a host has no figures of it".into()))
    };
    runner.compare(runs)?.into_iter().map(first).collect()
}

/// Its latencies.
pub fn latency(figures: Option<&LatencyStats>) -> Result<&LatencyStats, RunError> {
    figures.ok_or_else(|| RunError::Fault("a run completed nothing".into()))
}

/// Share that the background lost, percent; of groups of the same kind, all together.
pub fn lost_percent(figures: &HostStats) -> Option<f64> {
    let done: u64 = figures.background.iter().map(|group| group.operations).sum();
    let alone: u64 = figures.background.iter().map(|group| group.alone).sum();
    (alone > 0).then(|| 100.0 * (1.0 - done as f64 / alone as f64))
}
