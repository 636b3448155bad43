//! Makes a scenario from the command line: a scenario file or traces, with flags overriding its keys.
//!
//! Promises that an error in a flag's value names the flag, not the file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use flashlane_outputs::shown::{self, escaped};
use flashlane_report::results::verdict::cache_stays_full;
use flashlane_scenario::{
    Device, Document, Flow, FlowSource, Range, Scenario, ScenarioError, Speedup, TraceFlow, Word,
};
use flashlane_trace::recognise;

use crate::args::Workload;
use crate::catalogue;
use crate::fail::Failure;
use crate::memory;
use crate::signals;
use crate::spool;
use crate::text::{note, print};

/// Says that `command` repeats nothing under other seeds, where the scenario asks for it.
pub fn seeds_are_unused(scenario: &Scenario, command: &str) {
    if let Some(seeds) = scenario.document().run.seeds {
        note(&format!(
            "run.seeds = {seeds} is not used by `flashlane {command}`: only run and compare try other seeds"
        ));
    }
}

/// The scenario that `args` describe.
pub fn scenario(args: &Workload) -> Result<Scenario, Failure> {
    let mut scenario = match &args.scenario {
        Some(path) => Scenario::load(path).map_err(|error| or_a_trace(path, error))?,
        None => {
            Scenario::from_document("command line", Document { name: Some("traces".into()), ..Document::default() })
        }
    };
    scenario.use_catalogue(catalogue::get().clone());
    scenario.assign(&assignments(&args.set)?)?;
    if !args.trace.is_empty() {
        signals::install_handlers()?;
        let paths = args.trace.iter().map(|path| spool::rereadable(path)).collect::<Result<Vec<_>, _>>()?;
        scenario.set("flow", "--trace", |document| {
            document.flow = paths.iter().map(|path| replay(path, args.scenario.is_some())).collect();
        });
    }
    trace_flags(&mut scenario, args)?;
    flow_flags(&mut scenario, args)?;
    if let Some(name) = &args.device {
        scenario.set("device", "--device", |document| document.device = Device::preset(name.clone()));
    }
    if let Some(path) = &args.state {
        signals::install_handlers()?;
        scenario.keep_state(path);
    }
    if let Some(seed) = args.seed {
        scenario.set("seed", "--seed", |document| document.seed = Some(seed));
    }
    if let Some(answer) = &args.collect {
        let hold = |document: &mut Document| document.run.hold.collect = Some(answer.clone());
        scenario.set("run.hold.collect", "--collect", hold);
    }
    if let Some(answer) = &args.preempt {
        let hold = |document: &mut Document| document.run.hold.preempt = Some(answer.clone());
        scenario.set("run.hold.preempt", "--preempt", hold);
    }
    if args.no_alone {
        scenario.set("run.alone", "--no-alone", |document| document.run.alone = Some(false));
    }
    if args.shadow_estimator {
        let set = |document: &mut flashlane_scenario::Document| document.run.shadow_estimator = Some(true);
        scenario.set("run.shadow_estimator", "--shadow-estimator", set);
    }
    if args.slack {
        scenario.set("run.slack", "--slack", |document| document.run.slack = Some(true));
    }
    if let Some(name) = &args.alone_scheduler {
        scenario.set("run.alone_scheduler", "--alone-scheduler", |document| {
            document.run.alone_scheduler = Some(name.clone());
        });
    }
    let apart = match scenario.with_volumes_apart()? {
        Cow::Owned(apart) => Some(apart),
        Cow::Borrowed(_) => None,
    };
    Ok(apart.unwrap_or(scenario))
}

/// The error of a scenario that cannot be read, with what the user probably meant if it is a trace.
fn or_a_trace(path: &Path, error: ScenarioError) -> Failure {
    let message = error.to_string();
    // Only a file: a pipe may never get a writer.
    let found = path.is_file().then(|| recognise(path).ok()).flatten();
    Failure::Input(match found {
        Some(found) => {
            format!("{message}; it is a trace ({}): did you mean --trace {}?", found.format, shown::path(path))
        }
        None => message,
    })
}

