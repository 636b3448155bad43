//! Late binding: all writes of the device wait in one queue, and a chip takes one only when it could begin it (model 1.1.10).
//!
//! A write that has a chip can be delayed there by reads and by garbage collection while other chips stand idle; one that has none
//! cannot. A chip takes one when it has nothing in service, no read waits for it and no collection goes before a write there; companions for
//! planes that may share its command follow while writes are left. In this it is like [`Dynamic`](super::dynamic::Dynamic); but that refuses every
//! chip for which collection waits, so that on a full drive, where collection always waits, writes starve. Here a chip is refused only
//! when a plane of it is so short of blocks that its collection goes first. Where collection lets writes go between its steps even then
//! ([`Paced`](crate::collect::paced::Paced)), such a chip takes one if no other could and collection has freed pages for it.
//!
//! Of the chips that could take a write the first `late_choices` in turn are compared, channels first, and the one with the plane that has
//! most free pages takes it. Writes so go where blocks are left, and no plane has to collect much earlier than others. A plane that has many more
//! valid pages than another takes none.
//!
//! Where the pages of a multi-plane command must have the same offset in their blocks, a chip begins with the plane of that die whose
//! next page is hindmost. The planes of a die so stay at the same offset, and one command programs all of them; where writes went to the plane
//! with most free pages, offsets drifted apart, and most commands programmed a single page.
//!
//! A write that has waited for `late_patience` programs is also taken by chips that reads wait for, so that reads on every chip do not
//! keep it for ever. With `late_fair`, where more writes wait than the drive serves soon, the flow that has written least goes first: it waits
//! behind few of its own writes and not behind the others' many. Where flows have priorities and the pick decision heeds them, the most urgent write goes first ([`most_urgent`]).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};

use flashlane_core::board::{Plane, QueueKind, Unit};
use flashlane_core::decide::{Keeps, PageWrite, Place, PlaceDeclares, Placement};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, PlaneId, TxnId, UnitId};

use super::{most_valid, when_at_rest};
use crate::collect::paced::may_write;
use crate::entries::{AnswerEntry, Build};
use crate::params::{Param, Values};
use crate::pick::most_urgent;

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "late",
    summary: "a write waits for any chip until one could begin it, and chips nearly out of blocks take none",
    source: "ours; model 1.1.10",
    params: PARAMS,
    build: Build::Place(&|v| Box::new(Late::of(v))),
};

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
    Param {
        name: "late_fair",
        unit: "writes",
        default: 4,
        min: 0,
        max: 1 << 20,
        help: "with so many a chip waiting for one, the flow with fewest pages written goes first; 0: in order of arrival",
    },
];

/// The most urgent write is looked for among this many at the head of the queue.
const WINDOW: usize = 64;

/// Late binding.
#[derive(Debug)]
pub struct Late {
    choices: u32,
    patience: u64,
    fair: u64,
    /// Pages each flow had written when the scheduler began.
    written_before: Vec<u64>,
    /// The chip that is next.
    next: Rotation,
}

impl Late {
    /// Late binding with a scheduler's parameters.
    pub(crate) fn of(values: &Values<'_>) -> Late {
        Late {
            choices: values.get("late_choices") as u32,
            patience: values.get("late_patience"),
            fair: values.get("late_fair"),
            written_before: Vec::new(),
            next: Rotation::default(),
        }
    }

    /// The chip that takes a write, and the plane: of the first that could take it the one with most free pages, unless its plane has too
    /// many valid ones beside another's. One that is nearly out of blocks takes it only where no other could.
    fn taker(&self, board: &Board, heeds_reads: bool) -> Option<(Rotation, PlaneId)> {
        let (mut taker, fewest_valid) = self.roomiest(board, heeds_reads, u32::MAX);
        let most_valid = most_valid(board, fewest_valid);
        if taker.is_some_and(|(_, taker)| taker.valid_pages > most_valid) {
            taker = self.roomiest(board, heeds_reads, most_valid).0;
        }
        taker.map(|(turn, taker)| (turn, taker.plane))
    }

    /// Of the first chips that could take a write the one with most free pages in a plane that has no more than `most_valid` valid ones, and the
    /// fewest valid pages of such a plane.
    fn roomiest(&self, board: &Board, heeds_reads: bool, most_valid: u32) -> (Option<(Rotation, Taker)>, u32) {
        let mut best: Option<(Rotation, Taker)> = None;
        let mut fewest_valid = u32::MAX;
        let mut choices = self.choices;
        self.next.idle_units(board, |turn, unit| {
            if !is_free(&board.units[unit.index()], heeds_reads) {
                return true;
            }
            let Some(taker) = taking_plane(board, unit) else { return true };
            if taker.valid_pages <= most_valid {
                let most = best.map(|(_, best)| (best.has_blocks, best.free_pages));
                match most.map_or(Ordering::Greater, |(has_blocks, _)| taker.has_blocks.cmp(&has_blocks)) {
                    Ordering::Greater => fewest_valid = taker.valid_pages,
                    Ordering::Equal => fewest_valid = fewest_valid.min(taker.valid_pages),
                    Ordering::Less => {}
                }
                if most.is_none_or(|most| (taker.has_blocks, taker.free_pages) > most) {
                    best = Some((turn, taker));
                }
            }
            choices -= u32::from(taker.has_blocks);
            choices > 0
        });
        (best, fewest_valid)
    }

