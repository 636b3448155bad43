//! Resolves defaults and checks that keys agree: names and ranges of flows, their sources, the schedulers compared.
//!
//! Promises that what it returns needs no further checking. Must never open a file.

use std::path::{Path, PathBuf};

use flashlane_outputs::shown::counted;
use flashlane_ssd::config::Config;

use super::device::Device;
use super::document::Document;
use super::error::KeyError;
use super::flow::{ByteRange, Flow, Range, RangeWord};
use super::limits;
use super::names;
use super::scheduler::{Mix, SchedulerChoice};
use super::trace::TraceFlow;
use super::words::{Service, Word};
use crate::workload::AddressRange;
use crate::workload::clone::CloneSpec;
use crate::workload::scene::{SceneRequest, SceneSource};
use crate::workload::synthetic::{SyntheticSource, SyntheticSpec};

/// A flow with its defaults resolved.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowPlan {
    /// Its name, unique.
    pub name: String,
    /// Priority level, 0 lowest.
    pub priority: u8,
    /// The bytes of the drive it may touch, a range of whole pages.
    pub range: ByteRange,
    /// Where its requests come from.
    pub source: FlowSource,
}

/// Where a flow's requests come from.
#[derive(Clone, PartialEq, Debug)]
#[allow(clippy::large_enum_variant, reason = "a scenario has few flows")]
pub enum FlowSource {
    /// A trace file; the path is relative to the working directory.
    Trace(PathBuf, TraceFlow),
    /// Keys of the synthetic generator.
    Synthetic(Box<SyntheticSpec>),
    /// Keys of the clone generator.
    Clone(Box<CloneSpec>),
    /// Requests written out.
    Inline(Vec<SceneRequest>),
}

impl FlowSource {
    /// Whether another seed gives other requests.
    pub fn is_drawn(&self) -> bool {
        matches!(self, FlowSource::Synthetic(_) | FlowSource::Clone(_))
    }
}

impl Device {
    /// The device over what its keys lie over.
    pub(super) fn complete(&self, base: &Device) -> Result<Device, KeyError> {
        let mut device = base.clone();
        device.overlay(self);
        if device.front.service == Some(Word(Service::Serial)) {
            self.check_serial_buffer()?;
            // A preset's value is for the flash.
            device.buffer.flush_above = None;
        }
        Ok(device)
    }

    /// Refuses what serial service does not heed: there a dirty page is written out when another page needs its place, and only then.
    fn check_serial_buffer(&self) -> Result<(), KeyError> {
        let message = "has no meaning with front.service = \"serial\"; leave it out";
        match (self.buffer.flush_above, self.buffer.merge_writes) {
            (Some(pages), _) => Err(KeyError::new("device.buffer.flush_above", pages, message)),
            (None, Some(false)) => Err(KeyError::new("device.buffer.merge_writes", false, message)),
            (None, _) => Ok(()),
        }
    }
}

