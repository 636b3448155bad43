//! Slacker's on-line estimate of a transaction's response time (Slacker §5.1, model 1.1.5).
//!
//! Owns how the equations read the board; the arithmetic is in [`formula`]. It decides nothing: the slack bypass, the
//! arrival-bound dynamic allocation and the shadow mode ask it. It uses only what the paper's counters hold (see [`cost`]),
//! and all of that is on the board. Integers only.

pub mod cost;
mod error;
pub mod formula;
pub mod params;
mod residual;

use flashlane_core::decide::Estimate;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, Transaction, TxnId, UnitId};

pub use error::ErrorTerm;
use formula::latency;
pub use formula::{Latency, Options};

use crate::params::Values;

/// The estimator.
#[derive(Clone, Debug)]
pub struct Estimator {
    options: Options,
    /// Whether no option is set. Stored, since it is needed for every transaction.
    fixed: bool,
    error: Option<ErrorTerm>,
}

impl Estimator {
    /// An estimator with these options.
    pub fn new(options: Options, error_term: bool) -> Estimator {
        Estimator { options, fixed: options == Options::default(), error: error_term.then(ErrorTerm::default) }
    }

    /// The estimator with a scheduler's parameters.
    pub(crate) fn of(values: &Values<'_>) -> Estimator {
        Estimator::new(Options::of(values), values.get(params::ERR_TERM.name) == 1)
    }

    /// Whether it needs to be notified how transactions ended.
    pub fn uses_error_term(&self) -> bool {
        self.error.is_some()
    }

    /// The estimate of a waiting user transaction.
    pub fn waiting(&mut self, board: &Board, id: TxnId) -> Estimate {
        self.in_parts(board, id, behind(board, id))
    }

    /// The estimate of a waiting user transaction that has `behind` transactions behind it in its queue.
    pub fn in_parts(&mut self, board: &Board, id: TxnId, behind: u64) -> Estimate {
        let mut estimate = self.before(board, id, behind);
        if let Some(error) = &mut self.error {
            estimate.correction = error.mean(board.now);
        }
        estimate
    }

    /// As [`Estimator::in_parts`], without the error term.
    #[inline(always)]
    pub fn before(&self, board: &Board, id: TxnId, behind: u64) -> Estimate {
        let txn = board.txn(id);
        let own = board.facts.service_of(txn);
        let ahead = u64::from(board.queues[txn.queue.index()].len - 1) - behind;
        if txn.queue == board.unplaced() {
            self.unplaced(board, ahead, own)
        } else {
            self.at(board, txn.unit, txn.op, ahead + higher(board, txn), own)
        }
    }

    /// The estimate of a transaction of `op` and service time `own` at `unit`, behind `ahead` of its kind (eq. 1 to 7).
    #[inline(always)]
    pub fn at(&self, board: &Board, unit: UnitId, op: FlashOp, ahead: u64, own: Duration) -> Estimate {
        // Compiled separately for the usual case, in which no option is set.
        if self.fixed {
            in_parts(board, unit, op, ahead, own, Options::default())
        } else {
            in_parts(board, unit, op, ahead, own, self.options)
        }
    }

    /// A write that is not bound to a unit yet: all units work on what is ahead of it in parallel, and each idle one takes one
    /// at once. (The paper does not say how slack is estimated under dynamic allocation.)
    #[inline(never)]
    fn unplaced(&self, board: &Board, ahead: u64, own: Duration) -> Estimate {
        use flashlane_core::board::Service::Idle;
        let idle = board.units.iter().filter(|unit| unit.service == Idle && unit.user_waiting() == 0).count() as u64;
        let waits_for = (ahead + 1).saturating_sub(idle);
        let queue = waits_for * latency(board).program / board.units.len() as u64;
        Estimate { queue: Duration::from_ns(queue), service: own, ..Estimate::default() }
    }

    /// A user transaction ended at this instant.
    pub fn ended(&mut self, board: &Board, id: TxnId) {
        if let Some(error) = &mut self.error {
            let txn = board.txn(id);
            if txn.estimate > Duration::ZERO {
                // The service is in both times, so their difference is that of the waits.
                error.learn(board.now, (board.now - txn.enqueued).ns(), txn.estimate.ns());
            }
        }
    }
}

/// Equations 1 to 7 with these options.
#[inline(always)]
fn in_parts(board: &Board, unit: UnitId, op: FlashOp, ahead: u64, own: Duration, options: Options) -> Estimate {
    let latency = latency(board);
    let state = &board.units[unit.index()];
    let counters = &state.counters;
    let (queue, ahead) = if op == FlashOp::Read {
        (formula::read_queue(ahead, &latency, counters, options), ahead)
    } else {
        let reads = u64::from(board.waiting(unit, FlashOp::Read));
        (formula::write_queue(reads, ahead, &latency, counters, options), reads + ahead)
    };
    let channel = &board.channels[state.channel.index()];
    let transfer = board.facts.transfer_page.ns();
    Estimate {
        queue: Duration::from_ns(queue),
        gc: Duration::from_ns(formula::collection(ahead, &latency, counters, options)),
        interference: Duration::from_ns(formula::interference(channel.stalled, channel.transfers, transfer)),
        residual: Duration::from_ns(residual::remaining(board, unit, options.physical_residual)),
        service: own,
        correction: 0,
    }
}

/// Time until `unit` is free of what it works on, has paused, or has begun to collect, by typical times, ns.
#[inline]
pub(crate) fn remaining(board: &Board, unit: UnitId) -> u64 {
    residual::remaining(board, unit, false)
}

/// Transactions behind `id` in its queue: those it has just passed and younger siblings, so counting costs what inserting
/// did (D-SLK-04 counts those before it; the queue knows its length).
#[inline(always)]
pub(crate) fn behind(board: &Board, id: TxnId) -> u64 {
    let mut count = 0;
    let mut next = board.txn(id).next;
    while next.is_some() {
        count += 1;
        next = board.txn(next).next;
    }
    count
}

/// Waiting transactions of the same kind in the unit's queues of higher priorities, all served first.
#[inline(always)]
fn higher(board: &Board, txn: &Transaction) -> u64 {
    if txn.priority + 1 == board.facts.priorities { 0 } else { of_higher_priority(board, txn) }
}

#[cold]
fn of_higher_priority(board: &Board, txn: &Transaction) -> u64 {
    let priorities = txn.priority + 1..board.facts.priorities;
    let queue = |priority| board.queues[board.queue_for(txn.unit, txn.op, priority).index()].len;
    priorities.map(|priority| u64::from(queue(priority))).sum()
}

#[cfg(test)]
mod tests;
