//! FLIN's first stage: a transaction stands where waiting is shared out most fairly (FLIN §4.1, algorithm 1).
//!
//! Owns the classes of intensity, the slowdowns of each flow's departed transactions, and a copy of every queue. Promises
//! that transactions of low intensity stand before those of high intensity, and that no transaction passes a barrier.
//! A transaction chosen for a slot (§4.3) stays in its queue until it is dispatched, and counts there.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::decide::{Departure, Needs, Order, OrderDeclares, Position};
use flashlane_core::transaction::{FlashOp, tag};
use flashlane_core::{Board, Duration, FlowId, QueueId, Time, TxnId};

use crate::entries::{AnswerEntry, Build};
use crate::flin;
use crate::flin::intensity::{Intensity, Rule};
use crate::flin::region::{Entry, Space, View};
use crate::flin::slowdown::{Mean, Slowdown, isolated_ns};
use crate::flin::stage1_queue::Stage1Queue;

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "fair",
    summary: "low intensity before high, then where slowdowns are most equal",
    source: "FLIN §4.1, §5.1-5.3; model 2.1.5",
    params: flin::ORDER_PARAMS,
    build: Build::Order(&|v| Box::new(Fair::new(flin::order_settings(v)))),
};

/// Thousandths of another average slowdown below which a flow's own is less however both are rounded, and less than the largest that is found.
const CLEARLY: u64 = 999;

/// How the first stage works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) intensity: Rule,
    /// Fairness below which the worst-off flow's transactions go to the front, thousandths.
    pub(crate) threshold: u64,
    /// Whether such a transaction may then not be passed (D-FLN-08).
    pub(crate) barrier: bool,
    /// Whether a flow's last transaction counts for the alone time after it has left (D-FLN-06).
    pub(crate) count_departed: bool,
    /// Whether average slowdowns are halved in weight after every epoch (D-FLN-09).
    pub(crate) halve: bool,
}

/// What is kept of a flow in a queue.
#[derive(Clone, Copy, Default, Debug)]
struct FlowRecord {
    /// Its transactions waiting in this queue.
    waiting: u32,
    /// Average slowdown of those that were dispatched from here.
    departed: Mean,
    /// The epoch up to which that average's weight has been halved.
    halved: u64,
    /// Its newest waiting transaction, and when that would be done if the flow ran alone.
    newest: TxnId,
    done: Time,
}

/// Fairness-aware insertion.
#[derive(Debug)]
pub struct Fair {
    settings: Settings,
    intensity: Intensity,
    /// By queue.
    queues: Vec<Stage1Queue>,
    /// By queue and flow.
    records: Vec<FlowRecord>,
    flows: usize,
    space: Space,
}

impl Fair {
    pub(crate) fn new(settings: Settings) -> Fair {
        let intensity = Intensity::new(settings.intensity);
        Fair { settings, intensity, queues: Vec::new(), records: Vec::new(), flows: 0, space: Space::default() }
    }

    fn record(&mut self, queue: QueueId, flow: FlowId) -> &mut FlowRecord {
        &mut self.records[queue.index() * self.flows + flow.index()]
    }

    /// How long a new transaction of the flow would wait in this queue if the flow ran alone: until its newest one would be done
    /// (eq. 4).
    fn isolated_wait(&mut self, queue: QueueId, flow: FlowId, now: Time) -> Duration {
        let counts = self.settings.count_departed;
        let record = self.record(queue, flow);
        if record.waiting > 0 || counts { record.done.since(now) } else { Duration::ZERO }
    }

    /// Whether `flow` has the worst slowdown of the flows of high intensity that have had transactions served from `queue`, and
    /// fairness among them is below the threshold (lines 18-19).
    fn is_worst(&mut self, board: &Board, txn: TxnId, queue: QueueId, epoch: u64) -> bool {
        let (flow, unit, op) = (board.txn(txn).flow, board.txn(txn).unit, board.txn(txn).op);
        let direction = usize::from(op == FlashOp::Program);
        let halve = self.settings.halve;
        let row = &mut self.records[queue.index() * self.flows..][..self.flows];
        let own_record = &mut row[flow.index()];
        if halve {
            own_record.age(epoch);
        }
        let own = own_record.departed;
        if own.is_none() || !self.intensity.is_high(flow, unit, direction) {
            return false;
        }
        let mut means = 0;
        let (mut least, mut most) = (Mean::default(), Mean::default());
        for (f, record) in row.iter_mut().enumerate() {
            let other = FlowId(f as u16);
            if record.departed.is_none() || !self.intensity.is_high(other, unit, direction) {
                continue;
            }
            if halve {
                record.age(epoch);
            }
            let mean = record.departed;
            if mean.is_none() {
                continue;
            }
            // One that is worse beyond all rounding is enough, and with many flows soon found.
            if own.is_below(mean, CLEARLY) {
                return false;
            }
            if means == 0 || mean.is_below(least, 1000) {
                least = mean;
            }
            if means == 0 || most.is_below(mean, 1000) {
                most = mean;
            }
            means += 1;
        }
        means > 1 && least.is_below(most, self.settings.threshold) && !own.is_below(most, 1000)
    }
}

