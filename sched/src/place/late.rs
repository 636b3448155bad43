//! Late binding: all writes of the device wait in one queue, and a chip takes one only when it could begin it (model 1.1.10).
//!
//! A write that has a chip can be delayed there by reads and by garbage collection while other chips stand idle; one that has none
//! cannot. A chip takes one when it has nothing in service, no read waits for it and no collection goes before a write there; companions for
//! planes that may share its command follow while writes are left. In this it is like [`Dynamic`](super::Dynamic); but that refuses every
//! chip for which collection waits, so that on a full drive, where collection always waits, writes starve. Here a chip is refused only
//! when a plane of it is so short of blocks that its collection goes first.
//!
//! Of the chips that could take a write the first `late_choices` in turn are compared, channels first, and the one with the plane that has
//! most free pages takes it. Writes so go where blocks are left, and no plane has to collect much earlier than others.
//!
//! A write that has waited for `late_patience` programs is also taken by chips that reads wait for, so that reads on every chip do not
//! keep it for ever. Where flows have priorities and the pick decision heeds them, priorities take turns as under FLIN (§4.2).

use alloc::vec::Vec;

use flashlane_core::board::{QueueKind, Service, Unit};
use flashlane_core::decide::{Place, PlaceDeclares, Placement};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Lpn, PlaneId, TxnId, UnitId};

use crate::flin::priority_sequence::PrioritySequence;
use crate::params::{Param, Values};

/// Parameters of [`Late`].
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "late_choices",
        unit: "chips",
        default: 4,
        min: 1,
        max: 4096,
        help: "of so many chips that could take a write the one with most free pages takes it",
    },
    Param {
        name: "late_patience",
        unit: "programs",
        default: 50,
        min: 0,
        max: 1 << 30,
        help: "a write that has waited for this many program times is also taken by chips that reads wait for",
    },
];

/// Writes of a priority are looked for among this many at the head of the queue.
const WINDOW: usize = 64;

/// Late binding.
#[derive(Debug)]
pub struct Late {
    choices: u32,
    patience: u64,
    /// Units, channels first.
    units: Vec<UnitId>,
    /// The place in `units` of the one that is next.
    next: usize,
    priorities: PrioritySequence,
}

impl Late {
    /// Late binding with a scheduler's parameters.
    pub(crate) fn of(values: &Values<'_>) -> Late {
        Late {
            choices: values.get("late_choices") as u32,
            patience: values.get("late_patience"),
            units: Vec::new(),
            next: 0,
            priorities: PrioritySequence::default(),
        }
    }

    /// The unit that takes a write, as its place in `units`, and the plane: of the first that could take it the one with most free pages.
    fn taker(&self, board: &Board, heeds_reads: bool) -> Option<(usize, PlaneId)> {
        let (before, from) = self.units.split_at(self.next);
        let mut best = None;
        let mut most = 0;
        let mut choices = self.choices;
        for (i, &unit) in from.iter().chain(before).enumerate() {
            let state = &board.units[unit.index()];
            if state.service != Service::Idle || !is_free(state, heeds_reads) {
                continue;
            }
            let Some((plane, free_pages)) = roomiest(board, unit) else { continue };
            if free_pages > most {
                (most, best) = (free_pages, Some((self.next + i, plane)));
            }
            choices -= 1;
            if choices == 0 {
                break;
            }
        }
        best
    }

    /// The write that goes next: of the priority whose turn it is the oldest, `oldest` where there is one priority.
    fn write(&mut self, board: &Board, oldest: TxnId) -> TxnId {
        let priorities = board.facts.priorities;
        if priorities == 1 {
            return oldest;
        }
        let mut first = [TxnId::NONE; 8];
        for id in board.walk(board.unplaced()).take(WINDOW).filter(|&id| board.eligible(id)) {
            let of_priority = &mut first[usize::from(board.txn(id).priority)];
            if of_priority.is_none() {
                *of_priority = id;
            }
        }
        let ready = first.iter().enumerate().fold(0, |all, (i, id)| all | u32::from(id.is_some()) << i);
        self.priorities.next(priorities, ready).map_or(oldest, |priority| first[usize::from(priority)])
    }
}

/// Whether a unit with nothing in service could begin a write now.
fn is_free(state: &Unit, heeds_reads: bool) -> bool {
    !state.foreground_gc.is_open() && (!heeds_reads || state.waiting(FlashOp::Read) == 0)
}

