//! The part of `summary.json` on the host: what it added to the device's latency, and who got the CPUs.

use flashlane_core::Op;
use flashlane_host::{Classified, Errors, Meter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::flow_stats::Cdf;
use crate::metrics::{HostDirection, HostMetrics};

/// What the host before the device added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostStats {
    /// Reads and writes together; null if none completed.
    pub all: Option<LatencyStats>,
    /// Reads; null if none completed.
    pub read: Option<LatencyStats>,
    /// Writes; null if none completed.
    pub write: Option<LatencyStats>,
    /// Who got the CPUs.
    pub cpu: CpuStats,
    /// Groups of background threads, in the order of the scenario.
    pub background: Vec<BackgroundStats>,
    /// Interrupts that told threads of completions, early ones included.
    pub interrupts: u64,
    /// Precompletion; null for other ways of waiting.
    pub precompletion: Option<PrecompletionStats>,
    /// Writes that the device's buffer was predicted to take; null unless `host.buffer_hits`.
    pub buffer_hits: Option<ClassifiedStats>,
    /// Reads that the device's buffer was predicted to hold; null unless `host.read_hits`.
    pub read_hits: Option<ClassifiedStats>,
}

/// Latencies as threads saw them, and their mean parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyStats {
    /// I/Os.
    pub requests: u64,
    /// Mean user-perceived latency, ns: from a thread's call to the instant it sees the I/O done.
    pub user_mean_ns: f64,
    /// Mean time from the submission to the completion's arrival, ns.
    pub device_mean_ns: f64,
    /// Mean time the host added, ns: all the rest.
    pub added_mean_ns: f64,
    /// The part of it after the completion, ns: the exposed delay.
    pub exposed_mean_ns: f64,
    /// Mean time the thread spun, ns.
    pub spun_mean_ns: f64,
    /// Median of the user-perceived latency, ns.
    pub p50_ns: u64,
    /// Its 99th percentile, ns.
    pub p99_ns: u64,
    /// Its 99.9th percentile, ns.
    pub p99_9_ns: u64,
    /// Largest, ns.
    pub max_ns: u64,
    /// Its whole distribution.
    pub cdf: Cdf,
}

/// Shares of the time of all CPUs, 0 to 1; warm-up is part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuStats {
    /// CPUs.
    pub cpus: u32,
    /// The time the shares are of, ns, for each CPU.
    pub observed_ns: u64,
    /// Submitting I/Os.
    pub submit: f64,
    /// Spinning.
    pub spin: f64,
    /// Interrupts, wake-ups, switches.
    pub overhead: f64,
    /// Background threads.
    pub background: f64,
    /// Nothing.
    pub idle: f64,
}

/// What a group of background threads did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundStats {
    /// Operations: sections of I/O threads; for threads that burn CPU time, nanoseconds of it.
    pub operations: u64,
    /// Operations that the background does in the same time by itself.
    pub alone: u64,
    /// Share of those that were lost, 0 to 1; null if there were none.
    pub lost: Option<f64>,
}

/// How precompletion went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrecompletionStats {
    /// Messages sent.
    pub messages: u64,
    /// Predicted I/Os that completed before their message was due.
    pub too_late: u64,
    /// Small reads from the flash that were not predicted, because fewer than three had been observed.
    pub cold: u64,
    /// Times a thread that was woken early spun for too long and slept again.
    pub gave_up: u64,
    /// Predictions as they were when the read was issued to its chip.
    pub at_issue: ErrorStats,
    /// Predictions as they were when the message was sent.
    pub at_message: ErrorStats,
    /// The windows at the end, ns, by CPU.
    pub windows_ns: Vec<u64>,
}

/// Errors of predictions: predicted completion less actual.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorStats {
    /// Predictions.
    pub predictions: u64,
    /// Mean error, ns; negative where completions came later than predicted; null without predictions.
    pub mean_ns: Option<f64>,
    /// Root of the mean squared error, ns; null without predictions.
    pub rmse_ns: Option<f64>,
    /// Share that was off by a microsecond or more; null without predictions.
    pub beyond_1us: Option<f64>,
}

