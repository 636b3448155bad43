//! Moves with one-shot programs (model 0.15): pages that have been read wait until they fill a wordline, or until all of their victim have been
//! read. Then one program writes them, and pads the wordline.
//!
//! A unit reads the pages of one victim after the other, so its pages that wait are of one plane.

use alloc::vec::Vec;
use core::mem;

use flashlane_core::event::Event;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Duration, PlaneId, Ppa, Transaction, TxnId, UnitId};

use super::{Gc, mark_unless_busy, new_transaction, stream_of};
use crate::config::Config;
use crate::ftl::{Ftl, Stream};
use crate::shared::State;

/// The pages that have been read and not programmed, unit by unit.
#[derive(Debug)]
pub(super) struct GatheredMoves {
    /// Pages of a wordline.
    wordline: usize,
    units: Vec<Vec<TxnId>>,
    /// How many pages each unit is reading.
    reading: Vec<u32>,
}

impl GatheredMoves {
    /// None, of a device of `config`, if that has one-shot programs.
    pub(super) fn of(config: &Config) -> Option<GatheredMoves> {
        let wordline = config.pages_of_a_program() as usize;
        let units = config.geometry.units() as usize;
        (wordline > 1).then(|| GatheredMoves {
            wordline,
            units: alloc::vec![Vec::new(); units],
            reading: alloc::vec![0; units],
        })
    }
}

impl Gc {
    /// The page of a move has been read: its program waits for those that share its wordline.
    #[cold]
    pub(super) fn gather(&mut self, unit: UnitId, plane: PlaneId, program: TxnId, state: &mut State) {
        if let Some(gathered) = &mut self.gathered {
            gathered.units[unit.index()].push(program);
            gathered.reading[unit.index()] -= 1;
        }
        self.give_off(unit, plane, state);
        mark_unless_busy(unit, state);
    }

    /// The read of a move begins: those of its row begin with it, and follow it in its command. Pages that have been overwritten are left out.
    #[cold]
    pub(super) fn read_row(&mut self, unit: UnitId, lead: TxnId, state: &mut State, ftl: &Ftl) {
        let Transaction { plane, ppa, bytes, transfer, owner, .. } = *state.board.txn(lead);
        let geometry = state.board.facts.geometry;
        let row = geometry.row_of(Ppa(ppa));
        let (mut last, mut pages) = (lead, 1);
        while self.moves.next_page(unit, plane).is_some_and(|page| geometry.row_of(page) == row) {
            let next = self.moves.next(unit);
            state.board.units[unit.index()].gc.reads -= 1;
            if !ftl.validity.is_valid(plane, next.from) {
                self.drop_move(next.serial, plane, state);
                continue;
            }
            let id = new_transaction(next, unit, (FlashOp::Read, owner), (bytes, transfer), Stage::InService, state);
            state.board.txn_mut(id).retries = ftl.retry_steps(next.lpn);
            state.board.txn_mut(last).next = id;
            (last, pages) = (id, pages + 1);
        }
        if let Some(gathered) = &mut self.gathered {
            gathered.reading[unit.index()] = pages;
        }
    }

    /// Counts the moves that begin with `lead` as moves of the collection before a write, as far as that has any left.
    #[cold]
    pub(super) fn further_moves_begin(&self, unit: UnitId, lead: TxnId, state: &mut State) {
        let Transaction { op, mut next, .. } = *state.board.txn(lead);
        let foreground = &mut state.board.units[unit.index()].foreground_gc;
        while op == FlashOp::Read && next.is_some() && foreground.has_moves() {
            foreground.move_begins();
            next = state.board.txns[next.index()].next;
        }
    }

    /// Gives the pages of `plane` that wait at its unit off to be programmed if they fill a wordline, or no other page of their victim is to be
    /// read. Returns whether it did. What is over waits for the next program.
    #[cold]
    pub(super) fn give_off(&mut self, unit: UnitId, plane: PlaneId, state: &mut State) -> bool {
        let Some(gathered) = &self.gathered else { return false };
        let (pages, reading) = (gathered.units[unit.index()].len(), gathered.reading[unit.index()]);
        let is_last = pages > 0 && reading == 0 && !self.moves.any_to_begin(unit, plane);
        let waiting = &mut state.board.units[unit.index()].gc.programs;
        let closes = *waiting == 0 && (pages >= gathered.wordline || is_last);
        *waiting += u32::from(closes);
        closes
    }

    /// Begins the program of the pages that wait for the unit, without those that have been overwritten meanwhile; [`TxnId::NONE`] if all
    /// have been.
    #[cold]
    pub(super) fn begin_wordline(&mut self, unit: UnitId, state: &mut State, ftl: &mut Ftl) -> TxnId {
        let Some(gathered) = &mut self.gathered else { return TxnId::NONE };
        let (wordline, mut waiting) = (gathered.wordline, mem::take(&mut gathered.units[unit.index()]).into_iter());
        state.board.units[unit.index()].gc.programs -= 1;
        let (mut lead, mut last, mut transfers) = (TxnId::NONE, TxnId::NONE, Duration::ZERO);
        let mut pages = 0;
        while pages < wordline
            && let Some(id) = waiting.next()
        {
            let txn = state.board.txn_mut(id);
            let (plane, from, lpn, serial) = (txn.plane, Ppa(txn.ppa), txn.lpn, txn.serial);
            if !ftl.validity.is_valid(plane, from) {
                state.free(id);
                self.drop_move(serial, plane, state);
                continue;
            }
            let ppa = ftl.move_page(lpn, plane, from, stream_of(txn.owner));
            (txn.ppa, txn.slc, txn.stage, txn.next) = (ppa.0, false, Stage::InService, TxnId::NONE);
            transfers += txn.transfer;
            ftl.count_move(lpn, &mut state.board);
            ftl.entry_moved(lpn);
            state.log(|| Event::Mapped { lpn, plane, ppa: ppa.0 });
            if last.is_some() {
                state.board.txn_mut(last).next = id;
            } else {
                lead = id;
            }
            last = id;
            pages += 1;
        }
        let over: Vec<TxnId> = waiting.collect();
        if let (Some(gathered), Some(&first)) = (&mut self.gathered, over.first()) {
            gathered.units[unit.index()] = over;
            self.give_off(unit, state.board.txn(first).plane, state);
        }
        if lead.is_some() {
            let txn = state.board.txn_mut(lead);
            txn.transfer = transfers;
            let (plane, stream) = (txn.plane, stream_of(txn.owner));
            pad(plane, stream, state, ftl);
            self.update_plane(plane, state, ftl);
        }
        lead
    }
}

/// Gives up the pages that are left in the wordline that was written last in `plane` for `stream`.
#[cold]
pub(crate) fn pad(plane: PlaneId, stream: Stream, state: &mut State, ftl: &mut Ftl) {
    while let Some(ppa) = ftl.pad(plane, stream) {
        state.log(|| Event::Padded { plane, ppa: ppa.0 });
    }
}
