//! Comparisons repeated with other seeds: how often, which figures, and what stays as it is.

use flashlane_report::results::{
    Case, OverSeeds, Replications, RequestKind, Says, SeedMeasure, SeedRun, SeedsBecause, Summary, Untried, Way,
    seeds_change_nothing,
};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, Progress, compare, compare_repeated, prepare};

use crate::common::FLIN;

/// A small drive that collects garbage.
const SMALL: &str = "[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 2\nchips_per_channel = 2\nblocks_per_plane = 40\npages_per_block = 32\n\
    [device.ftl]\nover_provisioning_percent = 25.0\n";
/// Reads and writes that are drawn.
const DRAWN: &str = "[[flow]]\nname = \"drawn\"\n[flow.synthetic]\nread_ratio = 0.5\nsize = { constant = 8192 }\nrate_iops = 4000\nrequests = 1500\n";

fn scenario(text: &str) -> Scenario {
    Scenario::parse("repeat", text.to_owned()).unwrap_or_else(|why| panic!("{why}"))
}

fn two(run: &str, flows: &str) -> Scenario {
    scenario(&format!("schedulers = [\"fcfs\", \"read-first-suspend\"]\n{SMALL}[run]\n{run}\n{flows}"))
}

const OPTIONS: Options<'_> = Options { audit: false, rows: None, activity: false, progress: None };

fn repeated(scenario: &Scenario) -> Summary {
    let prepared = prepare(scenario).unwrap_or_else(|why| panic!("{why}"));
    compare_repeated(scenario, &prepared, &OPTIONS).unwrap_or_else(|why| panic!("{why}")).summary
}

fn once(scenario: &Scenario) -> Summary {
    compare(scenario, &OPTIONS).unwrap_or_else(|why| panic!("{why}")).summary
}

fn made(summary: &Summary) -> &Replications {
    summary.replications.as_ref().expect("several schedulers")
}

/// Requests written out: a write of each page in turn, and a read, in this order.
fn written(requests: u64) -> String {
    let request = |i: u64| {
        let op = if i.is_multiple_of(3) { "read" } else { "write" };
        format!("[[flow.request]]\nat_ns = {}\nop = \"{op}\"\npages = [{}]\n", i * 150_000, (i * 37) % 2_000)
    };
    std::iter::once("[[flow]]\nname = \"written\"\n".to_owned()).chain((0..requests).map(request)).collect()
}

#[test]
fn five_seeds_by_default_and_the_own_one_is_as_without() {
    let scenario = two("", DRAWN);
    let summary = repeated(&scenario);
    assert_eq!((made(&summary).seeds.as_slice(), made(&summary).because), (&[1, 2, 3, 4, 5][..], SeedsBecause::Few));
    assert_eq!((made(&summary).requests, made(&summary).drawn.as_slice()), (3_000, &["drawn".to_owned()][..]));
    // Each further run is that of the scenario with this seed.
    let rows = (0..5).flat_map(|by| {
        let seeded = once(&scenario.with_shifted_seed(by));
        seeded.schedulers.iter().map(|run| SeedRun::of(1 + by, run)).collect::<Vec<_>>()
    });
    assert_eq!(made(&summary).runs, rows.collect::<Vec<_>>());
    assert!(!seeds_change_nothing(&summary));
    let without = Summary { replications: None, deciding: Vec::new(), ..summary };
    assert_eq!(without.to_json(), once(&scenario).to_json());
}

#[test]
fn as_many_seeds_as_are_asked_for() {
    let scenario = two("seeds = 2\nwarm_up_requests = 300", DRAWN);
    let summary = repeated(&scenario);
    assert_eq!((made(&summary).seeds.as_slice(), made(&summary).because), (&[1, 2][..], SeedsBecause::Asked));
    let figures = made(&summary).runs[3].figures(None, RequestKind::All).expect("some");
    assert_eq!(figures.requests, 1_200, "warm-up is left out of every run");
    let one = repeated(&two("seeds = 1", DRAWN));
    assert_eq!((made(&one).seeds.as_slice(), made(&one).because), (&[1][..], SeedsBecause::Asked));
    assert!(one.deciding.is_empty() && made(&one).runs.len() == 2);
}

#[test]
fn one_scheduler_is_repeated_only_if_asked() {
    let one = |run: &str| repeated(&scenario(&format!("scheduler = \"fcfs\"\n{SMALL}[run]\n{run}\n{DRAWN}")));
    assert_eq!((one("").replications, one("seeds = 1").replications), (None, None));
    let three = one("seeds = 3");
    assert_eq!((made(&three).seeds.len(), made(&three).runs.len()), (3, 3));
}

