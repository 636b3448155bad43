//! The reference figures of another simulator, case by case, within the tolerances their README asks for
//! (docs/fidelity.md explains what agrees and what cannot).

use std::path::{Path, PathBuf};
use std::process::Command;

use flashlane_scenario::{Flow, Range, RangeWord, Scenario, TraceFlow, Word};
use flashlane_sim::{Options, compare};
use flashlane_trace::Beyond;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

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
    let path = scratch.join(format!("{case}.trace"));
    let count = if kind == "mix" { "50000" } else { "100000" };
    let status = Command::new("python3")
        .arg(shared.join("reference/gen_traces.py"))
        .args(["--kind", kind, "-n", count, "--rate", rate, "--span-sectors", "930000000", "--seed", "1", "-o"])
        .arg(&path)
        .status()
        .unwrap_or_else(|why| panic!("python3, which makes the traces of the reference, cannot be run ({why}): install it, or tools/setup.sh python"));
    assert!(status.success());
    path
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
        let mut scenario = Scenario::load(&Path::new(ROOT).join("scenarios/mqsim-reference.toml")).unwrap();
        let path = trace(&reference.case, &shared, scratch.path());
        scenario.set("flow", "the test", |document| {
            let mut replay = TraceFlow::file(std::path::absolute(&path).unwrap().display().to_string());
            replay.beyond = Some(Word(Beyond::Wrap));
            document.flow =
                vec![Flow { trace: Some(replay), range: Some(Range::Word(Word(RangeWord::All))), ..Flow::default() }];
        });
        let options = Options { audit: false, rows: None, activity: false, progress: None };
        let summary = compare(&scenario, &options).unwrap().summary;
        let all = summary.schedulers[0].total.all.as_ref().unwrap();
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
