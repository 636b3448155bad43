//! Garbage collection: victims, the moves of their valid pages, their erases, and the collection done before a write that triggers
//! it (model 0.8); folding, which does the same with full blocks in SLC mode (model 0.14).
//!
//! Owns the collection jobs, the pinned blocks and, unit by unit, the waiting moves and erases. It returns the transaction that
//! a unit begins next and never begins one itself. It must never know the scheduler or the flash's timing. A victim's valid pages
//! become transactions one by one, when they begin: a read and then, in the same slot of the slab, a program. With one-shot programs those of a row are read
//! by one transaction, and those of a wordline programmed by one ([`gathered`]).

mod gathered;
mod moves;
mod replay;
mod victim;

use alloc::vec::Vec;

use flashlane_core::board::{Command, ForegroundGc, Service};
use flashlane_core::decide::GcQuota;
use flashlane_core::event::{End, Event};
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Board, Duration, FlowId, Lpn, Owner, PlaneId, Ppa, Time, Transaction, TxnId, UnitId};
use gathered::GatheredMoves;
pub(crate) use gathered::{MovedPage, pad};
use moves::{Move, Moves};
use rand_pcg::Pcg64Mcg;
pub(crate) use replay::UsedRest;
pub(crate) use replay::bytes_of_writes;
pub use replay::{Overwritten, Replay, Replayed, SavedState};
pub(crate) use victim::Need;
use victim::{Jobs, Pins};

use crate::config::Config;
use crate::ftl::{Ftl, Stream};
use crate::shared::State;

/// Garbage collection of a device.
#[derive(Debug)]
pub(crate) struct Gc {
    moves: Moves,
    jobs: Jobs,
    pins: Pins,
    /// Whether victims are emptied at once, without flash operations ([`flashlane_core::decide::GcMode::Free`]).
    free: bool,
    /// Pages that have been read and wait for the program of their wordline; `None` where each page has a program of its own.
    gathered: Option<GatheredMoves>,
    /// Bytes of a page on the bus.
    page_on_bus: u32,
    /// Planes from which a page was rewritten to another plane, and which need collection ([`Gc::page_left`]).
    emptied: Vec<PlaneId>,
    /// Whether full blocks in SLC mode are folded because the device has nothing else to do.
    folds_in_idle_time: bool,
    /// When the device has had nothing to do for long enough, if it has not until then.
    pub(crate) idle_at: Time,
    /// No block is folded for that later than this.
    pub(crate) idle_ends: Time,
    /// Moves dropped because their page was overwritten first.
    pub(crate) stale_moves: u64,
    /// Erases that had to wait for reads of a pinned block.
    pub(crate) late_erases: u64,
    /// Times a picked program's plane had no free page for it.
    pub(crate) free_page_stalls: u64,
    /// Times a write triggered more than its share because its plane was short of blocks (D-FLN-13).
    pub(crate) forced_batches: u64,
}

impl Gc {
    /// The translation layer and the garbage collection of an idle device in the state `replayed`; without one, in the state that
    /// the formulas of `config` give.
    pub(crate) fn first(config: &Config, replayed: Option<Replayed>, free: bool) -> (Ftl, Gc) {
        let (mut ftl, jobs) = match replayed {
            Some(Replayed { ftl, jobs, .. }) => (ftl, jobs),
            None => (Ftl::new(config), Jobs::new(config)),
        };
        ftl.begin_slc(config);
        ftl.begin_wordlines();
        let g = &config.geometry;
        let gc = Gc {
            moves: Moves::new(g.units() as usize, g.planes() as usize),
            jobs,
            pins: Pins::default(),
            free,
            gathered: GatheredMoves::of(config),
            page_on_bus: config.page_on_bus(),
            emptied: Vec::new(),
            folds_in_idle_time: false,
            idle_at: Time::NEVER,
            idle_ends: Time::NEVER,
            stale_moves: 0,
            late_erases: 0,
            free_page_stalls: 0,
            forced_batches: 0,
        };
        (ftl, gc)
    }

    /// Whether victims are emptied at once from now on. No plane may be being collected.
    pub(crate) fn set_free(&mut self, free: bool) {
        self.free = free;
    }

