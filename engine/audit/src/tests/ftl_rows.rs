//! Violations of the rules about pages, blocks and garbage collection.

use flashlane_core::PlaneId;
use flashlane_core::event::Event;
use flashlane_core::request::Op;
use flashlane_core::transaction::FlashOp;
use flashlane_ssd::config::Victim;

use super::case::*;
use super::scenes::*;
use super::table::*;
use crate::Rule;

pub fn pages() -> Vec<Breach> {
    vec![
        // Each case touches the block in question, since the formula is evaluated for no other.
        (Rule::StartState, collect(), |c| {
            c.start = Some((&[(0, 0, 0), (1, 0, 3), (2, 0, 9)], AGED.1));
            overwrite(c, 10, 2);
        }),
        (Rule::StartState, write(), |c| {
            c.start = Some((&[(5, 0, 4), (5, 0, 5)], &[(0, 1, 2)]));
            overwrite(c, 900_000, 5);
        }),
        (Rule::StartState, write(), |c| {
            c.start = Some((&[], &[(1, 1, 5)]));
            c.push(900_000, Event::VictimChosen { plane: PlaneId(1), block: 1, valid: 0 });
        }),
        (Rule::PageOnce, two_writes(), |c| {
            edit!(c, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = 0);
            edit!(c, 1, mapped, Event::Mapped { ppa, .. } => *ppa = 0);
        }),
        (Rule::PageOnce, write(), |c| c.start = Some((&[], &[(0, 0, 1)]))),
        (Rule::PageOrder, two_writes(), |c| {
            edit!(c, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = 2);
            edit!(c, 1, mapped, Event::Mapped { ppa, .. } => *ppa = 2);
        }),
        (Rule::MapProgram, write(), |c| c.leave_out(0, mapped)),
        (Rule::MapProgram, write(), |c| c.map(900_000, 9, 3, 0)),
        (Rule::MapProgram, write(), |c| edit!(c, 0, dispatched, Event::Dispatched { ppa, .. } => *ppa = 1)),
        (Rule::MapProgram, collect_free(), |c| c.map(6, 9, 3, 0)),
        (Rule::OwnPlane, write(), |c| edit!(c, 0, mapped, Event::Mapped { plane, .. } => *plane = PlaneId(1))),
        (Rule::OwnPlane, collect_mapped_first(), |c| {
            edit!(c, 1, mapped, Event::Mapped { plane, ppa, .. } => (*plane, *ppa) = (PlaneId(1), 0));
        }),
        (Rule::ReadPlace, write_read(), |c| edit!(c, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = 1)),
        (Rule::ReadPlace, read_of_moved(), |c| {
            // Collection has moved the page inside its plane: the read follows it.
            edit!(c, 5, dispatched, Event::Dispatched { ppa, .. } => *ppa = 0);
        }),
        (Rule::ReadPlace, collect_around_read(true), |c| {
            // The read keeps the copy on its plane, at 3.
            edit!(c, 3, dispatched, Event::Dispatched { ppa, .. } => *ppa = 2);
        }),
    ]
}

/// As [`collect`], with the second move's mapping reported before the dispatch of its program.
fn collect_mapped_first() -> Case {
    let mut case = collect();
    let at = case.find(1, mapped);
    case.events.swap(at - 1, at);
    case
}

/// A read queued before its page is moved, dispatched after the old block is erased: it reads the new place.
fn read_of_moved() -> Case {
    let mut case = collect();
    case.submit(0, 8, Op::Read, 1);
    case.queue(0, 80, Requester::Request(8), FlashOp::Read, 0, 0);
    let erased = case.events.iter().map(|s| s.at.ns()).max().unwrap();
    let done = case.read(erased, 80, 80, 0, 4, 0);
    case.complete(done, 8);
    case
}

/// Blocks 0 and 2 of plane 0 are full, each with one invalid page.
const FULL: Layout = (&[(0, 0, 0), (1, 0, 1), (2, 0, 2), (10, 0, 8), (11, 0, 9), (12, 0, 10)], &[(0, 0, 4), (0, 2, 4)]);

/// As [`FULL`], with two invalid pages in block 2.
const EMPTIER: Layout = (&[(0, 0, 0), (1, 0, 1), (2, 0, 2), (10, 0, 8), (11, 0, 9)], &[(0, 0, 4), (0, 2, 4)]);

/// Blocks 0 and 2 are chosen in this order, as every policy would; no moves follow.
fn collect_first(victim: Victim) -> Case {
    let mut case = Case::new();
    (case.start, case.config.gc.victim) = (Some(FULL), victim);
    for block in [0, 2] {
        case.push(0, Event::VictimChosen { plane: PlaneId(0), block, valid: 3 });
    }
    case
}

/// Blocks 0 and 2 without a valid page, which cost nothing and so have the same benefit at any age.
fn collect_empty() -> Case {
    let mut case = collect_first(Victim::CostBenefit);
    case.start = Some((&[], &[(0, 0, 4), (0, 2, 4)]));
    edit!(case, 0, chosen, Event::VictimChosen { valid, .. } => *valid = 0);
    edit!(case, 1, chosen, Event::VictimChosen { valid, .. } => *valid = 0);
    case
}