pub(super) fn schedulers(document: &Document) -> Result<Vec<SchedulerChoice>, KeyError> {
    let choices = match (&document.scheduler, &document.schedulers) {
        (Some(_), Some(_)) => return Err(KeyError::new("scheduler", "", "give scheduler or schedulers, not both")),
        (Some(one), None) => vec![one.clone()],
        (None, Some(list)) => list.clone(),
        (None, None) => super::DEFAULT_SCHEDULERS.map(|name| SchedulerChoice::Named(name.into())).into(),
    };
    if choices.is_empty() {
        return Err(KeyError::new("schedulers", "[]", "must name at least one scheduler"));
    }
    if choices.len() > limits::SCHEDULERS {
        let message = format!("{} schedulers; must be at most {}", choices.len(), limits::SCHEDULERS);
        return Err(KeyError { keys: vec!["schedulers".into()], value: String::new(), message });
    }
    for (i, choice) in choices.iter().enumerate() {
        let key = || if document.scheduler.is_some() { "scheduler".into() } else { format!("schedulers[{i}]") };
        if matches!(choice, SchedulerChoice::Mix(mix) if **mix == Mix::default()) {
            let legal =
                "is empty; a mix has a base, an answer to a question or a parameter of read-first, its default base";
            return Err(KeyError::new(key(), "{}", legal));
        }
        let name = choice.name();
        let own = || if choice.is_named_by_key() { format!("{}.name", key()) } else { key() };
        if name.is_empty() && choice.is_named_by_key() {
            return Err(KeyError::new(
                own(),
                "\"\"",
                "must not be empty; a mix without it has the names of its answers",
            ));
        }
        names::of_scheduler(&name).map_err(|message| KeyError::new(own(), shortened(&name), message))?;
        if let Some(first) = choices[..i].iter().position(|other| names::clash(&other.name(), &name)) {
            let how = if choices[first].name() == name { "" } else { ", but for upper and lower case" };
            let message = format!("has the name of schedulers[{first}]{how}; names must differ");
            return Err(KeyError::new(own(), shortened(&name), message));
        }
    }
    Ok(choices)
}

pub(super) fn flows(document: &Document, folder: &Path, config: &Config) -> Result<Vec<FlowPlan>, KeyError> {
    let count = document.flow.len() as u64;
    let drive = Drive { page: config.geometry.page_bytes as u64, pages: config.ftl.logical_pages as u64 };
    let given = |flow: &Flow| (flow.name.clone(), flow.trace.as_ref().map(|trace| trace.path.clone()));
    let names = names::of_flows(&document.flow.iter().map(given).collect::<Vec<_>>());
    let mut plans: Vec<FlowPlan> = Vec::with_capacity(document.flow.len());
    for (i, flow) in document.flow.iter().enumerate() {
        let source = source(flow, i, folder)?;
        let range = range(flow, i, count, &drive)?;
        let name = match &flow.name {
            Some(name) if names::of_flow(name).is_err() => {
                let message = names::of_flow(name).expect_err("just checked");
                return Err(KeyError::new(format!("flow[{i}].name"), shortened(name), message));
            }
            Some(name) if plans.iter().any(|other| other.name == *name) => {
                let message = "another flow has this name; names must differ";
                return Err(KeyError::new(format!("flow[{i}].name"), format!("{name:?}"), message));
            }
            _ => names[i].clone(),
        };
        let plan = FlowPlan { name, priority: flow.priority, range, source };
        check_source(&plan, i, config.geometry.page_bytes)?;
        plans.push(plan);
    }
    Ok(plans)
}

/// A name in quotes for a message, a long one shortened at the end.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}...", &name[..end]),
        None => format!("{name:?}"),
    }
}

fn source(flow: &Flow, i: usize, folder: &Path) -> Result<FlowSource, KeyError> {
    let given: Vec<&str> = [
        ("trace", flow.trace.is_some()),
        ("synthetic", flow.synthetic.is_some()),
        ("clone", flow.clone.is_some()),
        ("request", !flow.request.is_empty()),
    ]
    .into_iter()
    .filter_map(|(key, given)| given.then_some(key))
    .collect();
    match (given.as_slice(), &flow.trace, &flow.synthetic, &flow.clone) {
        (["trace"], Some(trace), _, _) if trace.path.as_os_str().is_empty() => {
            let keys = vec![format!("flow[{i}].trace.path"), format!("flow[{i}].trace")];
            Err(KeyError { keys, value: "\"\"".into(), message: "must be the path of a trace file".into() })
        }
        (["trace"], Some(trace), _, _) => Ok(FlowSource::Trace(folder.join(&trace.path), trace.clone())),
        (["synthetic"], _, Some(table), _) => Ok(FlowSource::Synthetic(Box::new(table.clone()))),
        (["clone"], _, _, Some(table)) => Ok(FlowSource::Clone(Box::new(table.clone()))),
        (["request"], ..) => Ok(FlowSource::Inline(flow.request.clone())),
        ([], ..) => Err(KeyError::new(format!("flow[{i}]"), "", "give one of trace, synthetic, clone, request")),
        (several, ..) => Err(KeyError {
            keys: vec![format!("flow[{i}].{}", several[1]), format!("flow[{i}]")],
            value: String::new(),
            message: format!("the flow has {} too; give only one of trace, synthetic, clone, request", several[0]),
        }),
    }
}

