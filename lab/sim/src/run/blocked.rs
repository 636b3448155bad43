//! The loop of a run below the operating system's block layer: flows ask, the block layer holds requests back and orders them, and hands them to the
//! device. Response times count from the flow's asking.
//!
//! Within an instant: completions, limits and timers, each arrival with the requests for the device that follow, decisions (model 0.3).

use flashlane_block::{Bio, Block, Config as BlockConfig, FlowWaits};
use flashlane_core::arrival::{Arrival, Span};
use flashlane_core::{Extent, FlowId, Op, Request, RequestId, Sequence, Time};

use super::simulation::{Outcome, STRIDE, Simulation};
use crate::error::RunError;

/// A request that a flow has asked for and the device has not got.
struct Held {
    flow: FlowId,
    op: Op,
    fua: bool,
    arrival: Time,
    span: Span,
}

/// The block layer of a run in progress.
struct BlockedRun {
    block: Block,
    page_bytes: u64,
    held: Sequence<Held>,
}

impl Simulation<'_> {
    /// Runs below a block layer until every request has completed.
    ///
    /// # Errors
    /// As [`Simulation::finish`].
    pub fn finish_blocked(mut self, config: &BlockConfig) -> Result<Outcome, RunError> {
        let mut run = BlockedRun {
            block: Block::new(config),
            page_bytes: u64::from(self.device.board().facts.geometry.page_bytes),
            held: Sequence::default(),
        };
        self.draw_first()?;
        while self.step_blocked(&mut run)? {}
        let waits: Vec<FlowWaits> = run.block.waits().to_vec();
        let outcome = self.conclude(None)?;
        Ok(Outcome { block: Some(waits), ..outcome })
    }

    /// Advances to the next instant at which a request completes, one arrives or one is let go. Returns whether there was anything left to do.
    fn step_blocked(&mut self, run: &mut BlockedRun) -> Result<bool, RunError> {
        let arrival = self.earliest().map_or(Time::NEVER, |(at, _)| at);
        let held = run.block.next_event(self.device.now());
        if held > Time::LAST && held != Time::NEVER && arrival == Time::NEVER && self.device.outstanding() == 0 {
            let why = "a limit of [block.flow] holds requests back for longer than a run can last, 834 days";
            return Err(RunError::Input(why.to_owned()));
        }
        let (limit, is_last) = match arrival.min(if held > Time::LAST { Time::NEVER } else { held }) {
            // The device still has its own to do: requests, and what its buffer holds.
            Time::NEVER => (self.last_limit(), true),
            at => (at, false),
        };
        let completed = self.device.advance_to_completion(limit);
        if let Some(fault) = self.device.fault() {
            return Err(RunError::Device(format!("at {}: {}", fault.at, fault.message)));
        }
        if !completed && !is_last {
            self.device.advance(limit);
        }
        self.pass_blocked_events()?;
        if completed {
            self.complete_blocked(run)?;
        } else if is_last {
            return Ok(limit != Time::NEVER);
        }
        let now = if completed { self.device.now() } else { limit };
        run.block.advance(now);
        self.issue_blocked(run, now)?;
        while let Some((at, flow)) = self.earliest()
            && at <= now
        {
            self.ask(run, now, flow)?;
            self.issue_blocked(run, now)?;
        }
        Ok(true)
    }

    /// Passes the device's events to the observers, before the completions of their requests.
    fn pass_blocked_events(&mut self) -> Result<(), RunError> {
        if self.observers.needs_events() {
            self.observers.events(&mut self.device)?;
        }
        self.observers.page_ends(&mut self.device);
        Ok(())
    }

    /// Counts the completions of this instant, and tells the block layer and closed loops of them.
    fn complete_blocked(&mut self, run: &mut BlockedRun) -> Result<(), RunError> {
        let mut completions = std::mem::take(self.device.completions());
        for completion in &completions {
            let measured = self.is_measured(completion);
            self.count(completion, measured);
            if self.observers.needs_completions() {
                self.observers.completion(completion, measured)?;
            }
            run.block.completed(completion.done, completion.id);
            self.notify_source(completion)?;
        }
        completions.clear();
        *self.device.completions() = completions;
        self.note_end();
        Ok(())
    }

    /// `flow` asks for its next request.
    fn ask(&mut self, run: &mut BlockedRun, now: Time, flow: usize) -> Result<(), RunError> {
        let state = &mut self.flows[flow];
        let Arrival { at, op, fua, extent } = std::mem::replace(&mut state.next, Arrival::NONE);
        let id = RequestId(self.issued);
        let (offset, bytes) = match &extent {
            Span::Bytes { offset, length } => (*offset, *length),
            Span::Pages(pages) => {
                let first = pages.iter().map(|lpn| u64::from(lpn.0)).min().unwrap_or(0);
                (first * run.page_bytes, pages.len() as u64 * run.page_bytes)
            }
        };
        if at >= self.limits.warm_up && state.warm_up_left == 0 {
            self.counted.arrive(&self.device);
        }
        state.issue(&mut self.window, id, op, at, at >= self.limits.warm_up);
        let flow_id = FlowId(flow as u16);
        run.held.insert(id.0, Held { flow: flow_id, op, fua, arrival: at, span: extent });
        run.block.enter(now, Bio { id, flow: flow_id, op, offset, bytes });
        self.issued += 1;
        self.times.set(flow, state.draw(self.limits.end)?);
        if self.issued.is_multiple_of(STRIDE) {
            self.look_at_progress(now)?;
        }
        Ok(())
    }

    /// The driver hands to the device what the block layer lets go.
    fn issue_blocked(&mut self, run: &mut BlockedRun, now: Time) -> Result<(), RunError> {
        while let Some(id) = run.block.issue(now) {
            let Some(Held { flow, op, fua, arrival, span }) = run.held.remove(id.0) else { continue };
            let extent = match &span {
                Span::Bytes { offset, length } => Extent::Bytes { offset: *offset, length: *length },
                Span::Pages(pages) => Extent::Pages(pages),
            };
            self.device
                .submit(now, &Request { id, flow, op, fua, arrival, extent })
                .map_err(|refusal| RunError::Fault(format!("the device refused request {}: {refusal:?}", id.0)))?;
        }
        Ok(())
    }
}