/// The keys and values of `--set`.
fn assignments(given: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let split = |text: &String| match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(Failure::Input(format!("--set {text}: must be KEY=VALUE, such as device.gc.start_percent=7"))),
    };
    given.iter().map(split).collect()
}

/// A flow from the command line. Its path is relative to the working directory, not to a scenario's folder.
fn replay(path: &Path, beside_scenario: bool) -> Flow {
    let path: PathBuf =
        if beside_scenario { std::path::absolute(path).unwrap_or_else(|_| path.into()) } else { path.into() };
    Flow { trace: Some(TraceFlow::file(path)), ..Flow::default() }
}

/// Applies the flags on how traces are replayed to every flow that replays one.
fn trace_flags(scenario: &mut Scenario, args: &Workload) -> Result<(), Failure> {
    let reading = &args.reading;
    let flags = [
        ("format", "--trace-format", reading.trace_format.is_some()),
        ("time_unit", "--time-unit", reading.time_unit.is_some()),
        ("columns", "--columns", reading.columns.is_some()),
        ("device", "--only-device", reading.only_device.is_some()),
        ("volumes", "--volumes", reading.volumes.is_some()),
        ("action", "--action", reading.action.is_some()),
        ("offset", "--offset", reading.offset.is_some()),
        ("limit", "--limit", reading.limit.is_some()),
        ("beyond", "--beyond", reading.beyond.is_some()),
        ("order", "--order", reading.order.is_some()),
        ("sizes", "--sizes", reading.sizes.is_some()),
        ("speedup", "--speedup", !args.speedup.is_empty()),
        ("replay", "--replay", args.replay.is_some()),
        ("depth", "--depth", args.depth.is_some()),
    ];
    let replayed: Vec<usize> =
        scenario.document().flow.iter().enumerate().filter(|(_, f)| f.trace.is_some()).map(|(i, _)| i).collect();
    let speedups = args.speedup.len();
    if !replayed.is_empty() && !matches!(speedups, 0 | 1) && speedups != replayed.len() {
        return Err(Failure::Input(format!(
            "--speedup: {speedups} given for {} traces; give one, or one for each trace",
            replayed.len()
        )));
    }
    for (key, flag, _) in flags.into_iter().filter(|(_, _, given)| *given) {
        if replayed.is_empty() {
            return Err(Failure::Input(format!("{flag}: no flow replays a trace; give one with --trace")));
        }
        for (nth, &i) in replayed.iter().enumerate() {
            let speedup = args.speedup.get(nth).or(args.speedup.first()).cloned();
            scenario.set(format!("flow[{i}].trace.{key}"), flag, |document| {
                let Some(trace) = &mut document.flow[i].trace else { return };
                match key {
                    "format" => trace.format = reading.trace_format.clone(),
                    "time_unit" => trace.time_unit = reading.time_unit.map(Word),
                    "columns" => trace.columns = reading.columns.clone(),
                    "device" => trace.device = reading.only_device.clone(),
                    "volumes" => trace.volumes = reading.volumes.map(Word),
                    "action" => trace.action = reading.action.map(Word),
                    "offset" => trace.offset = reading.offset,
                    "limit" => trace.limit = reading.limit,
                    "beyond" => trace.beyond = reading.beyond.map(Word),
                    "order" => trace.order = reading.order.map(Word),
                    "sizes" => trace.sizes = reading.sizes.map(Word),
                    "replay" => trace.replay = args.replay.map(Word),
                    "depth" => trace.depth = args.depth,
                    _ => trace.speedup = speedup.map(Speedup),
                }
            });
        }
    }
    Ok(())
}

/// Applies the flags on priorities and ranges of flows.
fn flow_flags(scenario: &mut Scenario, args: &Workload) -> Result<(), Failure> {
    let flows = scenario.document().flow.len();
    if !matches!(args.priority.len(), 0 | 1) && args.priority.len() != flows {
        let given = args.priority.len();
        return Err(Failure::Input(format!(
            "--priority: {given} given for {flows} flows; give one, or one for each flow"
        )));
    }
    for i in 0..flows {
        if let Some(&level) = args.priority.get(i).or(args.priority.first()) {
            scenario.set(format!("flow[{i}].priority"), "--priority", |document| document.flow[i].priority = level);
        }
        if let Some(word) = args.range {
            let range = Some(Range::Word(Word(word)));
            scenario.set(format!("flow[{i}].range"), "--range", |document| document.flow[i].range = range);
        }
    }
    Ok(())
}

