//! Rows about pages, blocks and garbage collection.

use flashlane_core::PlaneId;
use flashlane_core::event::Event;
use flashlane_core::request::Op;
use flashlane_core::transaction::FlashOp;

use super::case::*;
use super::scenes::*;
use super::table::*;
use crate::audit::Rule;

pub fn pages() -> Vec<Row> {
    vec![
        // Each comes to touch the block in question: of others a formula is not asked.
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
        (Rule::ReadPlace, write_read(), |c| edit!(c, 1, dispatched, Event::Dispatched { ppa, .. } => *ppa = 1)),
        (Rule::ReadPlace, read_of_moved(), |c| {
            // After the erase the old place will not do any more.
            edit!(c, 5, dispatched, Event::Dispatched { ppa, .. } => *ppa = 0);
        }),
    ]
}

/// A read queued before its page is moved, dispatched after the old block is erased: it reads the new place.
fn read_of_moved() -> Case {
    let mut case = collect();
    case.submit(0, 8, Op::Read, 1);
    case.queue(0, 80, Whose::Request(8), FlashOp::Read, 0, 0);
    let erased = case.events.iter().map(|s| s.at.ns()).max().unwrap();
    let done = case.read(erased, 80, 80, 0, 4, 0);
    case.complete(done, 8);
    case
}

pub fn collection() -> Vec<Row> {
    vec![
        (Rule::VictimState, collect(), |c| c.repeat(0, chosen)),
        (Rule::VictimState, collect(), |c| {
            c.push(1, Event::VictimChosen { plane: PlaneId(0), block: 2, valid: 1 });
        }),
        (Rule::VictimCount, collect(), |c| edit!(c, 0, chosen, Event::VictimChosen { valid, .. } => *valid = 3)),
        (Rule::MoveFromVictim, collect(), |c| {
            c.queue(5_000_000, 20, Whose::Gc, FlashOp::Read, 2, 0);
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
