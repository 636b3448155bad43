//! Sprinkler: the largest multi-plane, multi-die group first (overlap depth), then transactions of one request
//! (connectivity), then age; reads before writes (FLIN §6, model 2.1.9; FARO of the HPCA 2014 paper).

use alloc::boxed::Box;

use core::cmp::Reverse;

use flashlane_core::decide::{Group, Pick, PickDeclares, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, QueueId, TxnId, UnitId};

use crate::entries::{AnswerEntry, Build};
use crate::params::Param;

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "largest-group",
    summary: "the largest multi-plane, multi-die group, then one request's, then the oldest; reads first",
    source: "Sprinkler (HPCA 2014) as in FLIN §6; model 2.1.9",
    params: &[Param {
        name: "group_window",
        unit: "transactions",
        default: 128,
        min: 1,
        max: 1 << 20,
        help: "how far into a queue groups are looked for",
    }],
    build: Build::Pick(&|v| Box::new(Sprinkler::new(v.get("group_window")))),
};

/// Largest group first.
#[derive(Debug)]
pub struct Sprinkler {
    window: usize,
    offers: Offers,
}

/// At most this many transactions of a plane are offered: one more than are worth looking at.
const CANDIDATES: usize = 4;

/// The transactions that the planes of a unit offer within the window, by plane, oldest first. Writes that must wait for older ones do
/// not count: a window full of them would leave the unit idle.
#[derive(PartialEq, Eq, Debug)]
struct Offers {
    by_plane: [[TxnId; CANDIDATES]; Group::MAX],
    planes: usize,
    /// Planes that offer any.
    leads: usize,
}

impl Offers {
    const NONE: Offers = Offers { by_plane: [[TxnId::NONE; CANDIDATES]; Group::MAX], planes: 0, leads: 0 };

    fn planes(&self) -> &[[TxnId; CANDIDATES]] {
        &self.by_plane[..self.planes]
    }

    /// Forgets all, for a unit of `planes` planes.
    fn clear(&mut self, planes: usize) {
        (self.planes, self.leads) = (planes, 0);
        self.by_plane[..planes].fill([TxnId::NONE; CANDIDATES]);
    }

    /// What the planes offer within a window: from their lists if all of that lies in the window, else along the queue.
    fn find(&mut self, board: &Board, queue: QueueId, window: usize) {
        if !self.find_in_lists(board, queue, window) {
            self.find_in_window(board, queue, window);
        }
    }

    /// Takes what the planes' lists offer. Returns whether that lies in the window, as far as a limited number of steps tells.
    fn find_in_lists(&mut self, board: &Board, queue: QueueId, window: usize) -> bool {
        let lists = board.by_slot(queue);
        self.clear(lists.len());
        let mut youngest = 0;
        for (plane, list) in self.by_plane.iter_mut().zip(lists) {
            let mut found = 0;
            for (steps, id) in board.walk_slot(list).enumerate() {
                let txn = board.txn(id);
                if txn.unobstructed() {
                    plane[found] = id;
                    found += 1;
                    youngest = youngest.max(txn.rank);
                    if found == CANDIDATES {
                        break;
                    }
                } else if steps >= window {
                    return false;
                }
            }
            self.leads += usize::from(found > 0);
        }
        board.queues[queue.index()].len as usize <= window || reaches(board, queue, window, youngest)
    }

    /// Walks along the queue until the window ends.
    fn find_in_window(&mut self, board: &Board, queue: QueueId, window: usize) {
        self.clear(board.by_slot(queue).len());
        for txn in board.walk(queue).filter(|&txn| board.eligible(txn)).take(window) {
            let plane = &mut self.by_plane[board.txn(txn).slot as usize];
            self.leads += usize::from(plane[0].is_none());
            if let Some(place) = plane.iter_mut().find(|place| place.is_none()) {
                *place = txn;
            }
        }
    }
}

