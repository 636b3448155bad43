//! Garbage collection that waits: page moves and erases, unit by unit.
//!
//! A victim's moves are the list of its valid pages, each with the logical page it holds (which is its as long as it is valid),
//! and become transactions one by one, as they begin. One transaction is a move's read and then its program. A unit begins
//! no other read before that program, so one at most waits for it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use flashlane_core::{Lpn, PlaneId, Ppa, Time, TxnId, UnitId};
use prefetch_index::prefetch_index;

/// How many moves ahead of the one that begins the memory is to fetch: a cache line of a list.
const AHEAD: usize = 8;

/// For how many moves at a time the memory is to fetch what they are going to change.
const TOGETHER: usize = 4;

/// What waits, of all units and planes.
#[derive(Debug)]
pub(super) struct Moves {
    units: Vec<Line>,
    /// Victims whose moves come after those of another plane of their unit.
    planes: Vec<Victim>,
}

/// What waits for a unit. What every move looks at comes first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Line {
    /// The program of a page that has been read.
    program: TxnId,
    /// The plane of the victim whose moves go on.
    plane: PlaneId,
    /// How many of them have begun, or were dropped: all, if there are none to begin.
    begun: usize,
    victim: Victim,
    /// Planes whose victims come after it.
    planes: VecDeque<PlaneId>,
    /// Erases of empty victims, oldest first.
    erases: VecDeque<TxnId>,
}

/// The moves of a victim.
#[derive(Clone, Debug)]
struct Victim {
    pages: Vec<(Ppa, Lpn)>,
    /// Serial of the first.
    serial: u64,
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
        let victim = Victim { pages: Vec::new(), serial: 0, since: Time::ZERO };
        let line = Line {
            program: TxnId::NONE,
            plane: PlaneId(0),
            begun: 0,
            victim: victim.clone(),
            planes: VecDeque::new(),
            erases: VecDeque::new(),
        };
        Moves { units: alloc::vec![line; units], planes: alloc::vec![victim; planes] }
    }

    /// A list for the moves of `plane`'s next victim, to be filled and given to [`Moves::wait`], or back to nobody.
    pub(super) fn list(&mut self, plane: PlaneId) -> &mut Vec<(Ppa, Lpn)> {
        &mut self.planes[plane.index()].pages
    }

    /// The pages of `plane`'s list wait for its unit from `since` on; the first has this serial.
    pub(super) fn wait(&mut self, unit: UnitId, plane: PlaneId, serial: u64, since: Time) {
        let (line, victim) = (&mut self.units[unit.index()], &mut self.planes[plane.index()]);
        (victim.serial, victim.since) = (serial, since);
        if !victim.pages.is_empty() {
            line.planes.push_back(plane);
            if line.begun == line.victim.pages.len() {
                self.go_on(unit);
            }
        }
    }

    /// Takes the unit's next move; there must be one.
    #[inline]
    pub(super) fn next(&mut self, unit: UnitId) -> Move {
        let line = &mut self.units[unit.index()];
        let Line { plane, begun, .. } = *line;
        let Victim { pages, serial, since } = &line.victim;
        let (from, lpn) = pages[begun];
        prefetch_index(pages, begun + AHEAD);
        let next = Move { plane, from, lpn, serial: serial + begun as u64, since: *since };
        line.begun = begun + 1;
        if line.begun == pages.len() {
            self.go_on(unit);
        }
        next
    }

    /// The moves of the unit, its next among them, that the memory is to fetch for now: several at a time, as it can look for
    /// several far pages at once; none when those to come have been told before.
    #[inline]
    pub(super) fn coming(&self, unit: UnitId) -> &[(Ppa, Lpn)] {
        let Line { begun, victim: Victim { pages, .. }, .. } = &self.units[unit.index()];
        if begun % TOGETHER != 0 {
            return &[];
        }
        &pages[*begun..(begun + TOGETHER).min(pages.len())]
    }

    /// All moves of the unit's victim have begun: turns to the next, if there is one.
    #[cold]
    fn go_on(&mut self, unit: UnitId) {
        let line = &mut self.units[unit.index()];
        if let Some(plane) = line.planes.pop_front() {
            (line.plane, line.begun) = (plane, 0);
            core::mem::swap(&mut line.victim, &mut self.planes[plane.index()]);
        }
    }

    /// A page was read: its program waits.
    #[inline]
    pub(super) fn read(&mut self, unit: UnitId, program: TxnId) {
        let waits = &mut self.units[unit.index()].program;
        debug_assert!(waits.is_none(), "a move began before the program of the one before");
        *waits = program;
    }

    /// Takes the program that waits; [`TxnId::NONE`] if none does.
    #[inline]
    pub(super) fn take_program(&mut self, unit: UnitId) -> TxnId {
        core::mem::replace(&mut self.units[unit.index()].program, TxnId::NONE)
    }

    /// An erase waits.
    pub(super) fn emptied(&mut self, unit: UnitId, erase: TxnId) {
        self.units[unit.index()].erases.push_back(erase);
    }

    /// Takes the erase that has waited longest.
    #[inline]
    pub(super) fn take_erase(&mut self, unit: UnitId) -> Option<TxnId> {
        self.units[unit.index()].erases.pop_front()
    }
}
