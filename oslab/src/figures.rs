//! Figures of slots, and ratios of slots that were neighbours.

use std::time::Duration;

use serde::Serialize;

use crate::foreground::Slot;
use crate::methods::{Background, Method};

/// The most that a background may do beside the foreground, of what it does alone, in the upper quartile. More than 1 cannot be; some
/// of it is the pace of disks.
const MAX_OVER_ALONE: f64 = 1.25;

/// One slot as it was measured.
#[derive(Clone, Debug, Serialize)]
pub struct RawSlot {
    /// What ran beside.
    pub background: &'static str,
    /// The round.
    pub round: u32,
    /// The way of waiting whose pair it belongs to.
    pub pair: String,
    /// The way of waiting in it; null for the background alone.
    pub method: Option<String>,
    /// I/Os done.
    pub ios: u64,
    /// Of them left out, because the device's thread was more than 20 us late.
    pub device_late: u64,
    /// Mean latency above the device's time, us; null without I/Os.
    pub added_us: Option<f64>,
    /// Mean time from the completion to the thread seeing it, us; null without I/Os.
    pub exposed_us: Option<f64>,
    /// Its median, us.
    pub exposed_p50_us: Option<f64>,
    /// Its 99th percentile, us.
    pub exposed_p99_us: Option<f64>,
    /// Median of the wake-up delay: from the device's wake-up to the thread running, us; null if it never slept.
    pub wake_p50_us: Option<f64>,
    /// Its 90th percentile, us.
    pub wake_p90_us: Option<f64>,
    /// Its 99th percentile, us.
    pub wake_p99_us: Option<f64>,
    /// Share of the slot spent spinning, 0 to 1.
    pub spin_share: f64,
    /// Operations of the background a second.
    pub background_per_s: f64,
}

impl RawSlot {
    /// The figures of a slot.
    pub(crate) fn new(
        background: Background,
        round: u32,
        method: Option<Method>,
        operations: u64,
        elapsed: Duration,
        slot: &Slot,
    ) -> RawSlot {
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
        RawSlot {
            background: background.name(),
            round,
            pair: String::new(),
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

    /// The slot as one of a method's pair.
    pub(crate) fn of_pair(mut self, method: Method) -> RawSlot {
        self.pair = method.name();
        self
    }
}

/// Quartiles of values, one a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
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
    pub fn of(mut values: Vec<f64>) -> Option<Quartiles> {
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
        (!values.is_empty()).then(|| Quartiles { q1: at(0.25), median: at(0.5), q3: at(0.75), rounds: values.len() })
    }
}

/// A way of waiting beside one background, with the slots of each round related to one another.
#[derive(Clone, Debug, Serialize)]
pub struct Paired {
    /// What ran beside.
    pub background: &'static str,
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
    /// Whether that ratio cannot be: nothing does more beside the foreground than alone.
    pub impossible: bool,
    /// Wake-up delay: medians of the rounds, us.
    pub wake_p50_us: Option<Quartiles>,
    /// Wake-up delay: 99th percentiles of the rounds, us.
    pub wake_p99_us: Option<Quartiles>,
    /// Share of the time spent spinning.
    pub spin_share: Option<Quartiles>,
}

/// The figures of one way of waiting beside one background.
pub(crate) fn related(slots: &[RawSlot], background: &'static str, method: &str) -> Paired {
    let own: Vec<&RawSlot> =
        slots.iter().filter(|s| s.background == background && s.method.as_deref() == Some(method)).collect();
    let beside = |slot: &RawSlot, method: Option<&str>| {
        slots.iter().find(|other| {
            (other.background, other.round, &other.pair) == (slot.background, slot.round, &slot.pair)
                && other.method.as_deref() == method
        })
    };
    let each = |figure: &dyn Fn(&RawSlot) -> Option<f64>| Quartiles::of(own.iter().filter_map(|s| figure(s)).collect());
    let background_over_alone = each(&|s| Some(s.background_per_s / beside(s, None)?.background_per_s));
    Paired {
        background,
        method: method.to_owned(),
        added_us: each(&|s| s.added_us),
        exposed_us: each(&|s| s.exposed_us),
        exposed_p50_us: each(&|s| s.exposed_p50_us),
        exposed_over_irq: each(&|s| Some(s.exposed_p50_us? / beside(s, Some("irq"))?.exposed_p50_us?)),
        background_over_alone,
        impossible: background_over_alone.is_some_and(|ratio| ratio.q3 > MAX_OVER_ALONE),
        wake_p50_us: each(&|s| s.wake_p50_us),
        wake_p99_us: each(&|s| s.wake_p99_us),
        spin_share: each(&|s| Some(s.spin_share)),
    }
}
