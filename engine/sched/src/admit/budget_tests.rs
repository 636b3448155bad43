//! Budget compensation against the model.

extern crate std;

use std::string::String;
use std::vec;
use std::vec::Vec;

use flashlane_core::board::{Flow, FlowFigures};

use super::super::testing::{Queues, command};
use super::*;
use crate::pick::testing::board;

const READ: ActiveRequest = command(Op::Read, 1, 0);
const WRITE: ActiveRequest = command(Op::Write, 1, 0);

/// Two flows with these numbers of commands waiting on one unit; reads cost 100 us, writes 1,325 us.
fn scene(waiting: [u32; 2], quantum: Duration) -> (Board, Budget, Queues) {
    let mut board = board(1, 2);
    board.flows = waiting.map(|waiting| Flow::from(FlowFigures { waiting, ..FlowFigures::default() })).to_vec();
    let mut budget = Budget::new(quantum * 2, true, true);
    budget.prepare(&board);
    board.requests = vec![READ, WRITE];
    (board, budget, Queues::open())
}

/// A-FLN-17.
#[test]
fn the_admissions_of_the_model() {
    let (mut board, mut budget, heads) = scene([12, 3], Duration::from_us(1000));
    let mut admitted = String::new();
    loop {
        let before: Vec<i64> = budget.accounts.iter().map(|a| a.left).collect();
        let Some(Fetch { flow, .. }) = budget.next(&board, &heads) else { break };
        if budget.accounts.iter().zip(before).any(|(a, before)| a.left > before) {
            admitted.push('|');
        }
        admitted.push(if flow == FlowId(0) { 'a' } else { 'b' });
        let fetched = &mut board.flows[flow.index()];
        fetched.set_waiting(fetched.waiting() - 1);
    }
    let rule = "flows with budget left take turns, and a round ends (|) when none has any; a reads for 100 us, b \
        writes for 1,325";
    assert_eq!(admitted, "abaaaaaaaaa|baa|b", "{rule}");
    let left = [0, 1].map(|f| budget.accounts[f].left);
    assert_eq!(left, [1_000_000, -975_000], "a flow may overdraw once, and pays back a round's budget at a time");
}

/// A flow without budget waits while another has some and cannot use it, until the round's time is over.
#[test]
fn a_flow_without_budget_waits_even_if_the_flash_is_idle() {
    let (mut board, mut budget, _) = scene([50, 1], Duration::from_us(1000));
    let heads = Queues::full(|flow| flow == FlowId(1));
    for _ in 0..10 {
        assert_eq!(
            budget.next(&board, &heads),
            Some(Fetch::head(FlowId(0))),
            "a flow goes while it has budget, room or not for others"
        );
    }
    let rule =
        "a flow without budget waits for the end of the round while another has some, even if that cannot use it";
    for now in [0, 1_999_999] {
        board.now = Time::from_ns(now);
        assert_eq!(budget.next(&board, &heads), None, "{rule}; at {now} of 2,000,000 ns");
        assert_eq!(budget.ask_again(), Time::from_ns(2_000_000), "{rule}");
    }
    board.now = Time::from_ns(2_000_000);
    assert_eq!(budget.next(&board, &heads), Some(Fetch::head(FlowId(0))), "a round ends when its time is over");
    assert_eq!(budget.ask_again(), Time::NEVER, "nobody waits for the end of a round in which somebody goes");
}

/// A flow whose commands are all in the device keeps the round open if it has budget left, unless commands are pending only
/// until fetched.
#[test]
fn a_flow_with_all_commands_in_the_device_keeps_the_round_open() {
    for until_completed in [true, false] {
        let (mut board, mut budget, heads) = scene([50, 0], Duration::from_us(1000));
        budget.until_completed = until_completed;
        board.flows[1].command_fetched();
        let fetched = (0..20).take_while(|_| budget.next(&board, &heads) == Some(Fetch::head(FlowId(0)))).count();
        assert_eq!(
            fetched,
            if until_completed { 10 } else { 20 },
            "a flow with budget and commands in the device keeps the round open if they are pending until \
             completed ({until_completed}); reads of 100 us, 1,000 us a round"
        );
        if until_completed {
            assert_eq!(budget.ask_again(), Time::from_ns(2_000_000));
            // Its last command completes, and no flow with budget is left.
            board.flows[1].command_completed();
            assert_eq!(budget.next(&board, &heads), Some(Fetch::head(FlowId(0))));
        }
    }
}

