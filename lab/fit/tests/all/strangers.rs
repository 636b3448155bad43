//! Drives with rules that the fit does not know: what it says of them must show that before the user relies on the device.

use flashlane_fit::{Answer, Effort, FitError, Point, Probes, Requests, fit, points, probe};
use flashlane_scenario::{Limit, Protocol, Scenario, Word};

use crate::hidden::hidden;

/// The answer to the probe of a drive, of which each job is changed; jobs are numbered from 0 to 1.
fn answer(drive: &Scenario, change: impl Fn(&mut Point, f64)) -> Result<Answer, FitError> {
    let told = probe(drive, None, Requests(4_000), false, &|_| ()).expect("a probe");
    let mut points = points("probe.json", &told).expect("what fio would tell");
    let last = points.len() as f64 - 1.0;
    points.iter_mut().enumerate().for_each(|(number, point)| change(point, number as f64 / last));
    let effort = Effort { requests: 800, each: 8, best: 20, shown: 4_000 };
    let answer = fit(&Probes { points: &points, preset: None, amplification: None }, effort, &|_| ());
    if let Ok(answer) = &answer {
        println!("{}\n{:?}", answer.text(), answer.device);
    }
    answer
}

/// A job whose reads take so many times as long.
fn slower(point: &mut Point, factor: f64) {
    point.iops /= factor;
    point.mean_us *= factor;
    point.quantiles.iter_mut().for_each(|(_, us)| *us *= factor);
}

/// Halfway through the probe the drive becomes warm and takes half as long again: the first job again tells.
#[test]
#[ignore = "nightly: 30 s of CPU"]
fn a_drive_that_slows_down_meanwhile_gets_no_device() {
    let answer =
        answer(&hidden(1), |point, place| slower(point, if place > 0.5 { 1.5 } else { 1.0 })).expect("an answer");
    let why = answer.device.expect_err("no device");
    assert!(why.contains("run again differs by 5"), "{why}");
}

/// One read in fifty takes four times as long, for a reason that no load has to do with.
#[test]
#[ignore = "nightly: 30 s of CPU"]
fn a_tail_of_another_cause_is_seen_in_the_table() {
    let stretch = |point: &mut Point, _: f64| {
        let tail = point.quantiles.iter_mut().filter(|(rank, _)| *rank >= 980_000);
        tail.for_each(|(_, us)| *us *= 4.0);
    };
    let answer = answer(&hidden(1), stretch).expect("an answer");
    let mut off: Vec<f64> = answer.rows.iter().filter_map(|row| row.error(990_000)).collect();
    off.sort_by(f64::total_cmp);
    assert!(off[off.len() / 2] < -0.5, "the model has no such tail: {off:?}");
    let text = answer.text();
    let percent = |rest: &str| rest.split(' ').next().and_then(|word| word.parse::<u32>().ok()).expect("a percentage");
    let told: Vec<u32> = text.split("p99 within ").skip(1).map(percent).collect();
    assert!(!told.is_empty() && told.iter().all(|&percent| percent > 50), "{text}");
}

/// A fifth of all reads is answered from a cache in the drive.
#[test]
#[ignore = "nightly: 30 s of CPU"]
fn a_drive_that_answers_from_a_cache_is_refused() {
    let cached = |point: &mut Point, _: f64| {
        point.quantiles.iter_mut().filter(|(rank, _)| *rank <= 200_000).for_each(|(_, us)| *us = 3.0);
    };
    let said = match answer(&hidden(1), cached) {
        Err(error) => error.to_string(),
        Ok(answer) => answer.device.expect_err("no device"),
    };
    assert!(said.contains("flash"), "{said}");
}

/// The drive takes 32 reads at a time, and more wait outside: no preset has that.
#[test]
#[ignore = "nightly: 30 s of CPU"]
fn a_drive_that_takes_few_reads_at_a_time_is_followed() {
    let mut drive = hidden(1);
    drive.set("device", "a test", |document| {
        let front = &mut document.device.front;
        (front.protocol, front.depth) = (Some(Word(Protocol::Sata)), Some(Limit::At(32)));
    });
    let answer = answer(&drive, |_, _| ()).expect("an answer");
    let off = answer.rows.iter().filter(|row| !row.is_fitted).map(|row| row.mean_error().abs());
    let worst = off.fold(0.0, f64::max);
    assert!(answer.device.is_ok() && worst < 0.1, "off by {worst}, and docs/fit.md says 9 %");
}
