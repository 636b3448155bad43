//! Estimates, aging and the choice between queues.

extern crate std;

use std::vec;
use std::vec::Vec;

use flashlane_core::board::{Flow, FlowFigures};
use flashlane_core::{Duration, Op::Read, Op::Write};

use super::super::testing::{Queues, command};
use super::*;
use crate::pick::testing;

/// Commands as (operation, pages, pages that the buffer does not hold), all in one queue; reads take 20 us and writes 200.
fn scene(commands: &[(Op, u32, u32)]) -> (Board, Queues) {
    let mut board = testing::board(1, 2);
    (board.facts.array, board.facts.transfer_page) = ([20, 200, 1500].map(Duration::from_us), Duration::ZERO);
    board.requests = commands.iter().map(|&(op, pages, _)| command(op, pages, 0)).collect();
    let all = 0..commands.len() as u32;
    let mut first = 0;
    let place = |&(_, pages, missing): &(Op, u32, u32)| {
        first += pages;
        (first - pages..first, missing)
    };
    let queues = Queues { waiting: vec![all.collect()], pages: commands.iter().map(place).collect(), ..Queues::open() };
    board.flows = vec![Flow::from(FlowFigures { waiting: commands.len() as u32, ..FlowFigures::default() })];
    (board, queues)
}

fn shortest(by_type: bool, by_buffer: bool, alpha: u64) -> Shortest {
    Shortest { by_type, by_buffer, alpha, keeps_order: false, overtaken: Vec::new() }
}

/// Fetches everything that waits; returns the commands in that order, the first being 1.
fn order(admit: &mut dyn Admit, board: &mut Board, queues: &mut Queues) -> Vec<u32> {
    let mut order = Vec::new();
    while let Some(Fetch { flow, position }) = admit.next(board, queues) {
        order.push(queues.waiting[flow.index()].remove(position as usize) + 1);
        let fetched = &mut board.flows[flow.index()];
        fetched.set_waiting(fetched.waiting() - 1);
    }
    order
}

/// A-NCQ-01: the order of five commands under each estimate; with aging too.
#[test]
fn the_order_of_each_estimate() {
    let commands = [(Write, 8, 8), (Read, 64, 64), (Read, 32, 32), (Write, 16, 2), (Read, 16, 0)];
    for (by_type, by_buffer, expected) in [
        (false, false, [1, 4, 5, 3, 2]),
        (false, true, [5, 4, 1, 3, 2]),
        (true, false, [5, 3, 2, 1, 4]),
        (true, true, [5, 4, 3, 2, 1]),
    ] {
        for alpha in [90, 100] {
            let (mut board, mut queues) = scene(&commands);
            let made = order(&mut shortest(by_type, by_buffer, alpha), &mut board, &mut queues);
            assert_eq!(
                made, expected,
                "the shortest estimate goes first, that of a write if {by_type} by its type, of pages not in the buffer if {by_buffer}; \
                 alpha {alpha}, operation, pages, pages not in the buffer: {commands:?}"
            );
        }
    }
    let (mut board, mut queues) = scene(&commands);
    assert_eq!(order(&mut Oldest, &mut board, &mut queues), [1, 2, 3, 4, 5], "oldest first in order of arrival");
}

/// A-NCQ-02: how many commands of half its estimate overtake the oldest, by alpha.
#[test]
fn how_often_the_oldest_is_overtaken() {
    let mut commands = vec![(Write, 10, 10)];
    commands.extend([(Write, 5, 5); 40]);
    for (alpha, overtakings) in [(90, 7), (50, 1), (0, 1), (100, 40)] {
        let (mut board, mut queues) = scene(&commands);
        let made = order(&mut shortest(true, true, alpha), &mut board, &mut queues);
        assert_eq!(
            made.iter().position(|&c| c == 1),
            Some(overtakings),
            "each younger command that overtakes one takes its estimate times alpha, here {alpha} %; one of 10 \
             pages, then 40 of 5"
        );
    }
    assert_eq!([6, 7].map(|times| aged(2_000_000, 90, times)), [1_062_882, 956_593]);
}

/// D-NCQ-14: rounded down at each step, an estimate reaches 0 with any alpha below 1, and stays as it is with alpha 1.
#[test]
fn aging_ends_at_zero() {
    assert_eq!([1, 2, 3].map(|times| aged(19, 90, times)), [17, 15, 13]);
    assert_eq!(aged(u64::MAX, 99, 1), (u128::from(u64::MAX) * 99 / 100) as u64);
    for alpha in 0..100 {
        assert_eq!(aged(u64::from(u32::MAX), alpha, 10_000), 0, "alpha {alpha}");
        assert_eq!(aged(100, alpha, 1), alpha);
        assert_eq!(aged(100, alpha, 0), 100);
    }
    assert_eq!(aged(123, 100, u32::MAX), 123);
}

