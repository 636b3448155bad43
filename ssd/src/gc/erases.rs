//! From an emptied victim to its erase, which waits for the reads that need a page of the block ([`super::pins`]).

use flashlane_core::event::Event;
use flashlane_core::transaction::{FlashOp, Stage};
use flashlane_core::{Board, Duration, Lpn, PlaneId, Ppa};

use super::moves::Move;
use super::{Gc, has_work, new_transaction};
use crate::ftl::Ftl;
use crate::state::State;

impl Gc {
    /// Makes the erase of an emptied victim, which waits for its unit; that of a pinned one when its last read has ended.
    #[cold]
    pub(super) fn queue_erase(&mut self, plane: PlaneId, block: u32, state: &mut State) {
        if !self.is_erasable(plane, block) {
            return;
        }
        let unit = state.board.home_of(plane).0;
        let from = Ppa(block * state.board.facts.geometry.pages_per_block);
        let erase = Move { plane, from, lpn: Lpn(0), serial: state.take_serials(1), since: state.now() };
        let id = new_transaction(erase, unit, FlashOp::Erase, (0, Duration::ZERO), Stage::Waiting, state);
        if state.log.on {
            self.report_waiting(erase.serial, FlashOp::Erase, Lpn(0), plane, state);
        }
        self.moves.add_erase(unit, id);
        state.board.units[unit.index()].gc.erases += 1;
        has_work(unit, state);
    }

    /// Whether an emptied victim may be erased now. If not, [`Gc::unpin`] sees to its erase.
    pub(super) fn is_erasable(&mut self, plane: PlaneId, block: u32) -> bool {
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
    pub(super) fn block_erased(&mut self, plane: PlaneId, block: u32, state: &mut State, ftl: &mut Ftl) {
        self.close(plane, block, state, ftl);
        if self.jobs.needs_collection(plane, ftl) {
            self.start(plane, state, ftl);
        }
        self.publish(plane, state, ftl);
    }

    /// Records the erase of `plane`'s victim and ends its job.
    pub(super) fn close(&mut self, plane: PlaneId, block: u32, state: &mut State, ftl: &mut Ftl) {
        ftl.erased(plane, block);
        self.jobs.close(plane);
        if self.keeps_page_flows {
            // FLIN eq. 10 counts the pages a flow has written since the last erase.
            state.board.flows.iter_mut().for_each(|flow| flow.programmed_at_erase = flow.programmed);
        }
        state.log(|| Event::Erased { plane, block });
    }
}
