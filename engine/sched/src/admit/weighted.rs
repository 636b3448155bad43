//! Weighted round robin over priority classes, as NVMe's optional arbitration: priority `i` is fetched from `2^i` times as
//! often as priority 0 while both have commands waiting; within a priority, round robin.

use alloc::boxed::Box;

use flashlane_core::board::Flow;
use flashlane_core::decide::{Admit, AdmitDeclares, Commands, Fetch};
use flashlane_core::{Board, FlowId};

use super::round_robin::has_room;
use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "weighted-round-robin",
    summary: "priority level i is fetched 2^i times as often as level 0",
    source: "NVMe weighted round robin; FLIN §5.2 weights (D-FLN-26)",
    params: &[],
    build: Build::Admit(&|_| Box::new(Weighted::default())),
};

/// Weighted round robin by priority.
#[derive(Default, Debug)]
pub struct Weighted {
    /// Fetches left to each priority in this round.
    credit: [u32; 8],
    /// The flow to look at first for a priority that has fetches left.
    next: usize,
    /// By priority, the flow that is next.
    turns: [usize; 8],
}

/// The class of a flow.
fn priority_of(flow: &Flow) -> usize {
    usize::from(flow.priority().min(7))
}

impl Weighted {
    /// The flow of `priority` to fetch from; there is one. Every priority has a turn of its own: with one for all priorities, the same flow
    /// of a priority would come first after every fetch of another priority.
    fn turn_of(&mut self, priority: usize, board: &Board, commands: &dyn Commands) -> FlowId {
        let flows = board.flows.len();
        let from = self.turns[priority];
        let mut turns = (0..flows).map(|i| (from + i) % flows);
        let may = |&f: &usize| {
            priority_of(&board.flows[f]) == priority
                && board.flows[f].waiting() > 0
                && has_room(FlowId(f as u16), commands)
        };
        let f = turns.find(may).expect("a flow of the priority can be fetched from");
        self.turns[priority] = f + 1;
        FlowId(f as u16)
    }
}

impl Admit for Weighted {
    fn declares(&self) -> AdmitDeclares {
        AdmitDeclares { skips_when_single: true, ..AdmitDeclares::ASK }
    }

    fn next(&mut self, board: &Board, commands: &dyn Commands) -> Option<Fetch> {
        let flows = board.flows.len();
        let mut starving = false;
        for attempt in 0..2 {
            for i in 0..flows {
                let f = (self.next + i) % flows;
                let flow = &board.flows[f];
                if flow.waiting() == 0 || !has_room(FlowId(f as u16), commands) {
                    continue;
                }
                let priority = priority_of(flow);
                if self.credit[priority] > 0 {
                    self.credit[priority] -= 1;
                    self.next = f + 1;
                    return Some(Fetch::head(self.turn_of(priority, board, commands)));
                }
                starving = true;
            }
            if !starving || attempt == 1 {
                return None;
            }
            self.credit = core::array::from_fn(|priority| 1 << priority);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::super::testing::Queues;
    use super::*;
    use alloc::vec::Vec;
    use flashlane_core::board::FlowFigures;

    /// A board with a flow of each of these priorities, all with commands waiting.
    fn flows(priorities: &[u8]) -> Board {
        let mut board = crate::pick::testing::board(1, 2);
        let flow = |&priority| FlowFigures { priority, waiting: 9, ..FlowFigures::default() }.into();
        board.flows = priorities.iter().map(flow).collect();
        board
    }

    /// The flows of the next fetches.
    fn served(admit: &mut Weighted, board: &Board, count: usize) -> Vec<u16> {
        (0..count).map_while(|_| admit.next(board, &Queues::open())).map(|fetch| fetch.flow.0).collect()
    }

    #[test]
    fn levels_share_by_powers_of_two() {
        let mut board = flows(&[0, 1, 2]);
        let mut admit = Weighted::default();
        let served = served(&mut admit, &board, 70);
        let count = [0, 1, 2].map(|flow| served.iter().filter(|&&one| one == flow).count());
        assert_eq!(count, [10, 20, 40], "priority i is fetched from 2^i times as often as priority 0; {served:?}");
        board.flows[2].set_waiting(0);
        let next = admit.next(&board, &Queues::full(|flow| flow == FlowId(1)));
        assert_eq!(next, Some(Fetch::head(FlowId(0))), "a flow whose queue is full is passed over");
        assert_eq!(admit.next(&board, &Queues::full(|_| true)), None, "no flow is fetched from while all are full");
    }

    #[test]
    fn turns_within_a_round() {
        let served = served(&mut Weighted::default(), &flows(&[0, 1, 2]), 14);
        let rule = "priorities take turns in a round as long as they have fetches left, then the next round begins";
        assert_eq!(served, [0, 1, 2, 1, 2, 2, 2, 0, 1, 2, 1, 2, 2, 2], "{rule}; flow i has priority i");
    }

    #[test]
    fn fetches_not_used_are_lost() {
        let mut board = flows(&[0, 0, 1]);
        board.flows[2].set_waiting(0);
        let mut admit = Weighted::default();
        assert_eq!(served(&mut admit, &board, 6), [0, 1, 0, 1, 0, 1], "flows of a priority share its fetches in turn");
        board.flows[2].set_waiting(9);
        // What is left of the round that began with the last of these: the two fetches of priority 1.
        let rule =
            "a priority that had nothing to fetch saves no fetches; flows 0 and 1 have priority 0, flow 2 priority 1";
        assert_eq!(served(&mut admit, &board, 8), [2, 2, 0, 2, 2, 1, 2, 2], "{rule}");
    }

    /// Priorities above the seventh count as the seventh.
    #[test]
    fn there_are_eight_classes() {
        let served = served(&mut Weighted::default(), &flows(&[6, 7]), 192);
        let count = served.iter().filter(|&&one| one == 1).count();
        assert_eq!(count, 128, "priority 7 is fetched from twice as often as priority 6; {served:?}");
    }
}
