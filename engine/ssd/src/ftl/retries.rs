//! How often a read of a page is tried again (model 0.4).
//!
//! A function of the seed, the logical page, how often it has been written, and the wear and age of its data: every scheduler meets
//! the same pages that are hard to read.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::Lpn;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::config::{Config, ReadRetry, RetryState};

/// The states of `[device.retry]`, and how often each logical page has been written.
#[derive(Clone, Debug)]
pub(super) struct Retries {
    config: ReadRetry,
    seed: u64,
    /// Writes of each logical page that were programmed or dropped for a younger one, modulo 2^16.
    versions: Vec<u16>,
}

/// Bytes that a logical page takes.
pub(crate) const BYTES_A_PAGE: u64 = 2;

impl Retries {
    /// The retries of `config`'s drive; `None` if reads always succeed at once.
    pub(super) fn of(config: &Config) -> Option<Retries> {
        let versions = || vec![0; config.stored_pages() as usize];
        config.retry.clone().map(|retry| Retries { config: retry, seed: config.seed, versions: versions() })
    }

    /// Writes of each logical page so far.
    pub(super) fn versions(&self) -> &[u16] {
        &self.versions
    }

    /// Takes other numbers of writes; `None` if they are of a drive of another size.
    pub(super) fn set_versions(&mut self, versions: Vec<u16>) -> Option<()> {
        (versions.len() == self.versions.len()).then(|| self.versions = versions)
    }

    /// `lpn` has been written once more.
    pub(super) fn written(&mut self, lpn: Lpn) {
        let version = &mut self.versions[lpn.0 as usize];
        *version = version.wrapping_add(1);
    }

    /// Further steps that a read of the current copy of `lpn` takes, in a block erased `erases` times since the start.
    pub(super) fn steps(&self, lpn: Lpn, erases: u32) -> u8 {
        let version = self.versions[lpn.0 as usize];
        let days = if version == 0 { self.config.initial_age_days } else { 0 };
        let erases = self.config.initial_erases.saturating_add(erases);
        let state = self.config.states.iter().rev().find(|state| state.erases <= erases && state.age_days <= days);
        state.map_or(0, |state| steps(state, draw(self.seed, lpn, version)))
    }
}

/// A uniform number of 32 bits for a version of a page.
fn draw(seed: u64, lpn: Lpn, version: u16) -> u32 {
    let page = u64::from(lpn.0) << 16 | u64::from(version);
    Pcg64Mcg::seed_from_u64(seed.rotate_left(32) ^ page).next_u32()
}

/// The first number of steps whose share, with all smaller ones, is above the draw.
fn steps(state: &RetryState, draw: u32) -> u8 {
    state.below.iter().position(|&below| u64::from(draw) < below).unwrap_or(state.below.len() - 1) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_even_over_pages_and_versions() {
        let mut counts = [0u32; 16];
        for lpn in 0..4096 {
            for version in 0..16 {
                counts[(draw(7, Lpn(lpn), version) >> 28) as usize] += 1;
            }
        }
        // Sixteen cells of 4,096 on average, deviation 62.
        assert!(counts.iter().all(|&n| (3_800..4_400).contains(&n)), "{counts:?}");
        assert_ne!(draw(7, Lpn(1), 0), draw(8, Lpn(1), 0));
    }

    #[test]
    fn shares_divide_the_draws() {
        let state = RetryState { erases: 0, age_days: 0, below: vec![1 << 31, 3 << 30, 1 << 32] };
        let of = |draw| steps(&state, draw);
        assert_eq!(
            [of(0), of((1 << 31) - 1), of(1 << 31), of((3 << 30) - 1), of(3 << 30), of(u32::MAX)],
            [0, 0, 1, 1, 2, 2]
        );
    }
}