struct Drive {
    page: u64,
    pages: u64,
}

fn range(flow: &Flow, i: usize, flows: u64, drive: &Drive) -> Result<ByteRange, KeyError> {
    let Drive { page, pages } = *drive;
    let default = if flow.request.is_empty() { RangeWord::Slice } else { RangeWord::All };
    match flow.range.unwrap_or(Range::Word(Word(default))) {
        Range::Word(Word(RangeWord::All)) => Ok(ByteRange { offset: 0, length: pages * page }),
        Range::Word(Word(RangeWord::Slice)) => {
            let slice = pages / flows;
            if slice == 0 {
                let message = format!(
                    "{flows} flows share {}; give the drive at least one page for each flow",
                    counted(pages, "page")
                );
                return Err(KeyError::new(format!("flow[{i}].range"), "\"slice\"", message));
            }
            Ok(ByteRange { offset: slice * i as u64 * page, length: slice * page })
        }
        Range::Bytes(bytes) => {
            let ByteRange { offset, length } = bytes;
            let key = |name: &str| format!("flow[{i}].range.{name}");
            let drive = pages * page;
            if offset % page != 0 || offset >= drive {
                let message = format!("must be a multiple of the page, {page} bytes, below the drive's {drive} bytes");
                return Err(KeyError::new(key("offset"), offset, message));
            }
            if length % page != 0 || length == 0 || length > drive - offset {
                let message =
                    format!("must be a multiple of the page, {page} bytes, from 1 page to {} bytes", drive - offset);
                return Err(KeyError::new(key("length"), length, message));
            }
            Ok(bytes)
        }
    }
}

impl FlowPlan {
    /// The number of requests that it keeps outstanding, if it is a closed loop.
    pub fn closed_depth(&self) -> Option<u32> {
        match &self.source {
            FlowSource::Trace(_, trace) => trace.closed_depth(),
            FlowSource::Synthetic(spec) => spec.closed_depth(),
            FlowSource::Clone(_) | FlowSource::Inline(_) => None,
        }
    }

    /// Its part of the drive in the form that sources use.
    pub fn address_range(&self, page_bytes: u32) -> AddressRange {
        AddressRange { start_bytes: self.range.offset, bytes: self.range.length, page_bytes }
    }
}

/// Lets a source check its own keys.
fn check_source(plan: &FlowPlan, i: usize, page_bytes: u32) -> Result<(), KeyError> {
    let range = plan.address_range(page_bytes);
    let (table, checked) = match &plan.source {
        FlowSource::Trace(_, trace) => {
            trace.options().map_err(|(key, message)| KeyError::new(format!("flow[{i}].trace.{key}"), "", message))?;
            return Ok(());
        }
        FlowSource::Synthetic(spec) => ("synthetic.", SyntheticSource::new(spec, &range, 0).map(drop)),
        FlowSource::Clone(spec) => ("clone.", spec.source(&range, 0).map(drop)),
        FlowSource::Inline(requests) => ("", SceneSource::new(requests, &range).map(drop)),
    };
    checked.map_err(|error| {
        // The key itself, then the tables around it: the place shown is the first of these that the user wrote.
        let key = format!("flow[{i}].{table}{}", error.place);
        let key = key.trim_end_matches('.');
        let ends = key.match_indices('.').map(|(end, _)| end).chain([key.len()]);
        let mut keys: Vec<String> = ends.map(|end| key[..end].to_owned()).collect();
        keys.reverse();
        KeyError { keys, value: String::new(), message: error.message }
    })
}
