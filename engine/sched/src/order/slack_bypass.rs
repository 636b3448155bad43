//! Bypass by slack: a new transaction goes ahead of waiting ones of its kind that can spare its service time (Slacker
//! §4.1, model 1.1.3), and slack from estimated, or known, response times (§5).
//!
//! Each queue is put in order by itself, one scan from its tail. Slack never becomes negative: a transaction with less slack
//! than the new one costs is not passed. With both bypasses off this is the tail order with slack noted, for pausing or for
//! the log. The scan is plain; for queues so long that it would pass hundreds, [`ledger`] finds the same places faster.

mod ledger;

use alloc::boxed::Box;
use alloc::sync::Arc;

use flashlane_core::decide::{Departure, Estimate, Needs, Order, OrderDeclares, Position};
use flashlane_core::transaction::{FlashOp, tag};
use flashlane_core::{Board, Duration, QueueId, RequestId, Transaction, TxnId};

use self::ledger::Ledger;
use super::KnownResponses;
use crate::entries::{AnswerEntry, Build};
use crate::estimate::{self, Estimator, params};
use crate::params::{Param, Values};

pub(crate) const SLACK_BYPASS: AnswerEntry = AnswerEntry {
    name: "slack-bypass",
    summary: "ahead of transactions with enough slack, by estimated response times",
    source: "Slacker §4.1, §5; model 1.1.3",
    params: PARAMS,
    build: Build::Order(&|v| Box::new(SlackBypass::with_estimates(v))),
};

pub(crate) const SLACK_ORACLE: AnswerEntry = AnswerEntry {
    name: "slack-oracle",
    summary: "slack-bypass with the true response times of the baseline in place of estimates: a control",
    source: "model 1.1.7",
    params: PARAMS,
    build: Build::Order(&|v| Box::new(SlackBypass::with_known_responses(v))),
};

/// Whether reads may pass reads.
pub(crate) const RBYP: Param = Param::switch("rbyp", 1, "reads may bypass reads (Rbyp)");
/// Whether writes may pass writes.
pub(crate) const WBYP: Param = Param::switch("wbyp", 1, "writes may bypass writes (Wbyp)");
/// How long decisions take.
pub(crate) const DECISION_NS: Param = Param {
    name: "decision_ns",
    unit: "ns",
    default: 0,
    min: 0,
    max: 1_000_000_000,
    help: "time to estimate and insert; every command enters the device that much later (SLK-E18)",
};

/// Parameters of [`SlackBypass`].
pub(crate) const PARAMS: &[Param] = &[
    RBYP,
    WBYP,
    Param::switch(
        "charge_reads",
        0,
        "an arriving read takes its service time from the slack of the chip's waiting writes (D-SLK-11)",
    ),
    DECISION_NS,
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
    /// Whether reads may bypass, and writes.
    bypass: [bool; 2],
    charge_reads: bool,
    decision: Duration,
    /// For long queues; none if no transaction bypasses, or if slack also shrinks in other ways.
    ledger: Option<Ledger>,
    /// Response times known beforehand, which are used instead of estimates.
    known: Option<Arc<KnownResponses>>,
}

impl SlackBypass {
    /// With a scheduler's parameters and estimated response times.
    pub(crate) fn with_estimates(values: &Values<'_>) -> SlackBypass {
        let on = |name| values.get(name) == 1;
        let (bypass, charge_reads) = ([on(RBYP.name), on(WBYP.name)], on("charge_reads"));
        SlackBypass {
            estimator: Estimator::of(values),
            bypass,
            charge_reads,
            ledger: (bypass != [false; 2] && !charge_reads).then(|| Ledger::new(ledger::LONG)),
            decision: Duration::from_ns(values.get(DECISION_NS.name)),
            known: None,
        }
    }

    /// With a scheduler's parameters and the response times of an earlier run, if there are any.
    pub(crate) fn with_known_responses(values: &Values<'_>) -> SlackBypass {
        SlackBypass { known: values.known.cloned(), ..SlackBypass::with_estimates(values) }
    }

