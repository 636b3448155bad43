//! The ceilings of a scenario: what no scheduler can beat on its requests.
//!
//! Owns which requests are counted, as a run counts them, and for which scenarios there is no bound. The bounds are
//! `flashlane_ceiling`'s.

use flashlane_ceiling::{Bound, Class, Effort, Placement, Work, Writes};
use flashlane_report::metrics::LoadWindow;
use flashlane_report::results::{Ceiling, CeilingBound};

use super::prepare::{Prepared, needs_responses};
use crate::error::RunError;
use crate::run::flow_state::FlowState;
use crate::run::next_times::NextTimes;
use flashlane_core::RequestId;
use flashlane_sched::catalogue::{Question, Recipe};
use flashlane_ssd::Config;
use flashlane_ssd::config::Service;

/// The bounds of all flows of a scenario together, to be called before its runs: the last of these takes over its traces.
/// [`Summary::compare_with_ceiling`] puts them beside the figures.
///
/// # Errors
/// Bad input found on the way.
///
/// [`Summary::compare_with_ceiling`]: flashlane_report::results::Summary::compare_with_ceiling
pub fn ceiling(prepared: &Prepared) -> Result<Ceiling, RunError> {
    if let Some(reason) = none(prepared) {
        return Ok(Ceiling { none: Some(reason.into()), ..Ceiling::default() });
    }
    let looks: Result<Vec<_>, _> = (0..prepared.flows.len()).map(|flow| prepared.feed(flow)).collect();
    let looks = looks?;
    if looks.iter().any(crate::run::feed::Feed::is_closed_loop) {
        let reason =
            "a closed loop sends its next request when one completes, so that a slower scheduler gets other requests";
        return Ok(Ceiling { none: Some(reason.into()), ..Ceiling::default() });
    }
    let limits = prepared.limits;
    let mut work = Work::new(&prepared.config);
    let mut flows: Vec<FlowState> =
        looks.into_iter().map(|feed| FlowState::new(Some(feed), limits.warm_up_requests)).collect();
    let mut times = NextTimes::new(flows.len());
    let end = limits.end.min(crate::run::flow_state::BEYOND);
    for (flow, state) in flows.iter_mut().enumerate() {
        times.set(flow, state.draw(end)?);
    }
    let mut window = LoadWindow::default();
    for id in (0..limits.requests).map(RequestId) {
        let Some((at, flow)) = times.earliest() else { break };
        let state = &mut flows[flow];
        let is_warm = at >= limits.warm_up;
        state.issue(&mut window, id, state.next.op, at, is_warm);
        work.add(at, state.next.op, &state.next.extent, is_warm && id >= state.measured_from);
        times.set(flow, state.draw(end)?);
    }
    let Some(bounds) = work.bounds(&Effort::default()) else {
        return Ok(Ceiling { none: Some("no request is counted".into()), ..Ceiling::default() });
    };
    let of = |placement, writes| {
        let Bound { mean_ns, p99_ns, p99_9_ns, worst_ns } = bounds.of(Class { placement, writes });
        Some(CeilingBound { mean_ns, p99_ns, p99_9_ns, worst_ns })
    };
    let (at_home, keeps_writes) = classes(prepared)?.into_iter().unzip();
    Ok(Ceiling {
        static_placement: of(Placement::Fixed, Writes::Dropped),
        free_placement: of(Placement::Free, Writes::Dropped),
        static_every_write: of(Placement::Fixed, Writes::Kept),
        free_every_write: of(Placement::Free, Writes::Kept),
        none: None,
        notes: notes(&prepared.config),
        at_home,
        keeps_writes,
    })
}

/// What of a device the bounds leave out.
fn notes(config: &Config) -> Vec<String> {
    let mut notes = Vec::new();
    if matches!(config.front.service, Service::Serial { .. }) {
        notes.push("commands are served one at a time: where pages lie changes nothing, and both bounds are that of one machine");
    }
    match &config.buffer {
        Some(buffer) if buffer.write_back => notes.push(
            "writes end in the write-back buffer, and may leave it after the run: they count for the link and the memory alone, and reads of \
             pages that are touched twice only for the link",
        ),
        Some(_) => notes.push("reads of pages that are touched twice may be served by the buffer: they count for the link alone"),
        None => {}
    }
    notes.into_iter().map(String::from).collect()
}

/// Why a scenario has no bound, as far as its keys say.
fn none(prepared: &Prepared) -> Option<&'static str> {
    if prepared.host.is_some() {
        return Some("with a [host] section a thread asks for its next request when it has seen one done");
    }
    if !prepared.blocks.is_empty() {
        return Some("with a [block] section requests are held back before the drive");
    }
    if prepared.limits.response_from_entry {
        return Some("response times count from the entry into the submission queue, which depends on the scheduler");
    }
    None
}

/// For each scheduler, whether every page stays at its home, and whether it never drops a write.
///
/// # Errors
/// A scheduler that cannot be built.
pub(crate) fn classes(prepared: &Prepared) -> Result<Vec<(bool, bool)>, RunError> {
    let class = |(_, recipe): &(String, Recipe)| {
        let catalogue = &prepared.catalogue;
        let built = match needs_responses(catalogue, recipe) {
            // It can be built only from the response times of another run; what it places and cancels by can be without.
            true => catalogue.resolve(recipe).and_then(|names| {
                let answers =
                    vec![(Question::Place, names.place.to_owned()), (Question::Cancel, names.cancel.to_owned())];
                catalogue.build(&Recipe { base: Some("fcfs".into()), answers, ..Recipe::default() })
            }),
            false => catalogue.build(recipe),
        };
        let built = built.map_err(|error| RunError::Input(error.to_string()))?;
        Ok((built.place.declares().is_static, built.cancel.declares().keeps_all))
    };
    prepared.schedulers.iter().map(class).collect()
}
