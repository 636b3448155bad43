//! Whether garbage collection chooses a victim its policy allows, and starts when it must.
//!
//! Looks at every block of a plane when a victim is chosen there, using only [`super::pages`] and the order in which blocks
//! were filled and lost pages. A policy that chooses at random may choose any of the blocks it could sample.

use flashlane_core::PlaneId;
use flashlane_ssd::config::{Config, Precondition, Victim};

use super::pages::{Pages, Place};
use super::rule::{Log, Rule};
use super::victims::Victims;

/// When a block was filled and last lost a page, counted in blocks filled in its plane.
#[derive(Clone, Copy, Debug)]
struct Age {
    filled: u64,
    lost: u64,
}

impl Age {
    /// The age of a block filled before the first event, in an unknown order.
    const UNKNOWN: Age = Age { filled: u64::MAX, lost: u64::MAX };
}

/// What is known of a plane.
#[derive(Clone, Copy, Debug)]
struct Plane {
    /// Blocks filled.
    fills: u64,
    /// Erased blocks, if they have been counted since a block was last opened or erased.
    free: Option<u32>,
    /// Whether anything was written, overwritten or erased at this instant.
    changed: bool,
}

/// A block that may be chosen.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    block: u32,
    valid: u32,
    /// Blocks of its plane filled before it was, and since it last lost a page.
    filled: u64,
    age: u64,
}

/// Checks the choice of victims and the start of collections.
#[derive(Debug)]
pub(super) struct Choice {
    policy: Victim,
    start_blocks: u32,
    blocks_per_plane: u32,
    /// Blocks of a plane that are not always in SLC mode: the first ones.
    native_blocks: u32,
    pages_per_block: u32,
    /// A block with fewer valid pages may be chosen.
    below: u32,
    planes: Vec<Plane>,
    /// By block, if the policy looks at ages.
    ages: Vec<Age>,
    changed: Vec<u16>,
}

impl Choice {
    /// For a device of `config`. Unless the drive was replayed, its blocks were filled in ascending order before the run.
    pub(super) fn new(config: &Config) -> Choice {
        let (blocks, planes) = (config.geometry.blocks_per_plane, config.geometry.planes());
        let ages = if matches!(config.gc.victim, Victim::Fifo | Victim::CostBenefit) { blocks * planes } else { 0 };
        let replayed = matches!(config.precondition, Precondition::Replayed { .. });
        let age = |block: u32| {
            let first = u64::from(block % blocks);
            if replayed { Age::UNKNOWN } else { Age { filled: first, lost: first } }
        };
        Choice {
            policy: config.gc.victim,
            start_blocks: config.gc.start_blocks,
            blocks_per_plane: blocks,
            native_blocks: blocks - config.slc.as_ref().map_or(0, |slc| slc.static_blocks),
            pages_per_block: config.geometry.pages_per_block,
            below: config.geometry.pages_per_block + 1 - config.nand.one_shot_pages * config.geometry.slots,
            planes: vec![Plane { fills: blocks.into(), free: None, changed: false }; planes as usize],
            ages: (0..ages).map(age).collect(),
            changed: Vec::new(),
        }
    }

    /// A page was written, and its copy at `old` became invalid.
    pub(super) fn mapped(&mut self, old: Place, plane: PlaneId, ppa: u32, pages: &Pages) {
        self.programmed(plane, ppa, pages);
        self.lost(old, pages);
    }

    /// A page was written, with data or without.
    pub(super) fn programmed(&mut self, plane: PlaneId, ppa: u32, pages: &Pages) {
        let (block, offset) = (pages.block_of(plane, ppa), ppa % self.pages_per_block);
        let state = &mut self.planes[plane.index()];
        if offset == 0 {
            state.free = None;
        }
        if offset + 1 == self.pages_per_block {
            let fills = state.fills;
            state.fills += 1;
            if let Some(age) = self.ages.get_mut(block as usize) {
                *age = Age { filled: fills, lost: fills };
            }
        }
        self.change(plane.index());
    }

    /// The copy of a logical page at `old` became invalid.
    pub(super) fn lost(&mut self, old: Place, pages: &Pages) {
        if old.is_known() {
            let block = pages.block_at(old);
            let plane = pages.plane_of(block);
            let fills = self.planes[plane].fills;
            if let Some(age) = self.ages.get_mut(block as usize) {
                age.lost = fills;
            }
            self.change(plane);
        }
    }

    /// A block was erased.
    pub(super) fn erased(&mut self, plane: PlaneId) {
        self.planes[plane.index()].free = None;
        self.change(plane.index());
    }

    fn change(&mut self, plane: usize) {
        if !std::mem::replace(&mut self.planes[plane].changed, true) {
            self.changed.push(plane as u16);
        }
    }

    /// Erased blocks of a plane, if that is known.
    pub(super) fn free_blocks(&mut self, plane: PlaneId, pages: &Pages) -> Option<u32> {
        self.free(plane.index(), pages)
    }

    fn free(&mut self, plane: usize, pages: &Pages) -> Option<u32> {
        let first = plane as u32 * self.blocks_per_plane;
        let state = &mut self.planes[plane];
        if state.free.is_none() {
            let written = (first..first + self.native_blocks).map(|block| pages.written(block));
            state.free = written.map(|written| written.map(|pages| u32::from(pages == 0))).sum();
        }
        state.free
    }

