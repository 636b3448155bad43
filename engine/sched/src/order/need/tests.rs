//! The order against the rule written plainly: as few places as let the request end as early as it can.

use super::*;
use crate::catalogue::{Recipe, build};
use crate::pick::testing::scene;
use alloc::string::ToString;
use alloc::vec;
use flashlane_core::board::Facts;
use flashlane_core::decide::Scheduler;
use flashlane_core::geometry::Geometry;
use flashlane_core::{PlaneId, Transaction, UnitId};
use flashlane_testing::Random;

const CYCLE: u64 = 1_000;
const PROGRAM: u64 = 4;

fn scheduler() -> Scheduler {
    build(&Recipe { base: Some("need".to_string()), ..Recipe::default() }).expect("a scheduler")
}

/// A board of `chips` chips and `priorities` priorities in which a read takes a cycle and a program four, and transfers take no time.
fn board(chips: u32, priorities: u8) -> Board {
    let geometry = Geometry { channels: chips, blocks_per_plane: 16, pages_per_block: 16, ..Geometry::plain() };
    let cycles = |n| Duration::from_ns(n * CYCLE);
    let facts = Facts {
        priorities,
        array: [cycles(1), cycles(PROGRAM), cycles(8)],
        iteration: [cycles(1); 3],
        multi_plane: false,
        multi_die: false,
        ..Facts::plain(geometry)
    };
    Board::new(facts, 1)
}

/// Puts a transaction with this many cycles of slack at the tail of a chip's queue of the lowest priority.
fn put(board: &mut Board, op: FlashOp, chip: u16, request: u32, slack: u64) -> TxnId {
    put_at(board, 0, op, chip, request, slack)
}

/// The same at any priority.
fn put_at(board: &mut Board, priority: u8, op: FlashOp, chip: u16, request: u32, slack: u64) -> TxnId {
    let id = TxnId(board.txns.len() as u32);
    let queue = board.queue_for(UnitId(chip), op, priority);
    board.txns.push(Transaction {
        serial: u64::from(id.0),
        plane: PlaneId(chip),
        unit: UnitId(chip),
        request,
        priority,
        op,
        queue,
        stage: Stage::Waiting,
        slack: Duration::from_ns(slack * CYCLE),
        ..Transaction::EMPTY
    });
    board.link(id, queue, TxnId::NONE);
    id
}

/// What the rule says: how many the siblings of each chip pass. `queues` has the slack, in cycles, of those in front of them, head first;
/// `higher` how many have a higher priority, which are served first and never passed; `siblings` how many of the request are behind them.
fn plainly(queues: &[Vec<u64>], higher: &[u64], siblings: &[u64], service: u64) -> Vec<usize> {
    let may = |chip: usize| {
        let cost = siblings[chip] * service;
        queues[chip].iter().rev().take_while(|&&slack| slack >= cost).count()
    };
    let in_front = |chip: usize, passed: usize| higher[chip] + (queues[chip].len() - passed) as u64;
    let end = |chip: usize, passed: usize| (in_front(chip, passed) + siblings[chip]) * service;
    let touched = || (0..queues.len()).filter(|&chip| siblings[chip] > 0);
    let earliest = touched().map(|chip| end(chip, may(chip))).max().unwrap_or(0);
    let passes = |chip| (0..).find(|&passed| end(chip, passed) <= earliest).unwrap_or(0);
    (0..queues.len()).map(|chip| if siblings[chip] > 0 { passes(chip) } else { 0 }).collect()
}

#[test]
fn the_order_equals_the_plain_rule() {
    follows_the_plain_rule(1);
}

/// The transactions of a request pass only those of its priority; those above count as served before, those below not at all.
#[test]
fn the_order_equals_the_plain_rule_at_every_priority() {
    follows_the_plain_rule(3);
}

