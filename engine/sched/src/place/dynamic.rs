//! Dynamic allocation, DynAlloc: writes go to whichever chip can take them (Slacker §3.3 and §7.6, model 1.1.7).
//!
//! Bound at dispatch (the default, D-SLK-22), writes wait in one queue for the device, oldest first; a chip that is free,
//! with no read and no collection waiting, takes the next, chips in turn with channels first. While writes are left, the
//! turn goes round again, and a chip takes companions for planes that may share its command. Bound at arrival, a write
//! goes to the chip with the least estimated response time (eq. 1), the first of equals, and to its plane with the fewest
//! waiting writes. Planes with many more valid pages than another take none: than one of the chip, bound at arrival than any of the drive.

use alloc::boxed::Box;
use core::cmp::Reverse;

use flashlane_core::board::{QueueKind, Service, SlotQueue};
use flashlane_core::decide::{Keeps, PageWrite, Place, PlaceDeclares, Placement};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Duration, PlaneId, TxnId, UnitId};

use super::{UNEVEN, most_valid, planes, when_at_rest};
use crate::entries::{AnswerEntry, Build};
use crate::estimate::{Estimator, Options, params};
use crate::params::{Param, Values};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "dynamic",
    summary: "a write goes to the chip that can take it first, when it can",
    source: "Slacker §3.3, §7.6; D-SLK-22",
    params: PARAMS,
    build: Build::Place(&|v| Box::new(Dynamic::of(v))),
};

/// Parameters of [`Dynamic`].
pub(crate) const PARAMS: &[Param] = &[
    Param::switch(
        "bind_at_arrival",
        0,
        "a write's chip is chosen when it arrives, by least estimated response, not when a chip is free (D-SLK-22)",
    ),
    params::ADV_LITERAL,
    params::DOUBLE_COUNT,
    params::GC_PER_OP,
    params::RESIDUAL_PHY,
];

/// Dynamic allocation.
#[derive(Debug)]
pub struct Dynamic {
    /// Present when writes are bound at arrival.
    estimator: Option<Estimator>,
    /// The unit that is next, counted channels first.
    turn: u32,
}

impl Dynamic {
    /// Dynamic allocation with a scheduler's parameters.
    pub(crate) fn of(values: &Values<'_>) -> Dynamic {
        let at_arrival = values.get("bind_at_arrival") == 1;
        Dynamic { estimator: at_arrival.then(|| Estimator::new(Options::of(values), false)), turn: 0 }
    }
}

/// The `turn`-th unit, channels first.
fn unit_of(board: &Board, turn: u32) -> UnitId {
    let geometry = &board.facts.geometry;
    UnitId((turn % geometry.channels * geometry.units_per_channel() + turn / geometry.channels) as u16)
}

/// Whether `unit` could begin a write now.
fn is_free(board: &Board, unit: UnitId) -> bool {
    let state = &board.units[unit.index()];
    state.service == Service::Idle && !state.gc.any() && state.waiting(FlashOp::Read) == 0
}

/// The plane of a free unit with most free pages, the first of equals, among those that may join the command of the
/// writes the unit has already taken.
fn emptiest(board: &Board, unit: UnitId) -> Option<PlaneId> {
    let taken = writes_by_slot(board, unit);
    let per_die = board.facts.geometry.planes_per_die as usize;
    let joins = |slot: usize, plane: PlaneId| {
        taken.iter().enumerate().filter(|(_, line)| line.waiting > 0).all(|(other, _)| {
            let one_die = slot / per_die == other / per_die;
            let beside = || board.plane(planes(board, unit).nth(other).expect("a slot of the unit")).next_page;
            slot != other
                && if one_die {
                    board.facts.multi_plane && (!board.facts.same_page[1] || beside() == board.plane(plane).next_page)
                } else {
                    board.facts.multi_die
                }
        })
    };
    let all = planes(board, unit).enumerate();
    let fit = all.filter(|&(slot, plane)| board.plane(plane).has_free_page && joins(slot, plane));
    even(board, fit.map(|(_, plane)| plane)).max_by_key(|&plane| (board.plane(plane).free_pages, Reverse(plane)))
}

