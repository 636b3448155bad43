//! The block layer: bios enter, pass limits, join a request or get a tag, wait in the elevator, and go to the driver.
//!
//! The elevator gives up its next request as soon as it can, also while the drive has no room: one request has then left it and waits
//! for the driver, and nothing that enters later goes before it or joins it.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Duration, FlowId, Op, RequestId, Time};

use crate::config::{Class, Config};
use crate::elevator::Elevator;
use crate::event::{Event, Stamped};
use crate::limits::Limits;
use crate::merging::{Merger, Neighbour};
use crate::request::{Bio, FlowWaits, Stage};
use crate::requests::{Request, Requests};
use crate::tags::Tags;

/// The block layer before one drive.
#[derive(Debug)]
pub struct Block {
    depth: u32,
    classes: Vec<Class>,
    limits: Limits,
    /// `None` where nothing is merged: then there are no plugs either.
    merger: Option<Merger>,
    tags: Tags,
    elevator: Elevator,
    /// What has entered and not completed.
    open: Requests,
    /// Flushes, which go past the elevator.
    flushes: VecDeque<RequestId>,
    /// The request that has left the elevator and waits for the driver.
    ahead: Option<RequestId>,
    in_drive: u32,
    waits: Vec<FlowWaits>,
    /// What has happened, if somebody wants to know.
    events: Option<Vec<Stamped>>,
}

impl Block {
    /// One that nothing has entered.
    pub fn new(config: &Config) -> Block {
        let flows = config.flows.len();
        Block {
            depth: config.depth,
            classes: config.flows.iter().map(|flow| flow.class).collect(),
            limits: Limits::new(config),
            merger: config.merging.map(|limits| Merger::new(limits, flows)),
            tags: Tags::new(config.tags, &config.flows),
            elevator: Elevator::new(&config.elevator),
            open: Requests::default(),
            flushes: VecDeque::new(),
            ahead: None,
            in_drive: 0,
            waits: vec![FlowWaits::default(); flows],
            events: None,
        }
    }

    /// Keeps its events from now on.
    pub fn report_events(&mut self) {
        self.events.get_or_insert_default();
    }

    /// The events since the last call.
    pub fn events(&mut self) -> impl Iterator<Item = Stamped> {
        self.events.iter_mut().flat_map(|events| events.drain(..))
    }

    /// `bio` enters. What its flow asks at one instant waits in the flow's plug until [`Block::unplug`]; before a flush the caller ends the plug and
    /// issues what that lets go, for a flush goes past the elevator.
    pub fn enter(&mut self, now: Time, bio: Bio) {
        self.open.enter(now, bio);
        self.report(now, Event::Entered(bio));
        if let Some(bio) = self.limits.pass(now, bio) {
            self.past_limits(now, bio);
        }
    }

    /// Ends all plugs.
    pub fn unplug(&mut self, now: Time) {
        while let Some(flow) = self.merger.as_ref().and_then(Merger::first_plugged) {
            self.unplug_flow(now, flow);
        }
    }

    /// The bios of a request that [`Block::issue`] returned, in the order in which they joined it, each with what it waited, by stage.
    pub fn bios(&self, id: RequestId) -> impl Iterator<Item = (&Bio, [Duration; 4])> {
        self.open.bios(id).map(|(bio, way)| (bio, way.waited))
    }

    /// A request that [`Block::issue`] returned has completed, and all its bios with it.
    pub fn completed(&mut self, now: Time, id: RequestId) {
        let Some(request) = self.open.end(id) else { return };
        self.report(now, Event::Completed { request: id });
        self.in_drive -= 1;
        if request.op != Op::Flush {
            self.elevator.completed(now, &request, self.classes[request.flow.index()]);
        }
        self.tags.give_back();
        while let Some(thread) = self.tags.wake() {
            self.go_on(now, thread);
        }
    }

    /// Lets go on what has waited until `now` for limits.
    pub fn advance(&mut self, now: Time) {
        while let Some(bio) = self.limits.next(now) {
            self.past_limits(now, bio);
        }
    }

    /// The next instant at which something may go on by itself.
    pub fn next_event(&self, now: Time) -> Time {
        let ages = if self.in_drive < self.depth && self.ahead.is_none() {
            self.elevator.next_event(now)
        } else {
            Time::NEVER
        };
        self.limits.next_event().min(ages)
    }

