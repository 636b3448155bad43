//! Bypass by need: as [`super::SlackBypass`], but a transaction passes others only as far as that makes its request end earlier
//! (model 1.1.9; an answer of ours, which departs from Slacker §4.1).
//!
//! The transactions of a request first stand at the tails of their queues. Then those that end last by the estimate move forward,
//! the slowest first, past what can spare their service time. No transaction moves further than to where the slowest of its siblings will
//! end, since the request would gain nothing: the slack that this saves is left for others. As with Slacker a transaction that is passed
//! loses the service time of the newcomer from its slack, which never becomes negative, so no transaction ends later than estimated. Must never know
//! how positions become a queue.

use alloc::boxed::Box;
use alloc::vec::Vec;

use flashlane_core::decide::{Estimate, Needs, Order, OrderDeclares, Position, Promotion};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Board, Duration, QueueId, RequestId, TxnId};

use super::slack_bypass::{DECISION_NS, RBYP, WBYP, siblings};
use crate::entries::{AnswerEntry, Build};
use crate::estimate::{self, Estimator, params};
use crate::params::{Param, Values};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "need-bypass",
    summary: "ahead of transactions with enough slack, but only as far as the request ends earlier by it",
    source: "ours, after Slacker §4.1, §5; model 1.1.9",
    params: PARAMS,
    build: Build::Order(&|v| Box::new(Need::of(v))),
};

/// Parameters of [`Need`].
pub(crate) const PARAMS: &[Param] = &[
    RBYP,
    WBYP,
    DECISION_NS,
    params::ADV_LITERAL,
    params::DOUBLE_COUNT,
    params::GC_PER_OP,
    params::RESIDUAL_PHY,
    params::ERR_TERM,
];

/// Insertion by slack, as far as a request needs it.
#[derive(Debug)]
pub struct Need {
    estimator: Estimator,
    /// Whether reads may pass reads, and writes writes.
    bypass: [bool; 2],
    decision: Duration,
    /// The parts of the request being placed. Kept for its memory.
    parts: Vec<Part>,
}

/// The part of a request that stands at the tail of one queue: its transactions move together, since the request waits for the last of
/// them.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: TxnId,
    last: TxnId,
    /// Service time of all of them: what each transaction they pass is charged.
    cost: Duration,
    /// Whether one of them must not pass an older write of its page.
    hazard: bool,
    /// The transaction they will stand in front of; [`TxnId::NONE`] while they stay.
    before: TxnId,
    /// How many they pass.
    passed: u64,
    /// Estimated response time of the last of them at that place.
    response: Duration,
}

impl Need {
    /// With a scheduler's parameters.
    pub(crate) fn of(values: &Values<'_>) -> Need {
        let on = |name| values.get(name) == 1;
        Need {
            estimator: Estimator::of(values),
            bypass: [on(RBYP.name), on(WBYP.name)],
            decision: Duration::from_ns(values.get(DECISION_NS.name)),
            parts: Vec::new(),
        }
    }

    /// Fills `parts` with what may move, and returns the longest estimate of what may not.
    fn divide(&mut self, board: &Board, created: &[TxnId]) -> Duration {
        self.parts.clear();
        let mut longest = Duration::ZERO;
        for &id in created {
            let txn = board.txn(id);
            if txn.stage != Stage::Waiting {
                continue;
            }
            if txn.next.is_some() && siblings(board.txn(txn.next), txn) {
                // The one behind it ends later.
                continue;
            }
            let may_move = self.bypass[usize::from(txn.op == FlashOp::Program)] && txn.queue != board.unplaced();
            if may_move && board.queues[txn.queue.index()].tail == id {
                self.parts.push(self.part_of(board, id));
            } else {
                let behind = estimate::behind(board, id);
                longest = longest.max(self.estimator.before(board, id, behind).response());
            }
        }
        longest
    }

    /// The siblings at the tail of a queue, of whom `last` is the last.
    fn part_of(&self, board: &Board, last: TxnId) -> Part {
        let response = self.estimator.before(board, last, 0).response();
        let (mut first, mut cost, mut hazard) = (last, Duration::ZERO, false);
        loop {
            let txn = board.txn(first);
            cost += board.facts.service_of(txn);
            hazard |= txn.blocked_by.is_some();
            if txn.prev.is_none() || !siblings(board.txn(txn.prev), txn) {
                return Part { first, last, cost, hazard, before: TxnId::NONE, passed: 0, response };
            }
            first = txn.prev;
        }
    }

