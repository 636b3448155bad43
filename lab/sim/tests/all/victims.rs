//! When and where garbage collection runs: the blocks it chooses under every policy, checked by the auditor, and the
//! thresholds of free blocks, from the event stream.

use std::collections::BTreeMap;

use crate::common::play::{self, Mix, asks};
use crate::common::{recipe, table1};
use flashlane_core::decide::Question;
use flashlane_core::event::Event;
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Owner, PlaneId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::{Config, FlowConfig, Precondition, Victim};
use rand_pcg::Pcg64Mcg;

/// One chip of two planes in steady state, overwritten unevenly.
fn worn(victim: Victim, start_blocks: u32) -> Config {
    let mut config = table1(1, 1);
    (config.geometry.blocks_per_plane, config.geometry.pages_per_block) = (40, 16);
    config.ftl.logical_pages = config.geometry.planes() * 16 * 30;
    config.gc.victim = victim;
    config.gc.start_blocks = start_blocks;
    config.precondition = Precondition::Steady;
    config
}

/// The auditor checks every choice of a victim (fewest valid pages; full for longest; best benefit by age), and that no
/// plane is collected too early or too late.
#[test]
fn every_policy_chooses_the_block_it_says() {
    let mut moves = BTreeMap::new();
    for (name, victim) in [
        ("greedy", Victim::Greedy),
        ("random", Victim::Random),
        ("d-choices", Victim::DChoices(5)),
        ("fifo", Victim::Fifo),
        ("cost-benefit", Victim::CostBenefit),
    ] {
        for (scheduler, start_blocks, separate) in [("fr-fcfs", 2, true), ("flin", 4, false), ("dynalloc", 3, true)] {
            let mut config = worn(victim, start_blocks);
            config.gc.separate_frontier = separate;
            let mix = Mix { requests: 2500, gap: 4_000_000, reads: 10, pages: 3, hot: 50, partial: 0, scattered: 40 };
            let asks = asks(&config, &mix, &mut Pcg64Mcg::new(31));
            let outcome = play::audit(&config, &recipe(scheduler, &[]), &asks);
            let (played, _) = outcome.unwrap_or_else(|why| panic!("{name} under {scheduler}: {why}"));
            assert!(
                played.totals.victims > 100,
                "{name} under {scheduler}: {} victims are too few",
                played.totals.victims
            );
            *moves.entry(name).or_insert(0) += played.totals.gc_programs;
        }
    }
    assert!(moves["greedy"] < moves["d-choices"] && moves["d-choices"] < moves["random"], "{moves:?}");
}

/// What waits at a chip, and the state of its planes, from the events.
#[derive(Default)]
struct Chip {
    gc: u32,
    reads: u32,
    /// Owner and operation of each waiting transaction.
    txns: BTreeMap<u64, (Owner, FlashOp)>,
    /// Written pages by plane and block; planes with a victim.
    written: BTreeMap<(PlaneId, u32), u32>,
    collecting: BTreeMap<PlaneId, bool>,
    command: Option<u64>,
}

impl Chip {
    /// Fewest free blocks of a plane that is being collected.
    fn fewest(&self) -> Option<u32> {
        let free = |plane: PlaneId| self.written.iter().filter(|((p, _), n)| *p == plane && **n == 0).count() as u32;
        self.collecting.iter().filter(|(_, is)| **is).map(|(&plane, _)| free(plane)).min()
    }

    fn leaves(&mut self, txn: u64) -> Option<(Owner, FlashOp)> {
        let (owner, op) = self.txns.remove(&txn)?;
        self.gc -= u32::from(owner == Owner::Gc);
        self.reads -= u32::from(owner != Owner::Gc && op == FlashOp::Read);
        Some((owner, op))
    }
}

