//! Collection jobs: a plane's victim, from its choice to its erase.

use alloc::vec::Vec;

use flashlane_core::event::Event;
use flashlane_core::{Board, Lpn, PlaneId, Ppa};

use super::{Ftl, victim};
use crate::log::Log;

/// What collecting a plane takes: its victim and the work left.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The block to empty.
    pub block: u32,
    /// Page moves not yet ended.
    pub moves_left: u32,
}

impl Ftl {
    /// Whether `plane` should start collecting now.
    #[inline]
    pub fn wants_collection(&self, plane: PlaneId) -> bool {
        self.jobs[plane.index()].is_none() && self.pools[plane.index()].free_blocks() < self.start_blocks
    }

    /// Chooses a victim in `plane` and opens a job, whatever the threshold; `None` when a job runs already or no block
    /// would yield a page.
    pub fn start_job(&mut self, plane: PlaneId, board: &Board, log: &mut Log) -> Option<Job> {
        let job = self.open_job(plane)?;
        log.push(board.now, || Event::VictimChosen { plane, block: job.block, valid: job.moves_left });
        Some(job)
    }

    pub(super) fn open_job(&mut self, plane: PlaneId) -> Option<Job> {
        if self.jobs[plane.index()].is_some() {
            return None;
        }
        let pages = self.geometry.pages_per_block;
        let victim = victim::choose(self.victim, &mut self.pools[plane.index()], pages, &mut self.rng);
        let Some(block) = victim else {
            self.pools[plane.index()].turned = true;
            return None;
        };
        let valid = u32::from(self.pools[plane.index()].kept()[block as usize]);
        self.pools[plane.index()].becomes_victim(block);
        self.totals.victims += 1;
        self.totals.victim_valid += u64::from(valid);
        let job = Job { block, moves_left: valid };
        self.jobs[plane.index()] = Some(job);
        Some(job)
    }

    /// The valid pages of a block, in order, each with the logical page whose copy it holds.
    pub fn valid_pages(&self, plane: PlaneId, block: u32, out: &mut Vec<(Ppa, Lpn)>) {
        out.clear();
        // (Not `extend`: it would ask the iterator of iterators for one page at a time.)
        out.reserve(usize::from(self.pools[plane.index()].kept()[block as usize]));
        let (kept, first) = (self.reverse.written_for(plane, block), block * self.geometry.pages_per_block);
        let owner = |ppa: Ppa| self.owner_by(&kept, plane, ppa, ppa.0 - first);
        self.validity.valid_pages(plane, block).for_each(|ppa| out.push((ppa, owner(ppa))));
    }

    /// A page move of `plane`'s job ended. Returns the block to erase if it was the last.
    pub fn move_ended(&mut self, plane: PlaneId) -> Option<u32> {
        let job = self.jobs[plane.index()].as_mut().expect("a move belongs to a job");
        job.moves_left -= 1;
        (job.moves_left == 0).then_some(job.block)
    }

    /// The victim of `plane` was erased: the job is over.
    pub fn erased(&mut self, plane: PlaneId, block: u32) {
        debug_assert!(self.validity.valid_pages(plane, block).next().is_none(), "erased a block with valid pages");
        self.jobs[plane.index()] = None;
        self.pools[plane.index()].erased(block, self.geometry.pages_per_block);
        self.totals.erases += 1;
    }
}