/// A command that costs many rounds' budget is paid off at once when no other flow waits, not round by round.
#[test]
fn a_debt_of_many_rounds_is_paid_off_at_once() {
    let (mut board, mut budget, heads) = scene([0, 2], Duration::from_us(1000));
    board.requests[1].pages = u32::MAX;
    for _ in 0..2 {
        assert_eq!(
            budget.next(&board, &heads),
            Some(Fetch::head(FlowId(1))),
            "a debt is paid off at once if no other flow waits"
        );
    }
    assert_eq!(budget.accounts[0].left, 1_000_000, "what a flow does not use is lost");
}

/// D-FLN-20: moves are charged to the flow whose page it is, erases to every flow by what it wrote; or nothing is charged.
#[test]
fn garbage_collection_is_charged_to_its_cause() {
    for compensates in [true, false] {
        let (mut board, mut budget, _) = scene([0, 0], Duration::from_us(1000));
        budget.compensates = compensates;
        let flow = |(programmed, moved)| Flow::from(FlowFigures { programmed, moved, ..FlowFigures::default() });
        board.flows = [(10, 0), (30, 6)].map(flow).to_vec();
        board.units[0].counters.erases = 2;
        budget.replenish(&board, 1);
        let erase = 2 * 3_800_000 / 40;
        let expected = if compensates { [erase, 6 * 1_425_000 / 30 + erase] } else { [0, 0] };
        let surcharges = [0, 1].map(|f| budget.accounts[f].surcharge);
        let rule = "moves are charged to the flow whose page it is, erases to all by what they wrote, if at all";
        assert_eq!(surcharges, expected, "{rule} ({compensates}); written 10 and 30, moved 0 and 6, 2 erases");
        assert_eq!(
            budget.cost(&board, 1, &ActiveRequest { pages: 3, ..WRITE }),
            3 * (1_325_000 + expected[1]),
            "every page written costs a program and the surcharge"
        );
        assert_eq!(budget.cost(&board, 1, &READ), 100_000, "reads cause none");
    }
}

/// Levels are weighted as in FLIN's arbitration.
#[test]
fn budgets_are_weighted_by_level() {
    let mut board = board(1, 2);
    board.flows = (0..4).map(|priority| Flow::from(FlowFigures { priority, ..FlowFigures::default() })).collect();
    let mut budget = Budget::new(Duration::from_us(15), true, true);
    budget.prepare(&board);
    let quanta: Vec<i64> = budget.accounts.iter().map(|a| a.quantum).collect();
    assert_eq!(quanta, [1000, 2000, 4000, 8000], "a step of priority doubles the budget");
}

/// A flow with nothing left delays no other: one whose commands are all in the device and whose budget is used up or
/// overdrawn does not keep the round open. One with a nanosecond left does.
#[test]
fn a_flow_without_budget_keeps_no_round_open() {
    for (left, waits) in [(1, true), (0, false), (-1, false), (-3_000_000, false)] {
        let (mut board, mut budget, heads) = scene([50, 0], Duration::from_us(1000));
        board.flows[1].command_fetched();
        (budget.accounts[0].left, budget.accounts[1].left) = (0, left);
        let next = budget.next(&board, &heads);
        let rule = "a flow whose commands are all in the device keeps the round open while it has budget";
        assert_eq!(next, (!waits).then_some(Fetch::head(FlowId(0))), "{rule}; {left} ns left");
        assert_eq!(budget.ask_again(), if waits { Time::from_ns(2_000_000) } else { Time::NEVER }, "{left} ns left");
    }
}

/// A flow with a command waiting is fetched from with a nanosecond left, and not with none; it may overdraw.
#[test]
fn a_nanosecond_of_budget_is_enough_to_fetch() {
    for (left, goes) in [(1, true), (0, false), (-1, false)] {
        let (board, mut budget, _) = scene([5, 5], Duration::from_us(1000));
        let heads = Queues::full(|flow| flow == FlowId(1));
        budget.accounts[0].left = left;
        assert_eq!(
            budget.next(&board, &heads),
            goes.then_some(Fetch::head(FlowId(0))),
            "a nanosecond of budget is enough for a command, and none is not; {left} ns left"
        );
        assert_eq!(budget.accounts[0].left, if goes { left - 100_000 } else { left }, "a flow may overdraw");
    }
}