/// A victim is finished before the next is begun: no page is read to be moved while another one waits to be programmed, or an emptied
/// block to be erased. (A block that the instant's own dropped moves have emptied may wait.)
#[test]
fn a_victim_is_finished_before_the_next_is_begun() {
    let config = worn(Victim::Greedy, 3);
    let mix = Mix { requests: 3000, gap: 1_500_000, reads: 20, pages: 2, hot: 0, partial: 0, scattered: 50 };
    let (mut device, _) = play::built(&config, &recipe("fr-fcfs", &[])).expect("legal");
    device.report_events();
    for (id, ask) in asks(&config, &mix, &mut Pcg64Mcg::new(33)).iter().enumerate() {
        device.advance(Time::from_ns(ask.at));
        play::hand_over(&mut device, id as u64, ask);
    }
    crate::common::drain(&mut device);
    let mut waiting: BTreeMap<u64, (FlashOp, Time)> = BTreeMap::new();
    let mut erased_before_reads = 0;
    for stamped in device.events().drain(..) {
        match stamped.event {
            Event::Queued { txn, owner: Owner::Gc, op, .. } => drop(waiting.insert(txn, (op, stamped.at))),
            Event::Ended { txn, .. } => drop(waiting.remove(&txn)),
            Event::Dispatched { txn, .. } => {
                let Some((op, _)) = waiting.remove(&txn) else { continue };
                let waits = |is: FlashOp| waiting.values().any(|&(op, since)| op == is && since < stamped.at);
                let goes_first = op == FlashOp::Read && (waits(FlashOp::Program) || waits(FlashOp::Erase));
                assert!(!goes_first, "a read at {} goes before {waiting:?}", stamped.at);
                erased_before_reads += u32::from(op == FlashOp::Erase && waits(FlashOp::Read));
            }
            _ => {}
        }
    }
    assert!(erased_before_reads > 10, "{erased_before_reads}");
}

/// Semi-preemptive collection goes before a waiting read if a collected plane has at most as many free blocks as the
/// hard threshold, and otherwise after it; tested on both sides of the threshold.
#[test]
fn reads_and_collection_by_the_hard_threshold() {
    for (start_blocks, hard) in [(3, 1), (5, 2), (5, 3), (6, 5)] {
        let mut config = worn(Victim::Greedy, start_blocks);
        config.gc.hard_blocks = hard;
        config.flows = vec![FlowConfig::at_priority(0)];
        let recipe =
            Recipe { answers: vec![(Question::Collect, "semi-preemptive".to_owned())], ..recipe("read-first", &[]) };
        let mix = Mix { requests: 3000, gap: 1_500_000, reads: 55, pages: 2, hot: 0, partial: 0, scattered: 50 };
        let asks = asks(&config, &mix, &mut Pcg64Mcg::new(32));
        let (mut device, _) = play::built(&config, &recipe).expect("legal");
        device.report_events();
        let mut chip = Chip::default();
        for plane in (0..config.geometry.planes() as u16).map(PlaneId) {
            for block in 0..config.geometry.blocks_per_plane {
                chip.written.insert((plane, block), device.written_in(plane, block));
            }
        }
        // How often each went first at a number of free blocks: [collection, reads].
        let mut first: BTreeMap<u32, [u32; 2]> = BTreeMap::new();
        for (id, ask) in asks.iter().enumerate() {
            device.advance(Time::from_ns(ask.at));
            play::hand_over(&mut device, id as u64, ask);
        }
        crate::common::drain(&mut device);
        for stamped in device.events().drain(..) {
            match stamped.event {
                Event::Queued { txn, owner, op, .. } => {
                    chip.gc += u32::from(owner == Owner::Gc);
                    chip.reads += u32::from(owner != Owner::Gc && op == FlashOp::Read);
                    chip.txns.insert(txn, (owner, op));
                }
                Event::Dispatched { txn, command, .. } => {
                    let begins = chip.command.replace(command) != Some(command);
                    let (gc, reads, fewest) = (chip.gc, chip.reads, chip.fewest());
                    let (owner, op) = chip.leaves(txn).expect("queued");
                    // A program has already changed its plane.
                    if let Some(free) = fewest.filter(|_| begins && gc > 0 && reads > 0 && op != FlashOp::Program) {
                        first.entry(free).or_default()[usize::from(owner != Owner::Gc)] += 1;
                        let expected = if free <= hard { Owner::Gc } else { Owner::User };
                        assert_eq!(owner, expected, "{free} blocks free, hard threshold {hard}, at {}", stamped.at);
                    }
                }
                Event::Ended { txn, .. } => drop(chip.leaves(txn)),
                Event::VictimChosen { plane, .. } => drop(chip.collecting.insert(plane, true)),
                Event::Mapped { plane, ppa, .. } => {
                    *chip.written.get_mut(&(plane, ppa / 16)).expect("exists") += 1;
                }
                Event::Erased { plane, block } => {
                    chip.written.insert((plane, block), 0);
                    chip.collecting.insert(plane, false);
                }
                _ => {}
            }
        }
        let seen = |free: u32| first.get(&free).copied().unwrap_or_default();
        assert!(seen(hard)[0] > 20, "never at the threshold of {hard}: {first:?}");
        assert!(hard + 1 == start_blocks || seen(hard + 1)[1] > 20, "never above the threshold of {hard}: {first:?}");
    }
}
