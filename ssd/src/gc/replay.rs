//! Preconditioning by replay: a full drive is overwritten at random before the first request, in no simulated time.
//!
//! The analytic steady state is computed at once but models one policy only. The replay reaches a steady state by executing the
//! writes, with the victim policy, the frontiers and the thresholds of the run itself. That takes seconds on a large drive, and
//! the scheduler has no part in it: the state is made once and copied for each run.
//!
//! The planes are overwritten one after the other, each with its writes in their order: no write touches another plane. Only
//! victim policies that draw at random need the order of all writes, because all planes share their generator.

use flashlane_core::{Divisor, Lpn, PlaneId, Ppa};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use serde::de::{DeserializeSeed, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use alloc::vec::Vec;
use core::mem::size_of;

use super::jobs::Jobs;
use crate::config::{Config, ConfigError, Precondition, Victim};
use crate::ftl::{Ftl, PlaneStates, Tables};

/// How many writes ahead the map entry of a page is prefetched; half as many ahead, what the entry leads to.
const AHEAD: usize = 32;
/// How many moves ahead the map entry of a page is prefetched.
const MOVES_AHEAD: usize = 16;
/// Writes are held for so many planes at a time, and drawn anew for the next ones: to hold all would take as much memory as the map.
const TOGETHER: u32 = 16;

/// Space for the writes of a plane, of which there are about as many as of any other.
fn writes_of_plane(config: &Config, percent: u32) -> usize {
    let mean = u64::from(config.ftl.logical_pages) * u64::from(percent) / 100 / u64::from(config.geometry.planes());
    (mean + mean / 16 + 64) as usize
}

/// Bytes of the writes that are held at a time.
pub(crate) fn bytes_of_writes(config: &Config, percent: u32) -> u64 {
    let planes = TOGETHER.min(config.geometry.planes()) as usize;
    (planes * writes_of_plane(config, percent) * size_of::<Lpn>()) as u64
}

/// The state of a drive before its first request, made by replay.
#[derive(Clone, Debug)]
pub struct Replayed {
    pub(super) ftl: Ftl,
    pub(super) jobs: Jobs,
}

impl Replayed {
    /// The state that `config` asks for; `None` if a formula gives it.
    ///
    /// # Errors
    /// The first configuration value that is out of range, by key.
    pub fn of(config: &Config) -> Result<Option<Replayed>, ConfigError> {
        config.check()?;
        let Precondition::Replayed { percent } = config.precondition else { return Ok(None) };
        Ok(Some(match config.gc.victim {
            Victim::Random | Victim::DChoices(_) => in_order(config, percent),
            Victim::Greedy | Victim::Fifo | Victim::CostBenefit => by_plane(config, percent),
        }))
    }
}

/// What the replay has made; what the configuration says anyway is left out.
impl Serialize for Replayed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.ftl.tables(), self.jobs.rng()).serialize(serializer)
    }
}

/// Reads the state of this configuration, as [`Replayed::of`] makes it, from what was serialised of it.
pub struct SavedState<'a>(pub &'a Config);

impl<'de> DeserializeSeed<'de> for SavedState<'_> {
    type Value = Replayed;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Replayed, D::Error> {
        let (tables, rng) = <(Tables<'_>, Pcg64Mcg)>::deserialize(deserializer)?;
        let ftl = Ftl::with_tables(self.0, tables).ok_or_else(|| D::Error::custom("of a drive of another size"))?;
        Ok(Replayed { ftl, jobs: Jobs::with_rng(self.0, rng) })
    }
}

/// The logical pages that are overwritten, uniformly drawn: `percent` percent of the drive's number of them.
fn draws(config: &Config, percent: u32) -> impl Iterator<Item = Lpn> + use<> {
    let mut rng = Pcg64Mcg::new(((config.seed as u128) << 64) | 0x9ec0_9d17_10ad_5eed);
    let pages = u64::from(config.ftl.logical_pages);
    // The high half of the product is uniform over the pages, but for one part in 2^32.
    (0..pages * u64::from(percent) / 100).map(move |_| Lpn(((u64::from(rng.next_u32()) * pages) >> 32) as u32))
}

/// Overwrites all planes at the same time.
pub(super) fn in_order(config: &Config, percent: u32) -> Replayed {
    let (mut ftl, mut jobs) = (Ftl::new(config), Jobs::new(config));
    let mut scratch = Vec::new();
    for lpn in draws(config, percent) {
        jobs.overwrite(lpn, &mut ftl, &mut scratch);
    }
    jobs.reset_counts();
    ftl.reset_counts();
    Replayed { ftl, jobs }
}

/// Overwrites one plane after the other.
pub(super) fn by_plane(config: &Config, percent: u32) -> Replayed {
    let mut ftl = Ftl::new(config);
    let mut states = PlaneStates::new(config);
    let planes = config.geometry.planes();
    let split = Divisor::new(planes);
    let mut scratch = Vec::new();
    let space = writes_of_plane(config, percent);
    let mut writes: Vec<Vec<Lpn>> = (0..TOGETHER.min(planes)).map(|_| Vec::with_capacity(space)).collect();
    for first in (0..planes).step_by(TOGETHER as usize) {
        // By stripe position.
        writes.truncate((planes - first) as usize);
        writes.iter_mut().for_each(Vec::clear);
        for lpn in draws(config, percent) {
            let (local, position) = split.split(lpn.0.into());
            if let Some(writes) = (position as u32).checked_sub(first).and_then(|at| writes.get_mut(at as usize)) {
                writes.push(Lpn(local as u32));
            }
        }
        for plane in (0..planes as u16).map(PlaneId) {
            let at = states.positions()[plane.index()].checked_sub(first);
            let Some(writes) = at.and_then(|at| writes.get(at as usize)) else { continue };
            let (mut alone, mut jobs) = (states.plane(plane), Jobs::new(config));
            for (number, &lpn) in writes.iter().enumerate() {
                if let Some(&later) = writes.get(number + AHEAD) {
                    alone.prefetch(later);
                    alone.prefetch_copy(writes[number + AHEAD / 2]);
                }
                jobs.overwrite(lpn, &mut alone, &mut scratch);
            }
            ftl.put_back(plane, alone);
        }
    }
    ftl.reset_counts();
    Replayed { ftl, jobs: Jobs::new(config) }
}

impl Jobs {
    /// Overwrites a logical page, and collects garbage at once when its plane needs it.
    fn overwrite(&mut self, lpn: Lpn, ftl: &mut Ftl, scratch: &mut Vec<(Ppa, Lpn)>) {
        let plane = ftl.home(lpn);
        while self.needs_collection(plane, ftl) && self.collect_at_once(plane, ftl, scratch) {}
        ftl.write(lpn, plane).expect("the configuration check leaves a plane blocks to collect");
    }

    /// Empties and erases a victim of the plane. Returns whether one was found.
    fn collect_at_once(&mut self, plane: PlaneId, ftl: &mut Ftl, pages: &mut Vec<(Ppa, Lpn)>) -> bool {
        let Some(job) = self.open(plane, ftl) else { return false };
        ftl.valid_pages(plane, job.block, pages);
        for (number, &(from, lpn)) in pages.iter().enumerate() {
            if let Some(&(_, later)) = pages.get(number + MOVES_AHEAD) {
                ftl.prefetch(later);
            }
            ftl.move_page(lpn, plane, from);
        }
        ftl.erased(plane, job.block);
        self.close(plane);
        true
    }
}
