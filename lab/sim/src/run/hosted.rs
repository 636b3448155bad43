//! The loop of a run behind a host: threads ask for I/Os, the host hands them to the device, and a thread asks for its next
//! one only when it has seen the last one done (model 3.1.4).
//!
//! Device and host take turns: the device runs to the next instant at which the host may do something to it, and stops before at one
//! that the host must know of. Within an instant: completions, messages and CPUs, calls, decisions (model 0.3).

use flashlane_core::event::Kinds;
use flashlane_core::{Divisor, Extent, FlowId, Op, Request, RequestId, Sequence, Time};
use flashlane_host::{Config as HostConfig, Host, Io, Seen};
use flashlane_ssd::{Device, Stopped};

use super::host_outcome::HostOutcome;
use super::simulation::{Outcome, STRIDE, Simulation};
use crate::error::RunError;
use flashlane_core::arrival::{Arrival, Source, Span};
use flashlane_report::metrics::HostMetrics;

/// The host of a run in progress.
pub(crate) struct HostedRun {
    host: Host,
    config: HostConfig,
    page_size: Divisor,
    /// Requests that threads have asked for and the device has not got, by number.
    held: Sequence<(FlowId, Op, bool, Span)>,
    /// Requests whose threads have not seen them done.
    open: u64,
    seen: Vec<Seen>,
    submissions: Vec<RequestId>,
    metrics: HostMetrics,
    now: Time,
}

impl HostedRun {
    /// The host of `config` before a device.
    pub(crate) fn new(config: &HostConfig, device: &mut Device) -> HostedRun {
        let host = Host::new(config);
        if host.wants_request_events() {
            device.report_events();
        } else if host.wants_events() {
            device.report(Kinds::QUEUES.and(Kinds::PHASES));
        }
        HostedRun {
            host,
            config: config.clone(),
            page_size: Divisor::new(device.board().facts.geometry.page_bytes),
            held: Sequence::default(),
            open: 0,
            seen: Vec::new(),
            submissions: Vec::new(),
            metrics: HostMetrics::default(),
            now: Time::ZERO,
        }
    }

    /// What the host added.
    pub(crate) fn finish(mut self) -> HostOutcome {
        let (meter, background) = self.host.counted(self.now);
        HostOutcome {
            metrics: self.metrics,
            meter,
            background,
            alone: Host::background_alone(&self.config, self.now),
            end: self.now,
            windows_ns: self.host.windows().map(|window| window.ns()).collect(),
            config: self.config,
        }
    }
}