    /// The next request for the drive at `now`, if it has room and one may go; to be called until there is none.
    pub fn issue(&mut self, now: Time) -> Option<Request> {
        if self.ahead.is_none() {
            self.ahead = self.flushes.pop_front().or_else(|| self.elevator.next(now));
            if let Some(id) = self.ahead {
                self.open.leave_all(id, Stage::Elevator, now);
                if let (Some(merger), Some(request)) = (&mut self.merger, self.open.request(id)) {
                    merger.removed(request);
                }
            }
        }
        if self.in_drive >= self.depth {
            return None;
        }
        let id = self.ahead.take()?;
        self.in_drive += 1;
        let request = self.open.issue(now, id)?;
        self.report(now, Event::Issued { request: id, offset: request.offset, bytes: request.bytes });
        let waits = &mut self.waits[request.flow.index()];
        self.open.bios(id).for_each(|(_, way)| waits.count(way));
        waits.merged += u64::from(request.bios - 1);
        Some(request)
    }

    /// What the bios of each flow waited for.
    pub fn waits(&self) -> &[FlowWaits] {
        &self.waits
    }

    fn report(&mut self, at: Time, event: Event) {
        if let Some(events) = &mut self.events {
            events.push(Stamped { at, event });
        }
    }

    /// A bio has passed the limits: one of its flow's threads asks for it, or has it behind what it waits with.
    fn past_limits(&mut self, now: Time, bio: Bio) {
        self.open.leave(bio.id, Stage::Limit, now);
        self.report(now, Event::Passed { bio: bio.id });
        let thread = self.tags.thread(bio.flow);
        if self.tags.waits(thread) {
            self.tags.wait(thread, bio.id);
        } else if !self.joins(now, &bio) {
            if self.tags.take() {
                self.tagged(now, &bio);
            } else {
                self.tags.wait(thread, bio.id);
                self.unplug_flow(now, bio.flow);
            }
        }
    }

    /// A thread is woken: it takes a tag for the bio that it waited with, then for those behind it that join no request, until none is free.
    fn go_on(&mut self, now: Time, thread: usize) {
        let mut has_waited = true;
        while let Some(bio) = self.tags.next(thread).and_then(|next| self.open.bio(next)) {
            if has_waited || !self.joins(now, &bio) {
                if !self.tags.take() {
                    self.tags.queue(thread);
                    return self.unplug_flow(now, bio.flow);
                }
                self.tagged(now, &bio);
            }
            self.tags.pass(thread);
            has_waited = false;
        }
    }

    /// Whether a bio joins a request, for which it needs no tag.
    fn joins(&mut self, now: Time, bio: &Bio) -> bool {
        let Some(merger) = &mut self.merger else { return false };
        let Some(Neighbour { id, is_in_elevator }) = merger.neighbour(&self.open, bio) else { return false };
        let before = self.open.request(id).copied();
        self.open.leave(bio.id, Stage::Tag, now);
        if let (Some(before), Some(after), true) = (before, self.open.join(bio, id), is_in_elevator) {
            merger.removed(&before);
            merger.inserted(&after);
            self.elevator.moved(before.offset, &after, self.classes[bio.flow.index()]);
        }
        self.report(now, Event::Joined { bio: bio.id, request: id });
        true
    }

    /// A bio has got a tag: it is a request now.
    fn tagged(&mut self, now: Time, bio: &Bio) {
        self.open.leave(bio.id, Stage::Tag, now);
        let request = self.open.begin(now, bio);
        self.report(now, Event::Tagged { bio: bio.id });
        if bio.op == Op::Flush && self.elevator.orders() {
            self.flushes.push_back(bio.id);
            return;
        }
        match &self.merger {
            None => return self.elevator.insert(now, &request, self.classes[bio.flow.index()]),
            Some(merger) if merger.is_full(&self.open, bio.flow) => self.unplug_flow(now, bio.flow),
            Some(_) => {}
        }
        if let Some(merger) = &mut self.merger {
            merger.plug(&request);
        }
    }

    /// Ends the plug of `flow`: its requests enter the elevator.
    fn unplug_flow(&mut self, now: Time, flow: FlowId) {
        let Some(merger) = &mut self.merger else { return };
        for id in merger.unplug(flow) {
            let Some(&request) = self.open.request(id) else { continue };
            self.elevator.insert(now, &request, self.classes[flow.index()]);
            if self.elevator.orders() {
                merger.inserted(&request);
            }
        }
    }
}

#[cfg(test)]
#[path = "system_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "merging_kernel_tests.rs"]
mod merging_kernel_tests;
