//! Fits to modelled drives whose values are hidden: what the probe tells of them is enough to predict what it was not fitted to.

use flashlane_fit::{Effort, Probes, Requests, fit, points, probe};
use flashlane_scenario::Scenario;

/// A number of `0..below` that follows from a seed and a place.
fn drawn(seed: u64, place: u64, below: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (place + 1).wrapping_mul(0xd1b5_4a32_d192_ed03);
    for _ in 0..3 {
        x ^= x >> 31;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    (x >> 33) % below
}

/// A drive of a preset's family.
fn hidden(seed: u64) -> Scenario {
    let preset = ["modern-tlc", "client-tlc", "datacenter-tlc", "samsung-980-pro-1tb"][drawn(seed, 0, 4) as usize];
    let read = 30_000 + drawn(seed, 1, 50_000);
    let (second, third) = (drawn(seed, 2, 10_000), 10_000 + drawn(seed, 3, 15_000));
    let text = format!(
        "scheduler = \"fcfs\"\n[device]\npreset = \"{preset}\"\nnand.read_ns = {{ pages = [{read}, {}, {}] }}\n\
         bus.mega_transfers = {}\nfront.link_latency_ns = {}\nfront.read_command_ns = {}\n[[flow]]\nname = \"x\"\n\
         synthetic = {{ requests = 1, arrivals = \"closed-loop\" }}\n",
        read + second,
        read + third,
        600 + drawn(seed, 4, 1_400),
        1_000 + drawn(seed, 5, 9_000),
        600 + drawn(seed, 6, 1_400),
    );
    Scenario::parse("hidden", text).expect("a scenario")
}

/// Errors of held-out means and 99th percentiles of drives, in ascending order.
fn errors(seeds: std::ops::Range<u64>, effort: Effort, requests: Requests) -> [Vec<f64>; 2] {
    let (mut means, mut tails) = (Vec::new(), Vec::new());
    for seed in seeds {
        let told = probe(&hidden(seed), None, requests).expect("a probe");
        let points = points("probe.json", &told).expect("what fio would tell");
        let answer =
            fit(&Probes { points: &points, preset: None, amplification: None }, effort, &|_| ()).expect("a drive");
        println!("{seed}\n{}", answer.text());
        let rows = answer.rows.iter().filter(|row| !row.is_fitted);
        for row in rows {
            means.push(row.mean_error().abs());
            tails.extend(row.error(990_000).map(f64::abs));
        }
    }
    [means, tails].map(|mut errors| {
        errors.sort_by(f64::total_cmp);
        errors
    })
}

fn median(errors: &[f64]) -> f64 {
    errors[errors.len() / 2]
}

#[test]
#[ignore = "nightly: 60 s of CPU"]
fn a_hidden_drive_is_predicted_from_its_probe() {
    let [means, tails] = errors(1..2, Effort::SHORT, Requests(8_000));
    assert!(median(&means) < 0.05 && median(&tails) < 0.2, "{means:?} {tails:?}");
}

#[test]
fn a_probe_has_the_same_bytes_every_time_and_one_of_a_fresh_drive_is_refused() {
    let scenario = hidden(3);
    let told = probe(&scenario, None, Requests(500)).expect("a probe");
    assert!(told == probe(&scenario, None, Requests(500)).expect("a probe"));
    let part = probe(&scenario, Some(1 << 30), Requests(500)).expect("a probe");
    assert!(part != told && part.contains("\"size\": \"1073741824\""), "{part}");
    let fresh = Scenario::parse(
        "fresh",
        "[device]\npreset = \"modern-tlc\"\nprecondition.state = \"fresh\"\n[[flow]]\nname = \"x\"\n\
         synthetic = { requests = 1, arrivals = \"closed-loop\" }\n"
            .into(),
    );
    let told = probe(&fresh.expect("a scenario"), None, Requests(500)).expect("a probe");
    let points = points("p.json", &told).expect("told");
    let probes = Probes { points: &points, preset: None, amplification: None };
    let error = fit(&probes, Effort::SHORT, &|_| ()).expect_err("no flash is read");
    assert!(error.to_string().contains("too short for flash: memory answered"), "{error}");
}
