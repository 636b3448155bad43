//! Makes a scenario from the command line: a scenario file or traces, with flags overriding its keys.
//!
//! Promises that an error in a flag's value names the flag, not the file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use flashlane_outputs::shown::{self, counted, escaped};
use flashlane_report::results::verdict::cache_stays_full;
use flashlane_scenario::{Document, FlowSource, MAX_FLOWS, Scenario, ScenarioError};
use flashlane_trace::recognise;

use crate::args::Workload;
use crate::catalogue;
use crate::fail::Failure;
use crate::keys;
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
    let scenario = match &args.scenario {
        Some(path) => Scenario::load(path).map_err(|error| or_a_trace(path, error))?,
        None => {
            Scenario::from_document("command line", Document { name: Some("traces".into()), ..Document::default() })
        }
    };
    with_options(scenario, args)
}

/// `scenario`, which `args` name, with what their options say.
pub fn with_options(mut scenario: Scenario, args: &Workload) -> Result<Scenario, Failure> {
    scenario.use_catalogue(catalogue::get().clone());
    let own_flows = scenario.document().flow.len();
    let traces = traces(args)?;
    let texts: Vec<String> = traces.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let mut given = keys::of_run(args, &texts)?;
    let mut first = scenario.clone();
    first.give(&given)?;
    given.extend(keys::of_flows(args, first.document())?);
    scenario.give(&given)?;
    for (i, (path, text)) in traces.iter().zip(&texts).enumerate().filter(|(_, (path, _))| path.to_str().is_none()) {
        // A path that is no text cannot stand in a document that is read.
        scenario.set(format!("flow[{i}].trace.path"), keys::TRACE, |document| {
            let flow = document.flow.get_mut(i).and_then(|flow| flow.trace.as_mut());
            flow.into_iter()
                .filter(|trace| trace.path.as_os_str() == text.as_str())
                .for_each(|trace| trace.path.clone_from(path));
        });
    }
    if let Some(name) = &args.changes.device {
        let keys = scenario.own_device_keys();
        if !keys.is_empty() {
            scenario.remark(
                keys::DEVICE,
                format!(
                    "{name} replaces the scenario's own device: left out {} {}",
                    if keys.len() == 1 { "is" } else { "are" },
                    keys.join(", ")
                ),
            );
        }
    }
    if !traces.is_empty() && own_flows > 0 {
        let flows = if own_flows == 1 { "flow".to_owned() } else { counted(own_flows, "flow") };
        scenario.remark(keys::TRACE, format!("replaces the scenario's own {flows}"));
    }
    if let Some(path) = &args.state {
        signals::install_handlers()?;
        scenario.keep_state(path);
    }
    let apart = match scenario.with_volumes_apart()? {
        Cow::Owned(apart) => Some(apart),
        Cow::Borrowed(_) => None,
    };
    Ok(apart.unwrap_or(scenario))
}

/// The traces of the command line. Their paths are relative to the working directory, not to a scenario's folder.
fn traces(args: &Workload) -> Result<Vec<PathBuf>, Failure> {
    if args.trace.is_empty() {
        return Ok(Vec::new());
    }
    if args.trace.len() > MAX_FLOWS {
        let message = format!("--trace: flow: {} flows; must be at most {MAX_FLOWS}", args.trace.len());
        return Err(Failure::Input(message));
    }
    signals::install_handlers()?;
    let placed = |path: PathBuf| match args.scenario {
        Some(_) => std::path::absolute(&path).unwrap_or(path),
        None => path,
    };
    args.trace.iter().map(|path| Ok(placed(spool::rereadable(path)?))).collect()
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

/// What is to be said of a scenario, a line each.
pub fn remarks(scenario: &Scenario) -> String {
    let line = |(what, text): &(String, String)| format!("{}: {}\n", escaped(what), escaped(text));
    scenario.remarks().iter().map(line).collect()
}

/// What was not measured when the device was fitted, a line; empty where nothing is said.
pub fn not_measured(scenario: &Scenario) -> Result<String, Failure> {
    Ok(flashlane_sweep::not_measured(scenario)?.map_or(String::new(), |sentence| sentence + "\n"))
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
    for layer in scenario.blocks(&config)? {
        let flows = layer.keys.flow.iter().map(|(name, flow)| (escaped(name), flow.described()));
        let told = flows.filter(|(_, keys)| !keys.is_empty());
        let flows: String = told.map(|(name, keys)| format!("; {name}: {keys}")).collect();
        let (elevator, depth, tags) = (layer.config.elevator.name(), layer.config.depth, layer.config.tags);
        text.push_str(&format!("block layer {elevator}, depth {depth}, {tags} tags{flows}\n"));
    }
    text.push_str(&format!("schedulers  {}\n", schedulers.join(", ")));
    for flow in &flows {
        let source = match &flow.source {
            FlowSource::Trace(path, _) => format!("trace {}", shown::path(path)),
            FlowSource::Synthetic(_) => "synthetic".into(),
            FlowSource::Clone(_) => "clone".into(),
            FlowSource::Inline(requests) => format!("{} written out", counted(requests.len(), "request")),
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
    text.push_str(&remarks(&scenario));
    text.push_str(&not_measured(&scenario)?);
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
    let preset = escaped(scenario.device_name());
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
