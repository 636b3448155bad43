//! The order decision: where in its queue a transaction stands, which move forward, and how long they will take.

use alloc::vec::Vec;

use super::OrderDeclares;
use crate::board::Board;
use crate::id::{QueueId, RequestId, TxnId, UnitId};
use crate::units::Duration;

/// Where in its queue does a transaction stand?
pub trait Order {
    /// What it declares in advance. Read once, when the device is built.
    fn declares(&self) -> OrderDeclares {
        OrderDeclares::ASK
    }

    /// Called once, when the device is built: reserves the memory that the answer will ever need.
    fn prepare(&mut self, _: &Board) {}

    /// The position at which a user or buffer transaction joins its queue; asked once. Garbage collection is in no queue.
    fn position(&mut self, board: &Board, txn: TxnId, queue: QueueId) -> Position;

    /// Which of the transactions of a request, `created`, move forward in their queues, and where to: asked when all of them are in their
    /// queues, before they are estimated, if [`Needs::promotions`]. The answer adds to `promotions`, which the device applies in order.
    fn promote(&mut self, board: &Board, created: &[TxnId], promotions: &mut Vec<Promotion>) {
        let _ = (board, created, promotions);
    }

    /// Which transactions that wait for `unit`, of whatever request, move forward in their queues: asked at each decision of the unit while
    /// two or more wait, if [`Needs::reranks`], so that what has become more urgent since it joined its queue can pass others. The
    /// answer adds to `promotions`, which the device applies in order.
    fn rerank(&mut self, board: &Board, unit: UnitId, promotions: &mut Vec<Promotion>) {
        let _ = (board, unit, promotions);
    }

    /// The estimated response time of a waiting transaction of `request`, asked when all transactions of the request are in their
    /// queues. The device stores it in the transaction, and as its slack how much shorter it is than the longest of the request
    /// (Slacker eq. 8). Asked only if [`Needs::estimates`].
    fn response(&mut self, board: &Board, txn: TxnId, request: RequestId) -> Duration {
        self.estimate(board, txn, request).response()
    }

    /// [`Order::response`] in parts, asked instead of it when events are reported.
    fn estimate(&mut self, board: &Board, txn: TxnId, request: RequestId) -> Estimate {
        let _ = (board, txn, request);
        Estimate::default()
    }

    /// Called when a transaction is about to leave its queue, if [`Needs::departures_from`] says so; it is still in the queue.
    /// Returns what is subtracted from its slack now. With it, a scheduler can charge a transaction once, when it leaves, for all
    /// those that joined ahead of it, instead of each time ([`Position::charge`]).
    fn departs(&mut self, board: &Board, txn: TxnId, departure: Departure) -> Duration {
        let _ = (board, txn, departure);
        Duration::ZERO
    }

    /// Called when a user transaction ends, before it leaves the slab, if [`Needs::ends`].
    fn ended(&mut self, board: &Board, txn: TxnId) {
        let _ = (board, txn);
    }
}

/// Why a transaction leaves its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departure {
    /// Its unit begins to work on it.
    Dispatched,
    /// A younger write of its page took its place, or it moves to another unit's queue.
    Withdrawn,
}

/// An estimated response time from the queue to the end, in parts (Slacker eq. 1 and 2).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Estimate {
    /// Service of the transactions ahead.
    pub queue: Duration,
    /// Garbage collection that may come between.
    pub gc: Duration,
    /// Waiting for a busy bus.
    pub interference: Duration,
    /// Remaining time of the operation in service.
    pub residual: Duration,
    /// Its own service.
    pub service: Duration,
    /// Correction from past errors, to be added, ns (Slacker footnote 3).
    pub correction: i64,
}

impl Estimate {
    /// The sum of the parts, without the correction (eq. 1).
    #[inline]
    pub fn response(&self) -> Duration {
        self.queue + self.gc + self.interference + self.residual + self.service
    }
}

/// An answer of [`Order`].
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The waiting transaction to join in front of; [`TxnId::NONE`] for the tail.
    pub in_front_of: TxnId,
    /// Subtracted from the slack of each transaction behind the new one (Slacker §4.2).
    pub charge: Duration,
    /// Subtracted from the slack of each waiting program of the unit, but not below zero, whatever its position (D-SLK-11).
    pub charge_programs: Duration,
    /// Bits of [`crate::transaction::tag`] for the new transaction.
    pub tag: u8,
    /// Note for the new transaction: [`crate::Transaction::isolated_latency`].
    pub isolated_latency: Duration,
}

impl Position {
    /// At the tail, no notes.
    pub const TAIL: Position = Position {
        in_front_of: TxnId::NONE,
        charge: Duration::ZERO,
        charge_programs: Duration::ZERO,
        tag: 0,
        isolated_latency: Duration::ZERO,
    };
}

/// A waiting transaction that moves forward in its queue ([`Order::promote`], [`Order::rerank`]).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Promotion {
    /// The transaction.
    pub txn: TxnId,
    /// The transaction of the same queue, in front of it, that it moves in front of.
    pub in_front_of: TxnId,
    /// Subtracted from the slack of each transaction that it passes (Slacker §4.2).
    pub charge: Duration,
}