/// A page is written in a plane with a block to collect, which a policy that chooses at random chooses.
fn all_valid() -> Case {
    let mut case = write();
    case.start = Some((&[], &[(0, 0, 4)]));
    case.config.gc.victim = Victim::Random;
    edit!(case, 0, dispatched, Event::Dispatched { ppa, .. } => *ppa = 4);
    edit!(case, 0, mapped, Event::Mapped { ppa, .. } => *ppa = 4);
    case.push(0, Event::VictimChosen { plane: PlaneId(0), block: 0, valid: 0 });
    case
}

pub fn victims() -> Vec<Breach> {
    vec![
        (Rule::VictimState, collect(), |c| c.repeat(0, chosen)),
        (Rule::VictimState, collect(), |c| {
            c.push(1, Event::VictimChosen { plane: PlaneId(0), block: 2, valid: 1 });
        }),
        (Rule::VictimCount, collect(), |c| edit!(c, 0, chosen, Event::VictimChosen { valid, .. } => *valid = 3)),
        (Rule::VictimChoice, collect_first(Victim::Greedy), |c| {
            c.start = Some(EMPTIER);
            edit!(c, 1, chosen, Event::VictimChosen { valid, .. } => *valid = 2);
        }),
        // Of blocks that are alike the first is chosen.
        (Rule::VictimChoice, collect_first(Victim::Greedy), |c| {
            edit!(c, 0, chosen, Event::VictimChosen { block, .. } => *block = 2);
            edit!(c, 1, chosen, Event::VictimChosen { block, .. } => *block = 0);
        }),
        (Rule::VictimChoice, collect_empty(), |c| {
            edit!(c, 0, chosen, Event::VictimChosen { block, .. } => *block = 2);
            edit!(c, 1, chosen, Event::VictimChosen { block, .. } => *block = 0);
        }),
        (Rule::VictimChoice, collect_first(Victim::Fifo), |c| {
            edit!(c, 0, chosen, Event::VictimChosen { block, .. } => *block = 2);
            edit!(c, 1, chosen, Event::VictimChosen { block, .. } => *block = 0);
        }),
        // Half a block to gain against a quarter outweighs ages of 7 and 9.
        (Rule::VictimChoice, collect_first(Victim::CostBenefit), |c| {
            c.start = Some(EMPTIER);
            edit!(c, 1, chosen, Event::VictimChosen { valid, .. } => *valid = 2);
        }),
        (Rule::VictimChoice, all_valid(), |c| {
            c.start = Some((&[(10, 0, 0), (11, 0, 1), (12, 0, 2), (13, 0, 3)], &[(0, 0, 4)]));
            edit!(c, 0, chosen, Event::VictimChosen { valid, .. } => *valid = 4);
        }),
        (Rule::VictimNeed, collect(), |c| c.config.gc.start_blocks = 6),
        (Rule::VictimInTime, all_valid(), |c| c.leave_out(0, chosen)),
        // Six blocks are free: one fewer than there must be.
        (Rule::VictimInTime, all_valid(), |c| {
            c.config.gc.start_blocks = 7;
            c.leave_out(0, chosen);
        }),
    ]
}

pub fn moves_and_erases() -> Vec<Breach> {
    vec![
        (Rule::MoveFromVictim, collect(), |c| {
            c.queue(5_000_000, 20, Requester::Gc, FlashOp::Read, 2, 0);
            c.read(5_000_000, 20, 200, 0, 8, 0);
        }),
        (Rule::StaleMove, collect(), |c| overwrite(c, 10, 0)),
        (Rule::EraseVictim, collect(), |c| {
            c.erase(5_000_000, 20, 200, 0, 3);
        }),
        (Rule::EraseVictim, collect_free(), |c| c.push(9, Event::Erased { plane: PlaneId(0), block: 3 })),
        (Rule::EraseMoves, collect_stale(), |c| {
            let erase = |e: &Event| matches!(e, Event::Dispatched { txn: 5, .. });
            c.put_after(|e| matches!(e, Event::Ended { txn: 3, .. }), erase);
        }),
        (Rule::EraseValid, collect(), |c| {
            c.events.retain(|s| {
                let command = matches!(command_of(&s.event), Some(30 | 40));
                let txn = matches!(s.event, Event::Queued { txn: 3 | 4, .. } | Event::Ended { txn: 3 | 4, .. });
                let map = matches!(s.event, Event::Mapped { ppa: 5, .. });
                !(command || txn || map)
            });
        }),
        (Rule::EraseValid, collect_free(), |c| {
            c.events.retain(|s| !matches!(s.event, Event::Mapped { ppa: 5, .. }));
        }),
        (Rule::EraseRead, collect_around_read(true), |c| *c = collect_around_read(false)),
        (Rule::EraseRead, collect_free_around_read(true), |c| *c = collect_free_around_read(false)),
        (Rule::EraseDone, collect(), |c| {
            let erased = c.find(0, |e| matches!(e, Event::Erased { .. }));
            c.events.swap(erased - 1, erased);
        }),
        (Rule::EraseDone, collect(), |c| c.leave_out(0, |e| matches!(e, Event::Erased { .. }))),
        (Rule::EraseDone, collect(), |c| {
            c.push(9_000_000, Event::Erased { plane: PlaneId(0), block: 0 });
        }),
    ]
}
