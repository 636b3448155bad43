//! Figures of the device, of overload and of fairness are about what is counted: from the first counted arrival to the last counted
//! completion, and by each flow's own time.

use flashlane_report::results::verdict::{Rule, Verdict};
use flashlane_report::results::{DeviceStats, FlowResult, Format, ResultsDir, Summary, table};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, RowOutput, compare};

use crate::common::FLIN;

/// A drive of today with few of its blocks: most of a test would else be the tables of pages that no request touches.
const MODERN: &str =
    "[device]\npreset = \"modern-tlc\"\ngeometry.blocks_per_plane = 40\nftl.over_provisioning_percent = 12.7\n";

/// A small drive that collects from the first write on.
const SMALL: &str = "\
[device]
preset = \"flin-isca18\"
geometry = { channels = 2, blocks_per_plane = 32, pages_per_block = 32 }
ftl.user_bytes = 50331648
";

fn scenario(head: &str, device: &str, run: &str, flows: &[&str]) -> Scenario {
    let flows: String = flows.iter().map(|keys| format!("[[flow]]\n{keys}\n")).collect();
    let text = format!("{head}\n{device}\n[run]\n{run}\n{flows}");
    Scenario::parse("counted", text).unwrap_or_else(|why| panic!("{why}"))
}

fn made(scenario: &Scenario, audit: bool) -> Summary {
    let options = Options { audit, rows: None, activity: false, progress: None };
    compare(scenario, &options).unwrap_or_else(|why| panic!("{why}")).summary
}

fn device(head: &str, device: &str, run: &str, flows: &[&str]) -> DeviceStats {
    made(&scenario(head, device, &format!("alone = false\n{run}"), flows), false).schedulers.remove(0).device
}

/// From the first counted arrival to the last counted completion, by the rows of the requests.
fn counted_ns(scenario: &Scenario) -> (DeviceStats, u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = ResultsDir::create(&folder.path().join("out")).unwrap_or_else(|why| panic!("{why}"));
    let rows = Some(RowOutput { dir: &dir, format: Format::Csv, transactions: false });
    let options = Options { audit: false, rows, activity: false, progress: None };
    let mut summary = compare(scenario, &options).unwrap_or_else(|why| panic!("{why}")).summary;
    dir.write("summary.json", b"{}").unwrap_or_else(|why| panic!("{why}"));
    let path = dir.commit().unwrap_or_else(|why| panic!("{why}")).join("requests.csv");
    let mut reader = csv::Reader::from_path(path).expect("the rows");
    let header = reader.headers().expect("a header").clone();
    let place = |name: &str| header.iter().position(|column| column == name).expect("a column");
    let (mut first, mut last) = (u64::MAX, 0);
    for record in reader.records().map(|record| record.expect("a row")) {
        let number = |name: &str| record[place(name)].parse::<u64>().expect("a number");
        if number("counted") == 1 {
            (first, last) = (first.min(number("arrival_ns")), last.max(number("done_ns")));
        }
    }
    (summary.schedulers.remove(0).device, last - first)
}

const WRITES: &str =
    "synthetic = { rate_iops = 3_000, requests = 3_000, read_ratio = 0.5, size = { constant = 8192 } }";
const SLOW: &str = "synthetic = { rate_iops = 300, requests = 200, read_ratio = 0.5, size = { constant = 8192 } }";
const CLOSED: &str = "synthetic = { arrivals = \"closed-loop\", depth = 16, requests = 2_000, read_ratio = 0.5, size = { constant = 8192 } }";
const THINKS: &str =
    "synthetic = { arrivals = \"closed-loop\", depth = 1, think_us = 300, requests = 900, read_ratio = 0.9 }";

/// With any warm-up, and where requests that are left out come after the last one that is counted: the 200 of a slow flow beside others, of
/// which no more than 250 are left out.
#[test]
fn the_device_is_observed_from_the_first_counted_arrival_to_the_last_counted_completion() {
    for run in
        ["", "warm_up_ms = 300", "warm_up_requests = 250", "warm_up_ms = 100\nwarm_up_requests = 220\nrequests = 2_500"]
    {
        for flows in
            [&[WRITES][..], &[WRITES, SLOW], &[CLOSED], &[CLOSED, SLOW], &[THINKS, SLOW], &[SLOW, CLOSED, WRITES]]
        {
            let scenario =
                scenario("scheduler = \"read-first-suspend\"", SMALL, &format!("alone = false\n{run}"), flows);
            let (device, counted) = counted_ns(&scenario);
            assert_eq!(device.observed_ns, counted, "{run} {flows:?}");
            let most = device.chip_utilisation_each.iter().chain(&device.channel_utilisation_each).copied();
            assert!(most.fold(0.0, f64::max) <= 1.0, "{run} {flows:?}: {device:?}");
        }
    }
}

