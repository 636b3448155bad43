//! What a device counts is what its events say, under every scheduler of the catalogue; what happened before the run counts for nothing;
//! and an order decision that asks for the ends of transactions is told of each.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::common::play::{Mix, TestRequest, asks, hand_over};
use crate::common::{drain, recipe, table1};
use flashlane_core::decide::{Needs, Order, OrderDeclares, Position, Question, Scheduler};
use flashlane_core::event::{End, Event};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Lpn, Owner, PlaneId, QueueId, Time, TxnId};
use flashlane_sched::catalogue::{Recipe, build, schedulers};
use flashlane_ssd::config::{Config, Precondition, Victim};
use flashlane_ssd::{Device, EraseCounts, Totals};
use rand_pcg::Pcg64Mcg;

/// A full drive of two channels by two chips, small enough that garbage is collected within a few hundred writes.
fn config() -> Config {
    let mut config = table1(2, 2);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (24, 16);
    config.ftl.logical_pages = config.geometry.planes() * 19 * 16;
    config.precondition = Precondition::Steady;
    config
}

/// Reads and overwrites, faster than they can be done at times.
fn load(config: &Config) -> Vec<TestRequest> {
    let mix = Mix { requests: 900, gap: 500_000, reads: 40, pages: 6, hot: 60, partial: 0, scattered: 20 };
    asks(config, &mix, &mut Pcg64Mcg::new(11))
}

/// Plays `asks`; the events and the totals.
fn played(config: &Config, scheduler: Scheduler, asks: &[TestRequest]) -> (Vec<Event>, Totals) {
    let mut device = Device::new(config, scheduler).expect("a legal device");
    device.report_events();
    for (id, ask) in asks.iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        hand_over(&mut device, id as u64, ask);
    }
    drain(&mut device);
    (device.events().drain(..).map(|stamped| stamped.event).collect(), device.totals())
}

/// The counts of the totals, from the events alone. `draws`: whether writes get their unit at dispatch, which is reported as a move.
fn counted(events: &[Event], draws: bool) -> Totals {
    let mut made: BTreeMap<u64, (FlashOp, Owner)> = BTreeMap::new();
    let mut commands: BTreeMap<u64, (FlashOp, Owner, u64)> = BTreeMap::new();
    // The reads of hosts that have not ended and follow their page, with their plane.
    let mut reads: BTreeMap<u64, (Lpn, PlaneId)> = BTreeMap::new();
    let mut t = Totals::default();
    for event in events {
        match *event {
            Event::Queued { txn, op, owner, lpn, plane, .. } => {
                made.insert(txn, (op, owner));
                if (op, owner) == (FlashOp::Read, Owner::User) {
                    reads.insert(txn, (lpn, plane));
                }
            }
            Event::Mapped { lpn, plane, .. } => {
                let before = reads.len();
                reads.retain(|_, &mut (page, at)| page != lpn || at == plane);
                t.kept_reads += (before - reads.len()) as u64;
            }
            Event::Dispatched { txn, command, .. } => {
                let (op, owner) = made[&txn];
                commands.entry(command).or_insert((op, owner, 0)).2 += 1;
            }
            Event::PageFromMemory { .. } => t.pages_from_memory += 1,
            Event::Paused { .. } => t.pauses += 1,
            Event::Moved { txn, .. } => t.moved += u64::from(!draws && made[&txn].0 == FlashOp::Program),
            Event::Ended { txn, end: End::Flash, .. } => {
                t.transactions += 1;
                reads.remove(&txn);
            }
            Event::Ended { end: End::Cancelled, .. } => t.cancelled += 1,
            Event::Ended { end: End::Stale, .. } => t.stale_moves += 1,
            Event::VictimChosen { valid, .. } => {
                (t.victims, t.victim_valid) = (t.victims + 1, t.victim_valid + u64::from(valid))
            }
            Event::Erased { .. } => t.erases += 1,
            _ => {}
        }
    }
    for (op, owner, members) in commands.into_values() {
        match (owner, op) {
            (Owner::Gc, FlashOp::Program) => t.gc_programs += members,
            (Owner::Gc, _) => {}
            (_, op) => {
                t.user[op.index()] += members;
                t.user_programs += if op == FlashOp::Program { members } else { 0 };
                if members > 1 {
                    t.advanced[op.index()] += members;
                    t.advanced_commands[op.index()] += 1;
                }
            }
        }
    }
    t
}

