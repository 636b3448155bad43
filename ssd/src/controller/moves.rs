//! Garbage collection that waits: page moves and erases, unit by unit.
//!
//! A victim's moves are its list of valid pages and become transactions one by one, as they begin. One transaction is a
//! move's read and then its program. A unit begins no other read before that program, so one at most waits for it.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use flashlane_core::{PlaneId, Ppa, Time, TxnId, UnitId};

/// What waits, of all units and planes.
#[derive(Debug)]
pub(super) struct Moves {
    units: Vec<Line>,
    planes: Vec<Victim>,
}

/// What waits for a unit.
#[derive(Debug)]
struct Line {
    /// Planes whose victim has moves to begin: the one to go on with first.
    planes: VecDeque<PlaneId>,
    /// The program of a page that has been read.
    program: TxnId,
    /// Erases of empty victims, oldest first.
    erases: VecDeque<TxnId>,
}

/// The moves of a plane's victim.
#[derive(Clone, Debug)]
struct Victim {
    pages: Vec<Ppa>,
    /// How many have begun, or were dropped.
    begun: usize,
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
    pub(super) serial: u64,
    /// Since when it has waited.
    pub(super) since: Time,
}

impl Moves {
    /// Nothing waits.
    pub(super) fn new(units: usize, planes: usize) -> Moves {
        let line = || Line { planes: VecDeque::new(), program: TxnId::NONE, erases: VecDeque::new() };
        let victim = Victim { pages: Vec::new(), begun: 0, serial: 0, since: Time::ZERO };
        Moves { units: (0..units).map(|_| line()).collect(), planes: alloc::vec![victim; planes] }
    }

    /// The list of `plane`'s victim, to be filled with the pages to move.
    pub(super) fn pages(&mut self, plane: PlaneId) -> &mut Vec<Ppa> {
        &mut self.planes[plane.index()].pages
    }

    /// The pages of `plane`'s list wait for its unit from `since` on; the first has this serial.
    pub(super) fn wait(&mut self, unit: UnitId, plane: PlaneId, serial: u64, since: Time) {
        let victim = &mut self.planes[plane.index()];
        (victim.begun, victim.serial, victim.since) = (0, serial, since);
        if !victim.pages.is_empty() {
            self.units[unit.index()].planes.push_back(plane);
        }
    }

    /// Takes the unit's next move.
    #[inline]
    pub(super) fn next(&mut self, unit: UnitId) -> Option<Move> {
        let line = &mut self.units[unit.index()];
        let &plane = line.planes.front()?;
        let victim = &mut self.planes[plane.index()];
        let (from, serial) = (victim.pages[victim.begun], victim.serial + victim.begun as u64);
        victim.begun += 1;
        if victim.begun == victim.pages.len() {
            line.planes.pop_front();
        }
        Some(Move { plane, from, serial, since: victim.since })
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