/// Requests that are written out: reads of these pages, and writes if they are odd, at these instants.
fn listed(requests: impl Iterator<Item = (u64, u64)>) -> String {
    let one = |(at, page): (u64, u64)| {
        let op = if page % 2 == 1 { "write" } else { "read" };
        format!("[[flow.request]]\nat_ns = {at}\nop = \"{op}\"\npages = [{page}]\n")
    };
    requests.map(one).collect()
}

/// What was done before the first counted arrival is in no figure: the same requests after a warm-up of reads and a pause, and without.
#[test]
fn a_warm_up_that_is_over_changes_no_figure_of_the_device() {
    let own = |from: u64| (0..400).map(move |i| (from + 40_000 * i, i % 120));
    let plain = listed(own(0));
    let warm = listed((0..300).map(|i| (20_000 * i, 2 * (i % 60))).chain(own(100_000_000)));
    let fresh = format!("{SMALL}precondition.state = \"fresh\"\n");
    for scheduler in ["fcfs", "read-first-suspend", "late"] {
        let head = format!("scheduler = \"{scheduler}\"");
        let without = device(&head, &fresh, "", &[&plain]);
        assert!(without.chip_utilisation > 0.1 && without.user_programs > 100, "{without:?}");
        for run in ["warm_up_ms = 50", "warm_up_requests = 300"] {
            assert_eq!(device(&head, &fresh, run, &[&warm]), without, "{scheduler} {run}");
        }
        assert_ne!(device(&head, &fresh, "", &[&warm]), without);
    }
}

/// What the drive does after the last completion is in no figure: folds after idle time, and collections that go on.
#[test]
fn what_comes_after_the_last_completion_changes_no_figure_of_the_device() {
    let reads = "range = \"all\"\nsynthetic = { read_ratio = 1, size = { constant = 4096 }, align_bytes = 4096, access = \"random\", arrivals = \"closed-loop\", depth = 32, requests = 5_000 }";
    let of = |idle_ms: u64| {
        let device = format!("[device]\npreset = \"client-tlc\"\nslc.idle_ms = {idle_ms}\n");
        made(&scenario("scheduler = \"fcfs\"", &device, "alone = false", &[reads]), false)
    };
    // Longer than any pause between two requests.
    let [soon, late] = [100, 2_000].map(|idle_ms| of(idle_ms).schedulers.remove(0));
    assert_eq!(soon.total, late.total);
    assert!(soon.device.chip_utilisation > 0.6, "{}", soon.device.chip_utilisation);
    assert_eq!(soon.device, late.device);
    assert_eq!(soon.device.observed_ns, soon.total.last_completion_ns - soon.total.first_arrival_ns.unwrap_or(0));
}

/// Counters at both ends are the same whether events are logged or not: transfers on a bus are then counted at another instant.
#[test]
fn the_figures_of_the_device_are_the_same_with_the_auditor() {
    for run in ["warm_up_ms = 37", "warm_up_requests = 333", ""] {
        for scheduler in ["fcfs", "read-first-suspend", "late", "flin"] {
            let run = format!("alone = false\n{run}");
            let scenario = scenario(&format!("scheduler = \"{scheduler}\""), SMALL, &run, &[WRITES, CLOSED]);
            let [audited, plain] = [true, false].map(|audit| made(&scenario, audit).schedulers.remove(0).device);
            assert_eq!(audited, plain, "{scheduler} {run}");
        }
    }
}

/// Nor does the end of a run depend on it: here the last request completes at the instant of its arrival, at which its program begins too.
#[test]
fn the_last_instant_is_the_same_with_the_auditor() {
    let buffered = format!("{FLIN}buffer = {{ pages = 8, access_ns = 0 }}");
    let write = "request = [{ at_ns = 0, op = \"write\", pages = [0] }]";
    for scheduler in ["read-first", "late", "flin", "hos"] {
        let scenario = scenario(&format!("scheduler = \"{scheduler}\""), &buffered, "alone = false", &[write]);
        let [audited, plain] = [true, false].map(|audit| made(&scenario, audit).schedulers.remove(0).device);
        assert_eq!(audited, plain, "{scheduler}");
    }
}

