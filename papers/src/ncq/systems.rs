//! The five estimates on workloads, buffers and devices (NCQ-E1 to E3).

use super::setup::{BUFFER, ROWS, document, rows, scheduler, workload};
use crate::{Measurements, RunStats, Runner};
use flashlane_scenario::workload::iometer::NcqWorkload;
use flashlane_scenario::{Device, Document, Limit};
use flashlane_sim::RunError;

/// Notes the mean response times of each row, reads and writes, as `read_ms` and `write_ms` under `path`.
pub(super) fn note(figures: &mut Measurements, path: &[&str], made: &RunStats) {
    for run in &made.schedulers {
        for (kind, responses) in [("read_ms", &run.total.read), ("write_ms", &run.total.write)] {
            let path: Vec<&str> = [kind].iter().chain(path).copied().chain([run.name.as_str()]).collect();
            figures.push_some(&path, responses.as_ref().map(|responses| responses.mean_ns / 1e6));
        }
    }
}

/// Runs every document, several in parallel, and notes their means.
pub(super) fn means(runner: &Runner<'_>, documents: Vec<(Vec<String>, Document)>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    for (path, made) in runner.compare(documents)? {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        note(&mut figures, &path, &made);
    }
    Ok(figures)
}

/// Runs NCQ-E1: alpha 0.9, and 1 for the rows that age.
pub fn workloads(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut documents = Vec::new();
    for row in NcqWorkload::all() {
        for seed in runner.seeds() {
            documents.push((vec!["alpha_90".into(), row.name.clone()], document(runner, &row, seed, rows())));
            let unaged = ROWS.iter().map(|&row| scheduler(row, 100)).collect();
            documents.push((vec!["alpha_100".into(), row.name.clone()], document(runner, &row, seed, unaged)));
        }
    }
    means(runner, documents)
}

/// Runs NCQ-E2 and E3: buffers of 8 to 128 MB; commands and kilobytes per second, from the first arrival to the last completion.
pub fn buffers(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut runs = Vec::new();
    for megabytes in [8, 16, 32, 64, 128] {
        for seed in runner.seeds() {
            let mut document = document(runner, &workload("A"), seed, rows());
            document.device.buffer.pages = Some(megabytes * BUFFER / 32);
            runs.push((megabytes, document));
        }
    }
    let mut figures = Measurements::default();
    for (megabytes, made) in runner.compare(runs)? {
        note(&mut figures, &["buffer_mb", &megabytes.to_string()], &made);
        if megabytes != 32 {
            continue;
        }
        for run in &made.schedulers {
            let iops = run.total.completed as f64 * 1e9 / run.total.makespan_ns as f64;
            figures.push(&["throughput", "iops", &run.name], iops);
            let kilobytes = run.total.all.as_ref().map(|all| all.bytes as f64 / all.requests as f64 / 1024.0);
            figures.push_some(&["throughput", "kb_per_s", &run.name], kilobytes.map(|each| each * iops));
        }
    }
    Ok(figures)
}

/// A change of the device or the workload.
type Change = fn(&mut NcqWorkload, &mut Device);

/// Settings beside the calibrated one (D-NCQ-04, D-NCQ-07, D-NCQ-09, D-NCQ-12).
const SETTINGS: [(&str, Change); 9] = [
    ("calibrated", |_, _| ()),
    ("files_alike", |row, _| row.file_theta = 0.0),
    ("gap_1.57", |row, _| row.mean_gap_us = 1_570.0),
    ("cluster_2", |_, device| device.front.cluster = Some(2)),
    ("depth_8", |_, device| device.front.depth = Some(Limit::At(8))),
    ("depth_32", |_, device| device.front.depth = Some(Limit::At(32))),
    ("read_allocation", |_, device| device.buffer.read_allocate = Some(true)),
    ("flash", |_, device| (device.front.service, device.front.cluster) = (None, None)),
    ("flash_at_9_times_the_load", |row, device| {
        row.mean_gap_us /= 9.0;
        (device.front.service, device.front.cluster) = (None, None);
    }),
];

/// Runs workload A under settings other than the calibrated one.
pub fn settings(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut documents = Vec::new();
    for (name, change) in SETTINGS {
        for seed in runner.seeds() {
            let (mut row, mut device) = (workload("A"), Device::default());
            change(&mut row, &mut device);
            let mut document = document(runner, &row, seed, rows());
            if name.starts_with("flash") {
                (document.device.front.service, document.device.front.cluster) = (None, None);
            } else {
                document.device.overlay(&device);
            }
            documents.push((vec!["setting".into(), name.into()], document));
        }
    }
    means(runner, documents)
}