/// The planes of a unit.
fn planes(board: &Board, unit: UnitId) -> impl Iterator<Item = PlaneId> + Clone + use<> {
    let each = board.facts.geometry.planes_per_unit() as u16;
    (unit.0 * each..(unit.0 + 1) * each).map(PlaneId)
}

/// The plane of a free unit with most free pages, the first of equals, among those that may join the command of the writes the unit
/// has already taken, and its free pages. `None` if there is none, or collection of a plane of the unit goes first.
fn roomiest(board: &Board, unit: UnitId) -> Option<(PlaneId, u32)> {
    let taken = taken(board, unit);
    let first = unit.0 * board.facts.geometry.planes_per_unit() as u16;
    let own = &board.planes[usize::from(first)..][..board.facts.geometry.planes_per_unit() as usize];
    let mut found = None;
    let mut most = 0;
    for (plane, slot) in own.iter().zip(0..) {
        if plane.collecting && plane.free_blocks <= board.facts.gc_hard_blocks {
            return None;
        }
        let fits = plane.has_free_page && (taken == 0 || joins(board, unit, slot, taken));
        if fits && plane.free_pages > most {
            (most, found) = (plane.free_pages, Some((PlaneId(first + slot as u16), plane.free_pages)));
        }
    }
    found
}

/// The plane slots of a unit for which writes wait, one bit for each.
fn taken(board: &Board, unit: UnitId) -> u64 {
    if board.waiting(unit, FlashOp::Program) == 0 {
        return 0;
    }
    let queues = (0..board.facts.priorities).map(|priority| board.queue_id(unit, QueueKind::Write(priority)));
    let slots = queues.flat_map(|queue| board.by_slot(queue).iter().enumerate());
    slots.fold(0, |all, (slot, line)| all | u64::from(line.waiting > 0) << slot)
}

/// Whether a write of plane `slot` may share a command with writes of the slots `taken`.
fn joins(board: &Board, unit: UnitId, slot: u32, taken: u64) -> bool {
    let facts = &board.facts;
    let per_die = facts.geometry.planes_per_die;
    let first = unit.0 * facts.geometry.planes_per_unit() as u16;
    let next_page = |slot: u32| board.plane(PlaneId(first + slot as u16)).next_page;
    let shares = |other: u32| {
        if slot == other {
            false
        } else if slot / per_die == other / per_die {
            facts.multi_plane && (!facts.same_page[FlashOp::Program.index()] || next_page(slot) == next_page(other))
        } else {
            facts.multi_die
        }
    };
    (0..64).filter(|other| taken >> other & 1 == 1).all(shares)
}

impl Place for Late {
    fn declares(&self) -> PlaceDeclares {
        PlaceDeclares { binds_at_dispatch: true, ..PlaceDeclares::ASK }
    }

    fn prepare(&mut self, board: &Board) {
        let geometry = &board.facts.geometry;
        let (channels, each) = (geometry.channels, geometry.units_per_channel());
        self.units =
            (0..geometry.units()).map(|turn| UnitId((turn % channels * each + turn / channels) as u16)).collect();
        self.patience *= board.facts.typical(FlashOp::Program).ns();
    }

    fn plane(&mut self, _: &Board, _: Lpn, home: PlaneId) -> PlaneId {
        home
    }

    fn place_at_dispatch(&mut self, board: &Board, oldest: TxnId) -> Option<Placement> {
        let waited = board.now.since(board.txn(oldest).enqueued).ns();
        if let Some((turn, plane)) = self.taker(board, waited <= self.patience) {
            self.next = if turn + 1 >= self.units.len() { turn + 1 - self.units.len() } else { turn + 1 };
            let write = if waited > self.patience { oldest } else { self.write(board, oldest) };
            return Some(Placement { write, to: plane });
        }
        // Nothing runs and no plane has a free page: the next unit takes the write, and reports the shortage or collects.
        let at_rest = |unit: &Unit| unit.service == Service::Idle && unit.user_waiting() == 0 && !unit.gc.any();
        let first = board.units.iter().all(at_rest).then(|| planes(board, self.units[self.next]).next()).flatten();
        first.map(|plane| Placement { write: oldest, to: plane })
    }
}

#[cfg(test)]
mod tests;