    /// The generator of victim policies that sample at random.
    pub(crate) fn rng(&self) -> &Pcg64Mcg {
        self.jobs.rng()
    }

    /// Victims chosen, and the valid pages they had then.
    pub(crate) fn victims(&self) -> (u64, u64) {
        (self.jobs.victims, self.jobs.victim_valid)
    }

    /// Blocks in SLC mode whose folding began.
    pub(crate) fn folds(&self) -> u64 {
        self.jobs.folds
    }

    // When collecting begins.

    /// A page was written in `plane` for `stream`: updates the board, and starts to collect the plane if needed.
    #[inline(always)]
    pub(crate) fn page_written(&mut self, plane: PlaneId, stream: Stream, state: &mut State, ftl: &mut Ftl) {
        if !ftl.publish_page(&mut state.board, plane, stream) {
            self.update_plane(plane, state, ftl);
        }
    }

    /// Updates all the board shows of `plane`, which has opened or filled a block or found no victim the last time one was
    /// needed, and starts to collect it if needed.
    #[cold]
    pub(crate) fn update_plane(&mut self, plane: PlaneId, state: &mut State, ftl: &mut Ftl) {
        ftl.publish(&mut state.board, plane);
        if self.jobs.needs_collection(plane, ftl) {
            self.start(plane, Need::Blocks, state, ftl);
        }
    }

    /// A page of `plane` was rewritten to another plane, so `plane` may now have a victim where it had none. If it needs
    /// collection, that starts only when all members of the command have their physical pages ([`Gc::collect_emptied`]):
    /// collecting for free moves pages at once, perhaps in the plane of a member that has none yet.
    pub(crate) fn page_left(&mut self, plane: PlaneId, ftl: &Ftl) {
        if self.jobs.needs_collection(plane, ftl) {
            self.emptied.push(plane);
        }
    }

    /// Starts to collect the planes recorded by [`Gc::page_left`].
    #[inline(always)]
    pub(crate) fn collect_emptied(&mut self, state: &mut State, ftl: &mut Ftl) {
        while let Some(plane) = self.emptied.pop() {
            self.start(plane, Need::Blocks, state, ftl);
        }
    }

    /// Starts to collect `plane` or to fold a block of it, unless either is under way or there is no block for it.
    pub(crate) fn start(&mut self, plane: PlaneId, need: Need, state: &mut State, ftl: &mut Ftl) {
        if self.free {
            let lacks = |ftl: &Ftl| match need {
                Need::Blocks => false,
                Need::Page => !ftl.has_free_page(plane),
                Need::Idle => true,
            };
            while lacks(ftl) && self.collect_for_free(plane, need, state, ftl) {}
            while self.jobs.needs_collection(plane, ftl) && self.collect_for_free(plane, Need::Blocks, state, ftl) {}
            ftl.publish(&mut state.board, plane);
            return;
        }
        let Some(block) = self.choose_victim(plane, need, state, ftl) else { return };
        ftl.publish(&mut state.board, plane);
        let unit = state.board.home_of(plane).0;
        let pages = self.moves.list(plane);
        ftl.valid_pages(plane, block, pages);
        let count = pages.len() as u32;
        let first = state.take_serials(u64::from(count));
        if state.log.on {
            self.report_moves(plane, first, state);
        }
        self.moves.wait(unit, plane, first, state.now());
        state.board.units[unit.index()].gc.reads += count;
        if count == 0 {
            self.queue_erase(plane, block, state);
        } else {
            mark_unless_busy(unit, state);
        }
    }

    /// Opens a job in `plane`; returns its victim.
    fn choose_victim(&mut self, plane: PlaneId, need: Need, state: &mut State, ftl: &mut Ftl) -> Option<u32> {
        let job = self.jobs.open(plane, need, ftl)?;
        let shown = &mut state.board.planes[plane.index()];
        (shown.collecting, shown.victim_pages) = (true, job.moves_left);
        state.log(|| Event::VictimChosen { plane, block: job.block, valid: job.moves_left });
        Some(job.block)
    }

