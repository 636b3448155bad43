//! Stage 1 against the model written plainly: which place, among which, at what slowdowns. The model reads the board and
//! shares the fractions of slowdowns, and nothing else, with the answer.

extern crate std;

use std::vec;
use std::vec::Vec;

use flashlane_core::board;
use flashlane_core::transaction::Transaction;

use super::tests::{A, B, C, D, DECIDED, E, READS, join, leave, place, scene, words};
use super::*;
use crate::flin::slowdown::Extremes;
use flashlane_testing::Random;

/// A mean of slowdowns: the model's own arithmetic, which the answer's integers are compared with.
#[expect(clippy::disallowed_types, reason = "a model in a test")]
type Float = f64;

/// What the plain model below keeps of a flow: slowdowns of its departed transactions.
#[derive(Clone, Default)]
struct Departed {
    count: u64,
    sum: Float,
}

/// The place of a new transaction by the specification, written plainly: every place open to it is tried, and for each the
/// slowdowns of all of its region are worked out from the head of the whole queue on (FLIN §5.1 to 5.3, D-FLN-07, 08).
/// `busy` is how long the chip is busy; `new` is `(flow, service, isolated, high)`.
fn plain_place(board: &Board, busy: u64, new: (u16, u64, u64, bool), worst: Option<u16>) -> usize {
    let (flow, service, isolated, high) = new;
    let waiting: Vec<&Transaction> = board.walk(READS).map(|txn| board.txn(txn)).collect();
    let is = |txn: &Transaction, bit: u8| txn.tag & bit != 0;
    let low_intensity = waiting.iter().filter(|txn| !is(txn, tag::HIGH)).count();
    let behind =
        |holds: &dyn Fn(&Transaction) -> bool| waiting.iter().rposition(|t| holds(t)).map_or(0, |last| last + 1);
    let open = low_intensity.max(behind(&|txn| is(txn, tag::BARRIER)));
    if high && worst == Some(flow) {
        return open.max(behind(&|txn| is(txn, tag::HIGH) && txn.flow.0 == flow));
    }
    let (from, to) = if high { (open, waiting.len()) } else { (0, low_intensity) };
    let extremes = |place: usize| {
        let mut wait = busy;
        let mut all = Extremes::NONE;
        for position in 0..=waiting.len() {
            let in_region = (from..=to).contains(&position);
            if position == place {
                wait += service;
                all = all.with(Slowdown::new(wait, isolated));
            }
            if let Some(txn) = waiting.get(position) {
                wait += board.facts.service_of(txn).ns();
                if in_region && position < to {
                    let since = (board.now - txn.enqueued).ns();
                    all = all.with(Slowdown::new(since + wait, isolated_ns(txn.isolated_latency)));
                }
            }
        }
        all
    };
    (from..=to).rev().fold(to, |best, place| if extremes(place).is_fairer_than(extremes(best)) { place } else { best })
}

/// The flow of high intensity with the worst slowdown while fairness is below 0.6, of those that have had transactions served.
fn plain_worst(departed: &[Departed], high: impl Fn(usize) -> bool) -> Option<u16> {
    let means = departed.iter().enumerate().filter(|(f, d)| d.count > 0 && high(*f));
    let means: Vec<(Float, usize)> = means.map(|(f, d)| (d.sum / d.count as Float, f)).collect();
    let (least, most) = means.iter().fold((Float::MAX, 0.0), |(l, m), mean| (mean.0.min(l), mean.0.max(m)));
    (means.len() > 1 && least / most < 0.6).then(|| means.iter().find(|m| m.0 == most).expect("one").1 as u16)
}

/// Draws whether the chip is idle, at work for a while, or at work with a program paused. Returns for how long it is busy, and which
/// case it is.
fn sample_chip(board: &mut Board, die: &mut impl FnMut(u64) -> u64) -> (u64, u64) {
    let (left, paused) = (die(3_000), die(3_000));
    let unit = &mut board.units[0];
    unit.command.lead = TxnId(0);
    unit.command.ends = board.now + Duration::from_ns(left);
    unit.paused.lead = TxnId::NONE;
    let kind = die(4);
    unit.service = if kind == 0 { board::Service::Idle } else { board::Service::Busy };
    if kind >= 2 {
        unit.paused.remaining = Duration::from_ns(paused);
        // While the suspend overhead runs it is on the board twice: in service and paused.
        unit.paused.lead = if kind == 2 { TxnId(0) } else { TxnId(1) };
    }
    ([0, left, 500 + paused, left + 500 + paused][kind as usize], kind)
}

