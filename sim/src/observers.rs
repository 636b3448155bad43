//! Observers of a run: the auditor, and the writers of request and transaction rows.

use std::fmt::Write as _;

use flashlane_core::event::Stamped;
use flashlane_core::{Completion, PlaneId, Ppa};
use flashlane_host::Seen;
use flashlane_ssd::{Config, Device};

use super::RunError;
use super::actual_slack::ActualSlack;
use super::request_rows::RequestRows;
use super::transactions::{RecordOptions, TransactionRecorder, TransactionRecords};
use flashlane_audit::{Auditor, Policy, Preconditioned, Start, Verdict};
use flashlane_report::metrics::{Activity, ResponseTimes, Slack};
use flashlane_report::results::{RowWriter, TransactionRow};

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
    /// Called with every event of the device, in order.
    pub events: Option<&'a mut dyn FnMut(&Stamped)>,
}

/// The observers' results of a whole run.
#[derive(Debug, Default)]
pub(super) struct Observations {
    /// The auditor's verdict.
    pub(super) verdict: Option<Verdict>,
    /// Response times of the measured requests.
    pub(super) responses: Option<ResponseTimes>,
    /// Actual slack of the transactions of measured requests.
    pub(super) slack: Option<Slack>,
    /// Records of transactions.
    pub(super) transactions: TransactionRecords,
    /// What the dies did over time.
    pub(super) activity: Option<Activity>,
}

/// The observers of a run in progress.
pub(super) struct Observers<'a> {
    events: Option<&'a mut dyn FnMut(&Stamped)>,
    auditor: Option<Auditor>,
    requests: Option<RequestRows>,
    recorder: Option<TransactionRecorder>,
    responses: Option<ResponseTimes>,
    slack: Option<ActualSlack>,
    activity: Option<Activity>,
    /// Whether any observer needs events; stored because it is asked at every request.
    needs_events: bool,
    /// Whether any observer needs completions; stored for the same reason.
    needs_completions: bool,
}

impl<'a> Observers<'a> {
    /// Attaches the observers to `device`; `policy` is what the auditor must know of the scheduler.
    pub(super) fn new(
        options: ObserverOptions<'a>,
        config: &Config,
        policy: Policy,
        device: &mut Device,
    ) -> Observers<'a> {
        let ObserverOptions { slack, estimation, known, .. } = options;
        let records = RecordOptions { rows: options.transactions, estimation, known };
        let recorder = TransactionRecorder::new(records, config);
        if options.audit || options.activity || options.events.is_some() || recorder.is_some() {
            device.report_events();
        }
        let auditor = options.audit.then(|| auditor(config, policy, device));
        if slack {
            device.report_page_ends();
        }
        let slack = slack.then(ActualSlack::default);
        let responses = options.responses.then(ResponseTimes::default);
        let activity = options.activity.then(|| Activity::new(config.geometry));
        let (events, requests) = (options.events, options.requests);
        let needs_events = auditor.is_some() || recorder.is_some() || activity.is_some() || events.is_some();
        let needs_completions =
            responses.is_some() || slack.is_some() || recorder.is_some() || activity.is_some() || requests.is_some();
        Observers { events, auditor, requests, recorder, responses, slack, activity, needs_events, needs_completions }
    }

    /// Whether any observer needs events.
    #[inline]
    pub(super) fn needs_events(&self) -> bool {
        self.needs_events
    }

    /// Whether any observer needs completions.
    #[inline]
    pub(super) fn needs_completions(&self) -> bool {
        self.needs_completions
    }

    /// Says that no request is outstanding or will come.
    pub(super) fn requests_are_over(&mut self) {
        if let Some(activity) = &mut self.activity {
            activity.requests_are_over();
        }
    }

    /// Passes the events since the last call to the observers.
    pub(super) fn events(&mut self, device: &mut Device) -> Result<(), RunError> {
        for stamped in device.events().drain(..) {
            self.event(&stamped)?;
        }
        Ok(())
    }

    /// Passes an event to the observers.
    pub(super) fn event(&mut self, stamped: &Stamped) -> Result<(), RunError> {
        if let Some(auditor) = &mut self.auditor {
            auditor.observe(stamped);
        }
        if let Some(show) = &mut self.events {
            show(stamped);
        }
        if let Some(activity) = &mut self.activity {
            activity.event(stamped);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.event(stamped)?;
        }
        Ok(())
    }

    /// Takes the ends of transactions since the last call, before the completions of their requests.
    #[inline]
    pub(super) fn page_ends(&mut self, device: &mut Device) {
        if let Some(slack) = &mut self.slack {
            device.page_ends().drain(..).for_each(|end| slack.ended(&end));
        }
    }

    /// Passes a completion to the observers; `measured` says whether figures count it.
    #[inline]
    pub(super) fn completion(&mut self, completion: &Completion, measured: bool) -> Result<(), RunError> {
        if let Some(responses) = &mut self.responses
            && measured
        {
            responses.record(completion)?;
        }
        if let Some(slack) = &mut self.slack {
            slack.completed(completion, measured);
        }
        if let Some(activity) = &mut self.activity
            && measured
        {
            activity.completed(completion);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.completed(completion, measured)?;
        }
        if let Some(rows) = &mut self.requests {
            rows.completed(completion, measured)?;
        }
        Ok(())
    }

    /// Passes on that a thread of a host has seen a request done.
    #[inline]
    pub(super) fn seen(&mut self, seen: &Seen) -> Result<(), RunError> {
        if let Some(rows) = &mut self.requests {
            rows.seen(seen)?;
        }
        Ok(())
    }

    /// Ends the run: finishes the row files and returns the observers' results.
    pub(super) fn finish(self) -> Result<Observations, RunError> {
        if let Some(rows) = self.requests {
            rows.finish()?;
        }
        let transactions = self.recorder.map(TransactionRecorder::finish).transpose()?.unwrap_or_default();
        Ok(Observations {
            verdict: self.auditor.map(Auditor::finish),
            responses: self.responses,
            slack: self.slack.map(ActualSlack::finish),
            transactions,
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
        Some(formula) => Start::Formula(Box::new(formula)),
        None => Start::Known { lpn_of: &lpn_of, written: &written },
    };
    Auditor::new(config, policy, start, MAX_VIOLATIONS)
}

/// Turns the verdict of an audit that found violations into an error.
pub(super) fn audit_error(run: &str, verdict: &Verdict) -> RunError {
    let mut text = String::new();
    let _ = write!(text, "audit of {run}: {verdict}");
    RunError::Fault(text)
}
