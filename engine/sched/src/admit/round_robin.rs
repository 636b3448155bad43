//! Round robin over the submission queues, as NVMe fetches by default (FLIN §2.2), one command or several in a turn.

use alloc::boxed::Box;

use flashlane_core::decide::{Admit, AdmitDeclares, Commands, Fetch};
use flashlane_core::{Board, FlowId};

use crate::entries::{AnswerEntry, Build};
use crate::params::Param;

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "round-robin",
    summary: "submission queues in turn",
    source: "NVMe; FLIN §2.2",
    params: &[Param {
        name: "fetch_burst",
        unit: "commands",
        default: 1,
        min: 1,
        max: 65_535,
        help: "most commands that a turn of a queue takes (NVMe's arbitration burst)",
    }],
    build: Build::Admit(&|v| Box::new(RoundRobin::new(v.get("fetch_burst") as u32))),
};

/// Round robin over the flows that have a command waiting.
#[derive(Debug)]
pub struct RoundRobin {
    /// The flow to look at first.
    next: usize,
    burst: u32,
    /// Commands that its turn may still take, if that has begun.
    left: u32,
}

impl RoundRobin {
    /// A turn takes at most `burst` commands, at least 1.
    pub const fn new(burst: u32) -> RoundRobin {
        RoundRobin { next: 0, burst, left: 0 }
    }
}

/// Whether the units' queues have room for the oldest command of a flow that has one.
pub(super) fn has_room(flow: FlowId, commands: &dyn Commands) -> bool {
    commands.head(flow).is_some_and(|head| !commands.full(head))
}

impl Admit for RoundRobin {
    fn declares(&self) -> AdmitDeclares {
        AdmitDeclares { skips_when_single: true, ..AdmitDeclares::ASK }
    }

    fn next(&mut self, board: &Board, commands: &dyn Commands) -> Option<Fetch> {
        let flows = board.flows.len();
        let mut f = self.next;
        for _ in 0..flows {
            if f >= flows {
                f = 0;
            }
            let flow = FlowId(f as u16);
            if board.flows[f].waiting() > 0 && has_room(flow, commands) {
                let goes_on = self.left > 0 && f == self.next;
                self.left = if goes_on { self.left } else { self.burst } - 1;
                self.next = if self.left > 0 { f } else { f + 1 };
                return Some(Fetch::head(flow));
            }
            f += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use flashlane_core::board::{Flow, FlowFigures};

    use super::super::testing::Queues;
    use super::*;

    /// The flows of the next fetches, as long as flows have as many commands waiting as `board` says.
    fn fetched(admit: &mut RoundRobin, board: &mut Board) -> Vec<u16> {
        let mut fetched = Vec::new();
        while let Some(Fetch { flow, .. }) = admit.next(board, &Queues::open()) {
            let left = board.flows[flow.index()].waiting() - 1;
            board.flows[flow.index()].set_waiting(left);
            fetched.push(flow.0);
        }
        fetched
    }

    /// A turn takes as many commands as `fetch_burst` says, and ends early when none waits.
    #[test]
    fn turns_take_bursts() {
        let mut board = crate::pick::testing::board(1, 2);
        board.flows =
            [5, 1, 0, 4].map(|waiting| Flow::from(FlowFigures { waiting, ..FlowFigures::default() })).to_vec();
        let mut admit = RoundRobin::new(3);
        assert_eq!(fetched(&mut admit, &mut board), [0, 0, 0, 1, 3, 3, 3, 0, 0, 3], "they have 5, 1, 0 and 4");
        board.flows.iter_mut().for_each(|flow| flow.set_waiting(9));
        let passed = admit.next(&board, &Queues::full(|flow| flow == FlowId(3)));
        assert_eq!(passed, Some(Fetch::head(FlowId(0))), "a turn ends when the units' queues are full for it");
    }

    /// Flows take turns: from the one after the last fetched from, past those without a command or with a full queue.
    #[test]
    fn flows_take_turns() {
        let mut board = crate::pick::testing::board(1, 2);
        board.flows =
            [2, 1, 0, 3].map(|waiting| Flow::from(FlowFigures { waiting, ..FlowFigures::default() })).to_vec();
        let mut admit = RoundRobin::new(1);
        assert_eq!(
            fetched(&mut admit, &mut board),
            [0, 1, 3, 0, 3, 3],
            "flows with a command waiting take turns; they have 2, 1, 0 and 3"
        );
        board.flows.iter_mut().for_each(|flow| flow.set_waiting(9));
        // It is flow 0's turn.
        let cases: [(&'static [u16], _, _); 4] = [
            (&[0], Some(1), "a flow whose queue is full is passed over"),
            (&[], Some(2), "the next turn is that of the flow behind the one fetched from"),
            (&[0, 1, 2, 3], None, "no flow is fetched from while all queues are full"),
            (&[], Some(3), "a turn that no flow could take goes to the next"),
        ];
        for (full, next, rule) in cases {
            let fetch = admit.next(&board, &Queues::full(move |flow| full.contains(&flow.0)));
            assert_eq!(fetch.map(|fetch| fetch.flow.0), next, "{rule}; flow 0 was next at first, full are {full:?}");
        }
    }
}