/// When no flow can go, as many rounds end at once as one of the waiting flows needs to have budget: no fewer, and no more.
/// The other flows have at most one round's budget.
#[test]
fn as_many_rounds_end_as_a_waiting_flow_needs() {
    let quantum = 1_000_000;
    for (lefts, waiting, rounds) in [
        ([0, 0], [1, 1], 1),
        ([-999_999, -5_000_000], [1, 1], 1),
        ([-1_000_000, -5_000_000], [1, 1], 2),
        ([-1_000_001, -5_000_000], [1, 1], 2),
        ([-2_000_000, -2_500_000], [1, 1], 3),
        ([-1, -2_500_000], [0, 1], 3),
        ([-2_500_000, -1], [0, 1], 1),
        ([-7_000_000, -7_000_000], [1, 1], 8),
    ] {
        let (board, mut budget, heads) = scene(waiting, Duration::from_us(1000));
        [0, 1].into_iter().for_each(|f| budget.accounts[f].left = lefts[f]);
        let taken =
            budget.next(&board, &heads).expect("when no flow has budget, rounds end until one goes").flow.index();
        let due = |f: usize| quantum.min(lefts[f] + rounds * quantum);
        let paid = |f: usize| if f == taken { [100_000, 1_325_000][f] } else { 0 };
        let left = [0, 1].map(|f| budget.accounts[f].left);
        assert_eq!(
            left,
            [0, 1].map(|f| due(f) - paid(f)),
            "as many rounds end at once as a waiting flow needs, no more: {rounds}; left before {lefts:?}, \
             waiting {waiting:?}"
        );
        let waits = (0..2).filter(|&f| waiting[f] > 0);
        assert!(waits.clone().any(|f| due(f) > 0) && waits.clone().all(|f| lefts[f] + (rounds - 1) * quantum <= 0));
    }
}

/// A round that ends because its time is over is one round, however large a flow's debt; the next lasts its whole length
/// from then on.
#[test]
fn time_ends_one_round_at_a_time() {
    let (mut board, mut budget, _) = scene([5, 5], Duration::from_us(1000));
    let heads = Queues::full(|flow| flow == FlowId(1));
    budget.accounts[0].left = -2_500_000;
    for (now, left) in [(2_300_000, -1_500_000), (4_300_000, -500_000)] {
        board.now = Time::from_ns(now);
        let rule = "time ends one round, however large the debt, and the next lasts its whole length";
        assert_eq!(budget.next(&board, &heads), None, "{rule}; at {now} ns");
        let after = (budget.accounts[0].left, budget.ask_again());
        assert_eq!(after, (left, Time::from_ns(now + 2_000_000)), "{rule}; at {now} ns");
    }
    board.now = Time::from_ns(6_300_000);
    assert_eq!(budget.next(&board, &heads), Some(Fetch::head(FlowId(0))));
}

/// Every round charges what happened in it: pages written and moved and blocks erased since the round before. A flow that
/// wrote nothing keeps the surcharge of the round before.
#[test]
fn a_round_charges_what_happened_in_it() {
    let (mut board, mut budget, _) = scene([0, 0], Duration::from_us(1000));
    let (pair, erase) = (1_425_000, 3_800_000);
    let mut round = |programmed: [u64; 2], moved: [u64; 2], erases: u64| {
        let flow = |f: usize| FlowFigures { programmed: programmed[f], moved: moved[f], ..FlowFigures::default() };
        board.flows = [0, 1].map(|f| flow(f).into()).to_vec();
        board.units[0].counters.erases = erases;
        budget.replenish(&board, 1);
        [0, 1].map(|f| budget.accounts[f].surcharge)
    };
    let rule = "a round charges what was moved and erased in it to what was written in it";
    assert_eq!(round([10, 30], [5, 0], 2), [5 * pair / 10 + 2 * erase / 40, 2 * erase / 40], "{rule}");
    // Pages: 10 and 10 more; moves: 2 and 4 more; erases: one more.
    assert_eq!(
        round([20, 40], [7, 4], 3),
        [2 * pair / 10 + erase / 20, 4 * pair / 10 + erase / 20],
        "{rule}, not since the run began"
    );
    assert_eq!(
        round([20, 50], [9, 4], 3),
        [2 * pair / 10 + erase / 20, 0],
        "a flow that wrote nothing keeps its surcharge"
    );
}

/// The longest round on the largest drive does not overflow, not even at the highest priority.
#[test]
fn the_longest_round_does_not_overflow() {
    let mut board = board(1, 2);
    board.units = vec![board.units[0]; 64 * 64];
    board.flows = [0, 7].map(|priority| Flow::from(FlowFigures { priority, ..FlowFigures::default() })).to_vec();
    let mut budget = Budget::new(Duration::from_us(1 << 40), true, true);
    budget.prepare(&board);
    let time = (1i128 << 40) * 1000 * 4096;
    assert_eq!([0, 1].map(|f| i128::from(budget.accounts[f].quantum)), [time / 129, time * 128 / 129]);
}