#[test]
fn impossible_numbers_of_seeds_are_refused_with_the_legal_ones() {
    for seeds in ["0", "1001", "18446744073709551615"] {
        let scenario = Scenario::parse("s.toml", format!("{SMALL}[run]\nseeds = {seeds}\n{DRAWN}"));
        let said = match scenario {
            Err(why) => why.to_string(),
            Ok(scenario) => {
                assert!(scenario.check().is_err());
                prepare(&scenario).err().expect("refused before any run").to_string()
            }
        };
        assert!(said.contains("seeds"), "{said}");
        assert!(seeds.len() > 4 || said.contains("must be 1 to 1000"), "{said}");
    }
}

/// What is written out does not change; a flow that is drawn beside it does, with a seed of its own too.
#[test]
fn other_seeds_change_no_request_that_is_written_out() {
    let own_seed = DRAWN.replace("requests = 1500", "requests = 300\nseed = 9");
    let summary = repeated(&two("", &(written(600) + &own_seed)));
    assert_eq!(made(&summary).drawn, ["drawn"]);
    let of = |flow: &'static str, kind| {
        let runs = made(&summary).runs.iter().filter(|run| run.scheduler == "fcfs");
        runs.map(move |run| run.figures(Some(flow), kind).expect("some").requests).collect::<Vec<_>>()
    };
    assert_eq!((of("written", RequestKind::Read), of("written", RequestKind::Write)), (vec![200; 5], vec![400; 5]));
    let drawn = of("drawn", RequestKind::Read);
    assert!(drawn.iter().any(|reads| *reads != drawn[0]), "{drawn:?}");
}

/// A fresh drive has no state that a seed could change.
#[test]
fn where_seeds_change_nothing_that_is_what_they_say() {
    let fresh = written(400) + "[device.precondition]\nstate = \"fresh\"\n";
    let scenario = scenario(&format!("schedulers = [\"fcfs\", \"read-first-suspend\"]\n{SMALL}{fresh}"));
    let summary = repeated(&scenario);
    assert!(seeds_change_nothing(&summary) && made(&summary).drawn.is_empty());
    let case = Case {
        scheduler: "read-first-suspend",
        baseline: "fcfs",
        flow: None,
        kind: RequestKind::Read,
        measure: SeedMeasure::Mean,
    };
    let judged = OverSeeds::of(&summary, &case).expect("reads");
    assert_eq!((judged.says, judged.seeds, judged.outcomes), (Says::Same, 5, 1));
}

#[test]
fn a_replayed_drive_is_repeated_only_if_asked() {
    let replayed = |run: &str| {
        let state = "[device.precondition]\nstate = \"replayed\"\n";
        repeated(&scenario(&format!(
            "schedulers = [\"fcfs\", \"read-first-suspend\"]\n{SMALL}{state}[run]\n{run}\n{}",
            written(900)
        )))
    };
    let one = replayed("");
    assert_eq!((made(&one).seeds.len(), made(&one).because), (1, SeedsBecause::Replayed));
    let two = replayed("seeds = 2");
    assert_eq!((made(&two).seeds.len(), made(&two).because), (2, SeedsBecause::Asked));
    assert!(!seeds_change_nothing(&two), "each seed has a state of its own");
}

/// 2 x 500,001 requests are too many, however fast they are made.
#[test]
fn many_requests_are_repeated_only_if_asked() {
    let flow = "[[flow]]\n[flow.synthetic]\nread_ratio = 1.0\nsize = { constant = 4096 }\nrate_iops = 100000\nrequests = 500001\n";
    let summary = repeated(&scenario(&format!("schedulers = [\"fcfs\", \"read-first\"]\n{FLIN}{flow}")));
    assert_eq!((made(&summary).seeds.len(), made(&summary).because), (1, SeedsBecause::Many));
    assert_eq!((made(&summary).requests, made(&summary).runs.len()), (1_000_002, 2));
    assert!(summary.deciding.is_empty());
}

/// Closed loops, an oracle, flows alone, a host, an estimator beside: under every seed, and with the same requests counted by progress.
#[test]
fn everything_that_a_comparison_can_have_is_repeated() {
    let closed = "[[flow]]\nname = \"loop\"\n[flow.synthetic]\nread_ratio = 0.5\narrivals = \"closed-loop\"\ndepth = 4\nrequests = 400\nflush_every_writes = 2\n";
    let host = "[host]\n";
    let of = |schedulers: &str, rest: &str| scenario(&format!("schedulers = [{schedulers}]\n{SMALL}{rest}"));
    let fcfs = "\"fcfs\", \"read-first\"";
    let cases = [
        ("closed", of(fcfs, &(closed.to_owned() + DRAWN))),
        ("oracle", of("\"fcfs\", \"oracle-slack\"", DRAWN)),
        ("host", of(fcfs, &(host.to_owned() + DRAWN))),
        ("shadow", of(fcfs, &format!("[run]\nshadow_estimator = true\nslack = true\n{DRAWN}"))),
    ];
    for (name, scenario) in cases {
        let progress = Progress::default();
        let prepared = prepare(&scenario).unwrap_or_else(|why| panic!("{name}: {why}"));
        let options = Options { audit: true, progress: Some(&progress), ..OPTIONS };
        let summary = compare_repeated(&scenario, &prepared, &options).unwrap_or_else(|why| panic!("{name}: {why}"));
        let (audited, summary) = (summary.audited, summary.summary);
        assert_eq!(made(&summary).runs.len(), 10, "{name}");
        let completed =
            |run: &SeedRun| run.figures(None, RequestKind::All).is_some_and(|figures| figures.requests > 700);
        assert!(made(&summary).runs.iter().all(completed), "{name}");
        assert_eq!(progress.done(), progress.total(), "{name}");
        let alone = compare(&scenario, &Options { audit: true, ..OPTIONS }).expect("runs").audited;
        assert!(audited > alone.map(|events| 3 * events), "{name}: further runs are audited too");
        let without = Summary { replications: None, deciding: Vec::new(), ..summary };
        assert_eq!(without.to_json(), once(&scenario).to_json(), "{name}");
    }
}

