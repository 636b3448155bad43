//! Stage 1 against the statements of model 8.2, on a board.

extern crate std;

use std::format;
use std::string::String;
use std::vec::Vec;

use flashlane_core::PlaneId;
use flashlane_core::board::QueueKind;
use flashlane_core::transaction::{Stage, Transaction};

use super::*;
use crate::flin::region::fairest_place;
use crate::pick::testing::board;
use flashlane_testing::Random;

pub(super) const READS: QueueId = QueueId(0);
/// Flows by the letters of A-FLN-07: two of low intensity, three of high.
pub(super) const A: u16 = 0;
pub(super) const B: u16 = 1;
pub(super) const C: u16 = 2;
pub(super) const D: u16 = 3;
pub(super) const E: u16 = 4;

pub(super) const DECIDED: Settings = Settings {
    intensity: Rule {
        epoch_ns: 10_000_000,
        limit: [32_000_000, 256_000],
        per_epoch: false,
        window: 1,
        per_unit: false,
    },
    threshold: 600,
    barrier: true,
    count_departed: false,
    halve: false,
};

/// A board of five flows with reads of 100 ns.
pub(super) fn scene(settings: Settings) -> (Board, Fair) {
    let mut board = board(1, 2);
    board.flows = vec![Default::default(); 5];
    board.facts.array[0] = Duration::from_ns(75);
    board.facts.transfer_page = Duration::from_ns(25);
    board.facts.transfer_sectors = vec![Duration::from_ns(25); 9];
    let mut fair = Fair::new(settings);
    fair.prepare(&board);
    (board, fair)
}

/// A read of `flow` joins its queue, as in the device.
pub(super) fn join(board: &mut Board, fair: &mut Fair, flow: u16) -> TxnId {
    let id = TxnId(board.txns.len() as u32);
    board.txns.push(Transaction {
        serial: u64::from(id.0),
        flow: FlowId(flow),
        plane: PlaneId(0),
        enqueued: board.now,
        transfer: board.facts.transfer(0),
        stage: Stage::Waiting,
        ..Transaction::EMPTY
    });
    let position = fair.position(board, id, READS);
    let txn = board.txn_mut(id);
    (txn.tag, txn.isolated_latency) = (position.tag, position.isolated_latency);
    board.link(id, READS, position.in_front_of);
    id
}

pub(super) fn leave(board: &mut Board, fair: &mut Fair, txn: TxnId) {
    fair.departs(board, txn, Departure::Dispatched);
    board.unlink(txn).stage = Stage::InService;
}

pub(super) fn place(board: &Board, txn: TxnId) -> usize {
    board.walk(READS).position(|other| other == txn).expect("it waits")
}

/// The queue in words, for messages: flow and intensity of what waits, `|` behind a barrier.
pub(super) fn words(board: &Board) -> String {
    let word = |txn: &Transaction| {
        let intensity = if txn.tag & tag::HIGH != 0 { "high" } else { "low" };
        let barrier = if txn.tag & tag::BARRIER != 0 { " |" } else { "" };
        format!("{} {intensity}{barrier}", txn.flow.0)
    };
    let waiting: Vec<String> = board.walk(READS).map(|txn| word(board.txn(txn))).collect();
    format!("flows from the head at {}: {}", board.now.ns(), waiting.join(", "))
}

fn at(board: &mut Board, ns: u64) {
    board.now = Time::from_ns(ns);
}

/// A-FLN-03: arrivals at 0, 20, 150, 500 with the flow's previous transaction still queued, and at 600 with none.
#[test]
fn isolated_latencies_of_the_model() {
    for (count_departed, last) in [(false, 100), (true, 100)] {
        let (mut board, mut fair) = scene(Settings { count_departed, ..DECIDED });
        let mut all = Vec::new();
        for (ns, isolated) in [(0, 100), (20, 180), (150, 150), (500, 100)] {
            at(&mut board, ns);
            all.push(join(&mut board, &mut fair, A));
            assert_eq!(
                board.txn(all[all.len() - 1]).isolated_latency.ns(),
                isolated,
                "alone, one waits for the flow's one before that waits, and is served; at {ns} ns"
            );
        }
        all.into_iter().for_each(|txn| leave(&mut board, &mut fair, txn));
        at(&mut board, 600);
        let txn = join(&mut board, &mut fair, A);
        assert_eq!(board.txn(txn).isolated_latency.ns(), last, "alone, one waits for none if none of its flow waits");
    }
}

