//! Overtaking: a request goes before an older one that could have gone (model 0.7).
//!
//! Owns which waiting transactions have the oldest requests; they join and leave their queues through it. Mostly a queue is
//! in the order of arrival itself, and its head tells. A queue that one joins out of that order (it jumps ahead, its request
//! has waited longer in its submission queue, its page had to be read first), or without a request, gets one list per plane
//! in the order of arrival until it is empty. So a dispatch looks at the oldest only, passing over those that may not go, and
//! does not depend on how many wait.

use alloc::vec;
use alloc::vec::Vec;

use flashlane_core::board::{ActiveRequest, QueueKind};
use flashlane_core::transaction::{FlashOp, tag};
use flashlane_core::{Board, QueueId, RequestId, Time, Transaction, TxnId, UnitId};

use crate::frontend::RequestSlot;

/// When a request arrived, and which one it is of those that arrived then: the smaller, the older.
type Arrival = (Time, RequestId);

/// Transactions of a queue for one plane, in the order of arrival of their requests.
#[derive(Clone, Copy, Debug)]
struct List {
    oldest: TxnId,
    youngest: TxnId,
}

/// In [`Overtaking::care`].
const LATE: u32 = 1;
const LISTED: u32 = 2;

impl List {
    const EMPTY: List = List { oldest: TxnId::NONE, youngest: TxnId::NONE };
}

/// A transaction in its list: when its request arrived, and its neighbours.
#[derive(Clone, Copy, Debug)]
struct Link {
    arrival: Arrival,
    older: TxnId,
    younger: TxnId,
}

impl Link {
    const NONE: Link = Link { arrival: (Time::ZERO, RequestId(0)), older: TxnId::NONE, younger: TxnId::NONE };
}

/// The order of arrival of what waits in the queues.
#[derive(Debug)]
pub(super) struct Overtaking {
    /// The youngest request that has entered the device.
    youngest: Arrival,
    /// Whether what joins a queue now may be older than what waits there, or without a request: 1 if so; and 2 for each queue that
    /// has lists.
    care: u32,
    /// By queue, whether it has lists; otherwise it is in the order of arrival itself.
    listed: Vec<bool>,
    /// By queue, the plane slots whose lists are not empty.
    used: Vec<u64>,
    /// By queue and plane slot of its unit.
    lists: Vec<List>,
    slots: usize,
    /// By transaction; valid for those in a list.
    links: Vec<Link>,
}

impl Overtaking {
    /// For a board on which nothing waits.
    pub(super) fn new(board: &Board) -> Overtaking {
        let (queues, slots) = (board.queues.len(), board.facts.geometry.slots_per_unit() as usize);
        Overtaking {
            youngest: (Time::ZERO, RequestId(0)),
            care: 0,
            listed: vec![false; queues],
            used: vec![0; queues],
            lists: vec![List::EMPTY; queues * slots],
            slots,
            links: Vec::new(),
        }
    }

    /// Whether every queue is in the order of arrival.
    #[inline(always)]
    pub(super) fn in_order(&self) -> bool {
        self.care < LISTED
    }

    /// Notes that a request enters the device: what joins next is of it.
    #[inline(always)]
    pub(super) fn enters(&mut self, request: &ActiveRequest) {
        let (at, id) = self.youngest;
        if request.arrival > at || request.arrival == at && request.id >= id {
            self.youngest = (request.arrival, request.id);
            self.care &= !LATE;
        } else {
            self.care |= LATE;
        }
    }

    /// Notes that what joins next is not of the request that entered last.
    #[inline(always)]
    pub(super) fn joins_late(&mut self) {
        self.care |= LATE;
    }

    /// Puts a transaction into `queue`, in front of `before` or at the tail.
    #[inline(always)]
    pub(super) fn join(&mut self, board: &mut Board, id: TxnId, queue: QueueId, before: TxnId) {
        board.link(id, queue, before);
        if before.is_some() | (self.care > 0) {
            self.joined_late(board, id, before);
        }
    }

    /// Puts a transaction that may be older than those that wait there into `queue`, in front of `before` or at the tail.
    #[inline(always)]
    pub(super) fn join_late(&mut self, board: &mut Board, id: TxnId, queue: QueueId, before: TxnId) {
        self.joins_late();
        self.join(board, id, queue, before);
    }

    #[inline(never)]
    fn joined_late(&mut self, board: &Board, id: TxnId, before: TxnId) {
        let Transaction { queue, prev, .. } = *board.txn(id);
        if self.listed[queue.index()] {
            self.insert(board, id);
            return;
        }
        let own = arrival(board, id);
        if own.is_none() || before.is_some() || prev.is_some() && arrival(board, prev) > own {
            self.list(board, queue);
        }
    }