    /// Empties and erases a victim at this instant, without flash operations; a pinned one is erased when its last read has ended.
    /// Returns whether one was found.
    fn collect_for_free(&mut self, plane: PlaneId, need: Need, state: &mut State, ftl: &mut Ftl) -> bool {
        let Some(block) = self.choose_victim(plane, need, state, ftl) else { return false };
        let stream = stream_of(self.jobs.owner(plane));
        let pages = self.moves.list(plane);
        ftl.valid_pages(plane, block, pages);
        for &(old, lpn) in pages.iter() {
            let ppa = ftl.move_page(lpn, plane, old, stream);
            state.log(|| Event::Mapped { lpn, plane, ppa: ppa.0 });
        }
        if self.gathered.is_some() {
            pad(plane, stream, state, ftl);
        }
        self.jobs.all_moved(plane);
        if self.is_erasable(plane, block) {
            self.close(plane, block, state, ftl);
        }
        true
    }

    // What a unit does next.

    /// The transaction of garbage collection that the unit begins next. If a foreground collection is open, it is the next of that; else
    /// programs go before erases and erases before reads, so that a victim is finished before the next is begun. Returns
    /// [`TxnId::NONE`] if all waiting moves were stale, so that nothing waits any more, or if the foreground collection is finished, which closes
    /// it.
    #[inline(always)]
    pub(crate) fn next_transaction(&mut self, unit: UnitId, state: &mut State, ftl: &mut Ftl) -> TxnId {
        if state.board.units[unit.index()].foreground_gc.is_open() {
            return self.next_of_foreground_gc(unit, state, ftl);
        }
        // Dropping the last stale move may have queued the erase.
        let finishing = self.finish_moves(unit, state, ftl);
        if finishing.is_some() {
            return finishing;
        }
        let moving = self.begin_move(unit, state, ftl);
        if moving.is_some() { moving } else { self.begin_erase(unit, state) }
    }

    /// Begins the garbage collection that goes before `write`.
    pub(crate) fn open_foreground_gc(&mut self, unit: UnitId, write: TxnId, quota: GcQuota, state: &mut State) {
        self.forced_batches += u64::from(quota.forced);
        state.board.units[unit.index()].foreground_gc =
            ForegroundGc::begun(write, quota.due, quota.page_moves, quota.preemptible);
    }

    /// The next transaction of the collection before a write: moves under way first, then an empty victim's erase, then the next move.
    #[cold]
    fn next_of_foreground_gc(&mut self, unit: UnitId, state: &mut State, ftl: &mut Ftl) -> TxnId {
        let u = unit.index();
        let finishing = self.finish_moves(unit, state, ftl);
        if finishing.is_some() {
            return finishing;
        }
        if state.board.units[u].foreground_gc.has_moves() {
            let moving = self.begin_move(unit, state, ftl);
            if moving.is_some() {
                state.board.units[u].foreground_gc.move_begins();
                self.further_moves_begin(unit, moving, state);
                return moving;
            }
        }
        // Stale moves may have left a victim empty.
        let erase = self.begin_erase(unit, state);
        if erase.is_none() {
            state.board.units[u].foreground_gc.close();
            // A unit whose write is gone may take another now.
            state.agenda.open |= state.board.units[u].user_waiting() == 0 && state.board.any_unplaced();
        }
        erase
    }

    /// Begins the program of a page that has been read, else the erase of an empty victim.
    #[inline(always)]
    fn finish_moves(&mut self, unit: UnitId, state: &mut State, ftl: &mut Ftl) -> TxnId {
        let programs = state.board.units[unit.index()].gc.programs;
        let program = if programs > 0 { self.begin_program(unit, state, ftl) } else { TxnId::NONE };
        if program.is_some() { program } else { self.begin_erase(unit, state) }
    }

    /// Begins the unit's next move whose page is still valid.
    #[inline(always)]
    fn begin_move(&mut self, unit: UnitId, state: &mut State, ftl: &mut Ftl) -> TxnId {
        if state.board.units[unit.index()].gc.reads > 0 { self.begin_read(unit, state, ftl) } else { TxnId::NONE }
    }