/// D-FLN-06: a transaction that has just left counts only if the setting says so.
#[test]
fn a_departed_transaction_counts_if_set() {
    for (count_departed, isolated) in [(false, 100), (true, 160)] {
        let (mut board, mut fair) = scene(Settings { count_departed, ..DECIDED });
        let first = join(&mut board, &mut fair, A);
        leave(&mut board, &mut fair, first);
        at(&mut board, 40);
        let second = join(&mut board, &mut fair, A);
        let latency = board.txn(second).isolated_latency.ns();
        assert_eq!(latency, isolated, "what has just left counts for the alone time only if set: {count_departed}");
    }
}

/// When a newer transaction leaves before an older one of its flow, the older is the last in the queue again.
#[test]
fn the_newest_that_still_waits_counts() {
    let (mut board, mut fair) = scene(DECIDED);
    let older = join(&mut board, &mut fair, A);
    at(&mut board, 20);
    let newer = join(&mut board, &mut fair, A);
    leave(&mut board, &mut fair, newer);
    at(&mut board, 30);
    let third = join(&mut board, &mut fair, A);
    let rule = "when the newest of a flow leaves, the newest that still waits is the one to wait for alone";
    assert_eq!([older, third].map(|txn| board.txn(txn).isolated_latency.ns()), [100, 170], "{rule}");
    // Of those that then wait the newest: alone the first is done at 100, the second at 200, and the third leaves; at 50 150 are left to wait.
    let (mut board, mut fair) = scene(DECIDED);
    let mut last = TxnId::NONE;
    for ns in [0, 20, 40] {
        at(&mut board, ns);
        last = join(&mut board, &mut fair, A);
    }
    leave(&mut board, &mut fair, last);
    at(&mut board, 50);
    let fourth = join(&mut board, &mut fair, A);
    assert_eq!([last, fourth].map(|txn| board.txn(txn).isolated_latency.ns()), [260, 250], "{rule}");
}

/// The queue t1L t2L t3L t4H t5H t6H, flows of the last three c, d, c, in the second epoch; flows c, d and e are of high
/// intensity.
fn six(settings: Settings) -> (Board, Fair, Vec<TxnId>) {
    let (mut board, mut fair) = scene(settings);
    for flow in [C, D, E] {
        for _ in 0..1000 {
            let txn = join(&mut board, &mut fair, flow);
            leave(&mut board, &mut fair, txn);
        }
    }
    at(&mut board, 10_000_000);
    fair.records.iter_mut().for_each(|record| record.departed = Mean::default());
    let queue: Vec<TxnId> = [A, B, A, C, D, C].map(|flow| join(&mut board, &mut fair, flow)).to_vec();
    let places: Vec<usize> = queue.iter().map(|&txn| place(&board, txn)).collect();
    assert!(places[..3].iter().all(|&p| p < 3) && places[3..].iter().all(|&p| p >= 3), "{places:?}");
    (board, fair, queue)
}

/// Sets the average slowdowns of departed transactions.
fn departed(fair: &mut Fair, means: &[(u16, u64)]) {
    for &(flow, mean) in means {
        fair.record(READS, FlowId(flow)).departed = Mean::of(10, mean * 10);
    }
}

/// The place for a new transaction of `flow` in the region from `from` to `to`, by the two passes alone.
fn searched(board: &Board, fair: &mut Fair, from: usize, to: usize, flow: u16) -> usize {
    let entries: Vec<Entry> = fair.queues[0].iter().copied().collect();
    let isolated = Duration::from_ns(100) + fair.records[usize::from(flow)].done.since(board.now);
    let waits = fair.records[usize::from(flow)].waiting > 0;
    let isolated = isolated_ns(if waits { isolated } else { Duration::from_ns(100) });
    let new = Entry {
        enqueued: board.now.ns(),
        service: 100,
        isolated,
        txn: TxnId::NONE,
        flow: FlowId(flow),
        barrier: false,
    };
    let ahead = entries[..from].iter().map(|e| e.service).sum();
    from + fairest_place(View { now: board.now, ahead }, &entries[from..to], &new, &mut Vec::new())
}

