//! Moves with one-shot programs (model 0.15): pages that have been read wait until they fill a wordline, or until all of their victim have been
//! read. Then one program writes them, and pads the wordline.
//!
//! For the flash and for decisions a row that is read is one transaction, and so is a wordline that is programmed: their pages are only listed
//! here. A unit reads the pages of one victim after the other, so the pages of its list are of one plane.

use alloc::vec::Vec;
use core::mem;

use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Lpn, PlaneId, Ppa, Transaction, TxnId, UnitId};

use super::moves::Move;
use super::{Gc, mark_unless_busy, new_transaction, stream_of};
use crate::config::Config;
use crate::ftl::{Ftl, Stream};
use crate::shared::State;

/// A page that is moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedPage {
    /// That of its read; once it has been read, that of its program.
    pub(crate) serial: u64,
    /// Where it lies; once its program has begun, where that puts it.
    pub(crate) ppa: Ppa,
    lpn: Lpn,
    retries: u8,
}

/// The pages that a unit moves.
#[derive(Clone, Debug)]
struct UnitPages {
    plane: PlaneId,
    /// First those that are being programmed, then those that wait for that, last those that are being read.
    pages: Vec<MovedPage>,
    programming: usize,
    waiting: usize,
}

impl UnitPages {
    fn reading(&self) -> usize {
        self.pages.len() - self.programming - self.waiting
    }
}

/// The pages that are moved, unit by unit.
#[derive(Debug)]
pub(super) struct GatheredMoves {
    /// Pages of a wordline.
    wordline: usize,
    units: Vec<UnitPages>,
    /// Of reads that have ended: pages that were read again, and the further steps of these reads.
    retries: [u64; 2],
}

impl GatheredMoves {
    /// None, of a device of `config`, if that has one-shot programs.
    pub(super) fn of(config: &Config) -> Option<GatheredMoves> {
        let wordline = config.pages_of_a_program() as usize;
        let units = config.geometry.units() as usize;
        let none = UnitPages { plane: PlaneId(0), pages: Vec::new(), programming: 0, waiting: 0 };
        (wordline > 1).then(|| GatheredMoves { wordline, units: alloc::vec![none; units], retries: [0; 2] })
    }
}

// A row is read.

impl Gc {
    /// Pages read with retries, and retry steps, of rows.
    pub(crate) fn retries_of_rows(&self) -> [u64; 2] {
        self.gathered.as_ref().map_or([0; 2], |gathered| gathered.retries)
    }

    /// The pages of the unit's command of collection that begins, or is under way, if it is one of several pages; of a row those that have not been read.
    pub(crate) fn pages_of_command(&self, unit: UnitId) -> &[MovedPage] {
        let Some(gathered) = &self.gathered else { return &[] };
        let UnitPages { pages, programming, waiting, .. } = &gathered.units[unit.index()];
        if *programming > 0 { &pages[..*programming] } else { &pages[*waiting..] }
    }

    /// Begins one read for all moves from a row: `first`, whose page is valid, and the moves after it whose pages lie in the same row. Pages that
    /// have been overwritten since they were chosen are left out.
    pub(super) fn begin_row(&mut self, unit: UnitId, first: Move, state: &mut State, ftl: &Ftl) -> TxnId {
        let Move { plane, from, lpn, serial, .. } = first;
        let slots = state.board.facts.geometry.slots;
        let row_end = Ppa((from.0 / slots + 1) * slots);
        let (mut most, mut stale) = (0, Vec::new());
        let Gc { moves, gathered: Some(gathered), .. } = self else { return TxnId::NONE };
        let own = &mut gathered.units[unit.index()];
        own.plane = plane;
        let mut read = |serial, ppa, lpn| {
            let retries = ftl.retry_steps(lpn);
            own.pages.push(MovedPage { serial, ppa, lpn, retries });
            most = retries.max(most);
        };
        read(serial, from, lpn);
        state.board.units[unit.index()].gc.reads -= moves.take_before(unit, plane, row_end, |serial, from, lpn| {
            if ftl.validity.is_valid(plane, from) { read(serial, from, lpn) } else { stale.push(serial) }
        });
        stale.into_iter().for_each(|serial| self.drop_move(serial, plane, state));
        let size = (self.page_on_bus, state.board.facts.transfer_page);
        let read = new_transaction(first, unit, (FlashOp::Read, self.jobs.owner(plane)), size, Stage::InService, state);
        state.board.txn_mut(read).retries = most;
        read
    }

    /// Counts the moves that begin with the first of a row as moves of the collection before a write, as far as that has any left.
    #[cold]
    pub(super) fn further_moves_begin(&self, unit: UnitId, lead: TxnId, state: &mut State) {
        if state.board.txn(lead).op != FlashOp::Read {
            return;
        }
        let foreground = &mut state.board.units[unit.index()].foreground_gc;
        for _ in 1..self.pages_of_command(unit).len() {
            if foreground.has_moves() {
                foreground.move_begins();
            }
        }
    }

    /// The flash has ended `count` pages: of the row that is read by this transaction, or all of the wordline that is programmed.
    pub(crate) fn pages_ended(&mut self, id: TxnId, count: u32, state: &mut State) {
        match state.board.txn(id).op {
            FlashOp::Read => self.row_read(id, count, state),
            _ => self.wordline_programmed(id, state),
        }
    }

