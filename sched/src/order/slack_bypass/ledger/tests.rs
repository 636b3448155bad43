//! The ledger of long queues against the plain scan: the same places, the same slack, through a long random life of a queue.

use super::super::*;
use super::Ledger;
use crate::pick::testing::{board, program, read};
use alloc::vec::Vec;
use flashlane_core::decide::Departure;
use flashlane_core::{Lpn, UnitId};

/// A board and the order that keeps it, driven as the controller drives them.
struct Side {
    board: Board,
    order: SlackBypass,
    serials: u64,
}

impl Side {
    fn new(ledger: Option<Ledger>) -> Side {
        let mut board = board(2, 2);
        board.facts.transfer_sectors = (0..9).map(|s| Duration::from_us(s * 3)).collect();
        let order = SlackBypass {
            estimator: Estimator::new(crate::estimate::Options::default(), false),
            bypass: [true; 2],
            charge_reads: false,
            decision: Duration::ZERO,
            ledger,
            known: None,
        };
        Side { board, order, serials: 0 }
    }

    /// A transaction made, and in no queue yet.
    fn make(&mut self, write: bool, request: u32, lpn: u32, bytes: u32, slot: u8) -> TxnId {
        let id = if write { program(&mut self.board, slot, request) } else { read(&mut self.board, 0, slot, request) };
        self.board.unlink(id);
        self.board.units[0].user_waiting -= 1;
        let older = self.writes_of(lpn).last().copied().filter(|_| write);
        let txn = self.board.txn_mut(id);
        (txn.serial, txn.lpn, txn.bytes, txn.after) = (self.serials, Lpn(lpn), bytes, older.unwrap_or(TxnId::NONE));
        self.serials += 1;
        id
    }

    fn writes_of(&self, lpn: u32) -> Vec<TxnId> {
        let queue = self.queue(true);
        self.board.walk(queue).filter(|&id| self.board.txn(id).lpn.0 == lpn).collect()
    }

    fn queue(&self, write: bool) -> QueueId {
        let op = if write { FlashOp::Program } else { FlashOp::Read };
        self.board.queue_for(UnitId(0), flashlane_core::Owner::User, op, 0)
    }

    fn enqueue(&mut self, id: TxnId, asked: bool) -> bool {
        let queue = self.board.txn(id).queue;
        let mut before = TxnId::NONE;
        if asked {
            let position = self.order.position(&self.board, id, queue);
            before = position.before;
            let mut passed = before;
            while passed.is_some() {
                let txn = self.board.txn_mut(passed);
                txn.slack -= position.charge;
                passed = txn.next;
            }
            self.board.txn_mut(id).tag = position.tag;
        }
        self.board.link(id, queue, before);
        self.board.units[0].user_waiting += 1;
        before.is_some()
    }

    /// Leaves its queue: told of all before any is unlinked, as with the members of a command. Their slack.
    fn leave(&mut self, ids: &[TxnId]) -> Vec<Duration> {
        for &id in ids {
            let owed = self.order.departs(&self.board, id, Departure::Dispatched);
            self.board.txn_mut(id).slack -= owed;
        }
        let slack = ids.iter().map(|&id| self.board.txn(id).slack).collect();
        for &id in ids {
            self.board.unlink(id);
            self.board.units[0].user_waiting -= 1;
        }
        slack
    }
}

