//! Programs and the mappings they make: one mapping per program, at the same instant, naming the same place.

use flashlane_core::transaction::Owner;
use flashlane_core::{Lpn, PlaneId};

use super::pages::{Pages, Place};
use super::rule::{Log, Rule};
use super::transactions::Txn;
use super::victims::Victims;

/// A program dispatched at this instant whose mapping has yet to be reported.
#[derive(Debug)]
struct UnmatchedProgram {
    lpn: Lpn,
    plane: PlaneId,
    ppa: u32,
    owner: Owner,
}

/// A mapping reported at this instant whose program has yet to be dispatched.
#[derive(Debug)]
struct UnmatchedMapping {
    lpn: Lpn,
    plane: PlaneId,
    ppa: u32,
    old: Place,
    /// Whether its old place was in a victim: free garbage collection may then have moved it.
    collected: bool,
}

/// Pairs each program's dispatch with the mapping it makes, in either order within an instant.
#[derive(Debug)]
pub(super) struct Pairs {
    /// Whether garbage collection maps pages without programs.
    free: bool,
    programs: Vec<UnmatchedProgram>,
    mappings: Vec<UnmatchedMapping>,
}

impl Pairs {
    /// No pairs yet. `free`: garbage collection maps pages without programs.
    pub(super) fn new(free: bool) -> Pairs {
        Pairs { free, programs: Vec::new(), mappings: Vec::new() }
    }

    /// Another scheduler decides whether garbage collection maps pages without programs.
    pub(super) fn scheduler_changes(&mut self, free: bool) {
        self.free = free;
    }

    /// A program was dispatched.
    pub(super) fn program(&mut self, txn: &Txn, ppa: u32, (victims, pages): (&Victims, &Pages), log: &mut Log) {
        // Free garbage collection may have moved the page in the instant its program overwrites it: the mapping that
        // names the program's place is the program's.
        let own = |early: &UnmatchedMapping| early.lpn == txn.lpn && (early.plane, early.ppa) == (txn.plane, ppa);
        let other = |early: &UnmatchedMapping| early.lpn == txn.lpn && !(self.free && early.collected);
        match self.mappings.iter().position(own).or_else(|| self.mappings.iter().position(other)) {
            None => {
                self.programs.push(UnmatchedProgram { lpn: txn.lpn, plane: txn.plane, ppa, owner: txn.owner });
            }
            Some(index) => {
                let early = self.mappings.swap_remove(index);
                agree(txn.lpn, (txn.plane, ppa), (early.plane, early.ppa), log);
                if txn.owner.collects() {
                    victims.moved(txn.lpn, early.old, pages, log);
                }
            }
        }
    }

    /// A logical page was mapped; before that it was at `old`.
    pub(super) fn mapped(
        &mut self,
        lpn: Lpn,
        (plane, ppa): (PlaneId, u32),
        old: Place,
        (victims, pages): (&Victims, &Pages),
        log: &mut Log,
    ) {
        let collected = if !old.is_known() { !pages.knows_start() } else { victims.contains(pages.block_at(old)) };
        let own = |program: &UnmatchedProgram| program.lpn == lpn && (program.plane, program.ppa) == (plane, ppa);
        let other = |program: &UnmatchedProgram| program.lpn == lpn && !(self.free && collected);
        match self.programs.iter().position(own).or_else(|| self.programs.iter().position(other)) {
            None => {
                self.mappings.push(UnmatchedMapping { lpn, plane, ppa, old, collected });
            }
            Some(index) => {
                let program = self.programs.swap_remove(index);
                agree(lpn, (program.plane, program.ppa), (plane, ppa), log);
                if program.owner.collects() {
                    victims.moved(lpn, old, pages, log);
                }
            }
        }
    }

    /// Whether [`Pairs::settle`] has anything to do.
    pub(super) fn unsettled(&self) -> bool {
        !self.programs.is_empty() || !self.mappings.is_empty()
    }

    /// The instant is over: a program or mapping without its counterpart by now gets none.
    pub(super) fn settle(&mut self, log: &mut Log) {
        let free = self.free;
        for program in self.programs.drain(..) {
            log.report(Rule::MapProgram, || {
                format!(
                    "a program of logical page {} on page {} of plane {} mapped nothing.",
                    program.lpn.0, program.ppa, program.plane.0
                )
            });
        }
        for early in self.mappings.drain(..).filter(|early| !(free && early.collected)) {
            log.report(Rule::MapProgram, || {
                format!(
                    "logical page {} was mapped to page {} of plane {} without a program.",
                    early.lpn.0, early.ppa, early.plane.0
                )
            });
        }
    }
}

/// Checks that the program and the mapping of a page name the same place.
fn agree(lpn: Lpn, program: (PlaneId, u32), mapped: (PlaneId, u32), log: &mut Log) {
    if program.0 != mapped.0 {
        log.report(Rule::OwnPlane, || {
            format!("logical page {} was queued for plane {} and mapped to plane {}.", lpn.0, program.0.0, mapped.0.0)
        });
    } else if program.1 != mapped.1 {
        log.report(Rule::MapProgram, || {
            format!("logical page {} was programmed to page {} and mapped to {}.", lpn.0, program.1, mapped.1)
        });
    }
}
