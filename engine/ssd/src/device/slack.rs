//! Estimated response times, asked of the order decision when all transactions of a request are in their queues (Slacker §5.1),
//! and the slack that follows from them.

use alloc::vec::Vec;

use flashlane_core::board::QueueKind;
use flashlane_core::decide::{Estimate, Promotion};
use flashlane_core::event::{Event, Kinds};
use flashlane_core::transaction::{Stage, tag};
use flashlane_core::{Board, Duration, RequestId, Transaction, TxnId, UnitId};

use super::overtaking::Overtaking;
use crate::flash::Flash;
use crate::policy::Policy;
use crate::shared::State;

/// The transactions of the request that is being split into pages.
#[derive(Debug, Default)]
pub(super) struct Slack {
    /// All of them.
    created: Vec<TxnId>,
    /// What moves forward in its queue.
    promotions: Vec<Promotion>,
    /// Their estimates in parts, to be logged.
    parts: Vec<(TxnId, Estimate)>,
}

/// What estimates are made with.
struct Parts<'a> {
    policy: &'a mut Policy,
    flash: &'a mut Flash,
    state: &'a mut State,
}

impl Slack {
    /// A request is going to be split into pages.
    #[inline(always)]
    pub(super) fn begin_request(&mut self) {
        self.created.clear();
    }

    /// A transaction of the request was created.
    #[inline(always)]
    pub(super) fn add(&mut self, id: TxnId) {
        self.created.push(id);
    }

    /// A transaction has ended, perhaps of the request that is being split into pages.
    pub(super) fn forget(&mut self, id: TxnId) {
        self.created.retain(|&created| created != id);
    }

    /// Estimates the waiting transactions of the request just split into pages, and sets their slack: how much shorter each is
    /// than the longest (eq. 8). A program that waits for its page to be read first gets no estimate and no slack.
    pub(super) fn estimate_request(
        &mut self,
        request: RequestId,
        policy: &mut Policy,
        flash: &mut Flash,
        overtaking: &mut Overtaking,
        state: &mut State,
    ) {
        let needs = policy.known.needs;
        let mut with = Parts { policy, flash, state };
        if needs.promotions {
            self.apply_promotions(&mut with, overtaking);
        }
        let reports = with.state.log.kinds.include(Kinds::ESTIMATES);
        if self.created.len() <= 1 && !needs.ends && !reports {
            // The slack of a single transaction is zero whatever its estimate, and its estimate is not used.
            return;
        }
        if reports {
            return self.estimate_and_report(request, &mut with);
        }
        self.note(&mut with, |with, id| with.policy.response(&with.state.board, id, request));
    }

    /// Moves those transactions of the request just split into pages forward in their queues that the order decision names.
    #[inline(never)]
    fn apply_promotions(&mut self, Parts { policy, flash, state }: &mut Parts<'_>, overtaking: &mut Overtaking) {
        for &id in &self.created {
            let unit = state.board.txn(id).unit;
            flash.publish_channel(unit, state);
        }
        policy.promote(&state.board, &self.created, &mut self.promotions);
        self.apply(&mut state.board, overtaking);
    }

    /// Moves those transactions that wait for `unit` forward in their queues that the order decision names.
    #[cold]
    pub(super) fn rerank(&mut self, unit: UnitId, policy: &mut Policy, overtaking: &mut Overtaking, board: &mut Board) {
        policy.rerank(board, unit, &mut self.promotions);
        self.apply(board, overtaking);
    }

    fn apply(&mut self, board: &mut Board, overtaking: &mut Overtaking) {
        for Promotion { txn: id, in_front_of, charge } in self.promotions.drain(..) {
            let (moved, passed) = (board.txn(id), board.txn(in_front_of));
            debug_assert!(moved.queue == passed.queue && moved.rank > passed.rank, "only forward, in one queue");
            charge_from(board, in_front_of, id, charge);
            overtaking.leave(board, id);
            let queue = board.txn(id).queue;
            overtaking.join_late(board, id, queue, in_front_of);
            board.txn_mut(id).tag |= tag::JUMPED;
        }
    }

    /// [`Slack::estimate_request`] with the parts of the estimates logged.
    #[cold]
    fn estimate_and_report(&mut self, request: RequestId, with: &mut Parts<'_>) {
        let mut parts = core::mem::take(&mut self.parts);
        self.note(with, |with, id| {
            let estimate = with.policy.estimate(&with.state.board, id, request);
            parts.push((id, estimate));
            estimate.response()
        });
        for (id, estimate) in parts.drain(..) {
            let Transaction { serial, slack, .. } = *with.state.board.txn(id);
            with.state.log(|| Event::Estimated { txn: serial, estimate, slack });
        }
        self.parts = parts;
    }

    /// Sets estimate and slack of the request's waiting transactions; `response_of` estimates one.
    #[inline(always)]
    fn note<'a>(&self, with: &mut Parts<'a>, mut response_of: impl FnMut(&mut Parts<'a>, TxnId) -> Duration) {
        let mut longest = Duration::ZERO;
        for &id in self.created.iter().rev() {
            let Transaction { stage, unit, .. } = *with.state.board.txn(id);
            if stage == Stage::Waiting {
                with.flash.publish_channel(unit, with.state);
                let response = response_of(with, id);
                with.state.board.txn_mut(id).estimate = response;
                longest = longest.max(response);
            }
        }
        for &id in &self.created {
            let txn = with.state.board.txn_mut(id);
            if txn.stage == Stage::Waiting {
                txn.slack = longest - txn.estimate;
            }
        }
    }
}

/// Takes `charge` from the slack of the transactions from `first` on, in the order of their queue or command, up to but not including
/// `end`.
#[inline(always)]
pub(super) fn charge_from(board: &mut Board, first: TxnId, end: TxnId, charge: Duration) {
    let mut id = first;
    while id != end {
        let txn = board.txn_mut(id);
        txn.slack -= charge;
        id = txn.next;
    }
}

/// Takes `charge` from the slack of every waiting program of a unit, at most as much as each has (D-SLK-11).
pub(super) fn charge_programs(board: &mut Board, unit: UnitId, charge: Duration) {
    for priority in 0..board.facts.priorities {
        let mut id = board.queue(unit, QueueKind::Write(priority)).head;
        while id.is_some() {
            let txn = board.txn_mut(id);
            txn.slack = txn.slack.saturating_sub(charge);
            id = txn.next;
        }
    }
}
