//! `mq-deadline`: classes, reads before writes up to a bound, batches of rising addresses, and expiries.
//!
//! A lower class goes only when no higher one has a request here or in the drive, or after its request has aged. Within a class requests go in
//! batches. A batch has one direction, and its addresses rise. It has reads, unless these went before waiting writes too often. Its first request
//! is the oldest if that has expired, else the next above the address at which the direction's last batch ended, or the oldest if there is none.

use alloc::collections::{BTreeSet, VecDeque};

use flashlane_core::{RequestId, Time};

use crate::config::{Class, Deadline};
use crate::requests::Request;

const CLASSES: [Class; 3] = [Class::RealTime, Class::BestEffort, Class::Idle];
const READS: usize = 0;
const WRITES: usize = 1;

/// The elevator.
#[derive(Debug)]
pub(crate) struct MqDeadline {
    parameters: Deadline,
    /// By class.
    classes: [Queues; 3],
    /// The direction of the last request.
    direction: usize,
    /// Requests of the batch so far.
    batched: u32,
    /// How often reads went while writes waited.
    starved: u32,
}

/// What waits of a class, by direction, and how much of it there is.
#[derive(Debug, Default)]
struct Queues {
    lanes: [Lane; 2],
    /// Requests here and in the drive.
    open: u32,
}

#[derive(Debug, Default)]
struct Lane {
    /// By age, each with its address and when it came.
    oldest: VecDeque<(RequestId, u64, Time)>,
    /// By address; of equals the older.
    sorted: BTreeSet<(u64, RequestId)>,
    /// The address of the last one taken.
    last: u64,
}

impl Lane {
    fn following(&self) -> Option<RequestId> {
        self.sorted.range((self.last, RequestId(0))..).next().map(|&(_, id)| id)
    }

    fn take(&mut self, id: RequestId) {
        let at = self.oldest.iter().position(|waiting| waiting.0 == id).expect("it waits");
        if let Some((_, offset, _)) = self.oldest.remove(at) {
            self.sorted.remove(&(offset, id));
            self.last = offset;
        }
    }
}

impl MqDeadline {
    /// One in which nothing waits.
    pub(crate) fn new(parameters: Deadline) -> MqDeadline {
        MqDeadline {
            parameters,
            classes: Default::default(),
            direction: READS,
            batched: parameters.fifo_batch,
            starved: 0,
        }
    }

    /// A request enters.
    pub(crate) fn insert(&mut self, now: Time, request: &Request, class: Class) {
        let Queues { lanes, open } = &mut self.classes[class as usize];
        *open += 1;
        let lane = &mut lanes[request.direction()];
        lane.oldest.push_back((request.id, request.offset, now));
        lane.sorted.insert((request.offset, request.id));
    }

    /// A request that waits here began at the address `from`; its age stays.
    pub(crate) fn moved(&mut self, from: u64, request: &Request, class: Class) {
        let lane = &mut self.classes[class as usize].lanes[request.direction()];
        if lane.sorted.remove(&(from, request.id)) {
            lane.sorted.insert((request.offset, request.id));
            let waiting = lane.oldest.iter_mut().find(|waiting| waiting.0 == request.id);
            waiting.expect("it waits").1 = request.offset;
        }
    }

    /// A request that was taken has ended.
    pub(crate) fn completed(&mut self, class: Class) {
        self.classes[class as usize].open -= 1;
    }

    /// Takes the request that goes next.
    pub(crate) fn next(&mut self, now: Time) -> Option<RequestId> {
        if self.classes.iter().filter(|class| class.open > 0).count() > 1 {
            for class in [Class::BestEffort, Class::Idle] {
                if self.is_aged(class, now)
                    && let Some(id) = self.next_of(now, class, true)
                {
                    return Some(id);
                }
            }
        }
        for class in CLASSES {
            let id = self.next_of(now, class, false);
            if id.is_some() || self.classes[class as usize].open > 0 {
                return id;
            }
        }
        None
    }

    /// When the oldest request that a higher class holds back has aged.
    pub(crate) fn next_event(&self, now: Time) -> Time {
        let lower = self.classes[1..].iter().flat_map(|class| &class.lanes);
        let ages =
            lower.filter_map(|lane| lane.oldest.front()).map(|oldest| oldest.2 + self.parameters.prio_aging_expire);
        ages.filter(|&at| at > now).min().unwrap_or(Time::NEVER)
    }

    fn is_aged(&self, class: Class, now: Time) -> bool {
        let mut oldest = self.classes[class as usize].lanes.iter().filter_map(|lane| lane.oldest.front());
        oldest.any(|oldest| oldest.2 + self.parameters.prio_aging_expire <= now)
    }

    /// Takes the next request of a class; with `aged` only one that has aged, though a batch begins all the same.
    fn next_of(&mut self, now: Time, class: Class, aged: bool) -> Option<RequestId> {
        let (direction, begins) = self.direction_of(class)?;
        let lanes = &self.classes[class as usize].lanes;
        let writes_wait = !lanes[WRITES].oldest.is_empty();
        let &(oldest, _, came) = lanes[direction].oldest.front()?;
        let expired = begins && self.has_expired(came, direction, now);
        let id = lanes[direction].following().filter(|_| !expired).unwrap_or(oldest);
        let has_aged = |&&(waiting, _, came): &&(RequestId, u64, Time)| {
            waiting == id && came + self.parameters.prio_aging_expire <= now
        };
        let may_go = !aged || lanes[direction].oldest.iter().find(has_aged).is_some();
        if begins {
            self.starved = if direction == WRITES { 0 } else { self.starved + u32::from(writes_wait) };
            (self.direction, self.batched) = (direction, 0);
        }
        if !may_go {
            return None;
        }
        self.batched += 1;
        self.classes[class as usize].lanes[direction].take(id);
        Some(id)
    }

    /// The direction of a class's next request, and whether it begins a batch.
    fn direction_of(&self, class: Class) -> Option<(usize, bool)> {
        let lanes = &self.classes[class as usize].lanes;
        if self.batched < self.parameters.fifo_batch && lanes[self.direction].following().is_some() {
            return Some((self.direction, false));
        }
        let waits = [READS, WRITES].map(|direction| !lanes[direction].oldest.is_empty());
        match waits {
            [true, true] if self.starved >= self.parameters.writes_starved => Some((WRITES, true)),
            [true, _] => Some((READS, true)),
            [false, true] => Some((WRITES, true)),
            [false, false] => None,
        }
    }

    /// Whether a request that came then has expired: instants and expiries in whole jiffies.
    fn has_expired(&self, came: Time, direction: usize, now: Time) -> bool {
        let Deadline { read_expire, write_expire, jiffy, .. } = self.parameters;
        let expiry = if direction == READS { read_expire } else { write_expire };
        let jiffies = |ns: u64| ns / jiffy.ns();
        jiffies(now.ns()) >= jiffies(came.ns()) + jiffies(expiry.ns())
    }
}

#[cfg(test)]
#[path = "deadline_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "kernel_tests.rs"]
mod kernel_tests;
