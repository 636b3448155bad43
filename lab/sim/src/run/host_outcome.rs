//! What a host added to a run: its latencies, its counts, and what the background did by itself.

use flashlane_core::Time;
use flashlane_host::{Completion, Config as HostConfig, Groups, Meter};

use flashlane_report::metrics::HostMetrics;
use flashlane_report::results::HostStats;

/// What a host added to a run.
#[derive(Clone, Debug)]
pub struct HostOutcome {
    /// Latencies as threads saw them.
    pub metrics: HostMetrics,
    /// What the host counted over the whole run.
    pub meter: Meter,
    /// What the background did.
    pub background: Groups,
    /// What it does in the same time by itself.
    pub alone: Groups,
    /// The host.
    pub config: HostConfig,
    /// When the last thread saw its I/O done.
    pub end: Time,
    /// The windows at the end, ns, by CPU.
    pub windows_ns: Vec<u64>,
}

impl HostOutcome {
    /// Its figures for the summary.
    pub fn figures(&self) -> HostStats {
        let HostOutcome { metrics, meter, config, .. } = self;
        let background = self.background.operations.iter().copied().zip(self.alone.operations.iter().copied());
        let mut figures = HostStats::new(metrics, meter, config.cpus, self.end.ns(), background);
        if matches!(config.waiting.completion, Completion::Precompletion { .. }) {
            figures = figures.with_precompletion(meter, self.windows_ns.clone());
        }
        figures.buffer_hits = config.waiting.buffer_hits.then(|| meter.writes.into());
        figures.read_hits = config.waiting.read_hits.then(|| meter.reads.into());
        figures
    }
}
