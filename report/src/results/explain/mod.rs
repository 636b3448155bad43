//! One request's history in words: where its transactions waited and for whom, who passed them, what collection they met.
//!
//! Follows a device's events. Owns the accounts of waiting; `words` puts them in words. Promises that the parts of a wait add up to it. Must never know
//! how a run is made.

mod words;

use std::collections::BTreeMap;

use flashlane_core::event::{Event, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{FlowId, Geometry, Op, Owner, PlaneId, UnitId};
use rustc_hash::FxHashMap;

pub use words::{difference, history};

/// Follows the requests that are to be explained.
pub struct Explainer {
    geometry: Geometry,
    histories: BTreeMap<u64, RequestHistory>,
    transactions: FxHashMap<u64, Transaction>,
    commands: FxHashMap<u64, Command>,
    units: Vec<Unit>,
}

/// What a request went through.
#[derive(Clone, Debug)]
pub struct RequestHistory {
    /// Its number.
    pub request: u64,
    /// Its flow.
    pub flow: FlowId,
    /// Read or write.
    pub op: Op,
    /// Pages it touches.
    pub pages: u32,
    /// When it was created, ns.
    pub arrival_ns: u64,
    /// When it entered the device, ns.
    pub admitted_ns: u64,
    /// When it was done, ns; `None` if it was not.
    pub done_ns: Option<u64>,
    /// Pages that memory served.
    pub from_memory: u32,
    /// Its transactions, in order of their ends.
    pub transactions: Vec<TransactionHistory>,
}

/// What a transaction went through.
#[derive(Clone, Debug)]
pub struct TransactionHistory {
    /// What it does.
    pub op: FlashOp,
    /// Its page.
    pub lpn: u32,
    /// Channel, chip and die.
    pub place: (u32, u32, u32),
    /// When it joined its queue, began and ended, ns.
    pub queued_ns: u64,
    /// `None` if it never reached the flash.
    pub begun_ns: Option<u64>,
    /// When it ended, ns.
    pub ended_ns: u64,
    /// Time its command stood paused, ns.
    pub paused_ns: u64,
    /// Its slack when it joined its queue, where the scheduler estimates any, and when it began, ns.
    pub slack_ns: Option<(u64, u64)>,
    /// Times it moved to another unit.
    pub moves: u32,
    /// What its unit did while it waited.
    pub waits: BTreeMap<Wait, Account>,
}

/// What a unit did while a transaction waited for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wait {
    /// The command that was in service when the transaction came.
    InService(Occupant),
    /// Commands of transactions that had come before it.
    Older(Occupant),
    /// Commands of transactions that came after it.
    Younger(Occupant),
    /// Commands of its own request.
    Own,
    /// Nothing: the unit chose to stay, or waited for its bus.
    Idle,
}

/// Whose command, and what it does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Occupant {
    /// The flow; `None` for garbage collection.
    pub flow: Option<u16>,
    /// The operation: 0 read, 1 program, 2 erase.
    pub op: u8,
}

/// How often, and for how long in all.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Account {
    /// Commands.
    pub count: u32,
    /// Time, ns.
    pub ns: u64,
}

struct Transaction {
    request: Option<u64>,
    work: Occupant,
    plane: PlaneId,
    queued: u64,
    step: Option<TransactionHistory>,
    command: Option<u64>,
    /// Commands that were in service when it came.
    found: Vec<u64>,
}

struct Command {
    unit: UnitId,
    work: Occupant,
    /// The requests of its members, and the serial number of the oldest.
    requests: Vec<u64>,
    oldest: u64,
    left: u32,
}

#[derive(Default)]
struct Unit {
    /// Commands in service, a paused one below the one that is served in its pause.
    stack: Vec<u64>,
    paused: Option<u64>,
    since: u64,
    /// Transactions of requests to be explained that wait here.
    watched: Vec<u64>,
}

impl Explainer {
    /// Follows `requests` on a device of this shape.
    pub fn new(geometry: Geometry, requests: &[u64]) -> Explainer {
        let history = |&request: &u64| {
            let history = RequestHistory {
                request,
                flow: FlowId(0),
                op: Op::Read,
                pages: 0,
                arrival_ns: 0,
                admitted_ns: 0,
                done_ns: None,
                from_memory: 0,
                transactions: Vec::new(),
            };
            (request, history)
        };
        Explainer {
            geometry,
            histories: requests.iter().map(history).collect(),
            transactions: FxHashMap::default(),
            commands: FxHashMap::default(),
            units: (0..geometry.units()).map(|_| Unit::default()).collect(),
        }
    }

