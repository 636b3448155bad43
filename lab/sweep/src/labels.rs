//! FlowStats and keys as people read them: words and units, from the names of columns and the ends of paths.

/// A figure's name in words, for the axes of charts.
pub(super) fn words(figure: &str) -> &str {
    match figure {
        "offered_iops" => "offered load",
        "requests" => "completed requests",
        "bytes" => "bytes of completed requests",
        "iops" => "completed requests per second",
        "mb_per_s" => "throughput",
        "mean_ns" => "mean response time",
        "stdev_ns" => "standard deviation of response times",
        "min_ns" => "shortest response time",
        "p50_ns" => "median response time",
        "p95_ns" => "95th percentile of response times",
        "p99_ns" => "99th percentile of response times",
        "p99_9_ns" => "99.9th percentile of response times",
        "max_ns" => "longest response time",
        "slowdown" => "slowdown",
        "rejected" => "rejected requests",
        "makespan_ns" => "makespan",
        "fairness" => "fairness F",
        "max_slowdown" => "largest slowdown",
        "weighted_speedup" => "weighted speedup",
        "chip_utilisation" => "share of time the chips work",
        "channel_utilisation" => "share of time the channels work",
        "write_amplification" => "write amplification",
        "gc_erases" => "erases by garbage collection",
        "gc_moves" => "pages moved by garbage collection",
        other => other,
    }
}

/// The unit in which a name ends, as it stands behind a number; `None` where it has none.
pub(super) fn unit(name: &str) -> Option<&'static str> {
    const ENDS: [(&str, &str); 14] = [
        ("mb_per_s", "MB/s"),
        ("_iops", "requests/s"),
        ("iops", "requests/s"),
        ("_percent", "%"),
        ("_pages", "pages"),
        ("_bytes", "bytes"),
        ("bytes", "bytes"),
        ("_kib", "KiB"),
        ("_gb", "GB"),
        ("_ns", "ns"),
        ("_us", "us"),
        ("_ms", "ms"),
        ("_s", "s"),
        ("_days", "days"),
    ];
    ENDS.iter().find(|(end, _)| name.ends_with(end)).map(|(_, unit)| *unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::FIGURES;

    #[test]
    fn every_figure_has_words() {
        for figure in FIGURES {
            assert!(!words(figure).contains('_'), "{figure}");
        }
    }

    #[test]
    fn units_are_the_ends_of_names() {
        for (name, is) in [
            ("flow.f.synthetic.rate_iops", Some("requests/s")),
            ("device.nand.program_ns", Some("ns")),
            ("mb_per_s", Some("MB/s")),
            ("device.ftl.over_provisioning_percent", Some("%")),
            ("flow.f.synthetic.read_ratio", None),
            ("device.front.queue_depth", None),
        ] {
            assert_eq!(unit(name), is, "{name}");
        }
    }
}
