//! Requests under several schedulers compared one by one: a hand-worked scene, and properties of the comparison.

use flashlane_report::results::verdict::{Rule, Verdict};
use flashlane_report::results::{Summary, table};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, RunError, compare};

/// Two writes and two reads on chip 0; the first read has a page on chip 1 too. Cycles of 1 µs: a read takes 1, a write
/// 4.
const SCENE: &str = r#"
device = "unit-cycle"
schedulers = ["fcfs", "read-first", "read-first-suspend"]
[[flow]]
[[flow.request]]
at_ns = 0
op = "write"
pages = [0]
[[flow.request]]
at_ns = 0
op = "write"
pages = [4]
[[flow.request]]
at_ns = 1_000
op = "read"
pages = [8, 1]
[[flow.request]]
at_ns = 1_000
op = "read"
pages = [12]
"#;

fn made(text: &str, audit: bool) -> Result<Summary, RunError> {
    let scenario = Scenario::parse("pairs", text.to_owned()).unwrap_or_else(|why| panic!("{why}"));
    let options = Options { audit, rows: None, activity: false, progress: None };
    compare(&scenario, &options).map(|made| made.summary)
}

fn summary(text: &str) -> Summary {
    made(text, true).unwrap_or_else(|why| panic!("{why}"))
}