    /// The explained requests that completed, in the order of their numbers.
    pub fn finish(self) -> Vec<RequestHistory> {
        self.histories.into_values().filter(|history| history.done_ns.is_some()).collect()
    }

    /// Processes an event.
    pub fn observe(&mut self, stamped: &Stamped) {
        let now = stamped.at.ns();
        match stamped.event {
            Event::Submitted { request, flow, op, arrival, pages, .. } => {
                if let Some(history) = self.histories.get_mut(&request.0) {
                    (history.flow, history.op, history.pages) = (flow, op, pages);
                    (history.arrival_ns, history.admitted_ns) = (arrival.ns(), arrival.ns());
                }
            }
            Event::Admitted { request } => {
                if let Some(history) = self.histories.get_mut(&request.0) {
                    history.admitted_ns = now;
                }
            }
            Event::PageFromMemory { request, .. } => {
                if let Some(history) = self.histories.get_mut(&request.0) {
                    history.from_memory += 1;
                }
            }
            Event::Queued { txn, request, flow, owner, op, lpn, plane, .. } => {
                let work = Occupant { flow: (owner != Owner::Gc).then_some(flow.0), op: op.index() as u8 };
                self.queued(txn, (request.map(|request| request.0), work), (op, lpn.0), plane, now);
            }
            Event::Estimated { txn, slack, .. } => {
                if let Some(step) = self.transactions.get_mut(&txn).and_then(|txn| txn.step.as_mut()) {
                    step.slack_ns = Some((slack.ns(), slack.ns()));
                }
            }
            Event::Moved { txn, plane } => self.moved(txn, plane, now),
            Event::Dispatched { txn, command, unit, slack, .. } => {
                self.dispatched(txn, (command, unit), slack.ns(), now)
            }
            Event::Paused { command, unit, .. } => {
                self.charge(unit, now);
                self.units[unit.index()].paused = Some(command);
            }
            Event::ArrayStarted { command, unit, .. } if self.units[unit.index()].paused == Some(command) => {
                self.charge(unit, now);
                self.units[unit.index()].paused = None;
            }
            Event::Ended { txn, paused, .. } => self.ended(txn, paused.ns(), now),
            Event::Completed { request } => {
                if let Some(history) = self.histories.get_mut(&request.0) {
                    history.done_ns = Some(now);
                }
            }
            Event::PageInSeries { .. }
            | Event::Evicted { .. }
            | Event::BusTaken { .. }
            | Event::ArrayStarted { .. }
            | Event::ArrayEnded { .. }
            | Event::VictimChosen { .. }
            | Event::Mapped { .. }
            | Event::Erased { .. } => {}
        }
    }

    fn queued(
        &mut self,
        serial: u64,
        (request, work): (Option<u64>, Occupant),
        (op, lpn): (FlashOp, u32),
        plane: PlaneId,
        now: u64,
    ) {
        let unit = self.geometry.unit_of(plane);
        let watched = request.is_some_and(|request| self.histories.contains_key(&request));
        let place = self.geometry.place_of(plane);
        let step = watched.then(|| TransactionHistory {
            op,
            lpn,
            place: (place.channel, place.chip, place.die),
            queued_ns: now,
            begun_ns: None,
            ended_ns: now,
            paused_ns: 0,
            slack_ns: None,
            moves: 0,
            waits: BTreeMap::new(),
        });
        let mut found = Vec::new();
        if watched {
            self.charge(unit, now);
            found.clone_from(&self.units[unit.index()].stack);
            self.units[unit.index()].watched.push(serial);
        }
        self.transactions.insert(serial, Transaction { request, work, plane, queued: now, step, command: None, found });
    }

    fn moved(&mut self, serial: u64, plane: PlaneId, now: u64) {
        let to = self.geometry.unit_of(plane);
        let place = self.geometry.place_of(plane);
        let Some(from) = self.transactions.get(&serial).map(|txn| self.geometry.unit_of(txn.plane)) else { return };
        self.charge(from, now);
        self.charge(to, now);
        let Some(transaction) = self.transactions.get_mut(&serial) else { return };
        transaction.plane = plane;
        if let Some(step) = &mut transaction.step {
            step.moves += 1;
            step.place = (place.channel, place.chip, place.die);
            transaction.found.clone_from(&self.units[to.index()].stack);
            self.units[from.index()].watched.retain(|watched| *watched != serial);
            self.units[to.index()].watched.push(serial);
        }
    }

