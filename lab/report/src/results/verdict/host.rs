//! What an elevator and limits above the drive bring, and who pays for them: each run below a block layer against that of its scheduler without.

use std::ops::RangeInclusive;

use super::cases::{Case, Role, about};
use super::effects::Effect;
use super::finding::{Compared, Finding, FindingKind};
use crate::results::block::BlockStats;
use crate::results::replications::RequestKind;
use crate::results::summary::Summary;

/// By how much better a mean is that limits bring nothing: no better, and hardly worse.
const NOTHING: RangeInclusive<f64> = 1.0 / 1.1..=1.0;

/// What stands above a drive's scheduler in one run, and not in another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Above {
    Elevator,
    Limits,
}

/// The findings: where the elevator had nothing to order, then of each run what its limits and its elevator bring, the largest first. Where the run
/// without them is the one that all are compared with, who pays for an elevator is told of the run itself.
pub(super) fn of(summary: &Summary, cases: &[Case], baseline: usize) -> Vec<Finding> {
    let mut found = Vec::new();
    for (run, result) in summary.schedulers.iter().enumerate() {
        let Some(own) = &result.block else { continue };
        for above in [Above::Limits, Above::Elevator] {
            let is_other = |block: &BlockStats| block.scheduler == own.scheduler && is_without(own, block, above);
            let other = summary.schedulers.iter().position(|other| other.block.as_ref().is_some_and(is_other));
            if let Some(other) = other.filter(|&other| above == Above::Limits || other != baseline) {
                found.extend(brought(summary, cases, [other, run], above));
            }
        }
    }
    found.sort_by(|a, b| b.size.total_cmp(&a.size));
    found.splice(0..0, nothing_to_order(summary));
    found
}

/// The runs whose elevator had nothing to order.
fn nothing_to_order(summary: &Summary) -> Option<Finding> {
    let idle = summary.schedulers.iter().filter(|run| run.block.as_ref().is_some_and(BlockStats::had_nothing_to_order));
    let names: Vec<String> = idle.map(|run| run.name.clone()).collect();
    (!names.is_empty()).then(|| Finding { names, ..Finding::new(FindingKind::NothingToOrder) })
}

/// Whether `block` is `own` without its limits, or with `none` in place of its elevator.
fn is_without(own: &BlockStats, block: &BlockStats, above: Above) -> bool {
    let limits = |block: &BlockStats| block.flows.iter().map(|flow| flow.is_limited).collect::<Vec<bool>>();
    match above {
        Above::Limits => own.has_limits() && !block.has_limits() && own.elevator == block.elevator,
        Above::Elevator => own.orders() && !block.orders() && own.depth == block.depth && limits(own) == limits(block),
    }
}

/// What the run with `above` brings against the one without.
fn brought(summary: &Summary, cases: &[Case], [without, with]: [usize; 2], above: Above) -> Vec<Finding> {
    let result = &summary.schedulers[with];
    let Some(block) = &result.block else { return Vec::new() };
    let is_told = |case: &Case| match case.role {
        Role::Tenant => !has_parts(cases, case),
        Role::Part(_) => matches!(case.kind, RequestKind::Read | RequestKind::Write),
        Role::HalfOfCommit(_) | Role::Total => false,
    };
    let told = (0..cases.len()).filter(|&case| is_told(&cases[case]));
    let finding = |case: usize| {
        let effect = Effect::of(summary, cases, case, without, with)?;
        let is_limited = cases[case].flow.is_none_or(|flow| block.flows[flow].is_limited);
        let is_free_read = !is_limited && reads(summary, &cases[case], with);
        let kind = match above {
            _ if effect.starves => return None,
            Above::Limits if is_free_read && NOTHING.contains(&effect.factor(Compared::Mean)) => {
                FindingKind::LimitBringsNothing
            }
            _ if effect.changes.first()?.factor < 1.0 => FindingKind::HostPays,
            Above::Elevator => return None,
            Above::Limits if effect.is_alike() => return None,
            Above::Limits => FindingKind::HostGains,
        };
        let what = if above == Above::Limits { "limits" } else { block.elevator.as_str() };
        let pick = &result.decisions.pick;
        let why = match kind {
            FindingKind::LimitBringsNothing => pick.starts_with("read-first").then(|| pick.clone()),
            FindingKind::HostPays if above == Above::Elevator => fewer_tags(summary, [without, with], &cases[case]),
            _ => None,
        };
        Some(Finding {
            baseline: Some(summary.schedulers[without].name.clone()),
            names: std::iter::once(what.to_owned()).chain(why).collect(),
            size: effect.size(),
            changes: effect.changes,
            ..about(kind, summary, &cases[case], with)
        })
    };
    told.filter_map(finding).collect()
}

/// That an elevator has fewer tags than `none`, if requests of the case's flow wait for one.
fn fewer_tags(summary: &Summary, runs: [usize; 2], case: &Case) -> Option<String> {
    let [without, with] = runs.map(|run| summary.schedulers[run].block.as_ref());
    let (without, with) = (without?, with?);
    let flow = &with.flows[case.flow?];
    let share = flow.tag.requests as f64 / flow.requests.max(1) as f64;
    let text = format!(
        "it has {} tags and {} {}, and {:.0}% of the flow's requests waited for one",
        with.nr_requests,
        without.elevator,
        without.nr_requests,
        100.0 * share
    );
    (with.nr_requests < without.nr_requests && share >= 0.01).then_some(text)
}

/// Whether a case is of reads alone.
fn reads(summary: &Summary, case: &Case, run: usize) -> bool {
    let writes = case.flow.map(|flow| &summary.schedulers[run].flows[flow].figures.write);
    case.kind == RequestKind::Read || case.kind == RequestKind::All && writes.is_some_and(Option::is_none)
}

/// Whether reads and writes of a case's flow are cases of their own.
fn has_parts(cases: &[Case], case: &Case) -> bool {
    let is_part = |other: &Case| {
        other.flow == case.flow && matches!((other.role, other.kind), (Role::Part(_), RequestKind::Read))
    };
    cases.iter().any(is_part)
}