    #[inline(never)]
    fn begin_read(&mut self, unit: UnitId, state: &mut State, ftl: &mut Ftl) -> TxnId {
        while state.board.units[unit.index()].gc.reads > 0 {
            self.moves.to_prefetch(unit).iter().for_each(|&(_, lpn)| ftl.map.prefetch(lpn));
            let next = self.moves.next(unit);
            state.board.units[unit.index()].gc.reads -= 1;
            if ftl.validity.is_valid(next.plane, next.from) {
                if self.gathered.is_some() {
                    return self.begin_row(unit, next, state, ftl);
                }
                let size = (self.page_on_bus, state.board.facts.transfer_page);
                let owner = self.jobs.owner(next.plane);
                let read = new_transaction(next, unit, (FlashOp::Read, owner), size, Stage::InService, state);
                state.board.txn_mut(read).retries = ftl.retry_steps(next.lpn);
                return read;
            }
            self.drop_move(next.serial, next.plane, state);
            if self.gathered.is_some() && self.give_off(unit, next.plane, state) {
                let program = self.begin_wordline(unit, state, ftl);
                if program.is_some() {
                    return program;
                }
            }
        }
        TxnId::NONE
    }

    /// Begins the program that waits for the unit, if its page is still valid.
    #[inline(never)]
    fn begin_program(&mut self, unit: UnitId, state: &mut State, ftl: &mut Ftl) -> TxnId {
        if self.gathered.is_some() {
            return self.begin_wordline(unit, state, ftl);
        }
        let id = self.moves.take_program(unit);
        state.board.units[unit.index()].gc.programs -= 1;
        let txn = state.board.txn_mut(id);
        let (plane, from, lpn) = (txn.plane, Ppa(txn.ppa), txn.lpn);
        if !ftl.validity.is_valid(plane, from) {
            let serial = txn.serial;
            state.free(id);
            self.drop_move(serial, plane, state);
            return TxnId::NONE;
        }
        let stream = stream_of(txn.owner);
        let ppa = ftl.move_page(lpn, plane, from, stream);
        (txn.ppa, txn.slc, txn.stage) = (ppa.0, false, Stage::InService);
        ftl.count_move(lpn, &mut state.board);
        ftl.entry_moved(lpn);
        state.log(|| Event::Mapped { lpn, plane, ppa: ppa.0 });
        self.page_written(plane, stream, state, ftl);
        id
    }

    /// Begins the erase that has waited longest for the unit.
    #[inline(always)]
    fn begin_erase(&mut self, unit: UnitId, state: &mut State) -> TxnId {
        if state.board.units[unit.index()].gc.erases > 0 { self.take_erase(unit, state) } else { TxnId::NONE }
    }

    #[cold]
    fn take_erase(&mut self, unit: UnitId, state: &mut State) -> TxnId {
        let txn = self.moves.take_erase(unit).expect("as many wait as the board shows");
        state.board.units[unit.index()].gc.erases -= 1;
        state.board.txn_mut(txn).stage = Stage::InService;
        txn
    }

    // Transactions that ended.

    /// A transaction of garbage collection has ended on the flash, which is not one of several pages ([`Gc::pages_ended`]).
    pub(crate) fn ended(&mut self, id: TxnId, state: &mut State, ftl: &mut Ftl) {
        let Transaction { op, plane, ppa, .. } = *state.board.txn(id);
        match op {
            FlashOp::Read => self.page_read(id, state),
            FlashOp::Program => {
                state.free(id);
                self.moves_ended(plane, 1, state);
            }
            FlashOp::Erase => {
                state.free(id);
                self.block_erased(plane, ppa / state.board.facts.geometry.pages_per_block, state, ftl);
            }
        }
    }

    /// The read of a move ended: turns it into the move's program, which now waits. It is the same transaction under a new
    /// serial; until the program begins, `ppa` is still the page it was read from.
    #[inline(always)]
    fn page_read(&mut self, id: TxnId, state: &mut State) {
        let (serial, now) = (state.take_serials(1), state.now());
        let txn = state.board.txn_mut(id);
        (txn.serial, txn.enqueued, txn.op, txn.stage) = (serial, now, FlashOp::Program, Stage::Waiting);
        txn.next = TxnId::NONE;
        let Transaction { unit, plane, lpn, .. } = *txn;
        if state.log.on {
            self.report_waiting(serial, FlashOp::Program, lpn, plane, state);
        }
        self.moves.add_program(unit, id);
        state.board.units[unit.index()].gc.programs += 1;
        mark_unless_busy(unit, state);
    }