    /// `count` pages of a row have been transferred: they wait for those that share their wordline.
    fn row_read(&mut self, read: TxnId, count: u32, state: &mut State) {
        let Transaction { unit, plane, .. } = *state.board.txn(read);
        let first = state.take_serials(count.into());
        for serial in first..first + u64::from(count) {
            let Some(gathered) = &mut self.gathered else { return };
            let own = &mut gathered.units[unit.index()];
            let page = &mut own.pages[own.programming + own.waiting];
            own.waiting += 1;
            gathered.retries[0] += u64::from(page.retries > 0);
            gathered.retries[1] += u64::from(page.retries);
            let ended = mem::replace(&mut page.serial, serial);
            if state.log.on {
                let lpn = page.lpn;
                report_end(unit, ended, state);
                self.report_waiting(serial, FlashOp::Program, lpn, plane, state);
            }
        }
        if self.reading(unit) == 0 {
            state.free(read);
        }
        self.give_off(unit, plane, state);
        mark_unless_busy(unit, state);
    }

    /// How many pages a unit is reading.
    fn reading(&self, unit: UnitId) -> usize {
        self.gathered.as_ref().map_or(0, |gathered| gathered.units[unit.index()].reading())
    }
}

// A wordline is programmed.

impl Gc {
    /// Gives the pages of `plane` that wait at its unit off to be programmed if they fill a wordline, or no other page of their victim is to be
    /// read. Returns whether it did. What is over waits for the next program.
    #[cold]
    pub(super) fn give_off(&mut self, unit: UnitId, plane: PlaneId, state: &mut State) -> bool {
        let Some(gathered) = &self.gathered else { return false };
        let own = &gathered.units[unit.index()];
        let is_last = own.waiting > 0 && own.reading() == 0 && !self.moves.any_to_begin(unit, plane);
        let waiting = &mut state.board.units[unit.index()].gc.programs;
        let closes = *waiting == 0 && (own.waiting >= gathered.wordline || is_last);
        *waiting += u32::from(closes);
        closes
    }

    /// Begins the program of the pages that wait for the unit, without those that have been overwritten meanwhile; [`TxnId::NONE`] if all
    /// have been.
    pub(super) fn begin_wordline(&mut self, unit: UnitId, state: &mut State, ftl: &mut Ftl) -> TxnId {
        state.board.units[unit.index()].gc.programs -= 1;
        let Some(gathered) = &mut self.gathered else { return TxnId::NONE };
        let (wordline, own) = (gathered.wordline, &mut gathered.units[unit.index()]);
        let (plane, waiting, mut pages) = (own.plane, own.waiting, mem::take(&mut own.pages));
        let owner = self.jobs.owner(plane);
        let stream = stream_of(owner);
        let (mut seen, mut programming) = (0, 0);
        while programming < wordline && seen < waiting {
            let most = (wordline - programming).min(waiting - seen);
            let valid = pages[seen..][..most].iter().take_while(|page| ftl.validity.is_valid(plane, page.ppa)).count();
            if valid == 0 {
                self.drop_move(pages[seen].serial, plane, state);
                seen += 1;
                continue;
            }
            let moved = move_pages(plane, &mut pages[seen..][..valid], stream, state, ftl);
            pages.copy_within(seen..seen + moved, programming);
            (seen, programming) = (seen + moved, programming + moved);
        }
        pages.drain(programming..seen);
        if let Some(gathered) = &mut self.gathered {
            let own = &mut gathered.units[unit.index()];
            (own.pages, own.programming, own.waiting) = (pages, programming, waiting - seen);
        }
        if waiting > seen {
            self.give_off(unit, plane, state);
        }
        let [page, ..] = self.pages_of_command(unit) else { return TxnId::NONE };
        let lead = Move { plane, from: page.ppa, lpn: page.lpn, serial: page.serial, since: state.now() };
        let size = (self.page_on_bus, state.board.facts.transfer_page * programming as u64);
        let program = new_transaction(lead, unit, (FlashOp::Program, owner), size, Stage::InService, state);
        state.board.txn_mut(program).slc = false;
        pad(plane, stream, state, ftl);
        self.update_plane(plane, state, ftl);
        program
    }

    /// The program of a wordline has ended.
    fn wordline_programmed(&mut self, program: TxnId, state: &mut State) {
        let Transaction { unit, plane, .. } = *state.board.txn(program);
        let Some(gathered) = &mut self.gathered else { return };
        let own = &mut gathered.units[unit.index()];
        let count = mem::take(&mut own.programming);
        for page in own.pages.drain(..count) {
            if state.log.on {
                report_end(unit, page.serial, state);
            }
        }
        state.free(program);
        self.moves_ended(plane, count as u32, state);
    }
}

/// Gives pages that one program moves their places in `plane`, as many of the first of them as lie in one block. Returns how many.
#[inline(always)]
fn move_pages(plane: PlaneId, pages: &mut [MovedPage], stream: Stream, state: &mut State, ftl: &mut Ftl) -> usize {
    let (first, count) = ftl.move_run(plane, pages.len() as u32, stream, |i| {
        let MovedPage { lpn, ppa, .. } = pages[i as usize];
        (lpn, ppa)
    });
    for (page, ppa) in pages[..count as usize].iter_mut().zip(first.0..) {
        let lpn = page.lpn;
        page.ppa = Ppa(ppa);
        ftl.count_move(lpn, &mut state.board);
        ftl.entry_moved(lpn);
        state.log(|| Event::Mapped { lpn, plane, ppa });
    }
    count as usize
}

/// Logs that a transaction of the command that `unit` works on has ended.
#[cold]
fn report_end(unit: UnitId, txn: u64, state: &mut State) {
    let paused = state.board.units[unit.index()].command.paused;
    state.log(|| Event::Ended { txn, end: End::Flash, paused });
}

/// Gives up the pages that are left in the wordline that was written last in `plane` for `stream`.
#[cold]
pub(crate) fn pad(plane: PlaneId, stream: Stream, state: &mut State, ftl: &mut Ftl) {
    while let Some(ppa) = ftl.pad(plane, stream) {
        state.log(|| Event::Padded { plane, ppa: ppa.0 });
    }
}
