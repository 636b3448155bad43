//! How traces are replayed: closed, their volumes apart, their flows as far apart as they were recorded.

use flashlane_report::results::Summary;
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare};
use tempfile::TempDir;

use crate::common::FLIN;

/// The figures of a scenario with these flows beside these files, and the remarks.
fn made(files: &[(&str, &str)], flows: &str) -> (Summary, Vec<String>) {
    let folder = TempDir::new().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    let path = folder.path().join("s.toml");
    let scenario = Scenario::of_file(&path, format!("schedulers = [\"fcfs\"]\n{FLIN}{flows}"))
        .unwrap_or_else(|why| panic!("{why}"));
    let options = Options { audit: true, rows: None, activity: false, progress: None };
    let made = compare(&scenario, &options).unwrap_or_else(|why| panic!("{why}"));
    (made.summary, made.remarks.into_iter().map(|(flow, text)| format!("{flow}: {text}")).collect())
}

/// 600 requests of 8 KiB, a burst each millisecond.
fn trace() -> String {
    (0..600u64).map(|i| format!("{} 0 {} 16 {}\n", i / 20 * 1_000_000, i * 7_919 % 40_000 * 16, i % 2)).collect()
}

#[test]
fn a_closed_replay_keeps_its_depth_outstanding() {
    let text = trace();
    let run = |depth: u32| {
        let flow = format!("[[flow]]\ntrace = {{ path = \"t.mqsim\", replay = \"closed\", depth = {depth} }}\n");
        let (summary, _) = made(&[("t.mqsim", &text)], &flow);
        assert_eq!((summary.flows[0].depth, summary.schedulers[0].total.completed), (Some(depth), 600));
        let recorded = summary.flows[0].recorded.as_ref().expect("a trace");
        assert_eq!((recorded.requests, recorded.span_ns), (600, 29_000_000.0), "as recorded, whatever the replay");
        (summary.schedulers[0].total.makespan_ns, summary.schedulers[0].total.all.as_ref().expect("requests").mean_ns)
    };
    let (one, mean) = run(1);
    // One at a time: each begins when the one before is done, so their times add up to the run's.
    assert!((mean * 600.0 - one as f64).abs() < 1.0, "{mean} {one}");
    let (eight, _) = run(8);
    assert!(eight < one / 3, "{eight} and {one}");
}

/// With as many outstanding as there are requests, all are sent at the start, in the order of the trace.
#[test]
fn a_closed_replay_as_deep_as_the_trace_is_a_burst() {
    let text = trace();
    let burst: String = text.lines().map(|line| format!("0 {}\n", line.split_once(' ').expect("columns").1)).collect();
    let closed = "[[flow]]\ntrace = { path = \"t.mqsim\", replay = \"closed\", depth = 600 }\n";
    let (closed, _) = made(&[("t.mqsim", &text)], closed);
    let (open, _) = made(&[("t.mqsim", &burst)], "[[flow]]\ntrace = \"t.mqsim\"\n");
    assert_eq!(closed.schedulers[0].total.all, open.schedulers[0].total.all);
}

/// A closed replay is sent by itself too, and begins when it is told to.
#[test]
fn closed_replays_have_alone_runs() {
    let text = trace();
    let flow = |name: &str, more: &str| {
        format!("[[flow]]\nname = \"{name}\"\ntrace = {{ path = \"t.mqsim\", replay = \"closed\", depth = 4{more} }}\n")
    };
    let (summary, _) = made(&[("t.mqsim", &text)], &(flow("a", "") + &flow("b", ", start_ns = 1_000_000")));
    let flows = &summary.schedulers[0].flows;
    assert!(flows.iter().all(|flow| flow.slowdown.is_some_and(|slowdown| slowdown > 1.0)), "{flows:?}");
    assert_eq!(flows[1].figures.first_arrival_ns, Some(1_000_000));
}

/// Two volumes, of which the second is used when the first is no more.
#[test]
fn flows_of_one_file_do_not_meet_where_their_recordings_did_not() {
    let line =
        |volume: u32, us: u64, at: u64| format!("{volume},W,{},16384,{}\n", at * 16_384, 1_577_808_000_000_000 + us);
    let text: String =
        (0..300).map(|i| line(7, i * 50, i)).chain((0..300).map(|i| line(9, 900_000 + i * 50, i))).collect();
    let flow = |name: &str, device: u32, more: &str| {
        format!("[[flow]]\nname = \"{name}\"\ntrace = {{ path = \"t.alibaba\", device = \"{device}\"{more} }}\n")
    };
    let files = [("t.alibaba", &text[..])];
    let slowdowns = |summary: &Summary| -> Vec<f64> {
        summary.schedulers[0].flows.iter().map(|flow| flow.slowdown.expect("run alone")).collect()
    };
    let (kept, remarks) = made(&files, &(flow("a", 7, "") + &flow("b", 9, "")));
    assert!(remarks.contains(&"b: begins 900.000 ms after a, as recorded".to_owned()), "{remarks:?}");
    let (by_hand, _) = made(&files, &(flow("a", 7, "") + &flow("b", 9, ", start_ns = 900_000_000")));
    assert_eq!(slowdowns(&kept), slowdowns(&by_hand));
    assert_eq!(kept.schedulers[0].total.all, by_hand.schedulers[0].total.all);
    let (at_once, _) = made(&files, &(flow("a", 7, "") + &flow("b", 9, ", start_ns = 0")));
    assert!(slowdowns(&at_once)[0] > slowdowns(&kept)[0] + 0.1, "{:?} {:?}", slowdowns(&at_once), slowdowns(&kept));
    // Volumes apart are the same two flows.
    let (apart, remarks) =
        made(&files, "[[flow]]\nname = \"t\"\ntrace = { path = \"t.alibaba\", volumes = \"apart\" }\n");
    assert_eq!(apart.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<_>>(), ["t:7", "t:9"]);
    assert_eq!(apart.schedulers[0].total.all, by_hand.schedulers[0].total.all, "{remarks:?}");
    assert!(!remarks.iter().any(|remark| remark.contains("share addresses")), "{remarks:?}");
}

#[test]
fn how_many_volumes_share_addresses_is_said_with_the_figures() {
    let text: String = (0..400u64).map(|i| format!("{},{},4096,w,0.{:06}\n", i % 4, i / 4 * 8, i * 900)).collect();
    let of = |volumes: &str| {
        let flow = format!("[[flow]]\ntrace = {{ path = \"t.spc\"{volumes} }}\n");
        let (summary, remarks) = made(&[("t.spc", &text)], &flow);
        (summary.flows[0].recorded.as_ref().and_then(|recorded| recorded.volumes), remarks.concat())
    };
    let (volumes, remark) = of("");
    assert!(volumes == Some(4) && remark.contains("; 4 volumes share addresses (volumes = together"), "{remark}");
    let (volumes, remark) = of(", volumes = \"together\"");
    assert!(
        volumes == Some(4) && remark.ends_with("; its 4 volumes follow each other in one address space"),
        "{remark}"
    );
    let (volumes, remark) = of(", device = \"2\"");
    assert!(volumes.is_none() && !remark.contains("volumes"), "{remark}");
}