    /// Drops a move whose page is no longer valid. `txn` is the serial of its read or program.
    #[cold]
    fn drop_move(&mut self, txn: u64, plane: PlaneId, state: &mut State) {
        self.stale_moves += 1;
        state.log(|| Event::Ended { txn, end: End::Stale, paused: Duration::ZERO });
        self.moves_ended(plane, 1, state);
    }

    fn moves_ended(&mut self, plane: PlaneId, count: u32, state: &mut State) {
        if let Some(block) = self.jobs.moves_ended(plane, count) {
            self.queue_erase(plane, block, state);
        }
    }

    /// Logs that the moves in the plane's list now wait; the first has serial `first`.
    #[cold]
    fn report_moves(&mut self, plane: PlaneId, first: u64, state: &mut State) {
        for i in 0..self.moves.list(plane).len() {
            let lpn = self.moves.list(plane)[i].1;
            self.report_waiting(first + i as u64, FlashOp::Read, lpn, plane, state);
        }
    }

    /// Logs that a transaction of garbage collection now waits.
    #[cold]
    fn report_waiting(&self, txn: u64, op: FlashOp, lpn: Lpn, plane: PlaneId, state: &mut State) {
        let bytes = if op == FlashOp::Erase { 0 } else { self.page_on_bus };
        let (request, flow, owner) = (None, FlowId(0), self.jobs.owner(plane));
        state.log(|| Event::Queued { txn, request, flow, op, owner, lpn, plane, bytes });
    }
}

/// Marks a unit for which garbage collection now waits: it must decide, unless it is busy.
#[inline(always)]
fn mark_unless_busy(unit: UnitId, state: &mut State) {
    if state.board.units[unit.index()].service != Service::Busy {
        state.mark(unit);
    }
}

/// What pages are moved for.
#[inline(always)]
fn stream_of(owner: Owner) -> Stream {
    if owner == Owner::Fold { Stream::Fold } else { Stream::Gc }
}

/// Creates a transaction of garbage collection, or of folding: its read and its erase are of a block in SLC mode.
#[inline(always)]
fn new_transaction(
    moved: Move,
    unit: UnitId,
    (op, owner): (FlashOp, Owner),
    (bytes, transfer): (u32, Duration),
    stage: Stage,
    state: &mut State,
) -> TxnId {
    let Move { plane, from, lpn, serial, since } = moved;
    let id = state.allocate();
    let slot = state.board.home_of(plane).1;
    *state.board.txn_mut(id) = Transaction {
        serial,
        enqueued: since,
        lpn,
        ppa: from.0,
        bytes,
        transfer,
        plane,
        unit,
        slot,
        op,
        owner,
        slc: owner == Owner::Fold,
        stage,
        ..Transaction::EMPTY
    };
    id
}

// Folding for writes without a plane, and while the device has nothing else to do.

impl Gc {
    /// No user transaction has been in the device for as long as the configuration says: full blocks in SLC mode are folded, one after
    /// the other in each plane, until there is one.
    #[cold]
    pub(crate) fn fold_in_idle_time(&mut self, state: &mut State, ftl: &mut Ftl) {
        self.folds_in_idle_time = true;
        for plane in (0..state.board.planes.len() as u16).map(PlaneId) {
            self.start(plane, Need::Idle, state, ftl);
        }
    }

    /// Whether a write that finds the SLC cache full waits until a block has been folded.
    #[inline(always)]
    pub(crate) fn writes_wait_for_folds(&self) -> bool {
        !self.jobs.direct
    }

    /// A write that may go to any plane is left, since no unit could begin it: every plane that has no page for it folds a block. Else nothing
    /// would ask that plane for a page before all others are full.
    #[cold]
    pub(crate) fn fold_for_unplaced(&mut self, state: &mut State, ftl: &mut Ftl) {
        for plane in (0..state.board.planes.len() as u16).map(PlaneId) {
            if !state.board.plane(plane).has_free_page {
                self.start(plane, Need::Page, state, ftl);
                // Where that takes no time, the write may go there at this instant.
                state.agenda.open |= state.board.plane(plane).has_free_page;
            }
        }
    }

