//! Figures of slots, ratios of slots that were neighbours, and the file of slots.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::background::Background;
use crate::foreground::{Method, Slot};

/// One slot as it was measured: a row of the file. Times are in us, without a value where there were no I/Os or no sleep.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Row {
    /// What ran beside.
    pub background: String,
    /// The round.
    pub round: u32,
    /// The way of waiting whose pair it belongs to.
    pub pair: String,
    /// The way of waiting in it; none for the background alone.
    pub method: Option<String>,
    /// I/Os done.
    pub ios: u64,
    /// Of them left out, because the device's thread was more than 20 us late.
    pub device_late: u64,
    /// Mean latency above the device's time.
    pub added_us: Option<f64>,
    /// Mean time from the completion to the thread seeing it.
    pub exposed_us: Option<f64>,
    /// Its median.
    pub exposed_p50_us: Option<f64>,
    /// Its 99th percentile.
    pub exposed_p99_us: Option<f64>,
    /// Median of the wake-up delay: from the device's wake-up to the thread running.
    pub wake_p50_us: Option<f64>,
    /// Its 90th percentile.
    pub wake_p90_us: Option<f64>,
    /// Its 99th percentile.
    pub wake_p99_us: Option<f64>,
    /// Share of the slot spent spinning, 0 to 1.
    pub spin_share: f64,
    /// Operations of the background a second.
    pub background_per_s: f64,
}

impl Row {
    /// The figures of a slot in the pair of a way of waiting, with what the background did in it.
    pub fn new(
        (background, operations): (Background, u64),
        round: u32,
        pair: Method,
        method: Option<Method>,
        elapsed: Duration,
        slot: &Slot,
    ) -> Row {
        let at = |values: &[u64], share: f64| {
            let mut sorted = values.to_vec();
            sorted.sort_unstable();
            let rank = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len().max(1));
            sorted.get(rank - 1).map(|&ns| ns as f64 / 1e3)
        };
        let mean = |values: &[u64]| {
            (!values.is_empty()).then(|| values.iter().sum::<u64>() as f64 / values.len() as f64 / 1e3)
        };
        let seconds = elapsed.as_secs_f64();
        Row {
            background: background.name().into(),
            round,
            pair: pair.name(),
            method: method.map(Method::name),
            ios: slot.count,
            device_late: slot.device_late,
            added_us: mean(&slot.added_ns),
            exposed_us: mean(&slot.exposed_ns),
            exposed_p50_us: at(&slot.exposed_ns, 0.5),
            exposed_p99_us: at(&slot.exposed_ns, 0.99),
            wake_p50_us: at(&slot.wake_ns, 0.5),
            wake_p90_us: at(&slot.wake_ns, 0.9),
            wake_p99_us: at(&slot.wake_ns, 0.99),
            spin_share: slot.spun_ns as f64 / 1e9 / seconds,
            background_per_s: operations as f64 / seconds,
        }
    }

    /// The slot of the same pair and round in which the thread waited by `method`, or the background was alone.
    pub fn beside<'a>(&self, rows: &'a [Row], method: Option<&str>) -> Option<&'a Row> {
        rows.iter().find(|other| {
            (&other.background, other.round, &other.pair) == (&self.background, self.round, &self.pair)
                && other.method.as_deref() == method
        })
    }
}

/// Writes the file of slots.
///
/// # Errors
/// A file that cannot be written.
pub fn write(path: impl AsRef<Path>, rows: &[Row]) -> csv::Result<()> {
    let mut file = csv::Writer::from_path(path)?;
    rows.iter().try_for_each(|row| file.serialize(row))?;
    Ok(file.flush()?)
}

/// Quartiles of values, one a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// The first.
    pub q1: f64,
    /// The median.
    pub median: f64,
    /// The third.
    pub q3: f64,
    /// Rounds.
    pub rounds: usize,
}

impl Quartiles {
    /// Of these values; `None` without any.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Quartiles> {
        let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
        (!values.is_empty()).then(|| Quartiles { q1: at(0.25), median: at(0.5), q3: at(0.75), rounds: values.len() })
    }
}

/// A way of waiting beside one background, with the slots of each round related to one another.
#[derive(Clone, Debug)]
pub struct Paired {
    /// What ran beside.
    pub background: String,
    /// The way of waiting.
    pub method: String,
    /// Latency above the device's time, us.
    pub added_us: Option<Quartiles>,
    /// Time from the completion to the thread seeing it, us: means of the rounds.
    pub exposed_us: Option<Quartiles>,
    /// The same, medians of the rounds, us.
    pub exposed_p50_us: Option<Quartiles>,
    /// The median of its I/Os over that of sleeping in the same round; medians, because other processes delay some I/Os by
    /// milliseconds.
    pub exposed_over_irq: Option<Quartiles>,
    /// Throughput of the background over that alone in the same round.
    pub background_over_alone: Option<Quartiles>,
    /// Wake-up delay: medians of the rounds, us.
    pub wake_p50_us: Option<Quartiles>,
    /// Wake-up delay: 99th percentiles of the rounds, us.
    pub wake_p99_us: Option<Quartiles>,
    /// Share of the time spent spinning.
    pub spin_share: Option<Quartiles>,
}

impl Paired {
    /// Every way of waiting beside every background, in the order in which they were measured.
    pub fn all(rows: &[Row]) -> Vec<Paired> {
        let mut paired: Vec<Paired> = Vec::new();
        for row in rows {
            let Some(method) = &row.method else { continue };
            if !paired.iter().any(|p| p.background == row.background && p.method == *method) {
                paired.push(Paired::of(rows, &row.background, method));
            }
        }
        paired
    }

    fn of(rows: &[Row], background: &str, method: &str) -> Paired {
        let own = || rows.iter().filter(|s| s.background == background && s.method.as_deref() == Some(method));
        let each = |figure: &dyn Fn(&Row) -> Option<f64>| Quartiles::of(own().filter_map(figure));
        Paired {
            background: background.to_owned(),
            method: method.to_owned(),
            added_us: each(&|s| s.added_us),
            exposed_us: each(&|s| s.exposed_us),
            exposed_p50_us: each(&|s| s.exposed_p50_us),
            exposed_over_irq: each(&|s| Some(s.exposed_p50_us? / s.beside(rows, Some("irq"))?.exposed_p50_us?)),
            background_over_alone: each(&|s| Some(s.background_per_s / s.beside(rows, None)?.background_per_s)),
            wake_p50_us: each(&|s| s.wake_p50_us),
            wake_p99_us: each(&|s| s.wake_p99_us),
            spin_share: each(&|s| Some(s.spin_share)),
        }
    }
}
