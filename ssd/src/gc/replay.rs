//! Preconditioning by replay: a full drive is overwritten at random before the first request, in no simulated time.
//!
//! The analytic steady state is computed at once but models one policy only. The replay reaches a steady state by executing the
//! writes, with the victim policy, the frontiers and the thresholds of the run itself.

use flashlane_core::{Lpn, PlaneId, Ppa};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use alloc::vec::Vec;

use super::jobs::Jobs;
use crate::config::Config;
use crate::ftl::Ftl;

impl Jobs {
    /// Overwrites uniformly drawn logical pages, `percent` percent of the drive's number of them, and collects garbage at once
    /// when a plane needs it. Counts neither in the totals nor in the erase counts.
    pub(super) fn replay(&mut self, ftl: &mut Ftl, config: &Config, percent: u32) {
        let mut rng = Pcg64Mcg::new(((config.seed as u128) << 64) | 0x9ec0_9d17_10ad_5eed);
        let mut scratch = Vec::new();
        let pages = u64::from(config.ftl.logical_pages);
        for _ in 0..pages * u64::from(percent) / 100 {
            // The high half of the product is uniform over the pages, but for one part in 2^32.
            let lpn = Lpn(((u64::from(rng.next_u32()) * pages) >> 32) as u32);
            let plane = ftl.home(lpn);
            while self.needs_collection(plane, ftl) && self.collect_at_once(plane, ftl, &mut scratch) {}
            ftl.write(lpn, plane).expect("the configuration check leaves a plane blocks to collect");
        }
        self.reset_counts();
        ftl.reset_counts();
    }

    /// Empties and erases a victim of the plane. Returns whether one was found.
    fn collect_at_once(&mut self, plane: PlaneId, ftl: &mut Ftl, pages: &mut Vec<(Ppa, Lpn)>) -> bool {
        let Some(job) = self.open(plane, ftl) else { return false };
        ftl.valid_pages(plane, job.block, pages);
        for &(from, lpn) in pages.iter() {
            ftl.move_page(lpn, plane, from);
        }
        ftl.erased(plane, job.block);
        self.close(plane);
        true
    }
}
