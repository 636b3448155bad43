//! Insertion: A-SLK-05, and random queues against the rule written plainly.

use super::*;
use crate::catalogue::{Recipe, build};
use crate::pick::testing::{board, program, read, scene};
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use flashlane_core::decide::Scheduler;
use flashlane_testing::Random;

fn scheduler(name: &str) -> Scheduler {
    build(&Recipe { base: Some(name.to_string()), ..Recipe::default() }).expect("a scheduler")
}

/// Puts a transaction not yet in its queue where the order says, as the device does. Returns how many it passed.
fn insert(board: &mut Board, order: &mut dyn Order, id: TxnId) -> usize {
    let queue = board.txn(id).queue;
    board.unlink(id);
    let position = order.position(board, id, queue);
    let mut passed = 0;
    let mut behind = position.in_front_of;
    while behind.is_some() {
        let txn = board.txn_mut(behind);
        txn.slack -= position.charge;
        behind = txn.next;
        passed += 1;
    }
    assert_eq!(position.tag & tag::JUMPED != 0, passed > 0, "what passes another is marked, and nothing else");
    board.link(id, queue, position.in_front_of);
    passed
}

/// The queue of reads: request and slack in units of `unit` ns, head first.
fn order_of(board: &Board, queue: QueueId, unit: u64) -> Vec<(u32, u64)> {
    board.walk(queue).map(|id| (board.txn(id).request, board.txn(id).slack.ns() / unit)).collect()
}

/// A-SLK-05: head to tail q1:0, q2:6, q3:2, q4:3; then X (2), Y (2), Z (1).
#[test]
fn a_slk_05_insertion() {
    let mut board = board(1, 1);
    let us = Duration::from_us;
    board.facts.transfer_sectors = vec![Duration::ZERO; 9];
    for (request, slack) in [(1, 0), (2, 6), (3, 2), (4, 3)] {
        let id = read(&mut board, 0, 0, request);
        board.txn_mut(id).slack = us(slack);
    }
    let mut order = scheduler("rbyp").order;
    let (x, y, z) = (11, 12, 13);
    let mut newcomer = |board: &mut Board, request: u32, cost: u64, slack: u64| {
        board.facts.array[0] = us(cost);
        let id = read(board, 0, 0, request);
        let passed = insert(board, &mut *order, id);
        board.txn_mut(id).slack = us(slack);
        (board.queues[board.txn(id).queue.index()].len as usize - 1 - passed, board.txn(id).queue)
    };
    let (place, queue) = newcomer(&mut board, x, 2, 5);
    let rule = "a read passes from the tail all that have as much slack as it takes, and takes that from them";
    assert_eq!(place, 1, "{rule}; {}", scene(&board));
    let (left, stands) = (order_of(&board, queue, 1000), [(1, 0), (x, 5), (2, 4), (3, 0), (4, 1)]);
    assert_eq!(left, stands, "{rule}; (request, slack in us)");
    assert_eq!(newcomer(&mut board, y, 2, 3).0, 5, "{rule}; {}", scene(&board));
    assert_eq!(newcomer(&mut board, z, 1, 0).0, 4, "{rule}; {}", scene(&board));
    let (left, stands) = (order_of(&board, queue, 1000), [(1, 0), (x, 5), (2, 4), (3, 0), (z, 0), (4, 0), (y, 2)]);
    assert_eq!(left, stands, "{rule}; (request, slack in us)");
}

/// D-SLK-11: with `charge_reads` a read that arrives takes its time from the slack of the chip's waiting writes.
#[test]
fn reads_are_charged_to_writes_if_set() {
    let mut board = board(1, 1);
    let [reading, writing] = [read(&mut board, 1, 0, 1), program(&mut board, 0, 2)];
    for (set, charges, tail) in [
        (&[][..], false, false),
        (&[("charge_reads", 1)], true, false),
        (&[("rbyp", 0), ("wbyp", 0)], false, true),
        (&[("rbyp", 0), ("wbyp", 0), ("charge_reads", 1)], true, false),
    ] {
        let mut order = SlackBypass::with_estimates(&Values { params: PARAMS, set, known: None });
        let charge = [reading, writing].map(|id| {
            let queue = board.txn(id).queue;
            order.position(&board, id, queue).charge_programs
        });
        let cost = if charges { board.service(reading) } else { Duration::ZERO };
        assert_eq!(charge, [cost, Duration::ZERO], "reads, and only they, take their time from writes if set: {set:?}");
        let rule = "it says in advance that all goes to the tail only if nothing bypasses or is charged";
        assert_eq!(order.declares().is_tail, tail, "{rule}: {set:?}");
    }
}