impl FlowRecord {
    /// Halves the weight of what was counted for every epoch that has ended since (D-FLN-09).
    fn age(&mut self, epoch: u64) {
        self.departed.halve(epoch - self.halved);
        self.halved = epoch;
    }
}

impl Order for Fair {
    fn declares(&self) -> OrderDeclares {
        OrderDeclares {
            needs: Needs { departures_from: 0, arrivals_from_units: true, ..Needs::NOTHING },
            ..OrderDeclares::ASK
        }
    }

    fn prepare(&mut self, board: &Board) {
        self.intensity.prepare(board);
        self.flows = board.flows.len();
        // The last queue of the board belongs to no unit.
        let kinds = (board.queues.len() - 1) / board.units.len();
        let users = 2 * board.facts.priorities as usize;
        // The first queues of a unit are those of user transactions.
        let stage1 = |queue| if queue % kinds < users { Stage1Queue::new() } else { Stage1Queue::default() };
        self.queues = (0..board.queues.len()).map(stage1).collect();
        self.records = vec![FlowRecord::default(); board.queues.len() * self.flows];
    }

    fn position(&mut self, board: &Board, txn: TxnId, queue: QueueId) -> Position {
        let (now, new) = (board.now, board.txn(txn));
        let direction = usize::from(new.op == FlashOp::Program);
        let epoch = self.intensity.roll(now);
        let high = self.intensity.count(now, new.flow, new.unit, direction);
        let service = board.service(txn);
        let isolated = service + self.isolated_wait(queue, new.flow, now);
        let record = self.record(queue, new.flow);
        record.waiting += 1;
        record.newest = txn;
        record.done = now + isolated;
        let mut entry = Entry {
            enqueued: new.enqueued.ns(),
            service: service.ns(),
            isolated: isolated_ns(isolated),
            txn,
            flow: new.flow,
            barrier: false,
        };
        let busy = board.busy_for(new.unit).ns();
        let worst = high && self.is_worst(board, txn, queue, epoch);
        let stage1 = &mut self.queues[queue.index()];
        let before = if !high {
            // Steps 1 and 2a: behind the others of low intensity, then where it is fairest among them.
            let place = stage1.low.fairest_place(View { now, ahead: busy }, &entry, &mut self.space);
            stage1.insert_low(place, entry)
        } else if worst {
            let place = if self.settings.barrier { stage1.front_of_open(new.flow) } else { 0 };
            entry.barrier = self.settings.barrier && place < stage1.open.len();
            stage1.insert_open(place, entry)
        } else {
            let view = View { now, ahead: busy + stage1.service_before_open() };
            let place = stage1.open.fairest_place(view, &entry, &mut self.space);
            stage1.insert_open(place, entry)
        };
        let bit_if = |bit: u8, holds: bool| if holds { bit } else { 0 };
        let tag = bit_if(tag::HIGH, high) | bit_if(tag::BARRIER, entry.barrier) | bit_if(tag::JUMPED, before.is_some());
        Position { in_front_of: before, tag, isolated_latency: isolated, ..Position::TAIL }
    }

    fn departs(&mut self, board: &Board, txn: TxnId, departure: Departure) -> Duration {
        let gone = board.txn(txn);
        let stage1 = &mut self.queues[gone.queue.index()];
        stage1.remove(txn, gone.tag & tag::HIGH != 0);
        let record = &mut self.records[gone.queue.index() * self.flows + gone.flow.index()];
        record.waiting -= 1;
        if record.newest == txn && record.waiting > 0 && !self.settings.count_departed {
            // It had been inserted before an older one of its flow, which is now the newest.
            let own = stage1.iter().filter(|entry| entry.flow == gone.flow);
            let newest = own.max_by_key(|entry| board.txn(entry.txn).serial).expect("some wait").txn;
            record.newest = newest;
            record.done = board.txn(newest).enqueued + board.txn(newest).isolated_latency;
        }
        if departure == Departure::Dispatched {
            let shared = (board.now - gone.enqueued) + board.service(txn);
            if self.settings.halve {
                let epoch = self.intensity.roll(board.now);
                record.age(epoch);
            }
            record.departed.add(Slowdown::new(shared.ns(), isolated_ns(gone.isolated_latency)));
        }
        Duration::ZERO
    }
}

#[cfg(test)]
#[path = "fair_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "fair_model.rs"]
mod model;
