//! A fit to public measurements of a real drive: depths 1, 8 and 128 of a Samsung 980 PRO, judged on those between and beyond.

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
