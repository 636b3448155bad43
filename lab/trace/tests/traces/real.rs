//! Real traces, which may be stored beside the project; where they are missing, these tests print a SKIPPED line.

use std::path::PathBuf;

use flashlane_trace::{recognise, stat};

use super::convert::convert;
use super::*;

/// File, format, requests, reads in per cent, span in seconds, end of the addresses in GiB: as documented with the
/// traces.
const TRACES: [(&str, Format, u64, f64, f64, f64); 6] = [
    ("msnfs.disksim.gz", Format::Disksim, 149_999, 87.0, 143.0, 170.0),
    ("tpcc-small.mqsim", Format::Mqsim, 6_999, 63.0, 0.14, 217.0),
    ("wsrch-small.mqsim", Format::Mqsim, 24_783, 100.0, 60.0, 17.0),
    ("ssdsim-example.ascii", Format::Ssdsim, 10_000, 41.0, 260.0, 0.5),
    ("msr-hm_0-899.csv", Format::Msr, 899, 45.0, 127.0, 13.0),
    ("msr-cut-rw40.heimdall", Format::Replayer, 10_000, 41.0, 86.0, 14.0),
];

fn trace(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces")).join(name);
    if !path.exists() {
        println!("SKIPPED: ../shared/traces/{name} is absent, so this real trace was not read");
        return None;
    }
    Some(path)
}

#[test]
fn real_traces_are_recognised_and_have_the_documented_figures() {
    for (name, format, requests, reads, span, end) in TRACES {
        let Some(path) = trace(name) else { continue };
        let found = recognise(&path).unwrap();
        assert_eq!(found.format, format, "{name}: {}", found.reason);
        let stat = stat(&path, &TraceOptions::default(), u64::MAX).unwrap_or_else(|why| panic!("{why}"));
        println!("{stat}\n");
        assert_eq!(stat.counts.requests, requests, "{name}");
        assert_eq!(stat.all.requests, requests, "{name}");
        let read_share = 100.0 * stat.reads.requests as f64 / requests as f64;
        assert!((read_share - reads).abs() < 1.0, "{name}: {read_share} % reads");
        assert!((stat.span_s - span).abs() < 0.01 * span.max(50.0), "{name}: {} s", stat.span_s);
        let gibibytes = stat.end_byte as f64 / (1u64 << 30) as f64;
        assert!((gibibytes - end).abs() < 0.005 * end + 0.5, "{name}: {gibibytes} GiB");
    }
}

#[test]
fn real_traces_survive_a_round_trip_through_formats_that_can_say_them() {
    let dir = tempfile::tempdir().unwrap();
    for (name, ..) in TRACES {
        let Some(path) = trace(name) else { continue };
        let original = drain(TraceSource::open(&path, &TraceOptions::default(), HUGE).unwrap(), HUGE).unwrap();
        for to in [Format::Mqsim, Format::Disksim, Format::Replayer, Format::Blkparse, Format::Spc] {
            let out = dir.path().join(format!("{name}.{to}.zst"));
            convert(&path, &out, &TraceOptions::default(), to).unwrap_or_else(|why| panic!("{why}"));
            let back = drain(TraceSource::open(&out, &as_format(to), HUGE).unwrap(), HUGE).unwrap();
            assert_eq!(back.rows, original.rows, "{name} as {to}");
        }
    }
}
