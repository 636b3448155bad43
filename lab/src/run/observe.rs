//! What looks on while a run is made: the auditor, and the writers of request and transaction rows.

use std::fmt::Write as _;

use flashlane_core::decide::Scheduler;
use flashlane_core::event::Stamped;
use flashlane_core::{Completion, PlaneId, Ppa};
use flashlane_ssd::{Config, Device, InitialState};

use super::RunError;
use super::follow::{Follow, Followed, Wanted};
use crate::metrics::Responses;
use crate::results::{RequestRow, RowWriter, TransactionRow};
use flashlane_audit::{Auditor, Policy, Start, Verdict};

/// Violations an audit spells out.
const KEPT: usize = 100;

/// Onlookers of one run.
#[derive(Default)]
pub struct Onlookers<'a> {
    /// Audits the run.
    pub audit: bool,
    /// Writes a row a request.
    pub requests: Option<RowWriter<RequestRow>>,
    /// Writes a row a transaction.
    pub transactions: Option<RowWriter<TransactionRow>>,
    /// Keeps the response time of every measured request.
    pub responses: bool,
    /// Measures the actual slack of every transaction of a measured request.
    pub slack: bool,
    /// Looks how good estimates of response times are.
    pub estimation: bool,
    /// Keeps the response time of every transaction of a request, for an oracle.
    pub known: bool,
    /// Is shown every event of the device, in order.
    pub events: Option<&'a mut dyn FnMut(&Stamped)>,
}

/// What onlookers saw of a whole run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The auditor's word.
    pub(super) verdict: Option<Verdict>,
    /// Of every measured request.
    pub(super) responses: Option<Responses>,
    /// Of transactions.
    pub(super) followed: Followed,
}

/// Onlookers at work.
pub(super) struct Watch<'a> {
    events: Option<&'a mut dyn FnMut(&Stamped)>,
    auditor: Option<Auditor>,
    requests: Option<RowWriter<RequestRow>>,
    follow: Option<Follow>,
    responses: Option<Responses>,
    /// Whether anybody looks at events: asked at every request, so not worked out each time.
    wants_events: bool,
    /// Whether anybody looks at completions, likewise.
    wants_completions: bool,
}

impl<'a> Watch<'a> {
    /// Sets the onlookers on `device`; `policy` is what its scheduler says it does.
    pub(super) fn new(onlookers: Onlookers<'a>, config: &Config, policy: Policy, device: &mut Device) -> Watch<'a> {
        let Onlookers { slack, estimation, known, .. } = onlookers;
        let wanted = Wanted { rows: onlookers.transactions, slack, estimation, known };
        let follow = Follow::new(wanted, config);
        if onlookers.audit || onlookers.events.is_some() || follow.is_some() {
            device.report_events();
        }
        let auditor = onlookers.audit.then(|| auditor(config, policy, device));
        let responses = onlookers.responses.then(Responses::default);
        let (events, requests) = (onlookers.events, onlookers.requests);
        let wants_events = auditor.is_some() || follow.is_some() || events.is_some();
        let wants_completions = responses.is_some() || follow.is_some() || requests.is_some();
        Watch { events, auditor, requests, follow, responses, wants_events, wants_completions }
    }

    /// Whether anybody looks at events.
    #[inline]
    pub(super) fn wants_events(&self) -> bool {
        self.wants_events
    }

    /// Whether anybody looks at completions.
    #[inline]
    pub(super) fn wants_completions(&self) -> bool {
        self.wants_completions
    }

    /// Looks at the events since the last look.
    pub(super) fn events(&mut self, device: &mut Device) -> Result<(), RunError> {
        for stamped in device.events().drain(..) {
            if let Some(auditor) = &mut self.auditor {
                auditor.observe(&stamped);
            }
            if let Some(show) = &mut self.events {
                show(&stamped);
            }
            if let Some(follow) = &mut self.follow {
                follow.event(&stamped)?;
            }
        }
        Ok(())
    }

    /// Looks at a completion; `measured` says whether figures count it.
    #[inline]
    pub(super) fn completion(&mut self, completion: &Completion, measured: bool) -> Result<(), RunError> {
        if let Some(responses) = &mut self.responses
            && measured
        {
            responses.note(completion);
        }
        if let Some(follow) = &mut self.follow {
            follow.completed(completion, measured)?;
        }
        if let Some(rows) = &mut self.requests {
            rows.push(&RequestRow(*completion))?;
        }
        Ok(())
    }

    /// The run is over: files are finished, the verdict is spoken.
    pub(super) fn finish(self) -> Result<Seen, RunError> {
        if let Some(rows) = self.requests {
            rows.finish()?;
        }
        let followed = self.follow.map(Follow::finish).transpose()?.unwrap_or_default();
        Ok(Seen { verdict: self.auditor.map(Auditor::finish), responses: self.responses, followed })
    }
}

/// An auditor of `device` at the start of a run. A drive of any size is ready at once, unless no formula says what it holds:
/// then every page is visited.
fn auditor(config: &Config, policy: Policy, device: &Device) -> Auditor {
    let owner = |plane: PlaneId, ppa: Ppa| device.lpn_at(plane, ppa);
    let written = |plane: PlaneId, block: u32| device.written_in(plane, block);
    let start = match InitialState::of(config) {
        Some(initial) => Start::Formula(Box::new(initial)),
        None => Start::Known { owner: &owner, written: &written },
    };
    Auditor::new(config, policy, start, KEPT)
}

/// What a scheduler says it does, as far as an auditor must know.
pub(super) fn policy(scheduler: &Scheduler) -> Policy {
    let (moments, style) = (scheduler.preempt.moments(), scheduler.collect.style());
    Policy { moments, style, binds_late: scheduler.place.binds_at_dispatch() }
}

/// An audit that found violations, as an error.
pub(super) fn complain(run: &str, verdict: &Verdict) -> RunError {
    let mut text = String::new();
    let _ = write!(text, "audit of {run}: {verdict}");
    RunError::Fault(text)
}
