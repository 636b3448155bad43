//! Bypass by slack: a newcomer goes ahead of waiting transactions of its kind that can spare its service time (Slacker
//! §4.1, SPEC 1.1.3), and slack from estimated, or known, response times (§5).
//!
//! Each queue is put in order by itself, one scan from its tail. Slack never becomes negative: who has less than the
//! newcomer needs is not passed. With both bypasses off it is the tail order with slack noted, for pausing or for a look.

use alloc::sync::Arc;

use flashlane_core::decide::{Estimate, Order, Position, Wants};
use flashlane_core::transaction::{FlashOp, tag};
use flashlane_core::{Board, Duration, QueueId, RequestId, Transaction, TxnId};

use super::Responses;
use crate::estimate::{Estimator, params};
use crate::params::{Param, Values};

/// Parameters of [`SlackBypass`].
pub(crate) const PARAMS: &[Param] = &[
    Param { name: "rbyp", unit: "0 or 1", default: 1, min: 0, max: 1, help: "reads may bypass reads (Rbyp)" },
    Param { name: "wbyp", unit: "0 or 1", default: 1, min: 0, max: 1, help: "writes may bypass writes (Wbyp)" },
    Param {
        name: "charge_reads",
        unit: "0 or 1",
        default: 0,
        min: 0,
        max: 1,
        help: "an arriving read takes its service time from the slack of the chip's waiting writes (D-SLK-11)",
    },
    Param {
        name: "decision_ns",
        unit: "ns",
        default: 0,
        min: 0,
        max: 1_000_000_000,
        help: "time to estimate and insert; every command enters the device that much later (SLK-E18)",
    },
    params::ADV_LITERAL,
    params::DOUBLE_COUNT,
    params::GC_PER_OP,
    params::RESIDUAL_PHY,
    params::ERR_TERM,
];

/// Insertion by slack.
#[derive(Debug)]
pub struct SlackBypass {
    estimator: Estimator,
    /// Reads may bypass, writes may.
    bypass: [bool; 2],
    charge_reads: bool,
    decision: Duration,
    /// Response times known beforehand, which are then believed instead.
    known: Option<Arc<Responses>>,
}

impl SlackBypass {
    /// As a row's parameters ask for, with estimated response times.
    pub(crate) fn estimating(values: &Values<'_>) -> SlackBypass {
        let on = |name| values.get(name) == 1;
        SlackBypass {
            estimator: Estimator::of(values),
            bypass: [on("rbyp"), on("wbyp")],
            charge_reads: on("charge_reads"),
            decision: Duration::from_ns(values.get("decision_ns")),
            known: None,
        }
    }

    /// The same with the response times of an earlier run, where there is one.
    pub(crate) fn knowing(values: &Values<'_>) -> SlackBypass {
        SlackBypass { known: values.known.cloned(), ..SlackBypass::estimating(values) }
    }

    /// The furthest place a transaction may take: in front of the transaction returned, [`TxnId::NONE`] for the tail.
    fn place(board: &Board, id: TxnId, queue: QueueId, cost: Duration) -> TxnId {
        let newcomer = board.txn(id);
        let mut before = TxnId::NONE;
        let mut last = board.queues[queue.index()].tail;
        while last.is_some() {
            let passed = board.txn(last);
            // D-SLK-01: equality is enough.
            if passed.slack < cost || siblings(passed, newcomer) || last == newcomer.after {
                break;
            }
            before = last;
            last = passed.prev;
        }
        before
    }
}

/// D-SLK-10: transactions of one request do not pass each other.
fn siblings(a: &Transaction, b: &Transaction) -> bool {
    a.request == b.request && a.request != u32::MAX
}

impl Order for SlackBypass {
    fn position(&mut self, board: &Board, id: TxnId, queue: QueueId) -> Position {
        let op = board.txn(id).op;
        let write = op == FlashOp::Program;
        let mut position = Position::TAIL;
        if self.bypass[usize::from(write)] {
            let cost = board.service(id);
            position.before = SlackBypass::place(board, id, queue, cost);
            if position.before.is_some() {
                position.charge = cost;
                position.tag = tag::JUMPED;
            }
        }
        if self.charge_reads && !write {
            position.charge_programs = board.service(id);
        }
        position
    }

    fn is_tail(&self) -> bool {
        self.bypass == [false; 2] && !self.charge_reads
    }

    fn wants(&self) -> Wants {
        Wants { estimates: true, ends: self.estimator.learns(), decision: self.decision }
    }

    fn estimate(&mut self, board: &Board, id: TxnId, request: RequestId) -> Estimate {
        let known = self.known.as_ref().and_then(|known| known.of(request, board.txn(id).lpn));
        match known {
            Some(response) => Estimate { queue: response, ..Estimate::default() },
            None => self.estimator.waiting(board, id),
        }
    }

    fn ended(&mut self, board: &Board, id: TxnId) {
        self.estimator.ended(board, id);
    }
}

#[cfg(test)]
mod tests;
