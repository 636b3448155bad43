//! Estimated and actual times: the shadow estimator's figures on hand-worked scenes, its columns, and the oracle.

use flashlane_report::results::{EstimateStats, Format, ResultsDir, Summary};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, RowOutput, RunError, compare};

fn made(text: &str) -> Result<Summary, RunError> {
    let scenario = Scenario::parse("estimates", text.to_owned()).unwrap_or_else(|why| panic!("{why}"));
    let options = Options { audit: true, rows: None, activity: false, progress: None };
    compare(&scenario, &options).map(|made| made.summary)
}

/// Two chips of one plane on one channel; 75 and 1300 us, and 24,601 ns per page on the bus.
const DEVICE: &str = r#"
[device]
preset = "slacker-asplos17"
[device.geometry]
channels = 1
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
[device.precondition]
state = "fresh"
[[flow]]
name = "scene"
"#;

fn reads(text: &str) -> EstimateStats {
    let summary = made(text).unwrap_or_else(|why| panic!("{why}"));
    summary.schedulers[0].estimation.clone().expect("asked for").read.expect("there are reads")
}

/// A read comes 300 us into a program: the remaining time is known, and so is everything else.
#[test]
fn a_residual_is_estimated_exactly() {
    let scene =
        "request = [\n{ at_ns = 0, op = \"write\", pages = [0] },\n{ at_ns = 300_000, op = \"read\", pages = [2] }]";
    let run = "scheduler = \"fr-fcfs\"\n[run]\nshadow_estimator = true";
    let read = reads(&format!("{run}{DEVICE}{scene}"));
    assert_eq!((read.estimated_ns, read.actual_ns), (1_124_202.0, 1_124_202.0));
    assert_eq!((read.error_percent, read.mape_percent), (Some(0.0), Some(0.0)));
    assert_eq!((read.parts.residual.estimated_ns, read.parts.residual.actual_ns), (1_024_601.0, 1_024_601.0));
    let others = [&read.parts.queue, &read.parts.gc, &read.parts.interference];
    assert!(others.iter().all(|part| part.estimated_ns == 0.0 && part.actual_ns == 0.0), "{read:?}");
}

/// Two reads at once on one channel: the second waits for the bus, which no estimate foresees.
#[test]
fn waiting_for_the_bus_is_interference() {
    let scene = "request = [\n{ at_ns = 0, op = \"read\", pages = [0] },\n{ at_ns = 0, op = \"read\", pages = [1] }]";
    let own = "schedulers = [{ name = \"shadowed\", base = \"fr-fcfs\", shadow = 1 }, \"fr-fcfs\"]";
    let text = format!("{own}{DEVICE}{scene}");
    let read = reads(&text);
    assert_eq!((read.estimated_ns, read.actual_ns), (99_601.0, 99_601.0 + 24_601.0 / 2.0));
    assert_eq!((read.parts.interference.estimated_ns, read.parts.interference.actual_ns), (0.0, 24_601.0 / 2.0));
    assert_eq!(read.parts.queue.actual_ns, 0.0);
    assert_eq!(read.error_percent, Some(24_601.0 * 100.0 / (99_601.0 + 124_202.0)));
    assert_eq!(read.mape_percent, Some((24_601_000_000_u64 / 124_202) as f64 / 20_000.0), "millionths, rounded down");
    assert!(made(&text).expect("made").schedulers[1].estimation.is_none(), "not asked for");
}

