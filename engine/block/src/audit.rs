//! The auditor of the block layer: checks from its events alone what must be true below every elevator.
//!
//! It keeps an account of its own and takes nothing from the block layer but its configuration. [`Rule`] lists what it checks.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use flashlane_core::{Op, RequestId, Time};

use crate::config::{Config, Limit};
use crate::event::{Event, Stamped};
use crate::request::Bio;

/// A rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// Of time.
    TimeForward,
    /// Of a bio's way.
    InOrder,
    /// Of limits.
    Limit,
    /// Of merging.
    Merge,
    /// Of what the drive gets.
    Whole,
    /// Of tags.
    Tags,
    /// Of the drive's depth.
    Depth,
    /// Of the end.
    Leftover,
}

impl Rule {
    /// What it says.
    pub const fn statement(self) -> &'static str {
        match self {
            Rule::TimeForward => "Time does not go back.",
            Rule::InOrder => {
                "A bio enters, passes its flow's limits, joins a request or gets a tag, goes to the drive and completes: each once, in this order."
            }
            Rule::Limit => {
                "What has passed a flow's limits in any time is at most what they allow in that time and three slices, and the largest bio."
            }
            Rule::Merge => {
                "Only reads and writes of consecutive bytes without FUA are merged, of one flow and direction, side by side, within the largest request and its segments."
            }
            Rule::Whole => "A request that goes to the drive has the bytes of its bios and no others.",
            Rule::Tags => "There are no more requests than tags.",
            Rule::Depth => "No more requests are in the drive than its depth.",
            Rule::Leftover => "At the end every bio has completed.",
        }
    }
}

/// A violation of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The instant of the event that broke it.
    pub at: Time,
    /// The rule.
    pub rule: Rule,
    /// What was seen.
    pub message: String,
}

/// The most violations that are kept.
const KEPT: usize = 100;
/// How many slices' allowance may pass at one instant: that kept from the slice before, that of the slice that ends, and that of the one that begins.
const SLICES: u128 = 3;
/// Bytes that a trim counts as, and bytes of a segment.
const TRIM_BYTES: u64 = 512;
const SEGMENT_BYTES: u64 = 4_096;
const SECOND: u128 = 1_000_000_000;

/// Where a bio is that is in no request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Entered,
    Passed,
}

/// A request as its events tell.
#[derive(Debug)]
struct Account {
    first: Bio,
    bios: u64,
    begin: u64,
    end: u64,
    segments: u64,
    in_drive: bool,
}

/// A flow in one direction: what has passed and has not been allowed for by time since, in [`SECOND`]ths.
#[derive(Debug)]
struct Lane {
    limit: Limit,
    at: Time,
    requests: u128,
    bytes: u128,
    /// The largest bio so far, bytes: one may go that its slice does not allow for as a whole.
    largest: u64,
}

/// Checks a block layer's events one by one.
#[derive(Debug)]
pub struct Audit {
    config: Config,
    now: Time,
    lanes: Vec<[Lane; 2]>,
    /// Bios in no request yet.
    waiting: BTreeMap<RequestId, (Bio, Place)>,
    requests: BTreeMap<RequestId, Account>,
    in_drive: u32,
    kept: Vec<Violation>,
    total: u64,
}

impl Audit {
    /// An auditor of a block layer of `config`.
    pub fn new(config: &Config) -> Audit {
        let lane = |limit| Lane { limit, at: Time::ZERO, requests: 0, bytes: 0, largest: 0 };
        Audit {
            lanes: config.flows.iter().map(|flow| flow.limits.map(lane)).collect(),
            config: config.clone(),
            now: Time::ZERO,
            waiting: BTreeMap::new(),
            requests: BTreeMap::new(),
            in_drive: 0,
            kept: Vec::new(),
            total: 0,
        }
    }

    /// Takes the next event.
    pub fn observe(&mut self, stamped: &Stamped) {
        let Stamped { at, event } = *stamped;
        if at < self.now {
            self.report(Rule::TimeForward, format!("an event of {at} comes after {}", self.now));
        }
        self.now = self.now.max(at);
        match event {
            Event::Entered(bio) => {
                if self.waiting.insert(bio.id, (bio, Place::Entered)).is_some() {
                    self.report(Rule::InOrder, format!("bio {} enters again", bio.id.0));
                }
            }
            Event::Passed { bio } => self.passed(bio),
            Event::Joined { bio, request } => self.joined(bio, request),
            Event::Tagged { bio } => self.tagged(bio),
            Event::Issued { request, offset, bytes } => self.issued(request, offset, bytes),
            Event::Completed { request } => match self.requests.remove(&request) {
                Some(account) if account.in_drive => self.in_drive -= 1,
                _ => self.report(Rule::InOrder, format!("request {} completes and is not in the drive", request.0)),
            },
        }
    }