/// Predictions that the device's memory serves an I/O, and their outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassifiedStats {
    /// Predicted, and it did.
    pub hit: u64,
    /// Predicted, but the flash was needed.
    pub miss: u64,
    /// Not predicted, though it did.
    pub unseen: u64,
}

impl HostStats {
    /// The figures of a host of `cpus` CPUs that was observed for `observed_ns`; `background` has the operations of each group,
    /// and those of the group alone.
    pub fn new(
        metrics: &HostMetrics,
        meter: &Meter,
        cpus: u32,
        observed_ns: u64,
        background: impl Iterator<Item = (u64, u64)>,
    ) -> HostStats {
        let all = cpus as f64 * observed_ns as f64;
        let share = |ns: u64| if all > 0.0 { ns as f64 / all } else { 0.0 };
        let cpu = &meter.cpu;
        let parts = [cpu.submit, cpu.spin, cpu.overhead, cpu.background].map(|time| share(time.ns()));
        let busy = cpu.submit + cpu.spin + cpu.overhead + cpu.background;
        let whole = u128::from(cpus) * u128::from(observed_ns);
        let idle = whole.saturating_sub(u128::from(busy.ns())) as u64;
        let [submit, spin, overhead, at_background] = parts;
        HostStats {
            all: LatencyStats::of(&metrics.all()),
            read: LatencyStats::of(metrics.of(Op::Read)),
            write: LatencyStats::of(metrics.of(Op::Write)),
            cpu: CpuStats { cpus, observed_ns, submit, spin, overhead, background: at_background, idle: share(idle) },
            background: background.map(|(done, alone)| BackgroundStats::of(done, alone)).collect(),
            interrupts: meter.interrupts,
            precompletion: None,
            buffer_hits: None,
            read_hits: None,
        }
    }

    /// Adds how precompletion went, with the windows at the end.
    pub fn with_precompletion(mut self, meter: &Meter, windows_ns: Vec<u64>) -> HostStats {
        self.precompletion = Some(PrecompletionStats {
            messages: meter.messages,
            too_late: meter.too_late,
            cold: meter.cold,
            gave_up: meter.gave_up,
            at_issue: ErrorStats::from(&meter.at_issue),
            at_message: ErrorStats::from(&meter.at_message),
            windows_ns,
        });
        self
    }
}

impl LatencyStats {
    fn of(direction: &HostDirection) -> Option<LatencyStats> {
        let HostDirection { user, before_ns, device_ns, after_ns, spun_ns } = direction;
        let count = user.count();
        let mean = |sum: u128| sum as f64 / count as f64;
        let at = |millionths| user.percentile(millionths);
        Some(LatencyStats {
            requests: count,
            user_mean_ns: user.mean()?,
            device_mean_ns: mean(*device_ns),
            added_mean_ns: mean(before_ns + after_ns),
            exposed_mean_ns: mean(*after_ns),
            spun_mean_ns: mean(*spun_ns),
            p50_ns: at(500_000)?,
            p99_ns: at(990_000)?,
            p99_9_ns: at(999_000)?,
            max_ns: user.max()?,
            cdf: Cdf::of(user),
        })
    }
}

impl BackgroundStats {
    fn of(operations: u64, alone: u64) -> BackgroundStats {
        let lost = (alone > 0).then(|| 1.0 - operations as f64 / alone as f64);
        BackgroundStats { operations, alone, lost }
    }
}

impl From<&Errors> for ErrorStats {
    fn from(errors: &Errors) -> ErrorStats {
        let count = errors.count as f64;
        let some = |value: f64| (errors.count > 0).then(|| value / count);
        ErrorStats {
            predictions: errors.count,
            mean_ns: some(errors.sum_ns as f64),
            rmse_ns: some(errors.squares_ns as f64).map(f64::sqrt),
            beyond_1us: some(errors.beyond_1us as f64),
        }
    }
}

impl From<Classified> for ClassifiedStats {
    fn from(Classified { hit, miss, unseen }: Classified) -> ClassifiedStats {
        ClassifiedStats { hit, miss, unseen }
    }
}