#[test]
fn totals_are_what_the_events_say() {
    let config = config();
    let asks = load(&config);
    let (mut advanced, mut kept) = ([0; 2], 0);
    // Its answers are known only after a run of the baseline.
    let rows = schedulers().iter().filter(|entry| entry.name != "oracle-slack").map(|entry| recipe(entry.name, &[]));
    let rotating = Recipe { answers: vec![(Question::Place, "rotate".to_owned())], ..recipe("fcfs", &[]) };
    for row in rows.chain([rotating]) {
        let scheduler = build(&row).expect("a scheduler");
        let draws = scheduler.place.declares().binds_at_dispatch;
        let (events, totals) = played(&config, scheduler, &asks);
        let expected = Totals {
            now: totals.now,
            changes_waiting_writes: totals.changes_waiting_writes,
            free_page_stalls: totals.free_page_stalls,
            forced_batches: totals.forced_batches,
            late_erases: totals.late_erases,
            partial_reads: totals.partial_reads,
            unit_busy: totals.unit_busy.clone(),
            channel_busy: totals.channel_busy.clone(),
            transfers: totals.transfers,
            erase_counts: totals.erase_counts,
            blocks: totals.blocks,
            ..counted(&events, draws)
        };
        assert_eq!(totals, expected, "{row:?}");
        assert_eq!(totals.erase_counts.sum, totals.erases, "{row:?}: every erase wears its block");
        assert!(totals.victim_valid > 0, "{row:?}: victims were chosen, some with valid pages");
        advanced = [0, 1].map(|op: usize| advanced[op] + totals.advanced_commands[op]);
        kept += totals.kept_reads;
    }
    assert!(advanced.iter().all(|&commands| commands > 100), "commands of several planes are rare: {advanced:?}");
    assert!(kept > 10, "{kept} reads kept an older copy");
}

/// Overwriting a drive before the run wears no block and collects nothing that counts.
#[test]
fn what_came_before_the_run_counts_for_nothing() {
    let mut config = config();
    config.precondition = Precondition::Replayed { percent: 150 };
    for victim in [Victim::Greedy, Victim::CostBenefit, Victim::Fifo] {
        config.gc.victim = victim;
        let device = Device::new(&config, build(&recipe("fcfs", &[])).expect("a scheduler")).expect("a legal device");
        let totals = device.totals();
        assert_eq!(totals.erase_counts, EraseCounts::default(), "{victim:?}");
        let nothing = Totals {
            unit_busy: totals.unit_busy.clone(),
            channel_busy: totals.channel_busy.clone(),
            blocks: totals.blocks,
            ..Totals::default()
        };
        assert_eq!(totals, nothing, "{victim:?}");
    }
}

/// Order of arrival, counting the ends it is told of.
struct Counting(Arc<AtomicU64>);

impl Order for Counting {
    fn declares(&self) -> OrderDeclares {
        OrderDeclares { is_tail: true, needs: Needs { ends: true, ..Needs::NOTHING }, ..OrderDeclares::ASK }
    }

    fn position(&mut self, _: &Board, _: TxnId, _: QueueId) -> Position {
        Position::TAIL
    }

    fn ended(&mut self, board: &Board, txn: TxnId) {
        assert_eq!(board.txn(txn).owner, Owner::User);
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn an_order_decision_is_told_of_every_end_it_asks_for() {
    let config = config();
    let ends_seen = Arc::new(AtomicU64::new(0));
    let mut scheduler = build(&recipe("fr-fcfs", &[])).expect("a scheduler");
    scheduler.order = Box::new(Counting(ends_seen.clone()));
    let (_, totals) = played(&config, scheduler, &load(&config));
    assert_eq!(ends_seen.load(Relaxed), totals.user[0] + totals.user[1]);
    assert!(ends_seen.load(Relaxed) > 900);
}