/// Runs `flashlane check`.
pub fn check(args: &Workload) -> Result<(), Failure> {
    let scenario = scenario(args)?;
    let config = scenario.device_config()?;
    let flows = scenario.flows(&config)?;
    let schedulers: Vec<String> = scenario.schedulers()?.iter().map(|choice| choice.name()).collect();
    let name = escaped(scenario.name());
    let mut text = format!("{name}: scenario {}, seed {}\n", scenario.hash()?, scenario.seed());
    text.push_str(&device(&scenario)?);
    text.push_str(&format!("schedulers  {}\n", schedulers.join(", ")));
    for flow in &flows {
        let source = match &flow.source {
            FlowSource::Trace(path, _) => format!("trace {}", shown::path(path)),
            FlowSource::Synthetic(_) => "synthetic".into(),
            FlowSource::Clone(_) => "clone".into(),
            FlowSource::Inline(requests) => format!("{} requests written out", requests.len()),
        };
        let (from, to) = (flow.range.offset, flow.range.offset + flow.range.length);
        text.push_str(&format!(
            "flow        {}: {source}; priority {}; bytes {from} to {to}\n",
            escaped(&flow.name),
            flow.priority
        ));
    }
    text.push_str(&memory::describe(&scenario)?);
    text.push('\n');
    for sentence in scenario.keys_without_effect()? {
        text.push_str(&format!("Warning: {}\n", escaped(&sentence)));
    }
    if let blocks @ 1.. = config.blocks_never_folded() {
        text.push_str(&format!("Warning: {}\n", cache_stays_full(blocks)));
    }
    print(&text)
}

/// What the device of a scenario comes to.
fn device(scenario: &Scenario) -> Result<String, Failure> {
    let config = scenario.device_config()?;
    let preset = scenario.document().device.preset.as_deref().unwrap_or(flashlane_scenario::DEFAULT_PRESET);
    let g = &config.geometry;
    let user = u64::from(config.ftl.logical_pages) * u64::from(g.page_bytes);
    // Static blocks of the SLC cache are no part of the over-provisioning.
    let native_bytes = g.raw_bytes() / u64::from(g.blocks_per_plane) * u64::from(config.native_blocks());
    let mut text = format!(
        "device      {preset}: {} units on {} channels, {} GB for the user of {} GB raw ({:.1} % over-provisioning)\n",
        g.units(),
        g.channels,
        gigabytes(user),
        gigabytes(g.raw_bytes()),
        (native_bytes - user) as f64 * 100.0 / user as f64,
    );
    if let Some(slc) = &config.slc {
        let always = (g.raw_bytes() - native_bytes) / u64::from(slc.bits);
        let start = config.gc.start_blocks;
        let and_dynamic = match (slc.dynamic, slc.dynamic_limit) {
            (false, _) => String::new(),
            (true, u32::MAX) => format!(", and others while more than {start} are free"),
            (true, limit) => format!(", and up to {limit} others while more than {start} are free"),
        };
        text.push_str(&format!(
            "SLC cache   {} GB: {} blocks of a plane, {} pages each{and_dynamic}\n",
            gigabytes(always),
            slc.static_blocks,
            g.pages_per_block / slc.bits
        ));
    }
    if let Some(mapping) = &config.mapping {
        text.push_str(&format!(
            "map         {} of {} entries in the controller's memory, {} in the host's; {} translation pages, {} GB of the over-provisioning\n",
            mapping.entries.min(config.ftl.logical_pages),
            config.ftl.logical_pages,
            mapping.host_entries,
            config.translation_pages(),
            gigabytes(u64::from(config.translation_pages()) * u64::from(g.page_bytes))
        ));
    }
    text.push_str(&format!(
        "collecting  below {} free blocks of a plane's {}, at or below {} before anything else\n",
        config.gc.start_blocks,
        config.native_blocks(),
        config.gc.hard_blocks
    ));
    Ok(text)
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / 1e9)
}
