//! Observers of a run: those that count as it goes on, the auditor, the writers of rows, the activity of the dies.

use std::fmt::Write as _;

use flashlane_core::decide::SuspendPoints;
use flashlane_core::event::{Kinds, Stamped};
use flashlane_core::{Completion, Duration, PlaneId, Ppa};
use flashlane_host::Seen;
use flashlane_ssd::{Config, Device};

use super::actual_slack::ActualSlack;
use super::request_rows::RequestRows;
use super::transactions::{RecordOptions, TransactionRecorder, TransactionRecords};
use crate::error::RunError;
use flashlane_audit::{Auditor, Policy, Preconditioned, Start, Verdict};
use flashlane_report::metrics::{Activity, ResponseTimes, Slack};
use flashlane_report::results::{RowWriter, TransactionLog, TransactionRow};

/// The most violations that an audit reports in full.
const MAX_VIOLATIONS: usize = 100;

/// Which observers a run has.
#[derive(Default)]
pub struct ObserverOptions<'a> {
    /// Whether the run is audited.
    pub audit: bool,
    /// Writer of one row for each request.
    pub requests: Option<RequestRows>,
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
    /// Whether what the dies do over time is recorded.
    pub activity: bool,
    /// Whether it is recorded which requests a block layer merges into which.
    pub merged: bool,
    /// Called with every event of the device, in order.
    pub events: Option<&'a mut (dyn FnMut(&Stamped) + Send)>,
}

/// The observers' results of a whole run.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    /// The auditor's verdict.
    pub(crate) verdict: Option<Verdict>,
    /// Response times of the measured requests.
    pub(crate) responses: Option<ResponseTimes>,
    /// Actual slack of the transactions of measured requests.
    pub(crate) slack: Option<Slack>,
    /// Records of transactions.
    pub(crate) transactions: TransactionRecords,
    /// What the dies did over time.
    pub(crate) activity: Option<Activity>,
}

/// The observers of a run in progress.
pub(crate) struct Observers<'a> {
    auditor: Option<Auditor>,
    events: Option<&'a mut (dyn FnMut(&Stamped) + Send)>,
    activity: Option<Activity>,
    recorder: Option<TransactionRecorder>,
    requests: Option<RequestRows>,
    responses: Option<ResponseTimes>,
    slack: Option<ActualSlack>,
    /// Whether it is recorded what is merged.
    merged: bool,
    /// Whether any observer needs events; stored because it is asked at every request.
    needs_events: bool,
    /// Whether any observer needs completions; stored for the same reason.
    needs_completions: bool,
}

