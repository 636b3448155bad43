//! Sprinkler: the largest multi-plane, multi-die group first (overlap depth), then transactions of one request
//! (connectivity), then age; reads before writes (FLIN §6, model 2.1.9; FARO of the HPCA 2014 paper).

use flashlane_core::decide::{Group, Pick, Scope};
use flashlane_core::transaction::FlashOp;
use flashlane_core::{Board, QueueId, TxnId, UnitId};

/// Largest group first.
#[derive(Debug)]
pub struct Sprinkler {
    window: usize,
}

/// The transactions a plane offers within the window, oldest first, at most one more than are worth looking at.
const CANDIDATES: usize = 4;

impl Sprinkler {
    /// Looks at the first `window` transactions of a queue that may go.
    pub const fn new(window: u64) -> Sprinkler {
        Sprinkler { window: window as usize }
    }

    fn largest(&self, board: &Board, queue: QueueId, group: &mut Group) {
        let slots = board.facts.geometry.planes_per_unit() as usize;
        let mut offers = [[TxnId::NONE; CANDIDATES]; Group::MAX];
        let mut count = [0usize; Group::MAX];
        let mut heads = [TxnId::NONE; Group::MAX];
        let mut planes = 0;
        // Writes that must wait for older ones do not count: a window full of them would leave the unit idle.
        for txn in board.walk(queue).filter(|&txn| board.eligible(txn)).take(self.window) {
            let slot = board.txn(txn).slot as usize;
            if count[slot] == CANDIDATES {
                continue;
            }
            if count[slot] == 0 {
                heads[planes] = txn;
                planes += 1;
            }
            offers[slot][count[slot]] = txn;
            count[slot] += 1;
        }
        // Each plane's oldest may lead; `heads` is in order of age, so the first of equals is the oldest.
        let mut best = (0, 0, TxnId::NONE);
        for &lead in &heads[..planes] {
            let (size, kin) = Self::gather(board, lead, &offers[..slots], group);
            if (size, kin) > (best.0, best.1) {
                best = (size, kin, lead);
            }
            if planes == 1 {
                return;
            }
        }
        if best.2.is_some() {
            Self::gather(board, best.2, &offers[..slots], group);
        }
    }

    /// The group that `lead` gathers: from every other plane a transaction of its own request if one is offered, else
    /// the oldest. Returns the group's size and how many are of the lead's request.
    fn gather(board: &Board, lead: TxnId, offers: &[[TxnId; CANDIDATES]], group: &mut Group) -> (usize, usize) {
        group.clear();
        group.push(board, lead);
        let request = board.txn(lead).request;
        let mut kin = 0;
        for own in [true, false] {
            for plane in offers {
                let joins = |txn: TxnId| {
                    txn.is_some() && (board.txn(txn).request == request) == own && board.may_join(group, txn)
                };
                if let Some(&txn) = plane.iter().find(|&&txn| joins(txn)) {
                    group.push(board, txn);
                    kin += usize::from(own);
                }
            }
        }
        (group.members().len(), kin)
    }
}

impl Pick for Sprinkler {
    fn lets_lone_transactions_go(&self) -> bool {
        true
    }

    fn pick(&mut self, board: &Board, unit: UnitId, scope: Scope, group: &mut Group) {
        for op in [FlashOp::Read, FlashOp::Program] {
            if op == FlashOp::Program && scope == Scope::Reads {
                return;
            }
            let head = board.first(unit, op);
            if head.is_none() {
                continue;
            }
            // Below a level where every write waits for an older one of its page there may be writes that can go.
            for level in (0..=board.txn(head).level).rev() {
                self.largest(board, board.queue_for(unit, op, level), group);
                if group.lead().is_some() {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{board, read};
    use super::*;

    /// A-FLN-16: t1(d0,p0) t2(d0,p0) t3(d0,p1) t4(d1,p0) t5(d0,p1) on 2 dies x 2 planes: group t1, t3, t4.
    #[test]
    fn group_of_the_model() {
        let mut board = board(2, 2);
        for (i, slot) in [0u8, 0, 1, 2, 1].into_iter().enumerate() {
            read(&mut board, i as u32, slot, i as u32);
        }
        let mut group = Group::new();
        Sprinkler::new(64).pick(&board, UnitId(0), Scope::Any, &mut group);
        let mut members = group.members().to_vec();
        members.sort_unstable();
        assert_eq!(members, [TxnId(0), TxnId(2), TxnId(3)]);
        assert_eq!(group.lead(), TxnId(0));
    }

    #[test]
    fn a_request_keeps_together_before_age() {
        let mut board = board(1, 2);
        // Request 7: planes 0 and 1; an older transaction of another request on plane 1 comes between.
        for (i, (slot, request)) in [(0u8, 7), (1, 8), (1, 7)].into_iter().enumerate() {
            read(&mut board, i as u32, slot, request);
        }
        let mut group = Group::new();
        Sprinkler::new(64).pick(&board, UnitId(0), Scope::Any, &mut group);
        assert_eq!(group.members(), [TxnId(0), TxnId(2)]);
    }
}
