//! Fits to public measurements of a real drive: depths 1, 8 and 128 of a Samsung 980 PRO, judged on those between and beyond.
//!
//! Rows that are not in the repository are read from the folder `shared` beside it. The nightly tests print rows of docs/fit.md.

use std::collections::BTreeMap;
use std::path::Path;

use flashlane_fit::{Answer, Effort, Judged, Probes, fit, points};

use crate::gallery;

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
    let answer = answer(None, Effort::FULL);
    println!("{}\n{}", answer.text(), gallery::row("980 PRO, 4 KiB by SPDK", &answer));
    check(&answer, 0.05, 0.17);
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
    println!("{text}\n{}", gallery::row("980 PRO, 4 KiB by io_uring", &answer));
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

/// Larger reads take longer than the model has them, for a reason that is not known (docs/fit.md).
#[test]
#[ignore = "nightly: a minute of CPU"]
fn larger_reads_are_off_by_what_the_page_says() {
    let Some(text) = beside("icpe24-980pro-randread.csv") else { return };
    let mut table = through_io_uring(&text, "inc_proc_4kb");
    for size in ["8k", "16k", "32k", "64k"] {
        table.extend(through_io_uring(&text, &format!("vary_bs,{size}")).split_inclusive('\n').skip(1));
    }
    let points = points("980-pro.csv", &table).expect("a table");
    let answer =
        fit(&Probes { points: &points, preset: None, amplification: None }, Effort::FULL, &|_| ()).expect("a drive");
    let (text, row) = (answer.text(), gallery::row("980 PRO, 4 to 64 KiB by io_uring", &answer));
    println!("{text}\n{row}\n{}", answer.device.as_deref().unwrap_or_else(|why| why));
    for kib in [8, 16, 32, 64] {
        let of: Vec<&Judged> = answer.rows.iter().filter(|row| row.point.bytes == kib << 10).collect();
        let off = |row: &Judged| (100.0 * row.mean_error(), 100.0 * row.error(990_000).expect("measured"));
        let cells = of.iter().map(|row| off(row)).map(|(mean, tail)| format!("{mean:+.0}, {tail:+.0}"));
        println!("| {kib} KiB | {} |", cells.collect::<Vec<_>>().join(" | "));
        assert_eq!(of.len(), 9, "depths 1 to 256");
        for row in of {
            assert!((-0.45..-0.05).contains(&row.mean_error()), "{} {:?}\n{text}", row.point.name, off(row));
        }
    }
    for row in answer.rows.iter().filter(|row| row.point.bytes == 4_096 && row.point.depth <= 64) {
        assert!(row.mean_error().abs() < 0.06, "{}\n{text}", row.point.name);
    }
}

/// Rates of iocost of a drive, the median of its results, by column; and how far its results are apart, as a share.
type Rates = BTreeMap<&'static str, [f64; 2]>;

fn rates(text: &str) -> Vec<Rates> {
    const COLUMNS: [&str; 6] = ["rbps", "rseqiops", "rrandiops", "wbps", "wseqiops", "wrandiops"];
    let mut drives: BTreeMap<&str, Vec<Vec<f64>>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let numbers = cells[3..].iter().map(|cell| cell.parse().expect("a rate")).collect();
        drives.entry(cells[0]).or_default().push(numbers);
    }
    let of = |results: Vec<Vec<f64>>| {
        let column = |(index, name): (usize, &'static str)| {
            let mut all: Vec<f64> = results.iter().map(|result| result[index]).collect();
            all.sort_by(f64::total_cmp);
            let middle = f64::midpoint(all[(all.len() - 1) / 2], all[all.len() / 2]);
            (name, [middle, all[all.len() - 1] / all[0] - 1.0])
        };
        COLUMNS.into_iter().enumerate().map(column).collect()
    };
    drives.into_values().map(of).collect()
}

/// Of how many drives a rate is within 10 % of what another predicts, and of how many within that or the drive's own spread. Predicted is the same
/// rate, as the model has small reads and writes of a command's time; or the other rate times the median ratio of the other drives.
fn predicted(drives: &[Rates], rate: &str, by: &str, as_the_model: bool) -> [usize; 2] {
    let off = |(index, drive): (usize, &Rates)| {
        let others = drives.iter().enumerate().filter(|(other, _)| *other != index);
        let mut ratios: Vec<f64> = others.map(|(_, other)| other[rate][0] / other[by][0]).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio =
            if as_the_model { 1.0 } else { f64::midpoint(ratios[(ratios.len() - 1) / 2], ratios[ratios.len() / 2]) };
        [(ratio * drive[by][0] / drive[rate][0] - 1.0).abs(), drive[rate][1]]
    };
    let off: Vec<[f64; 2]> = drives.iter().enumerate().map(off).collect();
    let within = |is_within: fn(&&[f64; 2]) -> bool| off.iter().filter(is_within).count();
    [within(|[off, _]| *off <= 0.1), within(|[off, apart]| *off <= apart.max(0.1))]
}

/// The rates of iocost of 35 client drives.
#[test]
fn rates_without_times_are_refused_by_name_as_they_do_not_tell_one_another() {
    let Some(text) = beside("iocost-models.csv") else { return };
    let why = points("iocost-models.csv", &text).expect_err("no times").to_string();
    assert!(
        why.starts_with("iocost-models.csv: has the rates of iocost (rbps, rseqiops, ...), which tell no time"),
        "{why}"
    );
    let drives = rates(&text);
    assert_eq!(drives.len(), 35);
    // The table of docs/results/real-drives.md.
    assert_eq!(predicted(&drives, "rseqiops", "rrandiops", true), [12, 13]);
    assert_eq!(predicted(&drives, "wseqiops", "wrandiops", true), [10, 11]);
    for (rate, within) in [("rbps", [8, 9]), ("wbps", [7, 9])] {
        let others = drives[0].keys().filter(|by| **by != rate);
        let best = others.map(|by| predicted(&drives, rate, by, false)).max();
        assert_eq!(best, Some(within), "{rate}");
    }
}