    /// The block, if it is known to be full, has an invalid page and is no victim.
    fn candidate(&self, block: u32, victims: &Victims, pages: &mut Pages, log: &mut Log) -> Option<Candidate> {
        if pages.written(block)? < self.pages_per_block || victims.contains(block) {
            return None;
        }
        let (valid, exact) = pages.valid(block, log);
        let fills = self.planes[pages.plane_of(block)].fills;
        let age = self.ages.get(block as usize).copied().unwrap_or(Age::UNKNOWN);
        let (filled, age) = (age.filled, fills.wrapping_sub(age.lost).wrapping_add(1));
        (exact && valid < self.below).then_some(Candidate { block, valid, filled, age })
    }

    /// Whether the policy prefers `other` to `own`.
    fn prefers(&self, other: Candidate, own: Candidate) -> bool {
        match self.policy {
            Victim::Random | Victim::DChoices(_) => false,
            Victim::Greedy => (other.valid, other.block) < (own.valid, own.block),
            _ if other.filled == u64::MAX || own.filled == u64::MAX => false,
            Victim::Fifo => other.filled < own.filled,
            Victim::CostBenefit => {
                // (1 - u) / 2u * age, over a common denominator: a block without valid pages has the greatest benefit.
                // Of equal blocks, the one with fewer valid pages.
                let gain = |a: Candidate, b: Candidate| {
                    u128::from(self.pages_per_block - a.valid) * u128::from(a.age) * u128::from(b.valid)
                };
                let (theirs, ours) = (gain(other, own), gain(own, other));
                theirs > ours || theirs == ours && (other.valid, other.block) < (own.valid, own.block)
            }
        }
    }

    /// A block, counted inside its plane, is about to become a victim.
    pub(super) fn chosen(&mut self, plane: PlaneId, block: u32, victims: &Victims, pages: &mut Pages, log: &mut Log) {
        if let Some(free) = self.free(plane.index(), pages) {
            log.check(free < self.start_blocks, Rule::VictimNeed, || {
                format!(
                    "block {block} of plane {} was chosen with {free} blocks free of {}.",
                    plane.0, self.start_blocks
                )
            });
        }
        let block = pages.block(plane, block);
        if pages.written(block) != Some(self.pages_per_block) || victims.contains(block) {
            return;
        }
        let (valid, exact) = pages.valid(block, log);
        let Some(own) = self.candidate(block, victims, pages, log) else {
            log.check(!exact, Rule::VictimChoice, || {
                format!("{}: all {valid} pages are valid.", pages.describe(block))
            });
            return;
        };
        let first = plane.0 as u32 * self.blocks_per_plane;
        for other in first..first + self.blocks_per_plane {
            let Some(other) = self.candidate(other, victims, pages, log) else { continue };
            if self.prefers(other, own) {
                log.report(Rule::VictimChoice, || {
                    format!(
                        "{} was chosen, {own:?}, and not {}, {other:?}.",
                        pages.describe(own.block),
                        pages.describe(other.block)
                    )
                });
                return;
            }
        }
    }

    /// Whether [`Choice::settle`] has anything to do.
    pub(super) fn unsettled(&self) -> bool {
        !self.changed.is_empty()
    }

    /// The instant is over: planes short of free blocks must have a victim.
    pub(super) fn settle(&mut self, victims: &Victims, pages: &mut Pages, log: &mut Log) {
        for plane in std::mem::take(&mut self.changed) {
            let index = usize::from(plane);
            self.planes[index].changed = false;
            let Some(free) = self.free(index, pages).filter(|&free| free < self.start_blocks) else { continue };
            if victims.blocks().any(|block| pages.plane_of(block) == index) {
                continue;
            }
            let first = u32::from(plane) * self.blocks_per_plane;
            let mut all = first..first + self.blocks_per_plane;
            if let Some(idle) = all.find_map(|block| self.candidate(block, victims, pages, log)) {
                log.report(Rule::VictimInTime, || {
                    let (named, valid) = (pages.describe(idle.block), idle.valid);
                    format!("plane {plane} has {free} blocks free and no victim; {named} has {valid} valid pages.")
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::case::config;

    /// A choice by `policy` on blocks of four pages.
    fn choice(policy: Victim) -> Choice {
        let mut config = config();
        config.gc.victim = policy;
        assert_eq!(config.geometry.pages_per_block, 4);
        Choice::new(&config)
    }

    fn block(block: u32, valid: u32, age: u64) -> Candidate {
        Candidate { block, valid, filled: 0, age }
    }

    /// The benefit is what is gained times the age over what is moved, by hand.
    #[test]
    fn cost_benefit_by_hand() {
        let choice = choice(Victim::CostBenefit);
        let prefers = |other, own| choice.prefers(other, own);
        // 3 x 1 / 1 against 1 x 5 / 3; with 1 x 10 / 3 it is the other way round.
        assert!(prefers(block(1, 1, 1), block(0, 3, 5)));
        assert!(prefers(block(0, 3, 10), block(1, 1, 1)));
        // 3 x 1 / 1 = 2 x 3 / 2: fewer pages are moved of the first. Of equal blocks the lower.
        assert!(prefers(block(1, 1, 1), block(0, 2, 3)) && !prefers(block(0, 2, 3), block(1, 1, 1)));
        assert!(prefers(block(0, 2, 3), block(1, 2, 3)) && !prefers(block(1, 2, 3), block(0, 2, 3)));
        assert!(prefers(block(5, 0, 1), block(0, 1, 100)), "nothing to move");
    }

    #[test]
    fn the_block_filled_first_goes_first() {
        let choice = choice(Victim::Fifo);
        let filled = |filled| Candidate { filled, ..block(0, 1, 1) };
        assert!(choice.prefers(filled(3), filled(4)));
        assert!(!choice.prefers(filled(4), filled(3)) && !choice.prefers(filled(3), filled(3)));
        assert!(!choice.prefers(filled(3), filled(u64::MAX)), "one of unknown age");
    }
}
