//! The standard jobs on a modelled drive, in the form in which fio tells of a real one.
//!
//! Promises the same bytes for the same scenario: no clock, and no processor time.

use rayon::prelude::*;
use serde_json::{Value, json};

use flashlane_report::results::fio;
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare};

use crate::error::FitError;
use crate::jobs::{Job, standard};
use crate::model::{flow, requests_of};
use crate::play;
use crate::point::Access;

/// Requests of a job of depth 1; a deep one has more, so that its tail is seen.
#[derive(Clone, Copy, Debug)]
pub struct Requests(pub u64);

impl Requests {
    /// What users get.
    pub const FULL: Requests = Requests(60_000);
}

/// fio's JSON of the standard jobs on the first `size` bytes of the device of `scenario`, by default on all, under its first scheduler. Its flows do
/// not matter.
///
/// # Errors
/// A scenario without a device that can be built, or a run that fails.
pub fn probe(scenario: &Scenario, size: Option<u64>, requests: Requests) -> Result<String, FitError> {
    let input = |error: flashlane_scenario::ScenarioError| FitError::Input(error.to_string());
    let config = scenario.device_config().map_err(input)?;
    let all = u64::from(config.ftl.logical_pages) * u64::from(config.geometry.page_bytes);
    let size = size.map_or(all, |size| size.min(all));
    let limit = (size < all).then_some(size);
    let jobs = standard(size).into_par_iter().map(|job| run(scenario, &job, (size, limit), requests.0));
    let jobs: Vec<Value> = jobs.collect::<Result<_, _>>()?;
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
    let load = play::scenario("scheduler = \"fcfs\"", 2 * depth, &flow).map_err(fault)?;
    let mut scene = scenario.clone();
    let own = scene.document();
    let first = own.schedulers.as_ref().and_then(|schedulers| schedulers.first().cloned());
    let scheduler = own.scheduler.clone().or(first).or_else(|| load.document().scheduler.clone());
    let (flow, run) = (load.document().flow.clone(), load.document().run.clone());
    scene.set("flow", "the probe", |document| {
        (document.flow, document.run, document.scheduler, document.schedulers) = (flow, run, scheduler, None);
    });
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