/// Whether the transaction of this rank is within the window. Counts along the lists of the planes, which are quick to follow.
fn reaches(board: &Board, queue: QueueId, window: usize, rank: u64) -> bool {
    let mut left = window;
    for list in board.by_slot(queue) {
        for txn in board.walk_slot(list).map(|id| board.txn(id)).take_while(|txn| txn.rank <= rank) {
            if txn.unobstructed() {
                if left == 0 {
                    return false;
                }
                left -= 1;
            }
        }
    }
    true
}

impl Sprinkler {
    /// Looks at the first `window` transactions of a queue that may go.
    pub const fn new(window: u64) -> Sprinkler {
        Sprinkler { window: window as usize, offers: Offers::NONE }
    }

    fn largest(&mut self, board: &Board, queue: QueueId, group: &mut Group) {
        self.offers.find(board, queue, self.window);
        let planes = self.offers.planes();
        // Each plane's oldest may lead; of equals the oldest does.
        let mut best = (0, 0, Reverse(u64::MAX), TxnId::NONE);
        for lead in planes.iter().map(|plane| plane[0]).filter(|lead| lead.is_some()) {
            let (size, kin) = Self::gather(board, lead, planes, group);
            if self.offers.leads == 1 {
                return;
            }
            best = best.max((size, kin, Reverse(board.txn(lead).rank), lead));
        }
        if best.3.is_some() {
            Self::gather(board, best.3, planes, group);
        }
    }

    /// The group that `lead` gathers: from every other plane a transaction of its own request if one is offered, else
    /// the oldest. Returns the group's size and how many are of the lead's request.
    fn gather(board: &Board, lead: TxnId, offers: &[[TxnId; CANDIDATES]], group: &mut Group) -> (usize, usize) {
        group.clear();
        group.push(board, lead);
        let request = board.txn(lead).request;
        let mut kin = 0;
        for own in [true, false] {
            for plane in offers {
                let joins = |txn: TxnId| {
                    txn.is_some() && (board.txn(txn).request == request) == own && board.may_join(group, txn)
                };
                if let Some(&txn) = plane.iter().find(|&&txn| joins(txn)) {
                    group.push(board, txn);
                    kin += usize::from(own);
                }
            }
        }
        (group.members().len(), kin)
    }
}

