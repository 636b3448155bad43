//! Fits to public measurements of a real drive: depths 1, 8 and 128 of a Samsung 980 PRO, judged on those between and beyond.
//!
//! Rows that are not in the repository are read from the folder `shared` beside it.

use std::path::Path;

use flashlane_fit::{Answer, Effort, Judged, Probes, fit, points};

/// What others measured (dev/bench/data/real/README.md).
const MEASURED: &str = include_str!("../../../../dev/bench/data/real/random-reads.csv");

fn answer(preset: Option<&str>, effort: Effort) -> Answer {
    let rows: String = MEASURED.lines().skip(1).map(|line| line.replacen("980 PRO", "randread,4k", 1) + "\n").collect();
    let text = format!("rw,bs,depth,iops,mean_us,p50_us,p90_us,p99_us,p99_9_us\n{rows}");
    let points = points("980-pro.csv", &text).expect("a table");
    fit(&Probes { points: &points, preset, amplification: None }, effort, &|_| ()).expect("a drive")
}

/// Checks that no held-out mean and 99th percentile is further off than this.
fn check(answer: &Answer, mean: f64, p99: f64) {
    let text = answer.text();
    let device = answer.device.as_ref().expect("a device");
    assert!(device.contains("[fitted]\nreads = \"measured\"\nmixed = \"not measured\"\n"), "{device}");
    let rows: Vec<&Judged> = answer.rows.iter().filter(|row| !row.is_fitted).collect();
    assert_eq!(rows.iter().map(|row| row.point.depth).collect::<Vec<_>>(), [2, 4, 16, 32, 64, 256], "{text}");
    for row in rows {
        let tail = row.error(990_000).expect("measured");
        assert!(row.mean_error().abs() < mean && tail.abs() < p99, "{}\n{text}", row.point.load());
    }
}

#[test]
fn a_quick_fit_to_a_real_drive_predicts_its_other_depths() {
    let effort = Effort { requests: 600, each: 6, best: 8, shown: 8_000 };
    check(&answer(Some("samsung-980-pro-1tb"), effort), 0.1, 0.3);
}

#[test]
#[ignore = "nightly: 45 s of CPU"]
fn a_fit_to_a_real_drive_predicts_its_other_depths() {
    check(&answer(None, Effort::SHORT), 0.05, 0.15);
}

/// The lines of a file of others' measurements that are not in the repository.
fn beside(name: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/evidence/reality/data").join(name);
    let text = std::fs::read_to_string(path).ok();
    if text.is_none() {
        println!("SKIPPED: ../shared/evidence/reality/data/{name} is absent, so these measurements were not fitted");
    }
    text
}

/// A table of the reads through io_uring of one set.
fn through_io_uring(text: &str, set: &str) -> String {
    let mut table = String::from("name,rw,bs,numjobs,depth,iops,mean_us,p1_us,p10_us,p50_us,p90_us,p99_us,p99.9_us\n");
    for line in text.lines().filter(|line| line.starts_with(set) && line.contains(",io_uring,")) {
        let cells: Vec<&str> = line.split(',').collect();
        let [_, bytes, jobs, each, _, iops, mean, _, _, quantiles @ ..] = &cells[..] else { panic!("{line}") };
        let count = |text: &str| text.parse::<u32>().expect("a count");
        let depth = count(jobs) * count(each);
        let quantiles = quantiles[..6].join(",");
        table += &format!("{bytes} {jobs}x{each},randread,{bytes},{jobs},{depth},{iops},{mean},{quantiles}\n");
    }
    table
}

#[test]
#[ignore = "nightly: two minutes of CPU"]
fn loads_that_one_thread_limits_are_named_and_the_others_predicted() {
    let Some(text) = beside("icpe24-980pro-randread.csv") else { return };
    let points = points("980-pro.csv", &through_io_uring(&text, "inc_proc_4kb")).expect("a table");
    let answer =
        fit(&Probes { points: &points, preset: None, amplification: None }, Effort::FULL, &|_| ()).expect("a drive");
    let text = answer.text();
    let limited =
        answer.remarks.iter().find(|remark| remark.contains("more threads make")).expect("one thread is too slow");
    for name in ["4k 1x16 ", "4k 1x32 ", "4k 1x64 ", "4k 1x128 ", "4k 1x256 ", "(5 in all)"] {
        assert!(limited.contains(name), "{limited}");
    }
    for row in answer.rows.iter().filter(|row| !row.is_fitted) {
        let (mean, tail) = (row.mean_error().abs(), row.error(990_000).expect("measured").abs());
        let [most, longest] = if row.point.depth <= 128 { [0.06, 0.15] } else { [0.1, 2.0] };
        assert!(mean < most && tail < longest, "{}\n{text}", row.point.name);
    }
}

/// The rates of iocost of 35 client drives.
#[test]
fn rates_without_times_are_refused_by_name() {
    let Some(text) = beside("iocost-models.csv") else { return };
    let why = points("iocost-models.csv", &text).expect_err("no times").to_string();
    assert!(
        why.starts_with("iocost-models.csv: has the rates of iocost (rbps, rseqiops, ...), which tell no time"),
        "{why}"
    );
}
