//! Queue size leveler: writes have the plane of static allocation until a chip has nothing to do; it then takes a waiting write
//! from the chip with the most work (SOS, model 4.1.2).
//!
//! Load is time, not a number of entries (D-SOS-01): what is left of the command in service and of collections begun, and the
//! typical service of each waiting transaction. The chip with the largest load among those with a write that can move gives
//! its foremost one (D-SOS-02), if that then ends earlier.

use alloc::boxed::Box;
use core::cmp::Reverse;

use flashlane_core::board::QueueKind;
use flashlane_core::decide::{MigrationLimits, PageWrite, Place, PlaceDeclares, Placement};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, PlaneId, TxnId, UnitId};

use super::rotate::Rotate;
use crate::entries::{AnswerEntry, Build};
use crate::estimate::remaining;
use crate::params::{Param, Values};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "rebalance",
    summary: "static until a chip has nothing to do: it takes a write from the chip with the most work",
    source: "SOS; model 4.1.2 QSL",
    params: PARAMS,
    build: Build::Place(&|v| Box::new(Rebalance::of(v))),
};

/// Parameters of [`Rebalance`].
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "rebalance_min_gain_us",
        unit: "us",
        default: 0,
        min: 0,
        max: 1 << 40,
        help: "a write moves only if it begins more than this much earlier (model 4.1.2)",
    },
    Param {
        name: "rebalance_at_once",
        unit: "writes",
        default: 1,
        min: 1,
        max: 1 << 16,
        help: "most writes that move to a chip each time it becomes idle (D-SOS-02)",
    },
    Param::switch("rebalance_from_tail", 0, "whether the hindmost write moves instead of the foremost (D-SOS-02)"),
    Param {
        name: "rebalance_move_ns",
        unit: "ns",
        default: 0,
        min: 0,
        max: 1 << 40,
        help: "time the controller needs for a move; the write joins its new queue that much later (D-SOS-04)",
    },
    Param::switch(
        "rebalance_after_rotation",
        0,
        "whether writes first go to the next plane in turn, as with place = \"rotate\", not to their own (D-SOS-13)",
    ),
];

/// Static allocation until a chip is idle.
#[derive(Debug)]
pub struct Rebalance {
    min_gain: u64,
    limits: MigrationLimits,
    from_tail: bool,
    /// Present when writes first go to the next plane in turn.
    rotation: Option<Rotate>,
}

/// A write that would move.
#[derive(Clone, Copy)]
struct Candidate {
    write: TxnId,
    /// Writes that go before it.
    in_front: u64,
}

impl Rebalance {
    /// The rebalancer with a row's parameters.
    pub(crate) fn of(values: &Values<'_>) -> Rebalance {
        Rebalance {
            min_gain: values.get("rebalance_min_gain_us") * 1_000,
            limits: MigrationLimits {
                at_once: values.get("rebalance_at_once") as u32,
                takes: Duration::from_ns(values.get("rebalance_move_ns")),
            },
            from_tail: values.get("rebalance_from_tail") == 1,
            rotation: (values.get("rebalance_after_rotation") == 1).then(Rotate::default),
        }
    }

    /// The write of `unit` that would move.
    fn candidate(&self, board: &Board, unit: UnitId) -> Option<Candidate> {
        let movable = |&id: &TxnId| board.eligible(id) && board.units[unit.index()].foreground_gc.write() != id;
        let queue = |priority: u8| board.queue(unit, QueueKind::Write(priority));
        // Higher priorities are served first.
        let mut before = 0;
        if !self.from_tail {
            for priority in (0..board.facts.priorities).rev() {
                for id in board.walk(board.queue_id(unit, QueueKind::Write(priority))) {
                    if movable(&id) {
                        return Some(Candidate { write: id, in_front: before });
                    }
                    before += 1;
                }
            }
            return None;
        }
        before = u64::from(board.waiting(unit, FlashOp::Program));
        for priority in 0..board.facts.priorities {
            let mut id = queue(priority).tail;
            while id.is_some() {
                before -= 1;
                if movable(&id) {
                    return Some(Candidate { write: id, in_front: before });
                }
                id = board.txn(id).prev;
            }
        }
        None
    }
}

