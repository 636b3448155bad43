//! The page map: logical page to physical page.
//!
//! Logical pages that were not written during the run are where preconditioning put them, which [`Initial`] computes. So a drive
//! of any size starts in milliseconds and takes memory only for the entries that a run touches.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::geometry::Stripe;
use flashlane_core::{Lpn, PlaneId, Ppa};
use prefetch_index::prefetch_index;

use super::initial::Initial;
use crate::config::Config;

/// The page map.
#[derive(Clone, Debug)]
pub struct Map {
    stripe: Stripe,
    positions: Vec<u32>,
    /// By logical page: physical page plus one; 0 if it was not written during the run.
    forward: Vec<u32>,
    /// By logical page: plane plus one; 0 for its home plane. Empty when pages never leave their home plane.
    planes: Vec<u16>,
    initial: Initial,
}

impl Map {
    /// The map of a drive in the state `initial`.
    pub(super) fn new(config: &Config, initial: Initial) -> Map {
        let g = &config.geometry;
        let stripe = Stripe::new(g, config.ftl.order);
        Map {
            positions: stripe.positions(),
            stripe,
            forward: vec![0; config.ftl.logical_pages as usize],
            planes: Vec::new(),
            initial,
        }
    }

    /// Lets pages leave their home plane, in which all are until then.
    pub(super) fn enable_dynamic_placement(&mut self) {
        self.planes = vec![0; self.forward.len()];
    }

    /// The entries of all logical pages.
    pub(super) fn entries(&self) -> &[u32] {
        &self.forward
    }

    /// Takes other entries for all logical pages; they must be as many.
    pub(super) fn set_entries(&mut self, entries: Vec<u32>) {
        assert_eq!(entries.len(), self.forward.len(), "an entry for each logical page");
        self.forward = entries;
    }

    /// The stripe position of each plane.
    pub(super) fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// The initial state.
    pub(super) fn initial(&self) -> &Initial {
        &self.initial
    }

    /// Logical pages that the initial state puts on `plane`.
    pub(super) fn initial_pages(&self, plane: PlaneId) -> u32 {
        self.initial.pages_of(self.positions[plane.index()])
    }

    /// Home plane of `lpn`, and which of that plane's logical pages it is.
    #[inline]
    pub fn home(&self, lpn: Lpn) -> (PlaneId, u32) {
        self.stripe.home(lpn)
    }

    /// The plane where `lpn` lies; its home plane if it was never written.
    #[inline]
    pub fn plane_of(&self, lpn: Lpn) -> PlaneId {
        match self.planes.get(lpn.0 as usize) {
            Some(&plane) if plane != 0 => PlaneId(plane - 1),
            _ => self.home(lpn).0,
        }
    }

    /// Where `lpn` lies in its plane.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Ppa {
        match self.forward[lpn.0 as usize] {
            0 => self.initial.address(self.home(lpn).1),
            ppa => Ppa(ppa - 1),
        }
    }

    /// Where the current copy of `lpn` lies; `None` for a page never written.
    #[inline]
    pub(super) fn current(&self, lpn: Lpn) -> Option<(PlaneId, Ppa)> {
        match self.forward[lpn.0 as usize] {
            0 => {
                let (plane, local) = self.home(lpn);
                (local < self.initial_pages(plane)).then(|| (plane, self.initial.address(local)))
            }
            ppa => Some((self.plane_of(lpn), Ppa(ppa - 1))),
        }
    }

    /// Maps `lpn` to a physical page.
    #[inline]
    pub(super) fn set(&mut self, lpn: Lpn, plane: PlaneId, ppa: Ppa) {
        self.forward[lpn.0 as usize] = ppa.0 + 1;
        if let Some(entry) = self.planes.get_mut(lpn.0 as usize) {
            *entry = plane.0 + 1;
        }
    }

    /// The logical page that the initial state puts into a physical page, which must be valid and not written since.
    pub(super) fn initial_lpn(&self, plane: PlaneId, ppa: Ppa) -> Lpn {
        Lpn(self.initial.local_at(ppa) * self.positions.len() as u32 + self.positions[plane.index()])
    }

    /// Prefetches the entry of `lpn`: on a large drive, reading it is a cache miss.
    #[inline]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        prefetch_index(&self.forward, lpn.0 as usize);
    }
}
