//! One request's history in words: where its transactions waited and for whom, who passed them, what collection they met.
//!
//! Follows a device's events. Owns the accounts of waiting; `words` puts them in words. Promises that the parts of a wait add up to it. Must never know
//! how a run is made.

mod words;

use std::collections::BTreeMap;

use flashlane_core::event::{Event, Stamped};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{FlowId, Geometry, Op, Owner, PlaneId, UnitId};

use crate::in_flight::{Change, Command, InFlight, Transaction};

pub use words::{difference, history};

/// Follows the requests that are to be explained.
pub struct Explainer {
    geometry: Geometry,
    histories: BTreeMap<u64, RequestHistory>,
    flight: InFlight<Waiting, Charged>,
    units: Vec<Unit>,
}

/// What a request went through.
#[derive(Clone, Debug)]
pub struct RequestHistory {
    /// Its number.
    pub request: u64,
    /// Its flow.
    pub flow: FlowId,
    /// Its kind.
    pub op: Op,
    /// A write with force unit access.
    pub fua: bool,
    /// Pages it touches.
    pub pages: u32,
    /// When it was created, ns.
    pub arrival_ns: u64,
    /// When the device got it, ns: later where a block layer held it back.
    pub submitted_ns: u64,
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
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Occupant {
    /// The flow; `None` for garbage collection and folding.
    pub flow: Option<u16>,
    /// The operation: 0 read, 1 program, 2 erase.
    pub op: u8,
    /// It reads or writes a page of the map.
    pub of_map: bool,
    /// It folds a block of the SLC cache.
    pub folds: bool,
}

/// How often, and for how long in all.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Account {
    /// Commands.
    pub count: u32,
    /// Time, ns.
    pub ns: u64,
}

/// What is kept with a transaction that is to be explained.
#[derive(Default)]
struct Waiting {
    moves: u32,
    waits: BTreeMap<Wait, Account>,
    /// Commands that were in service when it came.
    found: Vec<u64>,
}