/// Requests of one to nine pages, some of them parts of pages, some with a sibling that comes late, hazards between
/// writes of a page, transactions that come from another unit unasked, commands of several leaving from anywhere near the
/// head, and from the middle; queues of up to some hundreds that drain now and then.
#[test]
fn the_ledger_is_the_plain_scan() {
    for (seed, long) in [(1, 1), (2, 4), (3, 40), (4, super::LONG)] {
        let mut x: u64 = seed;
        let mut draw = move |n: u64| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) % n
        };
        let mut sides = [Side::new(Some(Ledger::new(long))), Side::new(None)];
        let mut late: Vec<TxnId> = Vec::new();
        let (mut jumped, mut compared, mut kept, mut longest) = (0, 0, 0, 0);
        for request in 0..6_000u32 {
            let write = draw(3) > 0;
            let mut pages = Vec::new();
            for _ in 0..1 + draw(9) {
                let lpn = if write { draw(400) as u32 } else { 10_000 };
                let bytes = if draw(8) == 0 { 512 * draw(9) as u32 } else { 4096 };
                let slot = draw(4) as u8;
                let ids = sides.each_mut().map(|side| side.make(write, request, lpn, bytes, slot));
                assert_eq!(ids[0], ids[1]);
                if write && draw(30) == 0 {
                    // Its page is read first; it joins when its siblings have their slack.
                    late.push(ids[0]);
                    let ids = sides.each_mut().map(|side| side.make(false, u32::MAX, lpn, bytes, slot));
                    sides.iter_mut().for_each(|side| _ = side.enqueue(ids[0], true));
                    continue;
                }
                let places = sides.each_mut().map(|side| side.enqueue(ids[0], true));
                assert_eq!(places[0], places[1]);
                jumped += u32::from(places[0]);
                pages.push(ids[0]);
            }
            let estimates = sides.each_mut().map(|side| {
                let estimate = |&id| side.order.estimate(&side.board, id, RequestId(u64::from(request))).response();
                pages.iter().rev().map(estimate).collect::<Vec<_>>()
            });
            assert_eq!(estimates[0], estimates[1], "request {request}, long {long}");
            // Any slack will do; most of it is large, so that many can be passed.
            for &id in &pages {
                let slack = Duration::from_ns(if draw(4) == 0 { draw(200_000) } else { draw(90_000_000) });
                sides.iter_mut().for_each(|side| side.board.txn_mut(id).slack = slack);
            }
            if !late.is_empty() && draw(6) == 0 {
                let id = late.swap_remove(draw(late.len() as u64) as usize);
                let places = sides.each_mut().map(|side| side.enqueue(id, true));
                assert_eq!(places[0], places[1]);
            }
            if draw(40) == 0 {
                let ids = sides.each_mut().map(|side| side.make(false, u32::MAX, 20_000, 4096, 0));
                sides.iter_mut().for_each(|side| _ = side.enqueue(ids[0], false));
            }
            let drains = request % 1_500 > 1_300;
            for _ in 0..draw(if drains { 60 } else { 3 }) {
                let queue = sides[0].queue(draw(3) > 0);
                let waiting: Vec<TxnId> = sides[0].board.walk(queue).collect();
                let from = if draw(8) == 0 { draw(waiting.len() as u64 + 1) as usize } else { 0 };
                let mut members: Vec<TxnId> =
                    waiting[from..].iter().copied().filter(|_| draw(2) == 0).take(4).collect();
                members.reverse();
                let slacks = sides.each_mut().map(|side| side.leave(&members));
                assert_eq!(slacks[0], slacks[1], "request {request}, long {long}");
                compared += members.len();
            }
            let waiting =
                sides.each_ref().map(|side| [0, 1].map(|op| side.board.walk(side.queue(op == 1)).collect::<Vec<_>>()));
            assert_eq!(waiting[0], waiting[1], "request {request}, long {long}");
            longest = longest.max(waiting[0][1].len());
            let ledger = sides[0].order.ledger.as_mut().expect("the first side has one");
            kept += u32::from(ledger.queues.iter().any(|line| line.last != super::tables::NONE));
            ledger.check(&sides[0].board);
        }
        assert!(jumped > 5_000 && compared > 10_000 && longest > 400, "{jumped} {compared} {longest}");
        assert!(kept > 1_000, "long {long}: kept at {kept} of 6,000 requests");
    }
}

impl Ledger {
    /// Every stretch is what the queue says, and nobody in it has less than it says.
    fn check(&self, board: &Board) {
        for (queue, line) in self.queues.iter().enumerate().filter(|(_, line)| line.last != super::tables::NONE) {
            let waiting: Vec<TxnId> = board.walk(QueueId(queue as u32)).collect();
            let mut rest = &waiting[..];
            while rest.last().is_some_and(|&id| self.stretch_of(id) == super::tables::NONE) {
                rest = &rest[..rest.len() - 1];
            }
            let (mut at, mut behind) = (line.last, super::tables::NONE);
            while at != super::tables::NONE {
                let stretch = &self.stretches[at as usize];
                let (ahead, own) = rest.split_at(rest.len() - stretch.len as usize);
                assert_eq!((own.first(), own.last()), (Some(&stretch.first), Some(&stretch.last)));
                assert_eq!(stretch.behind, behind);
                for &id in own {
                    let entry = self.entries[id.index()];
                    assert_eq!(entry.stretch, at);
                    assert!(board.txn(id).slack.ns().wrapping_sub(entry.owes) >= stretch.least);
                }
                (rest, behind, at) = (ahead, at, stretch.ahead);
            }
            assert!(rest.is_empty());
        }
    }
}
