//! What dies do over time, against what the same run says otherwise.

use flashlane_core::Op;
use flashlane_report::metrics::{Activity, Measure};
use flashlane_report::results::{Format, ResultsDir, Summary};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, RowOutput, compare};

const SCENARIO: &str = "schedulers = [\"fr-fcfs\", \"sprinkler\"]\n[device]\npreset = \"flin-isca18\"\n\
    geometry.blocks_per_plane = 64\nftl.user_gb = 7\nprecondition = { state = \"STATE\" }\n[run]\nalone = false\n\
    collect = \"semi-preemptive\"\n[[flow]]\n\
    synthetic = { read_ratio = 0.5, access = \"random\", rate_iops = 40000, requests = 6000 }\n";

fn made(state: &str, activity: bool, rows: Option<RowOutput<'_>>) -> (Summary, Vec<Activity>) {
    let scenario = Scenario::parse("activity.toml", SCENARIO.replace("STATE", state)).expect("a scenario");
    let options = Options { audit: false, rows, activity, progress: None };
    let made = compare(&scenario, &options).unwrap_or_else(|error| panic!("{error}"));
    (made.summary, made.activity)
}

/// All of a measure, ns.
fn total(activity: &Activity, measure: Measure) -> f64 {
    let cells = (0..activity.windows()).flat_map(|window| (0..activity.rows()).map(move |row| (window, row)));
    cells.map(|(window, row)| activity.mean(measure, window, row)).sum::<f64>() * activity.width_ns() as f64
}

#[test]
fn busy_waiting_and_requests_are_those_of_the_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = ResultsDir::create(&folder.path().join("out")).expect("a folder for results");
    let rows = Some(RowOutput { dir: &dir, format: Format::Csv, transactions: true });
    let (summary, activity) = made("steady", true, rows);
    dir.write("summary.json", b"{}").expect("written");
    let out = dir.commit().expect("committed");
    assert_eq!(activity.len(), 2);
    for (run, activity) in summary.schedulers.iter().zip(&activity) {
        let mut reader = csv::Reader::from_path(out.join(&run.name).join("transactions.csv")).expect("the rows");
        let header: Vec<String> = reader.headers().expect("a header").iter().map(String::from).collect();
        let column = |name: &str| header.iter().position(|own| own == name).expect("the column");
        let columns = ["enqueue_ns", "dispatch_ns", "done_ns", "owner"].map(column);
        let last = run.total.last_completion_ns as f64;
        let (mut waited, mut collected) = (0.0, 0);
        for row in reader.records() {
            let row = row.expect("a row");
            let number = |i: usize| row[columns[i]].parse::<f64>().ok();
            let (enqueue, dispatch, done) = (number(0).unwrap(), number(1), number(2).unwrap());
            waited += (dispatch.unwrap_or(done).min(last) - enqueue).max(0.0);
            collected += u32::from(&row[columns[3]] == "gc");
        }
        let seen = total(activity, Measure::Waiting);
        assert!((seen - waited).abs() <= 1e-9 * waited && waited > 0.0, "{}: {seen}, rows say {waited}", run.name);
        let collecting = total(activity, Measure::Collecting);
        assert!(collected > 0 && collecting > 0.0 && collecting < total(activity, Measure::Busy), "{collecting}");
        let (first, last) = activity.steps();
        let requests = |op: Op| -> u64 {
            let cells = (0..activity.windows()).flat_map(|window| (first..last).map(move |step| (window, step)));
            cells.map(|(window, step)| u64::from(activity.requests(op, window, step))).sum()
        };
        let completed = |figures: &Option<flashlane_report::results::ResponseStats>| {
            figures.as_ref().map_or(0, |figures| figures.requests)
        };
        assert_eq!(requests(Op::Read), completed(&run.total.read));
        assert_eq!(requests(Op::Write), completed(&run.total.write));
    }
}

/// Without collections nothing goes on after the last completion, and a unit of this device is a die.
#[test]
fn busy_is_what_the_device_says() {
    let (summary, activity) = made("fresh", true, None);
    assert!(summary.schedulers[1].device.pauses > 0, "programs were paused");
    for (run, activity) in summary.schedulers.iter().zip(&activity) {
        let dies = activity.rows() as f64;
        let busy = total(activity, Measure::Busy) / dies / run.total.last_completion_ns as f64;
        let message = run.device.chip_utilisation;
        assert!((busy - message).abs() < 1e-3 * message, "{}: busy {busy}, the device says {message}", run.name);
        assert_eq!(total(activity, Measure::Collecting), 0.0);
    }
}

#[test]
fn figures_are_the_same_with_and_without() {
    let (with, without) = (made("steady", true, None).0, made("steady", false, None));
    assert_eq!(with.to_json(), without.0.to_json());
    assert!(without.1.is_empty());
}
