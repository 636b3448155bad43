//! One flash command: its members, and the phases it goes through.

use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_core::{Geometry, Time};

use super::rule::{Log, Rule};
use super::times::Times;
use super::transactions::Txn;

/// The phase a command is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Members are joining.
    Fresh,
    /// First bus phase, until then.
    LeadIn(Time),
    /// Array phase, with its planned end.
    Array(Time),
    /// Paused since then.
    Paused(Time),
    /// The array phase ended then, and data may be sent.
    Over(Time),
}

/// A member.
#[derive(Clone, Copy, Debug)]
struct Member {
    serial: u64,
    /// Die and plane slot inside the unit; plane of the flash, if reads work on these one by one; block, and page offset inside it.
    die: u32,
    slot: u32,
    plane: u32,
    block: u32,
    offset: u32,
    /// Bus time of its data.
    data: u64,
    /// When a read's data has been sent.
    out: Option<Time>,
}

/// What the configuration allows a command to do.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandRules {
    pub(super) multi_plane: bool,
    pub(super) multi_die: bool,
    pub(super) same_page: [bool; 3],
    /// Pages of a wordline that a program may have of a plane.
    pub(super) wordline: u32,
}

/// A command in service or paused.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) number: u64,
    pub(super) op: FlashOp,
    pub(super) owner: Owner,
    pub(super) dispatched: Time,
    pub(super) phase: Phase,
    members: Vec<Member>,
    /// Planes that they work.
    planes: usize,
    /// Members whose data has left (reads), and members that have not ended.
    sent: usize,
    left: usize,
    /// Bus time of the members' data.
    data: u64,
    /// Shortest and longest legal array time of the slowest member.
    array: (u64, u64),
    /// Total array time, and what was left of it when the array last started or resumed.
    total: u64,
    remaining: u64,
    /// How often it has been paused, and when its array last worked again after that.
    pauses: u32,
    resumed: Time,
    /// Time paused so far: at least (until the resume was reported) and at most (until the array worked again).
    paused: (u64, u64),
}

impl Command {
    pub(super) fn new(number: u64, op: FlashOp, owner: Owner, now: Time) -> Command {
        Command {
            number,
            op,
            owner,
            dispatched: now,
            phase: Phase::Fresh,
            members: Vec::new(),
            planes: 0,
            sent: 0,
            left: 0,
            data: 0,
            array: (0, 0),
            total: 0,
            remaining: 0,
            pauses: 0,
            resumed: Time::ZERO,
            paused: (0, 0),
        }
    }

    pub(super) fn is_paused(&self) -> bool {
        matches!(self.phase, Phase::Paused(_))
    }

    /// Whether the array phase is over.
    pub(super) fn array_over(&self) -> bool {
        matches!(self.phase, Phase::Over(_))
    }

    /// Adds a transaction, and checks that it fits the members already there.
    pub(super) fn join(
        &mut self,
        (serial, txn, ppa, is_slc): (u64, &Txn, u32, bool),
        geometry: &Geometry,
        can: &CommandRules,
        times: &Times,
        log: &mut Log,
    ) {
        let (now, number) = (log.now, self.number);
        let slot = txn.plane.0 as u32 % geometry.planes_per_unit();
        let data = if txn.op == FlashOp::Erase { 0 } else { times.data(txn.bytes) };
        let (block, offset) = (ppa / geometry.pages_per_block, ppa % geometry.pages_per_block);
        let spans = if self.op == FlashOp::Read { geometry.row_planes } else { 1 };
        let plane = offset % geometry.slots * spans / geometry.slots;
        let member =
            Member { serial, die: slot / geometry.planes_per_die, slot, plane, block, offset, data, out: None };
        log.check(self.phase == Phase::Fresh && self.dispatched == now, Rule::CommandClosed, || {
            format!("command {number}, of {}, got a member at {now}.", self.dispatched)
        });
        log.check(self.op == txn.op, Rule::SameOp, || {
            format!("a {} joined command {number}, a {}.", txn.op.name(), self.op.name())
        });
        let same_page = can.same_page[self.op.index()];
        // Several pages of a plane in one array operation are those of a wordline of native cells, in order, or of one row.
        let together = if self.op == FlashOp::Program && !is_slc { can.wordline } else { geometry.slots };
        let continues = |other: &Member| {
            let is_next = match self.op {
                FlashOp::Read => geometry.slots > 1,
                _ => !offset.is_multiple_of(together),
            };
            is_next && (other.slot, other.block, other.offset / together) == (slot, block, offset / together)
        };
        // The first page has been compared with the other planes.
        let is_further = self.members.iter().any(continues);
        self.planes += usize::from(!is_further);
        for other in &self.members {
            let fault = match ((other.slot, other.plane) == (slot, plane), other.die == member.die) {
                _ if continues(other) => None,
                (true, _) => Some(Rule::PlaneOnce),
                (_, true) if !can.multi_plane => Some(Rule::MultiPlane),
                (_, false) if !can.multi_die => Some(Rule::MultiDie),
                (_, true) if same_page && !is_further && other.offset / together != offset / together => {
                    Some(Rule::SamePage)
                }
                _ => None,
            };
            if let Some(rule) = fault {
                log.report(rule, || {
                    let (a, b) = (other.slot, other.offset);
                    format!("command {number} works page offset {b} of plane slot {a} and {} of {slot}.", member.offset)
                });
                break;
            }
        }
        let (low, high) = times.array(self.op, member.offset, is_slc);
        self.array = (self.array.0.max(low), self.array.1.max(high));
        self.data += data;
        self.members.push(member);
        self.left += 1;
    }

