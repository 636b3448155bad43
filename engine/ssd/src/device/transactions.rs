//! Transactions of the host and the buffer: created, put into their unit's queue at the position of the order decision, and withdrawn from it.

use alloc::vec::Vec;

use flashlane_core::board::Service;
use flashlane_core::decide::{Departure, Placement};
use flashlane_core::event::Event;
use flashlane_core::transaction::{FlashOp, Stage, tag};
use flashlane_core::{Board, Duration, FlowId, Lpn, Owner, PlaneId, Transaction, TxnId};

use super::followers::{Followers, ReservedRows};
use super::overtaking::Overtaking;
use super::slack::{charge_from, charge_programs};
use crate::config::{self, Config, UnmappedReads};
use crate::frontend::RequestSlot;
use crate::policy::{Known, Policy};
use crate::shared::State;

/// Where a new write joins its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum QueuePlacement {
    /// At the position of the order decision.
    AsOrdered,
    /// In front of this waiting write, or at the tail: at the place of the write it has replaced (D-SOS-08).
    InFrontOf(TxnId),
}

/// Transactions of the host and the buffer: how they are made, and the order of arrival of those that wait.
#[derive(Debug)]
pub(super) struct Transactions {
    /// The order of arrival of what waits.
    pub(super) overtaking: Overtaking,
    /// The further pages of each wordline that waits.
    pub(super) followers: Followers,
    /// Pages of the SLC cache that are reserved for programs.
    pub(super) reserved_rows: ReservedRows,
    pub(super) page_bytes: u32,
    metadata_bytes: u32,
    /// Whether a write of a part of a page reads the page first.
    pub(super) read_modify_write: bool,
    /// Whether reads need their physical address before they begin, because their array time or the reads they may share a
    /// command with depend on it. Reads that keep an older copy of their page have its address in any case.
    pub(super) address_reads: bool,
    /// Whether pages without a copy are served from memory.
    pub(super) unmapped_from_memory: bool,
    /// Whether the entry of a page is looked up before a read of it becomes a transaction.
    pub(super) looks_up_reads: bool,
    /// Requests take no more than their transactions: no estimates or lists of them, no buffer, no look-ups in the map, no serial service.
    pub(super) plain: bool,
    /// Scratch space: reads that may share a row.
    pub(super) row: Vec<TxnId>,
    /// How many have ended, those of garbage collection included.
    pub(super) ended: u64,
    /// Reads of read-modify-write.
    pub(super) partial_reads: u64,
}

/// Creates a transaction of the host, the buffer or the mapping cache, which is in no queue yet, for the request in slot `request`
/// (`RequestSlot::MAX` for none).
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(super) fn create(
    request: RequestSlot,
    flow: FlowId,
    owner: Owner,
    op: FlashOp,
    lpn: Lpn,
    plane: PlaneId,
    bytes: u32,
    state: &mut State,
) -> TxnId {
    let id = state.allocate();
    let serial = state.take_serials(1);
    let board = &mut state.board;
    let (unit, slot) = board.home_of(plane);
    let priority = match board.facts.priorities {
        1 => 0,
        priorities => board.flows[flow.index()].priority().min(priorities - 1),
    };
    let queue = board.queue_for(unit, op, priority);
    let transfer = board.facts.transfer(bytes);
    *board.txn_mut(id) = Transaction {
        serial,
        enqueued: board.now,
        request,
        lpn,
        bytes,
        transfer,
        plane,
        unit,
        flow,
        slot,
        queue,
        op,
        owner,
        priority,
        stage: Stage::Waiting,
        ..Transaction::EMPTY
    };
    id
}

impl Transactions {
    /// Nothing waits on `board`; `address_reads` if reads need their physical address before they begin.
    pub(super) fn new(config: &Config, known: &Known, board: &Board, address_reads: bool) -> Transactions {
        let looks_up_reads = config.mapping.is_some() || config.unmap.reads == UnmappedReads::Memory;
        let follows_requests = known.needs.estimates || known.keeps.request_pages;
        let is_serial = matches!(config.front.service, config::Service::Serial { .. });
        Transactions {
            overtaking: Overtaking::new(board),
            followers: Followers::default(),
            reserved_rows: ReservedRows::of_device(config, known),
            page_bytes: config.geometry.page_bytes,
            metadata_bytes: config.page_on_bus() - config.geometry.page_bytes,
            read_modify_write: config.ftl.read_modify_write,
            address_reads,
            unmapped_from_memory: config.unmap.reads == UnmappedReads::Memory,
            looks_up_reads,
            row: Vec::new(),
            plain: !(looks_up_reads || follows_requests || is_serial || config.buffer.is_some()),
            ended: 0,
            partial_reads: 0,
        }
    }

    /// Bytes that cross the bus for `bytes` of a page: with a whole page, its metadata too.
    #[inline(always)]
    pub(super) fn on_bus(&self, bytes: u32) -> u32 {
        if bytes == self.page_bytes { self.page_on_bus() } else { bytes }
    }