/// A drive that is always busy is busy for the whole of the counted time, and no longer.
#[test]
fn commands_under_way_at_both_ends_count_for_their_part() {
    let reads = "synthetic = { arrivals = \"closed-loop\", depth = 256, requests = 1_200, read_ratio = 1, size = { constant = 8192 } }";
    let busy = device("scheduler = \"fcfs\"", SMALL, "warm_up_requests = 600", &[reads]);
    let most = busy.chip_utilisation_each.iter().copied().fold(0.0, f64::max);
    assert!(most <= 1.0 && most > 0.98, "{busy:?}");
}

/// Erases and write amplification of the counted part: less is erased in the second half than in all.
#[test]
fn collection_is_that_of_the_counted_part() {
    let writes = "synthetic = { rate_iops = 2_000, requests = 6_000, read_ratio = 0, size = { constant = 8192 } }";
    let of = |run: &str| device("scheduler = \"fcfs\"", SMALL, run, &[writes]);
    let (all, half) = (of(""), of("warm_up_requests = 3_000"));
    let share = half.gc.erases as f64 / all.gc.erases as f64;
    assert!(all.gc.erases > 40 && (0.4..0.6).contains(&share), "{} of {}", half.gc.erases, all.gc.erases);
    assert!((2_900..3_100).contains(&half.user_programs), "{}", half.user_programs);
    assert_eq!(half.gc.erase_count_max, all.gc.erase_count_max, "since the drive was new");
    let none = of("warm_up_requests = 6_000");
    let busy = none.chip_utilisation_each.iter().chain(&none.channel_utilisation_each).copied().fold(0.0, f64::max);
    assert_eq!(
        (none.observed_ns, none.user_programs, none.write_amplification, busy),
        (0, 0, None, 0.0),
        "nothing counts"
    );
    assert_eq!((none.gc.erases, none.gc.erase_count_max), (0, all.gc.erase_count_max));
}

fn flow<'a>(summary: &'a Summary, run: usize, name: &str) -> &'a FlowResult {
    summary.schedulers[run].flows.iter().find(|flow| flow.name == name).expect("a flow")
}

fn rules(summary: &Summary) -> Vec<Rule> {
    Verdict::of(summary).warnings.iter().map(|warning| warning.rule).collect()
}

/// A writer that comes at the end of a run overloads with its own rate, not with that of the run.
#[test]
fn overload_is_judged_by_the_flow_s_own_time() {
    let reader = "name = \"reader\"\nsynthetic = { read_ratio = 1, rate_iops = 20_000, requests = 40_000 }";
    let writer =
        "name = \"writer\"\nsynthetic = { read_ratio = 0, rate_iops = 60_000, start_us = 1_900_000, requests = 5_000 }";
    let late = made(&scenario("schedulers = [\"fcfs\", \"late\"]", FLIN, "alone = false", &[reader, writer]), false);
    for run in 0..2 {
        let overload = flow(&late, run, "writer").overload.as_ref().expect("an overload");
        let offered = overload.offered_iops.expect("a rate");
        assert!((offered / 60_000.0 - 1.0).abs() < 0.1, "{overload:?}");
        assert!((60e6..100e6).contains(&(overload.offered_ns as f64)), "{overload:?}");
        assert!(overload.served_iops < offered / 1.05 && overload.backlog_ns > overload.offered_ns, "{overload:?}");
        let whole = flow(&late, run, "writer").figures.all.as_ref().and_then(|all| all.offered_iops).expect("a rate");
        assert!(whole < 3_000.0, "{whole} in all of the run");
    }
    // One that comes at the beginning, and nothing of it later.
    let early = writer.replace("start_us = 1_900_000, ", "");
    let early = made(&scenario("schedulers = [\"fcfs\"]", FLIN, "alone = false", &[reader, &early]), false);
    let overload = flow(&early, 0, "writer").overload.clone().expect("an overload");
    assert!((overload.offered_iops.expect("a rate") / 60_000.0 - 1.0).abs() < 0.1, "{overload:?}");
    assert!(rules(&early).contains(&Rule::Overloaded));
}

