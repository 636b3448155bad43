//! What a device counts is what its events say, under every scheduler of the catalogue; what happened before the run counts for nothing;
//! and an order decision that asks for the ends of transactions is told of each.

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use common::play::{Ask, Mix, asks, hand_over};
use common::{drain, recipe, table1};
use flashlane_core::decide::{Needs, Order, Position, Scheduler};
use flashlane_core::event::{End, Event};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, Owner, QueueId, Time, TxnId};
use flashlane_sched::catalogue::{build, schedulers};
use flashlane_ssd::config::{Config, Precondition, Victim};
use flashlane_ssd::{Device, Totals};
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
fn load(config: &Config) -> Vec<Ask> {
    let mix = Mix { requests: 900, gap: 500_000, reads: 40, pages: 6, hot: 20, partial: 0, scattered: 20 };
    asks(config, &mix, &mut Pcg64Mcg::new(11))
}

/// Plays `asks`; the events and the totals.
fn played(config: &Config, scheduler: Scheduler, asks: &[Ask]) -> (Vec<Event>, Totals) {
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
    let mut t = Totals::default();
    for event in events {
        match *event {
            Event::Queued { txn, op, owner, .. } => {
                made.insert(txn, (op, owner));
            }
            Event::Dispatched { txn, command, .. } => {
                let (op, owner) = made[&txn];
                commands.entry(command).or_insert((op, owner, 0)).2 += 1;
            }
            Event::PageFromMemory { .. } => t.pages_from_memory += 1,
            Event::Paused { .. } => t.pauses += 1,
            Event::Moved { txn, .. } => t.moved += u64::from(!draws && made[&txn].0 == FlashOp::Program),
            Event::Ended { end: End::Flash, .. } => t.transactions += 1,
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
    let mut advanced = [0; 2];
    // Its answers are known only after a run of the baseline.
    for entry in schedulers().iter().filter(|entry| entry.name != "oracle-slack") {
        let scheduler = build(&recipe(entry.name, &[])).expect("a scheduler");
        let draws = scheduler.place.binds_at_dispatch();
        let (events, totals) = played(&config, scheduler, &asks);
        let expected = Totals {
            now: totals.now,
            changes_waiting_writes: totals.changes_waiting_writes,
            room_stalls: totals.room_stalls,
            forced_batches: totals.forced_batches,
            partial_reads: totals.partial_reads,
            unit_busy: totals.unit_busy.clone(),
            channel_busy: totals.channel_busy.clone(),
            transfers: totals.transfers,
            erase_counts: totals.erase_counts,
            blocks: totals.blocks,
            ..counted(&events, draws)
        };
        assert_eq!(totals, expected, "{}", entry.name);
        assert_eq!(totals.erase_counts.2, totals.erases, "{}: every erase wears its block", entry.name);
        assert!(totals.victim_valid > 0, "{}: victims were chosen, some with valid pages", entry.name);
        advanced = [0, 1].map(|op: usize| advanced[op] + totals.advanced_commands[op]);
    }
    assert!(advanced.iter().all(|&commands| commands > 100), "commands of several planes are rare: {advanced:?}");
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
        assert_eq!(totals.erase_counts, (0, 0, 0), "{victim:?}");
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
    fn position(&mut self, _: &Board, _: TxnId, _: QueueId) -> Position {
        Position::TAIL
    }

    fn is_tail(&self) -> bool {
        true
    }

    fn needs(&self) -> Needs {
        Needs { ends: true, ..Needs::NOTHING }
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