/// fcfs: the requests take 4, 8, 8 and 9 µs; reads first: 4, 10, 4 and 5.
#[test]
fn a_scene_request_by_request() {
    let made = summary(&format!("{SCENE}[run]\nslack = true\n"));
    assert_eq!(made.baseline, "fcfs");
    let [fcfs, read_first, suspend] = &made.schedulers[..] else { panic!("three") };
    assert_eq!((&fcfs.paired, &fcfs.change_percent), (&None, &None));
    let paired = read_first.paired.as_ref().expect("against fcfs");
    let all = &paired.all;
    assert_eq!((all.requests, all.faster, all.equal, all.slower), (4, 2, 1, 1));
    assert_eq!(all.gain_ns, 1_500.0);
    assert_eq!(all.improvement_percent, Some(100.0 * 6.0 / 29.0));
    // 4, 8, 8 and 9 become 4, 10, 4 and 5.
    let a_request = 100.0 * (0.0 - 0.25 + 0.5 + 4.0 / 9.0) / 4.0;
    assert!(all.gain_percent_per_request.is_some_and(|gain| (gain - a_request).abs() < 1e-7));
    assert_eq!(all.p95_improvement_percent, Some(-100.0 / 9.0), "the largest: 9 µs, then 10");
    let percent = |f: &Option<flashlane_report::results::PairStats>| f.as_ref().and_then(|f| f.improvement_percent);
    assert_eq!((percent(&paired.read), percent(&paired.write)), (Some(100.0 * 8.0 / 17.0), Some(100.0 * -2.0 / 12.0)));
    let sizes: Vec<_> = paired.by_size.iter().map(|s| (s.pages, s.requests, s.faster, s.slower, s.mean_ns)).collect();
    assert_eq!(sizes, [(1, 3, 1, 1, 19_000.0 / 3.0), (2, 1, 1, 0, 4_000.0)]);

    // Page 1 is read from 1 to 2 µs. Page 8 is done at 9 µs under fcfs, at 5 with reads first.
    let slack = |run: usize| made.schedulers[run].slack.as_ref().expect("asked for");
    let reads = |run: usize| slack(run).read.as_ref().map(|s| (s.transactions, s.mean_ns, s.max_ns));
    assert_eq!(reads(0), Some((3, 7_000.0 / 3.0, 7_000)));
    assert_eq!(reads(1), Some((3, 1_000.0, 3_000)));
    assert_eq!(slack(0).write.as_ref().map(|s| (s.transactions, s.max_ns)), Some((2, 0)));
    let of_two: Vec<_> = slack(0).by_size.iter().map(|s| (s.pages, s.transactions, s.mean_ns)).collect();
    assert_eq!(of_two, [(1, 3, 0.0), (2, 2, 3_500.0)]);

    let touched = |run: &flashlane_report::results::SchedulerResult| {
        (run.touched.read_overtaking, run.touched.write_overtaking, run.touched.in_pause)
    };
    assert_eq!((touched(fcfs), touched(read_first), touched(suspend)), ((0, 0, 0), (2, 0, 0), (2, 0, 2)));
    let text = table::render(&made);
    assert!(text.contains("Request by request against fcfs\n"), "{text}");
    assert!(text.contains("Actual slack"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn another_scheduler_to_compare_with() {
    let made = summary(&format!("{SCENE}[run]\nbaseline = \"read-first\"\n"));
    assert_eq!(made.baseline, "read-first");
    let paired: Vec<_> = made.schedulers.iter().map(|run| run.paired.as_ref().map(|p| p.all.faster)).collect();
    assert_eq!(paired[..2], [Some(1), None]);
    let change = made.schedulers[0].change_percent.as_ref().and_then(|c| c.all.as_ref()).and_then(|c| c.mean);
    assert_eq!(change, Some(100.0 * 6.0 / 23.0));
    assert_eq!((&made.schedulers[1].change_percent, &made.schedulers[0].slack), (&None, &None));
    let wrong = made_error(&format!("{SCENE}[run]\nbaseline = \"sprinkler\"\n"));
    assert!(wrong.ends_with("must be one that runs: fcfs, read-first, read-first-suspend"), "{wrong}");
}

fn made_error(text: &str) -> String {
    made(text, false).err().map(|error| error.to_string()).expect("refused")
}

const TENANTS: &str = r#"
schedulers = ["fcfs", "read-first", "sprinkler", "read-first-suspend"]
[device]
preset = "flin-isca18"
geometry = { channels = 2, chips_per_channel = 2, blocks_per_plane = 64, pages_per_block = 32 }
ftl = { over_provisioning_percent = 28 }
[run]
slack = true
warm_up_requests = 100
[[flow]]
name = "mixed"
[flow.synthetic]
read_ratio = 0.6
size = { mix = [[8192, 3], [65536, 1], [262144, 1]] }
requests = 3_000
"#;

/// Pairs agree with the means, which are measured separately, and do not depend on the other runs or on observers.
#[test]
fn pairs_are_those_of_the_runs() {
    let made_once = summary(&format!("{TENANTS}rate_iops = 700\n"));
    let base = &made_once.schedulers[0].total.all.as_ref().expect("completed");
    for run in &made_once.schedulers[1..] {
        let all = &run.paired.as_ref().expect("open loop").all;
        let own = run.total.all.as_ref().expect("completed");
        assert_eq!((all.requests, own.requests), (2_900, 2_900), "warm-up is left out");
        assert!((all.gain_ns - (base.mean_ns - own.mean_ns)).abs() < 1e-6 * base.mean_ns);
    }
    // Every page of a measured request has a slack, however it was served.
    let measured: Vec<u64> = made_once
        .schedulers
        .iter()
        .map(|run| run.slack.as_ref().expect("asked for").by_size.iter().map(|s| s.transactions).sum())
        .collect();
    assert!(measured.iter().all(|&count| count > 2_900 * 3), "{measured:?}");
    let again = made(&format!("{TENANTS}rate_iops = 700\n"), false).expect("runs");
    assert_eq!(made_once.to_json(), again.to_json());
}

#[test]
fn a_closed_loop_has_no_pairs() {
    let made = summary(&format!("{TENANTS}arrivals = \"closed-loop\"\ndepth = 4\n"));
    assert!(made.schedulers.iter().all(|run| run.paired.is_none()));
    assert!(made.schedulers[1].change_percent.is_some());
    assert!(!table::render(&made).contains("Request by request"));
}

/// Quiet reads, and in an eighth of the run a burst of writes that reads wait for: one burst makes the whole difference. It happened, so it is said, and
/// the drive is not called idle.
#[test]
fn a_difference_that_one_burst_makes_counts() {
    let mut trace = String::new();
    for i in 0..6_400u64 {
        let at = i * 400_000;
        if (2_600..3_400).contains(&i) {
            // A write before every read, of 4 to 256 KiB: queues grow from part to part.
            trace.push_str(&format!("{at} 0 {} {} 0\n", i % 512 * 128, 8u64 << ((i - 2_600) / 115)));
        }
        trace.push_str(&format!("{at} 0 {} 8 1\n", i % 1_000 * 8));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("burst.mqsim");
    std::fs::write(&path, trace).expect("a trace");
    let flow = format!("[[flow]]\n[flow.trace]\npath = {:?}\n", path.to_str().expect("a name in UTF-8"));
    let made = summary(&format!("device = \"flin-isca18\"\nschedulers = [\"fcfs\", \"read-first\"]\n{flow}"));
    let verdict = Verdict::of(&made);
    assert!(verdict.findings[0].text.starts_with("read-first wins for reads: mean "), "{verdict:?}");
    assert!(verdict.warnings.iter().all(|warning| warning.rule != Rule::Idle), "{verdict:?}");
}