    /// Begins the lists of a queue. Writes that have no plane yet wait at no unit.
    #[cold]
    fn list(&mut self, board: &Board, queue: QueueId) {
        if queue == board.unplaced() {
            return;
        }
        self.listed[queue.index()] = true;
        self.care += LISTED;
        // All but the one that has just joined are in order.
        for id in board.walk(queue) {
            self.insert(board, id);
        }
    }

    /// Puts a transaction into its list: nearly always at the end, or not far from it.
    fn insert(&mut self, board: &Board, id: TxnId) {
        let Some(arrival) = arrival(board, id) else { return };
        if self.links.len() <= id.index() {
            self.links.resize(board.txns.len(), Link::NONE);
        }
        let Transaction { queue, slot, .. } = *board.txn(id);
        self.used[queue.index()] |= 1 << slot;
        let at = self.list_of(queue, slot);
        let (mut older, mut younger) = (self.lists[at].youngest, TxnId::NONE);
        while let Some(link) = self.links.get(older.index())
            && link.arrival > arrival
        {
            (older, younger) = (link.older, older);
        }
        self.links[id.index()] = Link { arrival, older, younger };
        match self.links.get_mut(older.index()) {
            Some(link) => link.younger = id,
            None => self.lists[at].oldest = id,
        }
        match self.links.get_mut(younger.index()) {
            Some(link) => link.older = id,
            None => self.lists[at].youngest = id,
        }
    }

    /// Takes a transaction out of its queue.
    #[inline(always)]
    pub(super) fn leave(&mut self, board: &mut Board, id: TxnId) {
        board.unlink(id);
        if self.care >= LISTED {
            self.left(board, id);
        }
    }

    #[inline(never)]
    fn left(&mut self, board: &Board, id: TxnId) {
        let Transaction { queue, slot, request, .. } = *board.txn(id);
        if !self.listed[queue.index()] {
            return;
        }
        if request != RequestSlot::MAX {
            let (Link { older, younger, .. }, at) = (self.links[id.index()], self.list_of(queue, slot));
            let is_empty = older.is_none() && younger.is_none();
            self.used[queue.index()] &= !(u64::from(is_empty) << slot);
            match self.links.get_mut(older.index()) {
                Some(link) => link.younger = younger,
                None => self.lists[at].oldest = younger,
            }
            match self.links.get_mut(younger.index()) {
                Some(link) => link.older = older,
                None => self.lists[at].youngest = older,
            }
        }
        if board.queues[queue.index()].len == 0 {
            self.listed[queue.index()] = false;
            self.care -= LISTED;
        }
    }

    #[inline(always)]
    fn list_of(&self, queue: QueueId, slot: u8) -> usize {
        queue.index() * self.slots + slot as usize
    }

    /// Whether a transaction of a request older than `than` waits for nothing but `unit`.
    fn any_older(&self, board: &Board, unit: UnitId, than: Arrival) -> bool {
        let waits = |queue: QueueId| {
            if self.listed[queue.index()] {
                let mut slots = self.used[queue.index()];
                core::iter::from_fn(|| {
                    let slot = slots.trailing_zeros();
                    slots &= slots.wrapping_sub(1);
                    (slot < u64::BITS).then_some(slot as u8)
                })
                .any(|slot| self.older_in_list(board, queue, slot, than))
            } else {
                older_in_queue(board, board.queues[queue.index()].head, |_| true, than)
            }
        };
        // Writes first: a read that waits for a write of its page is younger than one of these.
        (0..board.facts.priorities).any(|priority| {
            waits(board.queue_id(unit, QueueKind::Write(priority)))
                || waits(board.queue_id(unit, QueueKind::Read(priority)))
        })
    }

    /// Whether one waits that does the same as `id` on the same plane.
    fn older_for_plane(&self, board: &Board, id: TxnId, than: Arrival) -> bool {
        let Transaction { unit, op, slot, .. } = *board.txn(id);
        (0..board.facts.priorities).any(|priority| {
            let queue = board.queue_for(unit, op, priority);
            if self.listed[queue.index()] {
                self.older_in_list(board, queue, slot, than)
            } else {
                let first = board.by_slot(queue)[slot as usize].first;
                older_in_queue(board, first, |txn| txn.slot == slot, than)
            }
        })
    }

    #[inline(always)]
    fn older_in_list(&self, board: &Board, queue: QueueId, slot: u8, than: Arrival) -> bool {
        let mut id = self.lists[self.list_of(queue, slot)].oldest;
        while let Some(link) = self.links.get(id.index())
            && link.arrival < than
        {
            if could_begin(board, id) {
                return true;
            }
            id = link.younger;
        }
        false
    }
}