/// How many times as long as alone a transaction takes that is dispatched now.
fn slowdown(board: &Board, txn: &Transaction) -> Float {
    let shared = (board.now - txn.enqueued).ns() + board.facts.service_of(txn).ns();
    shared as Float / txn.isolated_latency.ns() as Float
}

/// Stage 1 equals the plain model: reads of many lengths, of flows of low and high intensity, with a busy, a paused or an idle
/// chip. What is before the region counts: the service of low intensity before that of high intensity, and the chip's.
#[test]
fn stage_1_equals_the_plain_model() {
    let intensity = Rule { epoch_ns: 40_000, limit: [409_600_000; 2], ..DECIDED.intensity };
    let (mut board, mut fair) = scene(Settings { intensity, ..DECIDED });
    (board.facts.resume, board.facts.suspend) = (Duration::from_ns(500), Duration::from_ns(70));
    let mut random = Random(2018);
    let mut die = |sides: u64| random.below(sides);
    let mut departed = vec![Departed::default(); 5];
    // Reads of each flow in this epoch, and whether the last one had four or more (4 KiB at 409.6 MB/s for 40 us).
    let (mut epoch, mut counts, mut high) = (0, [0u32; 5], [false; 5]);
    let (mut seen, mut jumped, mut worst_off) = ([0; 2], 0, 0);
    for _ in 0..30_000 {
        board.now += Duration::from_ns(die(2_000));
        while epoch < board.now.ns() / 40_000 {
            high = counts.map(|count| count >= 4);
            (counts, epoch) = ([0; 5], epoch + 1);
        }
        if die(5) < 2 && board.queues[0].len > 0 {
            let skip = die(u64::from(board.queues[0].len)).min(die(4)) as usize;
            let gone = board.walk(READS).nth(skip).expect("it waits");
            if die(6) == 0 {
                // A younger write replaces it: it counts in no average.
                fair.departs(&board, gone, Departure::Withdrawn);
                board.unlink(gone).stage = flashlane_core::transaction::Stage::Free;
                continue;
            }
            let txn = board.txn(gone);
            let record = &mut departed[txn.flow.index()];
            (record.count, record.sum) = (record.count + 1, record.sum + slowdown(&board, txn));
            leave(&mut board, &mut fair, gone);
            continue;
        }
        if board.queues[0].len > 25 {
            continue;
        }
        let (busy, kind) = sample_chip(&mut board, &mut die);
        let flow = [A, B, C, C, C, D, D, E][die(8) as usize];
        // A flow of short reads among long ones is slowed down most.
        let lengths = if flow == C { [25, 25, 25, 400] } else { [400, 1_000, 2_000, 2_000] };
        board.facts.transfer_sectors = vec![Duration::from_ns(lengths[die(4) as usize]); 9];
        let service = 75 + board.facts.transfer(0).ns();
        let own = board.walk(READS).map(|txn| board.txn(txn)).filter(|txn| txn.flow.0 == flow);
        let newest = own
            .max_by_key(|txn| txn.serial)
            .map_or(0, |txn| (txn.enqueued + txn.isolated_latency).since(board.now).ns());
        let is_high = high[usize::from(flow)];
        let worst = plain_worst(&departed, |f| high[f]);
        counts[usize::from(flow)] += 1;
        let expected = plain_place(&board, busy, (flow, service, service + newest, is_high), worst);
        let tail = board.queues[0].len as usize;
        let txn = join(&mut board, &mut fair, flow);
        assert_eq!(
            place(&board, txn),
            expected,
            "a transaction stands where the least and the most slowed down of its intensity are nearest, what is \
             before them and the chip counted; flow {flow}, high: {is_high}, chip: {kind}; {}",
            words(&board)
        );
        assert_eq!(
            (board.txn(txn).tag & tag::HIGH != 0, board.txn(txn).isolated_latency.ns()),
            (is_high, service + newest),
            "intensity is that of the epoch before, and alone one waits for the newest of its flow; flow {flow}"
        );
        let barrier = is_high && worst == Some(flow) && expected < tail;
        assert_eq!(board.txn(txn).tag & tag::BARRIER != 0, barrier, "what passed nobody bars nobody");
        seen[usize::from(is_high)] += 1;
        jumped += u32::from(expected < tail);
        worst_off += u32::from(is_high && worst == Some(flow));
    }
    assert!(seen[0] > 1_000 && seen[1] > 1_000 && jumped > 1_000 && worst_off > 300, "{seen:?} {jumped} {worst_off}");
}
