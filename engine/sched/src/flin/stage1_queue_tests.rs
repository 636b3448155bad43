//! Stage 1's queue against a plain list.

extern crate std;

use std::vec::Vec;

use super::*;
use flashlane_testing::Random;

fn entry(txn: u32, flow: u16) -> Entry {
    Entry { enqueued: 0, service: 1, isolated: 1, txn: TxnId(txn), flow: FlowId(flow), barrier: false }
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
        assert_eq!((queue.low.len(), queue.open.len()), (low_intensity, plain.len() - open));
        let mut new = entry(txn, random.upto(3) as u16);
        new.barrier = !low && random.upto(5) == 0;
        let (first, last) = if low { (0, low_intensity) } else { (open, plain.len()) };
        let place = first + random.upto((last - first) as u64) as usize;
        let before = plain.get(place).map_or(TxnId::NONE, |(e, _)| e.txn);
        plain.insert(place, (new, low));
        let inserted = if low { queue.insert_low(place, new) } else { queue.insert_open(place - first, new) };
        assert_eq!(inserted, before);
        let low_intensity = low_intensity + usize::from(low);
        let open = plain.iter().rposition(|(e, _)| e.barrier).map_or(0, |last| last + 1).max(low_intensity);
        let own = plain.iter().rposition(|(e, low)| !low && e.flow.0 == 2).map_or(0, |last| last + 1);
        assert_eq!(queue.front_of_open(FlowId(2)), own.max(open) - open);
        assert_eq!(queue.service_before_open(), open as u64);
        // The queue grows and shrinks in turn; most leave at the head.
        let leave = if txn / 500 % 2 == 0 { random.upto(1) } else { random.upto(3) };
        for _ in 0..leave.min(plain.len() as u64) {
            let most = plain.len() as u64 - 1;
            let place = (if random.upto(3) == 0 { random.upto(most) } else { 0 }) as usize;
            let (gone, low) = plain.remove(place);
            // One of low intensity may have been of high intensity in another queue.
            queue.remove(gone.txn, !low || random.upto(1) == 0);
        }
        assert!(queue.iter().map(|e| e.txn).eq(plain.iter().map(|(e, _)| e.txn)));
    }
}
