//! The board: everything a scheduling decision may look at, in flat tables.
//!
//! The device owns the board and is the only one that writes it; decisions get `&Board`. A scheduler knows only what is on the board.
//! Queues are doubly linked lists through the transaction slab, so that a transaction can join or leave anywhere
//! at constant cost and nothing is allocated per request.

mod links;
mod of_request;

use alloc::vec;
use alloc::vec::Vec;

use crate::id::{FlowId, PlaneId, QueueId, TxnId, UnitId};
use crate::transaction::{FlashOp, Transaction};
use crate::units::{Duration, Time};

pub use crate::facts::Facts;
pub use crate::state::*;
pub use links::Walk;

/// Everything a decision may look at.
///
/// The fields used most come first: instructions that access fields at small offsets are shorter.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Board {
    /// The instant a decision is taken at.
    pub now: Time,
    /// The transaction slab, indexed by [`TxnId`].
    pub txns: Vec<Transaction>,
    /// Units.
    pub units: Vec<Unit>,
    /// Requests inside the device or waiting to enter it, indexed by [`Transaction::request`]; other entries are left over from completed
    /// ones.
    pub requests: Vec<ActiveRequest>,
    /// Flows.
    pub flows: Vec<Flow>,
    /// Queues, `kinds` for each unit, and the queue of writes that have no plane yet ([`Board::unplaced`]).
    pub queues: Vec<Queue>,
    /// The transactions of each queue that are for the same plane slot.
    by_slot: Vec<SlotQueue>,
    /// By waiting transaction: the next one of the same queue and plane slot; not valid for the last of them. A table of its own,
    /// because transactions that have waited long are no longer in the processor's cache.
    behind: Vec<TxnId>,
    slots: usize,
    /// Number of queues of a unit.
    kinds: usize,
    /// Unit of each plane, and the plane's number in it.
    homes: Vec<(UnitId, u8)>,
    /// Channels.
    pub channels: Vec<Channel>,
    /// Planes, unit by unit.
    pub planes: Vec<Plane>,
    /// Write requests inside the device some of whose pages wait for space in the page buffer.
    pub waiting_for_buffer: u32,
    /// The transactions of each request, if an answer looks at them.
    request_pages: of_request::RequestPages,
    /// What never changes.
    pub facts: Facts,
}

impl Board {
    /// An empty board.
    pub fn new(facts: Facts, flows: usize) -> Board {
        let geometry = facts.geometry;
        let units = geometry.units() as usize;
        let queues = units * kinds(facts.priorities);
        let (planes, slots) = (geometry.planes_per_unit() as u16, geometry.slots_per_unit() as usize);
        Board {
            now: Time::ZERO,
            txns: Vec::new(),
            requests: Vec::new(),
            queues: vec![Queue::EMPTY; queues + 1],
            units: (0..units as u16).map(|unit| Unit::idle(geometry.channel_of(UnitId(unit)))).collect(),
            channels: vec![
                Channel { idle: u64::MAX >> (64 - geometry.units_per_channel()), ..Channel::default() };
                geometry.channels as usize
            ],
            planes: vec![Plane::default(); geometry.planes() as usize],
            waiting_for_buffer: 0,
            request_pages: of_request::RequestPages::default(),
            flows: vec![Flow::default(); flows],
            by_slot: vec![SlotQueue::EMPTY; (queues + 1) * slots],
            behind: Vec::new(),
            slots,
            kinds: kinds(facts.priorities),
            homes: (0..geometry.planes() as u16)
                .map(|plane| (geometry.unit_of(PlaneId(plane)), (plane % planes) as u8))
                .collect(),
            facts,
        }
    }

    /// Takes the facts for another scheduler, with queues for as many priorities as they have. Nothing may wait. For the device.
    pub fn set_facts(&mut self, facts: Facts) {
        let queues = self.units.len() * kinds(facts.priorities) + 1;
        self.queues = vec![Queue::EMPTY; queues];
        self.by_slot = vec![SlotQueue::EMPTY; queues * self.slots];
        (self.kinds, self.facts) = (kinds(facts.priorities), facts);
    }

    /// The id of a unit's queue.
    #[inline(always)]
    pub fn queue_id(&self, unit: UnitId, kind: QueueKind) -> QueueId {
        let priorities = self.facts.priorities as usize;
        let offset = match kind {
            QueueKind::Read(priority) => priority as usize,
            QueueKind::Write(priority) => priorities + priority as usize,
        };
        QueueId((unit.index() * self.kinds + offset) as u32)
    }

    /// The queue of writes that have no plane yet (for a place decision that binds at dispatch).
    #[inline]
    pub fn unplaced(&self) -> QueueId {
        QueueId(self.queues.len() as u32 - 1)
    }

    /// Whether a write waits that has no plane yet.
    #[inline(always)]
    pub fn any_unplaced(&self) -> bool {
        self.queues.last().is_some_and(|queue| queue.len > 0)
    }

    /// A unit's queue.
    #[inline(always)]
    pub fn queue(&self, unit: UnitId, kind: QueueKind) -> &Queue {
        &self.queues[self.queue_id(unit, kind).index()]
    }

