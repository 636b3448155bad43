//! What the papers' pages explain with a scenario of theirs, shown by that scenario in fewer requests.

use std::path::Path;

use flashlane_report::results::SchedulerResult;
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare};

/// Runs a scenario of a paper with these parts of its text changed.
#[track_caller]
fn runs(path: &str, changes: &[(&str, &str)]) -> Vec<SchedulerResult> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".").join(path);
    let mut text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    let scenario = Scenario::parse("explanation", text).expect("a scenario");
    let options = Options { audit: false, rows: None, activity: false, progress: None };
    compare(&scenario, &options).unwrap_or_else(|why| panic!("{why}")).summary.schedulers
}

/// Latency less the flash's 352 us, us: mean and 99th percentile.
#[track_caller]
fn latency(path: &str, changes: &[(&str, &str)]) -> (f64, f64) {
    let changes = [&[("requests = 20_000", "requests = 4_000")], changes].concat();
    let host = runs(path, &changes).remove(0).host.expect("behind a host");
    let all = host.all.expect("reads");
    (all.user_mean_ns / 1e3 - 352.0, all.p99_ns as f64 / 1e3 - 352.0)
}

#[test]
fn threads_that_wait_fall_into_step_with_a_reader_that_polls() {
    let of = |changes: &[(&str, &str)]| latency("precompletion/scenarios/beside-waiting-io-threads.toml", changes);
    let (mean, p99) = of(&[]);
    assert!((56.0..58.0).contains(&mean) && (56.0..58.0).contains(&p99), "every I/O waits for a round: {mean} {p99}");
    for ns in ["340_000", "440_000", "700_000"] {
        let (mean, _) = of(&[("device_ns = 390_000", &format!("device_ns = {ns}"))]);
        assert!(mean < 19.0, "{ns}: {mean}");
    }
    let (irq, _) = of(&[("completion = \"poll\"", "completion = \"irq\"")]);
    assert!((21.0..25.0).contains(&irq), "{irq}");
    for threads in ["1", "2"] {
        let (mean, _) = of(&[("threads = 4", &format!("threads = {threads}"))]);
        assert!(mean < irq - 3.0, "{threads}: {mean}");
    }
}

#[test]
fn polling_among_burners_depends_on_their_slices() {
    let of = |changes: &[(&str, &str)]| latency("precompletion/scenarios/beside-burners.toml", changes).0;
    let default = of(&[]);
    assert!((1_300.0..1_420.0).contains(&default), "{default}");
    let keys = "completion = \"poll\"\nmin_slice_ns = 368_000\nperiod_ns = 1_840_000";
    let slices = of(&[("completion = \"poll\"", keys)]);
    assert!((1_480.0..1_495.0).contains(&slices), "{slices}");
}

#[test]
fn gains_of_ncq_fall_on_both_sides_of_saturation() {
    let gain = |changes: &[(&str, &str)]| {
        let made = runs("ncq/scenarios/workload-c.toml", changes);
        let reads = |name: &str| {
            let run = made.iter().find(|run| run.name == name).expect("it ran");
            run.total.read.as_ref().expect("reads").mean_ns
        };
        100.0 - 100.0 * reads("ncq-tsb") / reads("ncq-fcfs")
    };
    let alike = ("file_theta = 1.4", "file_theta = 0");
    let (below, near) = (gain(&[]), gain(&[alike]));
    let over = gain(&[alike, ("mean_gap_us = 1080", "mean_gap_us = 540")]);
    assert!((23.2..34.8).contains(&below), "published 29: {below}");
    assert!(near > below + 20.0 && over < below - 20.0, "{below} {near} {over}");
}