    /// The write that goes next: where there are priorities the most urgent, where too many wait one of the flow that has written least, else
    /// `oldest`.
    fn write(&self, board: &Board, oldest: TxnId) -> TxnId {
        if board.facts.priorities == 1 && (self.fair == 0 || board.flows.len() == 1) {
            return oldest;
        }
        let waiting = board.walk(board.unplaced()).take(WINDOW).filter(|&id| board.eligible(id));
        if board.facts.priorities > 1 {
            return most_urgent(board, waiting).unwrap_or(oldest);
        }
        if u64::from(board.queues[board.unplaced().index()].len) < self.fair * board.units.len() as u64 {
            return oldest;
        }
        let written = |id: &TxnId| {
            let txn = board.txn(*id);
            let flow = txn.flow.index();
            (board.flows[flow].programmed() - self.written_before[flow], txn.age())
        };
        waiting.min_by_key(written).unwrap_or(oldest)
    }
}

/// A place in the rotation of chips, channels first.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Rotation {
    /// Its number on its channel, and the channel.
    way: u32,
    channel: u32,
}

impl Rotation {
    /// The unit.
    fn unit(self, board: &Board) -> UnitId {
        UnitId((self.channel * board.facts.geometry.units_per_channel() + self.way) as u16)
    }

    /// The turn behind this one.
    fn behind(self, board: &Board) -> Rotation {
        let geometry = &board.facts.geometry;
        match self {
            Rotation { way, channel } if channel + 1 < geometry.channels => Rotation { way, channel: channel + 1 },
            Rotation { way, .. } if way + 1 < geometry.units_per_channel() => Rotation { way: way + 1, channel: 0 },
            _ => Rotation::default(),
        }
    }

    /// Visits the units that have nothing in service from this turn on, as long as `visit` returns true.
    #[inline(always)]
    fn idle_units(self, board: &Board, mut visit: impl FnMut(Rotation, UnitId) -> bool) {
        let mut idle = 0;
        for channel in &board.channels {
            idle |= channel.idle;
        }
        if idle == 0 {
            return;
        }
        let mut visit_way = |way: u32, among: u64| {
            let mut channels = among & board.channels.iter().rev().fold(0, |all, it| all << 1 | it.idle >> way & 1);
            while channels != 0 {
                let turn = Rotation { way, channel: channels.trailing_zeros() };
                if !visit(turn, turn.unit(board)) {
                    return false;
                }
                channels &= channels - 1;
            }
            true
        };
        // The ways from this one on, and this one once more at the end for the channels before.
        let before = (1 << self.channel) - 1;
        let mut goes_on = idle >> self.way & 1 == 0 || visit_way(self.way, !before);
        let mut ways = idle.rotate_right(self.way) & !1;
        while goes_on && ways != 0 {
            goes_on = visit_way((self.way + ways.trailing_zeros()) % 64, u64::MAX);
            ways &= ways - 1;
        }
        if goes_on {
            visit_way(self.way, before);
        }
    }
}

/// Whether a unit with nothing in service could begin a write now.
fn is_free(state: &Unit, heeds_reads: bool) -> bool {
    !state.foreground_gc.is_open() && (!heeds_reads || state.waiting(FlashOp::Read) == 0)
}

/// A plane of a free unit that could take the next write.
#[derive(Clone, Copy)]
struct Taker {
    plane: PlaneId,
    /// Whether no plane of the unit is nearly out of blocks.
    has_blocks: bool,
    /// The most free pages of a plane that could, and that plane's valid ones.
    free_pages: u32,
    valid_pages: u32,
}