    /// The queue of a unit for user and buffer transactions of this operation and priority.
    #[inline(always)]
    pub fn queue_for(&self, unit: UnitId, op: FlashOp, priority: u8) -> QueueId {
        self.queue_id(unit, if op == FlashOp::Read { QueueKind::Read(priority) } else { QueueKind::Write(priority) })
    }

    /// The unit of a plane, and the plane's number in it.
    #[inline(always)]
    pub fn home_of(&self, plane: PlaneId) -> (UnitId, u8) {
        self.homes[plane.index()]
    }

    /// A transaction.
    #[inline(always)]
    pub fn txn(&self, id: TxnId) -> &Transaction {
        &self.txns[id.index()]
    }

    /// A transaction, to change. For the device.
    #[inline(always)]
    pub fn txn_mut(&mut self, id: TxnId) -> &mut Transaction {
        &mut self.txns[id.index()]
    }

    /// The request a transaction belongs to; `None` for garbage collection, the buffer's programs, those of the mapping cache and the read
    /// that completes a write of part of a page.
    #[inline(always)]
    pub fn request(&self, txn: TxnId) -> Option<&ActiveRequest> {
        self.requests.get(self.txn(txn).request as usize)
    }

    /// A unit's queues of reads or of programs, lowest priority first.
    #[inline(always)]
    fn queues_by_priority(&self, unit: UnitId, op: FlashOp) -> &[Queue] {
        let priorities = self.facts.priorities as usize;
        let first = unit.index() * self.kinds + if op == FlashOp::Read { 0 } else { priorities };
        &self.queues[first..first + priorities]
    }

    /// The first waiting read or program of a unit: the head of its queue with the highest priority that is not empty.
    #[inline(always)]
    pub fn first(&self, unit: UnitId, op: FlashOp) -> TxnId {
        let highest = self.highest_priority(unit, op).head;
        if highest.is_some() || self.facts.priorities == 1 { highest } else { self.first_of_priorities(unit, op) }
    }

    #[inline(never)]
    fn first_of_priorities(&self, unit: UnitId, op: FlashOp) -> TxnId {
        self.queues_by_priority(unit, op)
            .iter()
            .rev()
            .map(|queue| queue.head)
            .find(|head| head.is_some())
            .unwrap_or(TxnId::NONE)
    }

    /// A unit's queue of reads or programs of the highest priority.
    #[inline(always)]
    fn highest_priority(&self, unit: UnitId, op: FlashOp) -> &Queue {
        let priorities = self.facts.priorities as usize;
        &self.queues[unit.index() * self.kinds + if op == FlashOp::Read { priorities } else { 2 * priorities } - 1]
    }

    /// Number of user reads or programs waiting at a unit, all priorities.
    #[inline(always)]
    pub fn waiting(&self, unit: UnitId, op: FlashOp) -> u32 {
        self.units[unit.index()].waiting(op)
    }

    /// The transactions of `queue` by plane slot of its unit ([`Transaction::slot`]).
    #[inline(always)]
    pub fn by_slot(&self, queue: QueueId) -> &[SlotQueue] {
        &self.by_slot[queue.index() * self.slots..][..self.slots]
    }

    /// How long a unit will be busy as far as is known now: the rest of its command and of the one it has paused.
    pub fn busy_for(&self, unit: UnitId) -> Duration {
        let unit = &self.units[unit.index()];
        // While the overhead of a pause runs, the command in service is the paused one.
        let running = match unit.service {
            Service::Busy if unit.command.lead != unit.paused.lead => unit.command.ends.since(self.now),
            _ => Duration::ZERO,
        };
        if unit.paused.lead.is_some() { running + self.facts.resume + unit.paused.remaining } else { running }
    }

    /// Service time of a transaction executed alone (model 0.1 `svc`).
    #[inline(always)]
    pub fn service(&self, txn: TxnId) -> Duration {
        self.facts.service_of(self.txn(txn))
    }

    /// The plane on the board.
    #[inline(always)]
    pub fn plane(&self, plane: PlaneId) -> &Plane {
        &self.planes[plane.index()]
    }

    /// The flow on the board.
    #[inline(always)]
    pub fn flow(&self, flow: FlowId) -> &Flow {
        &self.flows[flow.index()]
    }

    /// Whether a waiting transaction may be picked to lead a command: no older write of its page waits (D-SLK-16). A program
    /// whose plane has no free page may be picked: the device then collects garbage first.
    #[inline(always)]
    pub fn eligible(&self, id: TxnId) -> bool {
        self.txn(id).unobstructed()
    }

    /// Whether the transaction has a page to work on: a program needs a free page in its plane, others always have one.
    #[inline(always)]
    pub fn has_page(&self, id: TxnId) -> bool {
        let txn = self.txn(id);
        txn.op != FlashOp::Program || self.plane(txn.plane).has_free_page
    }
}

/// Number of queues of a unit.
const fn kinds(priorities: u8) -> usize {
    2 * priorities as usize
}