/// Typical service of a whole page, ns.
fn typical(board: &Board, op: FlashOp) -> u64 {
    board.facts.typical(op).ns()
}

/// Time until `unit` would have done all that waits for it, ns.
fn load(board: &Board, unit: UnitId) -> u64 {
    let waits = |op| u64::from(board.waiting(unit, op)) * typical(board, op);
    remaining(board, unit) + waits(FlashOp::Read) + waits(FlashOp::Program)
}

/// Reads waiting at `unit` that go before `write`: those of higher priorities, and the older ones of its own.
fn reads_in_front(board: &Board, unit: UnitId, write: TxnId) -> u64 {
    let place = |id: TxnId| (Reverse(board.txn(id).priority), board.txn(id).age());
    let priorities = (0..board.facts.priorities).map(|priority| board.queue_id(unit, QueueKind::Read(priority)));
    priorities.flat_map(|queue| board.walk(queue)).filter(|&read| place(read) < place(write)).count() as u64
}

/// The plane of `unit` that takes a moved write: the one for which fewest writes wait, of equals the one with most free pages, of
/// equals the first. A plane that is short of free blocks takes none: pages must not gather where none can be freed (D-SOS-14).
fn receiver(board: &Board, unit: UnitId) -> Option<PlaneId> {
    let each = board.facts.geometry.planes_per_unit() as u16;
    let waiting = |slot: u16| {
        let priorities = (0..board.facts.priorities).map(|priority| board.queue_id(unit, QueueKind::Write(priority)));
        priorities.map(|queue| board.by_slot(queue)[usize::from(slot)].waiting).sum::<u32>()
    };
    let takes = |&slot: &u16| {
        let plane = board.plane(PlaneId(unit.0 * each + slot));
        plane.has_free_page && plane.free_blocks >= board.facts.gc_start_blocks && !plane.collecting
    };
    let free = |slot: u16| board.plane(PlaneId(unit.0 * each + slot)).free_pages;
    let slots = (0..each).filter(takes);
    let best = slots.min_by_key(|&slot| (waiting(slot), Reverse(free(slot)), slot))?;
    Some(PlaneId(unit.0 * each + best))
}

impl Place for Rebalance {
    fn declares(&self) -> PlaceDeclares {
        PlaceDeclares { migration: self.limits, ..PlaceDeclares::ASK }
    }

    fn plane(&mut self, board: &Board, page: PageWrite) -> PlaneId {
        self.rotation.as_mut().map_or(page.home, |rotation| rotation.plane(board, page))
    }

    fn steal_write(&mut self, board: &Board, unit: UnitId) -> Option<Placement> {
        let mut most: Option<(u64, UnitId, Candidate)> = None;
        for donor in (0..board.units.len() as u16).map(UnitId) {
            if donor == unit || board.waiting(donor, FlashOp::Program) == 0 {
                continue;
            }
            let has = load(board, donor);
            if most.is_none_or(|(load, ..)| has > load)
                && let Some(candidate) = self.candidate(board, donor)
            {
                most = Some((has, donor, candidate));
            }
        }
        let (_, donor, Candidate { write, in_front }) = most?;
        let threshold = load(board, unit) + self.min_gain;
        let mut ahead = remaining(board, donor) + in_front * typical(board, FlashOp::Program);
        if ahead <= threshold {
            ahead += reads_in_front(board, donor, write) * typical(board, FlashOp::Read);
        }
        if ahead <= threshold {
            return None;
        }
        Some(Placement { write, to: receiver(board, unit)? })
    }
}

#[cfg(test)]
mod tests;