/// A-FLN-06: low goes behind the low ones, then is reordered among them; high to the tail, then among the high ones.
#[test]
fn step_1_and_2a_of_the_model() {
    let (mut board, mut fair, _) = six(DECIDED);
    let expected = searched(&board, &mut fair, 0, 3, B);
    let low = join(&mut board, &mut fair, B);
    assert_eq!(place(&board, low), expected, "low intensity goes where it is fairest among the low; {}", words(&board));
    assert!(board.txn(low).tag & tag::HIGH == 0 && fair.queues[0].low.len() == 4);
    // Fairness 0.7, and the worst flow; or fairness 0.5, and not the worst.
    for (means, flow) in [([(C, 7), (E, 10)], E), ([(C, 5), (D, 10)], E), ([(C, 5), (D, 10)], C)] {
        let (mut board, mut fair, _) = six(DECIDED);
        departed(&mut fair, &means);
        let expected = searched(&board, &mut fair, 3, 6, flow);
        let high = join(&mut board, &mut fair, flow);
        let rule =
            "high intensity goes where it is fairest among the high, unless its flow is the worst off and fairness low";
        assert_eq!(place(&board, high), expected, "{rule}; mean slowdowns {means:?}, flow {flow}; {}", words(&board));
        assert_eq!(board.txn(high).tag & (tag::HIGH | tag::BARRIER), tag::HIGH);
    }
}

/// A-FLN-07.
#[test]
fn step_2b_of_the_model() {
    let worst = |flow| [(C, 5), (flow, 10)];
    let literal = Settings { barrier: false, ..DECIDED };
    for (settings, flow, expected) in [(DECIDED, E, 3), (DECIDED, D, 5), (literal, D, 3)] {
        let (mut board, mut fair, _) = six(settings);
        departed(&mut fair, &worst(flow));
        // The order within the high ones is by arrival here, as the statement has it.
        let high: Vec<FlowId> = board.walk(READS).skip(3).map(|txn| board.txn(txn).flow).collect();
        assert_eq!(high, [C, D, C].map(FlowId));
        let moved = join(&mut board, &mut fair, flow);
        let rule = "the worst-off flow goes to the front of the high, behind its own and behind barriers, if these bar";
        assert_eq!(place(&board, moved), expected, "{rule} ({}); flow {flow}; {}", settings.barrier, words(&board));
        let barrier = if settings.barrier { tag::BARRIER } else { 0 };
        assert_eq!(board.txn(moved).tag, tag::HIGH | tag::JUMPED | barrier);
    }
    // Fairness of exactly 0.6: not below.
    let (mut board, mut fair, _) = six(DECIDED);
    departed(&mut fair, &[(C, 6), (E, 10)]);
    let expected = searched(&board, &mut fair, 3, 6, E);
    let stays = join(&mut board, &mut fair, E);
    let is = (place(&board, stays), board.txn(stays).tag & tag::BARRIER);
    assert_eq!(is, (expected, 0), "fairness of exactly the threshold is not below it; {}", words(&board));
}

/// A-FLN-07: t4 carries a barrier; the next goes behind it, and reordering does not cross it either.
#[test]
fn no_transaction_passes_a_barrier() {
    let (mut board, mut fair, queue) = six(DECIDED);
    queue[3..].iter().for_each(|&txn| leave(&mut board, &mut fair, txn));
    let tail = join(&mut board, &mut fair, D);
    departed(&mut fair, &[(D, 5), (C, 10)]);
    let barrier = join(&mut board, &mut fair, C);
    let rule = "nothing passes a barrier, and the worst-off flow goes right behind it";
    assert_eq!(
        [barrier, tail].map(|txn| place(&board, txn)),
        [3, 4],
        "the worst-off flow goes to the front; {}",
        words(&board)
    );
    departed(&mut fair, &[(D, 5), (C, 5), (E, 20)]);
    let moved = join(&mut board, &mut fair, E);
    assert_eq!([barrier, moved, tail].map(|txn| place(&board, txn)), [3, 4, 5], "{rule}; {}", words(&board));
    assert_eq!(fair.queues[0].iter().count() - fair.queues[0].open.len(), 5);
    departed(&mut fair, &[(D, 10), (C, 10), (E, 10)]);
    for _ in 0..20 {
        let other = join(&mut board, &mut fair, D);
        assert!(place(&board, other) >= 5, "{rule}; {}", words(&board));
    }
}