/// The plane of a free unit that takes the next write, among those that may join the command of the writes the unit has already taken.
/// `None` if there is none, or collection of a plane of the unit goes first.
fn taking_plane(board: &Board, unit: UnitId) -> Option<Taker> {
    let facts = &board.facts;
    let each = facts.geometry.planes_per_unit();
    let taken_by = board.waiting(unit, FlashOp::Program);
    if taken_by >= each || (taken_by > 0 && !facts.multi_plane && !facts.multi_die) {
        return None;
    }
    let taken = taken(board, unit);
    let first = unit.0 * each as u16;
    let own = &board.planes[usize::from(first)..][..each as usize];
    let mut fit = 0u64;
    let mut has_blocks = true;
    for (plane, slot) in own.iter().zip(0..) {
        if plane.collecting && plane.free_blocks <= facts.gc_hard_blocks {
            if !facts.paced_gc || (has_blocks && !may_write(board, unit)) {
                return None;
            }
            has_blocks = false;
        }
        let fits = plane.has_free_page && (taken == 0 || joins(board, unit, slot, taken));
        fit |= u64::from(fits) << slot;
    }
    let fit = || own.iter().zip(0..).filter(|&(_, slot)| fit >> slot & 1 == 1);
    let most_valid = most_valid(board, fit().map(|(plane, _)| plane.valid_pages).min()?);
    let even = fit().filter(|(plane, _)| plane.valid_pages <= most_valid);
    let (roomiest, mut slot) = even.max_by_key(|&(plane, slot)| (plane.free_pages, Reverse(slot)))?;
    if facts.multi_plane && facts.same_page[FlashOp::Program.index()] {
        slot = hindmost(board, own, taken, slot, most_valid);
    }
    let Plane { free_pages, valid_pages, .. } = *roomiest;
    Some(Taker { plane: PlaneId(first + slot as u16), has_blocks, free_pages, valid_pages })
}

/// The plane on the die of `slot` whose next page is hindmost, among those with at most `most_valid` valid pages; `slot` itself among equals.
/// If a write has been taken for that die it is `slot`: all planes that may join are at the same page then.
fn hindmost(board: &Board, own: &[Plane], taken: u64, slot: u32, most_valid: u32) -> u32 {
    let (per_die, pages) = (board.facts.geometry.planes_per_die, board.facts.geometry.pages_per_block);
    let first = slot / per_die * per_die;
    let mut hindmost = slot;
    if taken >> first & ((1 << per_die) - 1) != 0 {
        return hindmost;
    }
    for other in first..first + per_die {
        let (plane, next_page) = (&own[other as usize], own[hindmost as usize].next_page);
        // Planes of a die fill blocks alike: what seems to be ahead by more than half a block is behind.
        let around = if next_page < plane.next_page { pages } else { 0 };
        let behind = next_page + around - plane.next_page;
        if behind != 0 && behind <= pages / 2 && plane.has_free_page && plane.valid_pages <= most_valid {
            hindmost = other;
        }
    }
    hindmost
}

/// The plane slots of a unit for which writes wait, one bit for each.
fn taken(board: &Board, unit: UnitId) -> u64 {
    let mut left = board.waiting(unit, FlashOp::Program);
    let mut taken = 0;
    for priority in 0..board.facts.priorities {
        if left == 0 {
            break;
        }
        for (line, slot) in board.by_slot(board.queue_id(unit, QueueKind::Write(priority))).iter().zip(0..) {
            taken |= u64::from(line.waiting > 0) << slot;
            left -= line.waiting;
        }
    }
    taken
}

/// Whether a write of plane `slot` may share a command with writes of the slots `taken`.
fn joins(board: &Board, unit: UnitId, slot: u32, taken: u64) -> bool {
    let facts = &board.facts;
    let per_die = facts.geometry.planes_per_die;
    let die = ((1u64 << per_die) - 1) << (slot / per_die * per_die);
    if taken >> slot & 1 == 1 || (taken & !die != 0 && !facts.multi_die) {
        return false;
    }
    let mut beside = taken & die;
    if beside != 0 && !facts.multi_plane {
        return false;
    }
    let first = unit.0 * facts.geometry.planes_per_unit() as u16;
    let next_page = |slot: u32| board.plane(PlaneId(first + slot as u16)).next_page;
    while beside != 0 && facts.same_page[FlashOp::Program.index()] {
        if next_page(slot) != next_page(beside.trailing_zeros()) {
            return false;
        }
        beside &= beside - 1;
    }
    true
}

impl Place for Late {
    fn declares(&self) -> PlaceDeclares {
        let keeps = Keeps { valid_pages: true, ..Keeps::NOTHING };
        PlaceDeclares { binds_at_dispatch: true, reads_times: false, keeps, ..PlaceDeclares::ASK }
    }

    fn prepare(&mut self, board: &Board) {
        self.patience *= board.facts.typical(FlashOp::Program).ns();
        self.written_before = board.flows.iter().map(|flow| flow.programmed()).collect();
    }

    fn plane(&mut self, _: &Board, PageWrite { home, .. }: PageWrite) -> PlaneId {
        home
    }

    fn place_at_dispatch(&mut self, board: &Board, oldest: TxnId) -> Option<Placement> {
        let waited = board.now.since(board.txn(oldest).enqueued).ns();
        if let Some((turn, plane)) = self.taker(board, waited <= self.patience) {
            self.next = turn.behind(board);
            let write = if waited > self.patience { oldest } else { self.write(board, oldest) };
            return Some(Placement { write, to: plane });
        }
        when_at_rest(board, oldest, self.next.unit(board))
    }
}

#[cfg(test)]
mod tests;
