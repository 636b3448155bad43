//! Round robin over the submission queues, as NVMe fetches by default (FLIN §2.2).

use alloc::boxed::Box;

use flashlane_core::decide::{Admit, AdmitDeclares, Commands, Fetch};
use flashlane_core::{Board, FlowId};

use crate::entries::{AnswerEntry, Build};

pub(crate) const ENTRY: AnswerEntry = AnswerEntry {
    name: "round-robin",
    summary: "submission queues in turn",
    source: "NVMe; FLIN §2.2",
    params: &[],
    build: Build::Admit(&|_| Box::new(RoundRobin::default())),
};

/// Round robin over the flows that have a command waiting.
#[derive(Default, Debug)]
pub struct RoundRobin {
    next: usize,
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
                self.next = f + 1;
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

    /// Flows take turns: from the one after the last fetched from, past those without a command or with a full queue.
    #[test]
    fn flows_take_turns() {
        let mut board = crate::pick::testing::board(1, 2);
        board.flows =
            [2, 1, 0, 3].map(|waiting| Flow::from(FlowFigures { waiting, ..FlowFigures::default() })).to_vec();
        let mut admit = RoundRobin::default();
        let mut fetched = Vec::new();
        while let Some(Fetch { flow, .. }) = admit.next(&board, &Queues::open()) {
            let left = board.flows[flow.index()].waiting() - 1;
            board.flows[flow.index()].set_waiting(left);
            fetched.push(flow.0);
        }
        assert_eq!(fetched, [0, 1, 3, 0, 3, 3], "flows with a command waiting take turns; they have 2, 1, 0 and 3");
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
