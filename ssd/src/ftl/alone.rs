//! One plane of a drive as a drive of its own, for preconditioning by replay.
//!
//! Before the run no page leaves its home plane, so what is written to one plane does not touch another. A drive of one plane has
//! tables of a few megabytes, which stay in the processor's caches; those of all planes do not. Its logical pages are the plane's
//! own, numbered as they lie in its stripe position.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::{Geometry, Lpn, PlaneId};

use super::initial::Initial;
use super::map::Map;
use super::pool::Pool;
use super::reverse::Reverse;
use super::validity::Validity;
use super::{Ftl, FtlTotals};
use crate::config::Config;

/// The first state of a drive's planes, from which each is made when it is needed.
pub struct PlaneStates {
    config: Config,
    map: Map,
    validity: Validity,
    valid: Vec<Vec<u16>>,
    open_pages: Vec<u32>,
}

impl PlaneStates {
    /// The state of `config`, by formula.
    pub fn new(config: &Config) -> PlaneStates {
        let map = Map::new(config, Initial::new(config));
        let (validity, valid) = Validity::new(config, &map);
        let open_pages = map.initial().open_pages(config).collect();
        PlaneStates { config: config.clone(), map, validity, valid, open_pages }
    }

    /// One plane as a drive.
    pub fn plane(&mut self, plane: PlaneId) -> Ftl {
        let one =
            Geometry { channels: 1, chips_per_channel: 1, dies_per_chip: 1, planes_per_die: 1, ..self.config.geometry };
        let initial = self.map.initial().of_one_plane(self.map.initial_pages(plane));
        let sealed = initial.sealed();
        let mut config = self.config.clone();
        (config.geometry, config.ftl.logical_pages) = (one, self.map.initial_pages(plane));
        let mut reverse = Reverse::new(&one);
        let valid = core::mem::take(&mut self.valid[plane.index()]);
        let open = self.open_pages[plane.index()];
        let pool = Pool::new(&config, sealed, open, valid, |block| reverse.open(PlaneId(0), block));
        Ftl {
            geometry: one,
            block_size: flashlane_core::Divisor::new(one.pages_per_block),
            map: Map::new(&config, initial),
            reverse,
            validity: self.validity.of_one_plane(plane),
            pools: vec![pool],
            page_flows: None,
            totals: FtlTotals::default(),
        }
    }

    /// The stripe position of each plane: logical page `local` of the plane at `position` is page `local * planes + position` of the drive.
    pub fn positions(&self) -> &[u32] {
        self.map.positions()
    }
}

impl Ftl {
    /// Puts `alone`, which was made of `plane`, back in its place.
    pub fn put_back(&mut self, plane: PlaneId, mut alone: Ftl) {
        let (planes, position) = (self.geometry.planes(), self.map.positions()[plane.index()]);
        let lpn = |local: Lpn| Lpn(local.0 * planes + position);
        self.map.put_back(lpn, &alone.map);
        self.validity.put_back(plane, &alone.validity);
        for block in 0..self.geometry.blocks_per_plane {
            let written = alone.reverse.written_for(PlaneId(0), block);
            if !written.is_opened() {
                continue;
            }
            let segment = self.reverse.open(plane, block);
            for page in 0..self.geometry.pages_per_block {
                if let Some(local) = written.page(page) {
                    self.reverse.set(segment, page, lpn(local));
                }
            }
        }
        let mut pool = alone.pools.remove(0);
        pool.rename_segments(|block| self.reverse.open(plane, block));
        self.pools[plane.index()] = pool;
    }

    /// The blocks of a plane as text, to be compared.
    #[cfg(test)]
    pub fn blocks_in_words(&self, plane: PlaneId) -> alloc::string::String {
        self.pools[plane.index()].in_words()
    }
}