/// Who a command is charged to.
#[derive(Default)]
struct Charged {
    work: Occupant,
    /// The requests of its members, and the serial number of the oldest.
    requests: Vec<u64>,
    oldest: u64,
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
                fua: false,
                pages: 0,
                arrival_ns: 0,
                submitted_ns: 0,
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
            flight: InFlight::default(),
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
        match self.flight.follow(stamped) {
            Some(Change::Queued(txn)) => self.queued(txn, now),
            Some(Change::Moved(txn, from)) => self.moved(txn, from, now),
            Some(Change::Begun { txn, command, is_first }) => self.begun(txn, command, is_first, now),
            Some(Change::Paused(command)) => self.paused(command, now),
            Some(Change::Resumed(command, _)) => self.resumed(command, now),
            Some(Change::Ended { txn, paused, .. }) => self.ended(txn, paused.ns(), now),
            None => self.request(&stamped.event, now),
        }
    }

    /// Processes an event of a request.
    fn request(&mut self, event: &Event, now: u64) {
        match *event {
            Event::Submitted { request, flow, op, arrival, pages, fua, .. } => {
                if let Some(history) = self.histories.get_mut(&request.0) {
                    (history.flow, history.op, history.pages) = (flow, op, pages);
                    history.fua = fua && op == Op::Write;
                    (history.arrival_ns, history.submitted_ns, history.admitted_ns) = (arrival.ns(), now, now);
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
            Event::Completed { request } => {
                if let Some(history) = self.histories.get_mut(&request.0) {
                    history.done_ns = Some(now);
                }
            }
            _ => {}
        }
    }

    /// Whether the request of a transaction is to be explained.
    fn is_watched(&self, transaction: &Transaction<Waiting>) -> bool {
        transaction.request.is_some_and(|request| self.histories.contains_key(&request.0))
    }

    fn queued(&mut self, serial: u64, now: u64) {
        let Some(transaction) = self.flight.get(serial).filter(|transaction| self.is_watched(transaction)) else {
            return;
        };
        let unit = self.geometry.unit_of(transaction.plane);
        self.charge(unit, now);
        self.waits_at(serial, unit);
    }

    /// A transaction that is to be explained joined the queue of a unit.
    fn waits_at(&mut self, serial: u64, unit: UnitId) {
        let state = &mut self.units[unit.index()];
        self.flight.transaction(serial).own.found.clone_from(&state.stack);
        state.watched.push(serial);
    }

    fn moved(&mut self, serial: u64, from: PlaneId, now: u64) {
        let from = self.geometry.unit_of(from);
        let to = self.geometry.unit_of(self.flight.transaction(serial).plane);
        self.charge(from, now);
        self.charge(to, now);
        if self.flight.get(serial).is_some_and(|transaction| self.is_watched(transaction)) {
            self.flight.transaction(serial).own.moves += 1;
            self.units[from.index()].watched.retain(|watched| *watched != serial);
            self.waits_at(serial, to);
        }
    }

    fn begun(&mut self, serial: u64, number: u64, is_first: bool, now: u64) {
        let Transaction { request, flow, op, owner, plane, .. } = *self.flight.transaction(serial);
        let Some(unit) = self.flight.command(number).map(|command| command.unit) else { return };
        // A write that gets its chip only now has waited elsewhere.
        let waited_at = self.geometry.unit_of(plane);
        self.charge(waited_at, now);
        self.charge(unit, now);
        self.units[waited_at.index()].watched.retain(|watched| *watched != serial);
        let Some(Command { own: command, .. }) = self.flight.command_mut(number) else { return };
        if is_first {
            let (flow, op) = ((!owner.collects()).then_some(flow.0), op.index() as u8);
            command.work = Occupant { flow, op, of_map: owner == Owner::Mapping, folds: owner == Owner::Fold };
            command.oldest = serial;
        }
        command.oldest = command.oldest.min(serial);
        command.requests.extend(request.map(|request| request.0));
        if is_first {
            self.units[unit.index()].stack.push(number);
            self.count(unit, number);
        }
    }

    fn paused(&mut self, number: u64, now: u64) {
        let Some(unit) = self.flight.command(number).map(|command| command.unit) else { return };
        self.charge(unit, now);
        self.units[unit.index()].paused = Some(number);
    }

    fn resumed(&mut self, number: u64, now: u64) {
        let Some(unit) = self.flight.command(number).map(|command| command.unit) else { return };
        if self.units[unit.index()].paused == Some(number) {
            self.charge(unit, now);
            self.units[unit.index()].paused = None;
        }
    }

    /// Counts a command that begins for those that wait.
    fn count(&mut self, unit: UnitId, number: u64) {
        for serial in self.units[unit.index()].watched.clone() {
            let wait = self.wait(serial, Some(number));
            self.flight.transaction(serial).own.waits.entry(wait).or_default().count += 1;
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
            let transaction = self.flight.transaction(serial);
            let account = transaction.own.waits.entry(wait).or_default();
            account.ns += lasted.min(now.saturating_sub(transaction.queued.ns()));
            if matches!(wait, Wait::InService(_)) {
                account.count = account.count.max(1);
            }
        }
    }

    /// What a command is for a transaction that waits.
    fn wait(&self, serial: u64, number: Option<u64>) -> Wait {
        let command = number.and_then(|number| Some((number, &self.flight.command(number)?.own)));
        let Some((number, command)) = command else { return Wait::Idle };
        let Some(transaction) = self.flight.get(serial) else { return Wait::Idle };
        if transaction.request.is_some_and(|request| command.requests.contains(&request.0)) {
            return Wait::Own;
        }
        match (transaction.own.found.contains(&number), command.oldest < serial) {
            (true, _) => Wait::InService(command.work),
            (false, true) => Wait::Older(command.work),
            (false, false) => Wait::Younger(command.work),
        }
    }

    fn ended(&mut self, serial: u64, paused_ns: u64, now: u64) {
        let Transaction { request, plane, begun, .. } = *self.flight.transaction(serial);
        let command = begun.and_then(|begun| Some((begun.command, self.flight.command(begun.command)?)));
        match command.map(|(number, command)| (number, command.unit, command.left)) {
            Some((number, unit, left)) => {
                self.charge(unit, now);
                if left == 0 {
                    self.units[unit.index()].stack.retain(|other| *other != number);
                }
            }
            None => {
                let unit = self.geometry.unit_of(plane);
                self.charge(unit, now);
                self.units[unit.index()].watched.retain(|watched| *watched != serial);
            }
        }
        let Some(history) = request.and_then(|request| self.histories.get_mut(&request.0)) else { return };
        let place = self.geometry.place_of(plane);
        let ended = self.flight.transaction(serial);
        let own = std::mem::take(&mut ended.own);
        history.transactions.push(TransactionHistory {
            op: ended.op,
            lpn: ended.lpn.0,
            place: (place.channel, place.chip, place.die),
            queued_ns: ended.queued.ns(),
            begun_ns: begun.map(|begun| begun.at.ns()),
            ended_ns: now,
            paused_ns,
            slack_ns: ended.estimate.map(|(_, slack)| (slack.ns(), begun.map_or(slack, |begun| begun.slack).ns())),
            moves: own.moves,
            waits: own.waits,
        });
    }
}
