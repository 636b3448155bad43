//! The loop of a run: submits the requests of all flows in order of time, passes completions to closed loops, until all
//! is done.

use flashlane_block::FlowWaits;
use flashlane_core::decide::Scheduler;
use flashlane_core::{Completion, Duration, Extent, FlowId, Op, Request, RequestId, Time};
use flashlane_sched::order::KnownResponses;
use flashlane_ssd::{Config, Device, Replayed};

use super::counted::Counted;
use super::entries::Entries;
use super::feed::Feed;
use super::flow_state::{BEYOND, FlowState};
use super::host_outcome::HostOutcome;
use super::next_times::NextTimes;
use super::observers::{Observations, ObserverOptions, Observers};
use super::standstill::Standstill;
use super::transactions::TransactionRecords;
use crate::error::RunError;
use crate::plan::changes::{Due, Pending};
use crate::progress::Reported;
use flashlane_audit::Verdict;
use flashlane_core::arrival::{Arrival, Source, Span};
use flashlane_report::metrics::{
    Activity, Estimation, FlowMetrics, KindCounts, LoadWindow, Pairs, ResponseTimes, Slack,
};
use flashlane_report::results::{DeviceStats, Recorded};

/// Progress is reported once in this many requests.
pub(crate) const STRIDE: u64 = 4096;

/// How many completions are collected before they are counted, where no later request depends on them. Counted after
/// each step, their number would vary and the processor would mispredict the loop over them.
const BATCH: usize = 64;

/// How much is run, and which requests are measured.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// No request arrives at or after this instant.
    pub end: Time,
    /// At most this many requests are issued.
    pub requests: u64,
    /// Requests that arrive before this instant are served and not measured.
    pub warm_up: Time,
    /// The first N requests of each flow are not measured either, so that alone runs leave out the same ones.
    pub warm_up_requests: u64,
    /// Whether response times count from the entry into the submission queue.
    pub response_from_entry: bool,
}

impl Default for Limits {
    /// No limit and no warm-up.
    fn default() -> Limits {
        Limits {
            end: Time::NEVER,
            requests: u64::MAX,
            warm_up: Time::ZERO,
            warm_up_requests: 0,
            response_from_entry: false,
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Metrics of each flow.
    pub flows: Vec<FlowMetrics>,
    /// FlowStats of the device.
    pub device: DeviceStats,
    /// The auditor's verdict, if the run was audited.
    pub verdict: Option<Verdict>,
    /// Remarks of the trace readers, by flow.
    pub remarks: Vec<Option<String>>,
    /// The rates of the traces as they were recorded, by flow.
    pub recorded: Vec<Option<Recorded>>,
    /// Response time of every measured request, if they were recorded.
    pub responses: Option<ResponseTimes>,
    /// Actual slack of transactions, if it was measured.
    pub slack: Option<Slack>,
    /// Accuracy of estimated response times, if it was measured.
    pub estimation: Option<Estimation>,
    /// Response times of its transactions, if they were recorded for an oracle.
    pub known: Option<KnownResponses>,
    /// The run's requests paired with those of another run; set by a comparison.
    pub pairs: Option<Pairs>,
    /// What the dies did over time, if it was recorded.
    pub activity: Option<Activity>,
    /// What the host added, if there was one.
    pub host: Option<HostOutcome>,
    /// What requests waited for in the block layer, if there was one.
    pub block: Option<Vec<FlowWaits>>,
    /// The requests that a block layer merged into others, each with that one, if they were recorded.
    pub merged: Vec<(u64, u64)>,
}

/// A run in progress.
pub struct Simulation<'a> {
    pub(crate) device: Device,
    pub(crate) flows: Vec<FlowState>,
    /// When the next request of each flow arrives, if it has one to submit now.
    pub(crate) times: NextTimes,
    pub(crate) limits: Limits,
    pub(crate) observers: Observers<'a>,
    progress: Option<Reported<'a>>,
    pub(crate) issued: u64,
    pub(crate) window: LoadWindow,
    pub(crate) counted: Counted,
    reported: u64,
    has_closed_loop: bool,
    standstill: Standstill,
    /// If response times count from the entry into the submission queue.
    entries: Option<Entries>,
    /// If the drive is changed meanwhile.
    changes: Option<Box<Pending>>,
}

impl<'a> Simulation<'a> {
    /// A run of `feeds` (one for each flow; `None` leaves the flow without requests) on the device of `config` under
    /// `scheduler`.
    ///
    /// # Errors
    /// A configuration that cannot be built.
    pub fn new(
        config: &Config,
        scheduler: Scheduler,
        feeds: Vec<Option<Feed>>,
        limits: Limits,
        observers: ObserverOptions<'a>,
    ) -> Result<Simulation<'a>, RunError> {
        let replayed = Replayed::of(config).map_err(|error| RunError::Input(error.to_string()))?;
        Simulation::in_state(config, replayed, scheduler, feeds, limits, observers)
    }

