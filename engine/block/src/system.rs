//! The block layer: requests enter, pass limits, get a tag, wait in the elevator, and go to the driver.
//!
//! The elevator gives up its next request as soon as it can, also while the drive has no room: one request has then left it and waits
//! for the driver, and nothing that enters later goes before it.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Op, RequestId, Sequence, Time};

use crate::config::{Class, Config};
use crate::elevator::Elevator;
use crate::limits::Limits;
use crate::request::{Bio, FlowWaits, Stage, Way};
use crate::tags::Tags;

/// The block layer before one drive.
#[derive(Debug)]
pub struct Block {
    depth: u32,
    classes: Vec<Class>,
    limits: Limits,
    tags: Tags,
    elevator: Elevator,
    /// Requests that have entered and not completed.
    open: Sequence<(Bio, Way)>,
    /// Flushes, which go past the elevator.
    flushes: VecDeque<RequestId>,
    /// The request that has left the elevator and waits for the driver.
    ahead: Option<RequestId>,
    in_drive: u32,
    waits: Vec<FlowWaits>,
}

impl Block {
    /// One that nothing has entered.
    pub fn new(config: &Config) -> Block {
        let flows = config.flows.len();
        Block {
            depth: config.depth,
            classes: config.flows.iter().map(|flow| flow.class).collect(),
            limits: Limits::new(config),
            tags: Tags::new(config.tags, &config.flows),
            elevator: Elevator::new(&config.elevator),
            open: Sequence::default(),
            flushes: VecDeque::new(),
            ahead: None,
            in_drive: 0,
            waits: vec![FlowWaits::default(); flows],
        }
    }

    /// `bio` enters.
    pub fn enter(&mut self, now: Time, bio: Bio) {
        self.open.insert(bio.id.0, (bio, Way::from(now)));
        if let Some(bio) = self.limits.pass(now, bio) {
            self.past_limits(now, bio);
        }
    }

    /// A request that [`Block::issue`] returned has completed.
    pub fn completed(&mut self, now: Time, id: RequestId) {
        let Some((bio, _)) = self.open.remove(id.0) else { return };
        self.in_drive -= 1;
        if bio.op != Op::Flush {
            self.elevator.completed(self.classes[bio.flow.index()]);
        }
        if let Some(next) = self.tags.give_back() {
            self.tagged(now, next);
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
    pub fn issue(&mut self, now: Time) -> Option<RequestId> {
        if self.ahead.is_none() {
            self.ahead = self.flushes.pop_front().or_else(|| self.elevator.next(now));
            if let Some(id) = self.ahead {
                self.leave(id, Stage::Elevator, now);
            }
        }
        if self.in_drive >= self.depth {
            return None;
        }
        let id = self.ahead.take()?;
        self.in_drive += 1;
        self.leave(id, Stage::Driver, now);
        if let Some((bio, way)) = self.open.get_mut(id.0) {
            self.waits[bio.flow.index()].count(way);
        }
        Some(id)
    }

    /// What the requests of each flow waited for.
    pub fn waits(&self) -> &[FlowWaits] {
        &self.waits
    }

    fn past_limits(&mut self, now: Time, bio: Bio) {
        self.leave(bio.id, Stage::Limit, now);
        if self.tags.take(bio.flow, bio.id) {
            self.tagged(now, bio.id);
        }
    }

    fn tagged(&mut self, now: Time, id: RequestId) {
        self.leave(id, Stage::Tag, now);
        let Some(&mut (bio, _)) = self.open.get_mut(id.0) else { return };
        if bio.op == Op::Flush && self.elevator.orders() {
            self.flushes.push_back(id);
        } else {
            self.elevator.insert(now, &bio, self.classes[bio.flow.index()]);
        }
    }

    fn leave(&mut self, id: RequestId, stage: Stage, now: Time) {
        if let Some((_, way)) = self.open.get_mut(id.0) {
            way.leave(stage, now);
        }
    }
}

#[cfg(test)]
#[path = "system_tests.rs"]
mod tests;
