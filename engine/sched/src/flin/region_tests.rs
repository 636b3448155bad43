//! The fairest place against the model, against brute force, and of blocks against a visit to every transaction.

extern crate std;

use std::vec::Vec;

use super::*;
use crate::flin::slowdown::Slowdown;
use flashlane_testing::Random;

fn entry(txn: u32, flow: u16, enqueued: u64, service: u64, isolated: u64) -> Entry {
    Entry { enqueued, service, isolated, txn: TxnId(txn), flow: FlowId(flow), barrier: false }
}

fn view(now: u64, ahead: u64) -> View {
    View { now: Time::from_ns(now), ahead }
}

/// The extremes of all slowdowns in `order`, first to last.
fn extremes(view: View, order: &[Entry]) -> Extremes {
    let mut wait = view.ahead;
    order.iter().fold(Extremes::NONE, |extremes, entry| {
        wait += entry.service;
        extremes.with(Slowdown::new(view.now.ns() - entry.enqueued + wait, entry.isolated))
    })
}

/// `region` with `new` at `place`.
fn with(region: &[Entry], new: Entry, place: usize) -> Vec<Entry> {
    let mut order = region.to_vec();
    order.insert(place, new);
    order
}

/// Computes all slowdowns anew for every place; the last of equals.
fn by_force(view: View, region: &[Entry], new: Entry) -> usize {
    let mut best = region.len();
    for place in (0..region.len()).rev() {
        if extremes(view, &with(region, new, place)).is_fairer_than(extremes(view, &with(region, new, best))) {
            best = place;
        }
    }
    best
}

/// A-FLN-04 (eq. 5): a write at the fourth place. It waits 300 + 40 + 3 x 1325 = 4315 and takes 5640 in all.
#[test]
fn shared_time_of_the_model() {
    let write = entry(4, 0, 700, 1325, 2650);
    assert_eq!(write.slowdown(1000 + 40 + 3 * 1325), Slowdown::new(5640, 2650));
}

/// A-FLN-05.
#[test]
fn two_passes_on_the_worked_example() {
    let scene = view(1000, 50);
    let new = entry(9, 9, 1000, 100, 100);
    for (first, fairness, place) in [(100, [1644, 2143, 3760, 2686], 1), (300, [1644, 2143, 3333, 6267], 0)] {
        let region = [entry(1, 1, 900, 100, first), entry(2, 2, 950, 100, 400), entry(3, 3, 980, 100, 500)];
        for (from_tail, expected) in fairness.into_iter().enumerate() {
            let order = with(&region, new, region.len() - from_tail);
            assert_eq!(extremes(scene, &order).fairness(), expected, "place {from_tail} from the tail");
        }
        assert_eq!(fairest_place(scene, &region, &new, &mut Vec::new()), place);
        assert_eq!(by_force(scene, &region, new), place);
    }
}

/// The place two passes find is the one that brute force finds, on 10,000 random regions.
#[test]
fn two_passes_equal_brute_force() {
    let mut random = Random(7);
    let mut prefix = Vec::new();
    let mut places = [0u32; 3];
    for round in 0..10_000 {
        let now = 1_000_000;
        let sample = |random: &mut Random, txn| {
            // A few distinct values make ties likely in half of the rounds.
            let step = if round % 2 == 0 { 100_000 } else { 1 };
            let times = [0, 1].map(|_| random.upto(1_000_000 / step) * step);
            let service = [75_000, 100_000, 1_325_000][random.upto(2) as usize];
            entry(txn, random.upto(3) as u16, now - times[0], service, service + times[1])
        };
        let n = random.upto(if round % 10 == 0 { 150 } else { 12 }) as u32;
        let region: Vec<Entry> = (0..n).map(|txn| sample(&mut random, txn)).collect();
        let new = Entry { enqueued: now, ..sample(&mut random, n) };
        let scene = view(now, random.upto(2_000_000));
        let place = fairest_place(scene, &region, &new, &mut prefix);
        assert_eq!(place, by_force(scene, &region, new), "round {round}: {region:?} {new:?}");
        places[if place == region.len() { 0 } else { 1 + usize::from(place == 0) }] += 1;
    }
    assert!(places.iter().all(|&count| count > 500), "tail, middle and head all occur: {places:?}");
}

/// A region in blocks finds the place that a visit to every transaction finds, while it grows to thousands, is drained from its
/// head and elsewhere, and the chip's plans change; whether slowdowns repeat or not, and whether alone times grow along the queue.
#[test]
fn blocks_equal_a_visit_to_every_transaction() {
    let mut random = Random(2018);
    let (mut space, mut prefix) = (Space::default(), Vec::new());
    let (mut moved, mut blocks, mut enveloped) = (0u32, 0, 0);
    for round in 0..6 {
        let mut region = Region::new();
        let mut plain: Vec<Entry> = Vec::new();
        let (mut now, mut ahead) = (1_000_000u64, 500_000u64);
        for txn in 0..4_000u32 {
            now += random.upto(20_000);
            ahead = (ahead + random.upto(30_000)).saturating_sub(random.upto(30_000));
            let service = [75_000, 100_000, 1_325_000][random.upto(2) as usize];
            let isolated = match round % 3 {
                0 => service + random.upto(3) * 500_000,
                1 => service + random.upto(1_000_000_000),
                // As of one flow that waits for itself.
                _ => service + region.service() + random.upto(1_000),
            };
            let new = entry(txn, random.upto(3) as u16, now, service, isolated.max(1));
            let scene = view(now, ahead);
            let place = region.fairest_place(scene, &new, &mut space);
            assert_eq!(place, fairest_place(scene, &plain, &new, &mut prefix), "round {round}, {txn}");
            moved += u32::from(place < plain.len());
            let behind = plain.get(place).map(|behind| behind.txn);
            plain.insert(place, new);
            assert_eq!(region.insert(place, new), behind);
            // It grows, stays, and is drained.
            let leave = [random.upto(3) / 3, random.upto(2), random.upto(3)][(txn as usize / 500 + round) % 3];
            for _ in 0..leave.min(plain.len() as u64) {
                let most = plain.len() as u64 - 1;
                let place = if random.upto(3) == 0 { random.upto(most) } else { 0 } as usize;
                region.remove(plain.remove(place).txn);
            }
            blocks = blocks.max(region.blocks.len());
            enveloped = enveloped.max(region.blocks.iter().filter(|block| block.has_envelope()).count());
        }
        assert!(region.iter().map(|e| e.txn).eq(plain.iter().map(|e| e.txn)));
        assert_eq!(region.service(), plain.iter().map(|e| e.service).sum::<u64>());
    }
    assert!(moved > 2_000 && blocks > 8 && enveloped > 4, "{moved} {blocks} {enveloped}");
}
