//! The standard jobs on a modelled drive, in the form in which fio tells of a real one.
//!
//! Promises the same bytes for the same scenario: no clock, and no processor time.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde_json::{Value, json};

use flashlane_report::results::fio;
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare};

use crate::error::FitError;
use crate::jobs::{Job, standard};
use crate::model::{flow, requests_of};
use crate::play;
use crate::point::{Access, Figures};
use crate::write_jobs::{BURST_BYTES, BURST_DEPTH, Load, PROBE_RATE, SMALL_BYTES, WriteJob, write_jobs};
use crate::write_loads::Drive;

/// Requests of a job of depth 1; a deep one has more, so that its tail is seen.
#[derive(Clone, Copy, Debug)]
pub struct Requests(pub u64);

/// Requests of the steady job for each of a job of depth 1.
const STEADY: u64 = 8;

impl Requests {
    /// What users get.
    pub const FULL: Requests = Requests(60_000);
}

/// Counts jobs that are done, and says which share of all they are.
struct Done<'a> {
    jobs: AtomicUsize,
    of: usize,
    progress: &'a (dyn Fn(f64) + Sync),
}

impl Done<'_> {
    fn one(&self) {
        let jobs = 1 + self.jobs.fetch_add(1, Ordering::Relaxed);
        (self.progress)(jobs as f64 / self.of as f64);
    }
}

/// fio's JSON of the standard jobs on the first `size` bytes of the device of `scenario`, by default on all, under its first scheduler; if
/// `writes`, of those that write, too, on all. Its flows and `[block]` do not matter. Calls `progress` with the share that is done, from several threads.
///
/// # Errors
/// A scenario without a device that can be built, or a run that fails.
pub fn probe(
    scenario: &Scenario,
    size: Option<u64>,
    requests: Requests,
    writes: bool,
    progress: &(dyn Fn(f64) + Sync),
) -> Result<String, FitError> {
    let mut drive = scenario.clone();
    drive.set("block", "--probe", |document| document.block = None);
    let scenario = &drive;
    let input = |error: flashlane_scenario::ScenarioError| FitError::Input(error.to_string());
    let config = scenario.device_config().map_err(input)?;
    let all = u64::from(config.ftl.logical_pages) * u64::from(config.geometry.page_bytes);
    let size = size.map_or(all, |size| size.min(all));
    let limit = (size < all).then_some(size);
    let (jobs, write_jobs) = (standard(size), if writes { write_jobs(all) } else { Vec::new() });
    let done = Done { jobs: AtomicUsize::new(0), of: jobs.len() + write_jobs.len(), progress };
    let jobs = jobs.into_par_iter().map(|job| run(scenario, &job, (size, limit), requests.0).inspect(|_| done.one()));
    let mut jobs: Vec<Value> = jobs.collect::<Result<_, _>>()?;
    if writes {
        jobs.extend(written(scenario, &write_jobs, requests.0, &done).map_err(FitError::Input)?);
    }
    let document = json!({
        "fio version": "fio-3.33",
        "global options": { "ioengine": "flashlane", "direct": "1", "rw": "randread", "size": size.to_string() },
        "jobs": jobs,
    });
    Ok(format!("{document:#}\n"))
}

/// A job on the first `size` bytes, which are not all if there is a `limit`.
fn run(scenario: &Scenario, job: &Job, (size, limit): (u64, Option<u64>), requests: u64) -> Result<Value, FitError> {
    // How many threads share the depth is of no matter to the drive.
    let (bytes, depth) = (job.bytes, u64::from(job.depth));
    let access = job.zipf.map_or(Access::Random, Access::Zipf);
    let span = job.span.or(limit).map(|span| span.min(size) / bytes * bytes);
    let flow = flow(access, [bytes, depth, requests_of(depth, bytes, requests)], span);
    let fault = |message: String| FitError::Input(format!("job {}: {message}", job.name));
    let scene = under_one_scheduler(scenario, 2 * depth, &flow).map_err(fault)?;
    let options = Options { audit: false, rows: None, activity: false, progress: None };
    let summary = compare(&scene, &options)?.summary;
    let run = summary.schedulers.first().ok_or_else(|| fault("no scheduler ran".into()))?;
    let rate = play::of(run, "reads").map_err(fault)?.read.as_ref().and_then(|read| read.own_iops);
    let mut told = fio::document(&summary)["jobs"][0].take();
    told["jobname"] = job.name.clone().into();
    told["job options"] = json!({
        "name": job.name, "bs": bytes.to_string(), "iodepth": (job.depth / job.threads).to_string(),
        "numjobs": job.threads.to_string(),
    });
    if let Some(theta) = job.zipf {
        told["job options"]["random_distribution"] = format!("zipf:{theta}").into();
    }
    if let Some(span) = job.span {
        told["job options"]["size"] = span.to_string().into();
    }
    // In whole milliseconds, as fio counts, a short run would be told longer than it is.
    told["read"]["iops"] = rate.unwrap_or_default().into();
    Ok(told)
}