/// D-FLN-09: all of the run, or half after every epoch.
#[test]
fn averages_of_departed_transactions() {
    for (halve, mean) in [(false, 2), (true, 3)] {
        let (mut board, mut fair) = scene(Settings { halve, ..DECIDED });
        let wait = |board: &mut Board, fair: &mut Fair, from: u64, slowdown: u64| {
            at(board, from);
            let txn = join(board, fair, A);
            at(board, from + 100 * (slowdown - 1));
            leave(board, fair, txn);
        };
        // One slowed down 1 time in the first epoch, one 3 times in the second.
        wait(&mut board, &mut fair, 0, 1);
        wait(&mut board, &mut fair, 10_000_000, 3);
        let average = fair.record(READS, FlowId(A)).departed;
        let exactly = Mean::of(1, mean);
        assert!(
            !average.is_below(exactly, 1000) && !exactly.is_below(average, 1000),
            "averages are of the run, or halved in weight after every epoch if set: {halve}; {average:?} of 1 and 3"
        );
    }
}

/// D-FLN-09: halved for each epoch that has ended since the last update, in one update or in several.
#[test]
fn averages_halve_once_an_epoch() {
    for looks in [&[3][..], &[1, 2, 3], &[0, 0, 2, 2, 3, 3]] {
        let mut record = FlowRecord { departed: Mean::of(24, 240), ..FlowRecord::default() };
        looks.iter().for_each(|&epoch| record.age(epoch));
        assert_eq!(
            record.departed,
            Mean::of(3, 30),
            "an average is halved in weight once an epoch; looked at in {looks:?}"
        );
        record.age(5);
        assert_eq!(record.departed, Mean::default(), "an average of less than one transaction is none");
    }
}

/// A transaction that leaves its queue without service, replaced or moved to another unit, counts in no average, nor as waiting.
#[test]
fn withdrawn_transactions_count_in_no_average() {
    let (mut board, mut fair) = scene(DECIDED);
    let gone = join(&mut board, &mut fair, A);
    at(&mut board, 70);
    fair.departs(&board, gone, Departure::Withdrawn);
    board.unlink(gone).stage = Stage::Free;
    assert!(fair.record(READS, FlowId(A)).departed.is_none(), "what leaves without service counts in no average");
    let next = join(&mut board, &mut fair, A);
    assert_eq!(board.txn(next).isolated_latency.ns(), 100, "what leaves without service is not waited for alone");
}

/// The copy of the queue equals the queue, whatever joins and leaves.
#[test]
fn the_copy_equals_the_queue() {
    // Ten reads an epoch are many, and fairness is hardly ever enough.
    let intensity = Rule { epoch_ns: 10_000, limit: [4_096_000_000; 2], ..DECIDED.intensity };
    let (mut board, mut fair) = scene(Settings { intensity, threshold: 950, ..DECIDED });
    let mut random = Random(99);
    let mut die = |sides: u64| random.below(sides);
    for _ in 0..20_000 {
        board.now += Duration::from_ns(die(200));
        if die(2) == 0 || board.queue(flashlane_core::UnitId(0), QueueKind::Read(0)).len < 3 {
            join(&mut board, &mut fair, [A, B, C, C, C, D, D, E][die(8) as usize]);
        } else {
            let skip = if die(4) == 0 { die(3) as usize } else { 0 };
            let txn = board.walk(READS).nth(skip).expect("three wait");
            leave(&mut board, &mut fair, txn);
        }
        assert!(
            board.walk(READS).eq(fair.queues[0].iter().map(|e| e.txn)),
            "the copy equals the queue; {}",
            words(&board)
        );
        let high: Vec<bool> = board.walk(READS).map(|txn| board.txn(txn).tag & tag::HIGH != 0).collect();
        assert!(high.is_sorted(), "low intensity stands before high; {}", words(&board));
    }
    let jumped = board.txns.iter().filter(|txn| txn.tag & tag::JUMPED != 0).count();
    let barriers = board.txns.iter().filter(|txn| txn.tag & tag::BARRIER != 0).count();
    assert!(jumped > 100 && barriers > 10, "{jumped} jumped, {barriers} barriers");
}
