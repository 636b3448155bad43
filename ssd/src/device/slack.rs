//! Estimated response times, asked of the order decision when all transactions of a request are in their queues (Slacker §5.1),
//! and the slack that follows from them.

use flashlane_core::board::QueueKind;
use flashlane_core::decide::Promotion;
use flashlane_core::event::Event;
use flashlane_core::transaction::{Stage, tag};
use flashlane_core::{Duration, RequestId, Transaction, TxnId, UnitId};

use super::Device;

impl Device {
    /// Estimates the waiting transactions of the request just split into pages, and sets their slack: how much shorter each is
    /// than the longest (eq. 8). A program that waits for its page to be read first gets no estimate and no slack.
    pub(super) fn estimate_request(&mut self, request: RequestId) {
        if self.policy.known.needs.promotions {
            self.apply_promotions();
        }
        if self.estimates.created.len() <= 1 && !self.policy.known.needs.ends && !self.state.log.on {
            // The slack of a single transaction is zero whatever its estimate, and its estimate is not used.
            return;
        }
        if self.state.log.on {
            return self.estimate_and_report(request);
        }
        self.note_slack(|device, id| device.policy.response(&device.state.board, id, request));
    }

    /// Moves those transactions of the request just split into pages forward in their queues that the order decision names.
    #[inline(never)]
    fn apply_promotions(&mut self) {
        let created = core::mem::take(&mut self.estimates.created);
        let mut promotions = core::mem::take(&mut self.estimates.promotions);
        for &id in &created {
            let unit = self.state.board.txn(id).unit;
            self.flash.publish_channel(unit, &mut self.state);
        }
        self.policy.promote(&self.state.board, &created, &mut promotions);
        for Promotion { txn: id, in_front_of, charge } in promotions.drain(..) {
            let mut passed = in_front_of;
            while passed != id {
                let txn = self.state.board.txn_mut(passed);
                txn.slack -= charge;
                passed = txn.next;
            }
            let queue = self.leave(id).queue;
            self.join(id, queue, in_front_of);
            self.state.board.txn_mut(id).tag |= tag::JUMPED;
        }
        (self.estimates.created, self.estimates.promotions) = (created, promotions);
    }

    /// [`Device::estimate_request`] with the parts of the estimates logged.
    #[cold]
    fn estimate_and_report(&mut self, request: RequestId) {
        self.note_slack(|device, id| {
            let estimate = device.policy.estimate(&device.state.board, id, request);
            device.estimates.parts.push((id, estimate));
            estimate.response()
        });
        for (id, estimate) in self.estimates.parts.drain(..) {
            let Transaction { serial, slack, .. } = *self.state.board.txn(id);
            self.state.log(|| Event::Estimated { txn: serial, estimate, slack });
        }
    }

    /// Sets estimate and slack of the request's waiting transactions; `response_of` estimates one.
    #[inline(always)]
    fn note_slack(&mut self, mut response_of: impl FnMut(&mut Device, TxnId) -> Duration) {
        let created = core::mem::take(&mut self.estimates.created);
        let mut longest = Duration::ZERO;
        for &id in created.iter().rev() {
            let Transaction { stage, unit, .. } = *self.state.board.txn(id);
            if stage == Stage::Waiting {
                self.flash.publish_channel(unit, &mut self.state);
                let response = response_of(self, id);
                self.state.board.txn_mut(id).estimate = response;
                longest = longest.max(response);
            }
        }
        for &id in &created {
            let txn = self.state.board.txn_mut(id);
            if txn.stage == Stage::Waiting {
                txn.slack = longest - txn.estimate;
            }
        }
        self.estimates.created = created;
    }

    /// Takes `charge` from the slack of every waiting program of a unit, at most as much as each has (D-SLK-11).
    pub(super) fn charge_programs(&mut self, unit: UnitId, charge: Duration) {
        for priority in 0..self.state.board.facts.priorities {
            let mut id = self.state.board.queue(unit, QueueKind::Write(priority)).head;
            while id.is_some() {
                let txn = self.state.board.txn_mut(id);
                txn.slack = txn.slack.saturating_sub(charge);
                id = txn.next;
            }
        }
    }
}
