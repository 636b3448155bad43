//! What a drive holds before its first request, for who asks about that when the run has moved on: an auditor, for one.
//!
//! Owns a copy of the formula ([`Initial`]) and of the stripe, a few bytes a block of one plane; it must never know what a
//! device has done since.

use alloc::vec::Vec;

use flashlane_core::geometry::Stripe;
use flashlane_core::{Lpn, PlaneId, Ppa};

use super::initial::Initial;
use crate::config::{Config, Precondition};

/// What a drive holds before its first request, as a formula.
#[derive(Debug)]
pub struct Beginning {
    initial: Initial,
    stripe: Stripe,
    positions: Vec<u32>,
    /// Pages written in each plane's open block.
    open_pages: Vec<u32>,
    pages_per_block: u32,
}

impl Beginning {
    /// The drive that `config` asks for; `None` where no formula says what it holds (`replayed`).
    pub fn of(config: &Config) -> Option<Beginning> {
        if let Precondition::Replayed { .. } = config.precondition {
            return None;
        }
        let initial = Initial::new(config);
        let stripe = Stripe::new(&config.geometry, config.ftl.order);
        Some(Beginning {
            positions: stripe.positions(),
            stripe,
            open_pages: initial.open_pages(config).collect(),
            initial,
            pages_per_block: config.geometry.pages_per_block,
        })
    }

    /// Where a logical page lies; `None` if nothing was written there.
    pub fn place(&self, lpn: Lpn) -> Option<(PlaneId, Ppa)> {
        let (plane, local) = self.stripe.home(lpn);
        (lpn.0 < self.initial.written()).then(|| (plane, self.initial.address(local)))
    }

    /// The logical page that a physical page holds, if any.
    pub fn owner(&self, plane: PlaneId, ppa: Ppa) -> Option<Lpn> {
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
