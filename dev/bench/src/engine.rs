//! The engine's cases: every scheduler of the catalogue under the three standard workloads on a small and a large drive,
//! and under closed loops of several depths.
//!
//! A case runs what users run, [`flashlane_sim::Simulation`] with all metrics on. Only its requests are drawn beforehand,
//! so that the figures do not include the generator's time.

use flashlane_core::arrival::{Next, Source, Span};
use flashlane_scenario::workload::AddressRange;
use flashlane_scenario::workload::scene::{SceneOp, SceneRequest};
use flashlane_scenario::workload::synthetic::{SyntheticSource, SyntheticSpec};
use flashlane_scenario::{ByteRange, FlowPlan, FlowSource, Scenario};
use flashlane_sched::catalogue::{self, Recipe};
use flashlane_sim::{Feed, Limits, ObserverOptions, Simulation};
use flashlane_ssd::{Config, Device};

use crate::case::Case;
use crate::meter::{Meter, measured};
use crate::outcome::Outcome;

/// A workload: its name, its synthetic keys, the state of the drive, requests of a counted run.
struct Workload {
    name: &'static str,
    keys: &'static str,
    state: &'static str,
    counted: u64,
}

/// Requests of a timed run of a standard workload: a shorter one on a large drive would mostly measure the first
/// accesses to its map.
const OPEN_REQUESTS: u64 = 1_000_000;

/// The three standard workloads. They offer a fixed rate, so the queue depth follows from the device. A request of the
/// last two has some 15 and 10 transactions.
const OPEN: [Workload; 3] = [
    Workload {
        name: "4k-reads",
        keys: "read_ratio = 1.0\nsize = { constant = 4096 }\nalign_bytes = 4096\nrate_iops = 200_000",
        state: "fresh",
        counted: 20_000,
    },
    Workload {
        name: "mix-gc",
        keys: "read_ratio = 0.7\nsize = { uniform = { min_bytes = 8192, max_bytes = 65536 } }\nsize_step_bytes = 8192\n\
               align_bytes = 8192\nrate_iops = 2_200",
        state: "steady",
        counted: 5_000,
    },
    Workload {
        name: "4k-writes-gc",
        keys: "read_ratio = 0.0\nsize = { constant = 4096 }\nalign_bytes = 4096\nrate_iops = 3_000",
        state: "steady",
        counted: 5_000,
    },
];

/// Channels of the drives, each with 4 chips.
pub(crate) const CHANNELS: u32 = 8;
/// Blocks a plane of the 16 GB and the 480 GB drive.
pub(crate) const DRIVES: [(&str, u32); 2] = [("16 GB", 137), ("480 GB", 4096)];

/// Requests in flight of the closed loops; 32 chips share them.
const DEPTHS: [u32; 4] = [32, 320, 3_200, 32_000];

/// Requests in flight that make queues of 10,000 at the 4 chips of one channel, and requests of a timed and of a
/// counted run, which first have to fill the queues. Measured with these schedulers: FLIN's insertion visits waiting
/// transactions, and the scheduler it is compared with visits none.
const DEEP: (u32, u64, u64) = (40_000, 200_000, 60_000);
const VISITING: [&str; 2] = ["fr-fcfs", "flin"];

/// Requests in flight of several pages (5 on average) that make queues of 10, 100 and 10,000 transactions at 32 chips, and
/// requests of a timed and of a counted run.
const LONG: [(u32, u64, u64); 3] = [(64, 200_000, 20_000), (640, 200_000, 20_000), (64_000, 400_000, 150_000)];

/// The schedulers that insert transactions by the slack of those that wait, `late`, and the scheduler they are compared with.
const INSERTING: [&str; 5] = ["fr-fcfs", "slacker", "wbyp", "need", "late"];

/// All cases of the engine.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in catalogue::schedulers() {
        for workload in &OPEN {
            for (drive, blocks) in DRIVES {
                cases.push(Case {
                    labels: [entry.name, workload.name, drive, "open"].map(String::from),
                    requests: OPEN_REQUESTS,
                    counted: workload.counted,
                    run: Box::new(move |requests| open(entry.name, workload, blocks, requests)),
                });
            }
        }
        for depth in DEPTHS {
            cases.push(Case {
                labels: [entry.name, "4k-mix-closed", DRIVES[0].0, &depth.to_string()].map(String::from),
                requests: 400_000,
                // Long enough to fill the queues.
                counted: u64::from(2 * depth).max(20_000),
                run: Box::new(move |requests| closed(entry.name, CHANNELS, depth, ("steady", ONE_PAGE), requests)),
            });
        }
    }
    for name in VISITING {
        let (depth, requests, counted) = DEEP;
        cases.push(Case {
            labels: [name, "4k-mix-closed", "2 GB, 1 channel", &depth.to_string()].map(String::from),
            requests,
            counted,
            run: Box::new(move |requests| closed(name, 1, depth, ("steady", ONE_PAGE), requests)),
        });
    }
    for name in INSERTING {
        for (depth, requests, counted) in LONG {
            cases.push(Case {
                labels: [name, "pages-mix-closed", DRIVES[0].0, &depth.to_string()].map(String::from),
                requests,
                counted,
                run: Box::new(move |requests| closed(name, CHANNELS, depth, ("fresh", PAGES), requests)),
            });
        }
    }
    cases
}

/// The flash of flin-isca18 with this number of channels, `blocks` blocks per plane and 15 % over-provisioning.
pub(crate) fn config(channels: u32, blocks: u32, state: &str) -> Result<Config, String> {
    let text = format!(
        "[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = {channels}\nblocks_per_plane = {blocks}\n[device.ftl]\n\
         over_provisioning_percent = 15.0\n[device.precondition]\nstate = \"{state}\"\n[[flow]]\nname = \"bench\"\n\
         [flow.synthetic]\nrate_iops = 1000\nrequests = 1\n"
    );
    let scenario = Scenario::parse("bench", text).map_err(|e| e.to_string())?;
    let mut config = scenario.device_config().map_err(|e| e.to_string())?;
    config.flows[0].pages = config.ftl.logical_pages;
    Ok(config)
}

