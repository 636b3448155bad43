//! Changes against another scheduler, in percent.

use super::flow_stats::ResponseStats;
use super::summary::{Change, ResponseChange, SchedulerResult};

/// The change from `first` to `one`.
pub(super) fn change(first: &SchedulerResult, one: &SchedulerResult) -> Change {
    let (from, to) = (&first.total, &one.total);
    let fairness = first.fairness.as_ref().zip(one.fairness.as_ref());
    Change {
        all: response(&from.all, &to.all),
        read: response(&from.read, &to.read),
        write: response(&from.write, &to.write),
        write_amplification: optional(first.device.write_amplification, one.device.write_amplification),
        fairness: fairness.and_then(|(a, b)| percent(a.fairness, b.fairness)),
        weighted_speedup: fairness.and_then(|(a, b)| percent(a.weighted_speedup, b.weighted_speedup)),
    }
}

fn response(from: &Option<ResponseStats>, to: &Option<ResponseStats>) -> Option<ResponseChange> {
    let (from, to) = from.as_ref().zip(to.as_ref())?;
    let ns = |a: u64, b: u64| percent(a as f64, b as f64);
    Some(ResponseChange {
        iops: optional(from.iops, to.iops),
        mb_per_s: optional(from.mb_per_s, to.mb_per_s),
        mean: percent(from.mean_ns, to.mean_ns),
        p50: ns(from.p50_ns, to.p50_ns),
        p95: ns(from.p95_ns, to.p95_ns),
        p99: ns(from.p99_ns, to.p99_ns),
        p99_9: ns(from.p99_9_ns, to.p99_9_ns),
        max: ns(from.max_ns, to.max_ns),
    })
}

fn optional(from: Option<f64>, to: Option<f64>) -> Option<f64> {
    from.zip(to).and_then(|(from, to)| percent(from, to))
}

fn percent(from: f64, to: f64) -> Option<f64> {
    (from != 0.0).then(|| 100.0 * (to - from) / from)
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn changes_are_in_percent_and_absent_for_a_first_value_of_zero() {
        assert_eq!(percent(10.0, 5.0), Some(-50.0));
        assert_eq!(percent(10.0, 12.5), Some(25.0));
        assert_eq!(percent(0.0, 5.0), None);
    }
}
