//! Observers of a run: the auditor, and the writers of request and transaction rows.

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

/// The most violations that an audit reports in full.
const KEPT: usize = 100;

/// Which observers a run has.
#[derive(Default)]
pub struct Onlookers<'a> {
    /// Whether the run is audited.
    pub audit: bool,
    /// Writer of one row for each request.
    pub requests: Option<RowWriter<RequestRow>>,
    /// Writer of one row for each transaction.
    pub transactions: Option<RowWriter<TransactionRow>>,
    /// Whether the response time of every measured request is recorded.
    pub responses: bool,
    /// Whether the actual slack of every transaction of a measured request is measured.
    pub slack: bool,
    /// Whether the accuracy of estimated response times is measured.
    pub estimation: bool,
    /// Whether the response time of every transaction is recorded, for an oracle.
    pub known: bool,
    /// Called with every event of the device, in order.
    pub events: Option<&'a mut dyn FnMut(&Stamped)>,
}

/// The observers' results of a whole run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The auditor's verdict.
    pub(super) verdict: Option<Verdict>,
    /// Response times of the measured requests.
    pub(super) responses: Option<Responses>,
    /// Records of transactions.
    pub(super) followed: Followed,
}

/// The observers of a run in progress.
pub(super) struct Watch<'a> {
    events: Option<&'a mut dyn FnMut(&Stamped)>,
    auditor: Option<Auditor>,
    requests: Option<RowWriter<RequestRow>>,
    follow: Option<Follow>,
    responses: Option<Responses>,
    /// Whether any observer needs events; stored because it is asked at every request.
    wants_events: bool,
    /// Whether any observer needs completions; stored for the same reason.
    wants_completions: bool,
}

impl<'a> Watch<'a> {
    /// Attaches the observers to `device`; `policy` is what the auditor must know of the scheduler.
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

    /// Whether any observer needs events.
    #[inline]
    pub(super) fn wants_events(&self) -> bool {
        self.wants_events
    }

    /// Whether any observer needs completions.
    #[inline]
    pub(super) fn wants_completions(&self) -> bool {
        self.wants_completions
    }

    /// Passes the events since the last call to the observers.
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

    /// Passes a completion to the observers; `measured` says whether figures count it.
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

    /// Ends the run: finishes the row files and returns the observers' results.
    pub(super) fn finish(self) -> Result<Seen, RunError> {
        if let Some(rows) = self.requests {
            rows.finish()?;
        }
        let followed = self.follow.map(Follow::finish).transpose()?.unwrap_or_default();
        Ok(Seen { verdict: self.auditor.map(Auditor::finish), responses: self.responses, followed })
    }
}

/// An auditor of `device` at the start of a run. It is built at once for a drive of any size, unless no formula gives
/// the drive's content: then every page is visited.
fn auditor(config: &Config, policy: Policy, device: &Device) -> Auditor {
    let owner = |plane: PlaneId, ppa: Ppa| device.lpn_at(plane, ppa);
    let written = |plane: PlaneId, block: u32| device.written_in(plane, block);
    let start = match InitialState::of(config) {
        Some(initial) => Start::Formula(Box::new(initial)),
        None => Start::Known { owner: &owner, written: &written },
    };
    Auditor::new(config, policy, start, KEPT)
}

/// The properties of a scheduler that an auditor must know.
pub(super) fn policy(scheduler: &Scheduler) -> Policy {
    let (moments, style) = (scheduler.preempt.moments(), scheduler.collect.style());
    Policy { moments, style, binds_late: scheduler.place.binds_at_dispatch() }
}

/// Turns the verdict of an audit that found violations into an error.
pub(super) fn complain(run: &str, verdict: &Verdict) -> RunError {
    let mut text = String::new();
    let _ = write!(text, "audit of {run}: {verdict}");
    RunError::Fault(text)
}
