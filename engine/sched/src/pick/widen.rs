//! Advanced commands: the lead's queue is scanned in order and every transaction that may share the command joins
//! (Slacker §2.2, model 1.1.4). Companions cost no other transaction slack (D-SLK-17).

use flashlane_core::decide::Group;
use flashlane_core::{Board, QueueId, Transaction, TxnId};

/// Adds `lead` and its companions to `group`.
#[inline(always)]
pub fn widen(board: &Board, lead: TxnId, group: &mut Group) {
    group.push(board, lead);
    let queue = board.txn(lead).queue;
    if board.queues[queue.index()].len > 1 && (board.facts.multi_plane || board.facts.multi_die) {
        add_companions(board, lead, queue, group);
    }
}

/// Adds `lead` and its companions to `group`, those of its own priority first, then those of others from the highest.
#[inline(always)]
pub fn widen_over_priorities(board: &Board, lead: TxnId, group: &mut Group) {
    widen(board, lead, group);
    if board.facts.priorities > 1 && (board.facts.multi_plane || board.facts.multi_die) {
        let Transaction { unit, op, priority: of_lead, .. } = *board.txn(lead);
        for priority in (0..board.facts.priorities).rev().filter(|&priority| priority != of_lead) {
            add_companions(board, lead, board.queue_for(unit, op, priority), group);
        }
    }
}

fn add_companions(board: &Board, lead: TxnId, queue: QueueId, group: &mut Group) {
    let mut wanted: u64 = 0;
    for (slot, line) in board.by_slot(queue).iter().enumerate() {
        wanted |= u64::from(line.first.is_some()) << slot;
    }
    wanted &= !group.used();
    if wanted == 0 {
        return;
    }
    if wanted.is_power_of_two() {
        let only = board.by_slot(queue)[wanted.trailing_zeros() as usize].first;
        if board.may_join(group, only) {
            group.push(board, only);
        }
        return;
    }
    if board.queues[queue.index()].len > LONG {
        return add_foremost(board, wanted, queue, group);
    }
    for txn in board.walk(queue) {
        let slot = board.txn(txn).slot;
        if wanted >> slot & 1 == 1 && txn != lead {
            if board.may_join(group, txn) {
                group.push(board, txn);
            }
            // The first of its plane decides: a later one would overtake it. Programs get the plane's next page
            // whichever it is; reads that fail the page rule are rare enough.
            wanted &= !(1 << slot);
            if wanted == 0 {
                return;
            }
        }
    }
}

/// Transactions in a queue from which on it is not walked: the planes with less to do have their foremost transaction far
/// from the head of a long queue, and each command would walk there.
const LONG: u32 = 24;