fn follows_the_plain_rule(priorities: u8) {
    let mut random = Random(23);
    let mut sample = |limit: u64| random.below(limit);
    let (mut passed_in_all, mut held_back) = (0, 0);
    for round in 0..3_000 {
        let op = if round % 2 == 0 { FlashOp::Read } else { FlashOp::Program };
        let service = if op == FlashOp::Read { 1 } else { PROGRAM };
        let chips = 1 + sample(5);
        let mut board = board(chips as u32, priorities);
        let mut order = scheduler().order;
        let mut queues = vec![Vec::new(); chips as usize];
        let mut higher = vec![0; chips as usize];
        let own = sample(priorities.into()) as u8;
        for (chip, queue) in queues.iter_mut().enumerate() {
            for other in 0..sample(12 * u64::from(priorities)) {
                let slack = sample(4) * sample(3) * service + sample(2);
                let priority = sample(priorities.into()) as u8;
                put_at(&mut board, priority, op, chip as u16, other as u32, slack);
                if priority == own {
                    queue.push(slack);
                }
                higher[chip] += u64::from(priority > own);
            }
        }
        let mut siblings = vec![0; chips as usize];
        let mut created = Vec::new();
        for _ in 0..1 + sample(chips + 2) {
            let chip = sample(chips);
            siblings[chip as usize] += 1;
            created.push(put_at(&mut board, own, op, chip as u16, 99, 0));
        }
        let mut moves = Vec::new();
        order.promote(&board, &created, &mut moves);
        let mut passed = vec![0; chips as usize];
        for Promotion { txn, in_front_of, charge } in &moves {
            assert_eq!(*charge, board.service(*txn));
            let chip = board.txn(*txn).unit.index();
            let place = board.walk(board.txn(*txn).queue).position(|id| id == *in_front_of).expect("of the same queue");
            passed[chip] = queues[chip].len() - place;
        }
        let plain = plainly(&queues, &higher, &siblings, service);
        assert_eq!(
            passed, plain,
            "the request's transactions pass as few as let it end as early as it can, and none with less slack than they \
             take; {op:?}s of {service}; by chip: slack of those in front, head first {queues:?}, of higher priority \
             {higher:?}, of the request {siblings:?}"
        );
        let moved: usize = moves.len();
        let of_moving = plain.iter().zip(&siblings).filter(|(passed, _)| **passed > 0).map(|(_, n)| *n as usize);
        assert_eq!(moved, of_moving.sum::<usize>(), "siblings move together");
        passed_in_all += plain.iter().sum::<usize>();
        let furthest = |chip: usize| {
            let cost = siblings[chip] * service;
            queues[chip].iter().rev().take_while(|&&slack| slack >= cost).count()
        };
        held_back += (0..queues.len()).filter(|&c| siblings[c] > 0 && plain[c] < furthest(c)).count();
    }
    assert!(passed_in_all > 300 && held_back > 300, "{passed_in_all} passed, {held_back} held back");
}

/// No transaction passes an older write of its page, or a sibling that stands apart; reads may be kept where they are while writes move.
#[test]
fn what_bars_the_way() {
    let with = |set: &[&str]| {
        let params = set.iter().map(|name| (name.to_string(), 0)).collect();
        build(&Recipe { base: Some("need".to_string()), params, ..Recipe::default() }).expect("a scheduler").order
    };
    let moves = |board: &Board, created: &[TxnId], set: &str, expected: &[(TxnId, TxnId)], rule: &str| {
        let mut moves = Vec::new();
        with(&[set]).promote(board, created, &mut moves);
        let moves: Vec<_> = moves.iter().map(|promotion| (promotion.txn, promotion.in_front_of)).collect();
        assert_eq!(moves, expected, "{rule}; {}", scene(board));
    };
    let mut board = board(1, 1);
    let front = put(&mut board, FlashOp::Program, 0, 1, 99);
    let older = put(&mut board, FlashOp::Program, 0, 2, 99);
    let other = put(&mut board, FlashOp::Program, 0, 3, 99);
    let newcomer = put(&mut board, FlashOp::Program, 0, 4, 0);
    moves(&board, &[newcomer], "rbyp", &[(newcomer, front)], "a write passes all that can spare its time");
    moves(&board, &[newcomer], "wbyp", &[], "writes stay where they may not bypass");
    board.txn_mut(newcomer).blocked_by = older;
    moves(&board, &[newcomer], "rbyp", &[(newcomer, other)], "no write passes an older one of its page");
    board.txn_mut(newcomer).blocked_by = TxnId::NONE;
    board.txn_mut(older).request = 4;
    moves(&board, &[older, newcomer], "rbyp", &[(newcomer, other)], "no transaction passes one of its request");
    for (set, asks) in [(&[][..], true), (&["rbyp"], true), (&["wbyp"], true), (&["rbyp", "wbyp"], false)] {
        let declared = with(set).declares().needs.promotions;
        assert_eq!(declared, asks, "it says in advance that nothing moves if neither may; set to 0: {set:?}");
    }
}
