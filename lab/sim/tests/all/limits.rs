//! A run's limits, warm-up, and closed loops in complete runs, checked in their request rows.

use flashlane_report::results::{FlowStats, Format, ResultsDir};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, RowOutput, compare};

/// A row of a completed request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Row {
    id: u64,
    flow: usize,
    is_read: bool,
    arrival: u64,
    done: u64,
    counted: bool,
}

const DEVICE: &str = "\
schedulers = [\"read-first\"]
[device]
preset = \"flin-isca18\"
geometry = { channels = 2, blocks_per_plane = 32, pages_per_block = 32 }
ftl.user_bytes = 50331648
precondition.state = \"fresh\"
";

/// Runs flows with these keys (of `flow.synthetic`, unless they name another table) and limits; returns the figures of the run and of each flow, and the rows in order of
/// issue.
fn run(limits: &str, flows: &[&str]) -> (FlowStats, Vec<FlowStats>, Vec<Row>) {
    let kind = |keys: &str| if keys.starts_with('[') { "" } else { "[flow.synthetic]\n" };
    let flows: String = flows.iter().map(|keys| format!("[[flow]]\n{}{keys}\n", kind(keys))).collect();
    let text = format!("{DEVICE}[run]\nalone = false\n{limits}\n{flows}");
    let scenario = Scenario::parse("limits", text).unwrap_or_else(|why| panic!("{why}"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = ResultsDir::create(&folder.path().join("out")).unwrap_or_else(|why| panic!("{why}"));
    let rows = Some(RowOutput { dir: &dir, format: Format::Csv, transactions: false });
    let options = Options { audit: true, rows, activity: false, progress: None };
    let mut summary = compare(&scenario, &options).unwrap_or_else(|why| panic!("{why}")).summary;
    dir.write("summary.json", b"{}").unwrap_or_else(|why| panic!("{why}"));
    let path = dir.commit().unwrap_or_else(|why| panic!("{why}")).join("requests.csv");
    let mut reader = csv::Reader::from_path(path).expect("the rows");
    let header = reader.headers().expect("a header").clone();
    let place = |name: &str| header.iter().position(|column| column == name).expect("a column");
    let mut rows: Vec<Row> = reader
        .records()
        .map(|record| {
            let record = record.expect("a row");
            let number = |name: &str| record[place(name)].parse::<u64>().expect("a number");
            let (id, flow, arrival, done) =
                (number("id"), number("flow") as usize, number("arrival_ns"), number("done_ns"));
            Row { id, flow, is_read: &record[place("op")] == "read", arrival, done, counted: number("counted") == 1 }
        })
        .collect();
    rows.sort_by_key(|row| row.id);
    assert!(rows.iter().enumerate().all(|(i, row)| row.id == i as u64), "a row for each request");
    let result = summary.schedulers.remove(0);
    assert_eq!(result.total.completed, rows.len() as u64);
    assert_eq!(result.total.issued, result.total.completed + result.total.rejected);
    (result.total, result.flows.into_iter().map(|flow| flow.figures).collect(), rows)
}

/// The most requests of a flow present at a time; a request that comes as another ends does not overlap it.
fn most_present(rows: &[Row], flow: usize) -> i64 {
    let own = rows.iter().filter(|row| row.flow == flow);
    let mut steps: Vec<(u64, i64)> = own.flat_map(|row| [(row.arrival, 1), (row.done, -1)]).collect();
    steps.sort_unstable();
    let mut present = 0;
    steps.iter().map(|&(_, step)| (present += step, present).1).max().unwrap_or(0)
}

const OPEN: &str = "rate_iops = 20_000\nrequests = 1_000\nread_ratio = 0.6\nsize = { constant = 8192 }";

#[test]
fn a_limit_of_requests_keeps_the_first() {
    let (_, _, all) = run("", &[OPEN, OPEN]);
    assert_eq!(all.len(), 2000);
    let (_, flows, some) = run("requests = 700", &[OPEN, OPEN]);
    let came = |rows: &[Row]| rows.iter().map(|row| (row.flow, row.arrival)).collect::<Vec<_>>();
    assert_eq!(came(&some), came(&all[..700]), "all flows together, in order of time");
    assert_eq!(flows.iter().map(|flow| flow.issued).sum::<u64>(), 700);
    assert!(flows.iter().all(|flow| flow.issued > 250));
}

#[test]
fn a_limit_of_time_stops_arrivals_and_finishes_what_came() {
    let (_, _, all) = run("", &[OPEN]);
    let (_, _, some) = run("duration_ms = 20", &[OPEN]);
    let before = all.iter().filter(|row| row.arrival < 20_000_000).count();
    assert!(before > 300 && before < 500);
    assert_eq!(some.len(), before);
    assert!(some.iter().any(|row| row.done > 20_000_000), "writes of the last moment end later");
    let (_, _, none) = run("duration_ms = 1000\nrequests = 1000", &[OPEN]);
    assert_eq!(none, all, "limits that do not bind change nothing");
}

#[test]
fn warm_up_is_served_and_not_measured() {
    let mean = |rows: &[Row]| rows.iter().map(|row| (row.done - row.arrival) as f64).sum::<f64>() / rows.len() as f64;
    let (plain, _, all) = run("", &[OPEN]);
    let measured = plain.all.expect("requests");
    assert_eq!(measured.requests, 1000);
    assert!((measured.mean_ns / mean(&all) - 1.0).abs() < 1e-9);
    for (limits, first) in
        [("warm_up_requests = 250", 250), ("warm_up_ms = 20", all.iter().filter(|r| r.arrival < 20_000_000).count())]
    {
        let (warm, _, rows) = run(limits, &[OPEN]);
        let marked = all.iter().enumerate().map(|(i, row)| Row { counted: i >= first, ..*row });
        assert!(rows.iter().copied().eq(marked), "{limits}: warm-up changes what is counted, not what happens");
        assert_eq!((warm.issued, warm.completed), (1000, 1000), "{limits}");
        let figures = warm.all.expect("requests");
        assert_eq!(figures.requests, 1000 - first as u64, "{limits}");
        assert!((figures.mean_ns / mean(&all[first..]) - 1.0).abs() < 1e-9, "{limits}");
    }
    let (nothing, _, _) = run("warm_up_ms = 10_000", &[OPEN]);
    assert_eq!((nothing.completed, nothing.all), (1000, None));
}

fn closed(depth: u32, think_us: u32, requests: u32) -> String {
    format!(
        "arrivals = \"closed-loop\"\ndepth = {depth}\nthink_us = {think_us}\nrequests = {requests}\nread_ratio = 0.7\n\
         size = {{ mix = [[8192, 3], [65536, 1]] }}"
    )
}

#[test]
fn a_closed_loop_keeps_its_depth_and_its_think_time() {
    for (depth, think_us) in [(1, 0), (4, 0), (16, 0), (4, 150)] {
        let (_, _, rows) = run("", &[&closed(depth, think_us, 600)]);
        assert_eq!(rows.len(), 600);
        assert_eq!(most_present(&rows, 0), i64::from(depth), "depth {depth}");
        // Every arrival but the first few comes a think time after a completion.
        let mut arrivals: Vec<u64> = rows.iter().map(|row| row.arrival).collect();
        let mut follow: Vec<u64> = rows.iter().map(|row| row.done + u64::from(think_us) * 1000).collect();
        arrivals.sort_unstable();
        follow.sort_unstable();
        let depth = depth as usize;
        assert_eq!(arrivals[depth..], follow[..600 - depth], "depth {depth}, think time {think_us} us");
    }
}

#[test]
fn several_closed_loops_and_an_open_flow_share_a_device() {
    let (_, flows, rows) = run("", &[&closed(2, 0, 500), OPEN, &closed(9, 20, 700)]);
    assert_eq!(flows.iter().map(|flow| flow.issued).collect::<Vec<_>>(), [500, 1000, 700]);
    assert_eq!(most_present(&rows, 0), 2);
    assert_eq!(most_present(&rows, 2), 9);
    assert!(rows.windows(2).all(|pair| pair[0].arrival <= pair[1].arrival), "submitted in order of time");
}

#[test]
fn a_limit_of_requests_with_closed_loops() {
    let flows = [closed(3, 0, 2000), closed(5, 30, 2000)];
    let flows = [flows[0].as_str(), flows[1].as_str()];
    let (_, _, all) = run("", &flows);
    let (_, _, some) = run("requests = 801", &flows);
    let came = |rows: &[Row]| rows.iter().map(|row| (row.flow, row.arrival)).collect::<Vec<_>>();
    assert_eq!(came(&some), came(&all[..801]));
    assert!(most_present(&some, 0) == 3 && most_present(&some, 1) == 5);
}

#[test]
fn a_limit_of_time_with_closed_loops() {
    let flows = [closed(3, 0, 20_000), closed(5, 30, 20_000)];
    let (_, _, rows) = run("duration_ms = 30", &[flows[0].as_str(), flows[1].as_str()]);
    assert!(rows.len() > 200 && rows.iter().all(|row| row.arrival < 30_000_000));
    assert!(rows.iter().any(|row| row.done >= 30_000_000));
}

/// The error that stops a run of this flow on a small device.
fn stopped_by(limits: &str, flow: &str) -> String {
    let scenario = format!("{DEVICE}[run]\nalone = false\n{limits}\n[[flow]]\n{flow}\n");
    let scenario = Scenario::parse("limits", scenario).unwrap_or_else(|why| panic!("{why}"));
    let options = Options { audit: true, rows: None, activity: false, progress: None };
    compare(&scenario, &options).map(|_| ()).expect_err("nobody lives so long").to_string()
}

/// A run that reaches instants beyond the device's last one is stopped with an error instead of running for ever.
#[test]
fn nothing_happens_after_the_last_instant_and_nothing_hangs() {
    let last = flashlane_core::Time::LAST.ns();
    let read_at = |at: u64| format!("[[flow.request]]\nat_ns = {at}\nop = \"read\"\npages = [1]\n");
    let late = stopped_by("", &format!("{}{}", read_at(0), read_at(last + 1)));
    assert!(late.contains(&(last + 1).to_string()) && late.contains(&format!("up to {last} ns")), "{late}");
    let ends_late = stopped_by("", &format!("{}{}", read_at(0), read_at(last - 10)));
    assert!(ends_late.contains(&format!("ends at {last} ns")), "{ends_late}");
    let comes = ends_late.split("next event comes at ").nth(1).and_then(|rest| rest.split(' ').next()).expect("when");
    let late_by = comes.parse::<u64>().expect("a number of ns") - last;
    assert!((1..1_000_000).contains(&late_by), "a read ends within a millisecond: {ends_late}");
    let thinks =
        "[flow.synthetic]\narrivals = \"closed-loop\"\ndepth = 1\nthink_us = 9e14\nrequests = 9\nread_ratio = 1.0";
    let thinks_long = stopped_by("", thinks);
    assert!(thinks_long.contains(&format!("up to {last} ns")), "{thinks_long}");
    // A run that ends before that instant has no error.
    let ended = format!("[flow.synthetic]\n{}", closed(1, 0, 9).replace("think_us = 0", "think_us = 9e14"));
    let (figures, _, rows) = run("duration_ms = 1000", &[ended.trim_start_matches("[flow.synthetic]\n")]);
    assert_eq!((figures.issued, rows.len()), (1, 1));
}

/// From entry: with four commands of a flow outstanding at most, its k-th enters when k - 4 are done, if it has arrived by then.
/// Nothing else of the run changes.
#[test]
fn response_times_from_the_entry_into_the_queue() {
    let flows = [OPEN.replace("20_000", "90_000"), OPEN.replace("1_000", "300")];
    let flows = [flows[0].as_str(), flows[1].as_str()];
    let depth = "[device.front]\ndepth = 4";
    let (plain, _, arrived) = run(depth, &flows);
    let (from_entry, _, entered) = run(&format!("response_from = \"entry\"\n{depth}"), &flows);
    let mut later = 0;
    for flow in [0, 1] {
        let rows: Vec<(&Row, &Row)> = arrived.iter().zip(&entered).filter(|(row, _)| row.flow == flow).collect();
        let mut ends: Vec<u64> = rows.iter().map(|(row, _)| row.done).collect();
        ends.sort_unstable();
        for (k, (arrived, entered)) in rows.iter().enumerate() {
            let entry = arrived.arrival.max(if k < 4 { 0 } else { ends[k - 4] });
            assert_eq!(**entered, Row { arrival: entry, ..**arrived });
            later += u32::from(entry > arrived.arrival);
        }
    }
    assert!(later > 500 && later < 1300, "{later} waited for their queue");
    let mean = |figures: &FlowStats| figures.all.as_ref().expect("some").mean_ns;
    assert!(mean(&from_entry) < mean(&plain) / 2.0, "{} and {} ns", mean(&from_entry), mean(&plain));
    // Without a limit both are the same.
    let (_, _, open) = run("response_from = \"entry\"", &flows);
    assert_eq!(open, run("", &flows).2);
}

/// Requests offered and served per second, from the rows: those that arrive and those that complete from the first counted arrival
/// (itself left out) to the last; of a flow with a warm-up, no more served of a kind than offered.
fn rates<'a>(all: &[Row], own: impl Iterator<Item = &'a Row> + Clone) -> Option<(f64, f64)> {
    let counted = || all.iter().filter(|row| row.counted).map(|row| row.arrival);
    let (first, last) = (counted().min()?, counted().max()?);
    let (mut offered, mut served) = (0, 0);
    for (flow, is_read) in (0..4).flat_map(|flow| [(flow, true), (flow, false)]) {
        let is_warm = all.iter().any(|row| row.flow == flow && !row.counted);
        let inside = |of: fn(&Row) -> u64| {
            let of_kind = own.clone().filter(|row| (row.flow, row.is_read) == (flow, is_read));
            of_kind.filter(|row| (first + 1..=last).contains(&of(row))).count()
        };
        let (arrived, done) = (inside(|row| row.arrival), inside(|row| row.done));
        (offered, served) = (offered + arrived, served + if is_warm { done.min(arrived) } else { done });
    }
    let per_second = |count: usize| count as f64 / (last - first) as f64 * 1e9;
    (last > first).then(|| (per_second(offered), per_second(served)))
}

/// Whether these figures have the rates of the rows; how far apart offered and served are, as a share of what is offered.
#[track_caller]
fn apart(total: &FlowStats, flows: &[FlowStats], rows: &[Row]) -> f64 {
    let same = |figures: &Option<flashlane_report::results::ResponseStats>, expected: Option<(f64, f64)>| {
        let Some(f) = figures else { return };
        let found = f.offered_iops.zip(f.iops);
        assert!(
            found.zip(expected).is_none_or(|(a, b)| (a.0 - b.0).abs() + (a.1 - b.1).abs() < 1e-6),
            "{found:?} {expected:?}"
        );
        assert_eq!(found.is_some(), expected.is_some());
        // All requests of these flows have two pages of 4 KiB.
        let megabytes = expected.map_or(0.0, |(_, served)| served * 8192.0 / 1e6);
        assert!((f.mb_per_s.unwrap_or(0.0) - megabytes).abs() < 1e-6, "{:?} {megabytes}", f.mb_per_s);
    };
    for (i, figures) in std::iter::once((None, total)).chain(flows.iter().enumerate().map(|(i, flow)| (Some(i), flow)))
    {
        let own = rows.iter().filter(move |row| i.is_none_or(|i| row.flow == i));
        same(&figures.all, rates(rows, own.clone()));
        same(&figures.read, rates(rows, own.clone().filter(|row| row.is_read)));
        same(&figures.write, rates(rows, own.filter(|row| !row.is_read)));
    }
    rates(rows, rows.iter()).map_or(0.0, |(offered, served)| (offered - served).abs() / offered)
}

/// A load that the small device can take.
const QUIET: &str = "rate_iops = 4_000\nrequests = 2_000\nread_ratio = 0.8\nsize = { constant = 8192 }";

/// What is served a second is what completes while load is offered, with any warm-up; without overload it is what is offered.
#[test]
fn what_is_served_is_what_completes_in_the_window() {
    let plain = run("", &[QUIET]);
    let warm = run("warm_up_ms = 250", &[QUIET]);
    for (total, flows, rows) in [&plain, &warm] {
        assert!(apart(total, flows, rows) < 0.01, "not overloaded: {:?}", rates(rows, rows.iter()));
    }
    let served = |figures: &FlowStats| figures.all.as_ref().unwrap().iops.unwrap();
    assert!((served(&plain.0) / served(&warm.0) - 1.0).abs() < 0.05, "half a run of warm-up does not halve it");
    // Two flows have one span; the first requests of each are warm-up, which is load too.
    let (total, flows, rows) = run("warm_up_requests = 300", &[QUIET, &QUIET.replace("4_000", "1_400")]);
    assert!(apart(&total, &flows, &rows) < 0.01);
    assert_eq!([flows[0].window_ns, flows[1].window_ns], [total.window_ns; 2]);
    let sum: f64 = flows.iter().map(served).sum();
    assert!((sum - served(&total)).abs() < 1e-6, "{sum} {}", served(&total));
    // More than the drive can do: it completes less than arrives.
    let (total, flows, rows) = run("", &[OPEN]);
    assert!(apart(&total, &flows, &rows) > 0.1, "overloaded");
}

/// A closed loop is offered what it is served; one request, or requests of one instant, have no rates.
#[test]
fn rates_of_closed_loops_and_single_requests() {
    for limits in ["", "warm_up_ms = 3"] {
        let even = |keys: String| keys.replace("{ mix = [[8192, 3], [65536, 1]] }", "{ constant = 8192 }");
        let loops = [even(closed(4, 0, 1_000)), even(closed(2, 50, 300))];
        let (total, flows, rows) = run(limits, &[loops[0].as_str(), loops[1].as_str()]);
        assert!(apart(&total, &flows, &rows) < 0.01, "{limits}");
    }
    for requests in [1, 2] {
        let (total, _, rows) = run("", &[&closed(requests, 0, requests)]);
        assert!(rows.iter().all(|row| row.arrival == rows[0].arrival));
        let all = total.all.expect("it completes");
        assert_eq!((all.requests, all.offered_iops, all.iops, all.mb_per_s), (requests.into(), None, None, None));
    }
}

/// Requests that the trace's reader refuses never reach the drive: they are neither offered nor served.
#[test]
fn rejected_requests_have_no_part_in_rates() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("beyond.mqsim");
    let line = |i: u64| format!("{} 0 {} 16 1\n", i * 50_000, if i % 4 == 3 { 1 << 40 } else { i * 16 });
    std::fs::write(&path, (0..2_000).map(line).collect::<String>()).expect("a trace");
    let trace = format!("[flow.trace]\npath = {:?}\nbeyond = \"reject\"", path.to_str().expect("a name in UTF-8"));
    let (total, flows, rows) = run("", &[&trace]);
    assert_eq!((total.issued, total.completed, total.rejected), (2_000, 1_500, 500));
    assert!(apart(&total, &flows, &rows) < 0.01);
}

/// What arrives when the warm-up ends counts; milliseconds are milliseconds, and the window of the rates begins there.
#[test]
fn a_warm_up_ends_at_its_millisecond() {
    let flow = "arrivals = \"constant\"\nrate_iops = 1000\nread_ratio = 1.0\nsize = { constant = 8192 }\nrequests = 20";
    let (total, _, rows) = run("warm_up_ms = 5", &[flow]);
    assert!(rows.iter().all(|row| row.counted == (row.arrival >= 5_000_000)), "{rows:?}");
    assert_eq!(rows.iter().filter(|row| row.counted).count(), 15);
    let all = total.all.expect("requests");
    assert_eq!((all.requests, total.window_ns), (15, 14_000_000));
}
