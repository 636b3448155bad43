//! Waiting page moves and erases of garbage collection, unit by unit.
//!
//! A victim's moves are a list of its valid pages, each with the logical page it holds (which does not change while the page is
//! valid). They become transactions when they begin: one by one, or those of a row together. One transaction is first a move's read and then
//! its program. A unit begins no other move before a program that waits, so at most one waits for it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use flashlane_core::{Lpn, PlaneId, Ppa, Time, TxnId, UnitId};
use prefetch_index::prefetch_index;

/// How many moves ahead of the one that begins the list is prefetched: one cache line of it.
const PREFETCH_DISTANCE: usize = 8;

/// For how many moves at a time the map entries are prefetched.
const BATCH: usize = 4;

/// The waiting moves and erases of all units.
#[derive(Debug)]
pub(super) struct Moves {
    units: Vec<UnitMoves>,
    /// By plane: the victim whose moves begin after those of another plane of the unit.
    planes: Vec<VictimMoves>,
}

/// The waiting moves and erases of a unit. The fields that every move uses come first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct UnitMoves {
    /// The program of a page that has been read.
    program: TxnId,
    /// The plane of `victim`.
    plane: PlaneId,
    /// How many moves of `victim` have begun or were dropped; equal to their number if none is left.
    begun: usize,
    /// The victim whose moves begin now.
    victim: VictimMoves,
    /// Planes whose victims follow, in this order.
    planes: VecDeque<PlaneId>,
    /// Erases of empty victims, oldest first.
    erases: VecDeque<TxnId>,
}

/// The moves of a victim.
#[derive(Clone, Debug)]
struct VictimMoves {
    pages: Vec<(Ppa, Lpn)>,
    /// Serial of the first move; the others follow.
    serial: u64,
    /// Since when they have waited.
    since: Time,
}

/// A move about to begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    pub(super) plane: PlaneId,
    /// Where the page lies.
    pub(super) from: Ppa,
    pub(super) lpn: Lpn,
    pub(super) serial: u64,
    /// Since when it has waited.
    pub(super) since: Time,
}

impl Moves {
    /// Nothing waits.
    pub(super) fn new(units: usize, planes: usize) -> Moves {
        let victim = VictimMoves { pages: Vec::new(), serial: 0, since: Time::ZERO };
        let unit = UnitMoves {
            program: TxnId::NONE,
            plane: PlaneId(0),
            begun: 0,
            victim: victim.clone(),
            planes: VecDeque::new(),
            erases: VecDeque::new(),
        };
        Moves { units: alloc::vec![unit; units], planes: alloc::vec![victim; planes] }
    }

    /// The list for the moves of `plane`'s next victim: the caller fills it and then calls [`Moves::wait`], or uses it only
    /// as scratch space.
    pub(super) fn list(&mut self, plane: PlaneId) -> &mut Vec<(Ppa, Lpn)> {
        &mut self.planes[plane.index()].pages
    }

    /// The moves in `plane`'s list wait for its unit from `since` on; the first has serial `serial`.
    pub(super) fn wait(&mut self, unit: UnitId, plane: PlaneId, serial: u64, since: Time) {
        let (moves, victim) = (&mut self.units[unit.index()], &mut self.planes[plane.index()]);
        (victim.serial, victim.since) = (serial, since);
        if !victim.pages.is_empty() {
            moves.planes.push_back(plane);
            if moves.begun == moves.victim.pages.len() {
                self.next_victim(unit);
            }
        }
    }

    /// Takes the unit's next move; there must be one.
    #[inline]
    pub(super) fn next(&mut self, unit: UnitId) -> Move {
        let moves = &mut self.units[unit.index()];
        let UnitMoves { plane, begun, .. } = *moves;
        let VictimMoves { pages, serial, since } = &moves.victim;
        let (from, lpn) = pages[begun];
        prefetch_index(pages, begun + PREFETCH_DISTANCE);
        let next = Move { plane, from, lpn, serial: serial + begun as u64, since: *since };
        moves.begun = begun + 1;
        if moves.begun == pages.len() {
            self.next_victim(unit);
        }
        next
    }

    /// Takes the unit's next moves as long as they are of the victim of `plane` and of pages before `end`; `each` is given the serial of each, where its
    /// page lies and the logical page. Returns how many there were.
    #[inline]
    pub(super) fn take_before(
        &mut self,
        unit: UnitId,
        plane: PlaneId,
        end: Ppa,
        mut each: impl FnMut(u64, Ppa, Lpn),
    ) -> u32 {
        let moves = &mut self.units[unit.index()];
        let VictimMoves { pages, serial, .. } = &moves.victim;
        let rest = if moves.plane == plane { &pages[moves.begun..] } else { &[] };
        let first = serial + moves.begun as u64;
        let taken = rest.iter().zip(first..).take_while(|(page, _)| page.0 < end);
        let count = taken.map(|(&(from, lpn), serial)| each(serial, from, lpn)).count();
        moves.begun += count;
        if count > 0 && moves.begun == pages.len() {
            self.next_victim(unit);
        }
        count as u32
    }

    /// The next moves of the unit whose map entries are to be prefetched now: [`BATCH`] at a time, because the processor can
    /// have several cache misses under way; none while those of the last call are not used up.
    #[inline]
    pub(super) fn to_prefetch(&self, unit: UnitId) -> &[(Ppa, Lpn)] {
        let UnitMoves { begun, victim: VictimMoves { pages, .. }, .. } = &self.units[unit.index()];
        if begun % BATCH != 0 {
            return &[];
        }
        &pages[*begun..(begun + BATCH).min(pages.len())]
    }

    /// Makes the next victim of the unit the current one, if there is one: all moves of the current one have begun.
    #[cold]
    fn next_victim(&mut self, unit: UnitId) {
        let moves = &mut self.units[unit.index()];
        if let Some(plane) = moves.planes.pop_front() {
            (moves.plane, moves.begun) = (plane, 0);
            core::mem::swap(&mut moves.victim, &mut self.planes[plane.index()]);
        }
    }

    /// Whether a move of `plane`'s victim has not begun.
    pub(super) fn any_to_begin(&self, unit: UnitId, plane: PlaneId) -> bool {
        let moves = &self.units[unit.index()];
        moves.plane == plane && moves.begun < moves.victim.pages.len()
    }

    /// Notes the program of a move whose page has been read; it waits now.
    #[inline]
    pub(super) fn add_program(&mut self, unit: UnitId, program: TxnId) {
        let waiting = &mut self.units[unit.index()].program;
        debug_assert!(waiting.is_none(), "a move began before the program of the one before");
        *waiting = program;
    }

    /// Takes the waiting program; [`TxnId::NONE`] if there is none.
    #[inline]
    pub(super) fn take_program(&mut self, unit: UnitId) -> TxnId {
        core::mem::replace(&mut self.units[unit.index()].program, TxnId::NONE)
    }

    /// Notes the erase of an empty victim; it waits now.
    pub(super) fn add_erase(&mut self, unit: UnitId, erase: TxnId) {
        self.units[unit.index()].erases.push_back(erase);
    }

    /// Takes the erase that has waited longest.
    #[inline]
    pub(super) fn take_erase(&mut self, unit: UnitId) -> Option<TxnId> {
        self.units[unit.index()].erases.pop_front()
    }
}