impl Simulation<'_> {
    /// Runs behind a host until its threads have seen every request done.
    ///
    /// # Errors
    /// As [`Simulation::finish`].
    pub fn finish_hosted(mut self, host: &HostConfig) -> Result<Outcome, RunError> {
        let mut host = HostedRun::new(host, &mut self.device);
        self.run_hosted(&mut host)?;
        self.conclude(Some(host.finish()))
    }

    fn run_hosted(&mut self, host: &mut HostedRun) -> Result<(), RunError> {
        self.draw_first()?;
        while self.step_hosted(host)? {}
        Ok(())
    }

    /// Advances device and host to the next instant that concerns both. Returns whether there was anything left to do.
    fn step_hosted(&mut self, run: &mut HostedRun) -> Result<bool, RunError> {
        let next = self.earliest().map_or(Time::NEVER, |(at, _)| at);
        if next == Time::NEVER && run.open == 0 {
            // The device still has its own to do: it writes out what its buffer holds.
            loop {
                let limit = self.last_limit();
                self.device.advance_to_completion(limit);
                self.pass_events(run)?;
                if limit == Time::NEVER {
                    return Ok(false);
                }
            }
        }
        let now = self.advance_device(run, next)?;
        if now > Time::LAST {
            return Ok(false);
        }
        self.act_at(run, now)?;
        Ok(true)
    }

    /// Advances the device to the first instant at which a request completes or the host does something, but not beyond `limit`.
    /// Returns that instant.
    fn advance_device(&mut self, run: &mut HostedRun, limit: Time) -> Result<Time, RunError> {
        let mut limit = limit;
        let wants_events = run.host.wants_events();
        loop {
            if wants_events {
                self.pass_events(run)?;
            }
            // What an event told the host may have it send a message earlier than anything before.
            limit = limit.min(run.host.next_event());
            let stopped = self.device.advance_to_report(limit, wants_events);
            if stopped == Some(Stopped::AfterDecisions) {
                run.host.pass(self.device.now());
            }
            if let Some(fault) = self.device.fault() {
                return Err(RunError::Device(format!("at {}: {}", fault.at, fault.message)));
            }
            if !self.device.completions().is_empty() {
                self.pass_events(run)?;
                return Ok(self.device.now());
            }
            if stopped.is_none() {
                return Ok(limit);
            }
        }
    }

    /// What device, host and applications do to one another at `now`.
    fn act_at(&mut self, run: &mut HostedRun, now: Time) -> Result<(), RunError> {
        if !self.device.completions().is_empty() {
            self.pass_completions(run)?;
        }
        run.host.advance(now);
        loop {
            if !run.host.seen().is_empty() {
                self.answer_seen(run)?;
            }
            while let Some((at, flow)) = self.earliest()
                && at <= now
            {
                self.call(run, now, flow)?;
            }
            run.host.settle(now);
            if !run.host.submissions().is_empty() {
                self.hand_over(run, now)?;
            }
            if run.host.seen().is_empty() {
                break;
            }
        }
        run.now = now;
        Ok(())
    }

    /// Passes the device's events to the host and to the observers.
    fn pass_events(&mut self, run: &mut HostedRun) -> Result<(), RunError> {
        self.observers.page_ends(&mut self.device);
        self.device.events().iter().for_each(|stamped| run.host.observe(stamped));
        self.observers.events(&mut self.device)
    }

    /// Counts the completions of this instant and passes them to the host, each with the free pages of the write buffer.
    fn pass_completions(&mut self, run: &mut HostedRun) -> Result<(), RunError> {
        for i in 0..self.device.completions().len() {
            let completion = self.device.completions()[i];
            let measured = self.is_measured(&completion);
            self.count(&completion, measured);
            if self.observers.needs_completions() {
                self.observers.completion(&completion, measured)?;
            }
            let free = self.device.free_buffer_pages(completion.flow);
            run.host.completed(completion.done, completion.id, free);
        }
        self.device.completions().clear();
        self.note_end();
        Ok(())
    }

    /// Counts what threads have seen, and lets closed loops go on.
    fn answer_seen(&mut self, run: &mut HostedRun) -> Result<(), RunError> {
        std::mem::swap(&mut run.seen, run.host.seen());
        for seen in run.seen.drain(..) {
            run.open -= 1;
            self.observers.seen(&seen)?;
            let flow = seen.flow.index();
            let state = &mut self.flows[flow];
            if seen.called >= self.limits.warm_up && seen.id >= state.measured_from {
                run.metrics.observe(&seen);
            }
            if let Some(feed) = &mut state.feed {
                feed.completed(seen.seen);
            }
            if state.awaits_completion {
                self.times.set(flow, state.draw(self.limits.end)?);
            }
        }
        Ok(())
    }

    /// A thread of `flow` asks for its next I/O.
    #[inline]
    fn call(&mut self, run: &mut HostedRun, now: Time, flow: usize) -> Result<(), RunError> {
        let state = &mut self.flows[flow];
        let Arrival { at, op, fua, extent } = std::mem::replace(&mut state.next, Arrival::NONE);
        let id = RequestId(self.issued);
        let (page, pages) = match &extent {
            Span::Bytes { offset, length } => {
                let first = run.page_size.quotient(*offset);
                (first, run.page_size.quotient(offset + length.max(&1) - 1) + 1 - first)
            }
            Span::Pages(pages) => (pages.first().map_or(0, |lpn| u64::from(lpn.0)), pages.len() as u64),
        };
        let io = Io { id, flow: FlowId(flow as u16), op, plain: op.is_data() && !fua, page, pages: pages as u32 };
        run.host.call(now, io);
        if let Span::Bytes { offset, .. } = &extent {
            self.device.prefetch(*offset);
        }
        run.held.insert(id.0, (io.flow, op, fua, extent));
        run.open += 1;
        if now >= self.limits.warm_up && state.warm_up_left == 0 {
            self.counted.arrive(&self.device);
        }
        state.issue(&mut self.window, id, op, now, at >= self.limits.warm_up);
        self.issued += 1;
        self.times.set(flow, state.draw(self.limits.end)?);
        if self.issued.is_multiple_of(STRIDE) {
            self.look_at_progress(now)?;
        }
        Ok(())
    }

    /// Submits what the host hands over at `now`. A request's response time begins here; what came before is the host's.
    fn hand_over(&mut self, run: &mut HostedRun, now: Time) -> Result<(), RunError> {
        std::mem::swap(&mut run.submissions, run.host.submissions());
        for id in run.submissions.drain(..) {
            let Some((flow, op, fua, span)) = run.held.remove(id.0) else { continue };
            let extent = match &span {
                Span::Bytes { offset, length } => Extent::Bytes { offset: *offset, length: *length },
                Span::Pages(pages) => Extent::Pages(pages),
            };
            let request = Request { id, flow, op, fua, arrival: now, extent };
            self.device
                .submit(now, &request)
                .map_err(|refusal| RunError::Fault(format!("the device refused request {}: {refusal:?}", id.0)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "hosted_tests.rs"]
mod tests;