/// Adds the companions of the lead by starting from the foremost transactions of the wanted planes, nearest the head first.
#[inline(never)]
fn add_foremost(board: &Board, wanted: u64, queue: QueueId, group: &mut Group) {
    let mut foremost = [(u64::MAX, TxnId::NONE); Group::MAX];
    let mut count = 0;
    for (slot, line) in board.by_slot(queue).iter().enumerate() {
        if wanted >> slot & 1 == 1 {
            foremost[count] = (board.txn(line.first).rank, line.first);
            count += 1;
        }
    }
    let foremost = &mut foremost[..count];
    foremost.sort_unstable_by_key(|&(rank, _)| rank);
    for &(_, txn) in foremost.iter() {
        if board.may_join(group, txn) {
            group.push(board, txn);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::pick::testing::{board, program, read};
    use flashlane_core::board::Facts;
    use flashlane_core::geometry::Geometry;
    use flashlane_core::transaction::{FlashOp, Stage};
    use flashlane_core::{PlaneId, UnitId};
    use flashlane_testing::Random;

    /// The plain form, whatever the length.
    fn walked(board: &Board, lead: TxnId, queue: QueueId) -> Group {
        let mut group = Group::new();
        group.push(board, lead);
        let mut decided = group.used();
        for txn in board.walk(queue).filter(|&txn| txn != lead) {
            if decided >> board.txn(txn).slot & 1 == 0 {
                decided |= 1 << board.txn(txn).slot;
                if board.may_join(&group, txn) {
                    group.push(board, txn);
                }
            }
        }
        group
    }

    /// Writes of another priority join too: the lead's own priority first, then the highest.
    #[test]
    fn other_priorities_join() {
        let facts = flashlane_core::board::Facts { priorities: 3, ..board(1, 4).facts };
        let mut board = Board::new(facts, 1);
        board.planes.iter_mut().for_each(|plane| plane.has_free_page = true);
        let mut waits = |priority, slot: u8| {
            let id = TxnId(board.txns.len() as u32);
            let queue = board.queue_for(UnitId(0), FlashOp::Program, priority);
            let plane = PlaneId(slot.into());
            let op = FlashOp::Program;
            board.txns.push(Transaction {
                op,
                priority,
                slot,
                plane,
                queue,
                stage: Stage::Waiting,
                ..Transaction::EMPTY
            });
            board.link(id, queue, TxnId::NONE);
            id
        };
        let [lead, own, lowest, highest, shadowed] =
            [(1, 0), (1, 1), (0, 2), (2, 2), (0, 1)].map(|(p, slot)| waits(p, slot));
        let last = waits(0, 3);
        let mut group = Group::new();
        widen_over_priorities(&board, lead, &mut group);
        assert_eq!(
            group.members(),
            [lead, own, highest, last],
            "the lead's own priority joins first, then the highest; not {lowest:?} and {shadowed:?}: their planes \
             are taken"
        );
        let mut group = Group::new();
        widen(&board, lead, &mut group);
        assert_eq!(group.members(), [lead, own], "of one queue no other priority joins");
    }

    /// The planes of a die must work one page offset; another die may work another. A plane without a free page joins nothing.
    #[test]
    fn offsets_are_those_of_a_die() {
        for (offsets, room, expected) in [
            ([1, 1, 2, 2], [true; 4], &[0, 1, 2, 3][..]),
            ([1, 2, 2, 2], [true; 4], &[0, 2, 3]),
            ([1, 1, 2, 3], [true; 4], &[0, 1, 2]),
            ([1, 1, 1, 1], [true, true, false, true], &[0, 1, 3]),
        ] {
            let mut board = board(2, 2);
            board.facts.same_page = [false, true, false];
            for (plane, (offset, room)) in board.planes.iter_mut().zip(offsets.into_iter().zip(room)) {
                (plane.next_page, plane.has_free_page) = (offset, room);
            }
            let lead = [0, 1, 2, 3].map(|slot| program(&mut board, slot, u32::from(slot)))[0];
            let mut group = Group::new();
            widen(&board, lead, &mut group);
            let members: Vec<u32> = group.members().iter().map(|id| id.0).collect();
            let rule = "planes of a die join at one page offset, and only those with a free page";
            assert_eq!(members, expected, "{rule}; offsets {offsets:?}, free pages {room:?}");
        }
    }

    /// Two dies of two planes: a write waits for each plane. Then two dies whose rows span two planes: a read waits for each.
    #[test]
    fn commands_span_what_the_drive_can() {
        for (multi_plane, multi_die, expected) in
            [(false, false, &[0][..]), (true, false, &[0, 1]), (false, true, &[0, 2]), (true, true, &[0, 1, 2, 3])]
        {
            let facts = board(2, 2).facts;
            let facts = Facts { multi_plane, multi_die, ..facts };
            let rows = Geometry { planes_per_die: 1, slots: 4, row_planes: 2, ..facts.geometry };
            let mut of_planes = Board::new(facts.clone(), 1);
            of_planes.planes.iter_mut().for_each(|plane| plane.has_free_page = true);
            let mut of_rows = Board::new(Facts { geometry: rows, ..facts }, 1);
            let writes = [0, 1, 2, 3].map(|slot| program(&mut of_planes, slot, u32::from(slot)));
            let reads = [0, 1, 2, 3].map(|slot| read(&mut of_rows, 0, slot, u32::from(slot)));
            for (board, lead) in [(of_planes, writes[0]), (of_rows, reads[0])] {
                let mut group = Group::new();
                widen(&board, lead, &mut group);
                let members: Vec<u32> = group.members().iter().map(|id| id.0).collect();
                let rule = "planes of a die join where commands are multi-plane, dies where they are multi-die";
                assert_eq!(members, expected, "{rule}; multi-plane {multi_plane}, multi-die {multi_die}");
            }
        }
    }

    /// Random joining and leaving anywhere: the quick form finds what a walk finds, in the same order.
    #[test]
    fn a_long_queue_gives_the_group_that_a_walk_gives() {
        let mut board = board(4, 2);
        board.facts.same_page = [false, true, false];
        let mut random = Random(17);
        let mut sample = |below: usize| random.below(below as u64) as usize;
        for i in 0..200 {
            program(&mut board, (i % 7) as u8, 0);
        }
        let queue = board.txn(TxnId(0)).queue;
        let mut compared = [0; 9];
        for step in 0..30_000 {
            for plane in &mut board.planes {
                (plane.has_free_page, plane.next_page) = (sample(8) > 0, sample(3) as u32);
            }
            let waiting: Vec<TxnId> = board.walk(queue).collect();
            assert!(waiting.windows(2).all(|pair| board.txn(pair[0]).rank < board.txn(pair[1]).rank), "step {step}");
            let lead = waiting[if sample(2) == 0 { 0 } else { sample(waiting.len()) }];
            let mut group = Group::new();
            widen(&board, lead, &mut group);
            assert_eq!(
                group.members(),
                walked(&board, lead, queue).members(),
                "the first of every plane joins that may, nearest the head first, also where the queue is long; \
                 step {step}"
            );
            compared[group.members().len()] += u32::from(waiting.len() as u32 > LONG);
            // A member leaves and joins again somewhere: in long segments in front of the same one, so that ranks run out.
            let moves = waiting[sample(waiting.len())];
            board.unlink(moves);
            board.txn_mut(moves).slot = if sample(40) == 0 { 7 } else { sample(7) as u8 };
            let others: Vec<TxnId> = board.walk(queue).collect();
            let before = match step / 100 % 4 {
                0 => TxnId::NONE,
                1 => others[sample(others.len())],
                2 => others[others.len() / 2],
                _ => others[0],
            };
            board.link(moves, queue, before);
        }
        assert!(compared[2..8].iter().all(|&count| count > 100), "groups of every size: {compared:?}");
    }

    /// Where planes of a die must work one page offset, the first of a plane decides for it: a younger one that would fit does
    /// not overtake it, in a short queue as in a long one.
    #[test]
    fn no_transaction_overtakes_the_first_of_its_plane() {
        for behind in [0, LONG] {
            let mut board = board(1, 3);
            board.facts.same_page = [true, false, false];
            let pages = [(0, 5), (1, 6), (1, 5), (2, 5)].into_iter().chain((0..behind).map(|_| (0, 5)));
            let ids: Vec<TxnId> = pages
                .map(|(slot, page)| {
                    let id = read(&mut board, 0, slot, 0);
                    board.txn_mut(id).ppa = 16 * 3 + page;
                    id
                })
                .collect();
            let mut group = Group::new();
            widen(&board, ids[0], &mut group);
            let rule = "a younger one that would fit does not overtake the first of its plane";
            assert_eq!(group.members(), [ids[0], ids[3]], "{rule}; {behind} more wait");
        }
    }
}