    /// Bytes that cross the bus for a whole page.
    #[inline(always)]
    pub(super) fn page_on_bus(&self) -> u32 {
        self.page_bytes + self.metadata_bytes
    }

    /// A reason is gone for which a transaction could not join its queue ([`held`](flashlane_core::transaction::held)): at the last it joins.
    #[cold]
    pub(super) fn release(&mut self, id: TxnId, reason: u8, policy: &mut Policy, state: &mut State) {
        if may_queue(id, reason, state) {
            state.board.txn_mut(id).enqueued = state.board.now;
            self.overtaking.joins_late();
            self.enqueue(id, policy, state);
        }
    }

    /// Puts a write into its queue where `placement` says.
    #[inline(always)]
    pub(super) fn enqueue_at(&mut self, id: TxnId, placement: QueuePlacement, policy: &mut Policy, state: &mut State) {
        match placement {
            QueuePlacement::AsOrdered => self.enqueue(id, policy, state),
            QueuePlacement::InFrontOf(next) => self.enqueue_inherited(id, next, policy, state),
        }
    }

    /// Puts a write into the queue of the write it has replaced, in front of `before` or at the tail.
    #[cold]
    fn enqueue_inherited(&mut self, id: TxnId, before: TxnId, policy: &Policy, state: &mut State) {
        if state.log.on {
            report_queued(id, state);
        }
        let Transaction { serial, unit, queue, plane, .. } = *state.board.txn(id);
        self.overtaking.join_late(&mut state.board, id, queue, before);
        if policy.known.binds_at_dispatch && queue != state.board.unplaced() {
            state.log(|| Event::Moved { txn: serial, plane });
        }
        state.mark(unit);
    }

    /// Puts a transaction into its unit's queue at the position of the order decision, and marks the unit if it must decide.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, id: TxnId, policy: &mut Policy, state: &mut State) {
        if state.log.on {
            report_queued(id, state);
        }
        self.join_queue(id, policy, state);
    }

    /// The same for a transaction that has been reported as queued.
    #[inline(always)]
    pub(super) fn join_queue(&mut self, id: TxnId, policy: &mut Policy, state: &mut State) {
        let Transaction { unit, queue, op, .. } = *state.board.txn(id);
        if policy.known.binds_at_dispatch && op == FlashOp::Program {
            self.enqueue_unplaced(id, state);
            return;
        }
        // A unit that has nothing to do may take a write that joins the queue of a busy one.
        state.agenda.open |= policy.known.migrates_writes & (op == FlashOp::Program);
        let before = if policy.known.tail_order { TxnId::NONE } else { position(id, policy, &mut state.board) };
        self.overtaking.join(&mut state.board, id, queue, before);
        let unit_state = &state.board.units[unit.index()];
        // A busy unit has nothing to decide, unless its program or erase may be paused for a read.
        let may_pause = policy.known.pauses & (op == FlashOp::Read) & unit_state.command.in_array;
        state.agenda.mark_if(unit, (unit_state.service != Service::Busy) | may_pause);
    }

    /// Puts a write into the queue of writes that have no plane yet.
    fn enqueue_unplaced(&mut self, id: TxnId, state: &mut State) {
        let board = &mut state.board;
        let unplaced = board.unplaced();
        board.txn_mut(id).queue = unplaced;
        self.overtaking.join_late(board, id, unplaced, TxnId::NONE);
        state.agenda.open = true;
    }

    /// Assigns the writes that have no plane yet to the planes that the place decision returns (Slacker §7.6, D-SLK-22), until it
    /// returns none. It is offered the oldest that need not wait for an older one of its page, and may choose another. Returns whether such
    /// a write is left.
    pub(super) fn place_unplaced(&mut self, policy: &mut Policy, state: &mut State) -> bool {
        loop {
            let board = &mut state.board;
            let next = board.walk(board.unplaced()).find(|&id| board.eligible(id));
            let Some(id) = next else { return false };
            let Some(Placement { write, to }) = policy.place_at_dispatch(board, id) else { return true };
            debug_assert!(board.eligible(write) && board.txn(write).queue == board.unplaced());
            self.overtaking.leave(board, write);
            self.join_at(write, to, policy, state);
        }
    }

    /// Assigns a write that is in no queue to `plane`, and puts it into the queue of that plane's unit.
    pub(super) fn join_at(&mut self, id: TxnId, plane: PlaneId, policy: &mut Policy, state: &mut State) {
        let board = &mut state.board;
        let Transaction { serial, op, priority, reserves_slc, plane: from, .. } = *board.txn(id);
        if reserves_slc {
            self.reserved_rows.move_to(from, plane);
        }
        let (unit, slot) = board.home_of(plane);
        let queue = board.queue_for(unit, op, priority);
        let txn = board.txn_mut(id);
        (txn.plane, txn.unit, txn.slot, txn.queue) = (plane, unit, slot, queue);
        let before = if policy.known.needs.arrivals_from_units { position(id, policy, board) } else { TxnId::NONE };
        self.overtaking.join_late(board, id, queue, before);
        state.log(|| Event::Moved { txn: serial, plane });
        if !self.followers.is_empty() {
            self.followers.go_along(id, state);
        }
        state.mark(unit);
    }

    /// Takes a user transaction out of its queue without executing it.
    pub(super) fn withdraw(&mut self, id: TxnId, policy: &mut Policy, state: &mut State) {
        let Transaction { unit, queue, .. } = *state.board.txn(id);
        // The order decision is not asked about a write that has no plane yet.
        if policy.notifies_departures && queue != state.board.unplaced() {
            notify_departure(id, Departure::Withdrawn, policy, &mut state.board);
        }
        state.board.units[unit.index()].foreground_gc.forget(id);
        self.overtaking.leave(&mut state.board, id);
        if policy.known.preempt_chooses_boundaries {
            // The answer of the preempt decision may depend on the number of waiting writes.
            state.mark(unit);
        }
    }
}

