//! Real short runs, whose verdicts a checker reads that was written apart from the code (`flashlane_testing::verdict`).

use flashlane_report::results::verdict::Verdict;
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare_repeated, prepare};
use flashlane_testing::verdict::problems;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

/// Runs of every day, and of every night.
const DAILY: u64 = 40;
const NIGHTLY: u64 = 300;

const SCHEDULERS: [&str; 14] = [
    "fcfs",
    "read-first",
    "read-first-suspend",
    "fr-fcfs",
    "sprinkler",
    "late",
    "flin",
    "slacker",
    "need",
    "wbyp",
    "rbyp+wp",
    "dynalloc",
    "wp-blind",
    "oracle-slack",
];

/// A small drive, some schedulers, and one to four flows of all kinds of requests.
fn scenario(seed: u64) -> String {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut below = |n: u64| random.next_u64() % n;
    let mut names: Vec<&str> = Vec::new();
    for _ in 0..1 + below(5) {
        let name = SCHEDULERS[below(SCHEDULERS.len() as u64) as usize];
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let buffer = ["", "[device.buffer]\npages = 32\nwrite_back = true\n"][below(2) as usize];
    let state = ["steady", "fresh", "filled"][below(3) as usize];
    let mut text = format!(
        "schedulers = {names:?}\nseed = {seed}\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 2\nchips_per_channel = 2\n\
         blocks_per_plane = 48\npages_per_block = 16\n[device.ftl]\nover_provisioning_percent = 30\n[device.precondition]\nstate = {state:?}\n{buffer}[run]\nalone = {}\n",
        below(2) == 0
    );
    if below(3) == 0 {
        text.push_str(&format!("seeds = {}\n", 1 + below(6)));
    }
    if below(8) == 0 {
        text.push_str(&format!("warm_up_requests = {}\n", [50, 2_000][below(2) as usize]));
    }
    for flow in 0..1 + below(4) {
        let reads = [0.0, 0.5, 0.9, 1.0][below(4) as usize];
        text.push_str(&format!(
            "[[flow]]\nname = \"f{flow}\"\n[flow.synthetic]\nread_ratio = {reads:?}\nrequests = {}\n",
            [40, 300, 1_100][below(3) as usize]
        ));
        let arrivals = match below(3) {
            0 => format!("arrivals = \"closed-loop\"\ndepth = {}\n", 1 + below(16)),
            1 => format!("rate_iops = {}\n", 500 << below(6)),
            _ => format!("arrivals = \"bursty\"\nrate_iops = {}\n", 500 << below(6)),
        };
        text.push_str(&arrivals);
        if below(3) == 0 {
            text.push_str("trim_ratio = 0.2\ntrim_size = { constant = 65536 }\n");
        }
        if reads < 1.0 && below(2) == 0 {
            text.push_str(&format!("flush_every_writes = {}\n", 1 + below(4)));
        }
        if reads < 1.0 && below(3) == 0 {
            text.push_str("fua_ratio = 0.3\n");
        }
    }
    text
}

/// What the checker finds wrong in these runs, and how many sentences there were; a scenario that is refused is none.
fn wrong(runs: u64) -> (Vec<String>, usize, usize) {
    let of = |seed: u64| {
        let scenario = Scenario::parse("drawn", scenario(seed)).ok()?;
        let options = Options { audit: false, rows: None, activity: false, progress: None };
        let summary = compare_repeated(&scenario, &prepare(&scenario).ok()?, &options).ok()?.summary;
        let verdict = Verdict::of(&summary);
        let json = serde_json::from_str(&summary.to_json()).expect("JSON");
        let all = verdict.lines(true);
        let found = problems(&json, &verdict.lines(false), &all);
        Some((found.into_iter().map(|why| format!("{seed}: {why}")).collect::<Vec<_>>(), all.len()))
    };
    let found: Vec<_> = (0..runs).into_par_iter().filter_map(of).collect();
    let (ran, lines) = (found.len(), found.iter().map(|(_, lines)| lines).sum());
    (found.into_iter().flat_map(|(wrong, _)| wrong).collect(), ran, lines)
}

fn check(runs: u64) {
    let (wrong, ran, lines) = wrong(runs);
    println!("{ran} of {runs} runs, {lines} sentences");
    assert!(wrong.is_empty(), "{} problems, the first: {:#?}", wrong.len(), &wrong[..wrong.len().min(12)]);
    assert!(ran as u64 * 10 >= runs * 8 && lines as u64 > 3 * runs, "{ran} of {runs} runs, {lines} sentences");
}

#[test]
fn the_sentences_of_short_runs_are_borne_by_figures() {
    check(DAILY);
}

#[test]
#[ignore = "nightly: 300 runs"]
fn the_sentences_of_many_short_runs_are_borne_by_figures() {
    check(NIGHTLY);
}

/// The sentences of a comparison of two loops.
fn sentences(text: &str) -> Vec<String> {
    let scenario = Scenario::parse("loops", text.to_owned()).expect("legal");
    let options = Options { audit: false, rows: None, activity: false, progress: None };
    let compared = compare_repeated(&scenario, &prepare(&scenario).expect("legal"), &options).expect("runs");
    Verdict::of(&compared.summary).lines(true)
}

/// Another loop that ends later takes nothing from the rate of this one, whose requests take as long.
#[test]
fn the_rate_of_a_loop_is_that_of_its_own_time() {
    let found = sentences(
        "schedulers = [\"read-first-suspend\", \"fcfs\"]\ndevice = \"flin-isca18\"\n[run]\nalone = false\nseeds = 1\n[[flow]]\nname = \"loop\"\n\
         [flow.synthetic]\narrivals = \"closed-loop\"\nrequests = 1500\n[[flow]]\nname = \"other\"\n[flow.synthetic]\nread_ratio = 0.0\n\
         size = { constant = 65536 }\narrivals = \"closed-loop\"\ndepth = 16\nrequests = 3000\n",
    );
    assert!(found.iter().any(|line| line.starts_with("read-first-suspend wins for loop; next is fcfs: ")), "{found:?}");
    assert!(!found.iter().any(|line| line.contains("for other") || line.starts_with("other pays")), "{found:?}");
}

/// Under one scheduler the loop's mean differs and its rate does not, under another both do: the rate decides which is better.
#[test]
fn the_best_for_a_loop_has_the_better_rate() {
    let found = sentences(
        "schedulers = [\"fcfs\", \"read-first\", \"read-first-suspend\"]\ndevice = \"flin-isca18\"\n[run]\nalone = false\nseeds = 1\n[[flow]]\n\
         name = \"loop\"\n[flow.synthetic]\nread_ratio = 1.0\narrivals = \"closed-loop\"\ndepth = 16\nthink_us = 45000\nduration_s = 3\n[[flow]]\n\
         name = \"writer\"\n[flow.synthetic]\nread_ratio = 0.0\nsize = { constant = 16384 }\nrate_iops = 4000\nduration_s = 3\n",
    );
    assert!(found[0].starts_with("read-first-suspend wins for loop: "), "{found:?}");
}
