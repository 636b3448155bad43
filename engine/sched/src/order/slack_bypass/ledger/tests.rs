//! The ledger of long queues against the plain scan: the same places and the same slack in long random sequences.

use super::super::*;
use super::Ledger;
use crate::pick::testing::{board, program, read};
use alloc::vec::Vec;
use flashlane_core::decide::Departure;
use flashlane_core::{Lpn, UnitId};
use flashlane_testing::Random;

/// A board and the order that keeps it, driven as the device drives them.
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

    /// A transaction created, and in no queue yet.
    fn make(&mut self, write: bool, request: u32, lpn: u32, bytes: u32, slot: u8) -> TxnId {
        let id = if write { program(&mut self.board, slot, request) } else { read(&mut self.board, 0, slot, request) };
        self.board.unlink(id);
        let older = self.writes_of(lpn).last().copied().filter(|_| write);
        let transfer = self.board.facts.transfer(bytes);
        let txn = self.board.txn_mut(id);
        (txn.serial, txn.lpn, txn.transfer, txn.blocked_by) =
            (self.serials, Lpn(lpn), transfer, older.unwrap_or(TxnId::NONE));
        self.serials += 1;
        id
    }

    fn writes_of(&self, lpn: u32) -> Vec<TxnId> {
        let queue = self.queue(true);
        self.board.walk(queue).filter(|&id| self.board.txn(id).lpn.0 == lpn).collect()
    }

    fn queue(&self, write: bool) -> QueueId {
        let op = if write { FlashOp::Program } else { FlashOp::Read };
        self.board.queue_for(UnitId(0), op, 0)
    }

    fn enqueue(&mut self, id: TxnId, asked: bool) -> bool {
        let queue = self.board.txn(id).queue;
        let mut before = TxnId::NONE;
        if asked {
            let position = self.order.position(&self.board, id, queue);
            before = position.in_front_of;
            let mut passed = before;
            while passed.is_some() {
                let txn = self.board.txn_mut(passed);
                txn.slack -= position.charge;
                passed = txn.next;
            }
            self.board.txn_mut(id).tag = position.tag;
        }
        self.board.link(id, queue, before);
        before.is_some()
    }

    /// Transactions leave their queue; the order is notified of all before any is unlinked, as for a command. Returns their slack.
    fn leave(&mut self, ids: &[TxnId]) -> Vec<Duration> {
        for &id in ids {
            let owed = self.order.departs(&self.board, id, Departure::Dispatched);
            self.board.txn_mut(id).slack -= owed;
        }
        let slack = ids.iter().map(|&id| self.board.txn(id).slack).collect();
        for &id in ids {
            self.board.unlink(id);
        }
        slack
    }
}

/// What all that is compared must show.
const RULE: &str = "a queue in segments gives the places and the slack of a plain scan";

/// The same queue with a ledger and without one, side by side.
struct SideBySide {
    random: Random,
    /// With a ledger, and the plain scan.
    sides: [Side; 2],
    /// Writes that join when their siblings have their slack.
    late: Vec<TxnId>,
    jumped: u32,
    compared: usize,
}

impl SideBySide {
    fn new(seed: u64, long: u32) -> SideBySide {
        let sides = [Side::new(Some(Ledger::new(long))), Side::new(None)];
        SideBySide { random: Random(seed), sides, late: Vec::new(), jumped: 0, compared: 0 }
    }

    /// Creates the same transaction on both sides.
    fn make(&mut self, write: bool, request: u32, lpn: u32, bytes: u32, slot: u8) -> TxnId {
        let ids = self.sides.each_mut().map(|side| side.make(write, request, lpn, bytes, slot));
        assert_eq!(ids[0], ids[1]);
        ids[0]
    }

    /// It joins its queue, at the same place on both sides. Returns whether it passed any other.
    fn join(&mut self, id: TxnId, asked: bool) -> bool {
        let places = self.sides.each_mut().map(|side| side.enqueue(id, asked));
        assert_eq!(places[0], places[1], "{RULE}; whether one passes any");
        places[0]
    }

    /// A request of one to nine pages comes, some of them parts of pages, some written after a read of their page.
    fn arrive(&mut self, request: u32) -> Vec<TxnId> {
        let write = self.random.below(3) > 0;
        let mut pages = Vec::new();
        for _ in 0..1 + self.random.below(9) {
            let lpn = if write { self.random.below(400) as u32 } else { 10_000 };
            let bytes = if self.random.below(8) == 0 { 512 * self.random.below(9) as u32 } else { 4096 };
            let slot = self.random.below(4) as u8;
            let id = self.make(write, request, lpn, bytes, slot);
            if write && self.random.below(30) == 0 {
                self.late.push(id);
                let read = self.make(false, u32::MAX, lpn, bytes, slot);
                self.join(read, true);
                continue;
            }
            self.jumped += u32::from(self.join(id, true));
            pages.push(id);
        }
        pages
    }