/// Three writes for one chip and one that has a page on the other too: estimated and actual slack, and the queue's
/// part.
#[test]
fn slack_and_queue() {
    let scene = "request = [\n{ at_ns = 0, op = \"write\", pages = [0] },\n{ at_ns = 0, op = \"write\", pages = [2] },\n\
                 { at_ns = 0, op = \"write\", pages = [4, 1] }]";
    let run = "scheduler = \"baseline\"\n[run]\nshadow_estimator = true";
    let summary = made(&format!("{run}{DEVICE}{scene}")).expect("made");
    let writes = summary.schedulers[0].estimation.as_ref().and_then(|e| e.write.clone()).expect("writes");
    // Of four transactions one can wait for the two that page 4 waits for. The bus gives the other chip its data second.
    let program = 1_324_601.0;
    assert_eq!((writes.transactions, writes.estimated_slack_ns), (4, 2.0 * program / 4.0));
    assert_eq!(writes.actual_slack_ns, (2.0 * program - 24_601.0) / 4.0);
    assert_eq!(
        (writes.parts.queue.estimated_ns, writes.parts.queue.actual_ns),
        (3.0 * program / 4.0, 3.0 * program / 4.0)
    );
}

/// The columns of the rows of transactions: the fillers of A-SLK-01, then A and B, under the bypass.
#[test]
fn the_columns_of_estimates() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/golden/a-slk-01.toml");
    let mut scenario = Scenario::load(&path).expect("a scenario");
    scenario.set("schedulers", "--schedulers", |document| {
        document.schedulers = Some(vec![flashlane_scenario::SchedulerChoice::Named("rbyp".into())]);
    });
    let out = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("estimates");
    // Results of another version may be there.
    let _ = std::fs::remove_dir_all(&out);
    let dir = ResultsDir::create(&out).expect("a folder");
    let rows = Some(RowOutput { dir: &dir, format: Format::Csv, transactions: true });
    let options = Options { audit: true, rows, activity: false, progress: None };
    let made = compare(&scenario, &options).expect("made");
    dir.write("summary.json", made.summary.to_json().as_bytes()).expect("written");
    let text = std::fs::read_to_string(dir.commit().expect("there").join("transactions.csv")).expect("rows");
    let header: Vec<&str> = text.lines().next().expect("a header").split(',').collect();
    let columns =
        ["request", "lpn", "slack_ns", "response_ns", "estimated_response_ns", "estimated_slack_ns", "actual_slack_ns"];
    let places = columns.map(|name| header.iter().position(|h| *h == name).expect("a column"));
    let mut last: Vec<[u64; 7]> = text
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            places.map(|place| cells[place].parse().expect("a number"))
        })
        .filter(|row: &[u64; 7]| row[0] >= 12)
        .collect();
    last.sort_unstable();
    let k = |row: [u64; 7]| [row[0], row[1]].into_iter().chain(row[2..].iter().map(|ns| ns * 1000)).collect::<Vec<_>>();
    let expected = [
        [12, 100, 7, 1, 1, 7, 7],
        [12, 101, 0, 8, 8, 0, 0],
        [12, 102, 2, 6, 5, 3, 2],
        [13, 106, 0, 5, 5, 0, 0],
        [13, 107, 3, 2, 2, 3, 3],
    ];
    assert_eq!(last.iter().map(|row| row.to_vec()).collect::<Vec<_>>(), expected.map(k));
}

const SMALL: &str = r#"
[device]
preset = "slacker-asplos17"
[device.geometry]
blocks_per_plane = 256
[[flow]]
name = "mix"
[flow.synthetic]
read_ratio = 0.5
requests = 3000
size = { uniform = { min_bytes = 8192, max_bytes = 65536 } }
"#;

/// The oracle gets the baseline's response times: its estimates are exact until a decision changes the order.
#[test]
fn an_oracle_knows_the_baseline() {
    let text = format!(
        "schedulers = [\"fr-fcfs\", {{ name = \"seer\", base = \"oracle-slack\", rbyp = 0, wbyp = 0, preempt = \"never\", \
         shadow = 1 }}, \"oracle-slack\"]{SMALL}rate_iops = 4000\n[run]\nshadow_estimator = true\n"
    );
    let summary = made(&text).expect("made");
    let [base, seer, oracle] = &summary.schedulers[..] else { panic!("three") };
    assert_eq!(base.total, seer.total);
    let all = |i: usize| summary.schedulers[i].estimation.as_ref().expect("asked for").all.clone();
    assert!(all(0).error_percent > Some(0.1), "{:?}", all(0));
    assert_eq!((all(1).error_percent, all(1).mape_percent), (Some(0.0), Some(0.0)));
    assert_eq!(all(1).estimated_slack_ns, all(0).actual_slack_ns);
    assert!(oracle.touched.write_jumped > 10 && oracle.total != base.total);
}