/// The same for a queue that is in the order of arrival, from one of its transactions on.
#[inline(always)]
fn older_in_queue(board: &Board, first: TxnId, counts: impl Fn(&Transaction) -> bool, than: Arrival) -> bool {
    let mut id = first;
    while id.is_some() {
        if arrival(board, id) >= Some(than) {
            return false;
        }
        if counts(board.txn(id)) && could_begin(board, id) {
            return true;
        }
        id = board.txn(id).next;
    }
    false
}

/// When the request of a transaction arrived; `None` if it has no request.
#[inline(always)]
fn arrival(board: &Board, id: TxnId) -> Option<Arrival> {
    board.request(id).map(|request| (request.arrival, request.id))
}

/// Whether a waiting transaction waits for nothing but its unit: neither for an older write of its page nor for a free page.
#[inline(always)]
fn could_begin(board: &Board, id: TxnId) -> bool {
    board.eligible(id) && board.has_page(id)
}

impl Overtaking {
    /// Notes which requests of the command of `lead`, whose members have left their queues, go before an older request.
    /// `were_first`: nothing was in front of the lead in its queue, nor in front of the others for their planes, and that was the
    /// order of arrival.
    #[inline(always)]
    pub(super) fn note(&self, board: &mut Board, unit: UnitId, lead: TxnId, op: FlashOp, were_first: bool) {
        let [reads, writes] = [FlashOp::Read, FlashOp::Program].map(|op| board.waiting(unit, op));
        if reads | writes == 0 {
            return;
        }
        if were_first & self.in_order() & (board.facts.priorities == 1) {
            // Then nothing in their own queue is older.
            let (others, kind) = match op {
                FlashOp::Read => (writes, QueueKind::Write(0)),
                _ => (reads, QueueKind::Read(0)),
            };
            let first = board.queue(unit, kind).head;
            let oldest = arrival(board, lead);
            let overtake = |id| overtakes_by_search(board, unit, oldest, id);
            if others == 0 || arrival(board, first) > oldest {
                debug_assert!(!members(board, lead).any(overtake));
                return;
            }
            if could_begin(board, first) {
                debug_assert!(members(board, lead).all(overtake));
                return mark_all(board, lead);
            }
        }
        self.compare_with_waiting(board, unit, lead);
    }

    #[inline(never)]
    fn compare_with_waiting(&self, board: &mut Board, unit: UnitId, lead: TxnId) {
        let oldest = members(board, lead).map(|id| arrival(board, id)).min().flatten();
        let all = oldest.is_some_and(|oldest| self.any_older(board, unit, oldest));
        let mut member = lead;
        while member.is_some() {
            let Transaction { request, next, .. } = *board.txn(member);
            if let Some(own) = arrival(board, member) {
                // The plane's older ones are among those of the unit.
                let passes = || Some(own) > oldest && self.older_for_plane(board, member, own);
                let overtakes = all || passes();
                debug_assert_eq!(overtakes, overtakes_by_search(board, unit, oldest, member));
                if overtakes {
                    board.requests[request as usize].tags |= tag::OVERTOOK;
                }
            }
            member = next;
        }
    }
}

/// All members of a command overtake.
#[inline(never)]
fn mark_all(board: &mut Board, lead: TxnId) {
    let mut member = lead;
    while member.is_some() {
        let Transaction { request, next, .. } = board.txns[member.index()];
        board.requests[request as usize].tags |= tag::OVERTOOK;
        member = next;
    }
}

/// The transactions of a command.
fn members(board: &Board, lead: TxnId) -> impl Iterator<Item = TxnId> {
    core::iter::successors(Some(lead), move |&id| Some(board.txn(id).next).filter(|next| next.is_some()))
}

/// Whether a member of a command overtakes, the plain way: everything that waits at the unit is looked at. `oldest` is the
/// arrival of the command's oldest member.
fn overtakes_by_search(board: &Board, unit: UnitId, oldest: Option<Arrival>, member: TxnId) -> bool {
    let queues =
        (0..board.facts.priorities).flat_map(|priority| [QueueKind::Read(priority), QueueKind::Write(priority)]);
    let mut waiting = queues.flat_map(|kind| board.walk(board.queue_id(unit, kind)));
    waiting.any(|id| {
        let (own, other) = (board.txn(member), board.txn(id));
        let for_its_place = other.op == own.op && other.slot == own.slot;
        let arrived = arrival(board, id);
        could_begin(board, id)
            && arrived.is_some()
            && arrived < arrival(board, member)
            && (arrived < oldest || for_its_place)
    })
}
