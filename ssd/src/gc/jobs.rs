//! Collection jobs: a plane's victim, from its choice to its erase.

use alloc::vec::Vec;

use flashlane_core::{Board, PlaneId};
use rand_pcg::Pcg64Mcg;

use super::victim;
use crate::config::{Config, Victim};
use crate::ftl::Ftl;

/// A plane's victim and the work left to empty it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// The block to empty.
    pub(super) block: u32,
    /// Page moves not yet ended.
    pub(super) moves_left: u32,
}

/// The jobs of all planes.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    planes: Vec<Option<Job>>,
    victim: Victim,
    start_blocks: u32,
    rng: Pcg64Mcg,
    /// Victims chosen.
    pub(super) victims: u64,
    /// Valid pages in them when they were chosen.
    pub(super) victim_valid: u64,
}

impl Jobs {
    /// The jobs of an idle device: no plane is being collected.
    pub(super) fn new(config: &Config) -> Jobs {
        Jobs {
            planes: alloc::vec![None; config.geometry.planes() as usize],
            victim: config.gc.victim,
            start_blocks: config.gc.start_blocks,
            rng: Pcg64Mcg::new(((config.seed as u128) << 64) | 0x5eed_0f7c_11ec_7013),
            victims: 0,
            victim_valid: 0,
        }
    }

    /// The generator of victim policies that sample at random.
    pub(super) fn rng(&self) -> &Pcg64Mcg {
        &self.rng
    }

    /// The jobs of an idle device whose next random victim `rng` samples.
    pub(super) fn with_rng(config: &Config, rng: Pcg64Mcg) -> Jobs {
        Jobs { rng, ..Jobs::new(config) }
    }

    /// Whether `plane` should start collecting now: it has no job and too few free blocks.
    #[inline]
    pub(super) fn needs_collection(&self, plane: PlaneId, ftl: &Ftl) -> bool {
        self.planes[plane.index()].is_none() && ftl.free_blocks(plane) < self.start_blocks
    }

    /// Chooses a victim in `plane` and opens a job, however many blocks are free. `None` when the plane has a job already or no
    /// sealed block has an invalid page.
    pub(super) fn open(&mut self, plane: PlaneId, ftl: &mut Ftl) -> Option<Job> {
        if self.planes[plane.index()].is_some() {
            return None;
        }
        let (pool, pages) = ftl.pool_mut(plane);
        let Some(block) = victim::choose(self.victim, pool, pages, &mut self.rng) else {
            pool.board_stale = true;
            return None;
        };
        let valid = u32::from(pool.valid_when_sealed()[block as usize]);
        pool.becomes_victim(block);
        self.victims += 1;
        self.victim_valid += u64::from(valid);
        let job = Job { block, moves_left: valid };
        self.planes[plane.index()] = Some(job);
        Some(job)
    }

    /// Counts the end of a page move of `plane`'s job. Returns the block to erase if it was the last.
    pub(super) fn move_ended(&mut self, plane: PlaneId) -> Option<u32> {
        let job = self.planes[plane.index()].as_mut().expect("a move belongs to a job");
        job.moves_left -= 1;
        (job.moves_left == 0).then_some(job.block)
    }

    /// All page moves of `plane`'s job have been made at once.
    pub(super) fn all_moved(&mut self, plane: PlaneId) {
        self.planes[plane.index()].as_mut().expect("a move belongs to a job").moves_left = 0;
    }

    /// Whether `block` is the victim of `plane` and has been emptied.
    pub(super) fn is_emptied(&self, plane: PlaneId, block: u32) -> bool {
        self.planes[plane.index()].is_some_and(|job| job.block == block && job.moves_left == 0)
    }

    /// Ends the job of `plane`, whose victim was erased.
    pub(super) fn close(&mut self, plane: PlaneId) {
        self.planes[plane.index()] = None;
    }

    /// Updates whether the board shows `plane` as being collected.
    pub(super) fn publish(&self, plane: PlaneId, board: &mut Board) {
        board.planes[plane.index()].collecting = self.planes[plane.index()].is_some();
    }

    /// Sets the counts of victims to zero.
    pub(super) fn reset_counts(&mut self) {
        (self.victims, self.victim_valid) = (0, 0);
    }
}
