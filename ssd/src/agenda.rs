//! What is to be decided at this instant: units, a bit each, and whether anything is at all.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::UnitId;

/// The units that must decide.
#[derive(Debug)]
pub struct Agenda {
    units: Vec<u64>,
    /// Whether there is something to decide: a unit's next step, or which command to admit.
    pub open: bool,
}

impl Agenda {
    /// Nothing to decide, for `units` units.
    pub fn new(units: usize) -> Agenda {
        Agenda { units: vec![0; units.div_ceil(64)], open: false }
    }

    /// The unit must decide.
    #[inline(always)]
    pub fn mark(&mut self, unit: UnitId) {
        self.units[unit.index() / 64] |= 1 << (unit.index() % 64);
        self.open = true;
    }

    /// The unit must decide if `must`. Whether it must is as good as random to the processor, so it is no branch here.
    #[inline(always)]
    pub fn mark_if(&mut self, unit: UnitId, must: bool) {
        self.units[unit.index() / 64] |= u64::from(must) << (unit.index() % 64);
        self.open |= must;
    }

    /// Words of unit bits.
    #[inline]
    pub fn words(&self) -> usize {
        self.units.len()
    }

    /// Takes the marks of a word's units: bit `i` stands for unit `word * 64 + i`.
    #[inline]
    pub fn take(&mut self, word: usize) -> u64 {
        core::mem::take(&mut self.units[word])
    }
}
