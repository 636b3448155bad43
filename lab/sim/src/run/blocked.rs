//! The loop of a run below the operating system's block layer: flows ask, the block layer holds requests back and orders them, and hands them to the
//! device. Response times count from the flow's asking. What the block layer merges the device sees as one request, with the number of its first bio; figures
//! and rows count what flows ask.
//!
//! Within an instant: completions, limits and timers, arrivals with the requests for the device that follow, those of a flow together, decisions (model 0.3, 0.17).

use flashlane_block::{Audit, Bio, Block, Config as BlockConfig, FlowWaits};
use flashlane_core::arrival::{Arrival, Span};
use flashlane_core::{Completion, Duration, Extent, FlowId, Lpn, Op, Request, RequestId, Sequence, Time};

use super::simulation::{Outcome, STRIDE, Simulation};
use crate::error::RunError;

/// What a flow has asked for and has not got.
struct Asked {
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
    open: Sequence<Asked>,
    /// The bios of the request that completes.
    bios: Vec<(RequestId, [Duration; 4])>,
    audit: Option<Audit>,
    /// What was merged, and into what, if that is recorded.
    merged: Vec<(u64, u64)>,
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
            open: Sequence::default(),
            bios: Vec::new(),
            audit: self.observers.is_audited().then(|| Audit::new(config)),
            merged: Vec::new(),
        };
        if run.audit.is_some() {
            run.block.report_events();
        }
        self.draw_first()?;
        while self.step_blocked(&mut run)? {
            run.observe();
        }
        run.observe();
        run.audit.take().map_or(Ok(()), judge)?;
        let waits: Vec<FlowWaits> = run.block.waits().to_vec();
        let outcome = self.conclude(None)?;
        Ok(Outcome { block: Some(waits), merged: run.merged, ..outcome })
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
        self.unplug(run, now)?;
        let mut plugged = None;
        while let Some((at, flow)) = self.earliest()
            && at <= now
        {
            if plugged != Some(flow) || self.flows[flow].next.op == Op::Flush {
                self.unplug(run, now)?;
            }
            plugged = Some(flow);
            self.ask(run, now, flow)?;
            self.issue_blocked(run, now)?;
        }
        self.unplug(run, now)?;
        Ok(true)
    }

    /// Ends the plugs, and hands to the device what that lets go.
    fn unplug(&mut self, run: &mut BlockedRun, now: Time) -> Result<(), RunError> {
        run.block.unplug(now);
        self.issue_blocked(run, now)
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
            if self.observers.needs_completions() {
                self.observers.request_completion(completion, self.is_measured(completion))?;
            }
            let mut bios = std::mem::take(&mut run.bios);
            bios.extend(run.block.bios(completion.id).map(|(bio, waited)| (bio.id, waited)));
            run.block.completed(completion.done, completion.id);
            let is_merged = bios.len() > 1;
            for (id, waited) in bios.drain(..) {
                let asked = run.open.remove(id.0);
                let own = asked.filter(|_| is_merged).map(|asked| asked.completion(id, completion, run.page_bytes));
                self.complete_bio(&own.unwrap_or(*completion), &waited)?;
            }
            run.bios = bios;
        }
        completions.clear();
        *self.device.completions() = completions;
        self.note_end();
        Ok(())
    }

    /// What a flow asked for has completed.
    fn complete_bio(&mut self, completion: &Completion, waited: &[Duration; 4]) -> Result<(), RunError> {
        let measured = self.is_measured(completion);
        self.count(completion, measured);
        if self.observers.needs_completions() {
            self.observers.bio_completion(completion, measured, waited)?;
        }
        self.notify_source(completion)
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
        let plain = op.is_data() && !fua && matches!(extent, Span::Bytes { .. });
        run.open.insert(id.0, Asked { flow: flow_id, op, fua, arrival: at, span: extent });
        run.block.enter(now, Bio { id, flow: flow_id, op, plain, offset, bytes });
        self.issued += 1;
        self.times.set(flow, state.draw(self.limits.end)?);
        if self.issued.is_multiple_of(STRIDE) {
            self.look_at_progress(now)?;
        }
        Ok(())
    }

    /// The driver hands to the device what the block layer lets go.
    fn issue_blocked(&mut self, run: &mut BlockedRun, now: Time) -> Result<(), RunError> {
        while let Some(issued) = run.block.issue(now) {
            let id = issued.id;
            let Some(&Asked { flow, op, fua, arrival, ref span }) = run.open.get(id.0) else { continue };
            let extent = match span {
                _ if issued.bios > 1 => Extent::Bytes { offset: issued.offset, length: issued.bytes },
                Span::Bytes { offset, length } => Extent::Bytes { offset: *offset, length: *length },
                Span::Pages(pages) => Extent::Pages(pages),
            };
            if issued.bios > 1 && self.observers.needs_merged() {
                run.merged.extend(run.block.bios(id).skip(1).map(|(bio, _)| (bio.id.0, id.0)));
            }
            self.device
                .submit(now, &Request { id, flow, op, fua, arrival, extent })
                .map_err(|refusal| RunError::Fault(format!("the device refused request {}: {refusal:?}", id.0)))?;
        }
        Ok(())
    }
}

impl BlockedRun {
    /// The auditor of the block layer hears of what that did.
    fn observe(&mut self) {
        if let Some(audit) = &mut self.audit {
            self.block.events().for_each(|stamped| audit.observe(&stamped));
        }
    }
}

/// Ends the audit of a block layer: an error if it broke a rule.
fn judge(audit: Audit) -> Result<(), RunError> {
    let (kept, total) = audit.finish();
    let lines: String = kept.iter().map(|violation| format!("\n  {violation}")).collect();
    let verdict = || RunError::Fault(format!("audit of the block layer: {total} violations{lines}"));
    if total > 0 { Err(verdict()) } else { Ok(()) }
}

impl Asked {
    /// The completion of bio `id`, this, whose request completed: its own part of that.
    fn completion(&self, id: RequestId, request: &Completion, page_bytes: u64) -> Completion {
        let Span::Bytes { offset, length } = self.span else { return *request };
        let (first, last) = (offset / page_bytes, (offset + length.max(1) - 1) / page_bytes);
        let (lpn, pages) = (Lpn(first as u32), (last + 1 - first) as u32);
        Completion { id, arrival: self.arrival, lpn, pages, bytes: length, ..*request }
    }
}

#[cfg(test)]
mod tests {
    use flashlane_block::{ElevatorConfig, Event, Stamped};

    use super::*;

    #[test]
    fn what_the_auditor_refuses_ends_the_run() {
        let (elevator, slice) = (ElevatorConfig::None, flashlane_core::Duration::from_us(1));
        let config = BlockConfig { elevator, depth: 1, tags: 1, merging: None, slice, flows: Vec::new() };
        assert!(judge(Audit::new(&config)).is_ok());
        let mut audit = Audit::new(&config);
        audit.observe(&Stamped { at: Time::from_ns(7), event: Event::Completed { request: RequestId(3) } });
        let error = judge(audit).expect_err("it was never issued").to_string();
        assert!(error.contains("1 violations") && error.contains("7 ns: request 3 completes"), "{error}");
    }
}
