//! The state that all parts of the device share: the board with the transaction slab, the agenda of units that must decide at
//! this instant, and the event log.

use flashlane_core::event::Event;
use flashlane_core::transaction::Stage;
use flashlane_core::{Board, Time, Transaction, TxnId, UnitId};

use crate::agenda::Agenda;
use crate::log::Log;

/// The state that all parts of a device share.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) board: Board,
    pub(crate) agenda: Agenda,
    pub(crate) log: Log,
    /// First free slot of the transaction slab.
    free: TxnId,
    /// Serial of the next transaction.
    serial: u64,
}

impl State {
    /// The state around an empty board.
    pub(crate) fn new(board: Board) -> State {
        State { board, agenda: Agenda::new(), log: Log::default(), free: TxnId::NONE, serial: 0 }
    }

    /// The instant the device has reached.
    #[inline(always)]
    pub(crate) fn now(&self) -> Time {
        self.board.now
    }

    /// Reserves `count` consecutive serial numbers; returns the first.
    #[inline(always)]
    pub(crate) fn take_serials(&mut self, count: u64) -> u64 {
        let first = self.serial;
        self.serial += count;
        first
    }

    /// Takes a free slot of the slab. The caller must overwrite its content, which is that of an earlier transaction.
    #[inline(always)]
    pub(crate) fn allocate(&mut self) -> TxnId {
        let id = self.free;
        if id.is_some() {
            self.free = self.board.txn(id).next;
            return id;
        }
        self.board.txns.push(Transaction::EMPTY);
        TxnId(self.board.txns.len() as u32 - 1)
    }

    /// Returns a transaction's slot to the free list.
    #[inline]
    pub(crate) fn release(&mut self, id: TxnId) {
        let free = self.free;
        let txn = self.board.txn_mut(id);
        debug_assert_ne!(txn.stage, Stage::Free);
        txn.stage = Stage::Free;
        txn.next = free;
        self.free = id;
    }

    /// Logs an event of this instant, if the log is on.
    #[inline(always)]
    pub(crate) fn log(&mut self, event: impl FnOnce() -> Event) {
        self.log.push(self.board.now, event);
    }

    /// The unit must decide at this instant.
    #[inline(always)]
    pub(crate) fn mark(&mut self, unit: UnitId) {
        self.agenda.mark(unit);
    }
}