    fn dispatched(&mut self, serial: u64, (number, unit): (u64, UnitId), slack: u64, now: u64) {
        // A write that gets its chip only now has waited elsewhere.
        let Some(waited_at) = self.transactions.get(&serial).map(|txn| self.geometry.unit_of(txn.plane)) else {
            return;
        };
        self.charge(waited_at, now);
        self.charge(unit, now);
        self.units[waited_at.index()].watched.retain(|watched| *watched != serial);
        let Some(transaction) = self.transactions.get_mut(&serial) else { return };
        transaction.command = Some(number);
        if let Some(step) = &mut transaction.step {
            step.begun_ns = Some(now);
            step.slack_ns = step.slack_ns.map(|(joined, _)| (joined, slack));
        }
        let (request, work) = (transaction.request, transaction.work);
        let is_new = !self.commands.contains_key(&number);
        let new = Command { unit, work, requests: Vec::new(), oldest: serial, left: 0 };
        let command = self.commands.entry(number).or_insert(new);
        command.left += 1;
        command.oldest = command.oldest.min(serial);
        command.requests.extend(request);
        if is_new {
            self.units[unit.index()].stack.push(number);
            self.count(unit, number);
        }
    }

    /// Counts a command that begins for those that wait.
    fn count(&mut self, unit: UnitId, number: u64) {
        for serial in self.units[unit.index()].watched.clone() {
            let wait = self.wait(serial, Some(number));
            if let Some(step) = self.transactions.get_mut(&serial).and_then(|txn| txn.step.as_mut()) {
                step.waits.entry(wait).or_default().count += 1;
            }
        }
    }

    /// Charges the time since the unit's last change to what it did, for those that wait.
    fn charge(&mut self, unit: UnitId, now: u64) {
        let state = &mut self.units[unit.index()];
        let lasted = now - std::mem::replace(&mut state.since, now);
        if lasted == 0 {
            return;
        }
        let top = state.stack.last().copied().filter(|top| state.paused != Some(*top));
        for serial in state.watched.clone() {
            let wait = self.wait(serial, top);
            if let Some(transaction) = self.transactions.get_mut(&serial)
                && let Some(step) = &mut transaction.step
            {
                let account = step.waits.entry(wait).or_default();
                account.ns += lasted.min(now.saturating_sub(transaction.queued));
                if matches!(wait, Wait::InService(_)) {
                    account.count = account.count.max(1);
                }
            }
        }
    }

    /// What a command is for a transaction that waits.
    fn wait(&self, serial: u64, number: Option<u64>) -> Wait {
        let Some(command) = number.and_then(|number| self.commands.get(&number)) else { return Wait::Idle };
        let Some(transaction) = self.transactions.get(&serial) else { return Wait::Idle };
        if transaction.request.is_some_and(|request| command.requests.contains(&request)) {
            return Wait::Own;
        }
        match (number.is_some_and(|number| transaction.found.contains(&number)), command.oldest < serial) {
            (true, _) => Wait::InService(command.work),
            (false, true) => Wait::Older(command.work),
            (false, false) => Wait::Younger(command.work),
        }
    }

    fn ended(&mut self, serial: u64, paused: u64, now: u64) {
        let Some(mut transaction) = self.transactions.remove(&serial) else { return };
        let unit = match transaction.command.and_then(|number| self.commands.get(&number)) {
            Some(command) => command.unit,
            None => self.geometry.unit_of(transaction.plane),
        };
        self.charge(unit, now);
        if let Some(number) = transaction.command
            && let Some(command) = self.commands.get_mut(&number)
        {
            command.left -= 1;
            if command.left == 0 {
                self.commands.remove(&number);
                self.units[unit.index()].stack.retain(|other| *other != number);
            }
        } else {
            self.units[unit.index()].watched.retain(|watched| *watched != serial);
        }
        if let Some(mut step) = transaction.step.take()
            && let Some(history) = transaction.request.and_then(|request| self.histories.get_mut(&request))
        {
            (step.ended_ns, step.paused_ns) = (now, paused);
            history.transactions.push(step);
        }
    }
}