    /// Folds the next block of a plane, unless there is a user transaction by now.
    fn fold_on(&mut self, plane: PlaneId, state: &mut State, ftl: &mut Ftl) {
        self.folds_in_idle_time = state.now() <= self.idle_ends && !has_user_transactions(&state.board);
        if self.folds_in_idle_time {
            self.start(plane, Need::Idle, state, ftl);
        }
    }

    /// A user transaction has ended: no further block is folded before the device has been idle again.
    #[inline(always)]
    pub(crate) fn idle_time_is_over(&mut self) {
        self.folds_in_idle_time = false;
    }
}

/// Whether a transaction of the host or the buffer waits or is in service.
pub(crate) fn has_user_transactions(board: &Board) -> bool {
    let serves = |command: &Command| !command.owner.collects();
    board.any_unplaced()
        || board.units.iter().any(|unit| {
            unit.user_waiting() > 0
                || unit.service == Service::Busy && serves(&unit.command)
                || unit.paused.lead.is_some() && serves(&unit.paused)
        })
}

// From an emptied victim to its erase, which waits for the reads that need a page of the block ([`Pins`]).

impl Gc {
    /// Makes the erase of an emptied victim, which waits for its unit; that of a pinned one when its last read has ended.
    #[cold]
    fn queue_erase(&mut self, plane: PlaneId, block: u32, state: &mut State) {
        if !self.is_erasable(plane, block) {
            return;
        }
        let unit = state.board.home_of(plane).0;
        let from = Ppa(block * state.board.facts.geometry.pages_per_block);
        let erase = Move { plane, from, lpn: Lpn(0), serial: state.take_serials(1), since: state.now() };
        let op = (FlashOp::Erase, self.jobs.owner(plane));
        let id = new_transaction(erase, unit, op, (0, Duration::ZERO), Stage::Waiting, state);
        if state.log.on {
            self.report_waiting(erase.serial, FlashOp::Erase, Lpn(0), plane, state);
        }
        self.moves.add_erase(unit, id);
        state.board.units[unit.index()].gc.erases += 1;
        mark_unless_busy(unit, state);
    }

    /// Whether an emptied victim may be erased now. If not, [`Gc::unpin`] sees to its erase.
    fn is_erasable(&mut self, plane: PlaneId, block: u32) -> bool {
        let is_pinned = self.pins.holds(plane, block);
        self.late_erases += u64::from(is_pinned);
        !is_pinned
    }

    /// A read keeps the page `ppa`, which is about to become invalid: its block is not erased before [`Gc::unpin`].
    pub(crate) fn pin(&mut self, plane: PlaneId, ppa: Ppa, board: &Board) {
        self.pins.pin(plane, ppa.0 / board.facts.geometry.pages_per_block);
    }

    /// A read that kept the page `ppa` has ended. If it was the last of its block, and the block has been emptied, it is erased now.
    #[cold]
    pub(crate) fn unpin(&mut self, plane: PlaneId, ppa: Ppa, state: &mut State, ftl: &mut Ftl) {
        let block = ppa.0 / state.board.facts.geometry.pages_per_block;
        if !self.pins.unpin(plane, block) || !self.jobs.is_emptied(plane, block) {
            return;
        }
        if self.free {
            self.block_erased(plane, block, state, ftl);
        } else {
            self.queue_erase(plane, block, state);
        }
    }

    /// A victim's erase has ended, or needs no time: its plane may need another one.
    #[cold]
    fn block_erased(&mut self, plane: PlaneId, block: u32, state: &mut State, ftl: &mut Ftl) {
        self.close(plane, block, state, ftl);
        if self.jobs.needs_collection(plane, ftl) {
            self.start(plane, Need::Blocks, state, ftl);
        }
        if self.folds_in_idle_time {
            self.fold_on(plane, state, ftl);
        }
        ftl.publish(&mut state.board, plane);
    }

    /// Records the erase of `plane`'s victim and ends its job.
    fn close(&mut self, plane: PlaneId, block: u32, state: &mut State, ftl: &mut Ftl) {
        ftl.erased(plane, block);
        ftl.count_erase(&mut state.board);
        self.jobs.close(plane);
        state.board.planes[plane.index()].collecting = false;
        state.log(|| Event::Erased { plane, block });
    }
}
