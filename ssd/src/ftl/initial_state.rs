//! What a drive holds before its first request, for callers that need it later in the run, such as an auditor.
//!
//! Owns a copy of the formula ([`Initial`]) and of the stripe, a few bytes for each block of one plane. It must never know what
//! the device has done since.

use alloc::vec::Vec;

use flashlane_core::geometry::Stripe;
use flashlane_core::{Lpn, PlaneId, Ppa};

use super::initial::Initial;
use crate::config::{Config, Precondition};

/// What a drive holds before its first request, as a formula.
#[derive(Debug)]
pub struct InitialState {
    initial: Initial,
    stripe: Stripe,
    positions: Vec<u32>,
    /// Pages written in each plane's open block.
    open_pages: Vec<u32>,
    pages_per_block: u32,
}

impl InitialState {
    /// The initial state of `config`; `None` if no formula gives it (`replayed`).
    pub fn of(config: &Config) -> Option<InitialState> {
        if let Precondition::Replayed { .. } = config.precondition {
            return None;
        }
        let initial = Initial::new(config);
        let stripe = Stripe::new(&config.geometry, config.ftl.order);
        Some(InitialState {
            positions: stripe.positions(),
            stripe,
            open_pages: initial.open_pages(config).collect(),
            initial,
            pages_per_block: config.geometry.pages_per_block,
        })
    }

    /// Where a logical page lies; `None` if it holds no data.
    pub fn place(&self, lpn: Lpn) -> Option<(PlaneId, Ppa)> {
        let (plane, local) = self.stripe.home(lpn);
        (lpn.0 < self.initial.written()).then(|| (plane, self.initial.address(local)))
    }

    /// The logical page that a physical page holds, if any.
    pub fn lpn_at(&self, plane: PlaneId, ppa: Ppa) -> Option<Lpn> {
        let position = self.positions[plane.index()];
        let local = self.initial.find(ppa).filter(|&local| local < self.initial.pages_of(position))?;
        Some(Lpn(local * self.positions.len() as u32 + position))
    }

    /// Programmed pages of a block (counted inside its plane), from its start.
    pub fn written(&self, plane: PlaneId, block: u32) -> u32 {
        let sealed = self.initial.sealed();
        match block {
            _ if block < sealed => self.pages_per_block,
            _ if block == sealed => self.open_pages[plane.index()],
            _ => 0,
        }
    }
}
