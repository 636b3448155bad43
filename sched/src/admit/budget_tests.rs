//! Budget compensation against the model.

extern crate std;

use std::string::String;
use std::vec;
use std::vec::Vec;

use flashlane_core::board::Flow;

use super::super::testing::Line;
use super::*;
use crate::pick::testing::board;

const READ: Head = Head { op: Op::Read, pages: 1 };
const WRITE: Head = Head { op: Op::Write, pages: 1 };

/// Two flows with so many commands waiting on one unit; reads cost 100 us, writes 1,325 us.
fn scene(waiting: [u32; 2], quantum: Duration) -> (Board, Budget, Line) {
    let mut board = board(1, 2);
    board.flows = waiting.map(|waiting| Flow { waiting, ..Flow::default() }).to_vec();
    let mut budget = Budget::new(quantum * 2, true, true);
    budget.prepare(&board);
    let heads = Line { heads: vec![Some(READ), Some(WRITE)], ..Line::open() };
    (board, budget, heads)
}

/// A-FLN-17.
#[test]
fn the_admissions_of_the_model() {
    let (mut board, mut budget, heads) = scene([12, 3], Duration::from_us(1000));
    let mut admitted = String::new();
    loop {
        let before: Vec<i64> = budget.accounts.iter().map(|a| a.left).collect();
        let Some(flow) = budget.next(&board, &heads) else { break };
        if budget.accounts.iter().zip(before).any(|(a, before)| a.left > before) {
            admitted.push('|');
        }
        admitted.push(if flow == FlowId(0) { 'a' } else { 'b' });
        board.flows[flow.index()].waiting -= 1;
    }
    assert_eq!(admitted, "abaaaaaaaaa|baa|b");
    assert_eq!([0, 1].map(|f| budget.accounts[f].left), [1_000_000, -975_000]);
}

/// A flow without budget waits while another has some and cannot use it, until the round's time is over.
#[test]
fn not_work_conserving() {
    let (mut board, mut budget, _) = scene([50, 1], Duration::from_us(1000));
    let heads = Line { heads: vec![Some(READ), Some(WRITE)], ..Line::full(|flow| flow == FlowId(1)) };
    for _ in 0..10 {
        assert_eq!(budget.next(&board, &heads), Some(FlowId(0)));
    }
    assert_eq!(budget.next(&board, &heads), None);
    assert_eq!(budget.ask_again(), Time::from_ns(2_000_000));
    board.now = Time::from_ns(1_999_999);
    assert_eq!(budget.next(&board, &heads), None);
    board.now = Time::from_ns(2_000_000);
    assert_eq!(budget.next(&board, &heads), Some(FlowId(0)));
    assert_eq!(budget.ask_again(), Time::NEVER);
}

/// A flow whose commands are all in the device keeps the round open if it has budget left; by the other reading it does not.
#[test]
fn who_waits_for_completions_only() {
    for until_completed in [true, false] {
        let (mut board, mut budget, heads) = scene([50, 0], Duration::from_us(1000));
        budget.until_completed = until_completed;
        board.flows[1].in_flight = 1;
        let fetched = (0..20).take_while(|_| budget.next(&board, &heads) == Some(FlowId(0))).count();
        assert_eq!(fetched, if until_completed { 10 } else { 20 });
        if until_completed {
            assert_eq!(budget.ask_again(), Time::from_ns(2_000_000));
            // Its last command completes, and nobody with budget is left.
            board.flows[1].in_flight = 0;
            assert_eq!(budget.next(&board, &heads), Some(FlowId(0)));
        }
    }
}

/// A command that costs many rounds' budget is paid off at once when nobody else waits, not round by round.
#[test]
fn a_debt_of_many_rounds() {
    let (board, mut budget, mut heads) = scene([0, 2], Duration::from_us(1000));
    heads.heads[1] = Some(Head { op: Op::Write, pages: u32::MAX });
    for _ in 0..2 {
        assert_eq!(budget.next(&board, &heads), Some(FlowId(1)));
    }
    assert_eq!(budget.accounts[0].left, 1_000_000, "what a flow does not use is lost");
}

/// D-FLN-20: moves cost the owner of the page, erases everyone by what he wrote; or nobody.
#[test]
fn garbage_collection_is_charged_to_its_cause() {
    for compensates in [true, false] {
        let (mut board, mut budget, _) = scene([0, 0], Duration::from_us(1000));
        budget.compensates = compensates;
        (board.flows[0].programmed, board.flows[0].moved) = (10, 0);
        (board.flows[1].programmed, board.flows[1].moved) = (30, 6);
        board.units[0].counters.erases = 2;
        budget.replenish(&board, 1);
        let erase = 2 * 3_800_000 / 40;
        let expected = if compensates { [erase, 6 * 1_425_000 / 30 + erase] } else { [0, 0] };
        assert_eq!([0, 1].map(|f| budget.accounts[f].surcharge), expected);
        assert_eq!(budget.cost(&board, 1, Head { pages: 3, ..WRITE }), 3 * (1_325_000 + expected[1]));
        assert_eq!(budget.cost(&board, 1, READ), 100_000, "reads cause none");
    }
}

/// Levels weigh as in FLIN's arbitration.
#[test]
fn quanta_by_level() {
    let mut board = board(1, 2);
    board.flows = (0..4).map(|level| Flow { level, ..Flow::default() }).collect();
    let mut budget = Budget::new(Duration::from_us(15), true, true);
    budget.prepare(&board);
    let quanta: Vec<i64> = budget.accounts.iter().map(|a| a.quantum).collect();
    assert_eq!(quanta, [1000, 2000, 4000, 8000]);
}
