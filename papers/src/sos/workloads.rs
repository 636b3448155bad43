//! The benchmarks of the slides and the scenarios that run them.

use crate::Runner;
use flashlane_scenario::workload::clone::{CloneSpec, SosBenchmark, Table};
use flashlane_scenario::{Device, Document, Latency, Run, SchedulerChoice};
use flashlane_sim::RunError;

/// Measured requests of a run: full, and in a quick run.
const REQUESTS: (u64, u64) = (100_000, 10_000);

/// Array times of a read and a program, ns: the defaults of the other papers' flash, and single-level cells of 2013.
pub const TIMES: [(&str, u64, u64); 2] = [("1300", 75_000, 1_300_000), ("200", 25_000, 200_000)];
/// Where the host's writes are done.
pub const DONE_IN: [&str; 2] = ["flash", "buffer"];
/// Pages of the buffer that acknowledges writes (D-SOS-05).
const BUFFER_PAGES: u32 = 256;

/// Measured requests of each run.
pub fn requests(runner: &Runner<'_>) -> u64 {
    runner.amount(REQUESTS.0, REQUESTS.1)
}

/// BlueSSD with these array times, and with a buffer that acknowledges writes or without.
pub fn device((_, read_ns, program_ns): (&str, u64, u64), done_in: &str) -> Device {
    let mut device = Device::preset("sos-msst13".into());
    device.nand.read_ns = Some(Latency::Constant(read_ns));
    device.nand.program_ns = Some(Latency::Constant(program_ns));
    if done_in == "buffer" {
        device.buffer.pages = Some(BUFFER_PAGES);
        device.buffer.merge_writes = Some(false);
    }
    device
}

/// A scenario of `benchmark` on `device` under `schedulers`, with `requests` measured requests after a warm-up of a tenth as many.
///
/// # Errors
/// A folder of traces that cannot be read.
pub fn document(
    runner: &Runner<'_>,
    benchmark: &SosBenchmark,
    seed: u64,
    device: Device,
    schedulers: &[&str],
) -> Result<Document, RunError> {
    let requests = requests(runner);
    let clone = CloneSpec::new(Table::Sos, &benchmark.name, requests + requests / 10);
    Ok(Document {
        name: Some(format!("sos {}", benchmark.name)),
        seed: Some(seed),
        device,
        schedulers: Some(schedulers.iter().map(|name| SchedulerChoice::Named((*name).into())).collect()),
        run: Run { warm_up_requests: Some(requests / 10), ..Run::default() },
        flow: vec![runner.flow(&benchmark.name, requests + requests / 10, clone)?],
        ..Document::default()
    })
}

/// Mean time between requests, us, with which a request's work on the flash of the other papers keeps the 16 chips busy for this
/// share of the time.
pub fn gap_us(benchmark: &SosBenchmark, load: f64) -> f64 {
    let reads = benchmark.read_percent / 100.0;
    let work_us = (reads * 99.6 + (1.0 - reads) * 1_324.6) / 16.0;
    (10.0 * work_us / load).round() / 10.0
}

/// Makes the clone of `document` send requests at a rate that keeps the chips busy for a tenth of the time; a trace stays as it is.
pub fn at_a_tenth(benchmark: &SosBenchmark, document: &mut Document) {
    if let Some(clone) = &mut document.flow[0].clone {
        clone.mean_gap_us = Some(gap_us(benchmark, 0.1));
    }
}