    /// The command takes the bus until `until`.
    pub(super) fn takes_bus(&mut self, until: Time, times: &Times, log: &mut Log) {
        let (now, number, op) = (log.now, self.number, self.op.name());
        self.read_array_ends(now);
        let expected = match (self.phase, self.members.get_mut(self.sent)) {
            (Phase::Fresh, _) => {
                self.phase = Phase::LeadIn(until);
                times.lead_in(self.op, self.data)
            }
            (Phase::Over(_), Some(member)) if self.op == FlashOp::Read => {
                self.sent += 1;
                member.out = Some(until);
                times.data_out(self.op, member.data)
            }
            (phase, _) => {
                log.report(Rule::PhaseOrder, || format!("{op} command {number} takes the bus in {phase:?}."));
                return;
            }
        };
        let length = until.since(now).ns();
        log.check(length == expected, Rule::BusLength, || {
            let members = self.members.len();
            format!("{op} command {number} of {members} takes the bus for {length} ns instead of {expected}.")
        });
    }

    /// The stream may leave out the end of a read's array phase: the phase is over when its planned end has passed.
    fn read_array_ends(&mut self, now: Time) {
        if let Phase::Array(until) = self.phase
            && self.op == FlashOp::Read
            && now >= until
        {
            self.phase = Phase::Over(until);
        }
    }

    /// The array phase begins for the first time. `given_back`: when the channel was released, the last two times.
    pub(super) fn starts(&mut self, until: Time, given_back: [Time; 2], times: &Times, log: &mut Log) {
        let (now, number, op) = (log.now, self.number, self.op.name());
        let due = match self.phase {
            Phase::Fresh if times.lead_in(self.op, self.data) == 0 => Some(no_length(self.dispatched, given_back, now)),
            Phase::LeadIn(end) => Some(end),
            _ => None,
        };
        log.check(due == Some(now), Rule::PhaseOrder, || match due {
            Some(due) => format!("{op} command {number} starts its array phase, due at {due}."),
            None => format!("{op} command {number} starts its array phase in {:?}.", self.phase),
        });
        let (length, gap) = (until.since(now).ns(), times.further_planes(self.planes));
        let (low, high) = (self.array.0 + gap, self.array.1 + gap);
        let legal = (low..=high).contains(&length) && times.is_whole_steps(self.op, length - gap, self.array.0);
        log.check(legal, Rule::ArrayLength, || {
            format!("{op} command {number} plans an array phase of {length} ns instead of {low} to {high}.")
        });
        self.total = length;
        self.remaining = length;
        self.phase = Phase::Array(until);
    }

    /// The array phase resumes after a pause; the unit has been free for it since `free`.
    pub(super) fn resumes(&mut self, until: Time, free: Time, times: &Times, log: &mut Log) {
        let Phase::Paused(from) = self.phase else { return };
        let (now, number, resume) = (log.now, self.number, times.resume.ns());
        let planned = until.since(now).ns();
        // The overhead may come before the reported instant or after it; either way the array works again only after it.
        let inside = planned == self.remaining + resume;
        // A unit with nothing more to serve resumes at once.
        let at_once = until.ns() == free.ns() + resume + self.remaining;
        log.check((inside || planned == self.remaining) && at_once, Rule::ResumeTime, || {
            format!(
                "command {number} goes on to {until}: {} ns left, unit free at {free}, resume time {resume}.",
                self.remaining
            )
        });
        let works = until.ns().saturating_sub(self.remaining);
        self.paused.0 += now.since(from).ns();
        self.paused.1 += works.saturating_sub(from.ns());
        self.resumed = Time::from_ns(works);
        self.phase = Phase::Array(until);
    }

