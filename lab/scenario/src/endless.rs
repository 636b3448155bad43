//! Closed loops whose requests take no time on the device: each comes as the one before ends, and the end of the flow never does.
//!
//! Refuses those that this is certain of from the keys; a run refuses the others when it meets them.

use flashlane_core::Op;
use flashlane_ssd::config::{Config, Front, Precondition, Service, UnmappedReads};

use super::document::Document;
use super::error::KeyError;
use super::resolve::{FlowPlan, FlowSource};
use crate::workload::synthetic::SyntheticSpec;

/// Refuses a flow that would send requests at one instant without end. Behind a host its threads take time.
pub(super) fn check(document: &Document, plans: &[FlowPlan], config: &Config) -> Result<(), KeyError> {
    if document.host.is_some() || document.run.requests.is_some() {
        return Ok(());
    }
    for (i, plan) in plans.iter().enumerate() {
        let FlowSource::Synthetic(spec) = &plan.source else { continue };
        let (Some(seconds), true) = (spec.duration_s, spec.follows_at_once()) else { continue };
        let is_alone = plans.iter().enumerate().all(|(other, others)| other == i || others.range.is_apart(plan.range));
        let Some(kinds) = kinds_without_time(spec, config, is_alone) else { continue };
        let message = format!(
            "never comes for the flow `{}`, a closed loop of {kinds}, which take no time on this device: each follows the one before at the \
             same instant; legal is with requests (a number), with think_us above 0, or on a device with {} above 0",
            plan.name,
            if kinds == TRIMS {
                "device.ftl.trim_ns or device.front.link_latency_ns"
            } else {
                "device.front.link_latency_ns"
            },
        );
        return Err(KeyError::new(format!("flow[{i}].synthetic.duration_s"), seconds, message));
    }
    Ok(())
}

const TRIMS: &str = "trims";

/// The kinds of requests of a flow, if all of them take no time on the device. `is_alone`: no other flow writes what it reads.
fn kinds_without_time(spec: &SyntheticSpec, config: &Config, is_alone: bool) -> Option<&'static str> {
    let (trims, reads) = (spec.trim_ratio.unwrap_or(0.0), spec.read_ratio.unwrap_or(1.0));
    let is_fresh = config.precondition == Precondition::Fresh;
    let Front { link_latency, controller, .. } = &config.front;
    let link_waits = link_latency.ns() > 0;
    let trims_wait = link_waits || config.unmap.command.ns() > 0 || (config.unmap.page.ns() > 0 && !is_fresh);
    let nothing_is_mapped = is_fresh && is_alone && config.unmap.reads == UnmappedReads::Memory;
    let is_parallel = matches!(config.front.service, Service::Parallel);
    let memory_is_instant = config.memory.ns() == 0 && config.front.link_bytes_per_s == 0 && config.mapping.is_none();
    let reads_wait = link_waits
        || controller.time_of(Op::Read, 1).ns() > 0
        || !(nothing_is_mapped && is_parallel && memory_is_instant);
    match (trims > 0.0, trims < 1.0) {
        (true, false) if !trims_wait => Some(TRIMS),
        (false, _) if reads == 1.0 && !reads_wait => Some("reads of unmapped pages"),
        (true, true) if reads == 1.0 && !reads_wait && !trims_wait => Some("trims and reads of unmapped pages"),
        _ => None,
    }
}