    /// The furthest place a transaction may take: in front of the transaction returned, [`TxnId::NONE`] for the tail.
    /// `late` if it joins after its siblings: those that join together have no slack yet, so none of them is passed.
    #[inline(always)]
    fn place(board: &Board, newcomer: &Transaction, queue: QueueId, cost: Duration, late: bool) -> TxnId {
        if late || newcomer.blocked_by.is_some() || cost == Duration::ZERO {
            return SlackBypass::place_of_barred(board, newcomer, queue, cost);
        }
        let mut before = TxnId::NONE;
        let mut last = board.queues[queue.index()].tail;
        while last.is_some() {
            let passed = board.txn(last);
            // D-SLK-01: equal slack is enough.
            if passed.slack < cost {
                break;
            }
            before = last;
            last = passed.prev;
        }
        before
    }

    /// As `place`, if a transaction it must not pass may have slack: a sibling, or an older write of its page.
    #[cold]
    fn place_of_barred(board: &Board, newcomer: &Transaction, queue: QueueId, cost: Duration) -> TxnId {
        let mut before = TxnId::NONE;
        let mut last = board.queues[queue.index()].tail;
        while last.is_some() {
            let passed = board.txn(last);
            if passed.slack < cost || siblings(passed, newcomer) || last == newcomer.blocked_by {
                break;
            }
            before = last;
            last = passed.prev;
        }
        before
    }

    /// Transactions behind `id` in its queue.
    #[inline(always)]
    fn behind(&self, board: &Board, id: TxnId) -> u64 {
        let counted = self.ledger.as_ref().and_then(|ledger| ledger.behind(board, id));
        counted.unwrap_or_else(|| estimate::behind(board, id))
    }
}

/// D-SLK-10: transactions of one request do not pass each other.
#[inline(always)]
pub(super) fn siblings(a: &Transaction, b: &Transaction) -> bool {
    a.request == b.request && a.request != u32::MAX
}

impl Order for SlackBypass {
    fn declares(&self) -> OrderDeclares {
        OrderDeclares {
            is_tail: self.bypass == [false; 2] && !self.charge_reads,
            needs: Needs {
                estimates: true,
                departures_from: if self.ledger.is_some() { ledger::LONG } else { u32::MAX },
                ends: self.estimator.uses_error_term(),
                decision: self.decision,
                ..Needs::NOTHING
            },
            ..OrderDeclares::ASK
        }
    }

    fn position(&mut self, board: &Board, id: TxnId, queue: QueueId) -> Position {
        let newcomer = board.txn(id);
        let write = newcomer.op == FlashOp::Program;
        let cost = board.facts.service_of(newcomer);
        let mut position = Position::TAIL;
        let late = self.ledger.as_mut().is_none_or(|ledger| ledger.is_late(newcomer));
        let bypasses = self.bypass[usize::from(write)];
        if bypasses
            && let Some(ledger) = &mut self.ledger
            && ledger.keeps(board, queue)
        {
            position.in_front_of = ledger.insert(board, id, queue, cost, late, |passed| siblings(passed, newcomer));
            position.tag = if position.in_front_of.is_some() { tag::JUMPED } else { 0 };
        } else if bypasses {
            position.in_front_of = SlackBypass::place(board, newcomer, queue, cost, late);
            if position.in_front_of.is_some() {
                position.charge = cost;
                position.tag = tag::JUMPED;
            }
        }
        if self.charge_reads && !write {
            position.charge_programs = cost;
        }
        position
    }

    fn response(&mut self, board: &Board, id: TxnId, request: RequestId) -> Duration {
        if self.known.is_some() {
            return self.estimate(board, id, request).response();
        }
        self.estimator.before(board, id, self.behind(board, id)).response()
    }

    fn estimate(&mut self, board: &Board, id: TxnId, request: RequestId) -> Estimate {
        let known = self.known.as_ref().and_then(|known| known.of(request, board.txn(id).lpn));
        match known {
            Some(response) => Estimate { queue: response, ..Estimate::default() },
            None => self.estimator.in_parts(board, id, self.behind(board, id)),
        }
    }

    fn departs(&mut self, board: &Board, id: TxnId, _: Departure) -> Duration {
        self.ledger.as_mut().map_or(Duration::ZERO, |ledger| ledger.leave(board, id))
    }

    fn ended(&mut self, board: &Board, id: TxnId) {
        self.estimator.ended(board, id);
    }
}

#[cfg(test)]
mod tests;
