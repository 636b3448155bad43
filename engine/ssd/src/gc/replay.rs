//! Preconditioning by replay: a full drive is overwritten at random before the first request, in no simulated time.
//!
//! The analytic steady state is computed at once but models one policy only. The replay reaches a steady state by executing the
//! writes, with the victim policy, the frontiers and the thresholds of the run itself. That takes seconds on a large drive, and
//! the scheduler has no part in it: the state is made once and copied for each run.
//!
//! Each plane is overwritten by itself, with its writes in their order: no write touches another plane. So several threads of the
//! caller can overwrite planes at the same time ([`Replay`]), and the state is the same. Only victim policies that sample at random need the
//! order of all writes, because all planes share their generator.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::size_of;
use core::ops::Range;

use flashlane_core::{Lpn, PlaneId, Ppa};
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use serde::de::{DeserializeSeed, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::victim::{self, Jobs, Need};
use crate::config::{Config, ConfigError, Precondition, Victim};
use crate::ftl::{Ftl, PlaneReplay, PlaneStates, Stream, Tables};

/// How many writes or moves ahead the map entry of a page is prefetched.
const PREFETCH_DISTANCE: usize = 16;
/// Writes are held for this many planes at a time, and sampled again for the next ones: to hold all would take as much memory as the map.
const BATCH: u32 = 16;

/// Space for the writes of a plane, of which there are about as many as of any other.
fn writes_of_plane(config: &Config, percent: u32) -> usize {
    let mean = u64::from(config.stored_pages()) * u64::from(percent) / 100 / u64::from(config.geometry.planes());
    (mean + mean / 16 + 64) as usize
}

/// Bytes of the writes that are held at a time.
pub(crate) fn bytes_of_writes(config: &Config, percent: u32) -> u64 {
    let planes = BATCH.min(config.geometry.planes()) as usize;
    (planes * writes_of_plane(config, percent) * size_of::<Lpn>()) as u64
}

/// The state of a drive before its first request, made by replay or by an earlier use ([`crate::SavedUse`]).
#[derive(Clone, Debug)]
pub struct Replayed {
    pub(super) ftl: Ftl,
    pub(super) jobs: Jobs,
    /// The rest of the state of a used drive.
    pub(crate) used: Option<Box<UsedRest>>,
}

/// The state of a used drive besides its pages and blocks.
#[derive(Clone, Debug)]
pub(crate) struct UsedRest {
    /// What each part of the page buffer holds, if there is one.
    pub(crate) buffer: Option<Vec<Vec<(u32, bool)>>>,
    /// The generator of array times.
    pub(crate) rng: Pcg64Mcg,
}

impl Replayed {
    /// The state of a used drive.
    pub(crate) fn of_use(config: &Config, ftl: Ftl, victim_rng: Pcg64Mcg, used: UsedRest) -> Replayed {
        Replayed { ftl, jobs: Jobs::with_rng(config, victim_rng), used: Some(Box::new(used)) }
    }

    /// The state that `config` asks for; `None` if a formula gives it.
    ///
    /// # Errors
    /// The first configuration value that is out of range, by key.
    pub fn of(config: &Config) -> Result<Option<Replayed>, ConfigError> {
        Ok(Replay::of(config, 1)?.map(|replay| {
            let mut drive = replay.drive();
            (0..replay.parts()).for_each(|part| replay.overwrite(part, |done| drive.put(done)));
            drive
        }))
    }

    /// Takes over what was overwritten of this drive.
    pub fn put(&mut self, done: Overwritten) {
        match done.0 {
            Piece::Plane(plane, one_plane) => self.ftl.put_in(plane, *one_plane),
            Piece::Drive(drive) => *self = *drive,
        }
    }
}

/// A replay that is yet to be made, in parts that do not depend on one another.
#[derive(Debug)]
pub struct Replay {
    config: Config,
    percent: u32,
    /// Planes of a part; without the states of planes the drive is one part.
    planes: Option<(PlaneStates, u32)>,
}

/// What a part of a replay has overwritten: a plane, or the drive.
#[derive(Debug)]
pub struct Overwritten(Piece);

#[derive(Debug)]
enum Piece {
    Plane(PlaneId, Box<PlaneReplay>),
    Drive(Box<Replayed>),
}

impl Replay {
    /// The replay that `config` asks for, in parts for `threads` threads; `None` if a formula gives the state.
    ///
    /// # Errors
    /// The first configuration value that is out of range, by key.
    pub fn of(config: &Config, threads: usize) -> Result<Option<Replay>, ConfigError> {
        config.check()?;
        let Precondition::Replayed { percent } = config.precondition else { return Ok(None) };
        let planes = match config.gc.victim {
            Victim::Random | Victim::DChoices(_) => None,
            Victim::Greedy | Victim::Fifo | Victim::CostBenefit => {
                // All threads together hold as many writes as one would.
                let together = BATCH.min(config.geometry.planes());
                Some((PlaneStates::new(config), (together / threads.clamp(1, BATCH as usize) as u32).max(1)))
            }
        };
        Ok(Some(Replay { config: config.clone(), percent, planes }))
    }

    /// Number of parts.
    pub fn parts(&self) -> u32 {
        self.planes.as_ref().map_or(1, |&(_, planes)| self.config.geometry.planes().div_ceil(planes))
    }

    /// Number of times that all parts together call `done` of [`Replay::overwrite`].
    pub fn pieces(&self) -> u32 {
        self.planes.as_ref().map_or(1, |_| self.config.geometry.planes())
    }

    /// The drive before it is overwritten, into which all parts are to be put.
    pub fn drive(&self) -> Replayed {
        let mut ftl = Ftl::new(&self.config);
        if self.planes.is_some() {
            ftl.open_all_blocks();
        }
        Replayed { ftl, jobs: Jobs::new(&self.config), used: None }
    }

    /// Makes a part. `done` gets each plane when it has been overwritten.
    pub fn overwrite(&self, part: u32, mut done: impl FnMut(Overwritten)) {
        let Some((states, planes)) = &self.planes else {
            return done(Overwritten(Piece::Drive(Box::new(in_order(&self.config, self.percent)))));
        };
        let first = part * planes;
        let writes = self.writes_of(states, first..(first + planes).min(self.config.geometry.planes()));
        for plane in (0..self.config.geometry.planes() as u16).map(PlaneId) {
            let at = states.positions()[plane.index()].checked_sub(first);
            let Some(writes) = at.and_then(|at| writes.get(at as usize)) else { continue };
            let mut one_plane = states.plane(plane);
            overwrite_plane(&self.config, writes, &mut one_plane);
            done(Overwritten(Piece::Plane(plane, Box::new(one_plane))));
        }
    }

    /// The writes to the planes at these stripe positions, each by its number among the plane's logical pages.
    fn writes_of(&self, states: &PlaneStates, positions: Range<u32>) -> Vec<Vec<Lpn>> {
        let space = writes_of_plane(&self.config, self.percent);
        let mut writes: Vec<Vec<Lpn>> = positions.clone().map(|_| Vec::with_capacity(space)).collect();
        for lpn in overwritten_pages(&self.config, self.percent) {
            let (position, local) = states.split(lpn);
            let at = position.checked_sub(positions.start);
            if let Some(writes) = at.and_then(|at| writes.get_mut(at as usize)) {
                writes.push(Lpn(local));
            }
        }
        writes
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
        Ok(Replayed { ftl, jobs: Jobs::with_rng(self.0, rng), used: None })
    }
}

/// The pages that are overwritten, uniformly sampled: `percent` percent of the drive's number of them. Translation pages are among them.
fn overwritten_pages(config: &Config, percent: u32) -> impl Iterator<Item = Lpn> + use<> {
    let mut rng = Pcg64Mcg::new(((config.seed as u128) << 64) | 0x9ec0_9d17_10ad_5eed);
    let pages = u64::from(config.stored_pages());
    // The high half of the product is uniform over the pages, but for one part in 2^32.
    (0..pages * u64::from(percent) / 100).map(move |_| Lpn(((u64::from(rng.next_u32()) * pages) >> 32) as u32))
}

/// The whole drive, overwritten in the order of all writes.
pub(super) fn in_order(config: &Config, percent: u32) -> Replayed {
    let (mut ftl, mut jobs) = (Ftl::new(config), Jobs::new(config));
    let mut scratch = Vec::new();
    for lpn in overwritten_pages(config, percent) {
        jobs.overwrite(lpn, &mut ftl, &mut scratch);
    }
    jobs.reset_counts();
    ftl.reset_counts();
    Replayed { ftl, jobs, used: None }
}

/// Overwrites a plane as [`Jobs::overwrite`] does, with victims that are not sampled.
fn overwrite_plane(config: &Config, writes: &[Lpn], plane: &mut PlaneReplay) {
    let (victim, mut never_drawn) = (config.gc.victim, Pcg64Mcg::new(0));
    for (number, &lpn) in writes.iter().enumerate() {
        if let Some(&later) = writes.get(number + PREFETCH_DISTANCE) {
            plane.prefetch(later);
        }
        while plane.free_blocks() < config.gc.start_blocks {
            let (pool, pages) = plane.pool_mut();
            let Some(block) = victim::choose(victim, pool, (pages, pages), &mut never_drawn) else { break };
            pool.becomes_victim(block);
            plane.empty(block);
        }
        plane.write(lpn);
    }
}

impl Jobs {
    /// Overwrites a logical page, and collects garbage at once when its plane needs it.
    fn overwrite(&mut self, lpn: Lpn, ftl: &mut Ftl, scratch: &mut Vec<(Ppa, Lpn)>) {
        let plane = ftl.map.home(lpn).0;
        while self.needs_collection(plane, ftl) && self.collect_at_once(plane, ftl, scratch) {}
        ftl.write(lpn, plane).expect("the configuration check leaves a plane blocks to collect");
    }

    /// Empties and erases a victim of the plane. Returns whether one was found.
    fn collect_at_once(&mut self, plane: PlaneId, ftl: &mut Ftl, pages: &mut Vec<(Ppa, Lpn)>) -> bool {
        let Some(job) = self.open(plane, Need::Blocks, ftl) else { return false };
        ftl.valid_pages(plane, job.block, pages);
        for (number, &(from, lpn)) in pages.iter().enumerate() {
            if let Some(&(_, later)) = pages.get(number + PREFETCH_DISTANCE) {
                ftl.map.prefetch(later);
            }
            ftl.move_page(lpn, plane, from, Stream::Gc);
        }
        ftl.erased(plane, job.block);
        self.close(plane);
        true
    }
}

#[cfg(test)]
mod tests {
    // A drive overwritten plane by plane is the one overwritten in the order of all writes.

    use alloc::vec::Vec;

    use flashlane_core::geometry::{Geometry, UnitKind};
    use flashlane_core::{Lpn, PlaneId};

    use super::*;
    use crate::config::{Ftl, Gc};

    /// Percent of the drive that is overwritten.
    const PERCENT: u32 = 300;

    /// A drive of 24 planes, so that a replay has several parts. Its last stripe is not full.
    fn config(victim: Victim, separate_frontier: bool, wear_aware: bool) -> Config {
        let geometry = Geometry {
            channels: 3,
            chips_per_channel: 2,
            dies_per_chip: 2,
            planes_per_die: 2,
            blocks_per_plane: 24,
            pages_per_block: 16,
            page_bytes: 8192,
            metadata_bytes: 448,
            slots: 1,
            row_planes: 1,
            unit: UnitKind::Chip,
        };
        let plain = Config::plain(geometry);
        Config {
            ftl: Ftl { logical_pages: 24 * 16 * 18 + 5, wear_aware, ..plain.ftl },
            gc: Gc { victim, separate_frontier, ..plain.gc },
            precondition: Precondition::Replayed { percent: PERCENT },
            ..plain
        }
    }

    /// All that a run can see of a plane: where its pages are, and its blocks.
    fn seen(
        state: &Replayed,
        config: &Config,
        plane: PlaneId,
    ) -> (Vec<Vec<(flashlane_core::Ppa, Lpn)>>, alloc::string::String) {
        let mut pages = Vec::new();
        for block in 0..config.geometry.blocks_per_plane {
            let mut of_block = Vec::new();
            state.ftl.valid_pages(plane, block, &mut of_block);
            pages.push(of_block);
        }
        (pages, state.ftl.blocks_in_words(plane))
    }

    /// The drive overwritten in parts for a number of threads, the last one first.
    fn by_plane(config: &Config, threads: usize) -> Replayed {
        let replay = Replay::of(config, threads).expect("a legal drive").expect("a replay");
        assert_eq!(replay.parts(), if threads == 1 { 2 } else { 24 });
        let mut drive = replay.drive();
        (0..replay.parts()).rev().for_each(|part| replay.overwrite(part, |done| drive.put(done)));
        drive
    }

    #[test]
    fn plane_by_plane_the_drive_is_the_same() {
        for victim in [Victim::Greedy, Victim::Fifo, Victim::CostBenefit] {
            for (separate, wear_aware) in [(false, false), (true, false), (false, true), (true, true)] {
                let config = config(victim, separate, wear_aware);
                config.check().expect("a legal drive");
                let threads = if wear_aware { 1 } else { 64 };
                let (one, other) = (by_plane(&config, threads), in_order(&config, PERCENT));
                for lpn in (0..config.ftl.logical_pages).map(Lpn) {
                    let place = |state: &Replayed| (state.ftl.map.plane_of(lpn), state.ftl.map.lookup(lpn));
                    assert_eq!(place(&one), place(&other), "{victim:?}, {lpn:?}");
                }
                for plane in (0..config.geometry.planes() as u16).map(PlaneId) {
                    let (one, other) = (seen(&one, &config, plane), seen(&other, &config, plane));
                    assert_eq!(one, other, "{victim:?}, {separate}, {wear_aware}, {plane:?}");
                    assert!(one.0.iter().any(|pages| !pages.is_empty() && pages.len() < 16), "nothing was overwritten");
                }
            }
        }
    }

    /// Of the drive's 6,917 pages 69 are overwritten at 1 % and 345 at 5 %, rounded down. So few need no collection, and every page that was
    /// written is still there.
    #[test]
    fn the_given_percentage_of_pages_is_overwritten() {
        for victim in [Victim::Greedy, Victim::Random] {
            for (percent, overwritten) in [(1, 69), (5, 345)] {
                let config =
                    Config { precondition: Precondition::Replayed { percent }, ..config(victim, false, false) };
                let drive = Replayed::of(&config).expect("a legal drive").expect("a replay");
                let planes = (0..config.geometry.planes() as u16).map(PlaneId);
                let blocks = |plane| (0..config.geometry.blocks_per_plane).map(move |block| (plane, block));
                let written: u32 = planes.flat_map(blocks).map(|(plane, block)| drive.ftl.written(plane, block)).sum();
                assert_eq!(written, 24 * 289 + overwritten, "{victim:?}, {percent} %");
            }
        }
    }
}
