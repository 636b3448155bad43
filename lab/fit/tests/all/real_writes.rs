//! Fits to public measurements of five data-centre drives: reads beside steady writes, fitted at the lowest and the highest rate that is compared,
//! judged between.

use crate::gallery;
use flashlane_fit::{Answer, Beside, Effort, Probes, Writers, fit, points};

/// What others measured (dev/bench/data/real/README.md).
const MEASURED: &str = include_str!("../../../../dev/bench/data/real/steady-writes.csv");
/// Drives, the preset that each fit begins with, and how far the means of reads at the rates between are off at most. Of the second and the third reads beside as
/// many writes as can be wait behind these; of the others they wait for part of them, which the fit has not.
const DRIVES: [(&str, &str, f64); 4] = [
    ("PM9A3 960 GB", "modern-tlc", 0.05),
    ("PE8110 960 GB", "modern-tlc", 0.08),
    ("WD 960 GB", "modern-tlc", 0.08),
    ("P5520 1.92 TB", "datacenter-tlc", 0.25),
];
/// A drive that works in bursts: at half its rate its writes take 9 ms.
const IN_BURSTS: (&str, &str, f64) = ("7450 PRO 960 GB", "modern-tlc", 0.0);
const TIMES: [&str; 5] = ["mean", "p50", "p90", "p99", "p99_9"];

/// The measurements of a drive as a table of `flashlane fit`.
fn table(drive: &str) -> String {
    let heads: Vec<&str> = MEASURED.lines().next().expect("heads").split(',').collect();
    let mut text = String::from("name,rw,bs,depth,iops,writes_per_s");
    for of in ["", "write_"] {
        text.extend(TIMES.map(|time| format!(",{of}{time}_us")));
    }
    for line in MEASURED.lines().filter(|line| line.starts_with(drive)) {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |name: &str| cells[heads.iter().position(|head| *head == name).expect(name)];
        let [reads, writes] =
            ["read", "write"].map(|of| TIMES.map(|time| format!(",{}", cell(&format!("{of}_{time}_us")))).concat());
        let rate = cell("total_asked_per_s");
        text += &if rate == "saturated" {
            let (steady, none) = (cell("writes_per_s"), ",".repeat(9));
            format!(
                "\nsaturated,randrw,4k,,5000,most{reads}{writes}\nsteady,randwrite,4k,384,{steady},,{}{none}",
                cell("write_mean_us")
            )
        } else {
            format!("\n{rate},randrw,4k,,5000,{rate}{reads}{writes}")
        };
    }
    text
}

fn answer((drive, preset, _): (&str, &str, f64), effort: Effort) -> Answer {
    let points = points("steady.csv", &table(drive)).expect("a table");
    fit(&Probes { points: &points, preset: Some(preset), amplification: None }, effort, &|_| ()).expect("a drive")
}

/// What is not as expected of the fit to a drive.
fn faults(of: (&str, &str, f64), effort: Effort) -> Vec<String> {
    let answer = answer(of, effort);
    let text = answer.text();
    println!("{}\n{text}\n{}", of.0, answer.device.as_deref().unwrap_or_default());
    println!("{}", gallery::row(of.0, &answer));
    let written = answer.writes.expect("writes");
    let saturated = written.beside.iter().find(|row| row.rate.is_none()).expect("it is in the table");
    let waits = ["PE8110 960 GB", "WD 960 GB"].contains(&of.0);
    let judged: Vec<&Beside> = written.beside.iter().filter(|row| !row.is_fitted && row.rate.is_some()).collect();
    assert!(!judged.is_empty() && written.beside.len() > judged.len(), "{text}");
    let device = answer.device.expect("a device");
    assert!(device.contains("reads = \"not measured\"") && device.contains("preset = \""), "{device}");
    let off = |row: &Beside| format!("{}, {}: {:+.3}", of.0, row.name, row.error());
    let mut faults: Vec<String> = judged.into_iter().filter(|row| row.error().abs() >= of.2).map(off).collect();
    faults.extend((waits && saturated.error().abs() >= 0.3).then(|| off(saturated)));
    let order = written.values.order;
    faults.extend((order != Some(if waits { "shared" } else { "by-kind" })).then(|| format!("{}: {order:?}", of.0)));
    faults
}

/// The short form: whole fits write millions of requests.
#[test]
fn tables_of_real_drives_are_read_and_need_the_steady_rate() {
    for (drive, ..) in DRIVES.into_iter().chain([IN_BURSTS]) {
        let mut points = points("steady.csv", &table(drive)).expect("a table");
        let rates: Vec<Option<Writers>> = points.iter().map(|point| point.beside).collect();
        assert!(rates.len() > 2 && rates[0] == Some(Writers::Rate(10_000)) && rates.last() == Some(&None), "{rates:?}");
        points.pop();
        let probes = Probes { points: &points, preset: None, amplification: None };
        let why = fit(&probes, Effort::SHORT, &|_| ()).expect_err("no steady rate").to_string();
        assert!(why.contains("need the drive's steady rate: a line named steady"), "{why}");
        points.extend([points[0].clone()]);
        let probes = Probes { points: &points, preset: None, amplification: None };
        let why = fit(&probes, Effort::SHORT, &|_| ()).expect_err("one twice").to_string();
        assert_eq!(why, "steady.csv: job 10000: reads beside as many writes are in job 10000 too");
    }
}

#[test]
#[ignore = "nightly: minutes of CPU"]
fn fits_to_the_writes_of_real_drives_predict_the_rates_between() {
    // The rows of all are printed, whatever is wrong with the first.
    let faults: Vec<String> = DRIVES.into_iter().flat_map(|drive| faults(drive, Effort::FULL)).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
#[ignore = "nightly: 60 s of CPU"]
fn a_drive_that_the_model_does_not_follow_gets_no_device() {
    let answer = answer(IN_BURSTS, Effort::FULL);
    println!("{}\n{}", answer.text(), gallery::row(IN_BURSTS.0, &answer));
    let why = answer.device.expect_err("it works in bursts");
    assert!(why.starts_with("no device is written: half of the held-out means are off by "), "{why}");
}