    /// Ends the audit: the violations that were kept, and how many there were.
    pub fn finish(mut self) -> (Vec<Violation>, u64) {
        let left = self.waiting.len() as u64 + self.requests.values().map(|account| account.bios).sum::<u64>();
        if left > 0 {
            self.report(Rule::Leftover, format!("{left} bios are left"));
        }
        (self.kept, self.total)
    }

    fn report(&mut self, rule: Rule, message: String) {
        self.total += 1;
        if self.kept.len() < KEPT {
            self.kept.push(Violation { at: self.now, rule, message });
        }
    }

    fn passed(&mut self, id: RequestId) {
        let bio = match self.waiting.get_mut(&id) {
            Some((bio, place @ Place::Entered)) => {
                *place = Place::Passed;
                *bio
            }
            _ => return self.report(Rule::InOrder, format!("bio {} passes limits and has not just entered", id.0)),
        };
        if bio.op == Op::Flush {
            return;
        }
        let lane = &mut self.lanes[bio.flow.index()][bio.direction()];
        let passed = u128::from(self.now.since(lane.at).ns());
        let slices = SLICES * u128::from(self.config.slice.ns());
        lane.at = self.now;
        let bytes = if bio.op == Op::Trim { TRIM_BYTES } else { bio.bytes };
        lane.largest = lane.largest.max(bytes);
        let mut broken = Vec::new();
        let counts = [
            (lane.limit.iops, &mut lane.requests, 1, 1, "requests"),
            (lane.limit.bps, &mut lane.bytes, bytes, lane.largest, "bytes"),
        ];
        for (rate, count, own, largest, what) in counts {
            let Some(rate) = rate.map(u128::from) else { continue };
            *count = count.saturating_sub(rate * passed) + u128::from(own) * SECOND;
            if *count > rate * slices + u128::from(largest) * SECOND {
                broken.push(format!("bio {} of flow {} is beyond {rate} {what} a second", id.0, bio.flow.0));
            }
        }
        broken.into_iter().for_each(|message| self.report(Rule::Limit, message));
    }

    /// The bio that joins a request or gets a tag now.
    fn take(&mut self, id: RequestId) -> Option<Bio> {
        let found = self.waiting.remove(&id).filter(|(_, place)| *place == Place::Passed);
        if found.is_none() {
            self.report(Rule::InOrder, format!("bio {} goes on and has not just passed its limits", id.0));
        }
        found.map(|(bio, _)| bio)
    }

    fn joined(&mut self, id: RequestId, request: RequestId) {
        let Some(bio) = self.take(id) else { return };
        let Some(account) = self.requests.get_mut(&request).filter(|account| !account.in_drive) else {
            return self
                .report(Rule::InOrder, format!("bio {} joins request {}, which does not wait", id.0, request.0));
        };
        let end = bio.offset.saturating_add(bio.bytes);
        let first = &account.first;
        let are_alike = first.plain && bio.plain && (first.flow, first.op) == (bio.flow, bio.op);
        let are_beside = bio.offset == account.end || end == account.begin;
        account.bios += 1;
        account.begin = account.begin.min(bio.offset);
        account.end = account.end.max(end);
        account.segments += bio.bytes.div_ceil(SEGMENT_BYTES);
        let fits = self.config.merging.is_some_and(|limits| {
            account.end - account.begin <= limits.max_bytes && account.segments <= limits.max_segments.into()
        });
        if !(are_alike && are_beside && fits) {
            self.report(Rule::Merge, format!("bio {} joins request {}", id.0, request.0));
        }
    }

    fn tagged(&mut self, id: RequestId) {
        let Some(first) = self.take(id) else { return };
        let account = Account {
            first,
            bios: 1,
            begin: first.offset,
            end: first.offset.saturating_add(first.bytes),
            segments: first.bytes.div_ceil(SEGMENT_BYTES),
            in_drive: false,
        };
        self.requests.insert(id, account);
        if self.requests.len() > self.config.tags as usize {
            self.report(Rule::Tags, format!("{} requests of {} tags", self.requests.len(), self.config.tags));
        }
    }

    fn issued(&mut self, id: RequestId, offset: u64, bytes: u64) {
        let Some(account) = self.requests.get_mut(&id).filter(|account| !account.in_drive) else {
            return self.report(Rule::InOrder, format!("request {} goes to the drive and does not wait", id.0));
        };
        account.in_drive = true;
        let own = (account.begin, account.end - account.begin);
        if own != (offset, bytes) {
            let what = format!("request {} has {bytes} bytes at {offset}, its bios {} at {}", id.0, own.1, own.0);
            self.report(Rule::Whole, what);
        }
        self.in_drive += 1;
        if self.in_drive > self.config.depth {
            self.report(Rule::Depth, format!("{} in a drive of depth {}", self.in_drive, self.config.depth));
        }
    }
}

impl core::fmt::Display for Violation {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}. {}", self.at, self.message, self.rule.statement())
    }
}