/// `scenario` with other flows and its first scheduler.
fn under_one_scheduler(scenario: &Scenario, warm_up: u64, flows: &str) -> Result<Scenario, String> {
    let load = play::scenario("scheduler = \"fcfs\"", warm_up, flows)?;
    let mut scene = scenario.clone();
    let own = scene.document();
    let first = own.schedulers.as_ref().and_then(|schedulers| schedulers.first().cloned());
    let scheduler = own.scheduler.clone().or(first).or_else(|| load.document().scheduler.clone());
    let (flow, run) = (load.document().flow.clone(), load.document().run.clone());
    scene.set("flow", "the probe", |document| {
        (document.flow, document.run, document.scheduler, document.schedulers) = (flow, run, scheduler, None);
    });
    Ok(scene)
}

/// The jobs that write, on the drive at a part of its size. Jobs that only prepare it are not run, as the model begins where they end; nor those beside
/// more writes than it keeps up with.
fn written(scenario: &Scenario, jobs: &[WriteJob], requests: u64, done: &Done<'_>) -> Result<Vec<Value>, String> {
    let scene = under_one_scheduler(scenario, 0, &play::flow("x", "requests = 1"))?;
    let drive = Drive::new(scene)?;
    let end = |job: &WriteJob| match job.load {
        Load::Burst { to, .. } if job.name.starts_with("burst-") => Some(to),
        _ => None,
    };
    let ends: Vec<u64> = jobs.iter().filter_map(end).collect();
    let rates = drive.burst(&ends)?;
    let requests = STEADY * requests;
    let steady = drive.steady(requests)?.0;
    let run = |job: &WriteJob| -> Result<Option<Value>, String> {
        Ok(match job.load {
            Load::Lone => Some(told(&job.name, ["randwrite", &SMALL_BYTES.to_string()], &drive.lone(requests / 10)?)),
            Load::Burst { to, .. } => {
                let rate = ends.iter().zip(&rates).find(|(end, _)| **end == to).map_or(0.0, |(_, rate)| *rate);
                let iops = rate / BURST_BYTES as f64;
                let mean_us = 1e6 * f64::from(BURST_DEPTH) / iops;
                let figures = Figures { iops, mean_us, quantiles: Vec::new() };
                Some(told(&job.name, ["write", &BURST_BYTES.to_string()], &figures))
            }
            Load::Steady => Some(told(&job.name, ["randwrite", &SMALL_BYTES.to_string()], &steady)),
            Load::Beside { rate: Some(rate) } if f64::from(rate) > steady.iops => None,
            Load::Beside { rate } => {
                let [reads, writes] =
                    drive.beside(f64::from(PROBE_RATE), rate.map(f64::from), steady.iops, requests)?;
                let mut both = told(&job.name, ["randrw", &SMALL_BYTES.to_string()], &writes);
                both["read"] = side(&reads);
                Some(both)
            }
            Load::Fill | Load::Idle | Load::Overwrite | Load::Settle => None,
        })
    };
    let run = |job: &WriteJob| run(job).inspect(|_| done.one());
    let told: Vec<Option<Value>> = jobs.par_iter().map(run).collect::<Result<_, _>>()?;
    Ok(told.into_iter().flatten().collect())
}

/// A job of writes as fio tells it: how it writes and how many bytes at a time, and its figures.
fn told(name: &str, [rw, bytes]: [&str; 2], figures: &Figures) -> Value {
    json!({
        "jobname": name,
        "job options": { "name": name, "rw": rw, "bs": bytes },
        "read": { "total_ios": 0 },
        "write": side(figures),
    })
}

/// The part of fio's JSON for a job's reads, or for its writes.
fn side(figures: &Figures) -> Value {
    let percent = |&(rank, us): &(u32, f64)| (format!("{:.6}", f64::from(rank) / 1e4), json!(us * 1e3));
    let percentiles: serde_json::Map<String, Value> = figures.quantiles.iter().map(percent).collect();
    let times = json!({ "mean": figures.mean_us * 1e3, "percentile": percentiles });
    json!({ "iops": figures.iops, "total_ios": 1, "clat_ns": times })
}