    /// [`Simulation::new`], on a drive in the state `replayed` that [`Replayed::of`] made for `config`.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub(crate) fn in_state(
        config: &Config,
        replayed: Option<Replayed>,
        scheduler: Scheduler,
        feeds: Vec<Option<Feed>>,
        limits: Limits,
        observers: ObserverOptions<'a>,
    ) -> Result<Simulation<'a>, RunError> {
        let policy = flashlane_audit::Policy::of(&scheduler);
        let device = Device::in_state(config, scheduler, replayed);
        let mut device = device.map_err(|error| RunError::Input(error.to_string()))?;
        let observers = Observers::new(observers, config, policy, &mut device);
        let has_closed_loop = feeds.iter().flatten().any(Feed::is_closed_loop);
        let flows: Vec<FlowState> =
            feeds.into_iter().map(|feed| FlowState::new(feed, limits.warm_up_requests)).collect();
        let (times, standstill) = (NextTimes::new(flows.len()), Standstill::new(flows.len()));
        let limits = Limits { end: limits.end.min(BEYOND), ..limits };
        let entries = limits.response_from_entry.then(|| Entries::new(&config.front.protocol, flows.len()));
        let (issued, reported) = (0, 0);
        let progress = None;
        let run = Simulation {
            device,
            flows,
            times,
            limits,
            observers,
            progress,
            issued,
            window: LoadWindow::default(),
            counted: Counted::default(),
            reported,
            has_closed_loop,
            standstill,
            entries,
            changes: None,
        };
        Ok(run)
    }

    /// Changes the drive meanwhile.
    pub(crate) fn with_changes(self, changes: Option<Box<Pending>>) -> Simulation<'a> {
        Simulation { changes, ..self }
    }

    /// Reports how far the run is to `progress`.
    pub(crate) fn reporting(self, progress: Option<Reported<'a>>) -> Simulation<'a> {
        Simulation { progress, ..self }
    }

    /// Runs until every request has completed.
    ///
    /// # Errors
    /// Bad input found on the way, a device that cannot go on, or rows that cannot be written.
    pub fn finish(mut self) -> Result<Outcome, RunError> {
        self.run()?;
        self.conclude(None)
    }

    fn run(&mut self) -> Result<(), RunError> {
        self.draw_first()?;
        while self.step()? {}
        Ok(())
    }

    /// Draws the first request of every flow.
    pub(crate) fn draw_first(&mut self) -> Result<(), RunError> {
        for (flow, state) in self.flows.iter_mut().enumerate() {
            self.times.set(flow, state.draw(self.limits.end)?);
        }
        Ok(())
    }

    /// The figures of the run, all of whose requests have completed.
    pub(crate) fn conclude(mut self, host: Option<HostOutcome>) -> Result<Outcome, RunError> {
        self.report_progress()?;
        self.check_conservation()?;
        let remarks = self.flows.iter().map(|state| state.feed.as_ref().and_then(Feed::remarks)).collect();
        let recorded = self.flows.iter_mut().map(|state| state.feed.as_mut().and_then(Feed::recorded)).collect();
        let device = DeviceStats::from(&self.counted.totals(&self.device));
        let Observations { verdict, responses, slack, transactions, activity } = self.observers.finish()?;
        let TransactionRecords { estimation, known } = transactions;
        let flows = self.flows.into_iter().map(|state| state.closed_metrics(&self.window)).collect();
        let pairs = None;
        Ok(Outcome {
            flows,
            device,
            verdict,
            remarks,
            recorded,
            responses,
            slack,
            estimation,
            known,
            pairs,
            activity,
            host,
            block: None,
            merged: Vec::new(),
        })
    }

    /// The flow with the earliest next request, and its time; the lower flow number on a tie. `None` when no flow has
    /// one.
    #[inline]
    pub(crate) fn earliest(&self) -> Option<(Time, usize)> {
        if self.issued >= self.limits.requests {
            return None;
        }
        self.times.earliest()
    }

    /// Submits the next request at its time, or advances the device to a completion, after which a closed loop may send
    /// an earlier request. Returns whether there was anything left to do.
    #[inline]
    fn step(&mut self) -> Result<bool, RunError> {
        let next = self.earliest();
        if self.changes.is_some() && self.changes_before(next.map_or(Time::NEVER, |(at, _)| at)) {
            return self.change();
        }
        if self.has_closed_loop || next.is_none() || self.may_end_before(next) {
            let limit = next.map_or_else(|| self.last_limit(), |(at, _)| at);
            let completed = self.device.advance_to_completion(limit);
            if completed || next.is_none() {
                self.drain_device()?;
                return Ok(completed || limit != Time::NEVER);
            }
        }
        let Some((at, flow)) = next else { return Ok(false) };
        self.device.advance(at);
        if self.device.completions().len() >= BATCH || self.device.fault().is_some() || self.observers.needs_events() {
            self.drain_device()?;
        }
        self.submit(flow)?;
        Ok(true)
    }

    /// Whether the last counted request may complete before the request `next`, because that is one of those of its flow that are left out:
    /// then the device stops at each completion.
    #[inline]
    fn may_end_before(&self, next: Option<(Time, usize)>) -> bool {
        self.limits.warm_up_requests > 0 && self.counted.is_under_way() && !self.is_counted(next)
    }

    /// Whether figures count the request that a flow sends next.
    fn is_counted(&self, next: Option<(Time, usize)>) -> bool {
        next.is_some_and(|(at, flow)| at >= self.limits.warm_up && self.flows[flow].warm_up_left == 0)
    }

    /// Keeps what the device has done, if no counted request is under way or comes next.
    #[inline]
    pub(crate) fn note_end(&mut self) {
        if self.counted.may_end() && !self.is_counted(self.earliest()) {
            self.counted.end(&self.device);
        }
    }

    /// Whether the next change comes before the instant `at` of the next request.
    #[cold]
    fn changes_before(&self, at: Time) -> bool {
        self.changes.as_ref().is_some_and(|changes| changes.next() < at)
    }

    /// Makes the next change: no request of its instant or before is left to submit.
    #[cold]
    fn change(&mut self) -> Result<bool, RunError> {
        let Some(mut changes) = self.changes.take() else { return Ok(false) };
        let Some((at, change)) = changes.take() else { return Ok(false) };
        match change {
            Due::Priority(flow, priority) => {
                self.device.advance(at);
                self.device.set_priority(flow, priority);
            }
            Due::Scheduler(scheduler, policy) => {
                self.device.end_idle_time(at);
                while !self.device.drain(at) {
                    let next = self.device.next_event();
                    self.device.drain(next);
                    self.drain_device()?;
                }
                self.drain_device()?;
                self.device.advance(at);
                self.observers.scheduler_changes(policy, &mut self.device);
                self.device.change_scheduler(changes.config(), *scheduler);
                // Decisions of this instant have been made.
                changes.not_before = (self.device.now() + Duration::from_ns(1)).min(Time::LAST);
            }
        }
        self.changes = Some(changes);
        Ok(true)
    }

    /// How far the device advances when no request is left to submit: to its end, or, where events are observed, to its next event.
    /// Collections may go on for long after the last request; their events are passed on as they come, and need no memory.
    pub(crate) fn last_limit(&mut self) -> Time {
        if !self.observers.needs_events() {
            return Time::NEVER;
        }
        if self.device.outstanding() == 0 {
            self.observers.requests_are_over();
        }
        let now = self.device.now();
        if self.device.advance_to_completion(now) {
            // As without observers, the decisions of the instant come after what its completions bring.
            return now;
        }
        let next = self.device.next_event();
        if next <= Time::LAST { next } else { Time::NEVER }
    }

    /// Processes the events and completions since the last call.
    #[inline(never)]
    fn drain_device(&mut self) -> Result<(), RunError> {
        if let Some(fault) = self.device.fault() {
            return Err(RunError::Device(format!("at {}: {}", fault.at, fault.message)));
        }
        if self.observers.needs_events() {
            self.observers.events(&mut self.device)?;
        }
        self.observers.page_ends(&mut self.device);
        let mut completions = std::mem::take(self.device.completions());
        for completion in &mut completions {
            let measured = self.is_measured(completion);
            if let Some(entries) = &mut self.entries {
                entries.complete(completion);
            }
            self.count(completion, measured);
            if self.observers.needs_completions() {
                self.observers.completion(completion, measured)?;
            }
            if self.has_closed_loop {
                self.notify_source(completion)?;
            }
        }
        completions.clear();
        *self.device.completions() = completions;
        self.note_end();
        Ok(())
    }

    /// Whether the request of a completion is measured.
    #[inline]
    pub(crate) fn is_measured(&self, completion: &Completion) -> bool {
        let state = &self.flows[completion.flow.index()];
        completion.arrival >= self.limits.warm_up && completion.id >= state.measured_from
    }

    /// Counts a completion.
    #[inline]
    pub(crate) fn count(&mut self, completion: &Completion, measured: bool) {
        let metrics = &mut self.flows[completion.flow.index()].metrics;
        if measured {
            metrics.complete(&self.window, completion);
            self.counted.complete();
        } else {
            metrics.complete_unmeasured(&self.window, completion);
        }
    }

    /// Reports a completion to its closed loop, which may then have a next request.
    #[inline]
    pub(crate) fn notify_source(&mut self, completion: &Completion) -> Result<(), RunError> {
        let flow = completion.flow.index();
        let state = &mut self.flows[flow];
        if let Some(feed) = &mut state.feed {
            feed.completed(completion.done);
        }
        if state.awaits_completion {
            self.times.set(flow, state.draw(self.limits.end)?);
        }
        Ok(())
    }

    /// Submits the next request of `flow` to the device and draws the one after it.
    #[inline]
    fn submit(&mut self, flow: usize) -> Result<(), RunError> {
        let state = &mut self.flows[flow];
        let Arrival { at, op, fua, extent } = &state.next;
        let extent = match extent {
            Span::Bytes { offset, length } => Extent::Bytes { offset: *offset, length: *length },
            Span::Pages(pages) => Extent::Pages(pages),
        };
        let id = RequestId(self.issued);
        let request = Request { id, flow: FlowId(flow as u16), op: *op, fua: *fua, arrival: *at, extent };
        let now = if let Some(changes) = &self.changes { changes.not_before.max(*at) } else { *at };
        if *at >= self.limits.warm_up && state.warm_up_left == 0 {
            self.counted.arrive(&self.device);
        }
        self.device
            .submit(now, &request)
            .map_err(|refusal| RunError::Fault(format!("the device refused request {}: {refusal:?}", id.0)))?;
        let (at, op) = (*at, *op);
        if let Some(entries) = &mut self.entries {
            entries.issue(&request);
        }
        state.issue(&mut self.window, id, op, at, at >= self.limits.warm_up);
        self.issued += 1;
        self.times.set(flow, state.draw(self.limits.end)?);
        if let Span::Bytes { offset, .. } = &state.next.extent {
            self.device.prefetch(*offset);
        }
        if self.issued.is_multiple_of(STRIDE) {
            self.look_at_progress(at)?;
        }
        Ok(())
    }

    /// Reports how far the run is at `now`, and refuses to go on where time no longer does.
    #[cold]
    pub(super) fn look_at_progress(&mut self, now: Time) -> Result<(), RunError> {
        self.report_progress()?;
        if self.has_closed_loop { self.standstill.check(now, &self.flows) } else { Ok(()) }
    }

    /// Reports how far the run is; an error if its caller wants it stopped.
    fn report_progress(&mut self) -> Result<(), RunError> {
        if let Some(Reported { shown, expected }) = self.progress {
            if shown.is_stopped() {
                return Err(RunError::Stopped);
            }
            let end = if self.limits.end == BEYOND { Time::NEVER } else { self.limits.end };
            for (flow, state) in self.flows.iter().enumerate() {
                if let Some(feed) = &state.feed {
                    expected.update(flow, feed.expected(state.metrics.issued(), state.next.at, end));
                }
            }
            shown.expect(expected.total());
            shown.add(self.issued - self.reported);
        }
        self.reported = self.issued;
        Ok(())
    }

    /// Checks that no request is lost: produced = completed + rejected, for each flow and kind.
    fn check_conservation(&mut self) -> Result<(), RunError> {
        for (flow, FlowState { feed, metrics, .. }) in self.flows.iter_mut().enumerate() {
            metrics.refuse(feed.as_ref().map_or([0; Op::ALL.len()], Feed::rejected));
            for (op, KindCounts { issued, completed, rejected, .. }) in Op::ALL.into_iter().zip(metrics.by_kind()) {
                if issued != completed + rejected {
                    let op = op.name();
                    return Err(RunError::Fault(format!(
                        "flow {flow} lost requests ({op}): {issued} produced, {completed} completed, {rejected} rejected"
                    )));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "simulation_tests.rs"]
mod tests;