impl Pick for Sprinkler {
    fn declares(&self) -> PickDeclares {
        PickDeclares { skips_when_single: true, ..PickDeclares::ASK }
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        for op in [FlashOp::Read, FlashOp::Program] {
            if op == FlashOp::Program && scope == Scope::Reads {
                return;
            }
            let head = board.first(unit, op);
            if head.is_none() {
                continue;
            }
            // Below a priority where every write waits for an older one of its page there may be writes that can go.
            for priority in (0..=board.txn(head).priority).rev() {
                self.largest(board, board.queue_for(unit, op, priority), group);
                if group.lead().is_some() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::testing::{board, read};
    use super::*;

    /// A-FLN-16: t1(d0,p0) t2(d0,p0) t3(d0,p1) t4(d1,p0) t5(d0,p1) on 2 dies x 2 planes: group t1, t3, t4.
    #[test]
    fn group_of_the_model() {
        let mut board = board(2, 2);
        for (i, slot) in [0u8, 0, 1, 2, 1].into_iter().enumerate() {
            read(&mut board, i as u32, slot, i as u32);
        }
        let mut group = Group::new();
        Sprinkler::new(64).pick(&board, UnitId(0), Scope::Any, &mut group);
        let mut members = group.members().to_vec();
        members.sort_unstable();
        assert_eq!(members, [TxnId(0), TxnId(2), TxnId(3)], "the oldest of every plane that has one join");
        assert_eq!(group.lead(), TxnId(0), "of equal groups that of the oldest goes");
    }

    #[test]
    fn one_request_before_age() {
        let mut board = board(1, 2);
        // Request 7: planes 0 and 1; an older transaction of another request on plane 1 comes between.
        for (i, (slot, request)) in [(0u8, 7), (1, 8), (1, 7)].into_iter().enumerate() {
            read(&mut board, i as u32, slot, request);
        }
        let mut group = Group::new();
        Sprinkler::new(64).pick(&board, UnitId(0), Scope::Any, &mut group);
        let rule = "one of the lead's request joins before an older one of its plane";
        assert_eq!(group.members(), [TxnId(0), TxnId(2)], "{rule}");
    }

    /// Holds what is picked of reads on these slots, of these requests, oldest first, to a rule.
    fn picks(mut board: Board, window: u64, reads: &[(u8, u32)], expected: &[u32], rule: &str) {
        for (i, &(slot, request)) in reads.iter().enumerate() {
            read(&mut board, i as u32, slot, request);
        }
        let mut group = Group::new();
        Sprinkler::new(window).pick(&board, UnitId(0), Scope::Any, &mut group);
        let members: Vec<u32> = group.members().iter().map(|id| id.0).collect();
        assert_eq!(members, expected, "{rule}; window {window}, (plane, request): {reads:?}");
    }

    /// Of equal groups the one of the oldest goes.
    #[test]
    fn of_equal_groups_the_oldest_goes() {
        let mut alone = board(2, 2);
        (alone.facts.multi_plane, alone.facts.multi_die) = (false, false);
        let rule = "of equal groups that of the oldest goes";
        picks(alone, 64, &[(2, 1), (0, 2), (1, 3), (3, 4)], &[0], rule);
        let mut dies = board(2, 2);
        dies.facts.multi_die = false;
        // Planes 2 and 3 of the second die, and planes 0 and 1 of the first: two each, of four requests.
        picks(dies, 64, &[(3, 1), (0, 2), (1, 3), (2, 4)], &[0, 3], rule);
    }

    /// A larger group before one request's, one request's before the oldest.
    #[test]
    fn size_before_request_before_age() {
        let two_dies = |planes| {
            let mut board = board(2, planes);
            board.facts.multi_die = false;
            board
        };
        // The first die has two of two requests, the second two of one.
        picks(
            two_dies(2),
            64,
            &[(0, 1), (1, 2), (2, 7), (3, 7)],
            &[2, 3],
            "of equal groups one request's goes before an older one",
        );
        // The first die has three of three requests, the second two of one: whichever is older.
        picks(
            two_dies(3),
            64,
            &[(3, 7), (4, 7), (0, 1), (1, 2), (2, 3)],
            &[2, 3, 4],
            "a larger group goes before one request's",
        );
        // Two of one request on the first die, three with two of one on the second.
        picks(
            two_dies(3),
            64,
            &[(0, 7), (1, 7), (3, 8), (4, 8), (5, 9)],
            &[2, 3, 4],
            "a larger group goes before an older one",
        );
    }

    /// Only a limited number of those that may go, from the first, is looked at.
    #[test]
    fn only_the_window_is_considered() {
        let reads = [(0, 1), (0, 2), (0, 3), (1, 4)];
        for (window, expected) in [(1, &[0][..]), (3, &[0]), (4, &[0, 3]), (5, &[0, 3])] {
            picks(board(1, 2), window, &reads, expected, "only those in the window are looked at");
        }
    }

    /// A plane offers its four oldest: of the lead's request the fourth joins, and the fifth leaves the place to the oldest.
    #[test]
    fn a_plane_offers_its_four_oldest() {
        let fourth = [(0, 7), (1, 1), (1, 2), (1, 3), (1, 7)];
        picks(board(1, 2), 64, &fourth, &[0, 4], "the fourth of a plane joins if it is of the lead's request");
        let fifth = [(0, 7), (1, 1), (1, 2), (1, 3), (1, 4), (1, 7)];
        picks(board(1, 2), 64, &fifth, &[0, 1], "the fifth of a plane is not looked at");
    }

    /// The lists of the planes offer what a walk along the queue finds: of all that waits, of a part, and where many must wait for others.
    #[test]
    fn lists_offer_what_the_walk_finds() {
        use flashlane_testing::Random;
        let mut random = Random(7);
        // Along the queue; from the lists because all that waits is in the window, or because it was counted to be.
        let mut taken = [0; 3];
        for _ in 0..2_000 {
            let planes = 1 + random.below(4) as u32;
            let mut board = board(1 + random.below(2) as u32, planes);
            let slots = u64::from(board.facts.geometry.planes_per_unit());
            let (many, blocked) = (random.below(60), random.below(4));
            for serial in 0..many {
                // A plane that few transactions are for.
                let slot = if random.below(3) == 0 { random.below(slots) } else { 0 };
                let id = read(&mut board, serial as u32, slot as u8, random.below(5) as u32);
                let queue = board.txn(id).queue;
                if random.below(4) == 0 {
                    board.unlink(id);
                    let waiting: Vec<TxnId> = board.walk(queue).collect();
                    let before = waiting.get(random.below(waiting.len() as u64 + 1) as usize);
                    board.link(id, queue, before.copied().unwrap_or(TxnId::NONE));
                } else if random.below(8) == 0 {
                    board.unlink(id);
                }
                board.txn_mut(id).blocked_by = if random.below(4) < blocked { TxnId(0) } else { TxnId::NONE };
            }
            let queue = board.queue_for(UnitId(0), FlashOp::Read, 0);
            let window = 1 + random.below(40) as usize;
            let [mut expected, mut offers] = [Offers::NONE, Offers::NONE];
            expected.find_in_window(&board, queue, window);
            offers.find(&board, queue, window);
            assert_eq!(
                offers, expected,
                "the lists of the planes offer what a walk along the queue finds; window {window}"
            );
            let from_lists = offers.find_in_lists(&board, queue, window);
            // The queue is longer than the window, and what the lists offer lies in it all the same.
            let counted = from_lists && board.queues[queue.index()].len as usize > window;
            taken[usize::from(from_lists) + usize::from(counted)] += 1;
        }
        assert!(taken.iter().all(|&times| times > 20), "{taken:?}");
    }

    /// Reads before writes, however large the group of writes.
    #[test]
    fn reads_before_writes() {
        let mut board = board(1, 2);
        board.planes.iter_mut().for_each(|plane| plane.has_free_page = true);
        for slot in 0..2 {
            super::super::testing::program(&mut board, slot, 1);
        }
        let younger = read(&mut board, 9, 0, 2);
        let mut group = Group::new();
        Sprinkler::new(64).pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.members(), [younger], "a read goes before a larger group of older writes");
    }

    /// Where every write of the highest priority waits for an older one of its page, those of a lower priority go.
    #[test]
    fn a_lower_level_goes_if_a_higher_one_is_blocked() {
        let facts = board(1, 2).facts;
        let mut board = Board::new(flashlane_core::board::Facts { priorities: 2, ..facts }, 1);
        board.planes.iter_mut().for_each(|plane| plane.has_free_page = true);
        let [held, free] = [(1, 0), (0, 1)].map(|(priority, slot)| {
            let id = super::super::testing::program(&mut board, slot, u32::from(slot));
            board.unlink(id);
            let queue = board.queue_for(UnitId(0), FlashOp::Program, priority);
            let txn = board.txn_mut(id);
            (txn.priority, txn.queue) = (priority, queue);
            board.link(id, queue, TxnId::NONE);
            id
        });
        board.txn_mut(held).blocked_by = free;
        let mut group = Group::new();
        Sprinkler::new(64).pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.members(), [free], "a lower priority goes where all of a higher one wait for older writes");
        board.txn_mut(held).blocked_by = TxnId::NONE;
        group.clear();
        Sprinkler::new(64).pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.members(), [held], "the highest priority that can go does");
    }
}
