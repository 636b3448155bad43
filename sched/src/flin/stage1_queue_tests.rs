//! Stage 1's queue against the model and against brute force.

extern crate std;

use std::vec::Vec;

use super::*;

fn entry(txn: u32, flow: u16, enqueued: u64, service: u64, alone: u64) -> Entry {
    Entry { enqueued, service, alone, txn: TxnId(txn), flow: FlowId(flow), barrier: false }
}

fn view(now: u64, ahead: u64) -> View {
    View { now: Time::from_ns(now), ahead }
}

/// The extremes of all slowdowns in `order`, first to last.
fn extremes(view: View, order: &[Entry]) -> Extremes {
    let mut wait = view.ahead;
    order.iter().fold(Extremes::NONE, |extremes, entry| {
        wait += entry.service;
        extremes.with(Slowdown::new(view.now.ns() - entry.enqueued + wait, entry.alone))
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
    let slowdown = write.slowdown(1000, 40 + 3 * 1325);
    assert_eq!((slowdown, slowdown.ten_thousandths()), (Slowdown::new(5640, 2650), 21_283));
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

struct Random(u64);

impl Random {
    fn upto(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % (most + 1)
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
        let draw = |random: &mut Random, txn| {
            // A few distinct values make ties likely in half of the rounds.
            let step = if round % 2 == 0 { 100_000 } else { 1 };
            let times = [0, 1].map(|_| random.upto(1_000_000 / step) * step);
            let service = [75_000, 100_000, 1_325_000][random.upto(2) as usize];
            entry(txn, random.upto(3) as u16, now - times[0], service, service + times[1])
        };
        let n = random.upto(if round % 10 == 0 { 150 } else { 12 }) as u32;
        let region: Vec<Entry> = (0..n).map(|txn| draw(&mut random, txn)).collect();
        let new = Entry { enqueued: now, ..draw(&mut random, n) };
        let scene = view(now, random.upto(2_000_000));
        let place = fairest_place(scene, &region, &new, &mut prefix);
        assert_eq!(place, by_force(scene, &region, new), "round {round}: {region:?} {new:?}");
        places[if place == region.len() { 0 } else { 1 + usize::from(place == 0) }] += 1;
    }
    assert!(places.iter().all(|&count| count > 500), "tail, middle and head all occur: {places:?}");
}

/// The queue keeps order, the border of intensities and the barriers as a plain list does.
#[test]
fn the_queue_equals_a_plain_list() {
    let mut random = Random(3);
    let mut queue = Stage1Queue::new();
    let mut plain: Vec<(Entry, bool)> = Vec::new();
    for txn in 0..50_000u32 {
        let low = random.upto(2) == 0;
        let low_intensity = plain.iter().filter(|(_, low)| *low).count();
        let open = plain.iter().rposition(|(e, _)| e.barrier).map_or(0, |last| last + 1).max(low_intensity);
        assert_eq!((queue.low_intensity(), queue.open()), (low_intensity, open));
        let mut new = entry(txn, random.upto(3) as u16, 0, 1, 1);
        new.barrier = !low && random.upto(5) == 0;
        let (first, last) = if low { (0, low_intensity) } else { (open, plain.len()) };
        let place = first + random.upto((last - first) as u64) as usize;
        let before = plain.get(place).map_or(TxnId::NONE, |(e, _)| e.txn);
        plain.insert(place, (new, low));
        assert_eq!(queue.insert(place, new, low), before);
        let own = plain.iter().rposition(|(e, low)| !low && e.flow.0 == 2).map_or(0, |last| last + 1);
        let open = plain.iter().rposition(|(e, _)| e.barrier).map_or(0, |last| last + 1);
        assert_eq!(queue.front_of_high(FlowId(2)), own.max(open).max(queue.low_intensity()));
        // The queue grows and shrinks in turn; most leave at the head.
        let leave = if txn / 500 % 2 == 0 { random.upto(1) } else { random.upto(3) };
        for _ in 0..leave.min(plain.len() as u64) {
            let most = plain.len() as u64 - 1;
            let place = (if random.upto(3) == 0 { random.upto(most) } else { 0 }) as usize;
            queue.remove(plain.remove(place).0.txn);
        }
        assert!(queue.waiting().iter().map(|e| e.txn).eq(plain.iter().map(|(e, _)| e.txn)));
    }
}