/// Arrivals of a closed loop depend on completions, so no baseline run has the same arrivals.
#[test]
fn an_oracle_refuses_closed_loops() {
    let text = format!("scheduler = \"oracle-slack\"{SMALL}arrivals = \"closed-loop\"\ndepth = 4\n");
    let error = made(&text).expect_err("refused").to_string();
    assert!(error.contains("oracle-slack") && error.contains("closed loop"), "{error}");
}

/// Shadow mode changes no figure.
#[test]
fn the_shadow_is_only_a_look() {
    let text =
        |run: &str| format!("schedulers = [\"read-first\", \"slacker\", \"dynalloc\"]{SMALL}rate_iops = 3000\n{run}");
    let (plain, mut looked) =
        (made(&text("")).expect("made"), made(&text("[run]\nshadow_estimator = true\n")).expect("made"));
    for run in &mut looked.schedulers {
        assert!(run.estimation.take().is_some_and(|e| e.all.transactions > 3000));
    }
    assert_eq!(plain.schedulers, looked.schedulers);
}

/// The slack that is measured from ends alone is that of the rows of transactions, whatever happens to writes on their way.
#[test]
fn slack_is_that_of_the_rows() {
    let names = ["fr-fcfs", "slacker", "flin", "sos", "hos", "dynalloc"];
    let buffer = "[device.buffer]\npages = 128\n[device.ftl]\nread_modify_write = true\n";
    let host = "[host]\n";
    let mut cancelled = 0;
    for (number, extra) in ["", buffer, host].into_iter().enumerate() {
        let schedulers = if extra == host { vec!["fr-fcfs"] } else { names.to_vec() };
        for name in schedulers {
            let text = SMALL.replace("[[flow]]", &format!("{extra}[[flow]]")).replace("8192, max", "4096, max");
            let text = format!(
                "scheduler = \"{name}\"{text}size_step_bytes = 4096\nrate_iops = 3000\n\
                 rewrite = {{ ratio = 0.5, distance_requests = 3 }}\n[run]\nslack = true\n"
            );
            let scenario = Scenario::parse("slack", text).unwrap_or_else(|why| panic!("{why}"));
            let out = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("slack-{name}-{number}"));
            let _ = std::fs::remove_dir_all(&out);
            let dir = ResultsDir::create(&out).expect("a folder");
            let rows = Some(RowOutput { dir: &dir, format: Format::Csv, transactions: true });
            let options = Options { audit: false, rows, activity: false, progress: None };
            let summary = compare(&scenario, &options).expect("made").summary;
            dir.write("summary.json", summary.to_json().as_bytes()).expect("written");
            let rows = std::fs::read_to_string(dir.commit().expect("there").join("transactions.csv")).expect("rows");
            let (mut count, mut sum) = (0u64, 0u64);
            let mut lines = rows.lines();
            let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
            let place = |name: &str| header.iter().position(|column| *column == name).expect("a column");
            for line in lines {
                let cells: Vec<&str> = line.split(',').collect();
                cancelled += u64::from(cells[place("cancelled")] == "true");
                if let Ok(slack) = cells[place("actual_slack_ns")].parse::<u64>() {
                    (count, sum) = (count + 1, sum + slack);
                }
            }
            let slack = summary.schedulers[0].slack.as_ref().expect("asked for");
            let sides = || [&slack.read, &slack.write].into_iter().flatten();
            let measured: u64 = sides().map(|side| side.transactions).sum();
            let total: f64 = sides().map(|side| side.mean_ns * side.transactions as f64).sum();
            assert!(count > 3_000 && sum > 0, "{name} {extra}: {count}");
            assert_eq!((measured, total.round() as u64), (count, sum), "{name} {extra}");
        }
    }
    assert!(cancelled > 10, "{cancelled}");
}