impl<'a> Observers<'a> {
    /// Attaches the observers to `device`; `policy` is what the auditor must know of the scheduler.
    pub(crate) fn new(
        options: ObserverOptions<'a>,
        config: &Config,
        policy: Policy,
        device: &mut Device,
    ) -> Observers<'a> {
        let records =
            RecordOptions { rows: options.transactions, estimation: options.estimation, known: options.known };
        let mut made = Observers {
            auditor: None,
            events: options.events,
            activity: options.activity.then(|| Activity::new(config.geometry)),
            recorder: TransactionRecorder::new(records, config),
            requests: options.requests,
            responses: options.responses.then(ResponseTimes::default),
            slack: options.slack.then(ActualSlack::default),
            merged: options.merged,
            needs_events: false,
            needs_completions: false,
        };
        made.needs_completions = made.activity.is_some()
            || made.recorder.is_some()
            || made.requests.is_some()
            || made.responses.is_some()
            || made.slack.is_some();
        let kinds = made.kinds(options.audit, options.estimation, policy);
        made.needs_events = kinds != Kinds::NONE;
        device.report(kinds);
        made.auditor = options.audit.then(|| auditor(config, policy, device));
        if options.slack {
            device.report_page_ends();
        }
        made
    }

    /// The events that observers need: all of them for some, else those that the others name. Where nobody asks for phases, a device need
    /// not make an event of each.
    fn kinds(&self, audit: bool, estimation: bool, policy: Policy) -> Kinds {
        let phases = |are_needed: bool| if are_needed { Kinds::PHASES } else { Kinds::NONE };
        let mut kinds = if audit || self.events.is_some() { Kinds::ALL } else { Kinds::NONE };
        if self.recorder.is_some() {
            kinds = kinds.and(TransactionLog::KINDS).and(phases(estimation));
        }
        if self.activity.is_some() {
            kinds = kinds.and(Activity::KINDS).and(phases(policy.suspend_points != SuspendPoints::Never));
        }
        kinds
    }

    /// Whether any observer needs events.
    #[inline]
    pub(crate) fn needs_events(&self) -> bool {
        self.needs_events
    }

    /// Whether the run is audited.
    pub(crate) fn is_audited(&self) -> bool {
        self.auditor.is_some()
    }

    /// Whether it is recorded what is merged.
    pub(crate) fn needs_merged(&self) -> bool {
        self.merged
    }

    /// Whether any observer needs completions.
    #[inline]
    pub(crate) fn needs_completions(&self) -> bool {
        self.needs_completions
    }

    /// Says that another scheduler decides from now on, of which this is known; `device` has drained.
    pub(crate) fn scheduler_changes(&mut self, policy: Policy, device: &mut Device) {
        if let Some(auditor) = &mut self.auditor {
            auditor.scheduler_changes(policy);
        }
        if self.activity.is_some() && policy.suspend_points != SuspendPoints::Never {
            device.report(Kinds::PHASES);
        }
    }

    /// Says that no request is outstanding or will come.
    pub(crate) fn requests_are_over(&mut self) {
        if let Some(activity) = &mut self.activity {
            activity.requests_are_over();
        }
    }

    /// Takes the events since the last call.
    pub(crate) fn events(&mut self, device: &mut Device) -> Result<(), RunError> {
        let events = device.events();
        if let Some(show) = &mut self.events {
            events.iter().for_each(show);
        }
        if let Some(auditor) = &mut self.auditor {
            events.iter().for_each(|stamped| auditor.observe(stamped));
        }
        if let Some(activity) = &mut self.activity {
            events.iter().for_each(|stamped| activity.event(stamped));
        }
        if let Some(recorder) = &mut self.recorder {
            events.iter().try_for_each(|stamped| recorder.event(stamped))?;
        }
        events.clear();
        Ok(())
    }

    /// Takes the ends of transactions since the last call, before the completions of their requests.
    #[inline]
    pub(crate) fn page_ends(&mut self, device: &mut Device) {
        if let Some(slack) = &mut self.slack {
            device.page_ends().drain(..).for_each(|end| slack.ended(&end));
        }
    }

    /// Passes a completion to the observers; `measured` says whether figures count it.
    #[inline]
    pub(crate) fn completion(&mut self, completion: &Completion, measured: bool) -> Result<(), RunError> {
        self.request_completion(completion, measured)?;
        self.bio_completion(completion, measured, &[Duration::ZERO; 4])
    }

    /// Passes the completion of a request of the device to those that follow its transactions. They hear of it before [`Observers::bio_completion`].
    #[inline]
    pub(crate) fn request_completion(&mut self, completion: &Completion, measured: bool) -> Result<(), RunError> {
        if let Some(slack) = &mut self.slack {
            slack.completed(completion, measured);
        }
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.completed(completion, measured))
    }

    /// Passes the completion of what a flow asked for to those that count it: a request of the device, or with others merged into one, that
    /// had `waited` in a block layer.
    #[inline]
    pub(crate) fn bio_completion(
        &mut self,
        completion: &Completion,
        measured: bool,
        waited: &[Duration; 4],
    ) -> Result<(), RunError> {
        if let Some(responses) = &mut self.responses
            && measured
        {
            responses.record(completion)?;
        }
        if let Some(activity) = &mut self.activity
            && measured
        {
            activity.completed(completion);
        }
        self.requests.as_mut().map_or(Ok(()), |rows| rows.completed(completion, measured, waited))
    }

    /// Passes on that a thread of a host has seen a request done.
    #[inline]
    pub(crate) fn seen(&mut self, seen: &Seen) -> Result<(), RunError> {
        self.requests.as_mut().map_or(Ok(()), |rows| rows.seen(seen))
    }

    /// Ends the run: finishes the row files and returns the observers' results.
    pub(crate) fn finish(self) -> Result<Observations, RunError> {
        self.requests.map(RequestRows::finish).transpose()?;
        Ok(Observations {
            verdict: self.auditor.map(Auditor::finish),
            responses: self.responses,
            slack: self.slack.map(ActualSlack::finish),
            transactions: self.recorder.map(TransactionRecorder::finish).transpose()?.unwrap_or_default(),
            activity: self.activity.map(Activity::finish),
        })
    }
}

/// An auditor of `device` at the start of a run. It is built at once for a drive of any size, unless no formula gives
/// the drive's content: then every page is visited.
fn auditor(config: &Config, policy: Policy, device: &Device) -> Auditor {
    let lpn_of = |plane: PlaneId, ppa: Ppa| device.lpn_at(plane, ppa);
    let written = |plane: PlaneId, block: u32| device.written_in(plane, block);
    let start = match Preconditioned::of(config) {
        Some(formula) if !device.began_used() => Start::Formula(Box::new(formula)),
        _ => Start::Known { lpn_of: &lpn_of, written: &written },
    };
    let mut auditor = Auditor::new(config, policy, start, MAX_VIOLATIONS);
    if device.began_used() {
        auditor.memory_holds(&device.buffered(), &device.held_entries());
        for (plane, state) in (0..).map(PlaneId).zip(device.slc_states()) {
            let open = state.open.map(|(block, _)| block);
            auditor.slc_holds(plane, open, &state.filled, state.erased.len() as u32);
        }
    }
    auditor
}

/// Turns the verdict of an audit that found violations into an error.
pub(crate) fn audit_error(run: &str, verdict: &Verdict) -> RunError {
    let mut text = String::new();
    let _ = write!(text, "audit of {run}: {verdict}");
    RunError::Fault(text)
}