/// The decision behind a difference: the two differ in one.
#[test]
fn a_single_difference_decides_and_takes_no_run() {
    let busy = DRAWN.replace("4000", "9000");
    let two = scenario(&format!("schedulers = [\"fcfs\", \"read-first\"]\n{SMALL}{busy}"));
    let summary = repeated(&two);
    for deciding in &summary.deciding {
        assert_eq!((deciding.decision.as_deref(), deciding.tried.len()), (Some("pick"), 0));
    }
    assert!(!summary.deciding.is_empty(), "reads do not wait for writes any more");
}

/// What is said of each decision, held against runs of schedulers that are written out: `fcfs` with it, `sprinkler` without it.
#[test]
fn the_decision_that_is_named_brings_the_difference_and_takes_it_away() {
    let busy = DRAWN.replace("rate_iops = 4000", "rate_iops = 12000");
    let between = |mixes: &str| scenario(&format!("schedulers = [\"fcfs\", \"sprinkler\"{mixes}]\n{SMALL}{busy}"));
    let summary = repeated(&between(""));
    let deciding = summary.deciding.iter().find(|deciding| deciding.way == Way::Gain).expect("reads gain much");
    assert_eq!((deciding.scheduler.as_str(), deciding.baseline.as_str()), ("sprinkler", "fcfs"));
    assert!(deciding.baseline_ns > 2.0 * deciding.scheduler_ns && deciding.differences.len() > 1, "{deciding:?}");
    let mut mixes = String::new();
    for (i, one) in deciding.differences.iter().enumerate() {
        mixes += &format!(", {{ name = \"with-{i}\", base = \"fcfs\", {} = \"{}\" }}", one.what, one.to);
        mixes += &format!(", {{ name = \"without-{i}\", base = \"sprinkler\", {} = \"{}\" }}", one.what, one.from);
    }
    let written_out = once(&between(&mixes));
    let mean = |name: String| {
        let run = written_out.schedulers.iter().find(|run| run.name == name).expect("it ran");
        SeedRun::of(1, run).figures(deciding.flow.as_deref(), deciding.kind).expect("some").mean_ns
    };
    let whole = (deciding.scheduler_ns / deciding.baseline_ns).ln();
    for (i, tried) in deciding.tried.iter().enumerate() {
        let alone = mean(format!("with-{i}"));
        assert_eq!(tried.alone_ns, Some(alone));
        assert_eq!(tried.brings, Some((alone / deciding.baseline_ns).ln() / whole));
        let without = mean(format!("without-{i}"));
        assert!(tried.without_ns.is_none_or(|ns| ns == without), "{tried:?}");
        assert_eq!(tried.without_ns.is_some(), tried.brings.is_some_and(|share| share >= 0.8));
        let decides = tried.brings >= Some(0.8) && tried.takes >= Some(0.8);
        assert!(decides || deciding.decision.as_deref() != Some(tried.what.as_str()), "{deciding:?}");
    }
    let decides = deciding.tried.iter().any(|tried| tried.brings >= Some(0.8) && tried.takes >= Some(0.8));
    assert_eq!(decides, deciding.decision.is_some(), "{deciding:?}");
}

/// Two schedulers whose requests fit the seeds and not the mixes: nothing is tried, and that is said.
#[test]
fn what_takes_too_many_runs_is_not_tried() {
    let flow = "[[flow]]\n[flow.synthetic]\nread_ratio = 0.9\nsize = { constant = 4096 }\nrate_iops = 60000\nrequests = 510000\n";
    let summary =
        repeated(&scenario(&format!("schedulers = [\"fcfs\", \"sprinkler\"]\n{FLIN}[run]\nseeds = 2\n{flow}")));
    let deciding = summary.deciding.first().expect("reads gain much");
    assert_eq!((deciding.untried, deciding.tried.len()), (Some(Untried::TooManyRequests), 0));
    assert!(deciding.decision.is_none() && deciding.differences.len() > 1);
}