/// A transaction may not join its queue as long as it is held for this reason ([`held`](flashlane_core::transaction::held)).
pub(super) fn hold(id: TxnId, reason: u8, board: &mut Board) {
    let txn = board.txn_mut(id);
    (txn.stage, txn.held) = (Stage::Held, txn.held | reason);
}

/// A reason is gone for which a transaction could not join its queue. Returns whether it may now. If its page was trimmed meanwhile, it is freed
/// at the last reason instead.
pub(super) fn may_queue(id: TxnId, reason: u8, state: &mut State) -> bool {
    let txn = state.board.txn_mut(id);
    debug_assert!(txn.stage == Stage::Held && txn.held & reason != 0, "not held for this reason");
    txn.held &= !reason;
    if txn.held != 0 {
        return false;
    }
    let is_trimmed = txn.tag & tag::TRIMMED != 0;
    txn.stage = Stage::Waiting;
    if is_trimmed {
        state.free(id);
    }
    !is_trimmed
}

/// Notifies the order decision that a user transaction leaves its queue, and subtracts what it returns from the slack.
#[inline(always)]
pub(super) fn notify_departure(id: TxnId, departure: Departure, policy: &mut Policy, board: &mut Board) {
    let owed = policy.departs(board, id, departure);
    if owed > Duration::ZERO {
        board.txn_mut(id).slack -= owed;
    }
}

/// Asks for the position of a user transaction in its queue, and takes the charges from the slack of others. Returns the
/// transaction to join in front of; [`TxnId::NONE`] for the tail.
#[inline(always)]
fn position(id: TxnId, policy: &mut Policy, board: &mut Board) -> TxnId {
    let Transaction { unit, queue, .. } = *board.txn(id);
    let position = policy.position(board, id, queue);
    if position.charge > Duration::ZERO {
        charge_from(board, position.in_front_of, TxnId::NONE, position.charge);
    }
    if position.charge_programs > Duration::ZERO {
        charge_programs(board, unit, position.charge_programs);
    }
    let txn = board.txn_mut(id);
    txn.tag |= position.tag;
    txn.isolated_latency = position.isolated_latency;
    position.in_front_of
}

#[cold]
pub(super) fn report_queued(id: TxnId, state: &mut State) {
    let Transaction { serial, request, flow, op, owner, lpn, plane, bytes, .. } = *state.board.txn(id);
    let request = state.board.requests.get(request as usize).map(|request| request.id);
    state.log(|| Event::Queued { txn: serial, request, flow, op, owner, lpn, plane, bytes });
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::board::Facts;
    use flashlane_core::geometry::Geometry;
    use flashlane_core::transaction::held;

    const GEOMETRY: Geometry = Geometry::plain();

    /// A program that is held for two reasons.
    fn held_twice() -> (State, TxnId) {
        let mut state = State::new(Board::new(Facts::plain(GEOMETRY), 1));
        let (owner, op) = (Owner::User, FlashOp::Program);
        let id = create(RequestSlot::MAX, FlowId(0), owner, op, Lpn(1), PlaneId(0), 4096, &mut state);
        hold(id, held::ENTRY, &mut state.board);
        hold(id, held::REST, &mut state.board);
        (state, id)
    }

    #[test]
    fn a_transaction_may_queue_once_the_last_reason_is_gone() {
        let (mut state, id) = held_twice();
        assert!(!may_queue(id, held::REST, &mut state), "its entry is not in memory");
        assert_eq!((state.board.txn(id).stage, state.board.txn(id).held), (Stage::Held, held::ENTRY));
        assert!(may_queue(id, held::ENTRY, &mut state), "nothing holds it any more");
        assert_eq!(state.board.txn(id).stage, Stage::Waiting);
    }

    #[test]
    fn a_trimmed_transaction_is_freed_instead() {
        let (mut state, id) = held_twice();
        state.board.txn_mut(id).tag = tag::TRIMMED;
        assert!(
            !may_queue(id, held::ENTRY, &mut state) && state.board.txn(id).stage == Stage::Held,
            "what reads its rest comes back to it"
        );
        assert!(
            !may_queue(id, held::REST, &mut state) && state.board.txn(id).stage == Stage::Free,
            "nothing comes back to it any more"
        );
    }
}
