//! The loop of a run: submits the requests of all flows in order of time, passes completions to closed loops, until all
//! is done.

use flashlane_core::decide::Scheduler;
use flashlane_core::{Completion, Extent, FlowId, Request, RequestId, Time};
use flashlane_sched::order::Responses as Known;
use flashlane_ssd::{Config, Device};

use super::feed::Feed;
use super::follow::Followed;
use super::lane::{BEYOND, Lane};
use super::observe::{self, Onlookers, Seen, Watch};
use super::{Progress, RunError};
use crate::metrics::{Estimation, FlowMetrics, Pairs, Responses, Slack};
use crate::results::DeviceFigures;
use crate::workload::{Arrival, Source, Span};
use flashlane_audit::Verdict;

/// Progress is reported once in so many requests.
const STRIDE: u64 = 4096;

/// How many completions are collected before they are counted, where no later request depends on them. Counted after
/// each step, their number would vary and the processor would mispredict the loop over them.
const BATCH: usize = 64;

/// How much is run, and which requests are measured.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// No request arrives at or after this instant.
    pub end: Time,
    /// At most so many requests are issued.
    pub requests: u64,
    /// Requests that arrive before this instant are served and not measured.
    pub warm_up: Time,
    /// The first so many requests of each flow are not measured either, so that alone runs leave out the same ones.
    pub warm_up_requests: u64,
}

impl Default for Limits {
    /// No limit and no warm-up.
    fn default() -> Limits {
        Limits { end: Time::NEVER, requests: u64::MAX, warm_up: Time::ZERO, warm_up_requests: 0 }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Metrics of each flow.
    pub flows: Vec<FlowMetrics>,
    /// Figures of the device.
    pub device: DeviceFigures,
    /// The auditor's verdict, if the run was audited.
    pub verdict: Option<Verdict>,
    /// Remarks of the trace readers, by flow.
    pub remarks: Vec<Option<String>>,
    /// Response time of every measured request, if they were recorded.
    pub responses: Option<Responses>,
    /// Actual slack of transactions, if it was measured.
    pub slack: Option<Slack>,
    /// Accuracy of estimated response times, if it was measured.
    pub estimation: Option<Estimation>,
    /// Response times of its transactions, if they were recorded for an oracle.
    pub known: Option<Known>,
    /// The run's requests paired with those of another run; set by a comparison.
    pub pairs: Option<Pairs>,
}

/// A run in progress.
pub struct Run<'a> {
    device: Device,
    lanes: Vec<Lane>,
    /// For each flow, the arrival time of its next request; `NEVER` if it has none to submit now.
    times: Vec<Time>,
    limits: Limits,
    watch: Watch<'a>,
    progress: Option<&'a Progress>,
    issued: u64,
    told: u64,
    closed: bool,
}