    /// Its pages get the same estimates, and some slack: mostly large, so that many can be passed.
    fn give_slack(&mut self, request: u32, pages: &[TxnId]) {
        let estimates = self.sides.each_mut().map(|side| {
            let estimate = |&id| side.order.estimate(&side.board, id, RequestId(u64::from(request))).response();
            pages.iter().rev().map(estimate).collect::<Vec<_>>()
        });
        assert_eq!(estimates[0], estimates[1], "{RULE}; estimates of request {request}");
        for &id in pages {
            let few = self.random.below(4) == 0;
            let slack = Duration::from_ns(self.random.below(if few { 200_000 } else { 90_000_000 }));
            self.sides.iter_mut().for_each(|side| side.board.txn_mut(id).slack = slack);
        }
    }

    /// Sometimes a late sibling joins, or a transaction of another unit, for which the order is not asked.
    fn straggle(&mut self) {
        if !self.late.is_empty() && self.random.below(6) == 0 {
            let id = self.late.swap_remove(self.random.below(self.late.len() as u64) as usize);
            self.join(id, true);
        }
        if self.random.below(40) == 0 {
            let id = self.make(false, u32::MAX, 20_000, 4096, 0);
            self.join(id, false);
        }
    }

    /// Up to `most` commands of several leave, from the head or from the middle, with the same slack.
    fn depart(&mut self, most: u64) {
        for _ in 0..self.random.below(most) {
            let queue = self.sides[0].queue(self.random.below(3) > 0);
            let waiting: Vec<TxnId> = self.sides[0].board.walk(queue).collect();
            let middle = self.random.below(8) == 0;
            let from = if middle { self.random.below(waiting.len() as u64 + 1) as usize } else { 0 };
            let some = waiting[from..].iter().copied().filter(|_| self.random.below(2) == 0);
            let mut members: Vec<TxnId> = some.take(4).collect();
            members.reverse();
            let slacks = self.sides.each_mut().map(|side| side.leave(&members));
            assert_eq!(slacks[0], slacks[1], "{RULE}; slack of what leaves");
            self.compared += members.len();
        }
    }

    /// Both sides' queues are equal, and the ledger matches them: writes waiting, and whether a queue is cut up.
    fn compare(&mut self) -> (usize, bool) {
        let queues = |side: &Side| [0, 1].map(|op| side.board.walk(side.queue(op == 1)).collect::<Vec<_>>());
        let waiting = self.sides.each_ref().map(queues);
        assert_eq!(waiting[0], waiting[1], "{RULE}; what waits, from the head");
        let side = &mut self.sides[0];
        let ledger = side.order.ledger.as_mut().expect("the first side has one");
        ledger.check(&side.board);
        (waiting[0][1].len(), ledger.queues.iter().any(|line| line.last != super::tables::NONE))
    }
}

/// Long random sequences on queues of up to some hundreds that drain now and then, with hazards between writes of a page.
#[test]
fn the_ledger_equals_the_plain_scan() {
    for (seed, long) in [(1, 1), (2, 4), (3, 40), (4, super::LONG)] {
        let mut both = SideBySide::new(seed, long);
        let (mut kept, mut longest) = (0, 0);
        for request in 0..6_000u32 {
            let pages = both.arrive(request);
            both.give_slack(request, &pages);
            both.straggle();
            let drains = request % 1_500 > 1_300;
            both.depart(if drains { 60 } else { 3 });
            let (waiting, cut_up) = both.compare();
            longest = longest.max(waiting);
            kept += u32::from(cut_up);
        }
        let SideBySide { jumped, compared, .. } = both;
        assert!(jumped > 5_000 && compared > 10_000 && longest > 400, "{jumped} {compared} {longest}");
        assert!(kept > 1_000, "long {long}: kept at {kept} of 6,000 requests");
    }
}

impl Ledger {
    /// Every segment matches the queue, and no transaction in it has less slack than the segment says.
    fn check(&self, board: &Board) {
        for (queue, line) in self.queues.iter().enumerate().filter(|(_, line)| line.last != super::tables::NONE) {
            let waiting: Vec<TxnId> = board.walk(QueueId(queue as u32)).collect();
            let mut rest = &waiting[..];
            while rest.last().is_some_and(|&id| self.segment_of(id) == super::tables::NONE) {
                rest = &rest[..rest.len() - 1];
            }
            let (mut at, mut behind) = (line.last, super::tables::NONE);
            while at != super::tables::NONE {
                let segment = &self.segments[at as usize];
                let (ahead, own) = rest.split_at(rest.len() - segment.len as usize);
                assert_eq!(
                    (own.first(), own.last()),
                    (Some(&segment.first), Some(&segment.last)),
                    "segments are the queue, in order"
                );
                assert_eq!(segment.behind, behind);
                for &id in own {
                    let entry = self.entries[id.index()];
                    assert_eq!(entry.segment, at);
                    assert!(
                        board.txn(id).slack.ns().wrapping_sub(entry.owes) >= segment.least,
                        "none has less slack than its segment says"
                    );
                }
                (rest, behind, at) = (ahead, at, segment.ahead);
            }
            assert!(rest.is_empty());
        }
    }
}