/// D-NCQ-16: several queues are one; among commands that arrived together the first flow's is the older. What waits outside the
/// window is neither fetched nor overtaken.
#[test]
fn several_queues_are_one() {
    let (mut board, mut queues) = scene(&[(Read, 4, 4), (Read, 2, 2), (Read, 2, 2), (Read, 1, 1)]);
    (queues.waiting, board.requests[2].arrival) = (vec![vec![0, 3], vec![1], vec![2]], Time::from_ns(5));
    board.requests[3].arrival = Time::from_ns(9);
    board.flows = vec![Flow::from(FlowFigures { waiting: 1, ..FlowFigures::default() }); 3];
    board.flows[0].set_waiting(2);
    let made = order(&mut shortest(true, true, 100), &mut board.clone(), &mut queues);
    assert_eq!(made, [4, 2, 3, 1], "the shortest of all queues goes, of equals the older, of as old the first flow's");
    (queues.waiting, board.requests[0].arrival) = (vec![vec![0, 3], vec![1], vec![2]], Time::from_ns(3));
    let made = order(&mut Oldest, &mut board.clone(), &mut queues);
    assert_eq!(made, [2, 1, 3, 4], "the oldest of all queues goes; they came at 3, 0, 5 and 9 ns");
    // All pages are in the buffer.
    queues.waiting = vec![vec![0, 3], vec![1], vec![2]];
    queues.pages.iter_mut().for_each(|(_, missing)| *missing = 0);
    let made = order(&mut shortest(true, true, 100), &mut board, &mut queues);
    assert_eq!(made, [2, 1, 3, 4], "of commands that need no time the oldest goes; they came at 3, 0, 5 and 9 ns");
}

/// Who is overtaken is older than the one that goes, in whatever queue it waits. All arrived together: those of flow 0 and in front of it
/// are older, that of flow 2 is not.
#[test]
fn older_commands_of_other_queues_are_overtaken_too() {
    let (mut board, mut queues) = scene(&[(Read, 4, 4), (Read, 3, 3), (Read, 1, 1), (Read, 2, 2)]);
    queues.waiting = vec![vec![0], vec![1, 2], vec![3]];
    board.flows = vec![Flow::from(FlowFigures { waiting: 1, ..FlowFigures::default() }); 3];
    board.flows[1].set_waiting(2);
    let mut admit = shortest(true, true, 50);
    assert_eq!(admit.next(&board, &queues), Some(Fetch { flow: FlowId(1), position: 1 }), "the shortest goes");
    let rule =
        "who is older than the one that goes is overtaken, in whatever queue; flows have 0, then 1 and 2, then 3";
    assert_eq!(admit.overtaken, [1, 1, 0, 0], "{rule}");
}

/// The shortest command whose queues have no room keeps the others waiting, and nothing is counted as overtaken.
#[test]
fn a_command_without_room_is_waited_for() {
    let (board, mut queues) = scene(&[(Read, 4, 4), (Read, 2, 2), (Read, 3, 3)]);
    queues.full = alloc::boxed::Box::new(|command| command == 1);
    let mut admit = shortest(true, true, 50);
    assert_eq!(admit.next(&board, &queues), None, "the shortest, for which there is no room, is waited for");
    assert!(admit.overtaken.iter().all(|&times| times == 0), "nobody is overtaken while none goes");
    queues.full = alloc::boxed::Box::new(|_| false);
    assert_eq!(admit.next(&board, &queues), Some(Fetch { flow: FlowId(0), position: 1 }));
    assert_eq!(admit.overtaken, [1, 0, 0], "the older one is overtaken when the shortest goes");
}

/// D-NCQ-10: with `ncq_keep_order` a command waits for an older one of its pages, unless both read.
#[test]
fn commands_of_a_page_can_keep_their_order() {
    for (first, second, waits) in [(Write, Write, true), (Write, Read, true), (Read, Write, true), (Read, Read, false)]
    {
        let (mut board, mut queues) = scene(&[(first, 9, 9), (second, 2, 2), (Read, 3, 3)]);
        queues.pages[1].0 = 8..10;
        let mut admit = Shortest { keeps_order: true, ..shortest(false, false, 100) };
        let made = order(&mut admit, &mut board, &mut queues);
        assert_eq!(
            made,
            if waits { [3, 1, 2] } else { [2, 3, 1] },
            "a command waits for an older one of its pages unless both read; {first:?} of 9 pages, {second:?} of \
             2 of them, a read of 3 others"
        );
    }
}
