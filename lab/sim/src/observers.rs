//! Observers of a run: those that count as it goes on, and those that watch it in batches, perhaps on another thread ([`Handoff`]).

use flashlane_core::decide::SuspendPoints;
use flashlane_core::event::{Kinds, Stamped};
use flashlane_core::{Completion, PlaneId, Ppa};
use flashlane_host::Seen;
use flashlane_ssd::{Config, Device};

use super::RunError;
use super::actual_slack::ActualSlack;
use super::handoff::{Handoff, LENGTH};
use super::request_rows::RequestRows;
use super::transactions::{RecordOptions, TransactionRecorder, TransactionRecords};
use super::watchers::{Batch, Watch, Watchers};
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
    /// Called with every event of the device, in order, on the thread of the run.
    pub events: Option<&'a mut (dyn FnMut(&Stamped) + Send)>,
    /// Called with all events of the device in order, some at a time, perhaps on another thread.
    pub watch: Option<Watch>,
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
    /// What has happened since the last batch.
    batch: Batch,
    events: Option<&'a mut (dyn FnMut(&Stamped) + Send)>,
    /// The others, if there are any.
    watchers: Option<Handoff>,
    responses: Option<ResponseTimes>,
    slack: Option<ActualSlack>,
    /// Whether any observer needs events; stored because it is asked at every request.
    needs_events: bool,
    /// Whether any observer needs completions; stored for the same reason.
    needs_completions: bool,
    /// Whether any of those that take batches does.
    batches_completions: bool,
    /// Whether what the dies do is recorded.
    records_activity: bool,
}

impl<'a> Observers<'a> {
    /// Attaches the observers to `device`; `policy` is what the auditor must know of the scheduler.
    pub(super) fn new(
        options: ObserverOptions<'a>,
        config: &Config,
        policy: Policy,
        device: &mut Device,
    ) -> Observers<'a> {
        let ObserverOptions { audit, estimation, known, activity, events, .. } = options;
        let records = RecordOptions { rows: options.transactions, estimation, known };
        let mut watchers = Watchers {
            auditor: None,
            watch: options.watch,
            activity: activity.then(|| Activity::new(config.geometry)),
            recorder: TransactionRecorder::new(records, config),
            requests: options.requests,
        };
        let kinds = kinds(&watchers, audit || events.is_some(), estimation, policy);
        let needs_events = kinds != Kinds::NONE;
        device.report(kinds);
        watchers.auditor = audit.then(|| auditor(config, policy, device));
        if options.slack {
            device.report_page_ends();
        }
        let slack = options.slack.then(ActualSlack::default);
        let responses = options.responses.then(ResponseTimes::default);
        let batches_completions = watchers.need_completions();
        let needs_completions = responses.is_some() || slack.is_some() || batches_completions;
        let watchers = (!watchers.are_none()).then(|| Handoff::new(watchers));
        let batch = Batch::default();
        Observers {
            batch,
            events,
            watchers,
            responses,
            slack,
            needs_events,
            needs_completions,
            batches_completions,
            records_activity: activity,
        }
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

    /// Says that another scheduler decides from now on, of which this is known; `device` has drained.
    pub(super) fn scheduler_changes(&mut self, policy: Policy, device: &mut Device) {
        self.batch.scheduler_changes(policy);
        if self.records_activity && policy.suspend_points != SuspendPoints::Never {
            device.report(Kinds::PHASES);
        }
    }

    /// Says that no request is outstanding or will come.
    pub(super) fn requests_are_over(&mut self) {
        self.batch.requests_are_over();
    }

    /// Takes the events since the last call.
    pub(super) fn events(&mut self, device: &mut Device) -> Result<(), RunError> {
        self.batch.events.append(device.events());
        self.hand_full()
    }

    /// Takes an event.
    pub(super) fn event(&mut self, stamped: &Stamped) -> Result<(), RunError> {
        self.batch.events.push(*stamped);
        self.hand_full()
    }

    /// Hands the batch on if it is full.
    #[inline]
    fn hand_full(&mut self) -> Result<(), RunError> {
        if self.batch.len() >= LENGTH { self.hand() } else { Ok(()) }
    }

    /// Hands the batch on.
    #[inline(never)]
    fn hand(&mut self) -> Result<(), RunError> {
        if let Some(show) = &mut self.events {
            self.batch.events.iter().for_each(show);
        }
        match &self.watchers {
            Some(watchers) => watchers.hand(&mut self.batch),
            None => {
                self.batch.clear();
                Ok(())
            }
        }
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
        if self.batches_completions {
            self.batch.completed(completion, measured);
            self.hand_full()?;
        }
        Ok(())
    }

    /// Passes on that a thread of a host has seen a request done.
    #[inline]
    pub(super) fn seen(&mut self, seen: &Seen) -> Result<(), RunError> {
        if self.batches_completions {
            self.batch.seen(seen);
            self.hand_full()?;
        }
        Ok(())
    }

    /// The error with which the run ends: that of an observer if it has met one by here, else `error`.
    pub(super) fn error_before(mut self, error: RunError) -> RunError {
        let handed = self.hand();
        let ended = self.watchers.map_or(Ok(()), |watchers| watchers.finish().map(drop));
        handed.and(ended).err().unwrap_or(error)
    }

    /// Ends the run: finishes the row files and returns the observers' results.
    pub(super) fn finish(mut self) -> Result<Observations, RunError> {
        self.hand()?;
        let watchers = self.watchers.map(Handoff::finish).transpose()?.unwrap_or_default();
        if let Some(rows) = watchers.requests {
            rows.finish()?;
        }
        let transactions = watchers.recorder.map(TransactionRecorder::finish).transpose()?.unwrap_or_default();
        Ok(Observations {
            verdict: watchers.auditor.map(Auditor::finish),
            responses: self.responses,
            slack: self.slack.map(ActualSlack::finish),
            transactions,
            activity: watchers.activity.map(Activity::finish),
        })
    }
}

/// The events that observers need: all of them for some, else those that the others name. Where nobody asks for phases, a device need not
/// make an event of each.
fn kinds(watchers: &Watchers, all: bool, estimation: bool, policy: Policy) -> Kinds {
    let phases = |are_needed: bool| if are_needed { Kinds::PHASES } else { Kinds::NONE };
    let mut kinds = Kinds::NONE;
    if all || watchers.watch.is_some() {
        kinds = Kinds::ALL;
    }
    if watchers.recorder.is_some() {
        kinds = kinds.and(TransactionLog::KINDS).and(phases(estimation));
    }
    if watchers.activity.is_some() {
        kinds = kinds.and(Activity::KINDS).and(phases(policy.suspend_points != SuspendPoints::Never));
    }
    kinds
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