/// All reads go to one die, which is busy nearly all of the time; the mean over all dies is a few percent.
#[test]
fn a_drive_with_a_busy_die_is_not_idle() {
    let of = |rate: u64| {
        let hot = format!(
            "synthetic = {{ read_ratio = 1, working_set_bytes = 16384, size = {{ constant = 4096 }}, rate_iops = {rate}, requests = 8_000 }}"
        );
        made(&scenario("schedulers = [\"fcfs\", \"read-first-suspend\", \"flin\"]", MODERN, "", &[&hot]), false)
    };
    for (rate, overloads) in [(22_000, false), (25_000, true)] {
        let summary = of(rate);
        let busiest = summary.schedulers[0].device.chip_utilisation_each.iter().copied().fold(0.0, f64::max);
        assert!(summary.schedulers[0].device.chip_utilisation < 0.1 && busiest > 0.9, "{busiest}");
        assert!(!rules(&summary).contains(&Rule::Idle), "{:?}", Verdict::of(&summary).warnings);
        assert_eq!(rules(&summary).contains(&Rule::Overloaded), overloads, "{rate}");
    }
    assert!(rules(&of(50)).contains(&Rule::Idle));
}

#[test]
fn a_run_says_how_many_requests_are_warm_up() {
    let trims = "synthetic = { read_ratio = 0.5, trim_ratio = 0.2, rate_iops = 3_000, requests = 2_000 }";
    let summary = made(&scenario("scheduler = \"fcfs\"", SMALL, "warm_up_requests = 1_234", &[trims]), false);
    let total = &summary.schedulers[0].total;
    let counted: u64 = [&total.read, &total.write].into_iter().flatten().map(|kind| kind.requests).sum();
    let commands = total.commands.as_ref().expect("trims");
    let counted = counted + commands.kinds().map(|(_, kind)| kind.requests).sum::<u64>();
    assert_eq!((total.warm_up, counted), (1_234, 2_000 - 1_234));
    assert_eq!(commands.received.iter().map(|kind| kind.warm_up).sum::<u64>(), 1_234);
    let text = table::render(&summary);
    assert!(
        text.contains("completed 2,000 + rejected 0; 1,234 of those completed are warm-up, which is in no figure\n"),
        "{text}"
    );
    let plain = made(&scenario("scheduler = \"fcfs\"", SMALL, "", &[trims]), false);
    assert!(!plain.to_json().contains("warm_up\"") && !table::render(&plain).contains("warm-up"));
}

/// A backlog that the warm-up leaves is worked off while figures are taken: no more is served than is offered.
#[test]
fn warm_up_makes_nothing_served_that_was_not_offered() {
    let burst = "synthetic = { read_ratio = 0.5, rate_iops = 20_000, requests = 2_000 }";
    let calm = "synthetic = { read_ratio = 0.5, rate_iops = 1_000, requests = 1_000 }";
    for run in ["warm_up_ms = 90", "warm_up_ms = 100", "warm_up_ms = 150", "warm_up_requests = 500"] {
        let summary = made(
            &scenario(
                "schedulers = [\"fcfs\", \"read-first\"]",
                SMALL,
                &format!("alone = false\n{run}"),
                &[burst, calm],
            ),
            false,
        );
        for run in &summary.schedulers {
            for figures in run.flows.iter().map(|flow| &flow.figures).chain([&run.total]) {
                for kind in [&figures.all, &figures.read, &figures.write].into_iter().flatten() {
                    let (offered, served) = (kind.offered_iops.unwrap_or(0.0), kind.iops.unwrap_or(0.0));
                    assert!(served <= offered * (1.0 + 1e-12), "{served} {offered}");
                }
            }
        }
    }
}

/// A flow of trims alone has no slowdown, and the others have their fairness.
#[test]
fn a_flow_without_data_leaves_the_fairness_of_the_others() {
    let trims = "synthetic = { read_ratio = 0, trim_ratio = 1, rate_iops = 500, requests = 200 }";
    let summary = made(&scenario("scheduler = \"fcfs\"", SMALL, "", &[WRITES, SLOW, trims]), false);
    let run = &summary.schedulers[0];
    let slowdowns: Vec<Option<f64>> = run.flows.iter().map(|flow| flow.slowdown).collect();
    assert!(slowdowns[0].is_some() && slowdowns[1].is_some() && slowdowns[2].is_none(), "{slowdowns:?}");
    let fairness = run.fairness.as_ref().expect("of two flows");
    let most = slowdowns.iter().flatten().copied().fold(0.0, f64::max);
    assert_eq!(fairness.max_slowdown, most);
    assert!(fairness.fairness > 0.0 && fairness.weighted_speedup > 1.0);
}