impl<'a> Run<'a> {
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
        onlookers: Onlookers<'a>,
        progress: Option<&'a Progress>,
    ) -> Result<Run<'a>, RunError> {
        let policy = observe::policy(&scheduler);
        let mut device = Device::new(config, scheduler).map_err(|error| RunError::Input(error.to_string()))?;
        let watch = Watch::new(onlookers, config, policy, &mut device);
        let closed = feeds.iter().flatten().any(Feed::is_closed_loop);
        let lanes: Vec<Lane> = feeds.into_iter().map(|feed| Lane::new(feed, limits.warm_up_requests)).collect();
        let times = vec![Time::NEVER; lanes.len()];
        let limits = Limits { end: limits.end.min(BEYOND), ..limits };
        let (issued, told) = (0, 0);
        Ok(Run { device, lanes, times, limits, watch, progress, issued, told, closed })
    }

    /// Runs until every request has completed.
    ///
    /// # Errors
    /// Bad input found on the way, a device that cannot go on, or rows that cannot be written.
    pub fn finish(mut self) -> Result<Outcome, RunError> {
        for (lane, time) in self.lanes.iter_mut().zip(&mut self.times) {
            *time = lane.draw(self.limits.end)?;
        }
        while self.step()? {}
        self.tell();
        self.account()?;
        let remarks = self.lanes.iter().map(|lane| lane.feed.as_ref().and_then(Feed::remarks)).collect();
        let device = DeviceFigures::from(&self.device.totals());
        let Seen { verdict, responses, followed } = self.watch.finish()?;
        let Followed { slack, estimation, known } = followed;
        let flows = self.lanes.into_iter().map(|lane| lane.metrics).collect();
        Ok(Outcome { flows, device, verdict, remarks, responses, slack, estimation, known, pairs: None })
    }

    /// The flow with the earliest next request, and its time; the lower flow number on a tie. `None` when no flow has
    /// one.
    #[inline]
    fn earliest(&self) -> Option<(Time, usize)> {
        if self.issued >= self.limits.requests {
            return None;
        }
        let best = match *self.times {
            [only] => (only, 0),
            ref times => times.iter().zip(0..).fold((Time::NEVER, 0), |best, (&at, flow)| best.min((at, flow))),
        };
        (best.0 != Time::NEVER).then_some(best)
    }

    /// Submits the next request at its time, or advances the device to a completion, after which a closed loop may send
    /// an earlier request. Returns whether there was anything left to do.
    #[inline]
    fn step(&mut self) -> Result<bool, RunError> {
        let offer = self.earliest();
        if self.closed || offer.is_none() {
            let completed = self.device.advance_to_completion(offer.map_or(Time::NEVER, |(at, _)| at));
            if completed || offer.is_none() {
                self.take_note()?;
                return Ok(completed);
            }
        }
        let Some((at, flow)) = offer else { return Ok(false) };
        self.device.advance(at);
        if self.device.completions().len() >= BATCH || self.device.fault().is_some() || self.watch.wants_events() {
            self.take_note()?;
        }
        self.submit(flow)?;
        Ok(true)
    }

    /// Processes the events and completions since the last call.
    #[inline(never)]
    fn take_note(&mut self) -> Result<(), RunError> {
        if let Some(fault) = self.device.fault() {
            return Err(RunError::Device(format!("at {}: {}", fault.at, fault.message)));
        }
        if self.watch.wants_events() {
            self.watch.events(&mut self.device)?;
        }
        let mut completions = std::mem::take(self.device.completions());
        for completion in &completions {
            let measured = self.measure(completion);
            if self.watch.wants_completions() {
                self.watch.completion(completion, measured)?;
            }
            if self.closed {
                self.answer(completion)?;
            }
        }
        completions.clear();
        *self.device.completions() = completions;
        Ok(())
    }

    /// Counts a completion; returns whether its request is measured.
    #[inline]
    fn measure(&mut self, completion: &Completion) -> bool {
        let lane = &mut self.lanes[completion.flow.index()];
        let measured = completion.arrival >= self.limits.warm_up && completion.id >= lane.warm_from;
        if measured {
            lane.metrics.observe(completion);
        } else {
            lane.metrics.pass_over(completion);
        }
        measured
    }

    /// Reports a completion to its closed loop, which may then have a next request.
    #[inline]
    fn answer(&mut self, completion: &Completion) -> Result<(), RunError> {
        let flow = completion.flow.index();
        let lane = &mut self.lanes[flow];
        if let Some(feed) = &mut lane.feed {
            feed.completed(completion.done);
        }
        if lane.awaits {
            self.times[flow] = lane.draw(self.limits.end)?;
        }
        Ok(())
    }

    /// Submits the next request of `flow` to the device and draws the one after it.
    #[inline]
    fn submit(&mut self, flow: usize) -> Result<(), RunError> {
        let lane = &mut self.lanes[flow];
        let Arrival { at, op, extent } = &lane.offer;
        let extent = match extent {
            Span::Bytes { offset, length } => Extent::Bytes { offset: *offset, length: *length },
            Span::Pages(pages) => Extent::Pages(pages),
        };
        let id = RequestId(self.issued);
        let request = Request { id, flow: FlowId(flow as u16), op: *op, arrival: *at, extent };
        self.device
            .submit(*at, &request)
            .map_err(|refusal| RunError::Fault(format!("the device refused request {}: {refusal:?}", id.0)))?;
        lane.metrics.issue(*at);
        if lane.warming > 0 {
            lane.warming -= 1;
            lane.warm_from = RequestId(id.0 + 1);
        }
        self.issued += 1;
        self.times[flow] = lane.draw(self.limits.end)?;
        if let Span::Bytes { offset, .. } = &lane.offer.extent {
            self.device.prefetch(*offset);
        }
        if self.issued.is_multiple_of(STRIDE) {
            self.tell();
        }
        Ok(())
    }

    fn tell(&mut self) {
        if let Some(progress) = self.progress {
            progress.add(self.issued - self.told);
        }
        self.told = self.issued;
    }

    /// Checks that no request is lost: produced = completed + rejected, for each flow.
    fn account(&mut self) -> Result<(), RunError> {
        for (flow, Lane { feed, metrics, .. }) in self.lanes.iter_mut().enumerate() {
            metrics.refuse(feed.as_ref().map_or(0, Feed::rejected));
            if !metrics.balanced() {
                return Err(RunError::Fault(format!(
                    "flow {flow} lost requests: {} produced, {} completed, {} rejected",
                    metrics.issued(),
                    metrics.completed(),
                    metrics.rejected()
                )));
            }
        }
        Ok(())
    }
}