    /// Moves a part forward until it ends no later than `target`, as far as it may.
    fn advance(&self, board: &Board, part: &mut Part, target: Duration) {
        let wanted = self.places_to(board, part, target);
        let mut next = board.txn(part.first).prev;
        while part.passed < wanted {
            let passed = board.txn(next);
            // D-SLK-01: equal slack is enough. D-SLK-10: siblings do not pass each other.
            if passed.slack < part.cost || siblings(passed, board.txn(part.last)) || part.must_follow(board, next) {
                break;
            }
            (part.before, part.passed, next) = (next, part.passed + 1, passed.prev);
        }
        part.response = self.response_after(board, part, part.passed);
    }

    /// Takes a part back to the last place at which it ends no later than `target`, which it does where it is.
    fn fall_back(&self, board: &Board, part: &mut Part, target: Duration) {
        let enough = self.places_to(board, part, target);
        while part.passed > enough {
            part.before = board.txn(part.before).next;
            part.passed -= 1;
        }
        part.response = self.response_after(board, part, enough);
    }

    /// The fewest that a part must pass to end no later than `target`; if it cannot, all that stand in front of it.
    fn places_to(&self, board: &Board, part: &Part, target: Duration) -> u64 {
        let in_front = u64::from(board.queues[board.txn(part.last).queue.index()].len) - part.len(board);
        if target == Duration::ZERO {
            return in_front;
        }
        let (mut few, mut many) = (0, in_front);
        while few < many {
            let middle = few + (many - few) / 2;
            if self.response_after(board, part, middle) <= target {
                many = middle;
            } else {
                few = middle + 1;
            }
        }
        few
    }

    /// The estimated response time of a part's last after passing `passed` from the tail.
    fn response_after(&self, board: &Board, part: &Part, passed: u64) -> Duration {
        self.estimator.before(board, part.last, passed).response()
    }
}

impl Part {
    /// How many it is made of.
    fn len(&self, board: &Board) -> u64 {
        1 + self.followers(board).count() as u64
    }

    /// Those behind the first.
    fn followers<'a>(&self, board: &'a Board) -> impl Iterator<Item = TxnId> + use<'a> {
        let last = self.last;
        let mut at = self.first;
        core::iter::from_fn(move || {
            (at != last).then(|| {
                at = board.txn(at).next;
                at
            })
        })
    }

    /// Whether one of it must stay behind `older`, an older write of its page (D-SLK-16).
    fn must_follow(&self, board: &Board, older: TxnId) -> bool {
        let after = |id: TxnId| board.txn(id).blocked_by == older;
        self.hazard && (after(self.first) || self.followers(board).any(after))
    }
}

impl Order for Need {
    fn declares(&self) -> OrderDeclares {
        OrderDeclares {
            is_tail: true,
            needs: Needs {
                estimates: true,
                promotions: self.bypass != [false; 2],
                ends: self.estimator.uses_error_term(),
                decision: self.decision,
                ..Needs::NOTHING
            },
            ..OrderDeclares::ASK
        }
    }

    fn prepare(&mut self, board: &Board) {
        self.parts.reserve(board.units.len());
    }

    fn position(&mut self, _: &Board, _: TxnId, _: QueueId) -> Position {
        Position::TAIL
    }

    fn promote(&mut self, board: &Board, created: &[TxnId], promotions: &mut Vec<Promotion>) {
        let mut target = self.divide(board, created);
        let mut parts = core::mem::take(&mut self.parts);
        parts.sort_unstable_by_key(|part| (core::cmp::Reverse(part.response), board.txn(part.last).serial));
        for part in &mut parts {
            if part.response <= target {
                break;
            }
            self.advance(board, part, target);
            target = target.max(part.response);
        }
        for part in &mut parts {
            if part.passed == 0 {
                continue;
            }
            if part.response < target {
                self.fall_back(board, part, target);
            }
            let before = part.before;
            let promotion = |txn| Promotion { txn, in_front_of: before, charge: board.service(txn) };
            if part.passed > 0 {
                promotions.extend(core::iter::once(part.first).chain(part.followers(board)).map(promotion));
            }
        }
        self.parts = parts;
    }

    fn response(&mut self, board: &Board, id: TxnId, _: RequestId) -> Duration {
        self.estimator.before(board, id, estimate::behind(board, id)).response()
    }

    fn estimate(&mut self, board: &Board, id: TxnId, _: RequestId) -> Estimate {
        self.estimator.waiting(board, id)
    }

    fn ended(&mut self, board: &Board, id: TxnId) {
        self.estimator.ended(board, id);
    }
}

#[cfg(test)]
mod tests;
