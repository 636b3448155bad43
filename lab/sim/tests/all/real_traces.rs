//! Real traces under every scheduler of the catalogue: nothing lost, nothing illegal, the same bytes twice.

use std::path::{Path, PathBuf};

use flashlane_scenario::{Device, Document, Flow, Scenario, SchedulerChoice, Speedup, TraceFlow, Word};
use flashlane_sched::catalogue;
use flashlane_sim::{Options, compare};
use flashlane_trace::Beyond;

/// File, number of its requests that are replayed, a speed-up that loads the device, requests in that part.
const TRACES: [(&str, u64, &str, u64); 6] = [
    ("msnfs.disksim.gz", 20_000, "2", 20_000),
    ("tpcc-small.mqsim", 10_000, "1/4", 6_999),
    ("wsrch-small.mqsim", 10_000, "50", 10_000),
    ("ssdsim-example.ascii", 20_000, "500", 10_000),
    ("msr-hm_0-899.csv", 1_000, "200", 899),
    ("msr-cut-rw40.heimdall", 20_000, "50", 10_000),
];

/// With a page buffer and the rows that need one, or without and the others.
fn scenario(path: &Path, limit: u64, speedup: &str, buffered: bool) -> Scenario {
    let mut device = Device::preset("flin-isca18".into());
    // A small drive in its steady state: garbage collection acts, addresses beyond it wrap.
    device.geometry.blocks_per_plane = Some(64);
    device.geometry.pages_per_block = Some(64);
    device.ftl.over_provisioning_percent = Some(25.0);
    let trace = TraceFlow {
        limit: Some(limit),
        speedup: Some(Speedup(speedup.into())),
        beyond: Some(Word(Beyond::Wrap)),
        ..TraceFlow::file(path.display().to_string())
    };
    device.buffer.pages = buffered.then_some(256);
    let needs_buffer = |name: &str| ["ncq-sb", "ncq-tsb"].contains(&name);
    let entries = catalogue::schedulers().iter().filter(|entry| needs_buffer(entry.name) == buffered);
    let schedulers = entries.map(|entry| SchedulerChoice::Named(entry.name.into())).collect();
    let flow = Flow { trace: Some(trace), ..Flow::default() };
    let document = Document { device, schedulers: Some(schedulers), flow: vec![flow], ..Document::default() };
    Scenario::from_document("real traces", document)
}

/// Replays the first requests of every trace, so many of a hundred of [`TRACES`].
fn replay(percent: u64) {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces"));
    if !folder.is_dir() {
        println!("SKIPPED: {} is absent, so no real trace was replayed", folder.display());
        return;
    }
    for ((file, limit, speedup, requests), buffered) in
        TRACES.into_iter().flat_map(|trace| [(trace, false), (trace, true)])
    {
        let limit = limit * percent / 100;
        let requests = requests.min(limit);
        let scenario = scenario(&folder.join(file), limit, speedup, buffered);
        let options = Options { audit: true, rows: None, activity: false, progress: None };
        let made = compare(&scenario, &options).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(made.audited.is_some_and(|events| events > 0), "{file}: an audit looked on");
        assert_eq!(made.summary.schedulers.len(), if buffered { 2 } else { catalogue::schedulers().len() - 2 });
        for run in &made.summary.schedulers {
            let total = &run.total;
            assert_eq!(total.issued, requests, "{file} under {}", run.name);
            assert_eq!(total.issued, total.completed + total.rejected, "{file} under {}", run.name);
        }
        let plain = Options { audit: false, ..options };
        let again = compare(&scenario, &plain).unwrap().summary;
        assert_eq!(made.summary.to_json(), again.to_json(), "{file}: the same bytes, audited or not");
    }
}

#[test]
fn nothing_is_lost_and_nothing_is_illegal() {
    replay(10);
}

#[test]
#[ignore = "nightly: ten times the requests"]
fn nothing_is_lost_of_longer_traces() {
    replay(100);
}

/// Requests beyond the drive are an error, are wrapped, or are left out and counted, as the user chose.
#[test]
fn what_lies_beyond_the_drive_is_accounted_for() {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces/msr-hm_0-899.csv"));
    if !file.is_file() {
        println!("SKIPPED: {} is absent, so addresses beyond the drive were not tried", file.display());
        return;
    }
    let run = |beyond: Beyond| {
        let mut scenario = scenario(&file, 1_000, "200", false);
        scenario.set("flow", "the test", |document| {
            document.schedulers = Some(vec![SchedulerChoice::Named("fcfs".into())]);
            document.flow[0].trace.as_mut().unwrap().beyond = Some(Word(beyond));
        });
        compare(&scenario, &Options { audit: true, rows: None, activity: false, progress: None })
    };
    let refused = run(Beyond::Error).unwrap_err().to_string();
    assert!(refused.contains("msr-hm_0-899.csv:"), "{refused}");
    let rejected = run(Beyond::Reject).unwrap().summary;
    let total = &rejected.schedulers[0].total;
    assert!(total.rejected > 0 && total.completed > 0);
    assert_eq!((total.issued, total.completed + total.rejected), (899, 899));
    assert_eq!(run(Beyond::Wrap).unwrap().summary.schedulers[0].total.completed, 899);
}

/// At the speed it was recorded at, a trace of disks leaves the drive of today nearly idle, and no request waits for seconds.
#[test]
fn an_idle_drive_of_today_answers_at_once() {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces/msnfs.disksim.gz"));
    if !file.is_file() {
        println!("SKIPPED: {} is absent, so the drive of today was not tried", file.display());
        return;
    }
    let trace = TraceFlow { beyond: Some(Word(Beyond::Wrap)), ..TraceFlow::file(file.display().to_string()) };
    let flow = Flow { trace: Some(trace), ..Flow::default() };
    let scenario = Scenario::from_document("msnfs", Document { flow: vec![flow], ..Document::default() });
    let options = Options { audit: false, rows: None, activity: false, progress: None };
    for run in compare(&scenario, &options).unwrap().summary.schedulers {
        let slowest = run.total.all.as_ref().unwrap().max_ns;
        assert!(run.device.chip_utilisation < 0.05, "{}: {}", run.name, run.device.chip_utilisation);
        assert!(slowest < 20_000_000, "{}: {slowest} ns", run.name);
    }
}
