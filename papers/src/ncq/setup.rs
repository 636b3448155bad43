//! The device, the rows and the workloads that the experiments consist of, as decided in model 5.3.

use crate::Runner;
use flashlane_scenario::workload::iometer::NcqWorkload;
use flashlane_scenario::{Device, Document, Flow, Mix, Run, SchedulerChoice, Service, Word};

/// The rows of the paper, by its names.
pub const ROWS: [(&str, &str); 5] =
    [("FCFS", "ncq-fcfs"), ("S", "ncq-s"), ("SB", "ncq-sb"), ("TS", "ncq-ts"), ("TSB", "ncq-tsb")];

/// Pages of the buffer of 32 MB.
pub const BUFFER: u32 = 8_192;

/// Alpha of the paper's experiments, percent.
pub const ALPHA: u64 = 90;

/// A workload by name.
pub fn workload(name: &str) -> NcqWorkload {
    NcqWorkload::all().into_iter().find(|row| row.name == name).expect("A, B and C are in the table")
}

/// A row under the paper's name with this alpha, percent.
pub fn scheduler((name, row): (&str, &str), alpha: u64) -> SchedulerChoice {
    let parameters = [("ncq_alpha".to_owned(), alpha)].into_iter().filter(|_| row != "ncq-fcfs").collect();
    let mix = Mix { name: Some(name.into()), base: Some(row.into()), parameters, ..Mix::default() };
    SchedulerChoice::Mix(Box::new(mix))
}

/// All rows with the alpha of the paper.
pub fn rows() -> Vec<SchedulerChoice> {
    ROWS.iter().map(|&row| scheduler(row, ALPHA)).collect()
}

/// A run of one workload of full length.
pub fn document(runner: &Runner<'_>, row: &NcqWorkload, seed: u64, schedulers: Vec<SchedulerChoice>) -> Document {
    of_length(runner.amount(200_000, 20_000), row, seed, schedulers)
}

/// A run for tables of many: a fifth of the length, that of the runs that the workloads were calibrated with.
pub fn short(runner: &Runner<'_>, row: &NcqWorkload, seed: u64, schedulers: Vec<SchedulerChoice>) -> Document {
    of_length(runner.amount(40_000, 10_000), row, seed, schedulers)
}

/// A run of this many commands on the paper's device with serial service; its first tenth, in which the buffer fills, is not measured.
fn of_length(requests: u64, row: &NcqWorkload, seed: u64, schedulers: Vec<SchedulerChoice>) -> Document {
    let mut device = Device::preset("ncq-elex15".into());
    (device.front.service, device.front.cluster) = (Some(Word(Service::Serial)), Some(row.cluster));
    let flow = Flow { synthetic: Some(row.to_synthetic(requests, seed)), ..Flow::default() };
    Document {
        name: Some(format!("ncq {} seed {seed}", row.name)),
        seed: Some(seed),
        device,
        schedulers: Some(schedulers),
        run: Run { warm_up_requests: Some(requests / 10), ..Run::default() },
        flow: vec![flow],
        ..Document::default()
    }
}
