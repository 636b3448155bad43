//! The scenario's hash, which identifies an experiment.
//!
//! It covers everything that changes a result: the complete device (the user's keys over preset or device file and defaults, so
//! that editing these changes the hash), seed, schedulers, limits, flows, and for a trace its length and a BLAKE3 hash of
//! its bytes as stored, never its path (a folder, or the files of a blktrace, enter in the order of their names). It does not cover
//! the scenario's name, comments, or the order of keys.
//!
//! Only the hash of the whole is shown: 16 hexadecimal digits (64 bits) of BLAKE3 over the canonical JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::Scenario;
use super::base::Base;
use super::block::Block;
use super::device::Device;
use super::document::Run;
use super::error::KeyError;
use super::flow::ByteRange;
use super::host::Host;
use super::resolve::{self, FlowSource};
use super::scheduler::SchedulerChoice;
use super::trace::TraceFlow;
use crate::workload::clone::CloneSpec;
use crate::workload::scene::SceneRequest;
use crate::workload::synthetic::SyntheticSpec;
use flashlane_trace::rereadable;

#[derive(Serialize)]
struct Effective<'a> {
    device: Device,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a Host>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<Blocks>,
    seed: u64,
    schedulers: Vec<SchedulerChoice>,
    run: Run,
    flows: Vec<EffectiveFlow>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Blocks {
    One(Box<Block>),
    Compared(Vec<Block>),
}

#[derive(Serialize)]
struct EffectiveFlow {
    name: String,
    priority: u8,
    range: ByteRange,
    source: Source,
}

#[derive(Serialize)]
enum Source {
    Trace { options: Box<TraceFlow>, bytes: u64, blake3: String },
    Synthetic(Box<SyntheticSpec>),
    Clone(Box<CloneSpec>),
    Inline(Vec<SceneRequest>),
}

pub(super) fn hash(scenario: &Scenario, base: &Base) -> Result<String, KeyError> {
    let document = &scenario.document;
    let mut device = document.device.complete(&base.device)?;
    device.preset = None;
    // A preset of a drive with capacitors says so: that was not always a key, and changes no hash.
    device.leave_out_what_is_off(base.protected.unwrap_or_default());
    let priorities: Vec<u8> = document.flow.iter().map(|flow| flow.priority).collect();
    let config = super::build::config(&device, &priorities, scenario.seed())?;
    let mut flows = Vec::new();
    for (i, plan) in resolve::flows(document, &scenario.folder, &config)?.into_iter().enumerate() {
        let source = match plan.source {
            FlowSource::Trace(path, options) => {
                let (bytes, blake3) = scenario.traces.get(&path, i)?;
                let options = Box::new(TraceFlow { path: PathBuf::new(), ..options });
                Source::Trace { options, bytes, blake3 }
            }
            FlowSource::Synthetic(table) => Source::Synthetic(table),
            FlowSource::Clone(table) => Source::Clone(table),
            FlowSource::Inline(requests) => Source::Inline(requests),
        };
        flows.push(EffectiveFlow { name: plan.name, priority: plan.priority, range: plan.range, source });
    }
    let schedulers = resolve::schedulers(document)?;
    let (host, seed) = (document.host.as_ref(), scenario.seed());
    let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).collect();
    let blocks = scenario.block_keys()?;
    let are_compared = blocks.iter().any(|(name, _)| name.is_some());
    let complete = |(_, block): &(_, Block)| block.complete(config.front.protocol, &names);
    let mut blocks = blocks.iter().map(complete).collect::<Result<Vec<Block>, KeyError>>()?;
    let block =
        if are_compared { Some(Blocks::Compared(blocks)) } else { blocks.pop().map(|one| Blocks::One(Box::new(one))) };
    let collect = document.run.collect.clone().unwrap_or_else(|| super::DEFAULT_COLLECT.to_owned());
    // How often a comparison is repeated changes none of its figures.
    let run = Run { collect: Some(collect), seeds: None, ..document.run.clone() };
    let effective = Effective { device, host, block, seed, schedulers, run, flows };
    let json = serde_json::to_vec(&effective).expect("plain values with text keys always have a JSON form");
    Ok(hash_of([&json[..]]))
}

/// The first 64 bits of BLAKE3 over `parts` joined: 16 hexadecimal digits.
pub fn hash_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    parts.into_iter().for_each(|part| {
        hasher.update(part);
    });
    hasher.finalize().to_hex()[..16].to_owned()
}

/// Lengths and hashes of traces, each read once.
#[derive(Debug, Default)]
pub(super) struct TraceHashes(Mutex<BTreeMap<PathBuf, (u64, String)>>);

impl TraceHashes {
    fn get(&self, path: &Path, flow: usize) -> Result<(u64, String), KeyError> {
        // If a thread panicked while holding it, its entries are still true.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(path) {
            return Ok(found.clone());
        }
        let found = contents(path, flow)?;
        known.insert(path.to_owned(), found.clone());
        Ok(found)
    }
}

fn contents(path: &Path, flow: usize) -> Result<(u64, String), KeyError> {
    let fault = |e: std::io::Error| KeyError {
        keys: vec![format!("flow[{flow}].trace.path"), format!("flow[{flow}].trace")],
        value: format!("{:?}", path.display().to_string()),
        message: format!("cannot read the trace: {e}"),
    };
    rereadable(path).map_err(|message| KeyError {
        keys: vec![format!("flow[{flow}].trace.path"), format!("flow[{flow}].trace")],
        value: format!("{:?}", path.display().to_string()),
        message: message.into(),
    })?;
    let mut files = if path.is_dir() {
        let entries: Result<Vec<_>, _> = std::fs::read_dir(path).map_err(fault)?.collect();
        let mut files: Vec<_> = entries.map_err(fault)?.into_iter().map(|entry| entry.path()).collect();
        files.retain(|file| file.is_file());
        files
    } else {
        // The file itself, or those of a base name or a pattern.
        flashlane_trace::files(path)
    };
    files.sort();
    let mut hasher = blake3::Hasher::new();
    for file in files {
        // In pieces so large that parts of the tree of hashes are computed side by side.
        hasher.update_reader(std::fs::File::open(file).map_err(fault)?).map_err(fault)?;
    }
    Ok((hasher.count(), hasher.finalize().to_hex().to_string()))
}