pub(crate) fn plan(config: &Config, source: FlowSource) -> FlowPlan {
    let length = u64::from(config.ftl.logical_pages) * u64::from(config.geometry.page_bytes);
    FlowPlan { name: "bench".into(), priority: 0, range: ByteRange { offset: 0, length }, source }
}

pub(crate) fn spec(keys: &str, requests: u64) -> Result<SyntheticSpec, String> {
    toml::from_str(&format!("{keys}\nrequests = {requests}\n")).map_err(|e| e.to_string())
}

/// The scheduler, collecting as in earlier measurements where it leaves that open: Slacker's systems `atomic`, others `non-preemptive`.
fn recipe(scheduler: &str) -> Recipe {
    let entry = catalogue::SHIPPED.scheduler(scheduler);
    let collect = if entry.is_some_and(|entry| entry.answers.pick == "fr-fcfs") { "atomic" } else { "non-preemptive" };
    let open = entry.map_or(&[][..], |entry| entry.open);
    let answers = open.iter().map(|&question| (question, collect.to_owned())).collect();
    Recipe { base: Some(scheduler.into()), answers, ..Recipe::default() }
}

/// An open-loop case.
fn open(scheduler: &str, workload: &Workload, blocks: u32, requests: u64) -> Result<Outcome, String> {
    let config = config(CHANNELS, blocks, workload.state)?;
    let recipe = recipe(scheduler);
    let build = || catalogue::build(&recipe).map_err(|e| e.to_string());
    drop(Device::new(&config, build()?).map_err(|e| e.to_string())?);
    let ready = Meter::begin();
    let range = plan(&config, FlowSource::Inline(Vec::new())).address_range(config.geometry.page_bytes);
    let drawn = drawn(&spec(workload.keys, requests)?, &range)?;
    let feed = Feed::open(&plan(&config, FlowSource::Inline(drawn)), 0, config.geometry.page_bytes, 1);
    let feed = feed.map_err(|e| e.to_string())?;
    finish(ready, config, build()?, feed)
}

/// Requests of the closed loops: 4 KiB, or 1 to 9 pages.
pub(crate) const ONE_PAGE: &str = "size = { constant = 4096 }\nalign_bytes = 4096";
const PAGES: &str =
    "size = { uniform = { min_bytes = 8192, max_bytes = 73728 } }\nsize_step_bytes = 8192\nalign_bytes = 8192";

/// A closed-loop case: half reads, half writes of these sizes, on a drive in this state.
fn closed(
    scheduler: &str,
    channels: u32,
    depth: u32,
    (state, size): (&str, &str),
    requests: u64,
) -> Result<Outcome, String> {
    let mut config = config(channels, DRIVES[0].1, state)?;
    let recipe = recipe(scheduler);
    let build = || catalogue::build(&recipe).map_err(|e| e.to_string());
    // Commands that are compared with one another wait: 128 outstanding, as the NCQ paper has it, one for each chip in the device.
    let compares = build()?.admit.declares().ranks_all_waiting;
    config.front.protocol = flashlane_ssd::config::Protocol::Nvme { depth: if compares { 128 } else { u32::MAX } };
    if compares {
        config.front.in_flight = channels * 4;
    }
    drop(Device::new(&config, build()?).map_err(|e| e.to_string())?);
    let ready = Meter::begin();
    let keys = format!("read_ratio = 0.5\n{size}\narrivals = \"closed-loop\"\ndepth = {depth}");
    let source = FlowSource::Synthetic(Box::new(spec(&keys, requests)?));
    let feed = Feed::open(&plan(&config, source), 0, config.geometry.page_bytes, 1).map_err(|e| e.to_string())?;
    finish(ready, config, build()?, feed)
}

fn finish(
    ready: Meter,
    config: Config,
    scheduler: flashlane_core::decide::Scheduler,
    feed: Feed,
) -> Result<Outcome, String> {
    let run = Simulation::new(&config, scheduler, vec![Some(feed)], Limits::default(), ObserverOptions::default());
    let run = run.map_err(|e| e.to_string())?;
    let meter = ready.restart();
    let outcome = measured(|| run.finish()).map_err(|e| e.to_string())?;
    meter.end(transactions(&outcome))
}

/// Transactions of a run.
pub(crate) fn transactions(outcome: &flashlane_sim::Outcome) -> u64 {
    let d = &outcome.device;
    d.user_reads + d.partial_write_reads + d.user_programs + 2 * d.gc.moves + d.gc.erases
}

/// Draws the requests of a description.
fn drawn(spec: &SyntheticSpec, range: &AddressRange) -> Result<Vec<SceneRequest>, String> {
    let mut source = SyntheticSource::new(spec, range, 1).map_err(|e| e.to_string())?;
    // Allocated in full: the memory a growing list leaves behind would be counted as the simulator's.
    let mut requests = Vec::with_capacity(spec.requests.map_or(0, |requests| requests as usize));
    while let Next::Request(arrival) = source.next().map_err(|e| e.to_string())? {
        let Span::Bytes { offset, length } = arrival.extent else { return Err("a generator draws bytes".into()) };
        let op = if arrival.op == flashlane_core::Op::Read { SceneOp::Read } else { SceneOp::Write };
        requests.push(SceneRequest {
            at_ns: arrival.at.ns(),
            op,
            fua: false,
            offset: Some(offset),
            length: Some(length),
            pages: None,
        });
    }
    Ok(requests)
}