    /// The array phase ends.
    pub(super) fn array_ends(&mut self, log: &mut Log) {
        let (now, number) = (log.now, self.number);
        match self.phase {
            Phase::Array(until) => {
                log.check(now == until, Rule::ArrayLength, || {
                    format!("command {number} ends its array phase, planned to end at {until}.")
                });
                self.remaining = 0;
                self.phase = Phase::Over(now);
            }
            phase => log.report(Rule::PhaseOrder, || format!("command {number} ends its array phase in {phase:?}.")),
        }
    }

    /// The array phase is interrupted; with `boundary`, or on a drive that can do so then only, at the end of an iteration.
    pub(super) fn pauses(&mut self, remaining: u64, boundary: bool, times: &Times, log: &mut Log) {
        let (now, number) = (log.now, self.number);
        let Phase::Array(until) = self.phase else {
            log.report(Rule::PhaseOrder, || format!("command {number} is paused in {:?}.", self.phase));
            return;
        };
        // During the resume overhead of an earlier pause no array time is spent.
        let left = until.since(now).ns().min(self.remaining);
        log.check(remaining == left, Rule::PauseRemaining, || {
            format!("command {number} is paused with {remaining} ns reported and {left} ns left.")
        });
        let spent = self.total.saturating_sub(left);
        let iteration = times.iteration[self.op.index()];
        let is_end = spent > 0 && spent.is_multiple_of(iteration);
        log.check(is_end || !(boundary || times.pauses_at_ends), Rule::PauseBoundary, || {
            format!("command {number} is paused after {spent} ns, iterations last {iteration} ns.")
        });
        let worked = now.ns().saturating_sub(self.resumed.ns());
        log.check(self.pauses == 0 || worked >= times.suspend_min, Rule::PauseGap, || {
            format!(
                "command {number} is paused again {worked} ns after {}, at least {} must pass.",
                self.resumed, times.suspend_min
            )
        });
        self.pauses += 1;
        log.check(self.pauses <= times.suspend_limit, Rule::PauseLimit, || {
            format!("command {number} is paused {} times, {} are possible.", self.pauses, times.suspend_limit)
        });
        self.remaining = left;
        self.phase = Phase::Paused(now);
    }

    /// A member ended after its command had been paused for `paused` in all. Returns whether it was the last one.
    /// `given_back`: when the channel was released, the last two times.
    pub(super) fn member_ends(
        &mut self,
        serial: u64,
        paused: u64,
        given_back: [Time; 2],
        times: &Times,
        log: &mut Log,
    ) -> bool {
        let (now, number, op) = (log.now, self.number, self.op);
        self.read_array_ends(now);
        let member = self.members.iter().find(|member| member.serial == serial);
        let due = match (self.phase, member) {
            (Phase::Over(end), Some(member)) if times.data_out(op, member.data) == 0 => {
                Some(no_length(end, given_back, now))
            }
            (_, Some(member)) => member.out,
            (_, None) => None,
        };
        log.check(due == Some(now), Rule::EndTime, || match due {
            Some(due) => format!("transaction {serial} of {} command {number} ends, due at {due}.", op.name()),
            None => format!("transaction {serial} of {} command {number} ends in {:?}.", op.name(), self.phase),
        });
        let (low, high) = self.paused;
        log.check((low..=high.max(low)).contains(&paused), Rule::PausedTime, || {
            format!("command {number} was paused for {low} to {high} ns and reports {paused}.")
        });
        self.member_leaves()
    }

    /// Removes a member. Returns whether it was the last one.
    pub(super) fn member_leaves(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }
}

/// When a bus phase of zero length that could begin at `from` is over: at once or, if the bus was taken, when it was
/// released (transfers may take no time while commands and set-up do).
fn no_length(from: Time, given_back: [Time; 2], now: Time) -> Time {
    if now > from && given_back.contains(&now) { now } else { from }
}
