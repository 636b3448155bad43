//! Round robin over the submission queues, as NVMe fetches by default (FLIN §2.2).

use flashlane_core::decide::{Admit, Heads};
use flashlane_core::{Board, FlowId};

/// Round robin over the flows that have a command waiting.
#[derive(Default, Debug)]
pub struct RoundRobin {
    next: usize,
}

impl Admit for RoundRobin {
    fn next(&mut self, board: &Board, heads: &dyn Heads) -> Option<FlowId> {
        let flows = board.flows.len();
        let mut f = self.next;
        for _ in 0..flows {
            if f >= flows {
                f = 0;
            }
            if board.flows[f].waiting > 0 && !heads.full(FlowId(f as u16)) {
                self.next = f + 1;
                return Some(FlowId(f as u16));
            }
            f += 1;
        }
        None
    }

    fn lets_lone_commands_in(&self) -> bool {
        true
    }
}