/// The queue as a plain list of (request, page, slack, cost), and the rule as model 1.1.3 writes it.
fn plainly(queue: &mut Vec<(u32, u32, u64)>, newcomer: (u32, u32), cost: u64) -> usize {
    let mut pos = queue.len();
    while pos > 0 {
        let (request, page, slack) = queue[pos - 1];
        let sibling = request == newcomer.0 && request != u32::MAX;
        if sibling || page == newcomer.1 || slack < cost {
            break;
        }
        queue[pos - 1].2 -= cost;
        pos -= 1;
    }
    queue.insert(pos, (newcomer.0, newcomer.1, 0));
    pos
}

/// The order equals the plain rule on random queues of reads and writes, with siblings, hazards and parts of pages.
#[test]
fn the_order_equals_the_plain_rule() {
    let mut random = Random(17);
    let mut sample = |limit: u64| random.below(limit);
    let mut jumped = 0;
    for _ in 0..300 {
        let mut board = board(1, 1);
        board.facts.transfer_sectors = (0..9).map(|s| Duration::from_us(s * 3)).collect();
        let mut order = scheduler("slacker").order;
        let mut plain: [Vec<(u32, u32, u64)>; 2] = [Vec::new(), Vec::new()];
        for i in 0..60 {
            let write = sample(2) == 1;
            let request = if sample(10) == 0 { u32::MAX } else { sample(12) as u32 };
            let page = if write { sample(20) as u32 } else { 1_000 + sample(1_000_000) as u32 };
            let id = if write { program(&mut board, 0, request) } else { read(&mut board, 0, 0, request) };
            let queue = board.txn(id).queue;
            let older =
                board.walk(queue).filter(|&other| other != id && write && board.txn(other).lpn.0 == page).last();
            let kin = request != u32::MAX
                && board.walk(queue).any(|other| other != id && board.txn(other).request == request);
            let transfer = board.facts.transfer(512 * sample(9) as u32);
            let txn = board.txn_mut(id);
            txn.lpn = flashlane_core::Lpn(page);
            txn.transfer = transfer;
            // Created together with siblings that wait already, and joining after them; or younger than all before.
            txn.serial = if kin { 0 } else { 1 + i };
            txn.blocked_by = older.unwrap_or(TxnId::NONE);
            let cost = board.service(id).ns();
            jumped += insert(&mut board, &mut *order, id);
            let list = &mut plain[usize::from(write)];
            let at = plainly(list, (request, page), cost);
            // Sometimes exactly what some new transaction costs: equality is enough (D-SLK-01).
            let array = if write { 1_300_000 } else { 75_000 };
            let slack = match sample(2) {
                0 => sample(if write { 6_000_000 } else { 400_000 }),
                _ => (array + 3_000 * sample(9)) * sample(3),
            };
            board.txn_mut(id).slack = Duration::from_ns(slack);
            list[at].2 = slack;
            let plain: Vec<_> = list.iter().map(|&(request, _, slack)| (request, slack)).collect();
            let rule = "one passes from the tail all that have as much slack as it takes, but no sibling and no \
                older write of its page";
            assert_eq!(order_of(&board, queue, 1), plain, "{rule}; {}", scene(&board));
            if sample(3) == 0 {
                let head = board.queues[queue.index()].head;
                board.unlink(head);
                list.remove(0);
            }
        }
    }
    assert!(jumped > 3_000, "{jumped} positions jumped");
}
