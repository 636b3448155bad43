//! The account of transactions: each queued once, dispatched at most once, ended once, in this order.

use flashlane_core::transaction::{FlashOp, Owner};
use flashlane_core::{Duration, Lpn, PlaneId, RequestId, Sequence, UnitId};

use super::number_set::NumberSet;
use super::rule::{Log, Rule};

/// A transaction queued and not ended.
#[derive(Clone, Debug)]
pub(super) struct Txn {
    pub(super) request: Option<RequestId>,
    pub(super) op: FlashOp,
    pub(super) owner: Owner,
    pub(super) lpn: Lpn,
    pub(super) plane: PlaneId,
    pub(super) bytes: u32,
    /// The unit and command that took it.
    pub(super) dispatched: Option<(UnitId, u64)>,
    /// Its estimated slack, zero until it is estimated.
    pub(super) slack: Duration,
    /// The victim block (counted through the device) a garbage-collection move empties.
    pub(super) source: Option<u32>,
}

/// All transactions in flight, and the serials of all so far.
#[derive(Default, Debug)]
pub(super) struct Transactions {
    live: Sequence<Txn>,
    seen: NumberSet,
}

impl Transactions {
    /// Records that a transaction joins a queue. Returns whether it is the first time (reported if not).
    pub(super) fn enter(&mut self, serial: u64, log: &mut Log) -> bool {
        log.check(self.seen.add(serial), Rule::QueueOnce, || format!("transaction {serial} joined a queue again."))
    }

    pub(super) fn insert(&mut self, serial: u64, txn: Txn) {
        self.live.insert(serial, txn);
    }

    pub(super) fn get(&self, serial: u64) -> Option<&Txn> {
        self.live.get(serial)
    }

    /// Marks a transaction dispatched and returns it; `None` (reported) if that is illegal.
    pub(super) fn dispatch(&mut self, serial: u64, unit: UnitId, command: u64, log: &mut Log) -> Option<&mut Txn> {
        let Some(txn) = self.live.get_mut(serial) else {
            let past = if self.seen.contains(serial) { "had ended" } else { "was never queued" };
            log.report(Rule::TxnKnown, || format!("transaction {serial} {past} and was dispatched."));
            return None;
        };
        if let Some((_, first)) = txn.dispatched {
            log.report(Rule::DispatchOnce, || {
                format!("transaction {serial} is in command {first} and was dispatched in {command}.")
            });
            return None;
        }
        txn.dispatched = Some((unit, command));
        Some(txn)
    }

    /// A waiting transaction is estimated to have this slack.
    pub(super) fn estimate(&mut self, serial: u64, slack: Duration, log: &mut Log) {
        match self.live.get_mut(serial).filter(|txn| txn.dispatched.is_none() && txn.owner == Owner::User) {
            Some(txn) => txn.slack = slack,
            None => log.report(Rule::EstimateWaiting, || format!("transaction {serial} was estimated.")),
        }
    }

    /// A waiting write moves to another plane.
    pub(super) fn relocate(&mut self, serial: u64, plane: PlaneId, log: &mut Log) {
        let moves = |txn: &&mut Txn| txn.op == FlashOp::Program && !txn.owner.collects() && txn.dispatched.is_none();
        let waiting = self.live.get_mut(serial).filter(moves);
        match waiting {
            Some(txn) => txn.plane = plane,
            None => log.report(Rule::MoveWaiting, || {
                format!("transaction {serial} moved to plane {} and is no waiting write.", plane.0)
            }),
        }
    }

    /// Removes a transaction that ends; `None` (reported) if there is none.
    pub(super) fn end(&mut self, serial: u64, log: &mut Log) -> Option<Txn> {
        let txn = self.live.remove(serial);
        if txn.is_none() {
            let past = if self.seen.contains(serial) { "ended a second time" } else { "ended and was never queued" };
            log.report(Rule::EndOnce, || format!("transaction {serial} {past}."));
        }
        txn
    }

    /// Transactions still in flight, in order of serial.
    pub(super) fn leftover(&self) -> Vec<(u64, &Txn)> {
        let mut rest: Vec<(u64, &Txn)> = self.live.iter().collect();
        rest.sort_unstable_by_key(|&(serial, _)| serial);
        rest
    }
}