/// Those of the planes `fit` that may take a write.
fn even(board: &Board, fit: impl Iterator<Item = PlaneId> + Clone) -> impl Iterator<Item = PlaneId> {
    let valid_pages = |plane: PlaneId| board.plane(plane).valid_pages;
    let most_valid = most_valid(board, fit.clone().map(valid_pages).min().unwrap_or(0));
    fit.filter(move |&plane| valid_pages(plane) <= most_valid)
}

/// The pages that a plane's valid ones may be more than another's, bound at arrival: half of those that all planes have at least beyond their data and
/// their open blocks. A plane that is full of valid pages can never be collected, and writes that are bound to it would wait for ever.
fn uneven(board: &Board) -> u32 {
    (board.facts.gc_start_blocks / 2).clamp(1, UNEVEN) * board.facts.geometry.pages_per_block
}

/// Valid pages that a plane has once the writes that wait for it are done.
fn filled(board: &Board, plane: PlaneId) -> u32 {
    board.plane(plane).valid_pages + waiting_for(board, plane)
}

/// Writes that wait for a plane.
fn waiting_for(board: &Board, plane: PlaneId) -> u32 {
    let (unit, slot) = board.home_of(plane);
    let queues = (0..board.facts.priorities).map(|priority| board.queue_id(unit, QueueKind::Write(priority)));
    queues.map(|queue| board.by_slot(queue)[usize::from(slot)].waiting).sum()
}

/// Writes waiting at a unit for each of its planes, in the first queue only: the other queues of schedulers with several
/// priorities of writes do not matter for widening a command.
fn writes_by_slot(board: &Board, unit: UnitId) -> &[SlotQueue] {
    board.by_slot(board.queue_id(unit, QueueKind::Write(0)))
}

impl Place for Dynamic {
    fn declares(&self) -> PlaceDeclares {
        let keeps = Keeps { valid_pages: true, ..Keeps::NOTHING };
        PlaceDeclares { binds_at_dispatch: self.estimator.is_none(), keeps, ..PlaceDeclares::ASK }
    }

    fn plane(&mut self, board: &Board, PageWrite { home, .. }: PageWrite) -> PlaneId {
        let Some(estimator) = &self.estimator else { return home };
        let own = board.facts.service(FlashOp::Program, board.facts.geometry.page_bytes);
        let response = |&unit: &UnitId| -> Duration {
            let ahead = u64::from(board.waiting(unit, FlashOp::Program));
            estimator.at(board, unit, FlashOp::Program, ahead, own).response()
        };
        let with_free_page = (0..board.planes.len() as u16).map(PlaneId).filter(|&it| board.plane(it).has_free_page);
        let most = with_free_page.map(|plane| filled(board, plane)).min().unwrap_or(0).saturating_add(uneven(board));
        let fits = |&plane: &PlaneId| board.plane(plane).has_free_page && filled(board, plane) <= most;
        let units = (0..board.units.len() as u16).map(UnitId);
        let unit = units.filter(|&unit| planes(board, unit).any(|plane| fits(&plane))).min_by_key(response);
        let own = unit.into_iter().flat_map(|unit| planes(board, unit)).filter(fits);
        own.min_by_key(|&plane| waiting_for(board, plane)).unwrap_or(home)
    }

    fn place_at_dispatch(&mut self, board: &Board, oldest: TxnId) -> Option<Placement> {
        let units = board.units.len() as u32;
        let turns = (0..units).map(|i| (self.turn + i) % units);
        let mut found = turns.filter_map(|turn| {
            let unit = unit_of(board, turn);
            is_free(board, unit).then(|| emptiest(board, unit)).flatten().map(|plane| (turn, plane))
        });
        let taken = found.next();
        drop(found);
        if let Some((turn, plane)) = taken {
            self.turn = (turn + 1) % units;
            return Some(Placement { write: oldest, to: plane });
        }
        when_at_rest(board, oldest, unit_of(board, self.turn))
    }
}

#[cfg(test)]
mod tests;
