//! The reference figures of another simulator, case by case, within the tolerances their README asks for
//! (docs/results/fidelity.md explains what agrees and what cannot).

use std::path::{Path, PathBuf};
use std::process::Command;

use flashlane_report::results::SchedulerResult;
use flashlane_scenario::{Flow, Limit, Range, RangeWord, Scenario, TraceFlow, Word};
use flashlane_sim::{Options, compare};
use flashlane_trace::Beyond;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A row of the reference: case, requests, mean, min and max in microseconds.
struct Reference {
    case: String,
    requests: u64,
    mean_us: f64,
    min_us: f64,
}

fn references(path: &Path) -> Vec<Reference> {
    let mut rows = csv::Reader::from_path(path).unwrap();
    rows.records()
        .map(|row| {
            let row = row.unwrap();
            let number = |i: usize| row[i].parse::<f64>().unwrap();
            Reference { case: row[0].to_owned(), requests: number(1) as u64, mean_us: number(4), min_us: number(5) }
        })
        .collect()
}

/// The trace of a case: shipped with the reference, or made by its generator.
fn trace(case: &str, shared: &Path, scratch: &Path) -> PathBuf {
    let (kind, rate) = match case {
        "read_50k" => ("read4k", "50000"),
        "read_100k" => ("read4k", "100000"),
        "read_200k" => ("read4k", "200000"),
        "mix_2k" => ("mix", "2000"),
        "mix_10k" => ("mix", "10000"),
        other => return shared.join("traces").join(format!("{other}.mqsim")),
    };
    let count = if kind == "mix" { "50000" } else { "100000" };
    generated([kind, count, rate, "930000000"], shared, scratch)
}

/// The trace of this kind, number of requests, rate and span, made by the generator.
fn generated(like: [&str; 4], shared: &Path, scratch: &Path) -> PathBuf {
    let path = scratch.join(format!("{}.trace", like.join("-")));
    if path.is_file() {
        return path;
    }
    let options = ["--kind", "-n", "--rate", "--span-sectors"];
    let status = Command::new("python3")
        .arg(shared.join("reference/gen_traces.py"))
        .args(options.iter().zip(like).flat_map(|(option, value)| [option, value]))
        .args(["--seed", "1", "-o"])
        .arg(&path)
        .status()
        .unwrap_or_else(|why| panic!("python3, which makes the traces of the reference, cannot be run ({why}): install it, or tools/setup.sh python"));
    assert!(status.success());
    path
}

/// The result on the reference drive, changed by `change`.
fn result(trace: &Path, change: impl FnOnce(&mut flashlane_scenario::Device)) -> SchedulerResult {
    let mut scenario = Scenario::load(&Path::new(ROOT).join("scenarios/mqsim-reference.toml")).unwrap();
    scenario.set("flow", "the test", |document| {
        let mut replay = TraceFlow::file(std::path::absolute(trace).unwrap().display().to_string());
        replay.beyond = Some(Word(Beyond::Wrap));
        document.flow =
            vec![Flow { trace: Some(replay), range: Some(Range::Word(Word(RangeWord::All))), ..Flow::default() }];
        change(&mut document.device);
    });
    let options = Options { audit: false, rows: None, activity: false, progress: None };
    compare(&scenario, &options).unwrap().summary.schedulers.remove(0)
}

/// Relative tolerance of the mean, from the README of the reference.
fn tolerance(case: &str) -> f64 {
    match case {
        "mix_10k" | "tpcc-small" => 0.10,
        "mix_2k" | "wsrch-small" => 0.05,
        _ => 0.02,
    }
}

#[test]
fn every_reference_case_is_met() {
    let shared = Path::new(ROOT).join("../shared");
    let table = shared.join("reference/mqsim.csv");
    if !table.is_file() {
        println!("SKIPPED: {} is absent, so nothing was compared with the reference simulator", table.display());
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for reference in references(&table) {
        let result = result(&trace(&reference.case, &shared, scratch.path()), |_| {});
        let all = result.total.all.as_ref().unwrap();
        let (mean, min) = (all.mean_ns / 1e3, all.min_ns as f64 / 1e3);
        println!(
            "{:12} mean {mean:9.1} us, reference {:9.1}; minimum {min:6.2} us, reference {}",
            reference.case, reference.mean_us, reference.min_us
        );
        // The reference has whole microseconds, so a difference of half of one is ignored.
        let apart = ((mean - reference.mean_us).abs() - 0.5).max(0.0) / reference.mean_us;
        if all.requests != reference.requests || apart > tolerance(&reference.case) {
            wrong.push(format!("{}: mean {mean} against {}", reference.case, reference.mean_us));
        }
        if (min - reference.min_us).abs() > 1.0 {
            wrong.push(format!("{}: minimum {min} against {}", reference.case, reference.min_us));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// With its cached mapping table: hits and reads of translation pages within 1 %, the mean within 10 % (here 1 %). That simulator reads only the
/// sector with the entry, and prints whole microseconds.
#[test]
fn every_reference_case_with_a_mapping_cache_is_met() {
    let shared = Path::new(ROOT).join("../shared");
    let table = shared.join("reference/mqsim-cmt.csv");
    if !table.is_file() {
        println!(
            "SKIPPED: {} is absent, so nothing was compared with the reference simulator's mapping table",
            table.display()
        );
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for row in csv::Reader::from_path(table).unwrap().records() {
        let row = row.unwrap();
        let number = |i: usize| row[i].parse::<f64>().unwrap();
        let path = generated([1, 2, 3, 4].map(|i| &row[i]), &shared, scratch.path());
        let run = result(&path, |device| {
            if &row[5] != "ideal" {
                // An entry of that table takes 9 bytes, one on the flash 6.
                device.mapping.entries = Some(Limit::At(number(5) as u64 / 9));
                (device.mapping.entry_bytes, device.mapping.entries_per_page) = (Some(6), Some(1365));
                device.mapping.read_bytes = Some(512);
            }
        });
        let mean = run.total.all.as_ref().unwrap().mean_ns / 1e3;
        let mapping = run.device.mapping;
        let [hits, reads] = mapping.map_or([number(9), 0.0], |mapping| [mapping.hits, mapping.reads].map(|n| n as f64));
        println!(
            "{:16} mean {mean:7.2} us, reference {}; {hits} hits, {}; {reads} reads, {}",
            &row[0], &row[6], &row[10], &row[11]
        );
        let apart = |ours: f64, theirs: f64| (ours - theirs).abs() / theirs.max(1.0);
        if apart(hits, number(10)) > 0.01 || apart(reads, number(11)) > 0.01 || apart(mean, number(6) + 0.5) > 0.01 {
            wrong.push(format!("{}: mean {mean}, {mapping:?}, reference {row:?}", &row[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
